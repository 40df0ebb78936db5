//! From a payload to an agent's reply: what is the same whether a process lives for one event or serves many.

use std::sync::Arc;

use hook_engine::Engine;
use hook_engine::config::{EngineFailureMode, Loaded};
use hook_engine::core::{
    ControlMessage, Decision, Diagnostic, Dialect, Effect, EngineFailure, Event, EventHint, EventKind,
    FailureStage, Hook, HostContext, Incoming, Level, Note, Outcome, Payload, Reply, ReplyPolicy,
    SessionStore, Severity,
};
use hook_engine::mapper::Dialects;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::args::SourceArgs;
use crate::error::CliError;
use crate::world::World;
use crate::{exit, output};

/// What agents take for a block.
const BLOCK: u8 = 2;

/// A reply, ready to be given to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spoken {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: u8,
    /// It holds something back.
    pub(crate) holds: bool,
}

impl Spoken {
    /// Agents take standard error for the reason where the exit code is not 0, so our own remarks stand there only where it is 0.
    fn new<'a>(reply: Reply, holds: bool, notes: impl Iterator<Item = &'a Note>) -> Spoken {
        let mut stderr = reply.stderr;
        if reply.exit_code == 0 {
            for note in notes {
                stderr.push_str(&format!("hook: {}\n", note.text));
            }
            for lost in &reply.degraded {
                stderr.push_str(&format!("hook: the agent cannot carry: {lost}\n"));
            }
        }
        let code = u8::try_from(reply.exit_code).unwrap_or(exit::INTERNAL);
        Spoken { stdout: reply.stdout, stderr, code, holds }
    }

    /// Gives the reply to the agent that waits at this process's streams.
    pub(crate) fn say(&self) -> Result<Said, CliError> {
        let written = output::data(&self.stdout);
        output::words(&self.stderr);
        match written {
            Ok(()) => Ok(Said { code: self.code, heard: true }),
            // The agent cannot read why. Exit code 2 at least is a block to every agent that knows exit codes.
            Err(error) if self.holds => {
                output::words(&format!(
                    "hook: a reply that holds something back could not be written: {error}\n"
                ));
                Ok(Said { code: if self.code == 0 { BLOCK } else { self.code }, heard: false })
            }
            // A reader that went away still gets the exit code.
            Err(error) if error.is_broken_pipe() => Ok(Said { code: self.code, heard: false }),
            Err(error) => Err(error),
        }
    }
}

/// What became of a reply.
pub(crate) struct Said {
    pub(crate) code: u8,
    /// The agent has it.
    pub(crate) heard: bool,
}

/// One payload of an agent, in the world it was sent from.
pub(crate) struct Dialogue<'a> {
    pub(crate) dialects: &'a Dialects,
    pub(crate) agent: Arc<dyn Dialect>,
    pub(crate) hint: EventHint,
    /// The payload as it came.
    pub(crate) text: &'a str,
    pub(crate) sources: &'a SourceArgs,
    pub(crate) world: &'a World,
}

impl Dialogue<'_> {
    /// The host of the event.
    pub(crate) fn host(&self, event: Option<&Event>) -> HostContext {
        self.world.host(self.agent.profile(), event.and_then(|event| event.session.cwd.as_deref()))
    }

    /// The payload, read.
    pub(crate) fn read(&self, payload: Payload) -> Result<Incoming, String> {
        self.agent.read(payload, &self.hint).map_err(|error| error.to_string())
    }

    /// What there is to say before any hook is looked for.
    pub(crate) fn remark(&self, incoming: &Incoming) -> Option<String> {
        let nothing = incoming.events.is_empty() && incoming.control.is_none();
        nothing.then(|| {
            format!("hook: {} fires no event that a hook could listen to here\n", self.agent.profile().title)
        })
    }

    /// The refusal of an event whose guards may be in a file that cannot be used, where the settings want that.
    pub(crate) fn closed(&self, event: Option<&Event>, loaded: &Loaded) -> Option<Spoken> {
        let policy = loaded.settings.reply_policy(ReplyPolicy::default());
        let broken = loaded.broken_file().filter(|_| policy.fail_closed)?;
        Some(self.refuse(Ok(loaded), event, FailureStage::Configuration, &line(broken)))
    }

    /// The reply to what the hooks decided.
    pub(crate) fn reply(
        &self,
        engine: &Engine,
        incoming: &Incoming,
        outcome: &mut Outcome,
        loaded: &Loaded,
        sessions: &dyn SessionStore,
    ) -> Spoken {
        self.tell_broken_files(outcome, incoming, loaded, sessions);
        tell_unkept_skill(outcome, incoming);
        let policy = loaded.settings.reply_policy(ReplyPolicy::default());
        let reply = engine.reply(self.agent.profile().id, incoming, outcome, &policy);
        let holds = outcome.answer.decision > Decision::Allow;
        let hints = hints(outcome);
        Spoken::new(reply, holds, outcome.notes.iter().chain(&hints).filter(|note| note.level > Level::Info))
    }

    /// A failure of our own, in the agent's words. `event` is what is known of the event; else the wiring's word counts.
    pub(crate) fn refuse(
        &self,
        loaded: Result<&Loaded, &CliError>,
        event: Option<&Event>,
        stage: FailureStage,
        problem: &str,
    ) -> Spoken {
        let hinted = self.hinted_event();
        let event = event.or(hinted.as_ref());
        let (deny, policy) = match loaded {
            Ok(loaded) => {
                let allow = loaded.settings.on_engine_failure == Some(EngineFailureMode::Allow);
                let guarded = loaded.hooks().any(|hook| self.guards(hook, event));
                (guarded && !allow, loaded.settings.reply_policy(ReplyPolicy::default()))
            }
            // The wiring itself is wrong. It names hook files, so there are hooks.
            Err(_) => (true, ReplyPolicy::default()),
        };
        let mend = match stage {
            FailureStage::Payload => {
                "check how `hook dispatch` is wired: it takes the agent's payload as it is"
            }
            FailureStage::Configuration => "`hook check` shows what is wrong",
            _ => "try the same with `hook run --payload FILE`",
        };
        let message = format!("hook-engine: {problem}. No hook has seen this event; {mend}.");
        failed(self.agent.as_ref(), event, &EngineFailure { stage, message, deny }, &policy)
    }

    /// The event that the wiring names, without a payload.
    fn hinted_event(&self) -> Option<Event> {
        self.hint.event.as_ref()?;
        let empty = Payload::from_value(Value::Object(Map::new()));
        self.agent.read(empty, &self.hint).ok()?.events.into_iter().next()
    }

    /// True where this hook might have held the event back; any event where it is not known which one it is.
    fn guards(&self, hook: &Hook, event: Option<&Event>) -> bool {
        let same = event.is_none_or(|event| event.kind == hook.event);
        let payload = Arc::new(Payload::from_value(Value::Null));
        let bare = Event::new(hook.event.clone(), self.agent.profile().id, hook.event.name(), payload);
        hook.enabled && hook.may_block && same && self.agent.capabilities(&bare).block
    }

    /// Says which hook files are broken, on guard events always and else once per session: a guard that could not be loaded must not
    /// be missed in silence. Those of skills and subagents, which guard at times only, are told once. An event that carries no
    /// message leaves it to the next one.
    fn tell_broken_files(
        &self,
        outcome: &mut Outcome,
        incoming: &Incoming,
        loaded: &Loaded,
        sessions: &dyn SessionStore,
    ) {
        let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
        let (Some(first), Some(event)) = (errors.first(), incoming.events.first()) else { return };
        let text = format!(
            "{} in hook files, first {}. Run `hook check`.",
            if errors.len() == 1 { "1 error".to_owned() } else { format!("{} errors", errors.len()) },
            line(first),
        );
        outcome.notes.push(Note::warning(text.clone()));
        if !self.agent.capabilities(event).message {
            return;
        }
        let mut fresh = true;
        if let Some(id) = event.session.id.as_deref() {
            let told = sessions.update(id, &mut |state| fresh = state.spent.insert(format!("told {text}")));
            fresh |= told.is_err();
        }
        // Where something is to be guarded it is said every time: the guard may be what is broken.
        let always =
            self.agent.capabilities(event).block && !errors.iter().all(|finding| in_markdown(finding));
        if fresh || always {
            outcome.answer.effects.push(Effect::Message { text, level: Level::Error });
        }
    }
}

/// A failure of our own, whatever the rest of this program is able to do.
pub(crate) fn failed(
    agent: &dyn Dialect,
    event: Option<&Event>,
    failure: &EngineFailure,
    policy: &ReplyPolicy,
) -> Spoken {
    let reply = agent.write_reply(event, Err(failure), policy);
    let note = Note::warning(failure.message.clone());
    let told = !reply.stderr.is_empty();
    Spoken::new(reply, failure.deny, Some(&note).filter(|_| !told).into_iter())
}

/// True where a session begins.
pub(crate) fn starts_session(incoming: &Incoming) -> bool {
    incoming.events.iter().any(|event| event.kind == EventKind::SessionStart)
}

/// What was noticed while single hooks ran, each with its hook: a guard whose answer could not be read looks like one that had
/// no objection.
fn hints(outcome: &Outcome) -> Vec<Note> {
    let noted = outcome.runs.iter().flat_map(|run| run.reading.notes.iter().map(move |note| (run, note)));
    noted
        .map(|(run, note)| Note { text: format!("{}: {}", run.hook.origin, note.text), ..note.clone() })
        .collect()
}

/// A skill that is loaded into no session is forgotten when this process ends, and its guards with it.
fn tell_unkept_skill(outcome: &mut Outcome, incoming: &Incoming) {
    let Some(control) = &incoming.control else { return };
    let named = control.session.id.as_deref().is_some_and(|id| !id.is_empty());
    if let (ControlMessage::SkillLoaded { name, hooks, .. }, false) = (&control.message, named)
        && !hooks.is_null()
    {
        let text = format!(
            "the payload names no session (`session_id`), so the hooks of the skill {name} are forgotten at once"
        );
        outcome.notes.push(Note::warning(text.clone()));
        outcome.answer.effects.push(Effect::Message { text, level: Level::Warning });
    }
}

/// `file:line:col: message`
fn line(finding: &Diagnostic) -> String {
    match (finding.location(), &finding.file) {
        (Some(place), _) => format!("{place}: {}", finding.message),
        (None, Some(file)) => format!("{}: {}", file.display(), finding.message),
        (None, None) => finding.message.clone(),
    }
}

/// True where a finding is about the frontmatter of a skill or subagent.
fn in_markdown(finding: &Diagnostic) -> bool {
    let file = finding.location().map(|place| &place.file).or(finding.file.as_ref());
    file.and_then(|file| file.extension()).is_some_and(|extension| extension == "md")
}
