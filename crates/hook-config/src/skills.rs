//! Where skills, slash commands and subagents lie, and when their hooks are in force.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{Diagnostic, DialectId, EntryKind, Layer, Scope};
use hook_mapper::Dialects;
use serde_json::Value;

use crate::frontmatter::{self, SKILL};
use crate::load::{Loader, Parsed, guess, parse_value};
use crate::spec::DocumentSpec;

/// Reads the hooks of a skill that came in memory: `hooks` is what its frontmatter holds under that name, `directory` where it
/// lies ("Shell hooks module for Amplifier, Skill-embedded hooks": the event `skill:loaded`). They are in force while the skill
/// `name` is loaded. Findings and hooks name the skill's file, without lines: the text that was read is not the file's.
pub fn skill_document(
    name: &str,
    directory: Option<&Path>,
    hooks: &Value,
    dialect: DialectId,
    dialects: &Dialects,
) -> Parsed {
    let path = directory.map_or_else(|| PathBuf::from(name), |directory| directory.join(SKILL));
    let mut spec = DocumentSpec::new(path, dialect, Layer::Skill);
    spec.root = directory.map(Path::to_owned);
    spec.source = Some(Arc::from(name));
    let mut parsed = parse_value(hooks, &spec.in_force(Scope::Skill(Arc::from(name))), dialects);
    for diagnostic in &mut parsed.diagnostics {
        diagnostic.labels.clear();
    }
    let bindings = parsed.document.iter_mut().flat_map(|document| &mut document.bindings);
    for binding in bindings {
        binding.matcher.location = None;
        for hook in &mut binding.hooks {
            let hook = Arc::make_mut(hook);
            hook.origin.location = None;
            hook.matcher.location = None;
            if let Some(condition) = &mut hook.condition {
                condition.location = None;
            }
        }
    }
    parsed
}

/// The plugin that skills, commands and subagents come with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plugin<'p> {
    /// Stands before their names.
    pub(crate) name: &'p str,
    /// What the plugin's placeholders mean in their hooks.
    pub(crate) root: &'p Path,
}

/// What is done with the hooks of a Markdown file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hooks {
    /// They are loaded.
    Count,
    /// Their agent ignores them, which is worth a warning.
    Ignored,
}

impl Loader<'_> {
    /// The skills of the request. A person named them, so they are in force at once, and one that is missing is an error.
    pub(crate) fn skills_asked_for(&mut self) {
        let mut seen = BTreeSet::new();
        for path in &self.request.skills {
            let is_directory = matches!(self.request.files.kind(path), Ok(EntryKind::Directory));
            let file = if is_directory { path.join(SKILL) } else { path.clone() };
            if !seen.insert(self.request.files.canonical(&file).unwrap_or_else(|_| file.clone())) {
                continue;
            }
            if self.sources.iter().any(|source| source.path.as_ref() == file) {
                // Found in its agent's place already; now somebody wants it at once.
                let found =
                    self.documents.iter_mut().filter(|document| document.file.as_deref() == Some(&file));
                for hook in found.flat_map(|found| &mut found.bindings).flat_map(|binding| &mut binding.hooks)
                {
                    Arc::make_mut(hook).scope = Scope::Always;
                }
                continue;
            }
            if !self.optional(guess(&file, None)) {
                let message = "there is no skill here; none of its hooks run";
                let finding = Diagnostic::new(codes::UNREADABLE_FILE, message).in_file(file.as_path());
                self.diagnostics.push(finding.help(format!("name a directory that holds a {SKILL}")));
            }
        }
    }

    /// The skills of a directory: one for each directory in it that holds a `SKILL.md`.
    pub(crate) fn skills_in(&mut self, directory: &Path, dialect: DialectId, plugin: Option<Plugin<'_>>) {
        for entry in self.entries(directory) {
            if entry.kind == EntryKind::Directory {
                let path = directory.join(entry.name).join(SKILL);
                self.markdown(&path, dialect, plugin, Hooks::Count);
            }
        }
    }

    /// The slash commands or subagents of a directory and of those in it.
    pub(crate) fn markdown_in(
        &mut self,
        directory: &Path,
        dialect: DialectId,
        plugin: Option<Plugin<'_>>,
        hooks: Hooks,
    ) {
        let mut waiting = vec![directory.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(directory) = waiting.pop() {
            let entries = self.entries(&directory);
            // A link may lead back to where we are.
            if entries.is_empty()
                || !self.request.files.canonical(&directory).is_ok_and(|path| seen.insert(path))
            {
                continue;
            }
            let (folders, files): (Vec<_>, Vec<_>) =
                entries.into_iter().partition(|entry| entry.kind == EntryKind::Directory);
            waiting.extend(folders.into_iter().rev().map(|entry| directory.join(entry.name)));
            for entry in files {
                let path = directory.join(entry.name);
                if entry.kind == EntryKind::File && frontmatter::is_markdown(&path) {
                    self.markdown(&path, dialect, plugin, hooks);
                }
            }
        }
    }

    /// One Markdown file in its agent's place: its hooks are in force while it is loaded, or while the subagent runs. Where one of
    /// its name was read already, its agent never gets to see it.
    fn markdown(&mut self, path: &Path, dialect: DialectId, plugin: Option<Plugin<'_>>, hooks: Hooks) {
        let mut spec = frontmatter::spec(path, dialect);
        let name = spec.source.take().unwrap_or_default();
        let name = match plugin {
            Some(plugin) => {
                spec.root = Some(plugin.root.to_owned());
                Arc::from(format!("{}:{name}", plugin.name))
            }
            None => name,
        };
        if !self.named.insert((spec.layer, name.clone())) {
            return;
        }
        spec.source = Some(name.clone());
        spec.scope = if spec.layer == Layer::Agent { Scope::Agent(name) } else { Scope::Skill(name) };
        let (documents, findings) = (self.documents.len(), self.diagnostics.len());
        self.optional(spec);
        if hooks == Hooks::Ignored {
            self.diagnostics.truncate(findings);
            let ignored = self.documents.split_off(documents);
            self.diagnostics.extend(ignored.iter().filter_map(|document| {
                let hook = document.bindings.first()?.hooks.first()?;
                let message =
                    "the hooks of a subagent that comes with a plugin are ignored by its agent, and here too";
                let mut finding = Diagnostic::new(codes::HOOKS_OF_PLUGIN_AGENT, message).pointer("/hooks");
                if let Some(location) = &hook.origin.location {
                    finding = finding.at(location.clone(), "");
                }
                Some(finding.help("put them into the hooks file of the plugin"))
            }));
        }
    }
}
