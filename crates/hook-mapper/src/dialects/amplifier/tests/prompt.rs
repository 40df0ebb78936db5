//! Prompt hooks: the question, the answer, and troubles.

use hook_core::{EventKind, FailMode, FailureKind, Handler, Level, OnFailure, Status};
use serde_json::{Value, json};

use super::{event, fire, result};
use crate::dialects::testing::{self, Bench, holds};
use crate::{Amplifier, Claude};

fn bench() -> Bench<'static> {
    Bench::new(&Amplifier).asking(Handler::Prompt, false)
}

#[test]
fn the_word_becomes_one_line_per_thing_that_is_known() {
    let bench = bench();
    for (data, expected) in [
        (json!({"prompt": "p"}), "User prompt: p"),
        (json!({"name": "Bash"}), "Tool: Bash"),
        (json!({"tool_name": "bash"}), "Tool: bash"),
        (json!({"tool_name": "long", "name": "short"}), "Tool: short"),
        (json!({"name": null, "tool_name": "bash"}), "Tool: bash"),
        (
            json!({"input": {"b": [1, {}], "a": []}}),
            "Input: {\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": []\n}",
        ),
        (json!({"tool_input": "é"}), "Input: \"é\""),
        (json!({"tool_input": 2, "input": 1}), "Input: 1"),
        (json!({"input": null}), "Input: null"),
        (json!({"result": [1]}), "Result: [\n  1\n]"),
        (json!({"tool_result": true}), "Result: true"),
        (json!({"trigger": "auto"}), "Trigger: auto"),
        (
            json!({"trigger": "t", "result": 3, "input": 2, "name": "n", "prompt": "p", "other": 1}),
            "User prompt: p\nTool: n\nInput: 2\nResult: 3\nTrigger: t",
        ),
        (json!({"message": "m", "list": [1, 2]}), r#"{"message": "m", "list": [1, 2]}"#),
        (json!({}), "{}"),
    ] {
        let stop = &fire("prompt:complete", data.clone())[0];
        assert_eq!(bench.prompt(stop, "$ARGUMENTS"), expected, "{data}");
        assert_eq!(bench.prompt(stop, "a $ARGUMENTS b $ARGUMENTS"), format!("a {expected} b {expected}"));
    }
}

#[test]
fn what_was_put_in_is_not_looked_at_again_and_nothing_is_appended() {
    let stop = &fire("prompt:complete", json!({"prompt": "$ARGUMENTS"}))[0];
    assert_eq!(bench().prompt(stop, "<$ARGUMENTS>"), "<User prompt: $ARGUMENTS>");
    for template in ["Fine?", "${ARGUMENTS}", "$arguments", ""] {
        assert_eq!(bench().prompt(stop, template), template);
    }
}

#[test]
fn a_long_result_is_cut_after_500_characters_of_json() {
    // The quotes count.
    for (letters, cut) in [(498, false), (499, true), (5000, true)] {
        for letter in ["y", "é"] {
            let post = &fire("tool:post", json!({"result": letter.repeat(letters)}))[0];
            let shown = bench().prompt(post, "$ARGUMENTS");
            let expected = match cut {
                false => format!("Result: \"{}\"", letter.repeat(letters)),
                true => format!("Result: \"{}...", letter.repeat(499)),
            };
            assert_eq!(shown, expected, "{letters} {letter}");
        }
    }
}

#[test]
fn an_event_of_another_agent_reads_like_one_of_its_own() {
    let payload = json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/w", "tool_name": "Bash",
                         "tool_input": {"command": "ls"}, "tool_response": {"stdout": "x"}});
    let event = &testing::read(&Claude, payload, None).unwrap().events[0];
    let expected = "Tool: Bash\nInput: {\n  \"command\": \"ls\"\n}\nResult: {\n  \"stdout\": \"x\"\n}";
    assert_eq!(bench().prompt(event, "$ARGUMENTS"), expected);
    let rewritten = event.with_input(json!({"command": "pwd"}));
    assert!(bench().prompt(&rewritten, "$ARGUMENTS").contains("pwd"));
    let own = fire("tool:pre", json!({"name": "bash", "input": {"command": "ls"}}))[0]
        .with_input(json!({"command": "pwd"}));
    assert_eq!(bench().prompt(&own, "$ARGUMENTS"), "Tool: bash\nInput: {\n  \"command\": \"pwd\"\n}");
}

#[test]
fn a_yes_goes_on_and_a_no_denies_where_the_event_takes_it() {
    use EventKind::*;
    let no = r#"{"ok": false, "reason": "r"}"#;
    let denies = json!({"action": "deny", "reason": "r", "user_message": null});
    let warns =
        json!({"action": "continue", "reason": null, "user_message": "r", "user_message_level": "warning"});
    for (kind, expected, status) in [
        (PreToolUse, &denies, Status::Ok),
        (UserPromptSubmit, &denies, Status::Ok),
        (Stop, &denies, Status::Ok),
        (SubagentStop, &denies, Status::Ok),
        (PermissionRequest, &denies, Status::Ok),
        (PostToolUse, &warns, Status::Ignored),
        (SessionStart, &warns, Status::Ignored),
        (PreCompact, &warns, Status::Ignored),
        (SessionEnd, &warns, Status::Ignored),
        (Notification, &warns, Status::Ignored),
    ] {
        let event = event(kind.clone());
        let said = bench().reply(&event, no);
        assert_eq!(said.status, status, "{kind}");
        holds(kind.name(), &result(&event, &said), expected);
        for (reply, message) in [
            (r#"{"ok": true}"#, Value::Null),
            (r#"{"ok": true, "reason": " "}"#, Value::Null),
            (r#"{"ok": true, "reason": "r"}"#, json!("r")),
            ("Yes.", json!("Yes.")),
            ("Hm.", json!("Could not parse response")),
        ] {
            let said = bench().reply(&event, reply);
            let expected = json!({"action": "continue", "reason": null, "user_message": message});
            holds(reply, &result(&event, &said), &expected);
        }
    }
}

#[test]
fn a_no_without_a_reason_has_one() {
    let stop = event(EventKind::Stop);
    for reply in [r#"{"ok": false}"#, r#"{"ok": false, "reason": ""}"#, r#"{"decision": "deny"}"#] {
        let said = bench().reply(&stop, reply);
        assert_eq!(said.answer.reason.as_deref(), Some("Prompt hook returned ok=false"), "{reply}");
    }
}

#[test]
fn the_form_of_an_answer_is_remarked_on() {
    let notes = |reply: &str| bench().reply(&event(EventKind::Stop), reply).notes;
    assert_eq!(notes(r#"{"ok": true}"#), []);
    assert_eq!(notes("No.")[0].level, Level::Info);
    assert_eq!(notes("Hm.")[0].level, Level::Warning);
}

/// "Fail open": the log hears of it, the user does not.
#[test]
fn a_trouble_goes_on_and_is_a_note_for_the_log() {
    let stop = event(EventKind::Stop);
    for kind in FailureKind::ALL {
        let said = bench().fail(&stop, *kind);
        holds(kind.name(), &result(&stop, &said), &json!({"action": "continue", "user_message": null}));
        let expected = match kind {
            FailureKind::Timeout => (Status::Timeout, "Hook timed out after 30s".to_owned()),
            kind => (Status::Error, format!("broken by {}", kind.name())),
        };
        assert_eq!((said.status, said.notes[0].text.clone()), expected);
        assert_eq!((said.failure, said.notes[0].level), (Some(*kind), Level::Warning));
    }
    let empty = bench().reply(&stop, " \n");
    assert_eq!(
        (empty.failure, empty.notes[0].text.as_str()),
        (Some(FailureKind::Parse), "Empty provider response")
    );
    assert_eq!(empty.answer, hook_core::Answer::default());
}

#[test]
fn an_author_who_says_that_failures_block_is_heard() {
    let mut bench = bench();
    bench.hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() };
    let said = bench.fail(&event(EventKind::PreToolUse), FailureKind::Unreachable);
    assert_eq!(said.answer.reason.as_deref(), Some("broken by unreachable"));
    let late = bench.fail(&event(EventKind::PostToolUse), FailureKind::Unreachable);
    assert_eq!(late.answer, hook_core::Answer::default());
}

#[test]
fn without_allow_blocking_a_no_is_told_and_goes_on() {
    let mut bench = bench();
    bench.hook.may_block = false;
    let stop = event(EventKind::Stop);
    let said = bench.reply(&stop, r#"{"ok": false, "reason": "r"}"#);
    let text = "r (not blocked: the setting allow_blocking is false)";
    holds("stop", &result(&stop, &said), &json!({"action": "continue", "user_message": text}));
}
