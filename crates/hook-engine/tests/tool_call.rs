//! One call of a tool with all its events.
#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hook_engine::config::{LoadRequest, load};
use hook_engine::core::{
    Answer, AskAnswer, AskHandler, Call, Event, EventKind, Executor, HandlerKind, HandlerOutput, HookCx,
    HostContext, MemoryFiles, Stream,
};
use hook_engine::mapper::Dialects;
use hook_engine::{Engine, ToolCallOutcome, ToolEnd, ToolRequest};
use serde_json::{Value, json};

/// Answers every question in the same way and keeps what was asked.
struct Human(AskAnswer, Mutex<Vec<(Option<String>, Value)>>);

#[async_trait]
impl AskHandler for Human {
    async fn ask(&self, event: &Event, question: Option<&str>) -> AskAnswer {
        let input = event.tool.as_ref().unwrap().input.clone();
        self.1.lock().unwrap().push((question.map(String::from), input));
        self.0.clone()
    }
}

/// An engine whose hooks answer by event and note in which order they were called.
fn engine(human: Option<Arc<Human>>, answers: &[(EventKind, Answer)]) -> (Engine, Arc<Mutex<Vec<String>>>) {
    let mut builder = Engine::builder(HostContext::new("/p"));
    if let Some(human) = human {
        builder = builder.ask(human);
    }
    let engine = builder.build();
    let order = Arc::new(Mutex::new(Vec::new()));
    let all = [
        EventKind::PermissionRequest,
        EventKind::PermissionDenied,
        EventKind::PreToolUse,
        EventKind::PostToolUse,
        EventKind::PostToolUseFailure,
    ];
    for kind in all {
        let answer =
            answers.iter().find(|(of, _)| *of == kind).map(|(_, answer)| answer.clone()).unwrap_or_default();
        let order = order.clone();
        engine.register(kind.clone(), Some("Bash"), kind.name(), move |event| {
            let seen = event.fields.get("error").or(event.fields.get("reason")).cloned().unwrap_or_default();
            let input = event.tool.as_ref().unwrap().input["command"].clone();
            order.lock().unwrap().push(format!("{} {input} {seen}", event.kind));
            answer.clone()
        });
    }
    (engine, order)
}

async fn call(
    engine: &Engine,
    order: &Arc<Mutex<Vec<String>>>,
    result: Result<Value, String>,
) -> ToolCallOutcome {
    let order = order.clone();
    let request = ToolRequest::new("Bash", json!({"command": "a"})).in_session("s");
    let tool = |input: Value| async move {
        order.lock().unwrap().push(format!("tool {}", input["command"]));
        result
    };
    engine.tool_call(request, tool).await.unwrap()
}

/// What hooks answer, what the tool gives, what happens in which order, and how it ends.
type Row<'a> = (Vec<(EventKind, Answer)>, Result<Value, String>, &'a [&'a str], ToolEnd);

#[tokio::test]
async fn the_events_come_in_order_and_see_what_happened_before() {
    let rewrite = Answer::rewrite(json!({"command": "b"}));
    let table: Vec<Row<'_>> = vec![
        (
            vec![(EventKind::PreToolUse, rewrite.clone())],
            Ok(json!("out")),
            &[
                "PermissionRequest \"a\" null",
                "PreToolUse \"a\" null",
                "tool \"b\"",
                "PostToolUse \"b\" null",
            ],
            ToolEnd::Ran(Ok(json!("out"))),
        ),
        (
            vec![(EventKind::PermissionRequest, Answer::deny("not you"))],
            Ok(json!("out")),
            &["PermissionRequest \"a\" null", "PermissionDenied \"a\" \"not you\""],
            ToolEnd::Refused { on: EventKind::PermissionRequest, reason: "not you".into() },
        ),
        (
            vec![(
                EventKind::PreToolUse,
                Answer { updated_input: rewrite.updated_input, ..Answer::deny("no") },
            )],
            Ok(json!("out")),
            &["PermissionRequest \"a\" null", "PreToolUse \"a\" null", "PostToolUseFailure \"b\" \"no\""],
            ToolEnd::Refused { on: EventKind::PreToolUse, reason: "no".into() },
        ),
        (
            vec![],
            Err("exit code 3".into()),
            &[
                "PermissionRequest \"a\" null",
                "PreToolUse \"a\" null",
                "tool \"a\"",
                "PostToolUseFailure \"a\" \"exit code 3\"",
            ],
            ToolEnd::Ran(Err("exit code 3".into())),
        ),
        (
            vec![(
                EventKind::PostToolUse,
                Answer { updated_output: Some(json!("shorter")), ..Answer::context("read on") },
            )],
            Ok(json!("out")),
            &[
                "PermissionRequest \"a\" null",
                "PreToolUse \"a\" null",
                "tool \"a\"",
                "PostToolUse \"a\" null",
            ],
            ToolEnd::Ran(Ok(json!("shorter"))),
        ),
    ];
    for (answers, result, expected, end) in table {
        let (engine, order) = engine(None, &answers);
        let outcome = call(&engine, &order, result).await;
        assert_eq!(*order.lock().unwrap(), expected, "{answers:?}");
        assert_eq!(outcome.end, end, "{answers:?}");
        let fired = expected.iter().filter(|line| !line.starts_with("tool")).count();
        assert_eq!(outcome.outcomes.len(), fired, "{answers:?}");
    }
}

#[tokio::test]
async fn a_question_goes_to_the_host_and_is_a_refusal_where_nobody_answers() {
    let ask = Answer { updated_input: Some(json!({"command": "b"})), ..Answer::ask("really?") };
    for on in [EventKind::PermissionRequest, EventKind::PreToolUse] {
        let answers = [(on.clone(), ask.clone())];
        let (alone, order) = engine(None, &answers);
        let outcome = call(&alone, &order, Ok(json!("out"))).await;
        assert!(
            matches!(&outcome.end, ToolEnd::Refused { reason, .. } if reason.contains("really?")),
            "{outcome:?}"
        );

        let human = Arc::new(Human(AskAnswer::Allow, Mutex::default()));
        let (asked, order) = engine(Some(human.clone()), &answers);
        let outcome = call(&asked, &order, Ok(json!("out"))).await;
        assert_eq!(outcome.end, ToolEnd::Ran(Ok(json!("out"))), "{on}");
        assert_eq!(outcome.input, json!({"command": "b"}));
        assert_eq!(*human.1.lock().unwrap(), [(Some("really?".to_owned()), json!({"command": "b"}))]);

        let human = Arc::new(Human(AskAnswer::Deny(None), Mutex::default()));
        let (asked, order) = engine(Some(human), &answers);
        let outcome = call(&asked, &order, Ok(json!("out"))).await;
        assert_eq!(outcome.end, ToolEnd::Refused { on: on.clone(), reason: "really?".into() });
        assert!(!order.lock().unwrap().iter().any(|line| line.starts_with("tool")), "{on}");
    }
}

#[tokio::test]
async fn what_is_said_beside_the_decision_is_kept() {
    let stop = Answer { stop: true, stop_reason: Some("enough".into()), ..Answer::context("two") };
    let answers = [(EventKind::PreToolUse, Answer::context("one")), (EventKind::PostToolUse, stop)];
    let (engine, order) = engine(None, &answers);
    let outcome = call(&engine, &order, Ok(json!("out"))).await;
    assert_eq!(
        (outcome.feedback, outcome.stop),
        (vec!["one".to_owned(), "two".to_owned()], Some("enough".to_owned()))
    );
}

#[tokio::test]
async fn an_input_that_is_no_object_is_refused_before_anything_runs() {
    let (engine, order) = engine(None, &[]);
    let error = engine
        .tool_call(ToolRequest::new("Bash", json!("ls")), |_| async { Ok(json!(1)) })
        .await
        .unwrap_err();
    assert!(error.to_string().contains("\"input\""), "{error}");
    assert!(order.lock().unwrap().is_empty());
}

/// A policy server that asks.
struct Asking;

#[async_trait]
impl Executor for Asking {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Http
    }

    async fn run(&self, _: &HookCx<'_>, _: Call) -> HandlerOutput {
        let body =
            json!({"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}});
        HandlerOutput::Http { status: 200, body: Stream::new(body.to_string()), notes: Vec::new() }
    }
}

#[tokio::test]
async fn a_question_nobody_can_be_asked_is_answered_by_the_environment_of_its_dialect() {
    let hooks = r#"{"hooks": {"preTool": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:9"}]}]}}"#;
    let settings = r#"{"settings": {"agents": {"aimon": {"mode": "strict"}}}}"#;
    let files = MemoryFiles::new()
        .with("/p/.aimon/hooks.json", hooks)
        .with("/home/u/.config/hook/hooks.json", settings);
    for (value, runs) in [
        (None, false),
        (Some("deny"), false),
        (Some("yes"), false),
        (Some("Allow"), true),
        (Some("allow"), true),
    ] {
        let mut host = HostContext::new("/p");
        host.home = Some("/home/u".into());
        host.config = Some("/home/u/.config/hook".into());
        host.environment.extend(value.map(|value| ("AIMON_HOOK_ASK_DEFAULT".into(), value.into())));
        let loaded = load(&LoadRequest::new(&host, &files, &Dialects::standard()));
        let builder = Engine::builder(host).documents(loaded.documents).executor(Arc::new(Asking));
        let request = ToolRequest::new("Bash", json!({"command": "a"}));
        let outcome = builder.build().tool_call(request, |_| async { Ok(json!(1)) }).await.unwrap();
        assert_eq!(matches!(outcome.end, ToolEnd::Ran(_)), runs, "{value:?} {:?}", outcome.end);
    }
}
