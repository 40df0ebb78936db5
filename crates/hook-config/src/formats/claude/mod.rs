//! Claude Code's settings files and plugins ("Claude Code hooks reference, Hook locations").
//!
//! Settings given on the command line count as local ones, above the file of that name.

mod plugins;
mod policy;
pub(super) mod servers;
mod settings;
mod skills;
mod tools;

use std::path::Path;

use hook_core::{DialectId, EntryKind, HandlerKind, Layer};

use super::{Format, Rules, Tolerance, Untyped, Ways, lies_in};
use crate::frontmatter;
use crate::ids;
use crate::load::Loader;
use crate::spec::DocumentSpec;
use crate::switches::Switch;

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
            plugins::load_one(loader, root);
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

const SWITCHES: &[(&str, Switch)] = &[
    ("disableAllHooks", Switch::Flag),
    ("allowManagedHooksOnly", Switch::Flag),
    ("strictPluginOnlyCustomization", Switch::Areas),
    ("allowedHttpHookUrls", Switch::AllowList),
    ("httpHookAllowedEnvVars", Switch::AllowList),
    ("enabledPlugins", Switch::Table),
    ("pluginConfigs", Switch::Table),
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
        // A plugin's own file switches nothing.
        switches: if top.is_some() { &[] } else { SWITCHES },
        group: &["matcher", "hooks"],
        tools: Some(&tools::TOOLS),
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
        skill_needs: &["description"],
        ways: Ways::USUAL,
        skill_relative: false,
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
    let flag = loader.documents.len();
    if let Some(source) = &loader.request.extra_settings {
        loader.take(&DocumentSpec::new(&*source.path, ID, Layer::Local), source.text.as_bytes());
    }
    let of_settings = first..loader.documents.len();
    skills::load(loader);
    let packs = loader.documents.len() - first;
    plugins::load_all(loader);
    let settings = settings::read(&loader.documents[of_settings.clone()], flag - first);
    let findings = policy::apply(&settings, host, &mut loader.documents[first..], packs);
    ids::disable_copies(loader.documents[of_settings].iter_mut());
    loader.diagnostics.extend(findings);
}

fn guess(path: &Path) -> Option<DocumentSpec> {
    let name = path.file_name()?.to_str()?;
    if frontmatter::is_markdown(path) {
        return lies_in(path, ".claude").then(|| frontmatter::spec(path, ID));
    }
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
