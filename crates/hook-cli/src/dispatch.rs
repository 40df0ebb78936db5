//! The machine's verb: an agent's payload in, its own kind of reply out.
//!
//! An agent waits for this verb on every event, and most events concern no hook: only what the event needs is compiled, and a
//! runtime is made only where something runs. What fails here leaves through the agent's own dialect; a guard that could
//! not look does not wave things through.

use std::io::Read;
use std::sync::Arc;

use hook_engine::BackgroundMode;
use hook_engine::config::{EngineFailureMode, Loaded};
use hook_engine::core::{
    ControlMessage, Decision, Diagnostic, Dialect, Effect, EngineFailure, Event, EventHint, EventKind,
    FailureStage, Hook, HookId, HostContext, Incoming, Level, Note, Outcome, Payload, Reply, ReplyPolicy,
    SessionStore, Severity,
};
use hook_engine::mapper::Dialects;
use hook_engine::state::{FileSessions, MAX_AGE};
use serde_json::{Map, Value};

use crate::args::DispatchArgs;
use crate::error::CliError;
use crate::session::Parts;
use crate::waking::Waking;
use crate::{background, exit, output, session, world};

/// What agents take for a block.
const BLOCK: u8 = 2;

/// Larger payloads are refused.
const MAX_PAYLOAD: u64 = 64 * 1024 * 1024;

pub(crate) fn dispatch(args: &DispatchArgs) -> Result<u8, CliError> {
    // A hook of an agent has no terminal; where this process leads a group already, it keeps the one it has.
    let _ = rustix::process::setsid();
    let dialects = Dialects::standard();
    let named = args.agent.as_deref().map(|word| session::dialect(&dialects, word)).transpose()?;
    let payload = read_payload();
    let agent = named.or_else(|| match &payload {
        Ok(payload) => session::recognise(&dialects, payload),
        Err(_) => dialects.find("native"),
    });
    let agent = agent.cloned().ok_or_else(|| CliError::internal("there is no dialect"))?;
    let hint = EventHint { event: args.event.clone(), ..EventHint::default() };
    let text = payload.as_ref().map(|payload| payload.text.clone()).unwrap_or_default();
    let work = Dispatch { args, dialects: &dialects, agent, hint, text };
    let read =
        payload.and_then(|payload| work.agent.read(payload, &work.hint).map_err(|error| error.to_string()));
    match read {
        Ok(incoming) => work.answer(&incoming),
        Err(problem) => work.refuse(None, FailureStage::Payload, &problem),
    }
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

struct Dispatch<'a> {
    args: &'a DispatchArgs,
    dialects: &'a Dialects,
    agent: Arc<dyn Dialect>,
    hint: EventHint,
    /// The payload as it came.
    text: String,
}

impl Dispatch<'_> {
    fn host(&self, event: Option<&Event>) -> HostContext {
        world::host(self.agent.profile(), event.and_then(|event| event.session.cwd.as_deref()))
    }

    fn load(&self, host: &HostContext) -> Result<Loaded, CliError> {
        session::load_files(host, self.dialects, &self.args.sources, Some(self.agent.profile().id))
    }

    fn answer(&self, incoming: &Incoming) -> Result<u8, CliError> {
        let first = incoming.events.first();
        if first.is_none() && incoming.control.is_none() {
            output::words(&format!(
                "hook: {} fires no event that a hook could listen to here\n",
                self.agent.profile().title
            ));
        }
        let host = self.host(first);
        let loaded = match self.load(&host) {
            Ok(loaded) => loaded,
            Err(error) => return self.refuse(first, FailureStage::Configuration, &error.to_string()),
        };
        let again = session::read_again(self.agent.as_ref(), &self.text, &self.hint, &loaded);
        let incoming = again.as_ref().unwrap_or(incoming);
        let first = incoming.events.first();
        let policy = loaded.settings.reply_policy(ReplyPolicy::default());
        if let (true, Some(broken)) = (policy.fail_closed, loaded.broken_file()) {
            return self.refuse(first, FailureStage::Configuration, &line(broken));
        }

        self.speak_on_panic(first);
        let only: Vec<EventKind> = incoming.events.iter().map(|event| event.kind.clone()).collect();
        let sessions = session::sessions(&host);
        let waking = Waking::of(&host, self.agent.profile().id, &self.args.sources);
        let engine = session::engine(Parts {
            host: host.clone(),
            dialects: self.dialects.clone(),
            loaded: &loaded,
            sources: &self.args.sources,
            only: Some(only),
            sessions: sessions.clone(),
            background: BackgroundMode::HandOver,
            confirms: true,
            waking: waking.clone(),
        });
        if !self.args.background.is_empty() {
            let ids: Vec<HookId> = self.args.background.iter().map(HookId::new).collect();
            session::block_on(async {
                engine.run_background(incoming, &ids).await;
                engine.close().await;
            })?;
            return Ok(exit::OK);
        }
        let mut outcome = Outcome::default();
        if engine.concerns(incoming) {
            outcome = match session::dispatch(&engine, incoming) {
                Ok(Some(outcome)) => outcome,
                Ok(None) => {
                    let problem = "a signal ended it while hooks ran; they were ended too";
                    return self.refuse(first, FailureStage::Internal, problem);
                }
                Err(error) => return self.refuse(first, FailureStage::Internal, &error.to_string()),
            };
        }
        self.tell_broken_files(&mut outcome, incoming, &loaded, sessions.as_ref());
        tell_unkept_skill(&mut outcome, incoming);
        let reply = engine.reply(self.agent.profile().id, incoming, &outcome, &policy);
        let holds = outcome.answer.decision > Decision::Allow;
        let hints = hints(&outcome);
        let notes = outcome.notes.iter().chain(&hints).filter(|note| note.level > Level::Info);
        let code = send(&reply, holds, notes)?;
        for note in engine.confirm(incoming, &outcome) {
            output::words(&format!("hook: {}\n", note.text));
        }
        // The reply is out; now there is time for what the agent need not wait for.
        background::start(&outcome, &self.text);
        if let Some(waking) = &waking {
            waking.start_if_due();
        }
        if let (true, Some(state)) = (starts_session(incoming), &host.state) {
            let _ = FileSessions::new(state.join("sessions"), host.clock.clone()).sweep(MAX_AGE);
        }
        // The process ends here; taking the tables of all hooks apart first is time the agent waits for.
        std::mem::forget((engine, loaded));
        Ok(code)
    }

    /// A failure of our own, in the agent's words. `event` is what is known of the event; else the wiring's word counts.
    fn refuse(&self, event: Option<&Event>, stage: FailureStage, problem: &str) -> Result<u8, CliError> {
        let hinted = self.hinted_event();
        let event = event.or(hinted.as_ref());
        let (deny, policy) = match self.load(&self.host(event)) {
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
        let failure = EngineFailure { stage, message, deny };
        let reply = self.agent.write_reply(event, Err(&failure), &policy);
        let note = Note::warning(failure.message);
        send(&reply, deny, Some(&note).filter(|_| reply.stderr.is_empty()).into_iter())
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

    /// From here on a panic is answered in the agent's language, too.
    fn speak_on_panic(&self, event: Option<&Event>) {
        let (agent, event) = (self.agent.clone(), event.cloned());
        std::panic::set_hook(Box::new(move |info| {
            let message = format!("hook-engine: a fault of this program: {info}");
            let failure = EngineFailure { stage: FailureStage::Internal, message, deny: true };
            let reply = agent.write_reply(event.as_ref(), Err(&failure), &ReplyPolicy::default());
            let note = Note::warning(failure.message);
            let code = send(&reply, true, std::iter::once(&note)).unwrap_or(exit::INTERNAL);
            std::process::exit(i32::from(code));
        }));
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

fn starts_session(incoming: &Incoming) -> bool {
    incoming.events.iter().any(|event| event.kind == EventKind::SessionStart)
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

/// Gives the reply to the agent. Agents take standard error for the reason where the exit code is not 0, so our own remarks
/// stand there only where it is 0.
fn send<'a>(reply: &Reply, holds: bool, notes: impl Iterator<Item = &'a Note>) -> Result<u8, CliError> {
    let written = output::data(&reply.stdout);
    output::words(&reply.stderr);
    if reply.exit_code == 0 {
        for note in notes {
            output::words(&format!("hook: {}\n", note.text));
        }
        for lost in &reply.degraded {
            output::words(&format!("hook: the agent cannot carry: {lost}\n"));
        }
    }
    match written {
        // The agent cannot read why. Exit code 2 at least is a block to every agent that knows exit codes.
        Err(error) if holds => {
            output::words(&format!(
                "hook: a reply that holds something back could not be written: {error}\n"
            ));
            Ok(if reply.exit_code == 0 {
                BLOCK
            } else {
                u8::try_from(reply.exit_code).unwrap_or(exit::INTERNAL)
            })
        }
        // A reader that went away still gets the exit code.
        Err(error) if !error.is_broken_pipe() => Err(error),
        _ => Ok(u8::try_from(reply.exit_code).unwrap_or(exit::INTERNAL)),
    }
}
