//! Results of tools ("MCP tool hook fields": the text is treated like standard output).

use hook_core::{
    Decision, EventKind, FailureKind, Handler, HandlerOutput, McpHandler, Status, StdoutForm, Stream,
};
use serde_json::{Map, json};

use super::{Bench, Claude, of, own};

fn bench() -> Bench<'static> {
    let mut bench = Bench::new(&Claude);
    bench.hook.handler = Handler::Mcp(McpHandler {
        server: "policy".into(),
        tool: "judge".into(),
        input: Map::new(),
        allowed_env_vars: Vec::new(),
    });
    bench
}

#[test]
fn a_text_row_by_row() {
    let deny =
        own(&EventKind::PreToolUse, json!({"permissionDecision": "deny", "permissionDecisionReason": "r"}));
    let foreign = own(&EventKind::Stop, json!({"additionalContext": "c"}));
    let (ok, error) = (Status::Ok, Status::Error);
    for (is_error, text, ended, form, failure, decision) in [
        (false, "", ok, StdoutForm::Empty, None, Decision::None),
        (false, "fine", ok, StdoutForm::Text, None, Decision::None),
        (false, "[1]", ok, StdoutForm::Text, None, Decision::None),
        (false, "{}", ok, StdoutForm::Json, None, Decision::None),
        (false, deny.as_str(), ok, StdoutForm::Json, None, Decision::Deny),
        (false, r#"{"decision": "approve"}"#, ok, StdoutForm::Json, None, Decision::Allow),
        (false, "{x}", error, StdoutForm::InvalidJson, Some(FailureKind::Parse), Decision::None),
        (false, foreign.as_str(), error, StdoutForm::SchemaError, Some(FailureKind::Parse), Decision::None),
        (true, "", error, StdoutForm::Empty, Some(FailureKind::Exit), Decision::None),
        (true, "no disk", error, StdoutForm::Text, Some(FailureKind::Exit), Decision::None),
        (true, deny.as_str(), error, StdoutForm::Json, Some(FailureKind::Exit), Decision::None),
    ] {
        let said = bench().mcp(&of(EventKind::PreToolUse), text, None, is_error);
        let found = (said.status, said.stdout, said.failure, said.answer.decision);
        assert_eq!(found, (ended, Some(form), failure, decision), "{is_error} {text}");
        assert_eq!(said.answer.messages().count() == 1, ended == error, "{is_error} {text}");
    }
}

#[test]
fn what_a_tool_says_counts_as_on_standard_output() {
    for (kind, text) in [
        (EventKind::SessionStart, "branch: main"),
        (EventKind::UserPromptSubmit, "branch: main"),
        (EventKind::PostToolUse, r#"{"decision": "block", "reason": "more", "systemMessage": "m"}"#),
        (EventKind::Stop, r#"{"decision": "block", "reason": "more"}"#),
        (EventKind::WorktreeCreate, "made it\n/tmp/tree\n"),
        (EventKind::WorktreeRemove, ""),
    ] {
        let (tool, process) =
            (bench().mcp(&of(kind.clone()), text, None, false), bench().exit(&of(kind.clone()), 0, text, ""));
        assert_eq!((tool.answer, tool.status), (process.answer, process.status), "{kind}");
    }
    let failed = bench().mcp(&of(EventKind::WorktreeCreate), "no disk", None, true);
    assert_eq!(failed.answer.decision, Decision::Deny);
}

#[test]
fn half_a_document_and_structured_content_alone_are_no_answer_and_it_is_said() {
    let call = of(EventKind::PreToolUse);
    let text = Stream { text: "{\"decision\":\"approve\"}".into(), dropped: 9, lossy: false };
    let cut = HandlerOutput::Mcp { text, structured: None, is_error: false, notes: Vec::new() };
    let said = bench().answer(&call, &cut);
    assert_eq!((said.failure, said.answer.decision), (Some(FailureKind::Oversize), Decision::None));

    let said = bench().mcp(&call, "", Some(json!({"decision": "block"})), false);
    assert_eq!((said.status, said.answer.decision), (Status::Ok, Decision::None));
    assert!(said.notes[0].text.contains("structured content only"), "{:?}", said.notes);
}
