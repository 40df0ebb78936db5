//! Answers of servers, of tools and of models.

use hook_core::{
    Answer, Audience, Decision, Effect, EventKind, FailMode, FailureKind, Handler, OnFailure, Status,
    StdoutForm,
};
use serde_json::{Value, json};

use super::{event, fire};
use crate::Native;
use crate::dialects::testing::Bench;

#[test]
fn a_server_answers_like_a_process_and_a_deny_counts_under_any_status() {
    let bench = Bench::new(&Native);
    let deny = r#"{"decision": "deny", "reason": "r"}"#;
    for (status, body, decision, failure, form) in [
        (200, "", Decision::None, None, StdoutForm::Empty),
        (204, "", Decision::None, None, StdoutForm::Empty),
        (200, r#"{"decision": "allow"}"#, Decision::Allow, None, StdoutForm::Json),
        (200, deny, Decision::Deny, None, StdoutForm::Json),
        (403, deny, Decision::Deny, None, StdoutForm::Json),
        (500, deny, Decision::Deny, None, StdoutForm::Json),
        (403, r#"{"decision": "allow"}"#, Decision::None, Some(FailureKind::Exit), StdoutForm::Json),
        (500, "", Decision::None, Some(FailureKind::Exit), StdoutForm::Empty),
        (301, "moved", Decision::None, Some(FailureKind::Exit), StdoutForm::Text),
        (200, "fine", Decision::None, Some(FailureKind::Parse), StdoutForm::Text),
        (200, "[]", Decision::None, Some(FailureKind::Parse), StdoutForm::Text),
        (200, "{x}", Decision::None, Some(FailureKind::Parse), StdoutForm::InvalidJson),
        (
            200,
            r#"{"decision": "perhaps"}"#,
            Decision::None,
            Some(FailureKind::Parse),
            StdoutForm::SchemaError,
        ),
    ] {
        let said = bench.http(&event(EventKind::PreToolUse), status, body);
        let found = (said.answer.decision, said.failure, said.stdout);
        assert_eq!(found, (decision, failure, Some(form)), "{status} {body}");
    }
}

#[test]
fn a_tool_answers_like_a_process_and_a_deny_counts_beside_is_error() {
    let mut bench = Bench::new(&Native);
    let call = event(EventKind::PreToolUse);
    let deny = r#"{"decision": "deny", "reason": "r"}"#;
    for (text, structured, is_error, decision, failure, form) in [
        ("", None, false, Decision::None, None, StdoutForm::Empty),
        ("fine", None, false, Decision::None, None, StdoutForm::Text),
        (deny, None, false, Decision::Deny, None, StdoutForm::Json),
        (deny, None, true, Decision::Deny, None, StdoutForm::Json),
        ("", Some(json!({"decision": "ask"})), false, Decision::Ask, None, StdoutForm::Json),
        ("", Some(json!([1])), false, Decision::None, None, StdoutForm::Text),
        ("fine", Some(json!({"decision": "deny"})), false, Decision::None, None, StdoutForm::Text),
        (r#"{"decision": "allow"}"#, None, true, Decision::None, Some(FailureKind::Exit), StdoutForm::Json),
        ("no disk", None, true, Decision::None, Some(FailureKind::Exit), StdoutForm::Text),
        ("{x}", None, false, Decision::None, Some(FailureKind::Parse), StdoutForm::InvalidJson),
    ] {
        let said = bench.mcp(&call, text, structured, is_error);
        let found = (said.answer.decision, said.failure, said.stdout);
        assert_eq!(found, (decision, failure, Some(form)), "{text} {is_error}");
    }
    let told = bench.mcp(&event(EventKind::UserPromptSubmit), "branch: main", None, false);
    assert_eq!(told.answer.contexts().next(), Some("branch: main"));
    bench.hook.on_failure = FailMode { default: None, by_kind: vec![(FailureKind::Exit, OnFailure::Block)] };
    let blocked = bench.mcp(&call, "no disk", None, true).answer;
    assert_eq!(blocked.reason.as_deref(), Some("the tool failed: no disk"));
}

#[test]
fn a_verdict_denies_wherever_something_can_be_held_back() {
    let no = r#"{"ok": false, "reason": "why"}"#;
    for kind in EventKind::ALL {
        let event = event(kind.clone());
        let bench = Bench::new(&Native).asking(Handler::Prompt, true);
        assert_eq!(bench.reply(&event, r#"{"ok": true}"#).answer, Answer::default(), "{kind}");
        let said = bench.reply(&event, no);
        assert_eq!(said.status, Status::Ok, "{kind}");
        let told = said.answer.effects == [Effect::Feedback { text: "why".into(), to: Audience::Model }];
        let denied = said.answer.decision == Decision::Deny && said.answer.reason.as_deref() == Some("why");
        assert_eq!((denied, told), (super::profile::blocks(kind), !super::profile::blocks(kind)), "{kind}");
    }
    let unknown = event(EventKind::from_name("cursor:afterThought"));
    let bench = Bench::new(&Native).asking(Handler::Prompt, false);
    assert_eq!(
        bench.reply(&unknown, r#"{"ok": false}"#).answer.reason.as_deref(),
        Some("A hook blocked this")
    );
}

#[test]
fn without_continue_on_block_the_turn_ends_after_a_tool() {
    let no = r#"{"ok": false, "reason": "why"}"#;
    for (kind, ends) in
        [(EventKind::PreToolUse, true), (EventKind::PostToolUse, true), (EventKind::Stop, false)]
    {
        let said =
            |patient| Bench::new(&Native).asking(Handler::Prompt, patient).reply(&event(kind.clone()), no);
        assert_eq!((said(false).answer.stop, said(true).answer.stop), (ends, false), "{kind}");
    }
}

#[test]
fn no_verdict_is_a_failure_by_the_author_s_rule() {
    let mut bench = Bench::new(&Native).asking(Handler::Prompt, false);
    let call = event(EventKind::PreToolUse);
    let mild = bench.reply(&call, "No.");
    assert_eq!((mild.failure, mild.answer.decision), (Some(FailureKind::Parse), Decision::None));
    bench.hook.on_failure = FailMode { default: None, by_kind: vec![(FailureKind::Parse, OnFailure::Block)] };
    assert_eq!(bench.reply(&call, "No.").answer.decision, Decision::Deny);
    assert_eq!(bench.fail(&call, FailureKind::Unreachable).answer.decision, Decision::None);
}

#[test]
fn a_prompt_gets_the_native_document() {
    let event = fire("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
    let bench = Bench::new(&Native);
    let text = bench.prompt(&event, "Fine? $ARGUMENTS");
    let document: Value = serde_json::from_str(text.strip_prefix("Fine? ").unwrap()).unwrap();
    assert_eq!(document, bench.stdin(&event));
}
