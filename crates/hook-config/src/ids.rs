//! The ids of hooks.
//!
//! A hook without an explicit id gets one from its content: the layer, the source, the event, the matcher, everything its
//! handler says, and its number among exact copies. So other hooks may come, go and move without changing it. `enabled` and
//! `priority` are left out: a hook that is switched off or moved is still the same hook.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{
    BodyTemplate, CommandHandler, Diagnostic, Document, Handler, Hook, HookId, Location, McpHandler,
    OnFailure,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Bytes of the digest that an id shows.
const SHOWN: usize = 6;

/// Gives every hook its id. Explicit ids stand in `hook.id` already; an empty one is derived.
pub(crate) fn assign(documents: &mut [Document]) -> Vec<Diagnostic> {
    let mut copies: HashMap<[u8; 32], usize> = HashMap::new();
    let mut explicit: HashMap<Arc<str>, Option<Location>> = HashMap::new();
    let mut diagnostics = Vec::new();
    for document in documents {
        // A handler that hears several events stands in one binding for each of them, with one id.
        let mut seen: HashMap<String, HookId> = HashMap::new();
        for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
            let hook = Arc::make_mut(hook);
            if let Some(id) = seen.get(&hook.origin.pointer) {
                hook.id = id.clone();
                continue;
            }
            let given = hook.id.0.clone();
            if given.is_empty() {
                hook.id = derived(hook, &mut copies);
            } else if let Some(first) = explicit.get(&given) {
                diagnostics.push(clash(hook, &given, first.as_ref()));
                hook.id = derived(hook, &mut copies);
            } else {
                explicit.insert(given, hook.origin.location.clone());
            }
            seen.insert(hook.origin.pointer.clone(), hook.id.clone());
        }
    }
    diagnostics
}

fn clash(hook: &Hook, id: &str, first: Option<&Location>) -> Diagnostic {
    let message = format!("the id {id:?} is taken already; this hook gets an id from its content");
    let mut finding =
        Diagnostic::new(codes::DUPLICATE_ID, message).pointer(format!("{}/id", hook.origin.pointer));
    if let Some(location) = &hook.origin.location {
        finding = finding.at(location.clone(), "the second one");
    }
    if let Some(location) = first {
        finding = finding.at(location.clone(), "the first one");
    }
    finding.help("give it an id of its own")
}

fn derived(hook: &Hook, copies: &mut HashMap<[u8; 32], usize>) -> HookId {
    let content = content(hook);
    let key: [u8; 32] = Sha256::digest(content.as_bytes()).into();
    let ordinal = copies.entry(key).or_default();
    let digest: [u8; 32] = match *ordinal {
        0 => key,
        copy => Sha256::new().chain_update(content).chain_update(format!("#{copy}")).finalize().into(),
    };
    *ordinal += 1;
    let mut id = format!("{}-", hook.event_name);
    for byte in digest.iter().take(SHOWN) {
        // Writing into a string cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    HookId::new(id)
}

/// Everything that makes a hook the hook it is, each part with its length before it, so that no two hooks read alike.
///
/// Every start of the command comes through here for every hook, hence plain text and no JSON.
pub(crate) fn content(hook: &Hook) -> String {
    let mut text = String::with_capacity(256);
    let mut put = |part: &str| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{}:{part}", part.len());
    };
    put(hook.origin.layer.name());
    put(hook.origin.source.as_deref().unwrap_or_default());
    put(hook.dialect.0);
    put(&hook.event_name);
    put(hook.matcher.text.as_deref().unwrap_or("*"));
    put(hook.handler.kind().name());
    match &hook.handler {
        Handler::Command(CommandHandler { command, args, shell }) => {
            put(command);
            put(shell.name());
            put(if args.is_some() { "exec" } else { "shell" });
            args.iter().flatten().for_each(|arg| put(arg));
        }
        Handler::Http(http) => {
            put(&http.url);
            put(http.method.name());
            for (name, value) in &http.headers {
                put(name);
                put(value);
            }
            match &http.body {
                None => put(""),
                Some(BodyTemplate::Text(text)) => {
                    put("text");
                    put(text);
                }
                Some(BodyTemplate::Json(value)) => {
                    let mut document = String::new();
                    canonical(value, &mut document);
                    put("json");
                    put(&document);
                }
            }
            put(&http.allowed_env_vars.len().to_string());
            http.allowed_env_vars.iter().for_each(|name| put(name));
            put(http.follow_redirects.map_or("", |follow| if follow { "follow" } else { "stay" }));
        }
        Handler::Mcp(McpHandler { server, tool, input, allowed_env_vars }) => {
            put(server);
            put(tool);
            let mut arguments = String::new();
            canonical(&Value::Object(input.clone()), &mut arguments);
            put(&arguments);
            allowed_env_vars.iter().for_each(|name| put(name));
        }
        Handler::Prompt(asked) | Handler::Agent(asked) => {
            put(&asked.prompt);
            put(asked.model.as_deref().unwrap_or_default());
            put(if asked.continue_on_block { "continue" } else { "" });
        }
        other => put(&other.summary()),
    }
    put(&hook.limits.timeout.map(|timeout| timeout.as_millis().to_string()).unwrap_or_default());
    put(if hook.once { "once" } else { "" });
    put(if hook.background { "background" } else { "" });
    put(hook.condition.as_ref().map_or("", |condition| condition.text.as_str()));
    put(hook.on_failure.default.map_or("", OnFailure::name));
    for (kind, mode) in &hook.on_failure.by_kind {
        put(kind.name());
        put(mode.name());
    }
    if let Some(rewake) = &hook.rewake {
        put(&format!("{rewake:?}"));
    }
    if !hook.extra.is_empty() {
        let mut extra = String::new();
        canonical(&Value::Object(hook.extra.clone()), &mut extra);
        put(&extra);
    }
    text
}

fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for key in keys {
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                canonical(&members[key], out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// Disables exact copies of a handler among the settings files of one dialect: its agent runs such a handler once. The copy
/// of the highest authority stays.
pub(crate) fn disable_copies<'d>(documents: impl Iterator<Item = &'d mut Document>) {
    let mut seen: HashSet<String> = HashSet::new();
    for document in documents {
        for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
            if !hook.enabled {
                continue;
            }
            let mut plain = Hook::clone(hook);
            plain.origin.layer = hook_core::Layer::User;
            if !seen.insert(format!("{} {}", hook.event, content(&plain))) {
                let hook = Arc::make_mut(hook);
                hook.enabled = false;
                hook.disabled_because =
                    Some("the same handler stands in another settings file; it runs once".to_owned());
            }
        }
    }
}
