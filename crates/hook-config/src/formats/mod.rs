//! Where each agent keeps its hook files, and how it reads them. One file per agent.

mod aimon;
mod amplifier;
mod claude;
mod native;

use std::path::Path;
use std::time::Duration;

use hook_core::{DialectId, HandlerKind, Hook, Layer, Severity, Shell};

use crate::load::Loader;
use crate::servers::Reader;
use crate::spec::DocumentSpec;
use crate::switches::Switch;

/// How a dialect takes something that is not quite right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tolerance {
    /// As if it were right.
    Silent,
    /// With a warning.
    Warn,
    /// Not at all: the unit is left out, with a finding.
    Refuse,
}

/// How a dialect reads its files.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Comments and trailing commas.
    pub(crate) lax: Tolerance,
    /// A byte order mark.
    pub(crate) bom: Tolerance,
    /// Events at the top level instead of under `hooks`.
    pub(crate) naked: Tolerance,
    /// A handler where a group is expected.
    pub(crate) flat: Tolerance,
    /// An event may have one group instead of a list of groups.
    pub(crate) single_group: bool,
    /// A matcher that is null is no matcher.
    pub(crate) null_matcher: bool,
    /// A group without handlers is nothing to warn about.
    pub(crate) empty_group_is_fine: bool,
    /// Members of the top level; `None` where other programs keep theirs there.
    pub(crate) top: Option<&'static [&'static str]>,
    /// Members of the top level that switch hooks, kept for the dialect's own rules.
    pub(crate) switches: &'static [(&'static str, Switch)],
    /// Members of a group.
    pub(crate) group: &'static [&'static str],
    /// The agent's tools, but for those of servers and extensions; `None` where nobody lists them.
    pub(crate) tools: Option<&'static Tools>,
    /// Handler types.
    pub(crate) types: &'static [(&'static str, HandlerKind)],
    /// What a handler without `type` is.
    pub(crate) untyped: Untyped,
    /// Members of a handler of this kind. A member that is not among them is kept as an extra and warned about.
    pub(crate) fields: fn(HandlerKind) -> &'static [&'static str],
    /// `once` counts outside of skills, too.
    pub(crate) once_everywhere: bool,
    /// A `Stop` hook of a subagent listens to the end of that subagent.
    pub(crate) agent_stop_is_subagent_stop: bool,
    /// `${user_config.…}` in a shell line of a pack is refused, with this advice.
    pub(crate) no_user_config_in_shell: Option<&'static str>,
    /// `onFailure` may be a table per kind of failure.
    pub(crate) failure_tables: bool,
    /// Event names of other agents (`agent:Name`) may be named.
    pub(crate) foreign_events: bool,
    /// Members that the frontmatter of a skill has to have.
    pub(crate) skill_needs: &'static [&'static str],
    /// What the agent's own readers do otherwise than most.
    pub(crate) ways: Ways,
    /// A command of a skill that begins with `./` or `../` means the skill's directory.
    pub(crate) skill_relative: bool,
}

/// What the readers of some agents do otherwise than most.
#[derive(Debug)]
pub(crate) struct Ways {
    /// What stands under an event, or under `hooks` of a skill.
    pub(crate) entries: Entries,
    /// A file without a word, or with `null` for all or for its hooks, has no hooks and no faults.
    pub(crate) empty_is_fine: bool,
    /// Members for people (`$schema`, `_comment`, `//`) are nothing to warn about.
    pub(crate) notes_are_fine: bool,
    /// Handler types count in any letter case.
    pub(crate) types_in_any_case: bool,
    /// How bad it is that a handler cannot be used; `None` leaves it to the finding.
    pub(crate) left_out: Option<Severity>,
    /// Timeouts are whole numbers; a handler with another one is left out. `timeoutMs` goes before `timeout`.
    pub(crate) whole_timeouts: bool,
    /// Events of its vocabulary that the agent does not fire, in any letter case.
    pub(crate) unsupported: &'static [&'static str],
    /// Two spellings of one event feed one list, counted through.
    pub(crate) one_list_per_event: bool,
    /// Where an event has no tool, its matcher is read and has no effect.
    pub(crate) matcher_for_tools_only: bool,
    /// The shell of its lines.
    pub(crate) shell: Shell,
    /// The events whose hooks may be woken again by a block `asyncRewake`.
    pub(crate) rewakes: Rewakes,
}

impl Ways {
    /// As most do it.
    pub(crate) const USUAL: Ways = Ways {
        entries: Entries::Groups,
        empty_is_fine: false,
        notes_are_fine: true,
        types_in_any_case: false,
        left_out: None,
        whole_timeouts: false,
        unsupported: &[],
        one_list_per_event: false,
        matcher_for_tools_only: false,
        shell: Shell::Sh,
        rewakes: Rewakes::None,
    };
}

/// Which events' hooks may be woken again, by own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rewakes {
    /// None: the dialect has no such block.
    None,
    /// These.
    On(&'static [&'static str]),
    /// All but these.
    AllBut(&'static [&'static str]),
}

impl Rewakes {
    pub(crate) fn on(self, event: &str) -> bool {
        match self {
            Rewakes::None => false,
            Rewakes::On(names) => names.contains(&event),
            Rewakes::AllBut(names) => !names.contains(&event),
        }
    }

    /// The rule, for people.
    pub(crate) fn shown(self) -> String {
        match self {
            Rewakes::None => "there are none".to_owned(),
            Rewakes::On(names) => names.join(", "),
            Rewakes::AllBut(names) => format!("all but {}", names.join(", ")),
        }
    }
}

/// What stands under an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entries {
    /// Groups of handlers.
    Groups,
    /// One action each, under these events only, written exactly so; one mistake costs all of them.
    Actions(&'static [&'static str]),
}

/// What the tools of an agent are called.
#[derive(Debug)]
pub(crate) struct Tools {
    /// Tools that the agent brings.
    pub(crate) names: &'static [&'static str],
    /// How names of other tools begin.
    pub(crate) others: &'static str,
}

/// What a handler without `type` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untyped {
    /// Not valid.
    Refuse,
    /// A command.
    Command,
    /// What its other members say.
    Infer,
}

/// What an agent's files look like and where they are.
pub(crate) struct Format {
    pub(crate) id: DialectId,
    /// Its files are read without being asked for.
    pub(crate) always: bool,
    /// The rules of a file in this layer.
    pub(crate) rules: fn(Layer) -> &'static Rules,
    /// Reads the files.
    pub(crate) load: fn(&mut Loader<'_>),
    /// What a path means by its place and name, for a single file handed over by a person.
    pub(crate) guess: fn(&Path) -> Option<DocumentSpec>,
    /// Reads a file whose hooks stand elsewhere or in another shape; false where it is an ordinary hook file.
    pub(crate) special: fn(&mut Loader<'_>, &DocumentSpec) -> bool,
    /// The agent runs hooks through a module that has settings of its own.
    pub(crate) module: Option<Module>,
}

/// What is known of an agent's hook module.
pub(crate) struct Module {
    /// The tools whose end is the end of a subagent, where nobody says otherwise.
    pub(crate) subagent_tools: &'static [&'static str],
    /// The bound of every hook, where nobody says otherwise.
    pub(crate) max_timeout: Duration,
    /// What its strict mode makes of a hook, where it has one.
    pub(crate) strict: Option<fn(&mut Hook)>,
}

/// One row per agent; within a layer, files are read in this order.
pub(crate) const FORMATS: &[Format] = &[native::FORMAT, amplifier::FORMAT, aimon::FORMAT, claude::FORMAT];

/// The rules of a dialect; those of the native one where an agent has no files of its own.
pub(crate) fn rules(dialect: DialectId, layer: Layer) -> &'static Rules {
    let format = FORMATS.iter().find(|format| format.id == dialect).unwrap_or(&native::FORMAT);
    (format.rules)(layer)
}

/// The hook module of an agent that has one.
pub(crate) fn module(agent: DialectId) -> Option<&'static Module> {
    FORMATS.iter().find(|format| format.id == agent)?.module.as_ref()
}

/// The MCP servers of plugins.
pub(crate) fn plugin_servers(reader: &mut Reader<'_>) {
    claude::servers::of_plugins(reader);
}

/// True where one of the path's parts has this name.
fn lies_in(path: &Path, name: &str) -> bool {
    path.components().any(|part| part.as_os_str() == name)
}
