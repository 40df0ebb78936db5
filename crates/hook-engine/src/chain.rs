//! The chain runner: the one rule the facade owns. Stages in order, groups in order, hooks as their group says.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hook_core::plan::{FoldRule, Group, InputRule, Order, StopRule};
use hook_core::{
    Answer, Budget, Call, Candidate, Decision, Dialect, DialectId, Event, Exit, FailureKind, Gate, Handler,
    HandlerFailure, HandlerKind, HandlerOutput, Hook, HookCx, HostContext, ModelError, Note, Observer,
    OnFailure, OnceRule, Outcome, Profile, Reading, Run, SessionStore, SessionView, Status, TemplateValues,
    fold,
};
use hook_exec::Executors;
use hook_exec::budget::{MIN_TIMEOUT, effective_timeout, net};
use hook_mapper::Dialects;
use hook_state::env_file;

use crate::hold::{self, Holds};
use crate::waking;
use crate::{environment, passing, spill};

/// Everything one event needs while its hooks run.
pub(crate) struct Chain<'a> {
    pub(crate) holds: Holds,
    pub(crate) host: &'a HostContext,
    pub(crate) dialects: &'a Dialects,
    pub(crate) executors: &'a Executors,
    pub(crate) sessions: &'a dyn SessionStore,
    pub(crate) gate: &'a dyn Gate,
    pub(crate) observers: &'a [Arc<dyn Observer>],
    pub(crate) generation: u64,
    pub(crate) session_key: &'a str,
    pub(crate) background: Background,
}

/// What the chain does with background hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Background {
    /// Leaves them to somebody else.
    PutOff,
    /// Runs them, and lets their answers count for nothing.
    Mute,
    /// Runs them, and keeps what they say: they are what this chain is for.
    Hear,
}

/// What a stage adds up while it runs.
struct Progress {
    event: Event,
    session: SessionView,
    notes: Vec<Note>,
    /// When the stage began, and the budget its hooks share.
    budget: Option<(Instant, Budget)>,
}

impl Chain<'_> {
    /// Runs all candidates. Each source dialect plans its own; native hooks go first, the others in the order in which their
    /// first hook stands.
    pub(crate) async fn run(
        &self,
        event: &Event,
        candidates: Vec<Candidate>,
        session: SessionView,
    ) -> Outcome {
        let mut order: Vec<DialectId> = Vec::new();
        for candidate in &candidates {
            if !order.contains(&candidate.hook.dialect) {
                order.push(candidate.hook.dialect);
            }
        }
        order.sort_by_key(|id| *id != DialectId::NATIVE);

        let mut outcome = Outcome::default();
        let mut progress = Progress { event: event.clone(), session, notes: Vec::new(), budget: None };
        for id in order {
            let own: Vec<Candidate> = candidates.iter().filter(|c| c.hook.dialect == id).cloned().collect();
            // Rewrites are seen inside a stage only; across stages the answers are joined.
            progress.event = event.clone();
            let stage = match self.dialects.get(id) {
                Some(dialect) => self.run_stage(dialect.as_ref(), &own, &mut progress).await,
                None => Outcome {
                    notes: vec![Note::warning(format!(
                        "{} hooks of the unknown dialect {id} were not run",
                        own.len()
                    ))],
                    ..Outcome::default()
                },
            };
            outcome = outcome.and(stage);
        }
        outcome.notes.append(&mut progress.notes);
        outcome
    }

    async fn run_stage(
        &self,
        dialect: &dyn Dialect,
        candidates: &[Candidate],
        progress: &mut Progress,
    ) -> Outcome {
        let plan = dialect.plan(&progress.event, candidates, self.host);
        let mut slots: Vec<Option<Run>> = vec![None; candidates.len()];
        for skip in &plan.skipped {
            slots[skip.member] = Some(self.skipped(&candidates[skip.member].hook, &skip.why));
        }
        let mut answers = Vec::new();
        let mut ended = false;
        let began = Instant::now();
        let mut groups: Vec<(&Group, Option<Budget>)> = Vec::new();
        for stage in &plan.stages {
            for group in &stage.groups {
                groups.push((group, stage.budget));
            }
        }
        for (group, budget) in groups {
            if ended {
                for &member in &group.members {
                    slots[member] = Some(self.skipped(&candidates[member].hook, SHORT_CIRCUIT));
                }
                continue;
            }
            progress.budget = budget.map(|budget| (began, budget));
            let (answer, stopped) = self.run_group(dialect, candidates, group, progress, &mut slots).await;
            answers.push(answer);
            ended = stopped;
        }

        let runs: Vec<Run> = slots.into_iter().flatten().collect();
        let answer = fold::join_all(answers);
        let decided_by = (answer.decision != Decision::None)
            .then(|| runs.iter().position(|run| run.reading.answer.decision == answer.decision))
            .flatten();
        let mut notes = Vec::new();
        for run in
            runs.iter().filter(|run| !run.ran() && self.executors.get(run.hook.handler.kind()).is_none())
        {
            notes.push(Note::warning(format!("{} was not run: {}", run.hook.origin, run.reading.rule)));
        }
        notes.extend(cut_short(&runs).filter(|_| ended));
        for run in &runs {
            for observer in self.observers {
                observer.finished(&progress.event, run);
            }
        }
        Outcome { answer, runs, decided_by, notes }
    }

    /// Runs one group; true where its answer ends the stage.
    async fn run_group(
        &self,
        dialect: &dyn Dialect,
        candidates: &[Candidate],
        group: &Group,
        progress: &mut Progress,
        slots: &mut [Option<Run>],
    ) -> (Answer, bool) {
        let mut answers: Vec<Answer> = Vec::with_capacity(group.members.len());
        let ends = |answer: &Answer| match group.stop {
            StopRule::Never => false,
            StopRule::OnDeny => answer.decision == Decision::Deny,
            StopRule::OnAnswer => answer.acts(),
        };
        match group.order {
            Order::Sequential => {
                let mut stopped = false;
                for &member in &group.members {
                    let hook = &candidates[member].hook;
                    if stopped {
                        slots[member] = Some(self.skipped(hook, SHORT_CIRCUIT));
                        continue;
                    }
                    let run = self.run_hook(dialect, &candidates[member], progress).await;
                    self.take_variables(dialect, &run, progress);
                    let answer = run.reading.answer.clone();
                    slots[member] = Some(run);
                    if let (InputRule::Thread, Some(input)) = (group.input, &answer.updated_input) {
                        progress.event = progress.event.with_input(input.clone());
                    }
                    stopped = ends(&answer);
                    answers.push(answer);
                }
                (fold::fold(group.fold, answers), stopped)
            }
            Order::Parallel => {
                // A loop and no closure: only so does the compiler see that the whole future may move between threads.
                let ticket = AtomicUsize::new(0);
                let mut started = Vec::with_capacity(group.members.len());
                for &member in &group.members {
                    started.push(self.run_numbered(dialect, &candidates[member], progress, &ticket));
                }
                let runs = join_all(started).await;
                let (mut noted, mut finished) = (Vec::new(), Vec::new());
                for (&member, (run, place)) in group.members.iter().zip(runs) {
                    answers.push(run.reading.answer.clone());
                    noted.push(run.hook.origin.to_string());
                    finished.push(place);
                    slots[member] = Some(run);
                }
                if let Some(run) = group.members.last().and_then(|&member| slots[member].clone()) {
                    self.take_variables(dialect, &run, progress);
                }
                let by_time = group.fold == FoldRule::JoinAsFinished;
                let first: Vec<usize> = (0..answers.len()).rev().collect();
                let (rule, places) = match group.fold {
                    FoldRule::JoinAsFinished => ("the one that finished last counts", Some(&finished)),
                    FoldRule::Merge => ("the first one in the file counts", Some(&first)),
                    _ => ("the later one in the file counts", None),
                };
                for index in fold::conflicts(&answers, places.map(Vec::as_slice)) {
                    progress.notes.push(Note::warning(format!(
                        "two hooks rewrote the input at the same time; {rule}, not that of {}",
                        noted[index]
                    )));
                }
                if by_time {
                    fold::keep_last_rewrite(&mut answers, &finished);
                }
                let answer = fold::fold(group.fold, answers);
                let stopped = ends(&answer);
                (answer, stopped)
            }
        }
    }

    /// Runs one hook and takes the number of its place among those that finished.
    async fn run_numbered(
        &self,
        dialect: &dyn Dialect,
        candidate: &Candidate,
        progress: &Progress,
        ticket: &AtomicUsize,
    ) -> (Run, usize) {
        let run = self.run_hook(dialect, candidate, progress).await;
        (run, ticket.fetch_add(1, Ordering::Relaxed))
    }

    /// Runs one hook, whatever happens to it.
    async fn run_hook(&self, dialect: &dyn Dialect, candidate: &Candidate, progress: &Progress) -> Run {
        let hook = &candidate.hook;
        let cx = HookCx { event: &progress.event, hook, session: &progress.session, host: self.host };
        let mut made = Vec::new();
        let conditions = [
            (&candidate.predicate, "the matcher", "the matcher does not fit: "),
            (&candidate.condition, "the `if`", ""),
        ];
        for (condition, name, before) in conditions {
            let Some(verdict) = condition.as_ref().map(|condition| condition.test(&cx)) else { continue };
            if !verdict.holds {
                return self.skipped(hook, &format!("{before}{}", verdict.why));
            }
            if let Some(unsure) = verdict.unsure {
                made.push(Note::warning(format!(
                    "{name} of {} cannot be judged, so it counts as fitting: {unsure}",
                    hook.origin
                )));
            }
        }
        if let Err(why) = self.gate.admit(hook) {
            return self.skipped(hook, &why);
        }
        if let Some(held) = self.holds.get(&hook.id) {
            return Run { reading: hold::reading(held), ..self.skipped(hook, "") };
        }
        let started = self.host.clock.now();
        let clock = Instant::now();
        let kind = hook.handler.kind();
        let profile = dialect.profile();
        let executor = self.executors.get(kind);
        if hook.background && executor.is_some() && self.background == Background::PutOff {
            let rule = "it runs in the background; what it says comes with a later event";
            let reading = Reading::new(Status::Background, Answer::default(), rule);
            return Run { reading, ..self.skipped(hook, "") };
        }
        let output = match executor {
            Some(executor) => {
                if hook.once && !self.spend(hook) {
                    return self.skipped(hook, "once: it ran already in this session");
                }
                for observer in self.observers {
                    observer.started(&progress.event, hook);
                }
                for directory in dialect.directories(&cx) {
                    if let Err(error) = hook_state::make_directory(&directory) {
                        made.push(Note::warning(format!("{} cannot be made: {error}", directory.display())));
                    }
                }
                let environment = environment::environment(dialect, &cx);
                let directory = working_directory(profile, self.host, cx.event);
                let call = Call {
                    input: match &hook.handler {
                        Handler::Prompt(asked) | Handler::Agent(asked) => {
                            dialect.prompt_arguments(&cx, &asked.prompt)
                        }
                        _ => waking::told(dialect.write_event(&cx), cx.event),
                    }
                    .into_bytes(),
                    asking: profile.asking,
                    http: profile.http,
                    arguments: profile.arguments,
                    template: match &hook.handler {
                        Handler::Http(_) | Handler::Mcp(_) => {
                            waking::values(dialect.template_values(&cx), cx.event)
                        }
                        _ => TemplateValues::default(),
                    },
                    placeholders: environment::placeholders(dialect, &cx, &environment),
                    environment,
                    shell_prefix: dialect.shell_prefix(&cx),
                    directory,
                    timeout: timeout(hook, profile, progress.budget),
                };
                match profile.net {
                    None => executor.run(&cx, call).await,
                    Some(rule) => {
                        let limit = net(Some(call.timeout), rule, profile.max_timeout);
                        match tokio::time::timeout(limit, executor.run(&cx, call)).await {
                            Ok(output) => output,
                            Err(_) => caught(limit),
                        }
                    }
                }
            }
            None => {
                let message = match (&hook.handler, &hook.disabled_because) {
                    (Handler::Unknown { .. }, Some(why)) => {
                        format!("the hook at {} is broken: {why}", hook.origin)
                    }
                    _ => nobody_runs(kind, self.host),
                };
                if hook.on_failure.for_kind(FailureKind::Spawn, profile.on_failure) == OnFailure::Continue {
                    return self.skipped(hook, &message);
                }
                HandlerOutput::Failure(HandlerFailure {
                    kind: FailureKind::Spawn,
                    message,
                    notes: Vec::new(),
                })
            }
        };
        let mut reading = dialect.read_answer(&cx, &output);
        reading.notes.append(&mut made);
        if let Some(cap) = profile.text_cap {
            spill::long_texts(&mut reading, cap, self.sessions, self.session_key);
        }
        if hook.background && self.background == Background::Mute && reading.answer != Answer::default() {
            reading.answer = Answer::default();
            reading.notes.push(Note::info(
                "a background hook decides nothing; what it tells the model comes with a later event",
            ));
        }
        if hook.once
            && executor.is_some()
            && profile.once == OnceRule::Succeeded
            && (reading.status != Status::Ok || reading.answer.decision == Decision::Deny)
        {
            self.unspend(hook);
        }
        let (stderr, exit_code) = match &output {
            HandlerOutput::Process(process) => {
                let code = match process.exit {
                    Exit::Code(code) => Some(code),
                    Exit::Signal(_) => None,
                };
                (process.stderr.text.trim().to_owned(), code)
            }
            HandlerOutput::Failure(failure) => (failure.message.clone(), None),
            _ => (String::new(), None),
        };
        Run {
            hook: hook.clone(),
            generation: self.generation,
            started,
            duration: clock.elapsed(),
            reading,
            stderr,
            exit_code,
        }
    }

    /// Marks a `once` hook as spent; false where it was already. Two processes never both get true.
    fn spend(&self, hook: &Hook) -> bool {
        let mut first = false;
        let mut mark =
            |state: &mut hook_core::SessionState| first = state.spent.insert(hook.id.as_str().to_owned());
        match self.sessions.update(self.session_key, &mut mark) {
            Ok(_) => first,
            // A store that cannot be written must not switch a guard off.
            Err(_) => true,
        }
    }

    /// A `once` hook that failed or blocked has not done its work yet.
    fn unspend(&self, hook: &Hook) {
        // Where the store cannot be written the mark was not set either.
        let _ = self.sessions.update(self.session_key, &mut |state| {
            state.spent.remove(hook.id.as_str());
        });
    }

    /// Takes over what the hook wrote to the env file. All lines are read again; a variable never disappears.
    fn take_variables(&self, dialect: &dyn Dialect, run: &Run, progress: &mut Progress) {
        let Some(path) = progress.session.env_file.as_deref().filter(|_| run.ran()) else { return };
        let protected = dialect.profile().protected_variables;
        let state = &progress.session.state;
        let kind = &progress.event.kind;
        // The file is read from its start each time, so a line that extends a variable must see what stood there before the
        // file, or the variable grows with every hook. Names that the file no longer sets keep their value.
        let read = |base: &dyn Fn(&str) -> Option<String>| env_file::read(path, base, protected);
        let file = read(&|_| None).and_then(|first| {
            if first.vars.is_empty() {
                return Ok(first);
            }
            let own = |name: &str| first.vars.iter().any(|(known, _)| known == name);
            let earlier = |name: &str| passing::before(state, kind, name, own(name)).cloned();
            read(&|name| earlier(name).or_else(|| self.host.variable(name).map(String::from)))
        });
        let file = match file {
            Ok(file) => file,
            Err(error) => {
                progress.notes.push(Note::warning(format!("env file {}: {error}", path.display())));
                return;
            }
        };
        for line in &file.skipped {
            let note = Note::warning(format!("env file {}: {line}", path.display()));
            if !progress.notes.contains(&note) {
                progress.notes.push(note);
            }
        }
        let mut after = state.clone();
        let known = passing::variables(&mut after, kind);
        let fresh: Vec<(String, String)> =
            file.vars.into_iter().filter(|(name, value)| known.get(name) != Some(value)).collect();
        if fresh.is_empty() {
            return;
        }
        let mut merge = |state: &mut hook_core::SessionState| {
            passing::variables(state, kind).extend(fresh.iter().cloned());
        };
        match self.sessions.update(self.session_key, &mut merge) {
            Ok(state) => progress.session.state = state,
            Err(error) => progress.notes.push(Note::warning(error.to_string())),
        }
    }

    fn skipped(&self, hook: &Arc<Hook>, why: &str) -> Run {
        Run {
            hook: hook.clone(),
            generation: self.generation,
            started: self.host.clock.now(),
            duration: Duration::ZERO,
            reading: Reading::new(Status::Skipped, Answer::default(), why),
            stderr: String::new(),
            exit_code: None,
        }
    }
}

/// Why no handler of this kind is run by an engine that was given nobody for it, in words for people. Nothing runs them before
/// somebody does ([`EngineBuilder::model`](crate::EngineBuilder::model), for instance).
pub fn nobody_runs(kind: HandlerKind, host: &HostContext) -> String {
    match kind {
        HandlerKind::Prompt => {
            let folder = host.config.as_deref().unwrap_or(Path::new("~/.config/hook"));
            format!(
                "{}: no model is configured; name one under `settings.model` of your user file ({})",
                ModelError::NotConfigured,
                folder.join("hooks.json").display()
            )
        }
        HandlerKind::Mcp => "the host names no MCP servers and brings no clients".to_owned(),
        kind => format!("nothing here runs handlers of type {}", kind.name()),
    }
}

const SHORT_CIRCUIT: &str = "an earlier answer ended the run";

/// Where context or a rewrite ended the run, hooks after it saw nothing; a guard among them lets everything through
/// ("Shell hooks module for Amplifier, Parallel execution": any answer but continue ends a sequence).
fn cut_short(runs: &[Run]) -> Option<Note> {
    let unseen = runs.iter().filter(|run| run.reading.rule == SHORT_CIRCUIT).count();
    let last = runs.iter().rfind(|run| run.ran() && run.reading.answer.acts())?;
    let denied = runs.iter().any(|run| run.reading.answer.decision == Decision::Deny);
    (unseen > 0 && !denied).then(|| {
        let hooks = if unseen == 1 { "1 hook".to_owned() } else { format!("{unseen} hooks") };
        Note::warning(format!(
            "the answer of {} ({}) ended the run, so {hooks} after it did not see this event; put guards before hooks that add something",
            last.hook.origin, last.reading.rule
        ))
    })
}

/// A handler that did not keep its own time.
fn caught(limit: Duration) -> HandlerOutput {
    let message =
        format!("the handler did not end in its own time, and was given up after {} s", limit.as_secs());
    HandlerOutput::Failure(HandlerFailure { kind: FailureKind::Timeout, message, notes: Vec::new() })
}

/// The timeout of a hook, within the budget that its stage has left.
fn timeout(hook: &Hook, profile: &Profile, budget: Option<(Instant, Budget)>) -> Duration {
    let Some((began, budget)) = budget else { return effective_timeout(hook, profile) };
    let own = match budget.default {
        Some(default) if hook.limits.timeout.is_none() => default,
        _ => effective_timeout(hook, profile),
    };
    own.min(budget.total.saturating_sub(began.elapsed())).max(MIN_TIMEOUT)
}

fn working_directory(profile: &Profile, host: &HostContext, event: &Event) -> std::path::PathBuf {
    match &event.session.cwd {
        Some(cwd) if cwd.is_absolute() && !profile.runs_in_project => cwd.clone(),
        _ => host.project.clone(),
    }
}
