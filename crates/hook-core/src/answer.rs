//! What one hook said, in neutral form.

use serde::Serialize;
use serde_json::Value;

use crate::exec::FailureKind;

/// A decision on the guarded action. The order is the precedence: a later variant beats an earlier one
/// ("Claude Code hooks reference, PreToolUse decision control": deny > defer > ask > allow > none).
///
/// On stop events `Deny` keeps the agent going.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// No opinion.
    #[default]
    None,
    /// Allow without asking.
    Allow,
    /// Ask a human.
    Ask,
    /// Put off; the host decides later.
    Defer,
    /// Block.
    Deny,
}

impl Decision {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Decision::None => "none",
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Defer => "defer",
            Decision::Deny => "deny",
        }
    }
}

/// Who reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Audience {
    /// The model.
    #[default]
    Model,
    /// The user.
    User,
    /// Nobody: the agent drops it.
    Nobody,
}

/// How loud a message to the user is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For information.
    #[default]
    Info,
    /// Something did not work.
    Warning,
    /// Something is broken.
    Error,
}

/// Something a hook wants beside its decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "effect", rename_all = "camelCase")]
#[non_exhaustive]
pub enum Effect {
    /// Text for the model's context.
    Context {
        /// The text.
        text: String,
    },
    /// Text beside something that already happened (a tool's result), for whom it concerns.
    Feedback {
        /// The text.
        text: String,
        /// Its reader.
        to: Audience,
    },
    /// A message for the user.
    Message {
        /// The text.
        text: String,
        /// Its level.
        level: Level,
    },
    /// A new title of the session.
    SessionTitle {
        /// The title.
        text: String,
    },
    /// A first prompt of a session without one.
    InitialPrompt {
        /// The prompt.
        text: String,
    },
    /// Other content for the prompt or the tool: a string, or a new input object (Amplifier's `newContent`).
    ReplaceContent {
        /// The content.
        content: Value,
    },
    /// Hide the refused prompt's text.
    HidePrompt,
    /// Files whose changes the agent should report.
    WatchPaths {
        /// Absolute paths.
        paths: Vec<String>,
    },
    /// Read the skills anew.
    ReloadSkills,
    /// The model may try a refused call again.
    Retry,
    /// Stop the model after a refusal.
    Interrupt,
    /// Changes of the agent's permission rules, in Claude Code's form.
    Permissions {
        /// The entries.
        updates: Value,
    },
    /// An answer to an MCP server's question.
    Elicitation {
        /// `accept`, `decline` or `cancel`.
        action: String,
        /// The content, with `accept`.
        content: Option<Value>,
    },
    /// The path of a created worktree.
    WorktreePath {
        /// The path.
        path: String,
    },
    /// Replaces a piece of an assistant message on screen.
    DisplayContent {
        /// The text.
        text: String,
    },
    /// A note for the permission classifier.
    ClassifierContext {
        /// The text.
        text: String,
    },
    /// A control sequence for the user's terminal.
    TerminalSequence {
        /// The sequence.
        text: String,
    },
}

/// What one hook said, or what several said together.
///
/// The neutral element is [`Answer::default`]: no opinion and no effect.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The decision.
    pub decision: Decision,
    /// Why.
    pub reason: Option<String>,
    /// Who reads the reason.
    pub reason_to: Audience,
    /// Another input for the tool; replaces the whole object.
    pub updated_input: Option<Value>,
    /// Another result for the model to see.
    pub updated_output: Option<Value>,
    /// Stop the agent after this event.
    pub stop: bool,
    /// What the user is told about the stop.
    pub stop_reason: Option<String>,
    /// Everything else.
    pub effects: Vec<Effect>,
}

impl Answer {
    /// A deny with its reason.
    pub fn deny(reason: impl Into<String>) -> Answer {
        Answer { decision: Decision::Deny, reason: Some(reason.into()), ..Answer::default() }
    }

    /// An allow.
    pub fn allow() -> Answer {
        Answer { decision: Decision::Allow, ..Answer::default() }
    }

    /// A question to a human, with its reason.
    pub fn ask(reason: impl Into<String>) -> Answer {
        Answer { decision: Decision::Ask, reason: Some(reason.into()), ..Answer::default() }
    }

    /// Text for the model's context, no decision.
    pub fn context(text: impl Into<String>) -> Answer {
        Answer { effects: vec![Effect::Context { text: text.into() }], ..Answer::default() }
    }

    /// A rewritten tool input, no decision.
    pub fn rewrite(input: Value) -> Answer {
        Answer { updated_input: Some(input), ..Answer::default() }
    }

    /// Adds an effect.
    #[must_use]
    pub fn with(mut self, effect: Effect) -> Answer {
        self.effects.push(effect);
        self
    }

    /// The texts for the model's context, in order.
    pub fn contexts(&self) -> impl Iterator<Item = &str> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Context { text } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The messages for the user, in order.
    pub fn messages(&self) -> impl Iterator<Item = (&str, Level)> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Message { text, level } => Some((text.as_str(), *level)),
            _ => None,
        })
    }

    /// True where the answer holds back, stops, rewrites or adds something: anything but silence, an allow, or a message
    /// to the user. This is what ends an Amplifier chain ("Shell hooks module for Amplifier, Parallel execution").
    pub fn acts(&self) -> bool {
        self.decision > Decision::Allow
            || self.stop
            || self.updated_input.is_some()
            || self.updated_output.is_some()
            || self.effects.iter().any(|effect| !matches!(effect, Effect::Message { .. }))
    }
}

/// How a run of a hook ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Status {
    /// It answered.
    Ok,
    /// It blocked by its exit code.
    Blocked,
    /// It failed.
    Error,
    /// Its time was up.
    Timeout,
    /// What it said does not count on this event.
    Ignored,
    /// It runs in the background; what it says comes with a later event.
    Background,
    /// It was chosen and not run; the run's rule says why.
    Skipped,
}

impl Status {
    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Blocked => "blocked",
            Status::Error => "error",
            Status::Timeout => "timeout",
            Status::Ignored => "ignored",
            Status::Background => "background",
            Status::Skipped => "skipped",
        }
    }
}

/// What a hook's standard output was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StdoutForm {
    /// Nothing.
    Empty,
    /// Plain text.
    Text,
    /// An answer document.
    Json,
    /// Braces around something that is no JSON.
    InvalidJson,
    /// JSON that is no answer document.
    SchemaError,
}

/// A remark on one run, for the person who wrote the hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// How serious.
    pub level: Level,
    /// What, and what to do.
    pub text: String,
}

impl Note {
    /// A hint.
    pub fn info(text: impl Into<String>) -> Note {
        Note { level: Level::Info, text: text.into() }
    }

    /// A warning.
    pub fn warning(text: impl Into<String>) -> Note {
        Note { level: Level::Warning, text: text.into() }
    }
}

/// One hook's output, read by its dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The answer.
    pub answer: Answer,
    /// How the run ended.
    pub status: Status,
    /// The rule that gave this answer, in the words of the dialect's public reference (`exit 2 blocks`).
    pub rule: String,
    /// What the standard output was taken for.
    pub stdout: Option<StdoutForm>,
    /// The kind of failure, where it failed.
    pub failure: Option<FailureKind>,
    /// Remarks.
    pub notes: Vec<Note>,
}

impl Reading {
    /// A reading without remarks.
    pub fn new(status: Status, answer: Answer, rule: impl Into<String>) -> Reading {
        Reading { answer, status, rule: rule.into(), stdout: None, failure: None, notes: Vec::new() }
    }
}
