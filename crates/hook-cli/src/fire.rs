//! An event that a person makes by hand: from the arguments to everything that is needed to dispatch it.

use std::io::Read;
use std::sync::Arc;

use hook_engine::config::Loaded;
use hook_engine::core::{Dialect, Event, EventHint, EventKind, HostContext, Incoming, Payload, SessionStore};
use hook_engine::mapper::Dialects;
use hook_engine::state::MemorySessions;
use hook_engine::{BackgroundMode, Engine};
use serde_json::{Map, Value, json};

use crate::args::EventArgs;
use crate::error::CliError;
use crate::session::Parts;
use crate::waking::Waking;
use crate::{session, world};

/// An event made by hand, and the hooks of the place it happens in.
pub(crate) struct Fired {
    pub(crate) agent: Arc<dyn Dialect>,
    pub(crate) incoming: Incoming,
    pub(crate) loaded: Loaded,
    pub(crate) engine: Engine,
}

/// Reads the arguments, the payload and all hook files.
pub(crate) fn fire(args: &EventArgs) -> Result<Fired, CliError> {
    let dialects = Dialects::standard();
    let named = args.agent.as_deref().map(|word| session::dialect(&dialects, word)).transpose()?;
    let payload = args.payload.as_deref().map(payload_of_file).transpose()?;
    let recognised = || match &payload {
        Some(payload) => session::recognise(&dialects, payload),
        None => dialects.find("native"),
    };
    let agent = named.or_else(recognised).ok_or_else(|| CliError::internal("there is no dialect"))?.clone();
    let profile = agent.profile();
    let payload = match payload {
        Some(payload) => payload,
        None => {
            let project = world::host(profile, None).project;
            Payload::from_value(built_payload(args, profile.runs_own_files, &project)?)
        }
    };
    let hint = EventHint { event: args.event.clone(), ..EventHint::default() };
    let text = payload.text.clone();
    let mut incoming = agent.read(payload, &hint).map_err(|error| CliError::data(error.to_string()))?;
    let cwd = incoming.events.first().and_then(|event| event.session.cwd.clone());
    let host = world::host(profile, cwd.as_deref());

    let loaded = session::load_files(&host, &dialects, &args.sources, Some(profile.id))?;
    if let Some(again) = session::read_again(agent.as_ref(), &text, &hint, &loaded) {
        incoming = again;
    }
    for event in &mut incoming.events {
        event.session.id = args.session.clone().or(event.session.id.take());
    }
    if let Some(control) = &mut incoming.control {
        control.session.id = args.session.clone().or(control.session.id.take());
    }
    known_event(&incoming, agent.as_ref(), args, &loaded)?;
    let store = sessions(args, &host);
    // A wish belongs to a session that somebody comes back to.
    let keeps = args.session.is_some() || args.payload.is_some();
    let waking = Waking::of(&host, agent.profile().id, &session::absolute(&args.sources)).filter(|_| keeps);
    let engine = session::engine(Parts {
        host,
        dialects,
        loaded: &loaded,
        sources: &args.sources,
        only: None,
        sessions: store,
        background: BackgroundMode::Await,
        confirms: false,
        waking,
        spool: None,
        observer: None,
    });
    Ok(Fired { agent, incoming, loaded, engine })
}

/// State is kept for sessions that have a name; an event made up here has none.
fn sessions(args: &EventArgs, host: &HostContext) -> Arc<dyn SessionStore> {
    match (&args.session, &args.payload) {
        (None, None) => Arc::new(MemorySessions::new()),
        _ => session::sessions(host),
    }
}

pub(crate) fn hears(incoming: &Incoming, kind: &EventKind) -> bool {
    incoming.events.iter().any(|event| event.kind == *kind)
}

fn payload_of_file(file: &std::path::Path) -> Result<Payload, CliError> {
    let name = file.display();
    let mut bytes = Vec::new();
    let read = if file.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|error| CliError::io(name.to_string(), error))?;
    let text = String::from_utf8(bytes)
        .map_err(|error| CliError::data(format!("{name} is not UTF-8: {}", error.utf8_error())))?;
    Payload::parse(&text).map_err(|error| CliError::data(format!("{name} is no JSON: {error}")))
}

/// The payload as the agent would send it: flat, or in an envelope.
fn built_payload(args: &EventArgs, flat: bool, project: &std::path::Path) -> Result<Value, CliError> {
    let mut data = object("--data", args.data.as_deref())?.unwrap_or_default();
    if let Some(tool) = &args.tool {
        data.insert("tool_name".into(), tool.as_str().into());
    }
    match (object("--input", args.input.as_deref())?, &args.tool) {
        (Some(input), Some(_)) => {
            data.insert("tool_input".into(), input.into());
        }
        (Some(members), None) => data.extend(members),
        (None, _) => {}
    }
    let event = args.event.as_deref().unwrap_or_default();
    let around = [
        ("session_id", args.session.clone().unwrap_or_else(|| format!("run-{}", std::process::id())).into()),
        ("cwd", Value::from(project.to_string_lossy())),
    ];
    if flat {
        data.insert("hook_event_name".into(), event.into());
        data.extend(around.into_iter().map(|(name, value)| (name.to_owned(), value)));
        return Ok(data.into());
    }
    let mut envelope = json!({ "event": event, "data": data });
    for (name, value) in around {
        envelope[name] = value;
    }
    Ok(envelope)
}

fn object(flag: &str, text: Option<&str>) -> Result<Option<Map<String, Value>>, CliError> {
    let Some(text) = text else { return Ok(None) };
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(Some(map)),
        Ok(_) => Err(CliError::usage(format!("{flag} is JSON, but no object"))
            .help("for instance '{\"command\": \"ls\"}'")),
        Err(error) => Err(CliError::usage(format!("{flag} is no JSON: {error}"))
            .help("for instance '{\"command\": \"ls\"}'")),
    }
}

/// An event that nobody fires and no hook waits for is a typing mistake here, though an agent may send what it likes.
fn known_event(
    incoming: &Incoming,
    agent: &dyn Dialect,
    args: &EventArgs,
    loaded: &Loaded,
) -> Result<(), CliError> {
    let named = |event: &Event| !matches!(event.kind, EventKind::Other(_));
    let waited_for = || loaded.hooks().any(|hook| hears(incoming, &hook.event));
    if incoming.control.is_some() || incoming.events.iter().any(named) || waited_for() {
        return Ok(());
    }
    let profile = agent.profile();
    let mut known: Vec<&str> = profile.events.iter().flat_map(|row| row.fired_as).copied().collect();
    known.dedup();
    let word = args.event.as_deref().unwrap_or_default();
    let near = known.iter().map(|name| (distance(word, name), *name)).min();
    let help = match near {
        Some((far, name)) if far <= word.len() / 4 + 1 => format!("did you mean {name}?"),
        _ => format!("its events: {}", known.join(", ")),
    };
    let what = if word.is_empty() { "like that of the payload".to_owned() } else { format!("{word:?}") };
    Err(CliError::usage(format!("{} has no event {what}", profile.title)).help(help))
}

/// How many letters have to be changed, whatever their case.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let changed = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_differ_are_counted() {
        let table = [("", "", 0), ("a", "", 1), ("PreToolUsed", "pretooluse", 1), ("stop", "sotp", 2)];
        for (a, b, expected) in table {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }
}
