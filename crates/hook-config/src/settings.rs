//! The `settings` block of native files.
//!
//! A project, a local or a pack file may only tighten: of every setting it may name the strictest value, nothing else.

mod http;
mod model;

use std::collections::BTreeMap;
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{Diagnostic, DialectId, Document, Layer, ReplyPolicy, Source};
use hook_mapper::Dialects;

use crate::disabled::{self, DisabledId};
use crate::formats;
use crate::json::{Kind, Member, Node};
use crate::module::{self, ModuleSettings};
use crate::report::{Report, step};

pub use model::ModelChoice;

pub use http::HttpSettings;

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
    /// Hooks that are switched off by their ids (`disabled`), all files' lists together.
    pub disabled: Vec<DisabledId>,
    /// Bounds of http hooks (`http`).
    pub http: HttpSettings,
    /// Files whose settings name MCP servers (`mcpServers`), with their layers, user and managed ones only. They are read when
    /// somebody needs them ([`load_servers`](crate::load_servers)).
    pub server_files: Vec<(Layer, Source)>,
    /// The model behind prompt hooks (`model`): that of the file of most authority, whole.
    pub model: ModelChoice,
    /// Settings of the hook modules of agents that have one (`agents`).
    pub agents: BTreeMap<DialectId, ModuleSettings>,
}

const NAMES: &[&str] = &[
    "sources",
    "askUnsupported",
    "rewriteUnsupported",
    "failClosed",
    "onEngineFailure",
    "untrusted",
    "disabled",
    "http",
    "model",
    "mcpServers",
    "agents",
];

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

    /// The tools whose end is the end of a subagent of this agent; `None` where nobody named any.
    pub fn subagent_tools(&self, agent: DialectId) -> Option<Vec<String>> {
        let usual = formats::module(agent).map_or(&[][..], |module| module.subagent_tools);
        self.agents.get(&agent)?.subagent_tools(usual)
    }

    /// Holds hooks that did not come from a file of their agent to the settings: those of the agent's module, the
    /// bounds of http hooks, and the list `disabled`. Ids have to be given out already.
    pub fn hold(&self, documents: &mut [Document]) {
        self.govern(documents);
        self.http.hold(documents);
        disabled::apply(&self.disabled, documents);
    }

    /// Holds the hooks of skills and subagents to the settings of their agent's module, and all hooks to its mode. Ids stay what
    /// they are: a mode makes no other hook.
    pub(crate) fn govern(&self, documents: &mut [Document]) {
        let hooks = documents.iter_mut().flat_map(|document| &mut document.bindings);
        for hook in hooks.flat_map(|binding| &mut binding.hooks) {
            let scoped = matches!(hook.origin.layer, Layer::Skill | Layer::Agent);
            let Some(module) = self.agents.get(&hook.dialect) else { continue };
            if scoped {
                module.govern(Arc::make_mut(hook));
            }
            if module.is_strict() {
                module.tighten(Arc::make_mut(hook));
            }
        }
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
        self.disabled.extend(other.disabled);
        self.http.add(other.http);
        if self.model == ModelChoice::Unsaid {
            self.model = other.model;
        }
        self.server_files.extend(other.server_files);
        for (agent, module) in other.agents {
            self.agents.entry(agent).or_default().add(module);
        }
    }
}

/// Reads the block of one file.
pub(crate) fn read(node: &Node, layer: Layer, dialects: &Dialects, report: &mut Report<'_>) -> Settings {
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
            "mcpServers" => {
                if block.privileged {
                    settings.server_files.push((layer, block.report.source.clone()));
                } else {
                    let message =
                        format!("a {layer} file may not add MCP servers to the settings; they are left out");
                    let finding = block.report.at(
                        codes::SETTING_NOT_ALLOWED_HERE,
                        &pointer,
                        member.value.span,
                        message,
                    );
                    block.report.push(
                        finding.help(
                            "write them into `.mcp.json` of the project, or set them in your user file",
                        ),
                    );
                }
            }
            "disabled" => settings.disabled = block.ids(member, &pointer),
            "http" => settings.http = http::read(&mut block, member, &pointer),
            "model" => settings.model = model::read(&mut block, member, &pointer),
            "agents" => settings.agents = agents(member, &pointer, layer, dialects, block.report),
            _ => block.unknown(member, &pointer, NAMES),
        }
    }
    settings
}

/// The modules' settings by agent.
fn agents(
    member: &Member,
    pointer: &str,
    layer: Layer,
    dialects: &Dialects,
    report: &mut Report<'_>,
) -> BTreeMap<DialectId, ModuleSettings> {
    let mut all: BTreeMap<DialectId, ModuleSettings> = BTreeMap::new();
    let Kind::Object(members) = &member.value.kind else {
        report.wrong_type(pointer, &member.value, "an object");
        return all;
    };
    let known = || formats::FORMATS.iter().filter(|format| format.module.is_some()).map(|format| format.id.0);
    for member in members {
        let pointer = step(pointer, &member.key);
        let agent = dialects.find(&member.key).map(|dialect| dialect.profile());
        match agent {
            Some(agent) if formats::module(agent.id).is_some() => {
                let mut module = module::read(&member.value, &pointer, layer, report);
                let modes = formats::module(agent.id).is_some_and(|module| module.strict.is_some());
                if let Some(mode) = module.mode.take_if(|_| !modes) {
                    let message = format!("{} has no \"mode\"; it has no effect", agent.title);
                    report.push(Diagnostic::new(codes::UNKNOWN_FIELD, message).at(mode.location, ""));
                }
                all.entry(agent.id).or_default().add(module);
            }
            agent => {
                let (code, message) = match agent {
                    Some(agent) => (
                        codes::UNKNOWN_FIELD,
                        format!("{} has no hook module with settings; they have no effect", agent.title),
                    ),
                    None => (
                        codes::UNKNOWN_DIALECT,
                        format!(
                            "{:?} is no agent that is known here; its settings have no effect",
                            member.key
                        ),
                    ),
                };
                let mut finding = report.at(code, &pointer, member.key_span, message);
                finding.suggestion = report.nearest(&member.key, known()).map(str::to_owned);
                let names: Vec<&str> = known().collect();
                report.push(finding.help(format!("agents with such settings: {}", names.join(", "))));
            }
        }
    }
    all
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
    fn unknown(&mut self, member: &Member, pointer: &str, names: &[&'static str]) {
        let message = format!("{:?} is no setting; it has no effect", member.key);
        let mut finding = self.report.at(codes::UNKNOWN_FIELD, pointer, member.key_span, message);
        finding.help = Some(format!("the settings are {}", names.join(", ")));
        finding.suggestion = self.report.nearest(&member.key, names.iter().copied()).map(str::to_owned);
        self.report.push(finding);
    }

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

    /// A list of hook ids, each with its place.
    fn ids(&mut self, member: &Member, pointer: &str) -> Vec<DisabledId> {
        let Kind::Array(items) = &member.value.kind else {
            self.report.wrong_type(pointer, &member.value, "a list of ids");
            return Vec::new();
        };
        let mut ids = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(id) => ids.push(DisabledId {
                    id: id.to_owned(),
                    layer: self.layer,
                    location: self.report.locate(item.span),
                }),
                None => self.report.wrong_type(&step(pointer, index), item, "the id of a hook"),
            }
        }
        ids
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
