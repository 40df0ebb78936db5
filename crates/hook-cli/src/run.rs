//! A person's verb: fire an event by hand.

use std::io::Read;
use std::sync::Arc;

use hook_engine::core::{Decision, EventHint, EventKind, Incoming, Payload, SessionStore};
use hook_engine::mapper::Dialects;
use hook_engine::state::MemorySessions;
use serde_json::{Map, Value, json};

use crate::args::RunArgs;
use crate::error::CliError;
use crate::{check, exit, json as json_form, output, report, session, world};

pub(crate) fn run(args: &RunArgs) -> Result<u8, CliError> {
    let dialects = Dialects::standard();
    let agent = session::dialect(&dialects, &args.agent)?.clone();
    let host = world::host(agent.profile())?;
    let payload = match &args.payload {
        Some(file) => payload_of_file(file)?,
        None => Payload::from_value(built_payload(args, agent.profile().runs_own_files, &host.project)?),
    };
    let hint = EventHint { event: args.event.clone() };
    let incoming = agent.read(payload, &hint).map_err(|error| CliError::data(error.to_string()))?;
    known_event(&incoming, agent.as_ref(), args)?;

    let loaded = session::load_files(&host, &dialects, &args.sources, Some(agent.profile().id))?;
    let only: Vec<EventKind> = incoming.events.iter().map(|event| event.kind.clone()).collect();
    let sessions: Arc<dyn SessionStore> = match (&args.session, &args.payload) {
        (None, None) => Arc::new(MemorySessions::new()),
        _ => session::sessions(&host),
    };
    let engine = session::engine(host.clone(), dialects.clone(), &loaded, only, sessions);
    let Some(outcome) = session::block_on(engine.dispatch(&incoming))? else {
        return Err(CliError::internal("ended by a signal; running hooks were ended too"));
    };

    let findings: Vec<_> = loaded.diagnostics.iter().chain(engine.diagnostics()).cloned().collect();
    if args.json {
        output::data(&format!("{:#}\n", json_form::outcome(&incoming, &outcome, &findings)))?;
    } else {
        check::print_errors(&findings, &loaded.sources);
        output::data(&report::outcome(&incoming, &outcome))?;
    }
    Ok(match outcome.answer.decision {
        Decision::Deny => exit::BLOCKED,
        Decision::Ask => exit::ASK,
        Decision::Defer => exit::DEFER,
        _ => exit::OK,
    })
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
fn built_payload(args: &RunArgs, flat: bool, project: &std::path::Path) -> Result<Value, CliError> {
    let mut data = object("--data", args.data.as_deref())?.unwrap_or_default();
    if let Some(tool) = &args.tool {
        data.insert("tool_name".into(), tool.as_str().into());
    }
    if let Some(input) = object("--input", args.input.as_deref())? {
        data.insert("tool_input".into(), input.into());
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

/// An event that nobody fires is a typing mistake here, though an agent may send what it likes.
fn known_event(
    incoming: &Incoming,
    agent: &dyn hook_engine::core::Dialect,
    args: &RunArgs,
) -> Result<(), CliError> {
    let unknown = incoming.events.iter().any(|event| matches!(event.kind, EventKind::Other(_)));
    if (incoming.events.is_empty() && incoming.control.is_none()) || unknown {
        let profile = agent.profile();
        let mut known: Vec<&str> = profile.events.iter().flat_map(|row| row.fired_as).copied().collect();
        known.dedup();
        let name = args.event.as_deref().unwrap_or("of the payload");
        return Err(CliError::usage(format!("{} has no event {name}", profile.title))
            .help(format!("its events: {}", known.join(", "))));
    }
    Ok(())
}
