//! Prompt hooks as Claude Code has them, shared with the native dialect ("Claude Code hooks reference, Prompt-based hooks" and
//! "Agent-based hooks").

use hook_core::{Answer, Audience, Effect, Event, EventKind, Handler, Level};
use serde_json::Value;

use crate::verdict::Judgement;

/// The reference lets authors ask in their own words and wants the client to see to the form of the answer.
pub(super) const INSTRUCTIONS: &str = "You judge one event of a coding agent for its user. The message says what to judge. \
    Answer with one JSON object and nothing else: {\"ok\": true} if it may go on, else {\"ok\": false, \"reason\": \"why not, in \
    one or two sentences\"}. Where what is missing can never be had, add \"impossible\": true.";

/// The word that stands for the event.
const PLACEHOLDER: &str = "$ARGUMENTS";

/// The template with the event's document in place of every `$ARGUMENTS`, or behind it where there is none. A backslash makes a
/// `$` an ordinary character.
pub(super) fn expand(template: &str, document: &str) -> String {
    let mut out = String::with_capacity(template.len() + document.len());
    let mut rest = template;
    let mut filled = false;
    while let Some(at) = rest.find(['\\', '$']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("\\$") {
            out.push('$');
            rest = after;
        } else if let Some(after) = rest.strip_prefix(PLACEHOLDER) {
            out.push_str(document);
            filled = true;
            rest = after;
        } else {
            // Both characters are one byte long.
            out.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    if !filled {
        out.push_str("\n\n");
        out.push_str(document);
    }
    out
}

/// What a verdict that is not ok does on this event; `None` where it does nothing. `fallback` stands in for a missing reason.
pub(super) fn refused(
    event: &Event,
    handler: &Handler,
    judgement: &Judgement,
    fallback: &str,
) -> Option<Answer> {
    use EventKind::{
        PostToolBatch, PostToolUse, PostToolUseFailure, PreToolUse, Stop, SubagentStop, TaskCompleted,
        TaskCreated, TeammateIdle, UserPromptExpansion, UserPromptSubmit,
    };
    // Agents always let the turn go on, and never give up on a stop.
    let (goes_on, impossible) = match handler {
        Handler::Prompt(asked) => (asked.continue_on_block, judgement.impossible),
        _ => (true, false),
    };
    let reason = Some(judgement.reason.trim()).filter(|reason| !reason.is_empty()).unwrap_or(fallback);
    let deny = |reason_to| Answer { reason_to, ..Answer::deny(reason) };
    let feedback =
        || Answer::default().with(Effect::Feedback { text: reason.to_owned(), to: Audience::Model });
    let ends = |answer| Answer { stop: true, stop_reason: Some(reason.to_owned()), ..answer };
    Some(match event.kind {
        Stop | SubagentStop if impossible => {
            Answer::default().with(Effect::Message { text: reason.to_owned(), level: Level::Info })
        }
        PreToolUse if !goes_on => ends(deny(Audience::User)),
        PostToolUse if !goes_on => ends(Answer::default()),
        PostToolUse | PostToolUseFailure => feedback(),
        PostToolBatch | UserPromptSubmit | UserPromptExpansion => ends(deny(Audience::User)),
        TaskCompleted if !goes_on && of_teammate(event) => ends(deny(Audience::Model)),
        TeammateIdle if !goes_on => ends(Answer::default()),
        Stop | SubagentStop | PreToolUse | TaskCreated | TaskCompleted | TeammateIdle => {
            deny(Audience::Model)
        }
        _ => return None,
    })
}

/// The event may come from a teammate that ended its turn; where a tool call closed the task the agent ignores a stop.
fn of_teammate(event: &Event) -> bool {
    event.fields.get("teammate_name").and_then(Value::as_str).is_some_and(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn the_document_takes_the_place_of_the_word_or_stands_behind() {
        for (template, expected) in [
            ("Fine? $ARGUMENTS", "Fine? {$ARGUMENTS}"),
            ("$ARGUMENTS and $ARGUMENTS", "{$ARGUMENTS} and {$ARGUMENTS}"),
            ("Fine?", "Fine?\n\n{$ARGUMENTS}"),
            ("", "\n\n{$ARGUMENTS}"),
            (r"Not \$ARGUMENTS", "Not $ARGUMENTS\n\n{$ARGUMENTS}"),
            (r"\$5 for $ARGUMENTS", "$5 for {$ARGUMENTS}"),
            (r"a\b \\ $1 $ \", "a\\b \\\\ $1 $ \\\n\n{$ARGUMENTS}"),
            ("${ARGUMENTS} é$ARGUMENTSé", "${ARGUMENTS} é{$ARGUMENTS}é"),
        ] {
            assert_eq!(expand(template, "{$ARGUMENTS}"), expected, "{template}");
        }
    }
}
