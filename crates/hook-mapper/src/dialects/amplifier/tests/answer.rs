//! Answers of hooks.

use hook_core::{Answer, Decision, EventKind, FailMode, FailureKind, Level, OnFailure, Status, StdoutForm};
use serde_json::json;

use super::{event, result};
use crate::Amplifier;
use crate::dialects::testing::{Bench, holds};

#[test]
fn what_one_hook_says_becomes_one_result() {
    use EventKind::*;
    let block = r#"{"decision": "block", "reason": "no", "systemMessage": "m"}"#;
    let both = r#"{"contextInjection": "c", "newContent": "n"}"#;
    let all = r#"{"decision": "block", "reason": "no", "contextInjection": "c", "newContent": "n"}"#;
    let next = json!({ "action": "continue", "reason": null, "context_injection": null, "data": null,
                       "user_message": null });
    for (kind, code, stdout, stderr, expected) in [
        // Exit code 2.
        (
            PreToolUse,
            2,
            "",
            "  not allowed here \n",
            json!({ "action": "deny", "reason": "not allowed here" }),
        ),
        (PreToolUse, 2, "", "", json!({ "action": "deny", "reason": "Hook blocked operation" })),
        (PreToolUse, 2, block, "", json!({ "action": "deny", "reason": "no", "user_message": "m" })),
        (PreToolUse, 2, block, "loud", json!({ "action": "deny", "reason": "loud", "user_message": "m" })),
        (PreToolUse, 2, both, "", json!({ "action": "deny", "context_injection": null, "data": null })),
        (Stop, 2, "", "tests still fail", json!({ "action": "deny", "reason": "tests still fail" })),
        (SubagentStop, 2, "", "go on", json!({ "action": "deny", "reason": "go on" })),
        (UserPromptSubmit, 2, "", "no", json!({ "action": "deny", "reason": "no" })),
        (PermissionRequest, 2, "", "no", json!({ "action": "deny", "reason": "no" })),
        (
            PostToolUse,
            2,
            "",
            "too late",
            json!({ "action": "continue", "user_message": "too late", "user_message_level": "warning" }),
        ),
        (
            PostToolUse,
            2,
            r#"{"systemMessage": "m"}"#,
            "late",
            json!({ "action": "continue", "user_message": "m" }),
        ),
        (SessionStart, 2, "", "no", json!({ "action": "continue" })),
        (SessionEnd, 2, "", "no", json!({ "action": "continue" })),
        (PreCompact, 2, "", "no", json!({ "action": "continue" })),
        (Notification, 2, "", "no", json!({ "action": "continue" })),
        // A block in the document, whatever the code.
        (PreToolUse, 0, block, "", json!({ "action": "deny", "reason": "no", "user_message": "m" })),
        (PreToolUse, 1, block, "", json!({ "action": "deny", "reason": "no" })),
        (PreToolUse, -9, block, "", json!({ "action": "deny", "reason": "no" })),
        (
            PreToolUse,
            0,
            r#"{"decision": "block"}"#,
            "",
            json!({ "action": "deny", "reason": "Hook blocked operation" }),
        ),
        (PreToolUse, 0, all, "", json!({ "action": "deny", "context_injection": null, "data": null })),
        (PreToolUse, 0, r#"{"decision": "deny", "reason": "x"}"#, "", next.clone()),
        (PreToolUse, 0, r#"{"decision": "Block"}"#, "", next.clone()),
        (PreToolUse, 0, r#"{"decision": null}"#, "", next.clone()),
        (PreToolUse, 0, r#"{"decision": "block", "reason": {"a": 1}}"#, "", json!({ "reason": "{\"a\":1}" })),
        (
            PostToolUse,
            0,
            all,
            "",
            json!({ "action": "inject_context", "context_injection": "c", "user_message": "no",
                    "user_message_level": "warning" }),
        ),
        // continue false.
        (
            PreToolUse,
            0,
            r#"{"continue": false, "reason": "stop here"}"#,
            "",
            json!({ "action": "deny", "reason": "stop here" }),
        ),
        (
            PreToolUse,
            0,
            r#"{"continue": false, "stopReason": "s"}"#,
            "",
            json!({ "action": "deny", "reason": "s" }),
        ),
        (
            PreToolUse,
            0,
            r#"{"continue": false, "systemMessage": "s"}"#,
            "",
            json!({ "action": "deny", "reason": "s" }),
        ),
        (PreToolUse, 0, r#"{"continue": true}"#, "", next.clone()),
        // Context and content.
        (
            PostToolUse,
            0,
            r#"{"decision": "approve", "contextInjection": "line 5", "systemMessage": "Lint"}"#,
            "",
            json!({ "action": "inject_context", "context_injection": "line 5", "user_message": "Lint" }),
        ),
        (
            PreToolUse,
            0,
            both,
            "",
            json!({ "action": "inject_context", "context_injection": "c", "data": null }),
        ),
        (
            UserPromptSubmit,
            0,
            r#"{"contextInjection": ["a"]}"#,
            "",
            json!({ "context_injection": "[\"a\"]" }),
        ),
        (PreToolUse, 0, r#"{"contextInjection": null}"#, "", next.clone()),
        (SessionStart, 0, r#"{"contextInjection": "c"}"#, "", json!({ "action": "inject_context" })),
        (PreCompact, 0, r#"{"contextInjection": "c"}"#, "", json!({ "action": "inject_context" })),
        (SessionEnd, 0, r#"{"contextInjection": "bye"}"#, "", next.clone()),
        (Stop, 0, r#"{"contextInjection": "c"}"#, "", next.clone()),
        (
            PreToolUse,
            0,
            "{\"newContent\": \"print(1)\\n\"}",
            "",
            json!({ "action": "modify", "data": { "modified_content": "print(1)\n" } }),
        ),
        (
            PreToolUse,
            0,
            r#"{"newContent": {"command": "ls"}}"#,
            "",
            json!({ "action": "modify", "data": { "modified_content": { "command": "ls" } } }),
        ),
        (UserPromptSubmit, 0, r#"{"newContent": "p"}"#, "", json!({ "data": { "modified_content": "p" } })),
        (PostToolUse, 0, r#"{"newContent": "p"}"#, "", next.clone()),
        // Everything else.
        (
            PreToolUse,
            0,
            r#"{"decision": "approve", "systemMessage": "checked"}"#,
            "",
            json!({ "action": "continue", "user_message": "checked" }),
        ),
        (
            PermissionRequest,
            0,
            r#"{"decision": "approve", "reason": "r"}"#,
            "",
            json!({ "action": "continue", "decision": "approve", "reason": null }),
        ),
        (PreToolUse, 0, "looks fine\n", "", next.clone()),
        (PreToolUse, 0, "42\n", "", next.clone()),
        (PreToolUse, 0, "[]", "", next.clone()),
        (PreToolUse, 0, r#"{ "decision": "block""#, "", next.clone()),
        (PreToolUse, 0, r#"note {"decision": "block"}"#, "", next.clone()),
        (PreToolUse, 0, "", "chatter", next.clone()),
        (
            PreToolUse,
            1,
            "",
            "lint tool crashed",
            json!({ "action": "continue", "user_message": "lint tool crashed", "user_message_level": "warning" }),
        ),
        (
            PreToolUse,
            127,
            "",
            "",
            json!({ "user_message": "Hook exited with code 127", "user_message_level": "warning" }),
        ),
        (
            PreToolUse,
            -9,
            "",
            "",
            json!({ "user_message": "Hook exited with code -9", "user_message_level": "warning" }),
        ),
        (PreToolUse, 1, "42", "x", json!({ "user_message": "x" })),
    ] {
        let event = event(kind.clone());
        let reading = Bench::new(&Amplifier).exit(&event, code, stdout, stderr);
        holds(&format!("{kind} {code} {stdout:?} {stderr:?}"), &result(&event, &reading), &expected);
    }
}

#[test]
fn the_record_says_how_a_run_ended() {
    let bench = Bench::new(&Amplifier);
    let pre = event(EventKind::PreToolUse);
    let post = event(EventKind::PostToolUse);
    for (event, code, stdout, status, form, failure) in [
        (&pre, 2, "", Status::Blocked, StdoutForm::Empty, None),
        (&post, 2, "", Status::Ignored, StdoutForm::Empty, None),
        (&post, 0, r#"{"decision": "block"}"#, Status::Ignored, StdoutForm::Json, None),
        (&pre, 0, "{broken", Status::Ok, StdoutForm::InvalidJson, None),
        (&pre, 0, "7", Status::Ok, StdoutForm::Text, None),
        (&pre, 3, "", Status::Error, StdoutForm::Empty, Some(FailureKind::Exit)),
        (&pre, -15, "", Status::Error, StdoutForm::Empty, Some(FailureKind::Signal)),
    ] {
        let reading = bench.exit(event, code, stdout, "");
        assert_eq!(
            (reading.status, reading.stdout, reading.failure),
            (status, Some(form), failure),
            "{code} {stdout}"
        );
    }
    assert!(bench.exit(&pre, 0, "{broken", "").notes[0].text.contains("no JSON"));
    let missing = bench.exit(&pre, 2, "", "sh: 0: cannot open x.sh: No such file");
    assert!(missing.notes[0].text.contains("the script does not exist"));
    assert_eq!(missing.answer.decision, Decision::Deny);
}

#[test]
fn output_beyond_the_limit_is_no_answer() {
    let mut output = hook_core::ProcessOutput::new(hook_core::Exit::Code(0), r#"{"decision": "block"}"#, "");
    output.stdout.dropped = 1;
    let event = event(EventKind::PreToolUse);
    let reading = Bench::new(&Amplifier).answer(&event, &hook_core::HandlerOutput::Process(output));
    assert_eq!(reading.answer, Answer::default());
    assert!(reading.notes[0].text.contains("longer than what is kept"));
}

#[test]
fn failures_go_on_with_a_warning_unless_the_author_says_block() {
    let mut bench = Bench::new(&Amplifier);
    bench.hook.limits.timeout = Some(std::time::Duration::from_millis(500));
    let pre = event(EventKind::PreToolUse);
    let timeout = bench.fail(&pre, FailureKind::Timeout);
    assert_eq!(timeout.status, Status::Timeout);
    assert_eq!(
        timeout.answer.messages().collect::<Vec<_>>(),
        [("Hook timed out after 0.5s", Level::Warning)]
    );
    assert!(!timeout.answer.acts(), "the next hook still runs");
    bench.hook.limits.timeout = None;
    let text = bench.fail(&pre, FailureKind::Timeout).answer;
    assert_eq!(text.messages().next().unwrap().0, "Hook timed out after 30s");
    let spawn = bench.fail(&pre, FailureKind::Spawn).answer;
    assert_eq!(spawn.messages().next(), Some(("broken by spawn", Level::Warning)));

    bench.hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() };
    for kind in FailureKind::ALL {
        assert_eq!(bench.fail(&pre, *kind).answer.decision, Decision::Deny, "{}", kind.name());
        let post = bench.fail(&event(EventKind::PostToolUse), *kind);
        assert_eq!(post.answer.decision, Decision::None, "{} cannot block after the tool", kind.name());
    }
    assert_eq!(bench.exit(&pre, 1, "", "crash").answer.reason.as_deref(), Some("crash"));
    assert_eq!(bench.exit(&pre, 1, r#"{"x": 1}"#, "").answer.decision, Decision::Deny);
    assert_eq!(bench.exit(&pre, 0, r#"{"x": 1}"#, "").answer.decision, Decision::None);
    bench.hook.on_failure = FailMode {
        default: Some(OnFailure::Continue),
        by_kind: vec![(FailureKind::Signal, OnFailure::Block)],
    };
    assert_eq!(bench.exit(&pre, 1, "", "").answer.decision, Decision::None);
    assert_eq!(bench.exit(&pre, -9, "", "").answer.decision, Decision::Deny);
}

#[test]
fn a_broken_stop_hook_keeps_the_turn_going_once_at_most() {
    let mut bench = Bench::new(&Amplifier);
    bench.hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() };
    let stop = event(EventKind::Stop);
    let failed =
        |bench: &Bench<'_>, event: &hook_core::Event| bench.fail(event, FailureKind::Timeout).answer.decision;
    assert_eq!(failed(&bench, &stop), Decision::Deny);
    bench.session.state.stop_active = true;
    assert_eq!(failed(&bench, &stop), Decision::None);
    assert_eq!(bench.exit(&stop, 1, "", "broken").answer.decision, Decision::None);
    assert_eq!(
        bench.exit(&stop, 2, "", "not done").answer.decision,
        Decision::Deny,
        "a real block still counts"
    );
    assert_eq!(failed(&bench, &event(EventKind::PreToolUse)), Decision::Deny, "no stop, no loop");

    bench.session.state.stop_active = false;
    let told = super::fire("prompt:complete", json!({ "stop_hook_active": true })).remove(0);
    assert_eq!(failed(&bench, &told), Decision::None, "the agent says that it goes round already");
}

#[test]
fn without_allow_blocking_a_deny_is_told_and_goes_on() {
    let mut bench = Bench::new(&Amplifier);
    bench.hook.may_block = false;
    for (kind, code, stdout, stderr) in [
        (EventKind::PreToolUse, 2, "", "no rm"),
        (EventKind::PreToolUse, 0, r#"{"decision": "block", "reason": "no rm"}"#, ""),
        (EventKind::UserPromptSubmit, 0, r#"{"continue": false, "reason": "no rm"}"#, ""),
        (EventKind::PermissionRequest, 2, "", "no rm"),
        (EventKind::Stop, 2, "", "no rm"),
    ] {
        let reading = bench.exit(&event(kind.clone()), code, stdout, stderr);
        assert_eq!(reading.status, Status::Ignored, "{kind}");
        assert!(!reading.answer.acts(), "{kind}: the next hook still runs");
        let text = "no rm (not blocked: the setting allow_blocking is false)";
        let wanted = json!({ "action": "continue", "user_message": text, "user_message_level": "warning" });
        holds(kind.name(), &result(&event(kind.clone()), &reading), &wanted);
    }
    bench.hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() };
    let failed = bench.fail(&event(EventKind::PreToolUse), FailureKind::Timeout);
    assert_eq!((failed.status, failed.answer.decision), (Status::Timeout, Decision::None));
    let reading = bench.exit(&event(EventKind::PreToolUse), 0, r#"{"contextInjection": "c"}"#, "");
    assert_eq!(reading.answer.contexts().collect::<Vec<_>>(), ["c"], "only a deny is held to it");
}
