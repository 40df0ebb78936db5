//! From a host to an engine with its documents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use hook_engine::config::ModelChoice;
use hook_engine::config::{self, LoadRequest, Loaded, LoadedServers, MAX_FILE, Settings, StdFiles, load};
use hook_engine::core::{
    Dialect, DialectId, EventHint, EventKind, Files, HandlerKind, Hook, HostContext, Incoming, LanguageModel,
    ModelError, ModelRequest, Observer, Outcome, Payload, SessionStore, Source,
};
use hook_engine::exec_command::CommandExecutor;
use hook_engine::exec_prompt::HttpModel;
use hook_engine::http::Client;
use hook_engine::mapper::Dialects;
use hook_engine::state::{FileSessions, MemorySessions};
use hook_engine::{BackgroundMode, Engine, nobody_runs};

use crate::args::SourceArgs;
use crate::error::CliError;
use crate::signals::Signals;
use crate::waking::Waking;

/// The dialect a word means.
pub(crate) fn dialect<'a>(dialects: &'a Dialects, word: &str) -> Result<&'a Arc<dyn Dialect>, CliError> {
    dialects.find(word).ok_or_else(|| {
        let known: Vec<&str> = dialects.iter().map(|dialect| dialect.profile().id.0).collect();
        CliError::usage(format!("no agent is called {word:?}"))
            .help(format!("known agents: {}", known.join(", ")))
    })
}

/// The dialect that a payload speaks, where nobody said whose it is.
///
/// An envelope (`event`) is native where it names a native event, else that of the first agent that knows the event. A payload
/// with `hook_event_name` belongs to the first agent that knows it; native reads those as well, as the last.
pub(crate) fn recognise<'a>(dialects: &'a Dialects, payload: &Payload) -> Option<&'a Arc<dyn Dialect>> {
    let native = dialects.get(DialectId::NATIVE);
    let knows = |dialect: &&Arc<dyn Dialect>| {
        let read = dialect.read(payload.clone(), &EventHint::default());
        read.is_ok_and(|incoming| {
            incoming.events.iter().any(|event| !matches!(event.kind, EventKind::Other(_)))
        })
    };
    let enveloped = payload.get("event").is_some() && payload.get("hook_event_name").is_none();
    let others = dialects.iter().filter(|dialect| dialect.profile().id != DialectId::NATIVE);
    native.filter(|_| enveloped).into_iter().chain(others).find(knows).or(native)
}

/// Reads all hook files of the host.
pub(crate) fn load_files(
    host: &HostContext,
    dialects: &Dialects,
    sources: &SourceArgs,
    firing: Option<DialectId>,
) -> Result<Loaded, CliError> {
    load_from(&StdFiles, host, dialects, sources, firing)
}

/// The same through other eyes.
pub(crate) fn load_from(
    files: &dyn Files,
    host: &HostContext,
    dialects: &Dialects,
    sources: &SourceArgs,
    firing: Option<DialectId>,
) -> Result<Loaded, CliError> {
    let mut request = LoadRequest::new(host, files, dialects);
    request.firing = firing;
    for word in &sources.from {
        request.own_files_of.push(dialect(dialects, word)?.profile().id);
    }
    request.plugin_roots = plugin_roots(sources)?;
    let given = |flag: &str, given: &Option<String>| {
        given.as_deref().map(|text| source(files, flag, text)).transpose()
    };
    request.module_config = given("--module-config", &sources.module_config)?;
    request.extra_settings = given("--settings", &sources.settings)?;
    for skill in &sources.skill {
        request
            .skills
            .push(std::path::absolute(skill).map_err(|error| CliError::io(skill.display(), error))?);
    }
    Ok(load(&request))
}

/// The same files, named from anywhere: another process stands elsewhere.
pub(crate) fn absolute(sources: &SourceArgs) -> SourceArgs {
    let mut sources = sources.clone();
    let absolute = |path: &mut PathBuf| {
        if let Ok(whole) = std::path::absolute(&*path) {
            *path = whole;
        }
    };
    sources.plugin_root.iter_mut().chain(&mut sources.skill).for_each(absolute);
    for given in [&mut sources.settings, &mut sources.module_config].into_iter().flatten() {
        if !given.trim_start().starts_with('{')
            && let Ok(whole) = std::path::absolute(&*given)
        {
            *given = whole.to_string_lossy().into_owned();
        }
    }
    sources
}

fn plugin_roots(sources: &SourceArgs) -> Result<Vec<PathBuf>, CliError> {
    let absolute = |root: &PathBuf| {
        let root = std::path::absolute(root).map_err(|error| CliError::io(root.display(), error))?;
        if !root.is_dir() {
            return Err(CliError::usage(format!("{} is no directory", root.display())));
        }
        Ok(root)
    };
    sources.plugin_root.iter().map(absolute).collect()
}

/// Reads the MCP servers of the host.
pub(crate) fn load_servers(
    files: &dyn Files,
    host: &HostContext,
    dialects: &Dialects,
    sources: &SourceArgs,
    settings: &Settings,
) -> Result<LoadedServers, CliError> {
    let mut request = LoadRequest::new(host, files, dialects);
    request.plugin_roots = plugin_roots(sources)?;
    Ok(config::load_servers(&request, settings))
}

/// Settings given with a flag: the JSON itself, or the file it stands in.
fn source(files: &dyn Files, flag: &str, given: &str) -> Result<Source, CliError> {
    if given.trim_start().starts_with('{') {
        return Ok(Source::new(Path::new(flag), given));
    }
    let what = || format!("{flag} {given}");
    let path = std::path::absolute(given).map_err(|error| CliError::io(what(), error))?;
    let bytes = files.read(&path, MAX_FILE).map_err(|error| {
        CliError::io(what(), error).help("give it a JSON object, or the path of a file that holds one")
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|error| CliError::data(format!("{} is not UTF-8: {}", what(), error.utf8_error())))?;
    Ok(Source::new(path, text))
}

/// Reads a payload once more where a setting changes what its events are: settings are known only when it is known where the
/// session works, and that stands in the payload.
pub(crate) fn read_again(
    agent: &dyn Dialect,
    payload: &str,
    hint: &EventHint,
    loaded: &Loaded,
) -> Option<Incoming> {
    let subagent_tools = Some(loaded.settings.subagent_tools(agent.profile().id)?);
    let hint = EventHint { subagent_tools, ..hint.clone() };
    agent.read(Payload::parse(payload).ok()?, &hint).ok()
}

/// What an engine is made of.
pub(crate) struct Parts<'a> {
    pub(crate) host: HostContext,
    pub(crate) dialects: Dialects,
    pub(crate) loaded: &'a Loaded,
    pub(crate) sources: &'a SourceArgs,
    /// The events it will see, where that is known to be all.
    pub(crate) only: Option<Vec<EventKind>>,
    pub(crate) sessions: Arc<dyn SessionStore>,
    pub(crate) background: BackgroundMode,
    /// The caller confirms its replies.
    pub(crate) confirms: bool,
    /// Where wishes to be woken are kept.
    pub(crate) waking: Option<Waking>,
    /// Where what hooks say is written down as it comes.
    pub(crate) spool: Option<PathBuf>,
    /// Somebody who looks on.
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

/// An engine for these documents. MCP servers are read when a hook calls one, and the model of the settings is connected to when a
/// hook asks it.
pub(crate) fn engine(parts: Parts<'_>) -> Engine {
    let Parts {
        host,
        dialects,
        loaded,
        sources,
        only,
        sessions,
        background,
        confirms,
        waking,
        spool,
        observer,
    } = parts;
    let (known, settings, sources) = (dialects.clone(), loaded.settings.clone(), sources.clone());
    // The arguments were good enough to load the hooks.
    let servers = move |host: &HostContext| {
        load_servers(&StdFiles, host, &known, &sources, &settings)
            .map(|loaded| loaded.servers)
            .unwrap_or_default()
    };
    let model: Option<Arc<dyn LanguageModel>> = match &loaded.settings.model {
        ModelChoice::Unsaid => None,
        ModelChoice::Unusable => Some(Arc::new(Unusable)),
        ModelChoice::Named(model) => Some(Arc::new(HttpModel::new(Client::new(), model.clone(), &host))),
    };
    let builder = Engine::builder(host)
        .dialects(dialects)
        .mcp_servers(servers)
        .documents(loaded.documents.iter().cloned())
        .settings(loaded.settings.clone())
        .sessions(sessions)
        .background(background);
    let builder = match model {
        Some(model) => builder.model(model),
        None => builder,
    };
    let builder = if confirms { builder.confirms_replies() } else { builder };
    let builder = match spool {
        Some(spool) => builder.executor(Arc::new(CommandExecutor::new().spool(spool))),
        None => builder,
    };
    let builder = match observer {
        Some(observer) => builder.observer(observer),
        None => builder,
    };
    let builder = match waking {
        Some(waking) => waking.on(builder),
        None => builder,
    };
    match only {
        Some(only) => builder.only(only).build(),
        None => builder.build(),
    }
}

/// Why the engine of these files runs no hooks like this one; `None` where it does. Keeps step with [`engine`].
pub(crate) fn unserved(hook: &Hook, settings: &Settings, host: &HostContext) -> Option<String> {
    let kind = hook.handler.kind();
    let served = match kind {
        HandlerKind::Agent => false,
        HandlerKind::Prompt => settings.model != ModelChoice::Unsaid,
        _ => true,
    };
    (!served).then(|| nobody_runs(kind, host))
}

/// The model of settings that cannot be used. The findings of their file say why.
struct Unusable;

#[async_trait]
impl LanguageModel for Unusable {
    async fn ask(&self, _: &ModelRequest) -> Result<String, ModelError> {
        Err(ModelError::Lookup("the model of the settings cannot be used; `hook check` shows why".to_owned()))
    }
}

/// The sessions of this machine; in memory where there is no place for them.
pub(crate) fn sessions(host: &HostContext) -> Arc<dyn SessionStore> {
    match &host.state {
        Some(state) => Arc::new(FileSessions::new(state.join("sessions"), host.clock.clone())),
        None => Arc::new(MemorySessions::new()),
    }
}

/// Dispatches on a runtime of its own, and ends what hooks keep between events. `None` where a signal ended it.
pub(crate) fn dispatch(engine: &Engine, incoming: &Incoming) -> Result<Option<Outcome>, CliError> {
    block_on(async {
        let outcome = engine.dispatch(incoming).await;
        engine.close().await;
        outcome
    })
}

/// Runs a future on a runtime of its own. `None` where a signal ended it: its hooks are ended with it.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<Option<T>, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CliError::internal(format!("cannot make a runtime: {error}")))?;
    runtime.block_on(async {
        let mut signals = Signals::listen()?;
        tokio::select! {
            done = work => Ok(Some(done)),
            () = signals.come() => Ok(None),
        }
    })
}
