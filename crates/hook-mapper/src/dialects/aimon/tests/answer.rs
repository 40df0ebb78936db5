//! Exit codes, answer documents, failures, and the strict mode.

use hook_core::{
    Answer, Decision, FailMode, FailureKind, Handler, Level, McpHandler, OnFailure, Reading, Status,
};
use serde_json::{Map, json};

use super::{Aimon, fired};
use crate::dialects::testing::Bench;

const GUARDS: &[&str] = &["preTool", "permissionRequest", "onStart", "preCompact"];
const OTHERS: &[&str] = &[
    "postTool",
    "onStop",
    "onSessionStart",
    "onSessionEnd",
    "subagentStart",
    "subagentStop",
    "postCompact",
    "permissionDenied",
    "onConfigReload",
];

fn strict<'a>() -> Bench<'a> {
    let mut bench = Bench::new(&Aimon);
    bench.hook.strict = true;
    bench.hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() };
    bench
}

const UNDECIDED: Option<&str> = Some("A hook that guards preTool could not decide");

fn warns(reading: &Reading) -> bool {
    reading.notes.iter().any(|note| note.level > Level::Info)
}

#[test]
fn exit_two_refuses_where_somebody_consumes_it() {
    let bench = Bench::new(&Aimon);
    for name in GUARDS {
        let reading = bench.exit(&fired(name, json!({})), 2, "", " not here \n");
        assert_eq!(reading.answer, Answer::deny("not here"), "{name}");
        assert_eq!((reading.status, warns(&reading)), (Status::Blocked, false), "{name}");
    }
    for name in OTHERS {
        let reading = bench.exit(&fired(name, json!({})), 2, "", "not here");
        assert_eq!(reading.answer, Answer::default(), "{name}");
        assert_eq!((reading.status, warns(&reading)), (Status::Ignored, true), "{name}");
    }
}

#[test]
fn a_reason_is_trimmed_cut_and_never_empty() {
    let bench = Bench::new(&Aimon);
    let event = fired("preTool", json!({}));
    let reason = |stderr: &str| bench.exit(&event, 2, "ignored", stderr).answer.reason.unwrap();
    assert_eq!(reason(&"y".repeat(4000)), "y".repeat(4000));
    assert_eq!(reason(&"y".repeat(4500)), format!("{}... [truncated, 4500 chars total]", "y".repeat(4000)));
    assert!(!reason(" \n").is_empty());
}

#[test]
fn whatever_else_happens_goes_on_with_a_warning() {
    let bench = Bench::new(&Aimon);
    let event = fired("preTool", json!({}));
    assert_eq!(bench.exit(&event, 0, r#"{"decision": "deny"}"#, "").answer, Answer::default());
    for code in [1, 3, 126, 127, 255, -9] {
        let reading = bench.exit(&event, code, "", "broken");
        assert_eq!((reading.answer.decision, warns(&reading)), (Decision::None, true), "{code}");
    }
    for kind in FailureKind::ALL {
        let reading = bench.fail(&event, *kind);
        assert_eq!((reading.answer.decision, warns(&reading)), (Decision::None, true), "{}", kind.name());
    }
}

#[test]
fn webhooks_answer_with_a_document() {
    let bench = Bench::new(&Aimon);
    let event = fired("preTool", json!({}));
    let deny = |reason: &str| Answer::deny(reason);
    let feedback = |text: &str| Answer::context(text);
    let table = [
        (200, r#"{"decision":"deny","reason":"nope"}"#, deny("nope"), false),
        (
            200,
            r#"{"decision":"DENY","reason":"nope","updatedInput":{"a":1},"feedback":"x"}"#,
            deny("nope"),
            false,
        ),
        (200, r#"{"decision":"deny","reason":7}"#, deny("the server refused and gave no reason"), false),
        (200, r#"{"decision":"allow","updatedInput":{"a":1}}"#, Answer::rewrite(json!({"a": 1})), false),
        (200, r#"{"updatedInput":[1]}"#, Answer::default(), true),
        (200, r#"{"decision":"defer","feedback":"f","systemMessage":"s"}"#, feedback("f"), false),
        (200, r#"{"decision":true,"feedback":" ","systemMessage":"s"}"#, feedback("s"), false),
        (
            200,
            r#"{"hookSpecificOutput":{"additionalContext":"c","updatedInput":{"a":1}}}"#,
            feedback("c"),
            false,
        ),
        (200, r#"{"decision":"block","reason":"x"}"#, Answer::default(), false),
        (200, r#"{"continue":false}"#, Answer::default(), false),
        (200, "[1]", Answer::default(), false),
        (200, "", Answer::default(), false),
        (204, " \n", Answer::default(), false),
        (299, r#"{"decision":"deny","reason":"nope"}"#, deny("nope"), false),
    ];
    for (status, body, answer, warned) in table {
        let reading = bench.http(&event, status, body);
        assert_eq!((&reading.answer, warns(&reading)), (&answer, warned), "{status} {body}");
    }
    for (status, body) in [(500, r#"{"decision":"deny"}"#), (302, ""), (404, "{}"), (200, "ok"), (200, "{")] {
        let reading = bench.http(&event, status, body);
        assert_eq!((reading.answer.decision, warns(&reading)), (Decision::None, true), "{status} {body}");
    }
}

#[test]
fn policy_servers_answer_with_the_same_document() {
    let mut bench = Bench::new(&Aimon);
    let call = McpHandler {
        server: "policy".into(),
        tool: "judge".into(),
        input: Map::new(),
        allowed_env_vars: Vec::new(),
    };
    bench.hook.handler = Handler::Mcp(call);
    let event = fired("preTool", json!({}));
    let table = [
        (r#"{"decision":"deny","reason":"no"}"#, None, false, Answer::deny("no"), false),
        (r#"{"decision":"deny"}"#, None, false, Answer::deny("judge of the server policy refused"), false),
        (r#"{"updatedInput":{"a":1}}"#, None, false, Answer::rewrite(json!({"a": 1})), false),
        (r#"{"feedback":"f","systemMessage":"s"}"#, None, false, Answer::context("f"), false),
        (r#"{"systemMessage":"s","continue":false}"#, None, false, Answer::default(), false),
        ("posted", None, false, Answer::default(), false),
        ("[1]", None, false, Answer::default(), false),
        ("{broken", None, false, Answer::default(), false),
        ("", None, false, Answer::default(), false),
        ("", Some(json!({"decision": "deny", "reason": "s"})), false, Answer::deny("s"), false),
        ("posted", Some(json!({"decision": "deny"})), false, Answer::default(), false),
    ];
    for (text, structured, is_error, answer, warned) in table {
        let reading = bench.mcp(&event, text, structured, is_error);
        assert_eq!((&reading.answer, warns(&reading)), (&answer, warned), "{text}");
    }
    let reading = bench.mcp(&event, r#"{"decision":"deny"}"#, None, true);
    assert_eq!((reading.answer.decision, warns(&reading)), (Decision::None, true));
    bench.hook.strict = true;
    bench.hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() };
    for (text, is_error, decision) in [
        ("down", true, Decision::Deny),
        (r#"{"decision":"block"}"#, false, Decision::Deny),
        (r#"{"decision":"maybe"}"#, false, Decision::Deny),
        (r#"{"continue":false}"#, false, Decision::None),
        ("posted", false, Decision::Deny),
        ("", false, Decision::None),
        ("[]", false, Decision::Deny),
    ] {
        assert_eq!(bench.mcp(&event, text, None, is_error).answer.decision, decision, "{text}");
    }
}

#[test]
fn after_the_tool_a_refusal_is_a_plain_allow() {
    let bench = Bench::new(&Aimon);
    let event = fired("postTool", json!({}));
    let reading = bench.http(&event, 200, r#"{"decision":"deny","reason":"no","feedback":"x"}"#);
    assert_eq!((reading.answer.clone(), warns(&reading)), (Answer::default(), true));
    let reading = bench.http(&event, 200, r#"{"feedback":"x","updatedInput":{"a":1}}"#);
    assert_eq!((reading.answer.clone(), warns(&reading)), (Answer::context("x"), true));
}

#[test]
fn a_strict_guard_that_cannot_decide_refuses_and_tells_nothing_of_itself() {
    let bench = strict();
    for name in GUARDS {
        let event = fired(name, json!({}));
        for kind in FailureKind::ALL {
            let reading = bench.fail(&event, *kind);
            let reason = reading.answer.reason.unwrap_or_default();
            assert_eq!(reading.answer.decision, Decision::Deny, "{name} {}", kind.name());
            assert!(!reason.contains("guard.sh") && !reason.contains("broken by"), "{reason}");
        }
    }
    for name in OTHERS {
        let reading = bench.fail(&fired(name, json!({})), FailureKind::Timeout);
        assert_eq!((reading.answer.decision, warns(&reading)), (Decision::None, true), "{name}");
    }
}

#[test]
fn the_plain_words_of_a_tool_let_a_strict_guard_open() {
    let bench = strict();
    assert_eq!(
        bench.mcp(&fired("preTool", json!({})), "posted", None, false).answer.decision,
        Decision::Deny
    );
    assert_eq!(bench.mcp(&fired("postTool", json!({})), "posted", None, false).answer, Answer::default());
}

#[test]
fn strict_mode_knows_more_ways_to_refuse_and_the_strictest_counts() {
    let bench = strict();
    let event = fired("preTool", json!({}));
    let table = [
        (r#"{"decision":"block","reason":"b"}"#, Decision::Deny, Some("b")),
        (r#"{"decision":"allow","continue":false,"stopReason":"s"}"#, Decision::Deny, Some("s")),
        (
            r#"{"decision":"allow","hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"p"}}"#,
            Decision::Deny,
            Some("p"),
        ),
        (
            r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"r"}}"#,
            Decision::Ask,
            Some("r"),
        ),
        (
            r#"{"decision":"deny","reason":"d","hookSpecificOutput":{"permissionDecision":"ask"}}"#,
            Decision::Deny,
            Some("d"),
        ),
        (r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#, Decision::None, None),
        // The reason of a statement that did not refuse is none of a refusal.
        (
            r#"{"decision":"allow","reason":"fine","continue":false}"#,
            Decision::Deny,
            Some("the server refused and gave no reason"),
        ),
        (r#"{"decision":"maybe"}"#, Decision::Deny, UNDECIDED),
        (r#"{"decision":1}"#, Decision::Deny, UNDECIDED),
        (r#"{"continue":"no"}"#, Decision::Deny, UNDECIDED),
        (r#"{"hookSpecificOutput":[]}"#, Decision::Deny, UNDECIDED),
        (r#"{"hookSpecificOutput":{"permissionDecision":"defer"}}"#, Decision::Deny, UNDECIDED),
        (r#"{"updatedInput":7}"#, Decision::Deny, UNDECIDED),
        (
            r#"{"updatedInput":{"a":1},"hookSpecificOutput":{"updatedInput":{"a":2}}}"#,
            Decision::Deny,
            UNDECIDED,
        ),
        ("{}", Decision::None, None),
        ("", Decision::None, None),
        ("[1]", Decision::Deny, UNDECIDED),
        ("ok", Decision::Deny, UNDECIDED),
    ];
    for (body, decision, reason) in table {
        let answer = bench.http(&event, 200, body).answer;
        assert_eq!((answer.decision, answer.reason.as_deref()), (decision, reason), "{body}");
    }
    let body = r#"{"hookSpecificOutput":{"updatedInput":{"a":1}}}"#;
    assert_eq!(bench.http(&event, 200, body).answer.updated_input, Some(json!({"a": 1})));
}

#[test]
fn a_refusal_that_runs_nothing_refuses() {
    let bench = Bench::new(&Aimon);
    let output = hook_core::HandlerOutput::Answer(Answer::deny("policy"));
    assert_eq!(bench.answer(&fired("preTool", json!({})), &output).answer, Answer::deny("policy"));
}
