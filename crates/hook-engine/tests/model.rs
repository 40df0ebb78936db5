//! Prompt hooks end to end, with a model that the host brings and with none.
#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use hook_engine::config::{DocumentSpec, parse};
use hook_engine::core::{
    AgentRequest, AgentRunner, Answer, Decision, DialectId, EventHint, HostContext, LanguageModel, Layer,
    ModelError, ModelRequest, Outcome, Payload, ReplyPolicy, Status,
};
use hook_engine::mapper::Dialects;
use hook_engine::{Engine, EngineBuilder};
use serde_json::{Value, json};

/// Gives one answer to every question and keeps the questions. An answer of nothing never comes.
struct Scripted {
    answer: Option<Result<String, ModelError>>,
    asked: Mutex<Vec<ModelRequest>>,
}

impl Scripted {
    fn says(text: &str) -> Arc<Scripted> {
        Arc::new(Scripted { answer: Some(Ok(text.to_owned())), asked: Mutex::default() })
    }

    fn only_question(&self) -> ModelRequest {
        let asked = self.asked.lock().unwrap();
        assert_eq!(asked.len(), 1);
        asked[0].clone()
    }
}

#[async_trait]
impl LanguageModel for Scripted {
    async fn ask(&self, request: &ModelRequest) -> Result<String, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        match &self.answer {
            Some(answer) => answer.clone(),
            None => std::future::pending().await,
        }
    }
}

fn builder(dialect: &str, event: &str, hook: Value) -> EngineBuilder {
    let dialects = Dialects::standard();
    let id: DialectId = dialects.find(dialect).unwrap().profile().id;
    let spec = DocumentSpec::new("/p/hooks.json", id, Layer::Project);
    let file = json!({"hooks": {event: [{"hooks": [hook]}]}}).to_string();
    let parsed = parse(file.as_bytes(), &spec, &dialects);
    assert_eq!(parsed.diagnostics, []);
    Engine::builder(HostContext::new("/p")).documents(parsed.document)
}

/// The outcome of a payload, and what the agent is told.
async fn fire(engine: &Engine, agent: &str, payload: Value) -> (Outcome, Value) {
    let dialect = engine.dialects().find(agent).unwrap();
    let incoming = dialect.read(Payload::from_value(payload), &EventHint::default()).unwrap();
    let outcome = engine.dispatch(&incoming).await;
    let reply = engine.reply(dialect.profile().id, &incoming, &outcome, &ReplyPolicy::default());
    (outcome, serde_json::from_str(&reply.stdout).unwrap_or_default())
}

fn complete() -> Value {
    json!({"event": "prompt:complete", "data": {"prompt": "Fix auth.py", "session_id": "s"}})
}

fn call() -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p", "tool_name": "Bash",
           "tool_input": {"command": "rm -rf /"}})
}

#[tokio::test]
async fn an_amplifier_prompt_is_one_short_question_and_its_no_keeps_the_agent_going() {
    let model = Scripted::says(r#"{"ok": false, "reason": "Not done"}"#);
    let hook = json!({"type": "prompt", "prompt": "Done? $ARGUMENTS", "model": "small", "timeout": 5});
    let engine = builder("amplifier", "Stop", hook).model(model.clone()).build();
    let (_, reply) = fire(&engine, "amplifier", complete()).await;
    assert_eq!((&reply["action"], &reply["reason"]), (&json!("deny"), &json!("Not done")));
    let expected = ModelRequest {
        prompt: "Done? User prompt: Fix auth.py".into(),
        instructions: None,
        model: Some("small".into()),
        max_tokens: 256,
        timeout: Duration::from_secs(5),
    };
    assert_eq!(model.only_question(), expected);
}

#[tokio::test]
async fn a_claude_prompt_gets_its_input_and_is_told_how_to_answer() {
    let model = Scripted::says("Sure:\n```json\n{\"ok\": false, \"reason\": \"no rm\"}\n```");
    let hook = json!({"type": "prompt", "prompt": "Is this safe?"});
    let engine = builder("claude", "PreToolUse", hook).model(model.clone()).build();
    let (outcome, reply) = fire(&engine, "claude", call()).await;
    assert_eq!((outcome.answer.decision, outcome.answer.stop), (Decision::Deny, true));
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!((&reply["continue"], &reply["stopReason"]), (&json!(false), &json!("no rm")));
    let asked = model.only_question();
    assert!(asked.prompt.starts_with("Is this safe?\n\n{") && asked.prompt.contains("rm -rf /"));
    assert!(asked.instructions.unwrap().contains("\"ok\": false"));
    assert_eq!((asked.model, asked.timeout), (None, Duration::from_secs(30)));
}

#[tokio::test]
async fn continue_on_block_gives_the_reason_back_instead_of_ending_the_turn() {
    let model = Scripted::says(r#"{"ok": false, "reason": "no rm"}"#);
    let hook = json!({"type": "prompt", "prompt": "Is this safe?", "continueOnBlock": true});
    let engine = builder("claude", "PreToolUse", hook).model(model).build();
    let (outcome, reply) = fire(&engine, "claude", call()).await;
    assert_eq!((outcome.answer.decision, outcome.answer.stop), (Decision::Deny, false));
    assert_eq!(reply.get("continue"), None);
}

#[tokio::test]
async fn without_a_model_prompts_do_not_run_and_every_outcome_says_so() {
    for (dialect, event, payload) in [("amplifier", "Stop", complete()), ("claude", "PreToolUse", call())] {
        let engine = builder(dialect, event, json!({"type": "prompt", "prompt": "Fine?"})).build();
        let (outcome, _) = fire(&engine, dialect, payload).await;
        assert_eq!(outcome.answer, Answer::default(), "{dialect}");
        assert_eq!(outcome.runs[0].status(), Status::Skipped, "{dialect}");
        let note = &outcome.notes[0].text;
        assert!(note.contains("was not run: No provider available"), "{dialect}: {note}");
    }
}

#[tokio::test]
async fn a_native_guard_that_fails_closed_does_so_without_a_model_too() {
    let hook = json!({"type": "prompt", "prompt": "Fine?", "onFailure": "block"});
    let engine = builder("native", "PreToolUse", hook).build();
    let (outcome, _) = fire(&engine, "claude", call()).await;
    assert_eq!(outcome.answer.decision, Decision::Deny);
    assert!(outcome.answer.reason.unwrap().starts_with("No provider available"));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_never_answers_costs_the_hook_s_timeout_and_nothing_else() {
    let model = Arc::new(Scripted { answer: None, asked: Mutex::default() });
    let hook = json!({"type": "prompt", "prompt": "Fine?", "timeout": 2.5});
    let engine = builder("amplifier", "Stop", hook).model(model).build();
    let start = tokio::time::Instant::now();
    let (outcome, reply) = fire(&engine, "amplifier", complete()).await;
    assert_eq!(start.elapsed().as_millis() / 10, 250);
    assert_eq!(outcome.runs[0].status(), Status::Timeout);
    assert_eq!(outcome.runs[0].reading.notes[0].text, "Hook timed out after 2.5s");
    assert_ne!(reply["action"], "deny");
    assert!(reply["user_message"].is_null());
}

#[tokio::test]
async fn a_model_that_fails_lets_the_operation_go_on() {
    let failure = ModelError::Execution("quota".into());
    let model = Arc::new(Scripted { answer: Some(Err(failure)), asked: Mutex::default() });
    let engine =
        builder("amplifier", "Stop", json!({"type": "prompt", "prompt": "Fine?"})).model(model).build();
    let (outcome, reply) = fire(&engine, "amplifier", complete()).await;
    assert_eq!(outcome.answer, Answer::default());
    assert_eq!(outcome.runs[0].reading.notes[0].text, "Execution error: quota");
    assert!(reply["user_message"].is_null());
}

/// An agent that objects to what it was sent for, and says where it looked.
struct Objector;

#[async_trait]
impl AgentRunner for Objector {
    async fn run(&self, request: &AgentRequest) -> Result<String, ModelError> {
        let place = request.directory.display();
        Ok(json!({"ok": false, "reason": format!("seen in {place}, {} turns", request.max_turns)})
            .to_string())
    }
}

#[tokio::test]
async fn an_agent_hook_runs_through_the_host_s_agent_and_without_one_every_outcome_says_so() {
    for dialect in ["native", "claude"] {
        let built =
            || builder(dialect, "PreToolUse", json!({"type": "agent", "prompt": "Look at $ARGUMENTS"}));
        let (outcome, _) = fire(&built().agent_runner(Arc::new(Objector)).build(), "claude", call()).await;
        assert_eq!((outcome.answer.decision, outcome.answer.stop), (Decision::Deny, false), "{dialect}");
        assert_eq!(outcome.answer.reason.as_deref(), Some("seen in /p, 50 turns"), "{dialect}");

        let (outcome, _) = fire(&built().build(), "claude", call()).await;
        assert_eq!(outcome.answer, Answer::default(), "{dialect}");
        assert!(outcome.notes[0].text.contains("handlers of type agent"), "{dialect}: {:?}", outcome.notes);
    }
}
