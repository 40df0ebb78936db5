//! What an AIMON host reads.

use hook_core::{
    Answer, Decision, Dialect, Effect, EngineFailure, FailureStage, Level, Outcome, ReplyPolicy,
};
use serde_json::{Value, json};

use super::{Aimon, fired};
use crate::dialects::testing::outcome;

fn reply(event: &str, answer: Answer) -> (Value, Vec<String>) {
    reply_with(event, answer, &ReplyPolicy::default())
}

fn reply_with(event: &str, answer: Answer, policy: &ReplyPolicy) -> (Value, Vec<String>) {
    let event = fired(event, json!({}));
    let reply = Aimon.write_reply(Some(&event), Ok(&outcome(answer)), policy);
    assert_eq!((reply.exit_code, reply.stderr.as_str()), (0, ""));
    (serde_json::from_str(&reply.stdout).unwrap(), reply.degraded)
}

#[test]
fn the_reply_is_the_answer_document() {
    let rewrite = Answer::rewrite(json!({"command": "ls"}));
    let both = Answer::context("a")
        .with(Effect::Context { text: " ".into() })
        .with(Effect::Context { text: "b".into() });
    let told = Answer::default().with(Effect::Message { text: "m".into(), level: Level::Warning });
    let output = Answer { updated_output: Some(json!("x")), ..Answer::default() };
    for (event, answer, expected) in [
        ("preTool", Answer::default(), json!({"decision": "allow"})),
        ("preTool", Answer::deny("no"), json!({"decision": "deny", "reason": "no"})),
        ("permissionRequest", Answer::deny("no"), json!({"decision": "deny", "reason": "no"})),
        ("onStart", Answer::deny("no"), json!({"decision": "deny", "reason": "no"})),
        ("preCompact", Answer::deny("no"), json!({"decision": "deny", "reason": "no"})),
        ("preTool", Answer::ask("sure?"), json!({"decision": "ask", "reason": "sure?"})),
        ("preTool", rewrite, json!({"decision": "allow", "updatedInput": {"command": "ls"}})),
        ("postTool", output, json!({"decision": "allow", "updatedOutput": "x"})),
        ("onStart", both, json!({"decision": "allow", "feedback": "a\n\nb"})),
        ("onStop", told, json!({"decision": "allow", "messages": [{"text": "m", "level": "warning"}]})),
    ] {
        assert_eq!(reply(event, answer.clone()), (expected, Vec::new()), "{event} {answer:?}");
    }
}

#[test]
fn what_the_agent_cannot_carry_is_named_and_a_refusal_is_never_weakened() {
    let stop = Answer { stop: true, stop_reason: Some("enough".into()), ..Answer::default() };
    let mut denied = Answer::rewrite(json!({}));
    denied.decision = Decision::Deny;
    for (event, answer, decision, lost) in [
        ("onStop", Answer::deny("no"), "allow", "deny"),
        ("postTool", Answer::deny("no"), "allow", "deny"),
        ("onStop", Answer::context("x"), "allow", "context"),
        ("preTool", stop.clone(), "deny", "stop"),
        ("onStop", stop, "allow", "stop"),
        ("onStart", Answer::ask("sure?"), "deny", "ask became"),
        ("onStop", Answer::ask("sure?"), "allow", "ask"),
        ("permissionRequest", Answer::rewrite(json!({"a": 1})), "deny", "rewritten input became"),
        ("postTool", Answer::rewrite(json!({"a": 1})), "allow", "a rewritten input"),
        ("preTool", denied, "deny", "beside a refusal"),
        ("preTool", Answer::allow(), "allow", "allow"),
        ("preTool", Answer::default().with(Effect::Retry), "allow", "a retry"),
    ] {
        let (document, degraded) = reply(event, answer.clone());
        assert_eq!(document["decision"], decision, "{event} {answer:?}");
        assert!(degraded.iter().any(|what| what.contains(lost)), "{event} {answer:?}: {degraded:?}");
    }
    let lax = ReplyPolicy {
        deny_unsupported_ask: false,
        deny_unsupported_rewrite: false,
        ..ReplyPolicy::default()
    };
    assert_eq!(reply_with("onStart", Answer::ask("sure?"), &lax).0["decision"], "allow");
    assert_eq!(reply_with("permissionRequest", Answer::rewrite(json!({})), &lax).0["decision"], "allow");
}

#[test]
fn a_refusal_without_a_channel_is_told_all_the_same() {
    let (document, _) = reply("onStop", Answer::deny("too late"));
    assert_eq!(document["messages"], json!([{"text": "too late", "level": "warning"}]));
}

#[test]
fn a_failure_of_the_engine_refuses_where_a_guard_may_stand() {
    let failure = |deny| EngineFailure { stage: FailureStage::Payload, message: "mend it".into(), deny };
    let closed = ReplyPolicy { fail_closed: true, ..ReplyPolicy::default() };
    let open = ReplyPolicy::default();
    for (event, deny, policy, decision) in [
        (Some("preTool"), true, &open, "deny"),
        (Some("preTool"), false, &open, "allow"),
        (Some("preTool"), false, &closed, "deny"),
        (Some("onStop"), true, &open, "allow"),
        (None, true, &open, "deny"),
    ] {
        let event = event.map(|event| fired(event, json!({})));
        let reply = Aimon.write_reply(event.as_ref(), Err(&failure(deny)), policy);
        let document: Value = serde_json::from_str(&reply.stdout).unwrap();
        assert_eq!(document["decision"], decision, "{:?}", event.map(|event| event.native_event));
    }
    let nothing = Aimon.write_reply(None, Ok(&Outcome::default()), &open);
    assert_eq!(nothing.stdout, "{\"decision\":\"allow\"}\n");
}
