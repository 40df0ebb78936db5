//! Matchers as data: what each flavour matches, and what it says about what it cannot read.

use hook_core::Flavour::{self, Amplifier, Claude, ClaudeNarrow, Native};
use hook_matcher::Matcher;

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
            ("startup|resume", "fork", false),
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
fn a_pattern_that_would_run_for_ever_counts_as_matching() {
    let compiled = Matcher::compile(Some("^(?:(a+)\\1?)+$"), Claude);
    let long = format!("{}!", "a".repeat(64));
    assert!(compiled.matcher.matches([long.as_str()]));
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
fn an_alias_of_other_letter_case_fitted_a_pattern_that_wants_its_own_letter_case() {
    let matcher = Matcher::compile(Some("(?-i:Bash)"), Amplifier).matcher;
    assert!(!matcher.matches(["bash", "Bash"]));
    assert!(matcher.matches(["Bash"]));
    let matcher = Matcher::compile(Some("(?-i:Edit)"), Amplifier).matcher;
    assert!(matcher.matches(["edit_file", "Edit"]), "another name is an alias all the same");
}
