//! The small world in which a case happens: a host, files in memory, payloads, hooks made by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use hook_engine::config::{LoadRequest, Loaded, load};
use hook_engine::core::{
    CommandHandler, Decision, Dialect, DialectId, Event, EventHint, EventKind, FailMode, Handler, Hook,
    HookCx, HostContext, Incoming, Layer, MemoryFiles, Origin, Outcome, Payload, Reading, Run, SessionView,
    Shell, Source,
};
use hook_engine::mapper::Dialects;
use hook_engine::registry::Generation;
use serde_json::{Map, Value, json};

/// The project of every case that needs no real directory.
pub(super) const PROJECT: &str = "/case/project";
/// The home beside it.
pub(super) const HOME: &str = "/case/home";

/// A host whose directories stand in memory.
pub(super) fn host() -> HostContext {
    HostContext { home: Some(HOME.into()), ..HostContext::new(PROJECT) }
}

/// A dialect by one of its names.
pub(super) fn dialect(word: &str) -> Result<Arc<dyn Dialect>> {
    let dialects = Dialects::standard();
    dialects.find(word).cloned().with_context(|| format!("no dialect {word:?}"))
}

/// `<project>/…` and `~/…` as paths of this world.
pub(super) fn path(text: &str, project: &str, home: &str) -> String {
    match text.strip_prefix("~/") {
        Some(rest) => format!("{home}/{rest}"),
        None => text.replace("<project>", project),
    }
}

/// Loads a tree in memory as it is when `agent` fires and its own files are read too.
pub(super) fn load_tree(files: &MemoryFiles, agent: DialectId, switches: Map<String, Value>) -> Loaded {
    load_in(&host(), files, agent, switches, (Vec::new(), None))
}

/// The same in a host of the caller's, with plugins and a settings file given for the run.
pub(super) fn load_in(
    host: &HostContext,
    files: &MemoryFiles,
    agent: DialectId,
    switches: Map<String, Value>,
    (plugins, settings): (Vec<PathBuf>, Option<Source>),
) -> Loaded {
    let dialects = Dialects::standard();
    let mut request = LoadRequest::new(host, files, &dialects);
    request.plugin_roots = plugins;
    request.extra_settings = settings;
    request.own_files_of = vec![agent];
    request.firing = Some(agent);
    request.module_config = Some(module_config(switches));
    load(&request)
}

/// The settings with which a host mounts its hook module.
pub(super) fn module_config(settings: Map<String, Value>) -> Source {
    Source::new(Path::new("module_config"), Value::Object(settings).to_string())
}

/// The hooks that an event selects among these documents, or why none could be compiled.
pub(super) fn selects(loaded: &Loaded, event: &Event) -> bool {
    // Where a matcher has nothing to see, nobody reads it.
    let unread = event.match_values().next().is_none();
    let (generation, _) = Generation::build(1, &loaded.documents, None, &|_| unread);
    !generation.select(event).is_empty()
}

/// True where a hook of these documents is selected for an event, and its predicate and its `if` hold.
pub(super) fn runs(loaded: &Loaded, event: &Event, host: &HostContext) -> bool {
    let (generation, _) = Generation::build(1, &loaded.documents, None, &|_| false);
    let session = SessionView::default();
    generation.select(event).iter().any(|candidate| {
        let cx = HookCx { event, hook: &candidate.hook, session: &session, host };
        let asked = [&candidate.predicate, &candidate.condition];
        asked.into_iter().flatten().all(|condition| condition.test(&cx).holds)
    })
}

/// Reads a payload.
pub(super) fn read(dialect: &dyn Dialect, payload: Value) -> Result<Incoming> {
    dialect.read(Payload::from_value(payload), &EventHint::default()).context("the payload was not read")
}

/// A payload of Amplifier's.
pub(super) fn amplifier_payload(event: &str, data: &Value) -> Value {
    json!({"event": event, "data": data})
}

/// A payload of Claude Code's: the fields every event has, those of a tool on tool events, then `more`.
pub(super) fn claude_payload(event: &str, more: &Map<String, Value>) -> Value {
    let mut payload = json!({
        "hook_event_name": event, "session_id": "s1", "cwd": PROJECT, "transcript_path": "/case/transcript.jsonl",
        "permission_mode": "default",
    });
    const ON_TOOLS: [&str; 5] =
        ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"];
    if let Value::Object(members) = &mut payload {
        if ON_TOOLS.contains(&event) {
            members.insert("tool_name".into(), json!("Bash"));
            members.insert("tool_input".into(), json!({"command": "ls"}));
            members.insert("tool_use_id".into(), json!("t1"));
        }
        members.extend(more.clone());
    }
    payload
}

/// The event of this kind among those of a payload.
pub(super) fn event_of(incoming: Incoming, kind: &EventKind) -> Result<Event> {
    let found = incoming.events.iter().position(|event| event.kind == *kind);
    match found {
        Some(index) => Ok(incoming.events.into_iter().nth(index).context("no such event")?),
        None => bail!("the payload became no {kind} event"),
    }
}

/// A command handler written by hand.
pub(super) fn command() -> Handler {
    Handler::Command(CommandHandler { command: "true".into(), args: None, shell: Shell::Sh })
}

/// A command hook written by hand.
pub(super) fn hook(dialect: DialectId, event: &EventKind, on_failure: FailMode) -> Hook {
    Hook {
        on_failure,
        origin: Origin { layer: Layer::Project, ..Origin::code(0) },
        ..Hook::new("case", dialect, event.clone(), command())
    }
}

/// The outcome of one hook that ran alone.
pub(super) fn alone(hook: Hook, reading: Reading, stderr: &str, exit_code: Option<i32>) -> Outcome {
    let answer = reading.answer.clone();
    let decided_by = (answer.decision != Decision::None).then_some(0);
    let run = Run {
        hook: Arc::new(hook),
        generation: 1,
        started: SystemTime::now(),
        duration: Duration::ZERO,
        reading,
        stderr: stderr.trim().to_owned(),
        exit_code,
    };
    Outcome { answer, runs: vec![run], decided_by, notes: Vec::new() }
}

/// A time of a case, in milliseconds since 1970.
pub(super) fn millis(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}
