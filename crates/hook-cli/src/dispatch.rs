//! The machine's verb: an agent's payload in, its own kind of reply out.
//!
//! An agent waits for this verb on every event, and most events concern no hook: only what the event needs is compiled, and a
//! runtime is made only where something runs. What fails here leaves through the agent's own dialect; a guard that could
//! not look does not wave things through.
//!
//! Where a server runs (`hook serve`) it does the work; what it does not take, and what it does not bring to an end, is done here.

use std::io::Read;
use std::sync::Arc;

use hook_engine::BackgroundMode;
use hook_engine::config::Loaded;
use hook_engine::core::{
    Dialect, EngineFailure, Event, EventHint, EventKind, FailureStage, HookId, HostContext, Incoming,
    Outcome, Payload, ReplyPolicy,
};
use hook_engine::mapper::Dialects;
use hook_engine::state::{FileSessions, MAX_AGE};

use crate::answer::{self, Dialogue};
use crate::args::DispatchArgs;
use crate::background::Place;
use crate::error::CliError;
use crate::serve::client::{self, Asked};
use crate::session::Parts;
use crate::waking::Waking;
use crate::world::World;
use crate::{exit, output, session};

/// Larger payloads are refused.
pub(crate) const MAX_PAYLOAD: u64 = 64 * 1024 * 1024;

pub(crate) fn dispatch(args: &DispatchArgs) -> Result<u8, CliError> {
    // A hook of an agent has no terminal; where this process leads a group already, it keeps the one it has.
    let _ = rustix::process::setsid();
    let world = World::of_process();
    let sources = session::absolute(&args.sources);
    let text = read_payload();
    let mut ended = None;
    if let (Ok(text), true) = (&text, args.background.is_empty() && !args.cold) {
        match client::ask(&world, args.agent.as_deref(), args.event.as_deref(), &sources, text) {
            Asked::Answered(answered) => return answered.say(),
            Asked::Nobody => {}
            Asked::Lost(why) => output::words(&format!("hook: {why}\n")),
            Asked::Ended => ended = Some("a signal ended it while hooks ran; they were ended too"),
        }
    }
    let dialects = Dialects::standard();
    let named = args.agent.as_deref().map(|word| session::dialect(&dialects, word)).transpose()?;
    let payload = text.and_then(|text| parse(&text));
    let agent = named.or_else(|| match &payload {
        Ok(payload) => session::recognise(&dialects, payload),
        Err(_) => dialects.find("native"),
    });
    let agent = agent.cloned().ok_or_else(|| CliError::internal("there is no dialect"))?;
    let hint = EventHint { event: args.event.clone(), ..EventHint::default() };
    let text = payload.as_ref().map(|payload| payload.text.clone()).unwrap_or_default();
    let dialogue =
        Dialogue { dialects: &dialects, agent, hint, text: &text, sources: &sources, world: &world };
    let work = Dispatch { args, dialogue };
    match payload.and_then(|payload| work.dialogue.read(payload)) {
        Ok(incoming) => match ended {
            Some(problem) => work.refuse(incoming.events.first(), FailureStage::Internal, problem),
            None => work.answer(&incoming),
        },
        Err(problem) => work.refuse(None, FailureStage::Payload, &problem),
    }
}

/// The text of the payload, or what is wrong with it.
fn read_payload() -> Result<String, String> {
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
    Ok(text)
}

/// The payload, or what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Payload, String> {
    Payload::parse(text).map_err(|error| format!("the payload is no JSON: {error}"))
}

struct Dispatch<'a> {
    args: &'a DispatchArgs,
    dialogue: Dialogue<'a>,
}

impl Dispatch<'_> {
    fn load(&self, host: &HostContext) -> Result<Loaded, CliError> {
        let Dialogue { dialects, sources, agent, .. } = &self.dialogue;
        session::load_files(host, dialects, sources, Some(agent.profile().id))
    }

    fn answer(&self, incoming: &Incoming) -> Result<u8, CliError> {
        let Dialogue { agent, dialects, .. } = &self.dialogue;
        if let Some(remark) = self.dialogue.remark(incoming) {
            output::words(&remark);
        }
        let first = incoming.events.first();
        let host = self.dialogue.host(first);
        let loaded = match self.load(&host) {
            Ok(loaded) => loaded,
            Err(error) => {
                let refusal =
                    self.dialogue.refuse(Err(&error), first, FailureStage::Configuration, &error.to_string());
                return refusal.say().map(|said| said.code);
            }
        };
        let again = session::read_again(agent.as_ref(), self.dialogue.text, &self.dialogue.hint, &loaded);
        let incoming = again.as_ref().unwrap_or(incoming);
        let first = incoming.events.first();
        if let Some(closed) = self.dialogue.closed(first, &loaded) {
            return closed.say().map(|said| said.code);
        }

        self.speak_on_panic(first);
        let only: Vec<EventKind> = incoming.events.iter().map(|event| event.kind.clone()).collect();
        let sessions = session::sessions(&host);
        let waking = Waking::of(&host, agent.profile().id, self.dialogue.sources);
        let place = Place { host: &host, sessions: sessions.as_ref(), incoming };
        let engine = session::engine(Parts {
            host: host.clone(),
            dialects: (*dialects).clone(),
            loaded: &loaded,
            sources: self.dialogue.sources,
            only: Some(only),
            sessions: sessions.clone(),
            background: BackgroundMode::HandOver,
            confirms: true,
            waking: waking.clone(),
            spool: place.spool().filter(|_| !self.args.background.is_empty()),
            observer: None,
        });
        if !self.args.background.is_empty() {
            let ids: Vec<HookId> = self.args.background.iter().map(HookId::new).collect();
            let ran = session::block_on(async {
                engine.run_background(incoming, &ids).await;
                engine.close().await;
            });
            place.done();
            return ran.map(|_| exit::OK);
        }
        let mut outcome = Outcome::default();
        if engine.concerns(incoming) {
            let refuse = |problem: &str| {
                let refusal = self.dialogue.refuse(Ok(&loaded), first, FailureStage::Internal, problem);
                refusal.say().map(|said| said.code)
            };
            outcome = match session::dispatch(&engine, incoming) {
                Ok(Some(outcome)) => outcome,
                Ok(None) => return refuse("a signal ended it while hooks ran; they were ended too"),
                Err(error) => return refuse(&error.to_string()),
            };
        }
        let reply = self.dialogue.reply(&engine, incoming, &mut outcome, &loaded, sessions.as_ref());
        let said = reply.say()?;
        if said.heard {
            for note in engine.confirm(incoming, &outcome) {
                output::words(&format!("hook: {}\n", note.text));
            }
        }
        // The reply is out; now there is time for what the agent need not wait for.
        place.tend();
        place.start(&outcome, self.dialogue.text);
        if let Some(waking) = &waking {
            waking.start_if_due();
        }
        if let (true, Some(state)) = (answer::starts_session(incoming), &host.state) {
            let _ = FileSessions::new(state.join("sessions"), host.clock.clone()).sweep(MAX_AGE);
        }
        // The process ends here; taking the tables of all hooks apart first is time the agent waits for.
        std::mem::forget((engine, loaded));
        Ok(said.code)
    }

    fn refuse(&self, event: Option<&Event>, stage: FailureStage, problem: &str) -> Result<u8, CliError> {
        let hinted = self.load(&self.dialogue.host(event));
        self.dialogue.refuse(hinted.as_ref(), event, stage, problem).say().map(|said| said.code)
    }

    /// From here on a panic is answered in the agent's language, too.
    fn speak_on_panic(&self, event: Option<&Event>) {
        let (agent, event): (Arc<dyn Dialect>, _) = (self.dialogue.agent.clone(), event.cloned());
        std::panic::set_hook(Box::new(move |info| {
            let message = format!("hook-engine: a fault of this program: {info}");
            let failure = EngineFailure { stage: FailureStage::Internal, message, deny: true };
            let spoken = answer::failed(agent.as_ref(), event.as_ref(), &failure, &ReplyPolicy::default());
            let code = spoken.say().map_or(exit::INTERNAL, |said| said.code);
            std::process::exit(i32::from(code));
        }));
    }
}
