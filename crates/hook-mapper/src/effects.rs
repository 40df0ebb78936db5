//! Names of effects, for the list of what an agent could not carry.

use hook_core::Effect;

/// What an effect is, in words.
pub(crate) fn label(effect: &Effect) -> &'static str {
    match effect {
        Effect::Context { .. } => "context",
        Effect::Feedback { .. } => "feedback",
        Effect::Message { .. } => "a message",
        Effect::SessionTitle { .. } => "a session title",
        Effect::InitialPrompt { .. } => "a first prompt",
        Effect::ReplaceContent { .. } => "replaced content",
        Effect::HidePrompt => "hiding the prompt",
        Effect::WatchPaths { .. } => "paths to watch",
        Effect::ReloadSkills => "reading the skills anew",
        Effect::Retry => "a retry",
        Effect::Interrupt => "an interrupt",
        Effect::Permissions { .. } => "changes of permission rules",
        Effect::Elicitation { .. } => "an answer to an MCP server",
        Effect::WorktreePath { .. } => "a worktree path",
        Effect::DisplayContent { .. } => "other text on screen",
        Effect::ClassifierContext { .. } => "a note for the permission classifier",
        Effect::TerminalSequence { .. } => "a terminal sequence",
        _ => "an effect",
    }
}
