//! What a matcher was understood as, and which engine runs it.

use hook_core::Flavour::{self, Amplifier, Claude, ClaudeNarrow, Native};
use hook_matcher::Matcher;

#[track_caller]
fn check(flavour: Flavour, rows: &[(&str, &str)]) {
    for (matcher, expected) in rows {
        let described = Matcher::compile(Some(matcher), flavour).matcher.describe();
        assert_eq!(described, *expected, "{flavour:?} {matcher:?}");
    }
}

#[test]
fn plain_patterns_need_no_engine() {
    check(
        Claude,
        &[
            ("Edit|Write", "one of Edit, Write"),
            ("|", "no name at all"),
            ("^Bash$", "exactly Bash"),
            ("^(Edit|Write)$", "one of Edit, Write"),
            ("^Edit$|^Write$", "one of Edit, Write"),
            ("^mcp__fs__", "starts with mcp__fs__"),
            ("^mcp__fs__.*", "starts with mcp__fs__"),
            ("mcp__fs__.*", "contains mcp__fs__"),
            ("_write$", "ends with _write"),
            ("^mcp__.*__write$", "is like mcp__*__write"),
            ("mcp__(fs|git)__.*", "contains mcp__fs__ or contains mcp__git__"),
            ("^Edits?$", "one of Edits, Edit"),
            ("^my-plugin:reviewer$", "exactly my-plugin:reviewer"),
            (".*", "everything"),
            ("^", "everything"),
        ],
    );
    check(
        Amplifier,
        &[
            ("Bash", "exactly Bash, letter case ignored"),
            ("Edit|Write", "one of Edit, Write, letter case ignored"),
            ("mcp__fs__.*", "starts with mcp__fs__, letter case ignored"),
            (".*Edit", "ends with Edit, letter case ignored"),
            ("^Bash$", "exactly Bash, letter case ignored"),
            ("(?-i:Bash)", "exactly Bash"),
            ("*Bash", "literally *Bash, letter case ignored"),
        ],
    );
    check(
        Native,
        &[
            ("mcp__*", "starts with mcp__"),
            ("mcp__*|Bash", "starts with mcp__ or exactly Bash"),
            ("*Tool", "ends with Tool"),
            ("**", "everything"),
            ("^Bash$", "exactly Bash"),
            ("mcp__.*", "contains mcp__"),
        ],
    );
}

#[test]
fn the_pattern_alone_demands_a_larger_engine() {
    let (lite, linear, backtracking) =
        ("regular expression (regex-lite)", "regular expression (regex)", "regular expression (fancy-regex)");
    check(
        Claude,
        &[
            ("^[A-Z]", lite),
            ("\\bEdit", lite),
            ("^\\w+__read$", lite),
            ("\\W\\D\\S", lite),
            ("é+", lite),
            ("[^]+", lite),
            ("(?<n>a)+", lite),
            ("^(?!Bash)", backtracking),
            ("(a)\\1", backtracking),
            ("(?<=Note)book", backtracking),
        ],
    );
    check(
        Amplifier,
        &[
            ("[a-z]+", lite),
            ("Bash.+", lite),
            ("(?a)\\w+", lite),
            ("\\w+", linear),
            ("\\bBash", linear),
            ("é", linear),
            ("(?!Bash$).*", backtracking),
            ("a++", backtracking),
            ("(?>a|b)c", backtracking),
        ],
    );
    check(
        Native,
        &[
            ("Ed.t", lite),
            ("[a-z]+_read", lite),
            ("\\w+", linear),
            ("(?i)bash", linear),
            ("[[:alpha:]]", linear),
        ],
    );
    check(Native, &[("^(?!Bash$)", backtracking), ("(a)\\1", backtracking), ("\\(?=a\\d", linear)]);
}

#[test]
fn exact_lists_offer_their_names() {
    let names = |text, flavour| {
        let names = Matcher::compile(Some(text), flavour).matcher.exact_names().map(<[String]>::to_vec);
        names.unwrap_or_else(|| panic!("{text} is no list in {flavour:?}"))
    };
    for flavour in [Claude, ClaudeNarrow, Native] {
        assert_eq!(names("A|B", flavour), ["A", "B"]);
        assert_eq!(names("^(A|B)$", flavour), ["A", "B"]);
    }
    assert_eq!(names(" A , B||", Claude), ["A", "B"]);
    for (text, flavour) in [("A|B", Amplifier), ("123", Amplifier), ("^A", Claude), ("A*", Native)] {
        assert!(Matcher::compile(Some(text), flavour).matcher.exact_names().is_none(), "{text}");
    }
}

#[test]
fn nothing_written_is_everything() {
    for flavour in [Claude, ClaudeNarrow, Amplifier, Native] {
        for text in [None, Some(""), Some("*")] {
            let compiled = Matcher::compile(text, flavour);
            assert!(compiled.matcher.is_all() && compiled.problems.is_empty());
            assert!(compiled.matcher.matches([""]) && compiled.matcher.matches(["Bash"]));
            assert!(compiled.matcher.matches([]));
        }
    }
}
