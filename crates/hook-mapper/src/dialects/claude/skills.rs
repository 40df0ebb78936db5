//! When a skill's or a command's own hooks come into force: when the model calls the tool `Skill`, or a typed command expands
//! ("Claude Code hooks reference, Hooks in skills and agents").

use hook_core::{Control, ControlMessage, Event, EventKind};
use serde_json::Value;

use super::profile::PROFILE;
use crate::values;

/// The message to the engine that goes along with an event; the hooks themselves stand in the skill's file.
pub(super) fn control(event: &Event) -> Option<Control> {
    let name = match event.kind {
        EventKind::PostToolUse => {
            let tool = event.tool.as_ref().filter(|tool| tool.name == "Skill")?;
            let Value::Object(input) = &tool.input else { return None };
            values::some_text(values::first(input, &["skill", "name", "command"]))?
        }
        EventKind::UserPromptExpansion => values::some_text(event.fields.get("command_name"))?,
        _ => return None,
    };
    let name = name.trim_start_matches('/').to_owned();
    let message = ControlMessage::SkillLoaded { name, directory: None, hooks: Value::Null };
    Some(Control { dialect: PROFILE.id, session: event.session.clone(), message })
}
