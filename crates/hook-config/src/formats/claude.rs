//! Claude Code's settings files and plugins ("Claude Code hooks reference, Hook locations").

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{DialectId, Document, EntryKind, HandlerKind, Layer};
use serde_json::Value;

use super::{Format, Rules, Tolerance, Untyped, lies_in};
use crate::ids;
use crate::json::{Kind, Node};
use crate::load::Loader;
use crate::report::{Report, step};
use crate::shape::Reader;
use crate::spec::DocumentSpec;
use crate::text;

const ID: DialectId = DialectId("claude");

const MANAGED: &str = "/etc/claude-code";
const MANIFEST: &str = ".claude-plugin/plugin.json";
const HOOKS: &str = "hooks/hooks.json";

pub(super) const FORMAT: Format = Format {
    id: ID,
    always: false,
    rules: |layer| if layer == Layer::Pack { &PLUGIN } else { &SETTINGS },
    load,
    guess,
    special: |loader, spec| {
        let manifest = spec.path.ends_with(MANIFEST);
        if manifest && let Some(root) = spec.path.parent().and_then(Path::parent) {
            plugin(loader, root);
        }
        manifest
    },
    module: None,
};

const COMMAND: &[&str] = &[
    "type",
    "if",
    "timeout",
    "statusMessage",
    "once",
    "command",
    "args",
    "async",
    "asyncRewake",
    "rewakeMessage",
    "rewakeSummary",
    "shell",
    "onFailure",
    "cloud",
];
const HTTP: &[&str] = &[
    "type",
    "if",
    "timeout",
    "statusMessage",
    "once",
    "url",
    "headers",
    "allowedEnvVars",
    "onFailure",
    "cloud",
];
const MCP: &[&str] = &["type", "if", "timeout", "statusMessage", "once", "server", "tool", "input"];
const PROMPT: &[&str] =
    &["type", "if", "timeout", "statusMessage", "once", "prompt", "model", "continueOnBlock"];
// What a type that does not exist would want is not known.
const ANY: &[&str] = &[
    "type",
    "if",
    "timeout",
    "statusMessage",
    "once",
    "command",
    "args",
    "async",
    "asyncRewake",
    "rewakeMessage",
    "rewakeSummary",
    "shell",
    "onFailure",
    "cloud",
    "url",
    "headers",
    "allowedEnvVars",
    "server",
    "tool",
    "input",
    "prompt",
    "model",
    "continueOnBlock",
];

const fn rules(top: Option<&'static [&'static str]>) -> Rules {
    Rules {
        lax: Tolerance::Warn,
        bom: Tolerance::Warn,
        naked: Tolerance::Refuse,
        flat: Tolerance::Refuse,
        single_group: false,
        null_matcher: false,
        empty_group_is_fine: false,
        top,
        switches: &[
            "disableAllHooks",
            "allowManagedHooksOnly",
            "strictPluginOnlyCustomization",
            "allowedHttpHookUrls",
            "httpHookAllowedEnvVars",
            "enabledPlugins",
        ],
        group: &["matcher", "hooks"],
        types: &[
            ("command", HandlerKind::Command),
            ("http", HandlerKind::Http),
            ("mcp_tool", HandlerKind::Mcp),
            ("prompt", HandlerKind::Prompt),
            ("agent", HandlerKind::Agent),
        ],
        untyped: Untyped::Refuse,
        fields: |kind| match kind {
            HandlerKind::Command => COMMAND,
            HandlerKind::Http => HTTP,
            HandlerKind::Mcp => MCP,
            HandlerKind::Prompt | HandlerKind::Agent => PROMPT,
            _ => ANY,
        },
        once_everywhere: false,
        agent_stop_is_subagent_stop: true,
        no_user_config_in_shell: Some(
            "give it \"args\", or read the variable CLAUDE_PLUGIN_OPTION_<KEY> in the script",
        ),
        failure_tables: false,
        foreign_events: false,
    }
}

static SETTINGS: Rules = rules(None);
static PLUGIN: Rules = rules(Some(&["$schema", "name", "version", "description", "hooks"]));

fn load(loader: &mut Loader<'_>) {
    let first = loader.documents.len();
    let host = loader.request.host;
    let project = host.project.join(".claude");
    let managed = Path::new(MANAGED);
    loader.optional(DocumentSpec::new(managed.join("managed-settings.json"), ID, Layer::Managed));
    let drop_ins = managed.join("managed-settings.d");
    for entry in loader.entries(&drop_ins) {
        if entry.kind == EntryKind::File
            && Path::new(&entry.name).extension().is_some_and(|end| end == "json")
        {
            loader.optional(DocumentSpec::new(drop_ins.join(&entry.name), ID, Layer::Managed));
        }
    }
    let user = host.home.as_ref().map(|home| home.join(".claude/settings.json"));
    let own = project.join("settings.json");
    if let Some(user) = user.filter(|user| *user != own) {
        loader.optional(DocumentSpec::new(user, ID, Layer::User));
    }
    loader.optional(DocumentSpec::new(own, ID, Layer::Project));
    loader.optional(DocumentSpec::new(project.join("settings.local.json"), ID, Layer::Local));
    plugins(loader);
    let documents = &mut loader.documents[first..];
    switches(documents);
    ids::disable_copies(documents.iter_mut().filter(|document| document.layer != Layer::Pack));
}

/// The plugins that were named, and the project where it is a plugin itself; each once.
fn plugins(loader: &mut Loader<'_>) {
    let project = &loader.request.host.project;
    let is_plugin = |root: &Path| {
        [MANIFEST, HOOKS]
            .iter()
            .any(|file| matches!(loader.request.files.kind(&root.join(file)), Ok(EntryKind::File)))
    };
    let own = is_plugin(project).then(|| project.clone());
    let roots: Vec<PathBuf> = loader.request.plugin_roots.iter().cloned().chain(own).collect();
    let mut seen = BTreeSet::new();
    for root in roots {
        let canonical = loader.request.files.canonical(&root).unwrap_or_else(|_| root.clone());
        if seen.insert(canonical) {
            plugin(loader, &root);
        }
    }
}

/// The hooks of one plugin: the file that is read by convention, and what the manifest names beside it.
fn plugin(loader: &mut Loader<'_>, root: &Path) {
    let manifest = DocumentSpec::new(root.join(MANIFEST), ID, Layer::Pack);
    let directory = root.file_name().map_or_else(|| "plugin".into(), |name| name.to_string_lossy());
    let opened = match text::read(loader.request.files, &manifest.path) {
        Ok(bytes) => bytes.map(|bytes| text::open(&bytes, &manifest.path, &PLUGIN)),
        Err(finding) => {
            loader.diagnostics.push(*finding);
            None
        }
    };
    let Some(opened) = opened else {
        let spec = DocumentSpec::new(root.join(HOOKS), ID, Layer::Pack);
        loader.optional(spec.of_source(root, directory));
        return;
    };
    loader.diagnostics.extend(opened.diagnostics);
    let top = opened.tree.as_ref().map(|tree| &tree.root);
    let name = top.and_then(|top| top.get("name")).and_then(|member| member.value.as_str());
    let name: Arc<str> = Arc::from(name.unwrap_or(&directory));
    let of_source = |path: PathBuf| DocumentSpec::new(path, ID, Layer::Pack).of_source(root, &*name);
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
    loader.sources.push(opened.source);
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
    let own = Report { source: report.source, diagnostics: Vec::new() };
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

/// Turns off what the switches of the settings turn off ("Claude Code settings reference, disableAllHooks").
fn switches(documents: &mut [Document]) {
    let value = |layer: Layer, name: &str| {
        let of_layer = documents.iter().filter(|document| document.layer == layer);
        of_layer.filter_map(|document| document.switches.get(name)).next_back().cloned()
    };
    let flag = |layer, name| value(layer, name).and_then(|value| value.as_bool());
    let disabled_for_all = flag(Layer::Managed, "disableAllHooks");
    let below = [Layer::Local, Layer::Project, Layer::User];
    let disabled =
        disabled_for_all.or_else(|| below.into_iter().find_map(|layer| flag(layer, "disableAllHooks")));
    let managed_only = flag(Layer::Managed, "allowManagedHooksOnly") == Some(true);
    let plugins_only = value(Layer::Managed, "strictPluginOnlyCustomization")
        .is_some_and(|value| value.as_array().is_some_and(|list| list.iter().any(|item| item == "hooks")));
    let forced = value(Layer::Managed, "enabledPlugins").unwrap_or(Value::Null);
    let is_forced = |source: Option<&str>| {
        let Value::Object(plugins) = &forced else { return false };
        let named = |key: &str| key.split('@').next() == source;
        plugins.iter().any(|(key, value)| named(key) && *value == Value::Bool(true))
    };
    for document in documents.iter_mut() {
        let layer = document.layer;
        let managed =
            layer == Layer::Managed || (layer == Layer::Pack && is_forced(document.source.as_deref()));
        let why = if disabled_for_all == Some(true) {
            "the managed settings set `disableAllHooks`"
        } else if managed {
            continue;
        } else if disabled == Some(true) {
            "the settings set `disableAllHooks`"
        } else if managed_only {
            "the managed settings set `allowManagedHooksOnly`"
        } else if plugins_only && layer != Layer::Pack {
            "the managed settings take hooks from plugins only (`strictPluginOnlyCustomization`)"
        } else {
            continue;
        };
        for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
            let hook = Arc::make_mut(hook);
            hook.enabled = false;
            hook.disabled_because.get_or_insert_with(|| why.to_owned());
        }
    }
}

fn guess(path: &Path) -> Option<DocumentSpec> {
    let name = path.file_name()?.to_str()?;
    if path.ends_with(MANIFEST) {
        return Some(DocumentSpec::new(path, ID, Layer::Pack));
    }
    if path.ends_with(HOOKS) && !lies_in(path, ".hooks") && !lies_in(path, ".amplifier") {
        let root = path.parent()?.parent()?;
        let source =
            root.file_name().map_or_else(|| "plugin".into(), |name| name.to_string_lossy().into_owned());
        return Some(DocumentSpec::new(path, ID, Layer::Pack).of_source(root, source));
    }
    let layer = match name {
        "settings.json" => Layer::Project,
        "settings.local.json" => Layer::Local,
        "managed-settings.json" => Layer::Managed,
        _ => return None,
    };
    let here = lies_in(path, ".claude") || layer == Layer::Managed;
    here.then(|| DocumentSpec::new(path, ID, layer))
}
