//! Cases of `amplifier/prompt`: the question, the reading of an answer, and a whole run with a scripted model.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use hook_engine::Engine;
use hook_engine::core::{
    FailMode, Handler, Hook, HookCx, LanguageModel, MemoryFiles, ModelError, ModelRequest, PromptHandler,
    ReplyPolicy, SessionView,
};
use hook_engine::mapper::verdict;
use serde_json::{Map, Value, json};

use super::{amplifier, world};
use crate::check::Check;

/// Where the case names no event: the one that carries a prompt and no tool of its own.
const ANY_EVENT: &str = "prompt:complete";

pub(super) fn prompt(check: &mut Check<'_>) -> Result<()> {
    if check.given("hook").is_some() {
        return run(check);
    }
    if check.given("response").is_some() {
        let response = check.given_value("response");
        let judgement = verdict::lenient(response.as_str().context("given.response is no text")?);
        check.equals("ok", &json!(judgement.ok));
        check.equals("reason", &json!(judgement.reason));
        return Ok(());
    }
    expand(check)
}

fn expand(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect("amplifier")?;
    let prompt = check.given_value("prompt");
    let prompt = prompt.as_str().context("given.prompt is no text")?.to_owned();
    let payload = world::amplifier_payload(ANY_EVENT, &check.given_value("data"));
    let event = world::read(dialect.as_ref(), payload)?.events.into_iter().next().context("no event")?;
    let asked = PromptHandler { prompt: prompt.clone(), model: None, continue_on_block: false };
    let plain = world::hook(dialect.profile().id, &event.kind, FailMode::default());
    let hook = Hook { handler: Handler::Prompt(asked), ..plain };
    let (host, session) = (world::host(), SessionView::default());
    let cx = HookCx { event: &event, hook: &hook, session: &session, host: &host };
    check.equals("expanded", &json!(dialect.prompt_arguments(&cx, &prompt)));
    Ok(())
}

/// The provider of a case.
struct Scripted(Result<String, ModelError>);

#[async_trait]
impl LanguageModel for Scripted {
    async fn ask(&self, _request: &ModelRequest) -> Result<String, ModelError> {
        self.0.clone()
    }
}

/// What the case's provider does; `None` where there is none.
fn provider(check: &Check<'_>) -> Result<Option<Scripted>> {
    let provider = check.given_value("provider");
    let members = provider.as_object().context("given.provider is no object")?;
    if let Some(key) = members.keys().find(|key| !["kind", "text", "message"].contains(&key.as_str())) {
        bail!("no adapter for the provider's member {key:?}");
    }
    let text = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(match members.get("kind").and_then(Value::as_str) {
        Some("none") => None,
        Some("text") => Some(Scripted(Ok(text("text")))),
        Some("error") => Some(Scripted(Err(ModelError::Execution(text("message"))))),
        Some("empty") => Some(Scripted(Err(ModelError::Empty))),
        other => bail!("no adapter for a provider of kind {other:?}"),
    })
}

fn run(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect("amplifier")?;
    let payload = world::amplifier_payload(check.given_text("event"), &check.given_value("data"));
    let incoming = world::read(dialect.as_ref(), payload)?;
    let name = incoming.events.first().context("no event")?.kind.name();
    let file = json!({"hooks": {name: [{"hooks": [check.given_value("hook")]}]}}).to_string();
    let files = MemoryFiles::new().with(format!("{}/.amplifier/hooks/hooks.json", world::PROJECT), file);
    let loaded = world::load_tree(&files, dialect.profile().id, Map::new());

    let mut builder = Engine::builder(world::host()).documents(loaded.documents);
    if let Some(model) = provider(check)? {
        builder = builder.model(Arc::new(model));
    }
    let engine = builder.build();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(engine.dispatch(&incoming));
    let reply = engine.reply(dialect.profile().id, &incoming, &outcome, &ReplyPolicy::default());
    amplifier::check_result(check, &amplifier::result_of(&reply)?);
    Ok(())
}
