//! Putting an engine together.

use std::sync::Arc;

use hook_config::Settings;
use hook_core::{
    AgentRunner, AskHandler, Document, EventKind, Executor, Gate, Hook, HostContext, LanguageModel,
    McpClients, McpServers, Observer, Outcome, SessionStore, TrustAll,
};
use hook_exec::{DenyExecutor, Executors};
use hook_exec_command::CommandExecutor;
use hook_exec_http::HttpExecutor;
use hook_exec_mcp::McpExecutor;
use hook_exec_prompt::{AgentExecutor, PromptExecutor};
use hook_http::Client;
use hook_mapper::Dialects;
use hook_state::MemorySessions;

use crate::background::BackgroundMode;
use crate::engine::Engine;
use crate::hearing::Hearing;
use crate::reload::Check;
use crate::rewakes::RewakeParts;
use hook_rewake::envelope::Envelope;
use hook_rewake::store::RewakeStore;

/// Builds an [`Engine`]. Without further calls it knows the standard dialects, runs command, http and deny hooks, keeps session
/// state in memory, trusts every hook and has no documents.
pub struct EngineBuilder {
    pub(crate) host: HostContext,
    pub(crate) dialects: Dialects,
    pub(crate) documents: Vec<Document>,
    pub(crate) only: Option<Vec<EventKind>>,
    pub(crate) executors: Executors,
    pub(crate) sessions: Arc<dyn SessionStore>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) background: BackgroundMode,
    pub(crate) settings: Settings,
    pub(crate) asks: Option<Arc<dyn AskHandler>>,
    pub(crate) rewake: RewakeParts,
    pub(crate) check: Option<Arc<Check>>,
    pub(crate) confirms: bool,
    pub(crate) hearing: Hearing,
}

impl EngineBuilder {
    pub(crate) fn new(host: HostContext) -> EngineBuilder {
        EngineBuilder {
            host,
            dialects: Dialects::standard(),
            documents: Vec::new(),
            only: None,
            executors: Executors::new()
                .with(Arc::new(CommandExecutor::new()))
                .with(Arc::new(HttpExecutor::new(Client::new())))
                .with(Arc::new(DenyExecutor)),
            sessions: Arc::new(MemorySessions::new()),
            gate: Arc::new(TrustAll),
            observers: Vec::new(),
            background: BackgroundMode::default(),
            settings: Settings::default(),
            asks: None,
            rewake: RewakeParts::default(),
            check: None,
            confirms: false,
            hearing: Hearing::default(),
        }
    }

    /// Replaces the dialects.
    #[must_use]
    pub fn dialects(mut self, dialects: Dialects) -> EngineBuilder {
        self.dialects = dialects;
        self
    }

    /// Adds documents, in dispatch order (see [`hook_config::load`]).
    #[must_use]
    pub fn documents(mut self, documents: impl IntoIterator<Item = Document>) -> EngineBuilder {
        self.documents.extend(documents);
        self
    }

    /// The settings that were loaded with the documents. Hooks that come later, with a skill, are held to them, too.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> EngineBuilder {
        self.settings = settings;
        self
    }

    /// Compiles the hooks of these events only: for a process that lives for one event.
    #[must_use]
    pub fn only(mut self, events: impl IntoIterator<Item = EventKind>) -> EngineBuilder {
        self.only = Some(events.into_iter().collect());
        self
    }

    /// Adds an executor; one for the same kind of handler is replaced.
    #[must_use]
    pub fn executor(mut self, executor: Arc<dyn Executor>) -> EngineBuilder {
        self.executors = self.executors.with(executor);
        self
    }

    /// Runs prompt hooks by asking this model. Without one they do not run, and every outcome says so.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hook_engine::Engine;
    /// use hook_engine::config::{DocumentSpec, parse};
    /// use hook_engine::core::{
    ///     DialectId, EventHint, HostContext, LanguageModel, Layer, ModelError, ModelRequest, Payload,
    /// };
    ///
    /// /// A host puts its own client here.
    /// struct Careful;
    ///
    /// #[async_trait::async_trait]
    /// impl LanguageModel for Careful {
    ///     async fn ask(&self, request: &ModelRequest) -> Result<String, ModelError> {
    ///         let ok = !request.prompt.contains("drop table");
    ///         Ok(format!(r#"{{"ok": {ok}, "reason": "a table would be lost"}}"#))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let file = br#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
    ///     {"type": "prompt", "prompt": "Is this call safe? $ARGUMENTS"}
    /// ]}]}}"#;
    /// let spec = DocumentSpec::new("/work/project/.hooks/hooks.json", DialectId::NATIVE, Layer::Project);
    /// let hooks = parse(file, &spec, &hook_engine::mapper::Dialects::standard());
    /// let engine = Engine::builder(HostContext::new("/work/project"))
    ///     .documents(hooks.document)
    ///     .model(Arc::new(Careful))
    ///     .build();
    ///
    /// let payload = Payload::parse(
    ///     r#"{"event": "PreToolUse", "data": {"tool_name": "Bash", "tool_input": {"command": "echo 'drop table x' | psql"}}}"#,
    /// )?;
    /// let incoming = engine.dialects().find("native").ok_or("no such dialect")?.read(payload, &EventHint::default())?;
    /// let outcome = engine.dispatch(&incoming).await;
    /// assert_eq!(outcome.answer.reason.as_deref(), Some("a table would be lost"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn model(self, model: Arc<dyn LanguageModel>) -> EngineBuilder {
        self.executor(Arc::new(PromptExecutor::new(model)))
    }

    /// Runs agent hooks by sending this agent. Without one they do not run, and every outcome says so.
    #[must_use]
    pub fn agent_runner(self, runner: Arc<dyn AgentRunner>) -> EngineBuilder {
        self.executor(Arc::new(AgentExecutor::new(runner)))
    }

    /// Runs mcp hooks by calling tools of these servers, which are started, or connected to, by the first hook that needs them.
    /// `read` is called once, by the first mcp hook that runs. They end with the engine ([`Engine::close`]).
    ///
    /// What connected servers tell of their own accord resolves events ("Hook Configuration Guide, Async Rewake, MCP notifications"), where
    /// the engine has a store for wishes ([`EngineBuilder::rewake`]): `mcp.resource_updated` and its like.
    ///
    /// ```no_run
    /// use hook_engine::Engine;
    /// use hook_engine::config::{LoadRequest, StdFiles, load, load_servers};
    /// use hook_engine::core::HostContext;
    /// use hook_engine::mapper::Dialects;
    ///
    /// let host = HostContext::new("/work/project");
    /// let loaded = load(&LoadRequest::new(&host, &StdFiles, &Dialects::standard()));
    /// let settings = loaded.settings.clone();
    /// let engine = Engine::builder(host)
    ///     .documents(loaded.documents)
    ///     .mcp_servers(move |host| {
    ///         load_servers(&LoadRequest::new(host, &StdFiles, &Dialects::standard()), &settings).servers
    ///     })
    ///     .build();
    /// ```
    #[must_use]
    pub fn mcp_servers(
        self,
        read: impl FnOnce(&HostContext) -> McpServers + Send + 'static,
    ) -> EngineBuilder {
        let executor = McpExecutor::of_servers(read).listener(self.hearing.listener());
        self.executor(Arc::new(executor))
    }

    /// Runs mcp hooks through clients that the host brings: one that is connected to servers already. It hears their notifications itself,
    /// and resolves events with [`Engine::scheduler`].
    #[must_use]
    pub fn mcp_clients(self, clients: Arc<dyn McpClients>) -> EngineBuilder {
        self.executor(Arc::new(McpExecutor::new(clients)))
    }

    /// Keeps session state here.
    #[must_use]
    pub fn sessions(mut self, sessions: Arc<dyn SessionStore>) -> EngineBuilder {
        self.sessions = sessions;
        self
    }

    /// Puts the questions of hooks before a human, in [`Engine::tool_call`]. Without a handler a question is a refusal.
    #[must_use]
    pub fn ask(mut self, handler: Arc<dyn AskHandler>) -> EngineBuilder {
        self.asks = Some(handler);
        self
    }

    /// Keeps what hooks wish in this store and wakes them, when [`Engine::wake_due`] or [`Engine::keep_waking`] is called. Without a
    /// store nobody is woken, and outcomes say so.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hook_engine::core::HostContext;
    /// use hook_engine::rewake::store::MemoryStore;
    /// use hook_engine::Engine;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let engine = Engine::builder(HostContext::new("/work")).rewake(Arc::new(MemoryStore::new())).build();
    /// let scheduler = engine.scheduler().ok_or("it has a store")?;
    /// scheduler.resolve("approval", "T-42", &[("status".into(), "granted".into())].into()).await?;
    /// assert_eq!(engine.wake_due().await?.fired, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn rewake(mut self, store: Arc<dyn RewakeStore>) -> EngineBuilder {
        self.rewake.store = Some(store);
        self
    }

    /// Lets a session have so many pending envelopes at most ("Hook Configuration Guide, Async Rewake": the default manager allows
    /// 64). What is beyond is dropped, and the outcome says so.
    #[must_use]
    pub fn rewake_quota(mut self, quota: u32) -> EngineBuilder {
        self.rewake.quota = Some(quota);
        self
    }

    /// Keeps this text with every envelope: what a host needs to make an engine with the same hooks again, in a process that comes
    /// later ([`Snapshot::host`](hook_rewake::envelope::Snapshot::host)).
    #[must_use]
    pub fn rewake_note(mut self, note: impl Into<Arc<str>>) -> EngineBuilder {
        self.rewake.host = note.into();
        self
    }

    /// Takes out of payloads what is not to be kept with an envelope, and says whether there was anything. Without a rule of the host's
    /// it is [`redact::secrets`](crate::redact::secrets); one that says `false` keeps everything.
    #[must_use]
    pub fn rewake_redact(
        mut self,
        rule: impl Fn(&mut serde_json::Value) -> bool + Send + Sync + 'static,
    ) -> EngineBuilder {
        self.rewake.redact = Some(Arc::new(rule));
        self
    }

    /// Tells `listener` what woken hooks say. Without one it goes into the mailbox of the session, and the next event that can
    /// carry it brings it to the model.
    #[must_use]
    pub fn on_rewake(
        mut self,
        listener: impl Fn(&Envelope, &Outcome) + Send + Sync + 'static,
    ) -> EngineBuilder {
        self.rewake.listener = Some(Arc::new(listener));
        self
    }

    /// Asks before other hooks come into force with a reload ([`Engine::reload`]); an error, which says why, leaves the old ones in force.
    #[must_use]
    pub fn reload_check(
        mut self,
        check: impl Fn(&[Arc<Hook>]) -> Result<(), String> + Send + Sync + 'static,
    ) -> EngineBuilder {
        self.check = Some(Arc::new(check));
        self
    }

    /// Asks this gate before a hook runs.
    #[must_use]
    pub fn gate(mut self, gate: Arc<dyn Gate>) -> EngineBuilder {
        self.gate = gate;
        self
    }

    /// Adds an observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> EngineBuilder {
        self.observers.push(observer);
        self
    }

    /// Says what becomes of hooks that run in the background.
    #[must_use]
    pub fn background(mut self, mode: BackgroundMode) -> EngineBuilder {
        self.background = mode;
        self
    }

    /// The host promises to call [`Engine::confirm`] when a reply has reached the agent. What background and woken hooks left for the
    /// model is then kept until it does, and told again after a minute where it does not: its process was ended on the way.
    #[must_use]
    pub fn confirms_replies(mut self) -> EngineBuilder {
        self.confirms = true;
        self
    }

    /// Compiles the documents and gives the engine. What could not be compiled stands in [`Engine::diagnostics`].
    pub fn build(self) -> Engine {
        Engine::new(self)
    }
}
