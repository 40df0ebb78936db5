//! Why a hook would run on an event, or the first reason why not.

use std::sync::Arc;

use hook_core::plan::StopRule;
use hook_core::{Candidate, Event, Handler, Hook, HookCx, Plan, SessionView};
use hook_exec::budget::effective_timeout;
use hook_matcher::Matcher;

use crate::chain;
use crate::engine::Engine;
use crate::skills;

/// What keeps a hook from running, in the order in which it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hurdle {
    /// It stands in a file that is left to its agent.
    Source,
    /// It listens to another event.
    Event,
    /// It is switched off, or broken.
    Off,
    /// Its matcher does not fit.
    Matcher,
    /// Its skill is not loaded, or its agent does not run.
    Scope,
    /// Its dialect leaves it out: it is a copy of another one.
    Copy,
    /// Its `if` does not hold.
    Condition,
    /// It ran already in this session.
    Once,
    /// Nobody approved it.
    Trust,
    /// Nothing here runs handlers of its type.
    Executor,
    /// The hooks of this event ran already in this turn, under the agent's other name.
    Turn,
}

impl Hurdle {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Hurdle::Source => "source",
            Hurdle::Event => "event",
            Hurdle::Off => "off",
            Hurdle::Matcher => "matcher",
            Hurdle::Scope => "scope",
            Hurdle::Copy => "copy",
            Hurdle::Condition => "condition",
            Hurdle::Once => "once",
            Hurdle::Trust => "trust",
            Hurdle::Executor => "executor",
            Hurdle::Turn => "turn",
        }
    }
}

/// What one event means to one hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// The hook.
    pub hook: Arc<Hook>,
    /// What keeps it from running; `None`: it would run.
    pub hurdle: Option<Hurdle>,
    /// Why, with the value it saw: the first reason against it, or everything that speaks for it, one sentence each.
    pub why: Vec<String>,
    /// The terms of a matcher or an `if` that looks at the input of a tool, one line each, with what each says and the value it
    /// saw: up to the first that decided. Empty where there are none, or where something else kept the hook from running before.
    pub terms: Vec<String>,
}

impl Engine {
    /// Every hook of this engine and what the event means to it, in dispatch order. Nothing is run and nothing is remembered.
    ///
    /// What depends on the answers of other hooks (a rewritten input, an answer that ends the run) is said where it can happen.
    pub fn explain(&self, event: &Event) -> Vec<Explained> {
        let view = self.view(event);
        let generation = self.generation();
        let skills = self.skill_hooks_of(event, &view.state);
        let mut all: Vec<(Arc<Hook>, bool)> =
            generation.matched(event).map(|(hook, fits)| (hook.clone(), fits)).collect();
        if let Some(skills) = &skills {
            all.extend(skills.matched(event).map(|(hook, fits)| (hook.clone(), fits)));
        }
        let candidates = self.candidates_of(event, &view.state);
        let planned = Planned::new(self, event, &candidates);
        let turned = event.once_per_turn.and_then(|key| view.state.turn.get(key));
        let turned = turned.filter(|ran| **ran != event.native_event);

        let explain = |(hook, fits): (Arc<Hook>, bool)| {
            let found = self.hurdle(event, &hook, fits, &view, &candidates, &planned);
            let (hurdle, why) = match (found, turned) {
                (Err((hurdle, why)), _) => (Some(hurdle), vec![why]),
                (Ok(_), Some(ran)) => {
                    (Some(Hurdle::Turn), vec![format!("its hooks ran already in this turn, on {ran}")])
                }
                (Ok(why), None) => (None, why),
            };
            let asked = matches!(hurdle, None | Some(Hurdle::Matcher | Hurdle::Condition));
            let candidate = candidates.iter().find(|candidate| Arc::ptr_eq(&candidate.hook, &hook));
            let cx = HookCx { event, hook: &hook, session: &view, host: self.host() };
            let terms =
                candidate.filter(|_| asked).map(|candidate| terms(candidate, &cx)).unwrap_or_default();
            Explained { hook, hurdle, why, terms }
        };
        all.into_iter().map(explain).collect()
    }

    /// The first thing against the hook, or all that speaks for it.
    fn hurdle(
        &self,
        event: &Event,
        hook: &Arc<Hook>,
        fits: bool,
        view: &SessionView,
        candidates: &[Candidate],
        planned: &Planned,
    ) -> Result<Vec<String>, (Hurdle, String)> {
        if hook.event != event.kind {
            return Err((Hurdle::Event, format!("it listens to {}, this is {}", hook.event, event.kind)));
        }
        if !hook.enabled {
            let why = hook.disabled_because.clone().unwrap_or_else(|| "disabled in its file".to_owned());
            return Err((Hurdle::Off, why));
        }
        let matcher = matcher(event, hook, fits);
        if !fits {
            return Err((Hurdle::Matcher, matcher));
        }
        let Some(place) = candidates.iter().position(|candidate| Arc::ptr_eq(&candidate.hook, hook)) else {
            return Err((Hurdle::Scope, skills::not_in_force(&hook.scope, event, &view.state)));
        };
        if let Some(why) = planned.skipped(place) {
            return Err((Hurdle::Copy, why));
        }
        let mut why = vec![matcher];
        let cx = HookCx { event, hook, session: view, host: self.host() };
        let candidate = &candidates[place];
        if let Some(predicate) = &candidate.predicate {
            let verdict = predicate.test(&cx);
            if !verdict.holds {
                return Err((Hurdle::Matcher, format!("the matcher does not fit: {}", verdict.why)));
            }
            why = vec![format!("the matcher fits: {}", verdict.why)];
            why.extend(verdict.unsure.map(unsure));
        }
        if let Some(condition) = &candidate.condition {
            let verdict = condition.test(&cx);
            if !verdict.holds {
                return Err((Hurdle::Condition, verdict.why));
            }
            why.push(verdict.why);
            why.extend(verdict.unsure.map(unsure));
        }
        if hook.once && view.state.spent.contains(hook.id.as_str()) {
            return Err((Hurdle::Once, "once: it ran already in this session".to_owned()));
        }
        if let Err(why) = self.gate().admit(hook) {
            return Err((Hurdle::Trust, why));
        }
        let kind = hook.handler.kind();
        let broken = matches!(hook.handler, Handler::Unknown { .. });
        if self.executors().get(kind).is_none() && !broken {
            return Err((Hurdle::Executor, chain::nobody_runs(kind, self.host())));
        }
        if let (true, Some(defect)) = (broken, &hook.disabled_because) {
            why.push(format!("it is broken and its failure blocks: {defect}"));
        }
        why.push(planned.turn(place));
        if let Some(dialect) = self.dialects().get(hook.dialect) {
            let seconds = effective_timeout(hook, dialect.profile()).as_secs_f64();
            why.push(format!("it has {seconds} s"));
        }
        Ok(why)
    }
}

fn terms(candidate: &Candidate, cx: &HookCx<'_>) -> Vec<String> {
    let conditions = [&candidate.predicate, &candidate.condition].into_iter().flatten();
    conditions.flat_map(|condition| condition.parts(cx)).collect()
}

fn unsure(why: String) -> String {
    format!("it could not be judged, so it counts as fitting: {why}")
}

/// What the matcher says, with the value it saw.
fn matcher(event: &Event, hook: &Hook, fits: bool) -> String {
    let values: Vec<String> = event.match_values().map(|value| format!("{value:?}")).collect();
    let saw = match values.as_slice() {
        [] if fits => return "this event has nothing a matcher could see".to_owned(),
        [] => "the empty text, since this event has no value".to_owned(),
        [one] => one.clone(),
        [first, others @ ..] => format!("{first} (also called {})", others.join(", ")),
    };
    let text = hook.matcher.text.as_deref().unwrap_or_default();
    if text.is_empty() {
        return format!("no matcher, so everything fits; it saw {saw}");
    }
    let compiled = Matcher::compile(Some(text), hook.matcher.flavour).matcher;
    if compiled.is_unreadable() {
        return match fits {
            true => format!(
                "the matcher {text:?} cannot be read; on an event that can hold something back it counts as fitting"
            ),
            false => format!("the matcher {text:?} cannot be read, so nothing fits"),
        };
    }
    let verb = if fits { "fits" } else { "does not fit" };
    // A flavour that ignores letter case would have fitted.
    let near = (!fits)
        .then(|| event.match_values().find(|value| value.eq_ignore_ascii_case(text)))
        .flatten()
        .map(|_| "; letter case counts here")
        .unwrap_or_default();
    format!("the matcher {text:?} ({}) {verb} {saw}{near}", compiled.describe())
}

/// The plans of all dialects, laid side by side.
struct Planned {
    skipped: Vec<Option<String>>,
    turns: Vec<String>,
}

impl Planned {
    fn new(engine: &Engine, event: &Event, candidates: &[Candidate]) -> Planned {
        let mut planned =
            Planned { skipped: vec![None; candidates.len()], turns: vec![String::new(); candidates.len()] };
        for dialect in engine.dialects().iter() {
            let id = dialect.profile().id;
            let places: Vec<usize> =
                (0..candidates.len()).filter(|&place| candidates[place].hook.dialect == id).collect();
            let own: Vec<Candidate> = places.iter().map(|&place| candidates[place].clone()).collect();
            if own.is_empty() {
                continue;
            }
            planned.add(&dialect.plan(event, &own, engine.host()), &places);
        }
        planned
    }

    fn add(&mut self, plan: &Plan, places: &[usize]) {
        for skip in &plan.skipped {
            self.skipped[places[skip.member]] = Some(skip.why.clone());
        }
        for stage in &plan.stages {
            let mut before = 0;
            for group in &stage.groups {
                let parallel = group.order == hook_core::plan::Order::Parallel && group.members.len() > 1;
                for (index, &member) in group.members.iter().enumerate() {
                    let earlier = if parallel { before } else { before + index };
                    let unless = match group.stop {
                        StopRule::Never => "",
                        StopRule::OnDeny => ", unless one of them denies",
                        StopRule::OnAnswer => ", unless one of them answers",
                    };
                    let mut text = match earlier {
                        0 => "it runs first".to_owned(),
                        1 => format!("it runs after one other{}", unless.replace("one of them", "that one")),
                        many => format!("it runs after {many} others{unless}"),
                    };
                    if parallel {
                        text.push_str(&format!(", together with {} of its group", group.members.len() - 1));
                    }
                    self.turns[places[member]] = text;
                }
                before += group.members.len();
            }
        }
    }

    fn skipped(&self, place: usize) -> Option<String> {
        self.skipped[place].clone()
    }

    fn turn(&self, place: usize) -> String {
        self.turns[place].clone()
    }
}
