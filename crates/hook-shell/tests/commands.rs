//! Lines as data: their commands, their words, and what in them only a shell could tell.

use hook_shell::{Line, Quoting, Role, Unknown};

#[track_caller]
fn commands(line: &str, expected: &[&str]) {
    let read = Line::read(line);
    let found: Vec<String> = read.commands().map(|command| command.plain_text()).collect();
    assert_eq!(found, expected, "{line:?}");
    assert_eq!(read.doubt(), None, "{line:?}");
}

#[test]
fn a_line_is_split_where_a_shell_splits_it() {
    for separator in ["&&", "||", ";", "|", "|&", "&", "\n", " && ", " ; ", " # x\n"] {
        commands(&format!("a 1{separator}b 2"), &["a 1", "b 2"]);
    }
    for (line, expected) in [
        ("", &[] as &[&str]),
        ("  # a", &[]),
        ("a #b", &["a"]),
        ("a#b", &["a#b"]),
        ("a\tb   c", &["a b c"]),
        ("A=1 B=2 a b", &["a b"]),
        ("A+=1 a", &["a"]),
        ("a B=2", &["a B=2"]),
        ("! a", &["a"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e", ""]),
        ("while a; do b; done > c", &["a", "b", ""]),
        ("until ! a\ndo\nb\ndone", &["a", "", "b", ""]),
        ("[[ -f a ]] && b", &["[[ -f a ]]", "b"]),
        ("[ -f a ] || b", &["[ -f a ]", "b"]),
        ("(a; b) | c", &["a", "b", "c"]),
        ("( ( a ) )", &["a"]),
        ("if (a) then (b) fi", &["", "a", "", "b", ""]),
        ("a $(b 1 | c) d", &["b 1", "c", "a $(b 1 | c) d"]),
        ("a `b 1` d", &["b 1", "a `b 1` d"]),
        ("a \"x $(b \"y z\") w\"", &["b y z", "a x $(b \"y z\") w"]),
        ("A=$(b)", &["b", ""]),
        ("a $(b $(c))", &["c", "b $(c)", "a $(b $(c))"]),
        ("a \\\n b", &["a b"]),
        ("a\\\nb", &["ab"]),
        ("a \"b\\\nc\"", &["a bc"]),
        ("time a", &["time a"]),
    ] {
        commands(line, expected);
    }
}

#[test]
fn quotes_are_taken_off() {
    for (line, expected) in [
        (r#"a "b c" 'd e' f\ g"#, "a b c d e f g"),
        (r#"'a' "b""c"d\e"#, "a bcde"),
        (r#"a "\"b\" \\ \x""#, r#"a "b" \ \x"#),
        ("a 'b", "a b"),
        ("a '$B' \\$C", "a $B $C"),
        (r"a \{b,c}", "a {b,c}"),
        ("find . -exec b {} ;", "find . -exec b {}"),
        ("a $ \"$\"", "a $ $"),
        ("é \"ü\"", "é ü"),
        ("a \\", "a \\"),
    ] {
        let read = Line::read(line);
        let first = read.commands().next().map(|command| command.plain_text());
        assert_eq!(first.as_deref(), Some(expected), "{line:?}");
        assert_eq!(read.doubt(), None, "{line:?}");
    }
}

#[test]
fn redirections_are_no_arguments() {
    for line in [
        "a b > c",
        "a b >c 2>&1",
        "a b &> c",
        "a b &>> c",
        "> c a b",
        "a > c b",
        "a b <<< c",
        "a b < c",
        "2> c a b",
        "a b >| c",
        "a b <> c",
        "a b >\\\n c",
        "a b 2>/dev/null | ",
        "a b >&-",
    ] {
        commands(line, &["a b"]);
    }
    commands("a 2 > c", &["a 2"]);
    commands("a b> c", &["a b"]);
    commands("a >c; >d b", &["a", "b"]);
    let read = Line::read("A=1 a \"b  c\" > d # e");
    assert_eq!(read.commands().next().map(|command| command.written()), Some("a \"b  c\" > d"));
    let roles: Vec<Role> = read.words().map(|word| word.role()).collect();
    assert_eq!(roles, [Role::Assignment, Role::Plain, Role::Plain, Role::Target]);
}

#[test]
fn what_only_a_shell_can_tell_is_a_doubt() {
    use Unknown::*;
    for (line, expected) in [
        ("$A b", CommandName),
        ("A=1 $A", CommandName),
        ("a && $B", CommandName),
        ("a$B c", CommandName),
        ("$(a) b", CommandName),
        ("`a` b", CommandName),
        ("a* b", CommandName),
        ("[ab]c d", CommandName),
        ("if $A; then b; fi", CommandName),
        ("a \"$B\"", QuotedVariable),
        ("[ -n \"$B\" ]", QuotedVariable),
        ("a \"x $1\"", QuotedVariable),
        ("a ${B}", BracedVariable),
        ("a ${HOME}", BracedVariable),
        ("a \"${B:-c}\"", BracedVariable),
        ("A=$B c", AssignedVariable),
        ("A=$B", AssignedVariable),
        ("A=x$1 c", AssignedVariable),
        ("HOME=a; $HOME b", OwnHome),
        ("export HOME=a; $HOME b", OwnHome),
        ("{ a; }", BraceGroup),
        ("a && { b; }", BraceGroup),
        ("case a in b) c;; esac", Case),
        ("for a in b; do c $a; done", LoopVariable),
        ("for a in $B; do c; done", LoopVariable),
        ("for ((i=0; i<3; i++)); do c; done", Function),
        ("a() { b; }", Function),
        ("a () (b)", Function),
        ("function a { b; }", Function),
        ("a (b)", Function),
        ("a <<B\nc\nB", HereDocument),
        ("a <<-B", HereDocument),
        ("a <(b)", ProcessSubstitution),
        ("a > >(b)", ProcessSubstitution),
        ("a {b,c}", BraceList),
        ("a x{b,\"c d\"}y", BraceList),
        ("a {1..3}", BraceList),
        (r"a \x{b,c}", BraceList),
        ("a=(b c)", Array),
        ("a[0]=b c", Array),
        ("a $'b'", DollarQuotes),
        ("a $\"b\"", DollarQuotes),
        ("a $'b\\'c' d", DollarQuotes),
        ("a $[1+2]", OldArithmetic),
        ("a\0 b", NulByte),
        ("a \"b", OpenDoubleQuote),
        ("a $(b", OpenSubstitution),
        ("a \"$(b\"", OpenDoubleQuote),
        ("a `b", OpenBacktick),
        ("(a", OpenParenthesis),
        ("a)", StrayParenthesis),
        (") a", StrayParenthesis),
        ("a `b \\`c\\``", NestedBackticks),
        ("a `b $(c `d`)`", NestedBackticks),
        ("a `b 'c`d'`", NestedBackticks),
        ("a `b $(c # `)`", NestedBackticks),
    ] {
        let read = Line::read(line);
        assert_eq!(read.doubt().map(|(unknown, _)| unknown), Some(expected), "{line:?}");
    }
}

#[test]
fn plain_variables_and_substitutions_are_no_doubt_but_said() {
    for (line, variable, substitution) in [
        ("a $B", Some("$B"), None),
        ("a $1 $C", Some("$1"), None),
        ("a $?", Some("$?"), None),
        ("a > $B", Some("$B"), None),
        ("a $HOME \"$HOME\" $HOME/x", None, None),
        ("$HOME/b c", None, None),
        ("A=$HOME/b c", None, None),
        ("a $((1+2)) $(( x * (3 - y) ))", None, None),
        ("a $((1 + $B))", Some("$"), None),
        ("a $(b) `c`", None, Some("$(b)")),
        ("a \"$(b $(c))\"", None, Some("$(b $(c))")),
        ("A=$(b) c", None, Some("$(b)")),
        ("a $((b) | (c))", None, Some("$((b) | (c))")),
        ("a $((echo '))'; b) )", None, Some("$((echo '))'; b) )")),
        ("a * ~ ?x [y]", None, None),
        ("for a in b c; do d; done", None, None),
        ("for a in *.x; do d; done", None, None),
    ] {
        let read = Line::read(line);
        let text = |span: Option<hook_shell::Span>| span.map(|span| &line[span.start..span.end]);
        assert_eq!(text(read.variable()), variable, "{line:?}");
        assert_eq!(text(read.substitution()), substitution, "{line:?}");
        assert_eq!(read.doubt(), None, "{line:?}");
    }
}

/// `$((` that is no arithmetic must not hide a command behind a quoted parenthesis.
#[test]
fn commands_behind_something_like_arithmetic_are_seen() {
    let read = Line::read("a $((echo '))'; git push) )");
    assert!(read.commands().any(|command| command.plain_text() == "git push"));
}

#[test]
fn variables_know_their_quotes() {
    let read = Line::read(r#"$A "${B}" '$C' ${D:-x} "$(echo $E)""#);
    let mut found: Vec<(String, Quoting, bool)> = read
        .words()
        .flat_map(|word| word.variables())
        .map(|found| (found.name.to_owned(), found.quoting, found.has_default))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let wanted = [
        ("A", Quoting::None, false),
        ("B", Quoting::Double, false),
        ("C", Quoting::Single, false),
        ("D", Quoting::None, true),
        ("E", Quoting::None, false),
    ];
    assert_eq!(found, wanted.map(|(name, quoting, default)| (name.to_owned(), quoting, default)));
}

#[test]
fn words_are_looked_up() {
    let lookup = |name: &str| (name == "D").then(|| "/d d".to_owned());
    let read = Line::read(r#""$D/x" ${D}/y $E *.sh"#);
    let texts: Vec<Option<String>> = read.words().map(|word| word.text(&lookup)).collect();
    assert_eq!(texts, [Some("/d d/x".into()), Some("/d d/y".into()), None, None]);
}
