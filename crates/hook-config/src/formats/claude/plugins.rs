//! Plugins: the file that is read by convention, and what the manifest names ("Plugins reference").

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{EntryKind, Layer};

use super::settings::option_text;
use super::{HOOKS, ID, MANIFEST, PLUGIN, skills};
use crate::json::{Kind, Node};
use crate::load::{LoadRequest, Loader};
use crate::report::{Report, step};
use crate::shape::Reader;
use crate::spec::DocumentSpec;
use crate::text;

/// Reads all plugins.
pub(super) fn load_all(loader: &mut Loader<'_>) {
    for root in roots(loader.request) {
        load_one(loader, &root);
    }
}

/// The plugins that were named, and the project where it is a plugin itself; each once.
pub(super) fn roots(request: &LoadRequest<'_>) -> Vec<PathBuf> {
    let project = &request.host.project;
    let is_plugin = |root: &Path| {
        [MANIFEST, HOOKS]
            .iter()
            .any(|file| matches!(request.files.kind(&root.join(file)), Ok(EntryKind::File)))
    };
    let own = is_plugin(project).then(|| project.clone());
    let mut seen = BTreeSet::new();
    let mut roots: Vec<PathBuf> = request.plugin_roots.iter().cloned().chain(own).collect();
    roots.retain(|root| seen.insert(request.files.canonical(root).unwrap_or_else(|_| root.clone())));
    roots
}

/// The name of a plugin that gives itself none.
pub(super) fn directory(root: &Path) -> Cow<'_, str> {
    root.file_name().map_or_else(|| "plugin".into(), |name| name.to_string_lossy())
}

/// The hooks of one plugin: the file that is read by convention, and what the manifest names beside it.
pub(super) fn load_one(loader: &mut Loader<'_>, root: &Path) {
    let manifest = DocumentSpec::new(root.join(MANIFEST), ID, Layer::Pack);
    let directory = directory(root);
    let opened = match text::read(loader.request.files, &manifest.path) {
        Ok(bytes) => bytes.map(|bytes| text::open(&bytes, &manifest.path, &PLUGIN)),
        Err(finding) => {
            loader.diagnostics.push(*finding);
            None
        }
    };
    let Some(opened) = opened else {
        let spec = DocumentSpec::new(root.join(HOOKS), ID, Layer::Pack);
        loader.optional(spec.of_source(root, &directory));
        skills::of_plugin(loader, root, &directory);
        return;
    };
    loader.diagnostics.extend(opened.diagnostics);
    let top = opened.tree.as_ref().map(|tree| &tree.root);
    let name = top.and_then(|top| top.get("name")).and_then(|member| member.value.as_str());
    let name: Arc<str> = Arc::from(name.unwrap_or(&directory));
    let of_source = |path: PathBuf| DocumentSpec::new(path, ID, Layer::Pack).of_source(root, &*name);
    let first = loader.documents.len();
    let mut seen = BTreeSet::new();
    let standard = root.join(HOOKS);
    seen.extend(loader.request.files.canonical(&standard));
    loader.optional(of_source(standard));
    if let Some(member) = top.and_then(|top| top.get("hooks")) {
        let mut report = Report::new(&opened.source);
        let mut named = Vec::new();
        match &member.value.kind {
            Kind::String(_) => named.extend(path_of(&member.value, "/hooks", root, &mut report)),
            Kind::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    named.extend(path_of(item, &step("/hooks", index), root, &mut report));
                }
            }
            Kind::Object(_) => inline(loader, &member.value, &of_source(manifest.path), &mut report),
            _ => report.wrong_type("/hooks", &member.value, "a path, a list of paths or an object"),
        }
        for named in named {
            named_file(loader, named, &mut seen, &of_source, &mut report);
        }
        loader.diagnostics.append(&mut report.diagnostics);
    }
    skills::of_plugin(loader, root, &name);
    let defaults = top.map(|top| defaults(top, &opened.source.text)).unwrap_or_default();
    loader.each_hook_from(first, |hook| hook.grants.options.clone_from(&defaults));
    loader.sources.push(opened.source);
}

/// The options that a plugin declares with a value of their own ("Plugins reference, User configuration").
fn defaults(manifest: &Node, text: &str) -> BTreeMap<String, String> {
    let declared = manifest.get("userConfig").map(|member| member.value.members()).unwrap_or_default();
    let given = declared.iter().filter_map(|option| {
        let default = option.value.get("default")?.value.to_value(text);
        Some((option.key.clone(), option_text(&default)?))
    });
    given.collect()
}

/// A file that the manifest names.
struct Named<'n> {
    path: PathBuf,
    node: &'n Node,
    pointer: String,
}

fn path_of<'n>(node: &'n Node, pointer: &str, root: &Path, report: &mut Report<'_>) -> Option<Named<'n>> {
    let Some(text) = node.as_str() else {
        report.wrong_type(pointer, node, "a path");
        return None;
    };
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if text.is_empty() || !Path::new(text).components().all(plain) {
        let message = format!("{text:?} leads out of the plugin; it is not read");
        let finding = report.at(codes::UNREADABLE_FILE, pointer, node.span, message);
        report.push(finding.help("write a path inside of the plugin that begins with `./`"));
        return None;
    }
    let path = Path::new(text).components().filter(|part| *part != Component::CurDir);
    Some(Named { path: root.join(path.collect::<PathBuf>()), node, pointer: pointer.to_owned() })
}

fn named_file(
    loader: &mut Loader<'_>,
    named: Named<'_>,
    seen: &mut BTreeSet<PathBuf>,
    of_source: &dyn Fn(PathBuf) -> DocumentSpec,
    report: &mut Report<'_>,
) {
    let shown = named.node.as_str().unwrap_or_default();
    let Ok(canonical) = loader.request.files.canonical(&named.path) else {
        let message = format!("{shown:?} does not exist");
        let finding = report.at(codes::UNREADABLE_FILE, &named.pointer, named.node.span, message);
        report.push(finding.help("correct the path, or remove it"));
        return;
    };
    if !seen.insert(canonical) {
        let message = format!("{shown:?} is read already; its hooks run once here, and its agent refuses it");
        let finding = report.at(codes::HOOKS_FILE_LOADED_TWICE, &named.pointer, named.node.span, message);
        report.push(
            finding
                .help(format!("remove it: {HOOKS} is read by itself, and any other file needs one mention")),
        );
        return;
    }
    loader.optional(of_source(named.path));
}

/// Hooks in the manifest itself: the events, or once more an object with `hooks`.
fn inline(loader: &mut Loader<'_>, node: &Node, spec: &DocumentSpec, report: &mut Report<'_>) {
    let Some(dialect) = loader.request.dialects.get(ID).cloned() else { return };
    let own = Report::new(report.source);
    let mut reader = Reader::new(spec, dialect.as_ref(), loader.request.dialects, &PLUGIN, own);
    let mut bindings = Vec::new();
    match node.get("hooks") {
        Some(inner) => reader.events(&inner.value, "/hooks/hooks", &mut bindings),
        None => reader.events(node, "/hooks", &mut bindings),
    }
    reader.none_loaded(node);
    let document = reader.finish(bindings, serde_json::Map::new(), None);
    report.diagnostics.append(&mut reader.report.diagnostics);
    loader.documents.push(document);
}
