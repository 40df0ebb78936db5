//! One call of a tool with all its events, for builders of agents.
//!
//! The order is that of the AIMON guide: permission first, then what may change the input, then the tool, then what looks at the
//! result ("AIMON guide, Events").

use std::path::PathBuf;

use hook_core::{
    AskAnswer, Audience, Decision, DialectId, Effect, Event, EventHint, EventKind, Level, Outcome, Payload,
    ReadError, Run,
};
use serde_json::{Value, json};

use crate::engine::Engine;

/// A tool that a model wants to call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolRequest {
    /// The tool's name; the neutral one (`Bash`) where the tool has one.
    pub tool: String,
    /// Its input, an object.
    pub input: Value,
    /// The agent's id of the call.
    pub use_id: Option<String>,
    /// The session. Without one all calls of this engine share a session in memory.
    pub session: Option<String>,
    /// The session's directory; the project's root where it is not given.
    pub cwd: Option<PathBuf>,
}

impl ToolRequest {
    /// A call without ids in the project's root.
    pub fn new(tool: impl Into<String>, input: Value) -> ToolRequest {
        ToolRequest { tool: tool.into(), input, use_id: None, session: None, cwd: None }
    }

    /// The same call in a session.
    #[must_use]
    pub fn in_session(mut self, id: impl Into<String>) -> ToolRequest {
        self.session = Some(id.into());
        self
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolEnd {
    /// The tool ran. `Err` is the tool's own failure, as text.
    Ran(Result<Value, String>),
    /// Hooks refused the call on this event; the tool did not run.
    Refused {
        /// `PermissionRequest` or `PreToolUse`.
        on: EventKind,
        /// Why, for the model.
        reason: String,
    },
    /// A hook put the call off; the host asks again later.
    Deferred {
        /// Why.
        reason: Option<String>,
    },
}

/// One call with everything that hooks made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallOutcome {
    /// How it ended.
    pub end: ToolEnd,
    /// The input that was used, or would have been.
    pub input: Value,
    /// Texts for the model beside the result, in order.
    pub feedback: Vec<String>,
    /// Messages for the user, in order.
    pub messages: Vec<(String, Level)>,
    /// The agent should stop after this call; what the user is told.
    pub stop: Option<String>,
    /// What each event came to, in order.
    pub outcomes: Vec<(EventKind, Outcome)>,
}

impl Engine {
    /// Runs one call of a tool: PermissionRequest, PreToolUse, the tool itself, PostToolUse or PostToolUseFailure. A refusal on
    /// PermissionRequest fires PermissionDenied and nothing else; one on PreToolUse still lets the hooks after the call see it.
    ///
    /// `tool` gets the input as the hooks left it. An `ask` goes to the [`AskHandler`](hook_core::AskHandler) of the engine;
    /// without one it is a refusal, but where the environment answers for the hook's dialect (`AIMON_HOOK_ASK_DEFAULT=allow` for
    /// hooks of AIMON's files).
    ///
    /// ```
    /// use hook_engine::core::{Answer, EventKind, HostContext};
    /// use hook_engine::{Engine, ToolEnd, ToolRequest};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::builder(HostContext::new("/work/project")).build();
    /// engine.register(EventKind::PreToolUse, Some("Bash"), "quiet", |event| {
    ///     let command = event.tool.as_ref().and_then(|tool| tool.input["command"].as_str()).unwrap_or_default();
    ///     Answer::rewrite(json!({ "command": format!("{command} --quiet") }))
    /// });
    /// let request = ToolRequest::new("Bash", json!({ "command": "make" })).in_session("s1");
    /// let outcome = engine.tool_call(request, |input| async move { Ok(json!({ "ran": input["command"] })) }).await?;
    /// assert_eq!(outcome.end, ToolEnd::Ran(Ok(json!({ "ran": "make --quiet" }))));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The request is none: its input is no object.
    pub async fn tool_call<F, T>(&self, request: ToolRequest, tool: F) -> Result<ToolCallOutcome, ReadError>
    where
        F: FnOnce(Value) -> T + Send,
        T: Future<Output = Result<Value, String>> + Send,
    {
        if !request.input.is_object() {
            let found = hook_core::dialect::type_name(&request.input);
            return Err(ReadError::WrongType { field: "input".into(), found, wanted: "an object" });
        }
        let mut call = Call { engine: self, input: request.input.clone(), request, so_far: SoFar::default() };
        if let Some(end) = call.guard(EventKind::PermissionRequest).await? {
            if let ToolEnd::Refused { reason, .. } = &end {
                call.fire(EventKind::PermissionDenied, json!({ "reason": reason })).await?;
            }
            return Ok(call.ended(end));
        }
        let end = match call.guard(EventKind::PreToolUse).await? {
            Some(end @ ToolEnd::Deferred { .. }) => return Ok(call.ended(end)),
            Some(end) => end,
            None => ToolEnd::Ran(tool(call.input.clone()).await),
        };
        let end = call.after(end).await?;
        Ok(call.ended(end))
    }
}

#[derive(Default)]
struct SoFar {
    feedback: Vec<String>,
    messages: Vec<(String, Level)>,
    stop: Option<String>,
    outcomes: Vec<(EventKind, Outcome)>,
}

struct Call<'a> {
    engine: &'a Engine,
    request: ToolRequest,
    input: Value,
    so_far: SoFar,
}

impl Call<'_> {
    /// Fires one event and keeps what is said beside the decision.
    async fn fire(&mut self, kind: EventKind, more: Value) -> Result<(Event, Outcome), ReadError> {
        let mut data = json!({ "tool_name": self.request.tool, "tool_input": self.input });
        if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
            data.extend(more);
        }
        if let Some(id) = &self.request.use_id {
            data["tool_use_id"] = id.as_str().into();
        }
        let cwd = self.request.cwd.as_ref().unwrap_or(&self.engine.host().project);
        let payload = json!({
            "event": kind.name(),
            "data": data,
            "session_id": self.request.session,
            "cwd": cwd.to_string_lossy(),
        });
        let Some(native) = self.engine.dialects().get(DialectId::NATIVE) else {
            return Err(ReadError::NoEvent { field: "event" });
        };
        let incoming = native.read(Payload::from_value(payload), &EventHint::default())?;
        let Some(event) = incoming.events.into_iter().next() else {
            return Err(ReadError::NoEvent { field: "event" });
        };
        let outcome = self.engine.dispatch_event(&event).await;
        let answer = &outcome.answer;
        for effect in &answer.effects {
            match effect {
                Effect::Context { text } | Effect::Feedback { text, to: Audience::Model } => {
                    self.so_far.feedback.push(text.clone());
                }
                Effect::Message { text, level } => self.so_far.messages.push((text.clone(), *level)),
                _ => {}
            }
        }
        if answer.stop {
            let why = answer.stop_reason.clone().or_else(|| answer.reason.clone()).unwrap_or_default();
            self.so_far.stop.get_or_insert(why);
        }
        self.so_far.outcomes.push((kind, outcome.clone()));
        Ok((event, outcome))
    }

    /// An event that can hold the call back; `None` lets it go on.
    async fn guard(&mut self, kind: EventKind) -> Result<Option<ToolEnd>, ReadError> {
        let (event, outcome) = self.fire(kind.clone(), json!({})).await?;
        let answer = outcome.answer.clone();
        if let Some(input) = answer.updated_input.filter(Value::is_object) {
            self.input = input;
        }
        let refused = |reason: Option<String>| {
            let reason = reason.filter(|reason| !reason.is_empty());
            let reason = reason.unwrap_or_else(|| format!("a {kind} hook refused the call"));
            Some(ToolEnd::Refused { on: kind.clone(), reason })
        };
        Ok(match answer.decision {
            Decision::None | Decision::Allow => None,
            Decision::Deny => refused(answer.reason),
            Decision::Defer => Some(ToolEnd::Deferred { reason: answer.reason }),
            Decision::Ask => match self.engine.asks() {
                None if self.allowed_beforehand(&outcome.runs) => None,
                None => {
                    let question = answer.reason.unwrap_or_else(|| "a hook asks".to_owned());
                    refused(Some(format!("{question} (nobody is there to answer)")))
                }
                Some(handler) => {
                    let asked = match self.input == self.request.input {
                        true => event,
                        false => event.with_input(self.input.clone()),
                    };
                    match handler.ask(&asked, answer.reason.as_deref()).await {
                        AskAnswer::Allow => None,
                        AskAnswer::Deny(reason) => refused(reason.or(answer.reason)),
                    }
                }
            },
        })
    }

    /// True where a variable of the environment answers every question that was asked, with yes ("AIMON guide, Decision flow": the
    /// default of a host that cannot ask).
    fn allowed_beforehand(&self, runs: &[Run]) -> bool {
        let host = self.engine.host();
        let mut questions = runs.iter().filter(|run| run.reading.answer.decision == Decision::Ask).peekable();
        questions.peek().is_some()
            && questions.all(|run| {
                let dialect = self.engine.dialects().get(run.hook.dialect);
                let name = dialect.and_then(|dialect| dialect.profile().ask_default);
                let value = name.and_then(|name| host.variable(name));
                value.is_some_and(|value| value.eq_ignore_ascii_case("allow"))
            })
    }

    /// The events after the call. A refused call is one that failed, with the reason as its error.
    async fn after(&mut self, end: ToolEnd) -> Result<ToolEnd, ReadError> {
        let (kind, more) = match &end {
            ToolEnd::Ran(Ok(output)) => (EventKind::PostToolUse, json!({ "tool_response": output })),
            ToolEnd::Ran(Err(error)) | ToolEnd::Refused { reason: error, .. } => {
                (EventKind::PostToolUseFailure, json!({ "error": error }))
            }
            ToolEnd::Deferred { .. } => return Ok(end),
        };
        let (_, outcome) = self.fire(kind, more).await?;
        let answer = outcome.answer;
        if answer.decision == Decision::Deny
            && let Some(reason) = answer.reason
        {
            self.so_far.feedback.push(reason);
        }
        Ok(match (end, answer.updated_output) {
            (ToolEnd::Ran(Ok(_)), Some(output)) => ToolEnd::Ran(Ok(output)),
            (end, _) => end,
        })
    }

    fn ended(self, end: ToolEnd) -> ToolCallOutcome {
        let SoFar { feedback, messages, stop, outcomes } = self.so_far;
        ToolCallOutcome { end, input: self.input, feedback, messages, stop, outcomes }
    }
}
