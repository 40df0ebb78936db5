//! What holds for every rule.

use std::path::Path;

use hook_core::EventKind;
use hook_matcher::{ProblemKind, Rule, RuleInput};
use proptest::prelude::*;
use serde_json::json;

fn holds(rule: &Rule, tool: &str, input: &serde_json::Value) -> bool {
    let verdict = rule.judge(&RuleInput {
        event: &EventKind::PreToolUse,
        tools: &[tool],
        input: Some(input),
        session: Some(Path::new("/p/s")),
        project: Path::new("/p"),
        home: Some(Path::new("/h")),
        source: None,
    });
    assert!(!verdict.why.is_empty() && !verdict.why.ends_with('.') || verdict.why.len() > 80);
    verdict.holds
}

/// Words that mean nothing to a shell.
const WORD: &str = "[a-z][a-z0-9./:@%+-]{0,6}";

fn command() -> impl Strategy<Value = String> {
    prop::collection::vec(WORD, 1..4).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(
        text in prop_oneof![
            "\\PC{0,30}",
            "(Bash|Write|Glob|Skill|WebFetch|PowerShell|mcp__a|bash|Task)?[(a-c*!/\\\\:{},.|&)é ~\\[\\]-]{0,16}\\)?",
            any::<String>(),
        ],
        value in prop_oneof!["\\PC{0,30}", "[a-c$(){}`'\"\\\\;&|/.~:@é \n\\[\\]-]{0,24}"],
    ) {
        let compiled = Rule::compile(&text);
        let unreadable = compiled.problems.iter().any(|problem| problem.kind == ProblemKind::Unreadable);
        prop_assert_eq!(compiled.rule.is_unreadable(), unreadable);
        for problem in &compiled.problems {
            prop_assert!(text.get(problem.span.start..problem.span.end).is_some(), "{:?}", problem);
            prop_assert!(problem.span.start < problem.span.end, "{:?}", problem);
        }
        let input = json!({"command": value, "file_path": value, "pattern": value, "url": value, "skill": value});
        for tool in ["Bash", "Write", "Glob", "Skill", "WebFetch", "PowerShell", "mcp__a__b", "Task"] {
            holds(&compiled.rule, tool, &input);
        }
    }

    /// The rule on a name holds exactly where one of the commands has it.
    #[test]
    fn names_agree_with_a_model(
        name in "[a-c]{1,2}",
        commands in prop::collection::vec(("[a-c]{1,2}", command()), 1..5),
        separator in prop::sample::select(vec![" && ", " || ", "; ", " | ", "\n", " & ", " |& "]),
    ) {
        let written: Vec<String> = commands.iter().map(|(name, rest)| format!("{name} {rest}")).collect();
        let rule = Rule::compile(&format!("Bash({name} *)")).rule;
        let expected = commands.iter().any(|(first, _)| *first == name);
        prop_assert_eq!(holds(&rule, "Bash", &json!({"command": written.join(separator)})), expected);
    }

    /// Whatever is put around a command, the rule on it still holds.
    #[test]
    fn no_wrapping_hides_a_command(
        command in command(),
        before in prop::sample::select(vec![
            "", "a && ", "! ", "X=1 ", "> f ", "(", "if ", "while ", "a; ", "echo $(", "echo `", "echo \"$(", "xargs ", "{ ",
            "f() { ", "case x in y) ", "for i in $X; do ", "$'a' ", "\"$A\"; ", "cat <<E\n", "echo $((1)) && ", "echo '", "\\\n",
        ]),
        after in prop::sample::select(vec!["", " && a", ")", "`", ")\"", "; }", " > f", " # x", ";; esac", "; done", "'", "\n"]),
    ) {
        // In single quotes it is no command.
        prop_assume!(!before.ends_with('\''));
        let line = format!("{before}{command}{after}");
        let name = command.split(' ').next().unwrap_or_default();
        let rule = Rule::compile(&format!("Bash({name} *)")).rule;
        prop_assert!(holds(&rule, "Bash", &json!({"command": line})), "{}", line);
    }

    /// A file fits the pattern that is its own path, and a directory's pattern covers what is in it.
    #[test]
    fn paths_fit_themselves(parts in prop::collection::vec("[a-zA-Z0-9_.-]{1,6}", 1..5), above in 1usize..4) {
        prop_assume!(!parts.iter().any(|part| matches!(part.as_str(), "." | "..")));
        let path = parts.join("/");
        let input = json!({"file_path": format!("/p/{path}")});
        for pattern in [format!("//p/{path}"), format!("/{path}"), format!("./{path}"), format!("**/{path}")] {
            let rule = Rule::compile(&format!("Write({pattern})")).rule;
            prop_assert!(holds(&rule, "Write", &input), "{}", pattern);
        }
        let directory = parts[..above.min(parts.len())].join("/");
        let rule = Rule::compile(&format!("Write(./{directory}/**)")).rule;
        prop_assert!(holds(&rule, "Write", &input), "{}", directory);
    }
}

/// Time that grows with the square of the input would be noticed here by everybody.
#[test]
fn hostile_inputs_are_judged() {
    const SIZE: usize = 1 << 17;
    for part in ["a;", "a ", "$(", "(", "`a` ", "xargs ", "git x;", "'", "a/", "../", "[", "*", "é"] {
        let value = part.repeat(SIZE / part.len());
        let input = json!({"command": value, "file_path": value, "url": value});
        for rule in [
            "Bash(git *)",
            "Bash(*a*b*c*)",
            "Write(**/a/**/b/*x*y*z)",
            "PowerShell(git *)",
            "WebFetch(domain:*a*b)",
        ] {
            let tool = rule.split('(').next().unwrap_or_default();
            holds(&Rule::compile(rule).rule, tool, &input);
        }
    }
    for text in
        ["(".repeat(4000), format!("Bash({}", "(".repeat(4000)), "a".repeat(100_000), "Bash(\\(".repeat(500)]
    {
        assert!(!Rule::compile(&text).problems.is_empty());
    }
}
