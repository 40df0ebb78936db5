//! The `settings` block of native files.
//!
//! A project, a local or a pack file may only tighten: of every setting it may name the strictest value, nothing else.

use hook_core::diagnostic::codes;
use hook_core::{Layer, ReplyPolicy};

use crate::json::{Kind, Member, Node};
use crate::report::{Report, step};

/// What becomes of something that an agent cannot carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsupported {
    /// It is dropped and reported.
    Drop,
    /// It becomes a deny on guard events.
    Deny,
}

/// What a failure of the engine itself means on a guard event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineFailureMode {
    /// The agent goes on.
    Allow,
    /// The guarded action is held back.
    Deny,
}

/// What becomes of a hook that nobody approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Untrusted {
    /// A human is asked.
    Ask,
    /// It is left out, with a message.
    Skip,
    /// The guarded action is held back.
    Deny,
}

/// The settings of all files together. `None`: nobody said anything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Agents whose own files are read, too (`sources`).
    pub sources: Vec<String>,
    /// An `ask` that the agent cannot ask (`askUnsupported`).
    pub ask_unsupported: Option<Unsupported>,
    /// A rewrite that the agent cannot apply (`rewriteUnsupported`).
    pub rewrite_unsupported: Option<Unsupported>,
    /// A failure of the engine denies even where no hook is configured (`failClosed`).
    pub fail_closed: Option<bool>,
    /// A failure of the engine where a hook is configured (`onEngineFailure`).
    pub on_engine_failure: Option<EngineFailureMode>,
    /// A hook that nobody approved (`untrusted`).
    pub untrusted: Option<Untrusted>,
}

const NAMES: &[&str] =
    &["sources", "askUnsupported", "rewriteUnsupported", "failClosed", "onEngineFailure", "untrusted"];

impl Settings {
    /// The policy with what the settings say of it.
    #[must_use]
    pub fn reply_policy(&self, mut policy: ReplyPolicy) -> ReplyPolicy {
        if let Some(value) = self.ask_unsupported {
            policy.deny_unsupported_ask = value == Unsupported::Deny;
        }
        if let Some(value) = self.rewrite_unsupported {
            policy.deny_unsupported_rewrite = value == Unsupported::Deny;
        }
        if let Some(value) = self.fail_closed {
            policy.fail_closed = value;
        }
        policy
    }

    /// Adds the settings of a file of less authority: it says what was not said, and may make stricter what was.
    pub(crate) fn add(&mut self, other: Settings) {
        for source in other.sources {
            if !self.sources.contains(&source) {
                self.sources.push(source);
            }
        }
        // `None` is less than every value, so the stricter one stays.
        self.ask_unsupported = self.ask_unsupported.max(other.ask_unsupported);
        self.rewrite_unsupported = self.rewrite_unsupported.max(other.rewrite_unsupported);
        self.fail_closed = self.fail_closed.max(other.fail_closed);
        self.on_engine_failure = self.on_engine_failure.max(other.on_engine_failure);
        self.untrusted = self.untrusted.max(other.untrusted);
    }
}

/// Reads the block of one file.
pub(crate) fn read(node: &Node, layer: Layer, report: &mut Report<'_>) -> Settings {
    let mut settings = Settings::default();
    let Kind::Object(members) = &node.kind else {
        report.wrong_type("/settings", node, "an object");
        return settings;
    };
    let mut block = Block { privileged: matches!(layer, Layer::Managed | Layer::User), layer, report };
    for member in members {
        let pointer = step("/settings", &member.key);
        match camel(&member.key).as_str() {
            "sources" => settings.sources = block.words(member, &pointer),
            "askUnsupported" => settings.ask_unsupported = block.word(member, &pointer, UNSUPPORTED),
            "rewriteUnsupported" => settings.rewrite_unsupported = block.word(member, &pointer, UNSUPPORTED),
            "onEngineFailure" => settings.on_engine_failure = block.word(member, &pointer, ENGINE_FAILURE),
            "untrusted" => settings.untrusted = block.word(member, &pointer, UNTRUSTED),
            "failClosed" => settings.fail_closed = block.flag(member, &pointer),
            _ => {
                let message = format!("{:?} is no setting; it has no effect", member.key);
                let mut finding = block.report.at(codes::UNKNOWN_FIELD, &pointer, member.key_span, message);
                finding.help = Some(format!("the settings are {}", NAMES.join(", ")));
                finding.suggestion =
                    block.report.nearest(&member.key, NAMES.iter().copied()).map(str::to_owned);
                block.report.push(finding);
            }
        }
    }
    settings
}

const UNSUPPORTED: &[(&str, Unsupported)] = &[("drop", Unsupported::Drop), ("deny", Unsupported::Deny)];
const ENGINE_FAILURE: &[(&str, EngineFailureMode)] =
    &[("allow", EngineFailureMode::Allow), ("deny", EngineFailureMode::Deny)];
const UNTRUSTED: &[(&str, Untrusted)] =
    &[("ask", Untrusted::Ask), ("skip", Untrusted::Skip), ("deny", Untrusted::Deny)];

struct Block<'r, 's> {
    privileged: bool,
    layer: Layer,
    report: &'r mut Report<'s>,
}

impl Block<'_, '_> {
    fn words(&mut self, member: &Member, pointer: &str) -> Vec<String> {
        if let Kind::Array(items) = &member.value.kind {
            let words: Option<Vec<String>> =
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
            if let Some(words) = words {
                return words;
            }
        }
        self.report.wrong_type(pointer, &member.value, "a list of strings");
        Vec::new()
    }

    /// One of the words, listed from the mildest to the strictest.
    fn word<T: Copy>(&mut self, member: &Member, pointer: &str, words: &[(&str, T)]) -> Option<T> {
        let found = words.iter().position(|(word, _)| member.value.as_str() == Some(word));
        let Some(index) = found else {
            let names: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
            self.report.wrong_type(pointer, &member.value, &format!("one of {}", names.join(", ")));
            return None;
        };
        self.may(index + 1 == words.len(), member, pointer).then_some(words[index].1)
    }

    fn flag(&mut self, member: &Member, pointer: &str) -> Option<bool> {
        let Some(value) = member.value.as_bool() else {
            self.report.wrong_type(pointer, &member.value, "a boolean");
            return None;
        };
        self.may(value, member, pointer).then_some(value)
    }

    fn may(&mut self, strictest: bool, member: &Member, pointer: &str) -> bool {
        if self.privileged || strictest {
            return true;
        }
        let message =
            format!("a {} file may only make {:?} stricter; it is left out", self.layer, member.key);
        let finding = self.report.at(codes::SETTING_NOT_ALLOWED_HERE, pointer, member.value.span, message);
        self.report.push(finding.help("set it in your user file"));
        false
    }
}

/// `on_engine_failure` as `onEngineFailure`.
fn camel(key: &str) -> String {
    let mut parts = key.split('_');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}
