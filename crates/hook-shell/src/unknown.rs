//! What makes a line more than a list of known commands.

use std::fmt;

macro_rules! unknowns {
    ($($(#[$doc:meta])* $name:ident $phrase:literal,)*) => {
        /// A construct whose commands or arguments are not known without a shell.
        ///
        /// Which ones count is taken from "Claude Code hooks reference, Bash matching table", and from what its client does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Unknown {
            $($(#[$doc])* $name,)*
        }

        impl fmt::Display for Unknown {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Unknown::$name => $phrase,)*
                })
            }
        }
    };
}

unknowns! {
    /// The name of a command is a variable, a substitution or a pattern.
    CommandName "a command whose name only the shell knows",
    /// `"$X"`
    QuotedVariable "a variable in double quotes",
    /// `${X}`
    BracedVariable "a variable in braces",
    /// `X=$Y`
    AssignedVariable "a variable that is assigned to another",
    /// `HOME=… ; $HOME`
    OwnHome "a HOME of its own",
    /// `{ …; }`
    BraceGroup "a group in braces",
    /// `case … esac`
    Case "a `case`",
    /// `for X in …` with a variable somewhere in the line.
    LoopVariable "a loop over a variable",
    /// `f() …`, and every other parenthesis within a command.
    Function "a function, or another parenthesis within a command",
    /// `<<END`
    HereDocument "a here-document",
    /// `<( )`, `>( )`
    ProcessSubstitution "a process substitution",
    /// `{a,b}`, `{1..3}`
    BraceList "a list in braces",
    /// `a=(…)`, `a[0]=…`
    Array "an array",
    /// `$'…'`, `$"…"`
    DollarQuotes "a string behind a dollar sign",
    /// `$[…]`
    OldArithmetic "arithmetic in square brackets",
    /// `"…`
    OpenDoubleQuote "a double quote that is never closed",
    /// `$(…`
    OpenSubstitution "a `$(` that is never closed",
    /// A backtick without a second one.
    OpenBacktick "a backtick that is never closed",
    /// `(…`
    OpenParenthesis "a parenthesis that is never closed",
    /// `…)`
    StrayParenthesis "a closing parenthesis that nothing opened",
    /// Backticks, or escapes, within backticks.
    NestedBackticks "backticks or escapes within backticks",
    /// U+0000: one shell drops it, another ends the line there.
    NulByte "a NUL byte",
    /// Substitutions and subshells in each other, deeper than anybody writes.
    Nesting "substitutions nested too deep",
}
