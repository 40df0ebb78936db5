//! Switching hooks off and on again.
//!
//! A hook goes by its id into the list `disabled` of the user's file, or of the project's local one; a plugin by its name into
//! the state file of its agent. Files of hooks are not touched. An agent must not switch off its own guards, so this is
//! for people only.

use std::path::{Path, PathBuf};

use hook_engine::config::{DisabledId, Edit, Loaded, Plugin, add_to_list, remove_from_list};
use hook_engine::core::{Hook, HostContext, Layer, Location, Source, Span};
use hook_engine::mapper::Dialects;
use serde_json::json;

use crate::args::{SwitchArgs, SwitchKind};
use crate::error::CliError;
use crate::rewrite::{self, Found};
use crate::{exit, fire, output, report, session, world};

/// The list of a native file.
const HOOKS: &[&str] = &["settings", "disabled"];
/// The list of a state file.
const PLUGINS: &[&str] = &["disabled"];
/// Names shown where one was not found.
const NEAREST: usize = 5;

pub(crate) fn enable(args: &SwitchArgs) -> Result<u8, CliError> {
    switch(args, true)
}

pub(crate) fn disable(args: &SwitchArgs) -> Result<u8, CliError> {
    switch(args, false)
}

fn switch(args: &SwitchArgs, on: bool) -> Result<u8, CliError> {
    let dialects = Dialects::standard();
    for_people_only(&dialects)?;
    let host = world::host(session::dialect(&dialects, "native")?.profile(), None);
    let loaded = session::load_files(&host, &dialects, &args.sources, None)?;
    let target = target(args, on, &host, &loaded)?;
    let found = rewrite::find(&target.file)?;
    let edit = match (on, &found.text) {
        (false, text) => add_to_list(text.as_deref(), target.list, &args.name),
        (true, Some(text)) => remove_from_list(text, target.list, &args.name),
        (true, None) => Ok(Edit::Unchanged { at: None }),
    };
    let edit = edit.map_err(|error| {
        let place = locate(&target.file, found.text.as_deref().unwrap_or_default(), error.span);
        CliError::data(format!("{}: {}", shown(&place), error.message))
            .help("the file was left as it is; `hook check` shows what is wrong with it")
    })?;
    let (changed, place) = apply(&edit, &found, &target.file)?;
    // What is off for another reason stays off, and whoever switched it on should know.
    let after = session::load_files(&host, &dialects, &args.sources, None)?;
    let still = if on { still_off(&after, &target, &args.name) } else { None };
    tell(args, on, &target, changed, place.as_ref(), still.as_deref())?;
    Ok(if still.is_some() { exit::FINDINGS } else { exit::OK })
}

/// What is switched, and where that is written down.
struct Target {
    kind: SwitchKind,
    /// The file that holds the list.
    file: PathBuf,
    /// The list in it.
    list: &'static [&'static str],
    /// The hook file of a plugin.
    plugin: Option<PathBuf>,
}

/// Refuses where a variable says that an agent started this process.
fn for_people_only(dialects: &Dialects) -> Result<(), CliError> {
    let mut names = dialects.iter().flat_map(|dialect| dialect.profile().markers);
    let set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let Some(name) = names.find(set) else { return Ok(()) };
    Err(CliError::refused(format!(
        "{name} is set, so an agent runs this; an agent does not switch its own guards off or on"
    ))
    .help("let a person run it, in a terminal of their own"))
}

fn target(args: &SwitchArgs, on: bool, host: &HostContext, loaded: &Loaded) -> Result<Target, CliError> {
    let name = args.name.as_str();
    let hooks: Vec<&Hook> =
        loaded.hooks().map(AsRef::as_ref).filter(|hook| hook.id.as_str() == name).collect();
    let plugins: Vec<&Plugin> =
        loaded.plugins.iter().filter(|plugin| plugin.name.as_deref() == Some(name)).collect();
    let listed = || loaded.settings.disabled.iter().any(|entry| entry.id == name);
    match (args.kind, hooks.is_empty(), plugins.is_empty()) {
        (None, false, false) => {
            let all = hooks.iter().map(|hook| line(hook)).chain(plugins.iter().map(|p| plugin_line(p)));
            Err(CliError::usage(format!("{name:?} is a hook and a plugin:\n{}", all.collect::<String>()))
                .help("say which with `--kind hook` or `--kind plugin`"))
        }
        (None | Some(SwitchKind::Hook), false, _) => hook(args, on, host, &hooks),
        (None | Some(SwitchKind::Plugin), _, false) => plugin(args, &plugins),
        // A hook that was edited has another id; what stands in the list under the old one can still go.
        (None | Some(SwitchKind::Hook), true, _) if on && listed() => hook(args, on, host, &[]),
        _ => Err(unknown(name, loaded)),
    }
}

fn hook(args: &SwitchArgs, on: bool, host: &HostContext, hooks: &[&Hook]) -> Result<Target, CliError> {
    let list = if args.local { Layer::Local } else { Layer::User };
    let barred = hooks.iter().find(|hook| !DisabledId::may_disable(list, hook.origin.layer));
    if let (false, Some(hook)) = (on, barred) {
        let layer = hook.origin.layer;
        let place = report::place(&hook.origin);
        let error = CliError::refused(format!("{:?} is a hook of the {layer} layer ({place})", args.name));
        return Err(if layer == Layer::Managed {
            error.help("managed hooks are switched off in managed files only")
        } else {
            error.help("a project does not switch it off; without --local it goes off for you, everywhere")
        });
    }
    let file = match (list, &host.config) {
        (Layer::Local, _) => host.project.join(".hooks/hooks.local.json"),
        (_, Some(config)) => config.join("hooks.json"),
        _ => {
            return Err(CliError::usage("there is no home directory, so there is no user file")
                .help("set HOME, or use --local for this project"));
        }
    };
    Ok(Target { kind: SwitchKind::Hook, file, list: HOOKS, plugin: None })
}

fn plugin(args: &SwitchArgs, plugins: &[&Plugin]) -> Result<Target, CliError> {
    let wanted = match (args.user, args.local) {
        (true, _) => Some(Layer::User),
        (_, true) => Some(Layer::Project),
        _ => None,
    };
    let fit = |plugin: &&&Plugin| wanted.is_none_or(|layer| plugin.layer == layer);
    match plugins.iter().filter(fit).collect::<Vec<_>>()[..] {
        [plugin] => Ok(Target {
            kind: SwitchKind::Plugin,
            file: plugin.state.clone(),
            list: PLUGINS,
            plugin: Some(plugin.file.clone()),
        }),
        _ => {
            let all: String = plugins.iter().map(|plugin| plugin_line(plugin)).collect();
            let what = if wanted.is_some() { "is not there at this level" } else { "is there twice" };
            Err(CliError::usage(format!("the plugin {:?} {what}:\n{all}", args.name))
                .help("--user means the user's, --local the project's"))
        }
    }
}

/// Nothing of this name: the root of an agent's plugins, or a typing mistake.
fn unknown(name: &str, loaded: &Loaded) -> CliError {
    let path = std::path::absolute(name).unwrap_or_default();
    let root = loaded.plugins.iter().filter(|plugin| plugin.name.is_none()).find(|plugin| {
        name == "root"
            || name == plugin.agent.0
            || path == plugin.file
            || Some(path.as_path()) == plugin.file.parent()
    });
    if let Some(root) = root {
        let agent = root.agent;
        let error = CliError::usage(format!(
            "{} is the root registry, which has no name to switch it off by",
            report::relative(&root.file)
        ));
        return error.help(format!(
            "switch its hooks off by their ids (`hook list`), or all hooks of {agent} with {} in the settings of your user file",
            json!({ "agents": { agent.0: { "enabled": false } } })
        ));
    }
    let hooks = loaded.hooks().map(|hook| (hook.id.to_string(), line(hook)));
    let plugins = loaded.plugins.iter().filter_map(|p| Some((p.name.as_deref()?.to_owned(), plugin_line(p))));
    let mut near: Vec<(usize, String)> = hooks
        .chain(plugins)
        .filter_map(|(known, line)| {
            let (a, b) = (name.to_lowercase(), known.to_lowercase());
            let far = if b.contains(&a) { 0 } else { fire::distance(&a, &b) };
            (far <= a.len().div_ceil(3)).then_some((far, line))
        })
        .collect();
    near.sort();
    near.dedup();
    let lines: String = near.into_iter().take(NEAREST).map(|(_, line)| line).collect();
    let error = CliError::usage(if lines.is_empty() {
        format!("no hook and no plugin is called {name:?}")
    } else {
        format!("no hook and no plugin is called {name:?}; near to it are\n{lines}")
    });
    // A hook of a file that is broken has no id that anybody could know.
    error.help(if loaded.has_errors() {
        "hook files have errors, and what cannot be read in them has no id: `hook check` shows them"
    } else {
        "`hook list` shows the ids of all hooks; those of other agents' files with --from"
    })
}

fn line(hook: &Hook) -> String {
    let text = format!("  {}  {}  {}\n", hook.id, hook.label(), report::place(&hook.origin));
    output::harmless(&text).into_owned()
}

fn plugin_line(plugin: &Plugin) -> String {
    let name = plugin.name.as_deref().unwrap_or_default();
    let text =
        format!("  {name}  plugin of the {} level  {}\n", plugin.layer, report::relative(&plugin.file));
    output::harmless(&text).into_owned()
}

/// Writes what became of the file; true where it changed, and where the name stands or stood.
fn apply(edit: &Edit, found: &Found, file: &Path) -> Result<(bool, Option<Location>), CliError> {
    let before = found.text.as_deref().unwrap_or_default();
    Ok(match edit {
        Edit::Unchanged { at } => (false, at.map(|at| locate(file, before, at))),
        Edit::Changed { text, at } => {
            found.replace(text)?;
            // A removed name stood in the old text.
            let holder = if text.len() > before.len() { text } else { before };
            (true, Some(locate(file, holder, *at)))
        }
        Edit::Gone { at } => {
            found.remove()?;
            (true, Some(locate(file, before, *at)))
        }
    })
}

fn locate(file: &Path, text: &str, at: Span) -> Location {
    Source::new(file, text).locate(at)
}

fn shown(place: &Location) -> String {
    format!("{}:{}:{}", report::relative(&place.file), place.line, place.column)
}

/// Why something that was switched on is off all the same.
fn still_off(after: &Loaded, target: &Target, name: &str) -> Option<String> {
    let own = |hook: &&std::sync::Arc<Hook>| match &target.plugin {
        Some(file) => hook.origin.file.as_deref() == Some(file),
        None => hook.id.as_str() == name,
    };
    let mut hooks = after.hooks().filter(own).peekable();
    let first = hooks.peek()?.disabled_because.clone()?;
    hooks.all(|hook| !hook.enabled).then_some(first)
}

fn tell(
    args: &SwitchArgs,
    on: bool,
    target: &Target,
    changed: bool,
    place: Option<&Location>,
    still: Option<&str>,
) -> Result<(), CliError> {
    let name = &args.name;
    if args.json {
        let document = json!({
            "name": name,
            "kind": match target.kind { SwitchKind::Hook => "hook", SwitchKind::Plugin => "plugin" },
            "enabled": on && still.is_none(),
            "changed": changed,
            "file": target.file.display().to_string(),
            "line": place.map(|place| place.line),
            "column": place.map(|place| place.column),
            "off_because": still,
        });
        return output::data(&format!("{document:#}\n"));
    }
    let file = place.map_or_else(|| report::relative(&target.file), shown);
    let mut text = match (on, changed) {
        (false, true) => format!("{name} is off: {file}\n"),
        (false, false) => format!("{name} is off already: {file}\n"),
        (true, true) if still.is_none() => format!("{name} is on; it stood at {file}\n"),
        (true, true) => format!("{name} is no longer switched off at {file}\n"),
        (true, false) if still.is_none() => format!("{name} is on already\n"),
        (true, false) => String::new(),
    };
    if let Some(why) = still {
        text.push_str(&format!("{name} is off all the same: {why}\n"));
    }
    output::data(&output::harmless(&text))
}
