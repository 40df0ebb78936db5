//! Cases of `claude-code/config`: which handlers a set of settings files holds, and which of them would run.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hook_engine::core::{
    Binding, CommandHandler, Diagnostic, Dialect, Document, Handler, HandlerKind, Hook, Layer, MemoryFiles,
    Scope, Source,
};
use hook_engine::registry::Generation;
use hook_engine::{core, exec};
use serde_json::{Map, Value, json};

use super::world;
use crate::check::{Check, fits};

/// The findings a case may name, by the slug that the libraries use.
const CODES: &[(&str, &str)] = &[
    ("unknown_event", "unknown-event"),
    ("exec_command_has_whitespace", "exec-command-has-whitespace"),
    ("handler_type_not_supported", "handler-type-not-supported"),
    ("user_config_in_shell_form", "user-config-in-shell-form"),
];

pub(super) fn config(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect("claude-code")?;
    let sources: Vec<(String, String)> = match check.given("sources").and_then(Value::as_array) {
        Some(list) => list
            .iter()
            .map(|source| {
                Ok((source["scope"].as_str().context("no scope")?.to_owned(), source["json"].to_string()))
            })
            .collect::<Result<_>>()?,
        None => vec![(check.given_text("scope").to_owned(), check.given_value("json").to_string())],
    };
    // Asked for in either shape, so that neither counts as unknown.
    let _ = (check.given("scope"), check.given("json"));

    let (documents, diagnostics) = load(dialect.as_ref(), &sources)?;
    let expected = check.expected("handlers").and_then(Value::as_array).cloned().unwrap_or_default();
    let actual = handlers(dialect.as_ref(), &documents)?;
    if check.expected("handlers").is_some() {
        judge_handlers(check, &expected, &actual);
    }
    judge_diagnostics(check, &diagnostics);
    Ok(())
}

/// Every expected handler is one of those there, each a different one: between sources there is no promised order. A handler
/// that a case does not name has to be one that never runs.
fn judge_handlers(check: &mut Check<'_>, expected: &[Value], actual: &[Value]) {
    let mut left: Vec<&Value> = actual.iter().collect();
    let is = |expected: &Value, actual: &Value| {
        expected.as_object().is_some_and(|members| {
            members.iter().all(|(key, value)| fits(value, actual.get(key).unwrap_or(&Value::Null)))
        })
    };
    let all_there = expected.iter().all(|wanted| {
        let found = left.iter().position(|actual| is(wanted, actual));
        found.map(|at| left.remove(at)).is_some()
    });
    if !all_there || left.iter().any(|actual| actual["runs"] == json!(true)) {
        check.mismatch("handlers", json!(expected), json!(actual));
    }
}

/// Files where Claude Code keeps them. What a skill or an agent brings counts as in force.
fn load(dialect: &dyn Dialect, sources: &[(String, String)]) -> Result<(Vec<Document>, Vec<Diagnostic>)> {
    let mut files = MemoryFiles::new();
    let mut plugins = Vec::new();
    let (project, home) = (world::PROJECT, world::HOME);
    // Whoever switched a plugin on has filled in the options that it asks for.
    let mut options = Map::new();
    for (number, (scope, text)) in sources.iter().enumerate() {
        // JSON is YAML, so the frontmatter is the document itself.
        let frontmatter = || {
            let mut members = serde_json::from_str::<Map<String, Value>>(text)?;
            members.insert("name".into(), json!(format!("alone-{number}")));
            members.insert("description".into(), json!("Alone"));
            Ok::<_, serde_json::Error>(format!("---\n{}\n---\n", Value::Object(members)))
        };
        let (path, content) = match scope.as_str() {
            "user" => (format!("{home}/.claude/settings.json"), text.clone()),
            "project" => (format!("{project}/.claude/settings.json"), text.clone()),
            "local" => (format!("{project}/.claude/settings.local.json"), text.clone()),
            "managed" => ("/etc/claude-code/managed-settings.json".to_owned(), text.clone()),
            "plugin" => {
                let root = format!("/case/plugins/alone-{number}");
                plugins.push(root.clone().into());
                options.insert(format!("alone-{number}"), json!({"options": asked_for(text)}));
                (format!("{root}/hooks/hooks.json"), text.clone())
            }
            "skill" => (format!("{project}/.claude/skills/alone-{number}/SKILL.md"), frontmatter()?),
            "agent" => (format!("{project}/.claude/agents/alone-{number}.md"), frontmatter()?),
            other => bail!("no scope {other:?}"),
        };
        files = files.with(path, content);
    }
    let given = json!({"pluginConfigs": options}).to_string();
    let given = (!options.is_empty()).then(|| Source::new(Path::new("options"), given));
    let mut loaded =
        world::load_in(&world::host(), &files, dialect.profile().id, Map::new(), (plugins, given));
    for document in &mut loaded.documents {
        for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
            Arc::make_mut(hook).scope = Scope::Always;
        }
    }
    Ok((loaded.documents, loaded.diagnostics))
}

/// A value for every option whose place stands in a plugin's file.
fn asked_for(text: &str) -> Map<String, Value> {
    let places = text.split("${user_config.").skip(1).filter_map(|rest| rest.split_once('}'));
    places.map(|(key, _)| (key.to_owned(), json!("given"))).collect()
}

/// Every handler with what a case may assert of it. A handler that is left out as a repeat of another is not listed.
fn handlers(dialect: &dyn Dialect, documents: &[Document]) -> Result<Vec<Value>> {
    let (generation, _) = Generation::build(1, documents, None, &|_| false);
    let mut all: Vec<Value> = Vec::new();
    for (document, binding) in documents.iter().flat_map(|d| d.bindings.iter().map(move |b| (d, b))) {
        for hook in &binding.hooks {
            let runs = runs(dialect, &generation, hook)?;
            let value = describe(dialect, document, binding, hook, runs);
            let twin = |known: &Value| {
                ["event", "matcher", "type", "command", "url"].iter().all(|k| known[k] == value[k])
            };
            if runs || !all.iter().any(twin) {
                all.push(value);
            }
        }
    }
    Ok(all)
}

fn describe(dialect: &dyn Dialect, document: &Document, binding: &Binding, hook: &Hook, runs: bool) -> Value {
    let mut value = json!({
        "event": binding.event.name(),
        "matcher": hook.matcher.text,
        "type": match hook.handler.kind() {
            HandlerKind::Mcp => "mcp_tool",
            kind => kind.name(),
        },
        "timeout_s": exec::budget::effective_timeout(hook, dialect.profile()).as_secs_f64(),
        "async": hook.background,
        "once": hook.once,
        "scope": match document.layer {
            Layer::Pack => "plugin",
            other => other.name(),
        },
        "runs": runs,
    });
    match &hook.handler {
        Handler::Command(CommandHandler { command, args, .. }) => {
            value["command"] = json!(command);
            value["mode"] = json!(if args.is_some() { "exec" } else { "shell" });
        }
        Handler::Http(http) => value["url"] = json!(http.url),
        _ => {}
    }
    value
}

/// True where the hook would run on an event that its matcher fits: chosen, planned, and of a kind that the event takes.
/// Handlers of kinds that no executor runs yet count as running, as if the host had brought one.
fn runs(dialect: &dyn Dialect, generation: &Generation, hook: &Arc<Hook>) -> Result<bool> {
    let mut more = Map::new();
    let row = dialect.event_row(hook.event.name()).context("no such event")?;
    let value = hook.matcher.text.as_deref().filter(|text| text.chars().all(char::is_alphanumeric));
    if let Some(value) = value {
        match row.subject {
            core::Subject::Tool => drop(more.insert("tool_name".into(), json!(value))),
            core::Subject::Field(field) => drop(more.insert(field.into(), json!(value))),
            core::Subject::None => {}
        }
    }
    let incoming = world::read(dialect, world::claude_payload(hook.event.name(), &more))?;
    let event = world::event_of(incoming, &hook.event)?;
    let candidates = generation.select(&event);
    let Some(member) = candidates.iter().position(|candidate| Arc::ptr_eq(&candidate.hook, hook)) else {
        return Ok(false);
    };
    let plan = dialect.plan(&event, &candidates, &world::host());
    let planned =
        plan.stages.iter().flat_map(|stage| &stage.groups).any(|group| group.members.contains(&member));
    let kind = hook.handler.kind();
    Ok(planned && kind != HandlerKind::Unknown && row.handlers.contains(&kind))
}

fn judge_diagnostics(check: &mut Check<'_>, diagnostics: &[Diagnostic]) {
    let Some(expected) = check.expected("diagnostics").and_then(Value::as_array) else { return };
    let named: Vec<Value> = diagnostics
        .iter()
        .filter_map(|diagnostic| {
            let (name, _) = CODES.iter().find(|(_, slug)| *slug == diagnostic.code.slug())?;
            Some(json!({"code": name, "severity": diagnostic.severity.name()}))
        })
        .collect();
    let has = |wanted: &Value, found: &Value| {
        wanted
            .as_object()
            .is_some_and(|members| members.iter().all(|(key, value)| found.get(key) == Some(value)))
    };
    let all_there = expected.iter().all(|wanted| named.iter().any(|found| has(wanted, found)));
    let none_more = named.iter().all(|found| expected.iter().any(|wanted| has(wanted, found)));
    if !all_there || !none_more {
        check.mismatch("diagnostics", json!(expected), json!(named));
    }
}
