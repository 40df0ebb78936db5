//! Matchers as data: what each flavour matches, and what it says about what it cannot read.

use hook_core::Flavour::{self, Amplifier, Claude, ClaudeNarrow, Native};
use hook_matcher::{Matcher, ProblemKind};
use proptest::prelude::*;

#[track_caller]
fn check(flavour: Flavour, rows: &[(&str, &str, bool)]) {
    for (matcher, value, expected) in rows {
        let compiled = Matcher::compile(Some(matcher), flavour);
        assert_eq!(
            compiled.matcher.matches([*value]),
            *expected,
            "{flavour:?} {matcher:?} on {value:?}: {} {:?}",
            compiled.matcher.describe(),
            compiled.problems
        );
    }
}

#[test]
fn amplifier_matches_whole_names_without_case() {
    check(
        Amplifier,
        &[
            ("Bash", "Bash", true),
            ("Bash", "bASH", true),
            ("Bash", "BashOutput", false),
            ("Bash", "", false),
            ("Edit|Write", "Write", true),
            ("Edit|Write", "MultiEdit", false),
            ("Edit|EditNotebook", "EditNotebook", true),
            ("*", "Anything", true),
            ("", "Bash", true),
            ("Notebook.*", "Notebook", true),
            ("Bash*", "Bas", true),
            ("Bash*", "Bashhh", true),
            ("Bash*", "BashOutput", false),
            ("mcp__filesystem__.*", "mcp__filesystem__read_file", true),
            ("mcp__filesystem", "mcp__filesystem__read_file", false),
            (".*", "", true),
            ("(?!Bash$).*", "Edit", true),
            ("(?!Bash$).*", "bash", false),
            ("[invalid", "[INVALID", true),
            ("[invalid", "invalid", false),
            ("*Bash", "Bash", false),
            ("*Bash", "*bash", true),
            ("Bash|*", "bash|*", true),
            ("Bash|*", "Bash", false),
            (" Bash", "Bash", false),
            ("Edit, Write", "Edit, Write", true),
            ("Edit, Write", "Write", false),
            (".", "\n", false),
        ],
    );
}

#[test]
fn python_patterns_keep_their_meaning() {
    check(
        Amplifier,
        &[
            ("Bash\\Z", "bash", true),
            ("a{,3}", "aaa", true),
            ("a{,3}", "", true),
            ("a{,3}", "aaaa", false),
            ("Bash{", "bash{", true),
            ("(?-i:Bash)", "bash", false),
            ("(?-i:Bash)", "Bash", true),
            ("(?x) Ba sh # the shell", "bash", true),
            ("(?x) Ba sh # the shell", "bash # the shell", false),
            ("(?i)bash", "BASH", true),
            ("bash(?i)", "bash", false),
            ("(?P<x>a)(?P=x)", "aa", true),
            ("(a)\\1", "aa", true),
            ("(a)\\1", "ab", false),
            ("\\w+", "naïve", true),
            ("[]a]+", "]a]", true),
            ("[a&&b]", "&", true),
            ("(?#note)Bash", "bash", true),
            ("a++b", "aab", true),
            ("\\hx", "\\hx", true),
        ],
    );
}

#[test]
fn claude_lists_are_exact_and_patterns_are_searched() {
    check(
        Claude,
        &[
            ("", "Write", true),
            ("*", "mcp__github__get_issue", true),
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("bash", "Bash", false),
            ("Edit|Write", "Write", true),
            ("Edit|Write", "NotebookEdit", false),
            ("Edit, Write", "Write", true),
            ("Bash|", "Bash", true),
            ("Write,,Bash", "Bash", true),
            ("^Notebook", "NotebookEdit", true),
            ("Edit.*", "NotebookEdit", true),
            ("^Edit$", "NotebookEdit", false),
            ("mcp__memory__.*", "mcp__memory__create_entities", true),
            ("mcp__memory", "mcp__memory__create_entities", false),
            ("mcp__brave-search", "mcp__brave-search__web_search", false),
            ("mcp__notes*", "mcp__notes__x", true),
            ("mcp__.*__write.*", "mcp__filesystem__write_file", true),
            ("code-reviewer", "senior-code-reviewer", false),
            ("^my-plugin:reviewer$", "my-plugin:reviewer", true),
            ("Explore", "", false),
            ("^(?!Bash$)", "Edit", true),
            ("^(?!Bash$)", "Bash", false),
        ],
    );
}

#[test]
fn narrow_events_split_at_the_pipe_only() {
    check(
        ClaudeNarrow,
        &[
            ("rate_limit|overloaded", "overloaded", true),
            ("rate_limit,overloaded", "rate_limit", false),
            (".envrc|.env", ".env", true),
            ("max-tokens", "max-tokens", true),
        ],
    );
}

#[test]
fn javascript_patterns_keep_their_meaning() {
    check(
        Claude,
        &[
            ("^\\Ax", "Ax", true),
            ("x\\z", "xz", true),
            ("\\x{3}", "xxx", true),
            ("\\x{41}", "A", false),
            ("\\x41", "A", true),
            ("[a&&b]", "&", true),
            ("^[[:alpha:]]$", "x", false),
            ("^[[:alpha:]]$", "a]", true),
            ("[^]", "x", true),
            ("[]", "x", false),
            ("^\\w+$", "naïve", false),
            ("^\\d$", "٣", false),
            ("^[\\D]$", "a", true),
            ("^[\\D]$", "1", false),
            ("\\cA", "\u{1}", true),
            ("a{,3}", "a{,3}", true),
            ("x{", "x{", true),
            ("^(?<n>a)\\k<n>$", "aa", true),
            ("^(a)\\1$", "ab", false),
            ("(?<=Note)book", "Notebook", true),
            ("^\\1x$", "\u{1}x", true),
            ("^(?:(a)|b)\\1$", "b", true),
        ],
    );
}

#[test]
fn what_javascript_refuses_is_unreadable_and_says_where() {
    for matcher in [
        "(?i)bash", "(?P<n>a)", "a++", "(?>a)", "*Bash", "[", "a\\", "(", "a**", "^*Bash", "a+?+", "(?i:a",
        "{2}",
    ] {
        let compiled = Matcher::compile(Some(matcher), Claude);
        assert!(compiled.matcher.is_unreadable(), "{matcher}: {}", compiled.matcher.describe());
        let problem = compiled.problems.last().unwrap_or_else(|| panic!("{matcher} has no problem"));
        assert_eq!(problem.kind, ProblemKind::Unreadable);
        assert!(
            problem.span.end <= matcher.len() && problem.span.start < problem.span.end,
            "{matcher} {:?}",
            problem.span
        );
        assert!(!compiled.matcher.matches(["Bash"]));
    }
}

#[test]
fn native_takes_lists_globs_and_searched_patterns() {
    check(
        Native,
        &[
            ("Edit, Write", "Write", true),
            ("Edit|Write", "MultiEdit", false),
            ("mcp__*", "mcp__github__create_issue", true),
            ("mcp__*|Bash", "Bash", true),
            ("*Tool", "BashTool", true),
            ("R*d*Tool", "RedTool", true),
            ("Tool.X*", "ToolAX", false),
            ("*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
            ("mcp__.*", "mcp__x", true),
            ("mcp__(fs|git)__.*", "mcp__git__log", true),
            ("^Bash$", "BashOutput", false),
            ("Ed.t", "NotebookEdit", true),
            ("bash", "Bash", false),
        ],
    );
}

#[test]
fn a_native_predicate_is_not_taken_for_a_name() {
    for matcher in ["Bash(git *)", "Bash(command=^rm)", "Bash & input.command~^npm"] {
        assert!(Matcher::compile(Some(matcher), Native).matcher.is_unreadable(), "{matcher}");
    }
}

#[test]
fn a_glob_in_amplifier_falls_back_and_says_what_was_meant() {
    let compiled = Matcher::compile(Some("*Bash"), Amplifier);
    assert_eq!(compiled.problems[0].kind, ProblemKind::LiteralFallback);
    assert_eq!(compiled.problems[0].suggestion.as_deref(), Some(".*Bash"));
    assert!(!compiled.matcher.is_unreadable());
}

#[test]
fn a_bare_server_name_is_reported_at_its_place() {
    for flavour in [Claude, Native] {
        let problems = Matcher::compile(Some("Bash| mcp__store"), flavour).problems;
        assert_eq!(problems[0].kind, ProblemKind::McpServerPrefix);
        assert_eq!((problems[0].span.start, problems[0].span.end), (6, 16));
        assert_eq!(problems[0].suggestion.as_deref(), Some("mcp__store__.*"));
    }
    assert!(Matcher::compile(Some("mcp__store__get"), Claude).problems.is_empty());
}

#[test]
fn traps_are_reported() {
    for matcher in ["^Bash\\z", "[[:alpha:]]", "[a&&b]", "\\x{41}", "\\Ax"] {
        let problems = Matcher::compile(Some(matcher), Claude).problems;
        assert_eq!(problems.first().map(|p| p.kind), Some(ProblemKind::DialectTrap), "{matcher}");
    }
}

#[test]
fn a_pattern_that_would_run_for_ever_counts_as_matching() {
    let compiled = Matcher::compile(Some("^(?:(a+)\\1?)+$"), Claude);
    let long = format!("{}!", "a".repeat(64));
    assert!(compiled.matcher.matches([long.as_str()]));
}

#[test]
fn huge_and_deep_matchers_are_refused() {
    let deep = format!("{}a{}", "(".repeat(100), ")".repeat(100));
    for matcher in [deep, "a.".repeat(3000)] {
        for flavour in [Claude, Native] {
            assert!(Matcher::compile(Some(&matcher), flavour).matcher.is_unreadable());
        }
    }
}

#[test]
fn any_of_several_names_is_enough_and_no_subject_ignores_the_matcher() {
    let matcher = Matcher::compile(Some("Task"), Claude).matcher;
    assert!(matcher.matches(["Agent", "Task"]));
    assert!(matcher.matches([]));
    assert!(!Matcher::compile(Some("["), Claude).matcher.matches([]));
    assert!(!Matcher::compile(Some("Bash"), Amplifier).matcher.matches([]), "Amplifier tests the empty text");
    assert!(Matcher::compile(Some(".*"), Amplifier).matcher.matches([]));
}

#[test]
fn exact_lists_offer_their_names() {
    assert_eq!(Matcher::compile(Some("A|B"), Claude).matcher.exact_names().unwrap(), ["A", "B"]);
    assert!(Matcher::compile(Some("A|B"), Amplifier).matcher.exact_names().is_none());
    assert!(Matcher::compile(None, Claude).matcher.is_all());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(matcher in "\\PC{0,40}", value in "\\PC{0,20}") {
        for flavour in [Claude, ClaudeNarrow, Amplifier, Native] {
            let compiled = Matcher::compile(Some(&matcher), flavour);
            compiled.matcher.matches([value.as_str()]);
            for problem in compiled.problems {
                prop_assert!(matcher.get(problem.span.start..problem.span.end).is_some(), "{:?}", problem);
            }
        }
    }

    #[test]
    fn patterns_of_special_characters_never_panic(matcher in "[\\\\(){}\\[\\]?*+|^$.a-c0-2:=!<>PxuU&-]{0,24}") {
        for flavour in [Claude, Amplifier, Native] {
            Matcher::compile(Some(&matcher), flavour).matcher.matches(["abc"]);
        }
    }

    #[test]
    fn exact_lists_agree_with_a_model(names in prop::collection::vec("[A-C]{1,2}", 1..4), value in "[A-C]{1,2}") {
        let expected = names.contains(&value);
        for flavour in [Claude, Native] {
            let matcher = Matcher::compile(Some(&names.join("|")), flavour).matcher;
            prop_assert_eq!(matcher.matches([value.as_str()]), expected);
        }
        let matcher = Matcher::compile(Some(&names.join("|")), Amplifier).matcher;
        prop_assert_eq!(matcher.matches([value.to_lowercase().as_str()]), expected);
    }

    #[test]
    fn escaped_text_matches_itself(text in "[ -~]{1,12}") {
        let escaped: String = text.chars().flat_map(|c| {
            let escape = if c.is_ascii_punctuation() { Some('\\') } else { None };
            escape.into_iter().chain([c])
        }).collect();
        let matcher = format!("^{escaped}$");
        prop_assert!(Matcher::compile(Some(&matcher), Claude).matcher.matches([text.as_str()]));
        let matcher = format!("(?:{escaped})");
        prop_assert!(Matcher::compile(Some(&matcher), Amplifier).matcher.matches([text.as_str()]));
    }
}
