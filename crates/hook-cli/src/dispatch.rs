//! The machine's verb: an agent's payload in, its own kind of reply out.

use std::io::Read;

use hook_engine::config::{EngineFailureMode, Loaded};
use hook_engine::core::{
    Dialect, Effect, EngineFailure, Event, EventHint, EventKind, FailureStage, Incoming, Level, Note,
    Outcome, Payload, Reply, ReplyPolicy, SessionStore, Severity,
};
use hook_engine::mapper::Dialects;
use hook_engine::state::{FileSessions, MAX_AGE};
use serde_json::Value;

use crate::args::DispatchArgs;
use crate::error::CliError;
use crate::{exit, output, session, world};

/// Larger payloads are refused.
const MAX_PAYLOAD: u64 = 64 * 1024 * 1024;

pub(crate) fn dispatch(args: &DispatchArgs) -> Result<u8, CliError> {
    // A hook of an agent has no terminal; where this process leads a group already, it keeps the one it has.
    let _ = rustix::process::setsid();
    let dialects = Dialects::standard();
    let named = args.agent.as_deref().map(|word| session::dialect(&dialects, word)).transpose()?;
    let payload = read_payload();
    let agent = match (named, &payload) {
        (Some(agent), _) => agent.clone(),
        (None, Ok(payload)) => recognise(&dialects, &payload.value)?.clone(),
        (None, Err(problem)) => {
            return Err(CliError::data(format!("{problem}, and no --agent says whose it is")));
        }
    };
    let profile = agent.profile();
    let host = world::host(profile)?;
    let loaded = session::load_files(&host, &dialects, &args.sources, Some(profile.id))?;
    let policy = loaded.settings.reply_policy(ReplyPolicy::default());

    let hint = EventHint { event: args.event.clone() };
    let read = payload.and_then(|payload| agent.read(payload, &hint).map_err(|error| error.to_string()));
    let incoming = match read {
        Ok(incoming) => incoming,
        Err(problem) => return send(&refuse(agent.as_ref(), &hint, &loaded, &policy, &problem)),
    };

    let only: Vec<EventKind> = incoming.events.iter().map(|event| event.kind.clone()).collect();
    let sessions = session::sessions(&host);
    let engine = session::engine(host.clone(), dialects.clone(), &loaded, only, sessions.clone());
    let mut outcome = if engine.concerns(&incoming) {
        match session::block_on(engine.dispatch(&incoming))? {
            Some(outcome) => outcome,
            None => return Err(CliError::internal("ended by a signal; running hooks were ended too")),
        }
    } else {
        Outcome::default()
    };
    tell_broken_files(&mut outcome, &incoming, &loaded, sessions.as_ref());
    let code = send(&engine.reply(profile.id, &incoming, &outcome, &policy))?;
    for note in outcome.notes.iter().filter(|note| note.level > Level::Info) {
        output::words(&format!("hook: {}\n", note.text));
    }
    // The reply is out; now there is time to tidy up.
    if let (true, Some(state)) = (only_session_start(&incoming), &host.state) {
        let _ = FileSessions::new(state.join("sessions"), host.clock.clone()).sweep(MAX_AGE);
    }
    Ok(code)
}

fn only_session_start(incoming: &Incoming) -> bool {
    incoming.events.iter().any(|event| event.kind == EventKind::SessionStart)
}

/// The payload, or what is wrong with it.
fn read_payload() -> Result<Payload, String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_PAYLOAD + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("standard input: {error}"))?;
    if bytes.len() as u64 > MAX_PAYLOAD {
        return Err(format!("the payload is larger than {} MiB", MAX_PAYLOAD / 1024 / 1024));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("the payload is not UTF-8: {}", error.utf8_error()))?;
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err("the payload is empty".into());
    }
    Payload::parse(&text).map_err(|error| format!("the payload is no JSON: {error}"))
}

/// The dialect that fires an event of this name, by the member that names it.
fn recognise<'a>(
    dialects: &'a Dialects,
    payload: &Value,
) -> Result<&'a std::sync::Arc<dyn Dialect>, CliError> {
    let named = |member: &str| payload.get(member).and_then(Value::as_str);
    let (name, own_files) = match (named("hook_event_name"), named("event")) {
        (Some(name), _) => (name, true),
        (None, Some(name)) => (name, false),
        (None, None) => {
            return Err(CliError::data("the payload names no event (hook_event_name, event)")
                .help("say whose it is with --agent"));
        }
    };
    let fires = |dialect: &&std::sync::Arc<dyn Dialect>| {
        let profile = dialect.profile();
        profile.runs_own_files == own_files && profile.events.iter().any(|row| row.fired_as.contains(&name))
    };
    dialects.iter().find(fires).ok_or_else(|| {
        CliError::data(format!("no agent fires an event {name:?}")).help("say whose it is with --agent")
    })
}

/// A payload that could not be read, in the agent's own words. Where hooks are configured one of them may be a guard for it.
fn refuse(
    agent: &dyn Dialect,
    hint: &EventHint,
    loaded: &Loaded,
    policy: &ReplyPolicy,
    problem: &str,
) -> Reply {
    let configured = loaded.hooks().any(|hook| hook.enabled);
    let allow = loaded.settings.on_engine_failure == Some(EngineFailureMode::Allow);
    let failure = EngineFailure {
        stage: FailureStage::Payload,
        message: format!(
            "hook-engine: {problem}. No hook has seen this event; check how `hook dispatch` is wired."
        ),
        deny: configured && !allow,
    };
    let event = hint.event.as_deref().and_then(|name| {
        let row = agent
            .event_row(name)
            .or_else(|| agent.profile().events.iter().find(|row| row.fired_as.contains(&name)))?;
        let payload = Payload::from_value(Value::Null).into();
        Some(Event::new(row.hears.first()?.clone(), agent.profile().id, name, payload))
    });
    agent.write_reply(event.as_ref(), Err(&failure), policy)
}

/// Says once per session which hook files are broken: a guard that could not be loaded must not be missed in silence.
fn tell_broken_files(
    outcome: &mut Outcome,
    incoming: &Incoming,
    loaded: &Loaded,
    sessions: &dyn SessionStore,
) {
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    let (Some(first), Some(event)) = (errors.first(), incoming.events.first()) else { return };
    let place = first
        .location()
        .map(ToString::to_string)
        .or_else(|| first.file.as_ref().map(|f| f.display().to_string()));
    let text = format!(
        "{} in hook files, first {}: {}. Run `hook check`.",
        if errors.len() == 1 { "1 error".to_owned() } else { format!("{} errors", errors.len()) },
        place.unwrap_or_default(),
        first.message,
    );
    let mut fresh = true;
    if let Some(id) = event.session.id.as_deref() {
        let told = sessions.update(id, &mut |state| fresh = state.spent.insert(format!("told {text}")));
        fresh |= told.is_err();
    }
    if fresh {
        outcome.answer.effects.push(Effect::Message { text: text.clone(), level: Level::Error });
    }
    outcome.notes.push(Note::warning(text));
}

fn send(reply: &Reply) -> Result<u8, CliError> {
    output::data(&reply.stdout)?;
    output::words(&reply.stderr);
    for lost in &reply.degraded {
        output::words(&format!("hook: {lost}\n"));
    }
    Ok(u8::try_from(reply.exit_code).unwrap_or(exit::INTERNAL))
}
