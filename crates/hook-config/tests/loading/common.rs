//! What the tests of loading share: a host, a tree in memory, short forms of what was loaded.

use std::path::Path;

use hook_config::{LoadRequest, Loaded, load};
use hook_core::{Diagnostic, DialectId, Hook, HostContext, MemoryFiles, Source};
use hook_mapper::Dialects;
use serde_json::Value;

/// The project of every test.
pub(crate) const PROJECT: &str = "/p";

/// A host with a home, a user directory and a managed one.
pub(crate) fn host() -> HostContext {
    let mut host = HostContext::new(PROJECT);
    host.home = Some("/home/u".into());
    host.config = Some("/home/u/.config/hook".into());
    host.managed = Some("/etc/hook".into());
    host
}

/// Files by path; what begins with `~/` lies in the home, with `/` as it stands, else in the project.
pub(crate) fn tree<P: AsRef<str>, C: Into<Vec<u8>>>(files: impl IntoIterator<Item = (P, C)>) -> MemoryFiles {
    files.into_iter().fold(MemoryFiles::new(), |tree, (path, content)| {
        let path = path.as_ref();
        let full = match path.strip_prefix("~/") {
            Some(rest) => format!("/home/u/{rest}"),
            None if path.starts_with('/') => path.to_owned(),
            None => format!("{PROJECT}/{path}"),
        };
        tree.with(full, content)
    })
}

/// Loads a tree; `from` names the agents whose own files are read.
pub(crate) fn load_from(files: &MemoryFiles, from: &[&'static str], switches: Value) -> Loaded {
    let (host, dialects) = (host(), Dialects::standard());
    let mut request = LoadRequest::new(&host, files, &dialects);
    request.own_files_of = from.iter().map(|id| DialectId(id)).collect();
    request.module_config =
        switches.is_object().then(|| Source::new(Path::new("mount.json"), switches.to_string()));
    load(&request)
}

/// Loads one native file of the project.
pub(crate) fn native(text: &str) -> Loaded {
    load_from(&tree([(".hooks/hooks.json", text)]), &[], Value::Null)
}

/// `slug pointer` of every finding.
pub(crate) fn found(loaded: &Loaded) -> Vec<String> {
    loaded.diagnostics.iter().map(short).collect()
}

/// `slug pointer` of a finding.
pub(crate) fn short(diagnostic: &Diagnostic) -> String {
    format!("{} {}", diagnostic.code.slug(), diagnostic.pointer.as_deref().unwrap_or("-"))
}

/// `event matcher summary`, with `!` before a hook that never runs.
pub(crate) fn hooks(loaded: &Loaded) -> Vec<String> {
    loaded.hooks().map(|hook| line(hook)).collect()
}

/// One hook of [`hooks`].
pub(crate) fn line(hook: &Hook) -> String {
    let mark = if hook.enabled { "" } else { "!" };
    let matcher = hook.matcher.text.as_deref().unwrap_or("-");
    format!("{mark}{} {matcher} {}", hook.event_name, hook.handler.summary())
}
