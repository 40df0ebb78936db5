//! Answers of servers ("HTTP response handling").

use hook_core::{
    Answer, Decision, Effect, EventKind, FailMode, FailureKind, Handler, HandlerOutput, HttpHandler, Level,
    OnFailure, Status, StdoutForm, Stream,
};
use serde_json::json;

use super::{Bench, Claude, of, own};

fn bench() -> Bench<'static> {
    let mut bench = Bench::new(&Claude);
    bench.hook.handler = Handler::Http(HttpHandler::new("https://policy.example.org"));
    bench
}

#[test]
fn a_status_and_a_body_row_by_row() {
    let deny =
        own(&EventKind::PreToolUse, json!({"permissionDecision": "deny", "permissionDecisionReason": "r"}));
    let foreign = own(&EventKind::Stop, json!({"additionalContext": "c"}));
    let (ok, error) = (Status::Ok, Status::Error);
    for (status, body, ended, form, failure, decision) in [
        (200, "", ok, StdoutForm::Empty, None, Decision::None),
        (204, " \n", ok, StdoutForm::Empty, None, Decision::None),
        (299, "{}", ok, StdoutForm::Json, None, Decision::None),
        (201, deny.as_str(), ok, StdoutForm::Json, None, Decision::Deny),
        (200, r#"{"decision": "block"}"#, ok, StdoutForm::Json, None, Decision::Deny),
        (200, r#"{"decision": "approve"}"#, ok, StdoutForm::Json, None, Decision::Allow),
        (200, "fine", error, StdoutForm::Text, Some(FailureKind::Parse), Decision::None),
        (200, "[1]", error, StdoutForm::Text, Some(FailureKind::Parse), Decision::None),
        (200, "\"x\"", error, StdoutForm::Text, Some(FailureKind::Parse), Decision::None),
        (200, "{\"a\":1}\n{\"b\":2}", error, StdoutForm::Text, Some(FailureKind::Parse), Decision::None),
        (200, "{x}", error, StdoutForm::InvalidJson, Some(FailureKind::Parse), Decision::None),
        (200, "{\"continue\": 1}", error, StdoutForm::SchemaError, Some(FailureKind::Parse), Decision::None),
        (200, foreign.as_str(), error, StdoutForm::SchemaError, Some(FailureKind::Parse), Decision::None),
        (199, deny.as_str(), error, StdoutForm::Json, Some(FailureKind::Exit), Decision::None),
        (302, "", error, StdoutForm::Empty, Some(FailureKind::Exit), Decision::None),
        (403, deny.as_str(), error, StdoutForm::Json, Some(FailureKind::Exit), Decision::None),
        (500, "oops", error, StdoutForm::Text, Some(FailureKind::Exit), Decision::None),
    ] {
        let said = bench().http(&of(EventKind::PreToolUse), status, body);
        let found = (said.status, said.stdout, said.failure, said.answer.decision);
        assert_eq!(found, (ended, Some(form), failure, decision), "{status} {body}");
        assert_eq!(said.answer.messages().count() == 1, ended == error, "{status} {body}");
    }
}

#[test]
fn a_text_is_context_nowhere_and_a_document_counts_as_on_standard_output() {
    for kind in [EventKind::SessionStart, EventKind::UserPromptSubmit, EventKind::PostModelSwitch] {
        let event = of(kind.clone());
        assert_eq!(bench().http(&event, 200, "branch: main").answer.contexts().count(), 0, "{kind}");
        let document = own(&kind, json!({"additionalContext": "c"}));
        assert_eq!(bench().http(&event, 200, &document).answer.contexts().next(), Some("c"), "{kind}");
    }
    let stop = of(EventKind::Stop);
    let said = r#"{"decision": "block", "reason": "more", "systemMessage": "m"}"#;
    let (http, process) = (bench().http(&stop, 200, said), bench().exit(&stop, 0, said, ""));
    assert_eq!(http.answer, process.answer);
}

#[test]
fn a_body_that_was_cut_is_none() {
    let body = Stream { text: "{\"decision\":\"approve\"}".into(), dropped: 9, lossy: false };
    let said = bench()
        .answer(&of(EventKind::PreToolUse), &HandlerOutput::Http { status: 200, body, notes: Vec::new() });
    assert_eq!((said.failure, said.answer.decision), (Some(FailureKind::Oversize), Decision::None));
}

#[test]
fn what_the_server_said_beside_a_bad_status_is_kept_for_the_author() {
    let said = bench().http(&of(EventKind::PreToolUse), 502, "\n<h1>Bad gateway</h1>\nmore");
    assert_eq!(
        said.answer.messages().next(),
        Some(("a PreToolUse hook failed: the server answered with status 502", Level::Warning))
    );
    assert!(
        said.notes.iter().any(|note| note.text == "the server said: <h1>Bad gateway</h1>"),
        "{:?}",
        said.notes
    );
}

#[test]
fn on_failure_block_makes_every_bad_answer_a_block() {
    let mut bench = bench();
    bench.hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() };
    for (status, body) in [(500, ""), (302, ""), (200, "text"), (200, "{x}"), (200, "{\"reason\": 1}")] {
        let denied = |kind: EventKind| bench.http(&of(kind), status, body).answer.decision == Decision::Deny;
        for kind in [EventKind::PreToolUse, EventKind::UserPromptSubmit, EventKind::PermissionRequest] {
            assert!(denied(kind.clone()), "{kind} {status} {body}");
        }
        for kind in [EventKind::Stop, EventKind::TeammateIdle, EventKind::PostToolUse] {
            assert!(!denied(kind.clone()), "{kind} {status} {body}");
        }
    }
    for kind in [FailureKind::Unreachable, FailureKind::Timeout] {
        assert_eq!(bench.fail(&of(EventKind::PreToolUse), kind).answer.decision, Decision::Deny);
    }
    assert_eq!(bench.http(&of(EventKind::PreToolUse), 200, "").answer, Answer::default());
}

/// A worktree is made at the path that the server names, or not at all.
#[test]
fn a_worktree_needs_a_path() {
    let create = of(EventKind::WorktreeCreate);
    let named = |path: &str| own(&EventKind::WorktreeCreate, json!({ "worktreePath": path }));
    let made = bench().http(&create, 200, &named("wt/a"));
    assert_eq!(made.answer.effects, [Effect::WorktreePath { path: "wt/a".into() }]);
    assert_eq!((made.status, made.answer.decision), (Status::Ok, Decision::None));
    for (status, body) in [
        (200, String::new()),
        (200, "wt/a".to_owned()),
        (200, "{}".to_owned()),
        (200, "{x}".to_owned()),
        (200, named(" ")),
        (200, named("/a/../b")),
        (200, json!({"hookSpecificOutput": {"worktreePath": "wt/a"}}).to_string()),
        (404, named("wt/a")),
    ] {
        let said = bench().http(&create, status, &body);
        assert_eq!((said.status, said.answer.decision), (Status::Error, Decision::Deny), "{status} {body}");
        assert!(said.answer.effects.is_empty(), "{status} {body}");
    }
    let remove = of(EventKind::WorktreeRemove);
    assert_eq!(bench().http(&remove, 200, r#"{"decision": "block"}"#).answer, Answer::default());
    assert_eq!(bench().http(&remove, 500, "").status, Status::Error);
}
