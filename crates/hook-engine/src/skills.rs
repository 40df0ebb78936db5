//! The skills that a session has loaded, and the hooks they brought.
//!
//! What an agent says of a skill is kept in the session's state, so that the next process knows it, too. Its hooks are compiled
//! once per change and stand after all hooks of files, skills in the order of their first load
//! ("Shell hooks module for Amplifier, Lifecycle scoping").

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use hook_config::{Parsed, Settings};
use hook_core::{
    Control, ControlMessage, Diagnostic, Event, EventKind, Hook, Level, LoadedSkill, Note, Scope,
    SessionState, Severity, Skills,
};
use hook_mapper::Dialects;
use hook_registry::Generation;
use serde_json::Value;

/// Sessions whose compiled hooks are remembered; beyond that the memory starts anew.
const MEMORY: usize = 1024;

/// Numbers of groups of loaded skills begin here, above those of files.
pub(crate) const FIRST_GROUP: usize = usize::MAX / 2;

/// True where a hook of a file is in force for this event in this session.
pub(crate) fn in_force(scope: &Scope, event: &Event, state: &SessionState) -> bool {
    match scope {
        Scope::Always => true,
        // Hooks that the agent sent along are those of the file; nobody wants them twice.
        Scope::Skill(name) => {
            state.skills.iter().any(|skill| is_called(&skill.name, name) && skill.hooks.is_null())
        }
        Scope::Agent(name) => event.session.agent_type.as_deref() == Some(name),
        _ => false,
    }
}

/// A call may put a plugin or a directory before the name. Where that means several skills, the hooks of all are in force: one
/// guard too many is better than one too few.
fn is_called(called: &str, name: &str) -> bool {
    called == name || called.rsplit_once(':').is_some_and(|(_, own)| own == name)
}

/// Why a hook is not in force, for people.
pub(crate) fn not_in_force(scope: &Scope, event: &Event, state: &SessionState) -> String {
    match (scope, &event.session.agent_type) {
        (Scope::Skill(name), _) if state.skills.iter().any(|skill| is_called(&skill.name, name)) => {
            format!("the agent sent the hooks of the skill {name} along; those count")
        }
        (Scope::Skill(name), _) => format!("the session has not loaded the skill {name}"),
        (Scope::Agent(name), Some(running)) => format!("it belongs to the agent {name}, and {running} runs"),
        (Scope::Agent(name), None) => format!("it belongs to the agent {name}, which does not run"),
        _ => "it is not in force".to_owned(),
    }
}

/// Takes a control message into the state of its session. Gives what there is to say of it, for the log.
pub(crate) fn apply(state: &mut SessionState, control: &Control) {
    match &control.message {
        ControlMessage::SkillLoaded { name, directory, hooks } => {
            let skill = LoadedSkill {
                name: name.clone(),
                dialect: control.dialect.0.to_owned(),
                directory: directory.clone(),
                hooks: hooks.clone(),
            };
            match state.skills.to_mut().iter_mut().find(|known| known.name == *name) {
                // A call of a skill that is loaded already says nothing new of its hooks.
                Some(known) if hooks.is_null() && !known.hooks.is_null() => {}
                Some(known) => *known = skill,
                None => state.skills.to_mut().push(skill),
            }
        }
        ControlMessage::SkillUnloaded { name } => state.skills.to_mut().retain(|skill| skill.name != *name),
        _ => {}
    }
}

/// What a control message comes to, for the log.
pub(crate) fn notes(control: &Control, dialects: &Dialects) -> Vec<Note> {
    match &control.message {
        ControlMessage::SkillLoaded { hooks, .. } if hooks.is_null() => Vec::new(),
        ControlMessage::SkillLoaded { name, directory, hooks } => {
            let parsed = read(name, directory.as_deref(), hooks, control.dialect.0, dialects);
            let mut notes: Vec<Note> =
                parsed.iter().flat_map(|parsed| &parsed.diagnostics).map(said).collect();
            let count: usize = parsed
                .iter()
                .filter_map(|parsed| parsed.document.as_ref())
                .flat_map(|document| &document.bindings)
                .map(|binding| binding.hooks.len())
                .sum();
            notes.push(Note::info(format!("the skill {name} was loaded with {count} hooks")));
            notes
        }
        ControlMessage::SkillUnloaded { name } => {
            vec![Note::info(format!("the skill {name} was unloaded"))]
        }
        _ => vec![Note::info("a control message of the agent that this version does not know")],
    }
}

fn said(finding: &Diagnostic) -> Note {
    let place = match (finding.location(), &finding.file) {
        (Some(place), _) => format!("{place}: "),
        (None, Some(file)) => format!("{}: ", file.display()),
        (None, None) => String::new(),
    };
    let text = format!("{place}{}", finding.message);
    let level = match finding.severity {
        Severity::Error => Level::Error,
        Severity::Info => Level::Info,
        _ => Level::Warning,
    };
    Note { level, text }
}

/// The hooks of one loaded skill; `None` where it brought none, or its dialect is not known here.
fn read(
    name: &str,
    directory: Option<&Path>,
    hooks: &Value,
    dialect: &str,
    dialects: &Dialects,
) -> Option<Parsed> {
    let dialect = dialects.find(dialect).filter(|_| !hooks.is_null())?.profile().id;
    Some(hook_config::skill_document(name, directory, hooks, dialect, dialects))
}

/// The compiled hooks of loaded skills, per session.
pub(crate) struct SkillHooks {
    settings: Settings,
    /// The only events of this engine.
    only: Option<Vec<EventKind>>,
    known: Mutex<HashMap<String, Known>>,
}

struct Known {
    skills: Skills,
    generation: Arc<Generation>,
}

impl SkillHooks {
    pub(crate) fn new(settings: Settings, only: Option<Vec<EventKind>>) -> SkillHooks {
        SkillHooks { settings, only, known: Mutex::default() }
    }

    /// The hooks of one skill that this engine may need: a process that lives for one event reads those of that event.
    fn needed(&self, skill: &LoadedSkill, dialects: &Dialects) -> Option<Parsed> {
        let (Some(only), Value::Object(events), Some(dialect)) =
            (&self.only, &skill.hooks, dialects.find(&skill.dialect))
        else {
            return read(&skill.name, skill.directory.as_deref(), &skill.hooks, &skill.dialect, dialects);
        };
        let hears = |name: &str| {
            dialect.event_row(name).is_some_and(|row| row.hears.iter().any(|kind| only.contains(kind)))
        };
        let hooks: serde_json::Map<String, Value> = events
            .iter()
            .filter(|(name, _)| hears(name))
            .map(|(name, groups)| (name.clone(), groups.clone()))
            .collect();
        if hooks.is_empty() {
            return None;
        }
        read(&skill.name, skill.directory.as_deref(), &hooks.into(), &skill.dialect, dialects)
    }

    /// The hooks that the session's skills brought along; `None` where there are none.
    pub(crate) fn generation(
        &self,
        session: &str,
        state: &SessionState,
        dialects: &Dialects,
        guard: &dyn Fn(&Hook) -> bool,
    ) -> Option<Arc<Generation>> {
        if state.skills.iter().all(|skill| skill.hooks.is_null()) {
            return None;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = known.get(session).filter(|entry| entry.skills == state.skills) {
            return Some(entry.generation.clone());
        }
        let mut documents: Vec<_> =
            state.skills.iter().filter_map(|skill| self.needed(skill, dialects)?.document).collect();
        self.settings.hold(&mut documents);
        let (generation, _) = Generation::build(0, &documents, self.only.as_deref(), guard);
        let generation = Arc::new(generation);
        if known.len() >= MEMORY {
            known.clear();
        }
        known.insert(
            session.to_owned(),
            Known { skills: state.skills.clone(), generation: generation.clone() },
        );
        Some(generation)
    }

    /// Forgets a session.
    pub(crate) fn forget(&self, session: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }
}
