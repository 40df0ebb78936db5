//! What the settings do to hooks: switch them off, bound where they may reach, and give plugins their options.

use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{CommandHandler, Diagnostic, Document, Handler, Hook, HostContext, HttpPolicy, Layer};
use hook_matcher::UrlPattern;
use serde_json::Value;

use super::settings::Settings;
use crate::refusal::refuse;

/// Applies the settings to all documents, of which those from `packs` on are plugins; gives what was found.
pub(super) fn apply(
    settings: &Settings,
    host: &HostContext,
    documents: &mut [Document],
    packs: usize,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let urls = settings.list("allowedHttpHookUrls");
    let patterns: Option<Vec<UrlPattern>> =
        urls.as_ref().map(|urls| urls.iter().map(|url| UrlPattern::new(url)).collect());
    let http = HttpPolicy {
        urls: urls.into_iter().collect(),
        variables: settings.list("httpHookAllowedEnvVars").into_iter().collect(),
        ..HttpPolicy::default()
    };
    let http = (!http.is_open()).then(|| Arc::new(http));
    for (index, document) in documents.iter_mut().enumerate() {
        let plugin = plugin_of(document).filter(|_| index >= packs);
        let options = plugin.map(|name| settings.plugin_options(name)).unwrap_or_default();
        let off = off(settings, host, document.layer, plugin);
        let options_of_nobody = document.switches.contains_key("pluginConfigs");
        if options_of_nobody && settings.is_of_a_repository(index, document.layer) {
            findings.extend(options_of_a_repository(document));
        }
        for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
            let hook = Arc::make_mut(hook);
            hook.grants.options.extend(options.iter().map(|(key, value)| (key.clone(), value.clone())));
            if let Some(why) = &off {
                hook.enabled = false;
                hook.disabled_because.get_or_insert_with(|| why.clone());
            }
            if let Handler::Http(handler) = &hook.handler {
                hook.grants.http.clone_from(&http);
                let fits = |pattern: &UrlPattern| pattern.matches(&handler.url);
                if patterns.as_ref().is_some_and(|patterns| !patterns.iter().any(fits)) {
                    let why = format!(
                        "the settings allow no hook to be sent to {} (`allowedHttpHookUrls`)",
                        handler.shown_url()
                    );
                    findings.extend(refuse(hook, codes::URL_NOT_ALLOWED, "url", why));
                }
            } else if let Some(key) = missing_option(hook) {
                let why =
                    format!("`${{user_config.{key}}}` has no value: no settings that are read here give one");
                let finding = refuse(hook, codes::OPTION_WITHOUT_VALUE, "", why);
                findings.extend(finding.map(|finding| {
                    finding.help(format!(
                        "put it into your user settings, under `pluginConfigs`, the plugin's name, `options`, `{key}`"
                    ))
                }));
            }
        }
    }
    findings
}

/// The plugin of a document that came with one; its skills and commands bear its name before their own.
fn plugin_of(document: &Document) -> Option<&str> {
    let name = document.source.as_deref()?;
    Some(match document.layer {
        Layer::Pack => name,
        _ => name.split_once(':').map_or(name, |(plugin, _)| plugin),
    })
}

/// Why all hooks of a document are off ("Claude Code settings reference, disableAllHooks").
fn off(settings: &Settings, host: &HostContext, layer: Layer, plugin: Option<&str>) -> Option<String> {
    let set = |name: &str| host.variable(name).is_some_and(is_on);
    let managed = |name: &str| settings.managed(name).and_then(Value::as_bool);
    let forced = plugin.is_some_and(|name| settings.plugin_is_forced(name));
    if managed("disableAllHooks") == Some(true) {
        return Some("the managed settings set `disableAllHooks`".into());
    }
    if layer == Layer::Managed {
        return None;
    }
    // The documentation says that a simple session has no hooks at all; its client leaves the managed ones, which is safer.
    for variable in ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"] {
        if set(variable) {
            return Some(format!("{variable} is set, which leaves hooks of the managed settings only"));
        }
    }
    if forced {
        return None;
    }
    if settings.flag("disableAllHooks") == Some(true) {
        return Some("the settings set `disableAllHooks`".into());
    }
    if managed("allowManagedHooksOnly") == Some(true) {
        return Some("the managed settings set `allowManagedHooksOnly`".into());
    }
    let areas = settings.managed("strictPluginOnlyCustomization");
    let of_hooks = areas.is_some_and(|value| match value {
        Value::Array(list) => list.iter().any(|item| item == "hooks"),
        value => *value == Value::Bool(true),
    });
    if of_hooks && plugin.is_none() {
        return Some(
            "the managed settings take hooks from plugins only (`strictPluginOnlyCustomization`)".into(),
        );
    }
    let name = plugin.filter(|name| settings.plugin_enabled(name) == Some(false))?;
    Some(format!("the settings switch the plugin {name} off (`enabledPlugins`)"))
}

/// As its client reads variables that are switches.
fn is_on(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
}

/// The first option in the words of a program that has no value. The words would go out as they stand, and a shell line is
/// refused where it is read.
fn missing_option(hook: &Hook) -> Option<String> {
    let Handler::Command(CommandHandler { command, args: Some(args), .. }) = &hook.handler else {
        return None;
    };
    let words = std::iter::once(command).chain(args);
    let mut keys = words.flat_map(|word| {
        let after = word.match_indices("${user_config.").map(|(at, opening)| &word[at + opening.len()..]);
        after.filter_map(|rest| rest.split_once('}').map(|(key, _)| key))
    });
    keys.find(|key| !hook.grants.options.contains_key(*key)).map(String::from)
}

fn options_of_a_repository(document: &Document) -> Option<Diagnostic> {
    let message = format!("`pluginConfigs` in {} settings does not count; it is left out", document.layer);
    let finding = Diagnostic::new(codes::SETTING_NOT_ALLOWED_HERE, message).pointer("/pluginConfigs");
    Some(finding.in_file(document.file.clone()?).help("put it into your user settings"))
}
