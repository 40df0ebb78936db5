//! What a matcher's author is told, and where.

use hook_core::Flavour::{self, Amplifier, Claude, ClaudeNarrow, Native};
use hook_matcher::ProblemKind::{self, DialectTrap, LiteralFallback, McpServerPrefix, Unreadable};
use hook_matcher::{Matcher, Problem};

#[track_caller]
fn only(text: &str, flavour: Flavour) -> Problem {
    let mut problems = Matcher::compile(Some(text), flavour).problems;
    assert_eq!(problems.len(), 1, "{flavour:?} {text:?}: {problems:?}");
    problems.remove(0)
}

/// Rows of matcher, kind, the text under the span, and the suggestion.
#[track_caller]
fn check(flavour: Flavour, rows: &[(&str, ProblemKind, &str, Option<&str>)]) {
    for (text, kind, under, suggestion) in rows {
        let problem = only(text, flavour);
        assert_eq!(problem.kind, *kind, "{text:?}: {problem:?}");
        assert_eq!(&text[problem.span.start..problem.span.end], *under, "{text:?}: {problem:?}");
        assert_eq!(problem.suggestion.as_deref(), *suggestion, "{text:?}: {problem:?}");
        assert!(!problem.message.is_empty() && !problem.message.ends_with('.'), "{problem:?}");
    }
}

#[test]
fn what_is_fine_is_not_remarked_upon() {
    let rows: &[(Flavour, &[&str])] = &[
        (
            Claude,
            &[
                "Bash",
                "Edit|Write",
                "Edit, Write",
                "^Edit$",
                "mcp__memory__.*",
                "mcp__.*__write.*",
                "^(?!Bash$)",
                "\\bEdit\\b",
                "a{1,3}b+",
                "mcp__store__get",
            ],
        ),
        (ClaudeNarrow, &["rate_limit|overloaded", ".envrc|.env"]),
        (Amplifier, &["Bash", "Edit|Write", "Notebook.*", "(?!Bash$).*", "mcp__fs__.*", "Bash\\Z", "a{,3}"]),
        (Native, &["Edit, Write", "mcp__*", "mcp__fs__*", "^Bash$", "mcp__.*", "(?i)bash", "[[:alpha:]]+"]),
    ];
    for (flavour, texts) in rows {
        for text in *texts {
            let problems = Matcher::compile(Some(text), *flavour).problems;
            assert!(problems.is_empty(), "{flavour:?} {text:?}: {problems:?}");
        }
    }
}

#[test]
fn what_javascript_refuses_is_unreadable() {
    check(
        Claude,
        &[
            ("*Bash", Unreadable, "*Bash", Some(".*Bash")),
            ("Bash|*", Unreadable, "Bash|*", Some("Bash|.*")),
            ("^*Bash", Unreadable, "*", None),
            ("(?i)bash", Unreadable, "(?i)", None),
            ("x(?P<n>a)", Unreadable, "(?P", None),
            ("(?>a)", Unreadable, "(?>", None),
            ("a++", Unreadable, "+", None),
            ("a**.", Unreadable, "*", None),
            ("a+?+", Unreadable, "+", None),
            ("Bash[", Unreadable, "[", None),
            ("Bash(", Unreadable, "(", None),
            ("Bash)", Unreadable, ")", None),
            ("Bash\\", Unreadable, "\\", None),
            ("[z-a]", Unreadable, "z-a", None),
            ("a{3,1}", Unreadable, "{3,1}", None),
            ("(?<n>a)(?<n>b)", Unreadable, "(?<n>", None),
        ],
    );
    for text in ["(?i)bash", "(?P<n>a)", "(?>a)", "a++"] {
        assert!(only(text, Claude).help.is_some(), "{text} comes with what to write instead");
        assert!(!Matcher::compile(Some(text), Claude).matcher.matches(["a", "bash"]), "{text}");
    }
}

#[test]
fn what_python_refuses_is_compared_literally() {
    check(
        Amplifier,
        &[
            ("*Bash", LiteralFallback, "*Bash", Some(".*Bash")),
            ("Bash|*", LiteralFallback, "Bash|*", Some("Bash|.*")),
            ("[invalid", LiteralFallback, "[invalid", None),
            ("bash(?i)", LiteralFallback, "(?i)", None),
            ("\\hx", LiteralFallback, "\\h", None),
            ("(?<n>a)", LiteralFallback, "(?<", None),
            ("(?<=a*)b", LiteralFallback, "(?<=a*)", None),
            ("a+*", LiteralFallback, "*", None),
            ("(a\\1)", LiteralFallback, "\\1", None),
        ],
    );
}

#[test]
fn what_another_reader_takes_for_something_else_is_a_trap() {
    check(
        Claude,
        &[
            ("^Bash\\z", DialectTrap, "\\z", None),
            ("\\Ax", DialectTrap, "\\A", None),
            ("x\\h", DialectTrap, "\\h", None),
            ("x\\R", DialectTrap, "\\R", None),
            ("\\p{L}", DialectTrap, "\\p", None),
            ("\\x{41}", DialectTrap, "\\x", None),
            ("\\u{41}", DialectTrap, "\\u", None),
            ("[a&&b]", DialectTrap, "&&", None),
            ("[[:alpha:]]", DialectTrap, "[", None),
            ("\\1x", DialectTrap, "\\1", None),
            ("(?i:bash)", DialectTrap, "(?i:", None),
            ("Edit*", DialectTrap, "*", Some(".*")),
            ("Edit, mcp__.*", DialectTrap, "Edit, mcp__.*", Some("Edit|mcp__.*")),
            ("Bash(git *)", DialectTrap, "Bash(git *)", Some("Bash")),
        ],
    );
    check(
        ClaudeNarrow,
        &[("rate_limit,overloaded", DialectTrap, "rate_limit,overloaded", Some("rate_limit|overloaded"))],
    );
    check(
        Amplifier,
        &[
            ("[a&&b]", DialectTrap, "&&", None),
            ("[[:alpha:]]", DialectTrap, "[", None),
            ("Bash*", DialectTrap, "*", Some(".*")),
            ("Edit, Write", DialectTrap, "Edit, Write", Some("Edit|Write")),
            ("Edit | Write", DialectTrap, "Edit | Write", Some("Edit|Write")),
            (" Bash", DialectTrap, " Bash", Some("Bash")),
        ],
    );
    check(Native, &[("Edit, mcp__.*", DialectTrap, "Edit, mcp__.*", Some("Edit|mcp__.*"))]);
}

#[test]
fn a_bare_server_name_is_reported_at_its_place() {
    for flavour in [Claude, ClaudeNarrow, Amplifier, Native] {
        check(
            flavour,
            &[
                ("mcp__store", McpServerPrefix, "mcp__store", Some("mcp__store__.*")),
                ("Bash|mcp__store", McpServerPrefix, "mcp__store", Some("mcp__store__.*")),
                ("mcp__store__|Bash", McpServerPrefix, "mcp__store__", Some("mcp__store__.*")),
            ],
        );
    }
    check(
        Claude,
        &[("Bash, mcp__brave-search", McpServerPrefix, "mcp__brave-search", Some("mcp__brave-search__.*"))],
    );
    check(Claude, &[("^mcp__store$", McpServerPrefix, "^mcp__store$", None)]);
    let two = Matcher::compile(Some("mcp__a|mcp__b"), Claude).problems;
    assert_eq!(two.iter().map(|p| (p.span.start, p.span.end)).collect::<Vec<_>>(), [(0, 6), (7, 13)]);
}

#[test]
fn native_patterns_that_do_not_compile_are_unreadable() {
    check(Native, &[("Bash[", Unreadable, "Bash[", None), ("(?P<n", Unreadable, "(?P<n", None)]);
}

#[test]
fn huge_and_deep_matchers_are_unreadable() {
    let deep = format!("{}a{}", "(".repeat(65), ")".repeat(65));
    let wide = "(?:a|b){1000}".repeat(20);
    for flavour in [Claude, ClaudeNarrow, Amplifier, Native] {
        for text in [deep.clone(), "a.".repeat(3000), wide.clone()] {
            let compiled = Matcher::compile(Some(&text), flavour);
            assert!(compiled.matcher.is_unreadable(), "{flavour:?} {}", &text[..20]);
            assert_eq!(compiled.problems[0].kind, Unreadable);
        }
        let allowed = format!("{}a+{}", "(".repeat(64), ")".repeat(64));
        let compiled = Matcher::compile(Some(&allowed), flavour);
        assert!(compiled.matcher.matches(["aa"]), "{flavour:?} {:?}", compiled.problems);
        let brackets = "\\(".repeat(100) + ".?";
        assert!(Matcher::compile(Some(&brackets), flavour).matcher.matches(["(".repeat(100).as_str()]));
    }
    let long = vec!["Name"; 2000].join("|");
    assert!(Matcher::compile(Some(&long), Claude).matcher.matches(["Name"]), "a list of names may be long");
}

#[test]
fn what_cannot_be_run_here_is_unreadable_and_never_literal() {
    for flavour in [Amplifier, Native] {
        let problem = only("\\w{900}", flavour);
        assert_eq!(problem.kind, Unreadable);
        assert!(problem.message.contains("too much for the engine"), "{problem:?}");
    }
    check(Amplifier, &[("\\N{DIGIT ONE}", Unreadable, "\\N{DIGIT ONE}", None)]);
    check(
        Claude,
        &[("(?:(a)|b)*\\1", Unreadable, "(?:(a)|b)*\\1", None), ("(?<=(a)\\1)b", Unreadable, "\\1", None)],
    );
}
