//! Skills, slash commands and subagents, whose hooks stand in their frontmatter ("Claude Code hooks reference, Hooks in skills
//! and agents").

use std::path::Path;

use super::ID;
use crate::load::Loader;
use crate::skills::{Hooks, Plugin};

/// Those of the user and of the project. Of those with one name the first counts: a skill before a command, a skill of the user
/// before one of the project, else the project's ("Claude Code skills, Where skills live"; "Claude Code subagents, Subagent
/// scope").
pub(super) fn load(loader: &mut Loader<'_>) {
    let host = loader.request.host;
    let project = host.project.join(".claude");
    let user = host.home.as_ref().map(|home| home.join(".claude")).filter(|user| *user != project);
    for place in user.iter().chain([&project]) {
        loader.skills_in(&place.join("skills"), ID, None);
    }
    for place in [&project].into_iter().chain(&user) {
        loader.markdown_in(&place.join("commands"), ID, None, Hooks::Count);
        loader.markdown_in(&place.join("agents"), ID, None, Hooks::Count);
    }
}

/// Those of a plugin, which bear its name; the hooks of its subagents do not count ("Claude Code plugins reference, Agents").
pub(super) fn of_plugin(loader: &mut Loader<'_>, root: &Path, name: &str) {
    let plugin = Some(Plugin { name, root });
    loader.skills_in(&root.join("skills"), ID, plugin);
    loader.markdown_in(&root.join("commands"), ID, plugin, Hooks::Count);
    loader.markdown_in(&root.join("agents"), ID, plugin, Hooks::Ignored);
}
