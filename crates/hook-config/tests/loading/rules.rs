//! What is said about `if` rules when a file is read.

use hook_core::Severity;

use crate::common::*;

fn with_rule(event: &str, rule: &str) -> String {
    format!("{{\"{event}\": [{{\"hooks\": [\n  {{\"command\": \"a\", \"if\": {rule}}}]}}]}}")
}

#[test]
fn a_rule_is_checked_by_the_compiler_that_runs_it() {
    for (event, rule, expected) in [
        ("PreToolUse", r#""Bash(git *)""#, &[] as &[&str]),
        ("PermissionDenied", r#""mcp__notes""#, &[]),
        ("PreToolUse", r#""""#, &[]),
        ("PreToolUse", r#""Bash(command=^git)""#, &[]),
        ("PreToolUse", r#""Bash(git *) | input.command~x""#, &[]),
        ("PreToolUse", r#""Bash & input.command~(""#, &["condition-unreadable error 2:48 -"]),
        ("PreToolUse", r#""Bash(command=^git[)""#, &["condition-unreadable error 2:40 -"]),
        ("PreToolUse", r#""Bash(git""#, &["condition-unreadable error 2:31 (git)"]),
        ("PreToolUse", r#""X || Y""#, &["condition-unreadable error 2:29 -"]),
        ("PreToolUse", r#""bash(git *)""#, &["condition-unknown-tool warning 2:27 Bash"]),
        ("PreToolUse", r#""Bahs(git *)""#, &["condition-unknown-tool warning 2:27 Bash"]),
        ("PreToolUse", r#""Write(src/{a,b})""#, &["condition-trap warning 2:33 -"]),
        ("PreToolUse", r#""WebFetch(a.b)""#, &["condition-trap warning 2:36 domain:a.b"]),
        ("Stop", r#""Bash""#, &["condition-without-tool warning 2:20 -"]),
        (
            "SessionStart",
            r#""bash""#,
            &["condition-unknown-tool warning 2:27 Bash", "condition-without-tool warning 2:20 -"],
        ),
    ] {
        let loaded = native(&with_rule(event, rule));
        let found: Vec<String> = loaded
            .diagnostics
            .iter()
            .filter(|finding| finding.code.slug().starts_with("condition"))
            .map(|finding| {
                let place = &finding.labels[0].location;
                let severity = finding.severity.name();
                let suggestion = finding.suggestion.as_deref().unwrap_or("-");
                assert!(finding.help.is_some(), "{}", finding.message);
                assert!(
                    finding.pointer.as_deref().is_some_and(|pointer| pointer.ends_with("/if")),
                    "{finding:?}"
                );
                format!("{} {severity} {}:{} {suggestion}", finding.code.slug(), place.line, place.column)
            })
            .collect();
        assert_eq!(found, expected, "{rule}");
    }
}

#[test]
fn a_hook_with_an_unreadable_rule_stays_in_force() {
    let loaded = native(&with_rule("PreToolUse", r#""Bash(git""#));
    assert_eq!(hooks(&loaded), ["PreToolUse - a"]);
    assert_eq!(loaded.diagnostics[0].severity, Severity::Error);
    let loaded = native(&with_rule("Stop", r#""Bash""#));
    assert_eq!(hooks(&loaded), ["!Stop - a"]);
}
