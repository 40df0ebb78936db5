//! Settings of an agent's hook module ("Shell hooks module for Amplifier, User controls"): what a host hands over when it
//! mounts the module, and the block `agents` of native files.
//!
//! Managed files, the host and user files decide, the first of them that names a setting. A project, a local or a pack file
//! may only tighten, and only for hooks of the project: it shortens their timeouts, closes its own directory, and adds tools
//! that end a subagent. To shorten the timeout of a user's guard would be a way to switch it off.

use std::time::Duration;

use hook_core::diagnostic::codes;
use hook_core::{Diagnostic, DialectId, Hook, Layer, Location, Source};

use crate::formats;
use crate::json::{self, Kind, Member, Node};
use crate::report::{Report, step};

/// A setting and the place it was made at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// The layer of its file; `code` for what the host handed over.
    pub layer: Layer,
    /// Where it stands.
    pub location: Location,
}

/// How an agent's module takes what it cannot decide ("Hook Configuration Guide": fail-soft; later versions know a strict mode).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// What fails goes on with a warning.
    Guide,
    /// On guard events it refuses.
    Strict,
}

/// The settings of one agent's hook module, as far as somebody made them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModuleSettings {
    /// False: none of the module's hooks runs (`enabled`).
    pub enabled: Option<Setting<bool>>,
    /// False: the user's directory is not read (`allow_user_hooks`).
    pub allow_user_hooks: Option<Setting<bool>>,
    /// False: the project's directory is not read (`allow_project_hooks`).
    pub allow_project_hooks: Option<Setting<bool>>,
    /// False: a deny is told and goes on (`allow_blocking`).
    pub allow_blocking: Option<Setting<bool>>,
    /// The timeout of hooks without one of their own (`default_timeout`, once `timeout`).
    pub default_timeout: Option<Setting<Duration>>,
    /// No hook runs longer (`max_timeout`).
    pub max_timeout: Option<Setting<Duration>>,
    /// Whether a guard that cannot decide refuses (`mode`).
    pub mode: Option<Setting<Mode>>,
    /// Tools whose end is the end of a subagent (`subagent_tools`).
    pub subagent_tools: Option<Setting<Vec<String>>>,
    /// The default that the project wants for its own hooks.
    pub project_default_timeout: Option<Setting<Duration>>,
    /// The bound that the project wants for its own hooks.
    pub project_max_timeout: Option<Setting<Duration>>,
    /// Tools that the project adds.
    pub project_subagent_tools: Vec<String>,
}

const NAMES: &[&str] = &[
    "enabled",
    "allow_user_hooks",
    "allow_project_hooks",
    "allow_blocking",
    "default_timeout",
    "max_timeout",
    "subagent_tools",
    "mode",
];

impl ModuleSettings {
    /// Joins what two places said.
    pub(crate) fn add(&mut self, other: ModuleSettings) {
        weigh(&mut self.enabled, other.enabled);
        weigh(&mut self.allow_user_hooks, other.allow_user_hooks);
        match other.allow_project_hooks {
            Some(closed) if !closed.value && !privileged(closed.layer) => {
                self.allow_project_hooks = Some(closed);
            }
            said => weigh(&mut self.allow_project_hooks, said),
        }
        weigh(&mut self.allow_blocking, other.allow_blocking);
        weigh(&mut self.default_timeout, other.default_timeout);
        weigh(&mut self.max_timeout, other.max_timeout);
        weigh(&mut self.subagent_tools, other.subagent_tools);
        // The stricter one counts, whoever says it.
        if other.mode.as_ref().map(|mode| mode.value) > self.mode.as_ref().map(|mode| mode.value) {
            self.mode = other.mode;
        }
        shorter(&mut self.project_default_timeout, other.project_default_timeout);
        shorter(&mut self.project_max_timeout, other.project_max_timeout);
        self.project_subagent_tools.extend(other.project_subagent_tools);
    }

    /// Holds a hook of this module to the settings.
    pub fn govern(&self, hook: &mut Hook) {
        let (default, most) = self.timeouts(hook.dialect, hook.origin.layer);
        hook.limits.timeout = hook.limits.timeout.or(default);
        hook.limits.ceiling = most;
        if let Some(most) = most {
            hook.limits.timeout = hook.limits.timeout.map(|timeout| timeout.min(most));
        }
        hook.may_block = self.allow_blocking.as_ref().is_none_or(|setting| setting.value);
        if let Some(off) = self.enabled.as_ref().filter(|setting| !setting.value) {
            hook.enabled = false;
            let why = || format!("the module's setting `enabled` is false at {}", off.location);
            hook.disabled_because.get_or_insert_with(why);
        }
    }

    /// Makes a hook strict where the agent has such a mode and somebody set it.
    pub(crate) fn tighten(&self, hook: &mut Hook) {
        if self.is_strict()
            && let Some(strict) = formats::module(hook.dialect).and_then(|module| module.strict)
        {
            strict(hook);
        }
    }

    /// True where somebody set the strict mode.
    pub fn is_strict(&self) -> bool {
        self.mode.as_ref().is_some_and(|mode| mode.value == Mode::Strict)
    }

    /// The default and the bound for hooks of this layer, as far as they are set.
    fn timeouts(&self, agent: DialectId, layer: Layer) -> (Option<Duration>, Option<Duration>) {
        let (default, most) = (value(&self.default_timeout), value(&self.max_timeout));
        if privileged(layer) {
            return (default, most);
        }
        let default = value(&self.project_default_timeout).or(default);
        let Some(own) = value(&self.project_max_timeout) else { return (default, most) };
        (default, Some(self.longest(agent).map_or(own, |longest| own.min(longest))))
    }

    /// The bound that is in force without the project's.
    fn longest(&self, agent: DialectId) -> Option<Duration> {
        value(&self.max_timeout).or_else(|| formats::module(agent).map(|module| module.max_timeout))
    }

    /// A bound that a project wants and that is none, because a shorter one is in force anyway.
    pub(crate) fn too_long(&self, agent: DialectId) -> Option<Diagnostic> {
        let own = self.project_max_timeout.as_ref()?;
        let longest = self.longest(agent)?;
        (own.value > longest).then(|| {
            let message = format!(
                "a {} file may only shorten \"max_timeout\", which is {} seconds here; that stays",
                own.layer,
                longest.as_secs_f64()
            );
            Diagnostic::new(codes::SETTING_NOT_ALLOWED_HERE, message)
                .at(own.location.clone(), "")
                .help("set it in your user file")
        })
    }

    /// The tools whose end is the end of a subagent, where somebody named some; `usual` are those of the agent.
    pub(crate) fn subagent_tools(&self, usual: &[&str]) -> Option<Vec<String>> {
        let set = self.subagent_tools.as_ref().map(|setting| setting.value.clone());
        if self.project_subagent_tools.is_empty() {
            return set;
        }
        let mut all = set.unwrap_or_else(|| usual.iter().map(|name| (*name).to_owned()).collect());
        all.extend(self.project_subagent_tools.iter().cloned());
        Some(all)
    }
}

/// True for layers whose word counts for everybody's hooks.
pub(crate) fn privileged(layer: Layer) -> bool {
    layer <= Layer::User
}

fn value(setting: &Option<Setting<Duration>>) -> Option<Duration> {
    setting.as_ref().map(|setting| setting.value)
}

/// The word of more authority stays; of two equal ones the first.
fn weigh<T>(slot: &mut Option<Setting<T>>, other: Option<Setting<T>>) {
    let Some(other) = other else { return };
    if slot.as_ref().is_none_or(|known| other.layer < known.layer) {
        *slot = Some(other);
    }
}

fn shorter(slot: &mut Option<Setting<Duration>>, other: Option<Setting<Duration>>) {
    let Some(other) = other else { return };
    if slot.as_ref().is_none_or(|known| other.value < known.value) {
        *slot = Some(other);
    }
}

/// Reads what a host handed over.
pub(crate) fn read_source(source: &Source, report: &mut Report<'_>) -> ModuleSettings {
    match json::parse(&source.text) {
        Ok(tree) => read(&tree.root, "", Layer::Code, report),
        Err(error) => {
            let message = format!("{}; the defaults of the module are used", error.message);
            report.push(report.at(codes::INVALID_JSON, "", error.span, message));
            ModuleSettings::default()
        }
    }
}

/// Reads the settings of one place. What is wrong, or not this layer's to say, is left out with a finding.
pub(crate) fn read(node: &Node, pointer: &str, layer: Layer, report: &mut Report<'_>) -> ModuleSettings {
    let mut settings = ModuleSettings::default();
    let Kind::Object(members) = &node.kind else {
        let message =
            format!("the settings of a module are {}, not an object; its defaults are used", node.what());
        report.push(report.at(codes::WRONG_TYPE, pointer, node.span, message));
        return settings;
    };
    let mut block = Block { layer, report };
    let mut old_spelling = None;
    for member in members {
        let pointer = step(pointer, &member.key);
        match snake(&member.key).as_str() {
            "enabled" => settings.enabled = block.switch(member, &pointer, false),
            "allow_user_hooks" => settings.allow_user_hooks = block.switch(member, &pointer, false),
            "allow_project_hooks" => settings.allow_project_hooks = block.switch(member, &pointer, true),
            "allow_blocking" => settings.allow_blocking = block.switch(member, &pointer, false),
            "default_timeout" => settings.default_timeout = block.seconds(member, &pointer),
            "timeout" => old_spelling = block.seconds(member, &pointer),
            "max_timeout" => settings.max_timeout = block.seconds(member, &pointer),
            "subagent_tools" => settings.subagent_tools = block.names(member, &pointer),
            "mode" => settings.mode = block.mode(member, &pointer),
            _ => block.unknown(member, &pointer),
        }
    }
    settings.default_timeout = settings.default_timeout.or(old_spelling);
    if !privileged(layer) {
        settings.project_default_timeout = settings.default_timeout.take();
        settings.project_max_timeout = settings.max_timeout.take();
        settings.project_subagent_tools =
            settings.subagent_tools.take().map(|tools| tools.value).unwrap_or_default();
    }
    settings
}

struct Block<'r, 's> {
    layer: Layer,
    report: &'r mut Report<'s>,
}

impl Block<'_, '_> {
    /// A switch. Outside of managed and user files `false` counts where `may_close` says so, and `true` never does.
    fn switch(&mut self, member: &Member, pointer: &str, may_close: bool) -> Option<Setting<bool>> {
        let Some(value) = member.value.as_bool() else {
            return self.wrong(member, pointer, "true or false");
        };
        if !privileged(self.layer) && (value || !may_close) {
            let message = format!(
                "{:?} is not for a {} file to set: it would speak for the user's hooks, too; it is left out",
                member.key, self.layer
            );
            let finding =
                self.report.at(codes::SETTING_NOT_ALLOWED_HERE, pointer, member.value.span, message);
            self.report.push(finding.help("set it in your user file"));
            return None;
        }
        Some(self.setting(value, member))
    }

    /// Everybody may make it stricter.
    fn mode(&mut self, member: &Member, pointer: &str) -> Option<Setting<Mode>> {
        match member.value.as_str() {
            Some("strict") => Some(self.setting(Mode::Strict, member)),
            Some("guide") if privileged(self.layer) => Some(self.setting(Mode::Guide, member)),
            Some("guide") => {
                let message =
                    format!("a {} file may only make \"mode\" stricter; it is left out", self.layer);
                let finding =
                    self.report.at(codes::SETTING_NOT_ALLOWED_HERE, pointer, member.value.span, message);
                self.report.push(finding.help("set it in your user file"));
                None
            }
            _ => {
                // A guard with a mistyped mode must not become one that lets everything through.
                let message = "\"mode\" is neither \"guide\" nor \"strict\"; it counts as \"strict\"";
                let finding = self.report.at(codes::WRONG_TYPE, pointer, member.value.span, message);
                self.report.push(finding.help("write \"guide\" or \"strict\""));
                Some(self.setting(Mode::Strict, member))
            }
        }
    }

    fn seconds(&mut self, member: &Member, pointer: &str) -> Option<Setting<Duration>> {
        let seconds = match member.value.kind {
            Kind::Number(seconds) if seconds > 0.0 => Duration::try_from_secs_f64(seconds).ok(),
            _ => None,
        };
        match seconds {
            Some(value) => Some(self.setting(value, member)),
            None => self.wrong(member, pointer, "a number of seconds above zero"),
        }
    }

    fn names(&mut self, member: &Member, pointer: &str) -> Option<Setting<Vec<String>>> {
        let names = match &member.value.kind {
            Kind::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        match names {
            Some(value) => Some(self.setting(value, member)),
            None => self.wrong(member, pointer, "a list of names"),
        }
    }

    fn setting<T>(&self, value: T, member: &Member) -> Setting<T> {
        Setting { value, layer: self.layer, location: self.report.locate(member.key_span) }
    }

    fn wrong<T>(&mut self, member: &Member, pointer: &str, wanted: &str) -> Option<T> {
        let message = format!(
            "the module's setting {:?} is {}, not {wanted}; its default is used",
            member.key,
            member.value.what()
        );
        self.report.push(self.report.at(codes::WRONG_TYPE, pointer, member.value.span, message));
        None
    }

    fn unknown(&mut self, member: &Member, pointer: &str) {
        let message = format!("{:?} is no setting of the module; it has no effect", member.key);
        let mut finding = self.report.at(codes::UNKNOWN_FIELD, pointer, member.key_span, message);
        finding.suggestion = self.report.nearest(&member.key, NAMES.iter().copied()).map(str::to_owned);
        self.report.push(finding.help(format!("the settings are {}", NAMES.join(", "))));
    }
}

/// `maxTimeout` as `max_timeout`.
fn snake(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}
