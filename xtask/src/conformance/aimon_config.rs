//! Cases of `aimon/config` and `aimon/frontmatter`: which handlers files hold, and what is wrong with them.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, Result};
use hook_engine::config::{DocumentSpec, parse};
use hook_engine::core::diagnostic::codes;
use hook_engine::core::{
    Code, CommandHandler, Diagnostic, Dialect, Document, Handler, Hook, Layer, MemoryFiles, Scope, Severity,
};
use hook_engine::mapper::Dialects;
use serde_json::{Map, Value, json};

use super::world;
use crate::check::Check;

/// An event that the agent knows and does not fire.
pub(super) const UNSUPPORTED: Code = codes::UNSUPPORTED_EVENT;

/// Findings of a file that is no hook file at all.
const NO_HOOK_FILE: &[Code] = &[
    codes::INVALID_JSON,
    codes::NOT_UTF8,
    codes::TOO_DEEP,
    codes::NOT_AN_OBJECT,
    codes::HOOKS_NOT_AN_OBJECT,
    codes::HOOKS_NOT_A_LIST,
    codes::ENTRY_NOT_AN_OBJECT,
];

/// A matcher that cannot be read, and is taken for a name.
pub(super) fn is_fallback(code: Code) -> bool {
    [codes::MATCHER_NAME_FALLBACK, codes::MATCHER_UNREADABLE].contains(&code)
}

pub(super) fn config(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect("aimon")?;
    let mut files = MemoryFiles::new();
    let mut texts = Map::new();
    for (name, content) in check.given("files").and_then(Value::as_object).context("no files")? {
        let path = world::path(name, world::PROJECT, world::HOME);
        let text = match content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        texts.insert(path.clone(), serde_json::from_str(&text).unwrap_or_default());
        files = files.with(path, text);
    }
    let loaded = world::load_tree(&files, dialect.profile().id, Map::new());
    let actual = handlers(dialect.as_ref(), &loaded.documents, None);
    compare(check, &actual)?;

    let found: BTreeSet<(String, &str)> = loaded
        .diagnostics
        .iter()
        .filter_map(|finding| {
            let level = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warn",
                Severity::Info => return None,
            };
            Some((level.to_owned(), about(finding, &texts)?))
        })
        .collect();
    let found: Vec<Value> =
        found.into_iter().map(|(level, about)| json!({"level": level, "about": about})).collect();
    let listed = |key: &str| check.expected(key).and_then(Value::as_array).cloned();
    let may = listed("diagnostics_may_include").unwrap_or_default();
    if let Some(expected) = listed("diagnostics") {
        let missing = expected.iter().any(|wanted| !found.contains(wanted));
        let more = found.iter().any(|found| !expected.contains(found) && !may.contains(found));
        if missing || more {
            check.mismatch("diagnostics", json!(expected), json!(found));
        }
    }
    Ok(())
}

/// The word of the cases for a finding; `None` for findings that they do not speak of.
fn about(finding: &Diagnostic, files: &Map<String, Value>) -> Option<&'static str> {
    let code = finding.code;
    let pointer = finding.pointer.as_deref().unwrap_or_default();
    Some(match code {
        _ if code == codes::UNSUPPORTED_EVENT => "unsupported-event",
        _ if [codes::UNKNOWN_EVENT, codes::EVENT_OF_ANOTHER_DIALECT].contains(&code) => "unknown-event",
        _ if code == codes::GROUP_WITHOUT_HOOKS => "empty-handlers",
        _ if code == codes::HANDLER_TYPE_NOT_SUPPORTED => {
            let file = finding.file.as_deref().and_then(|file| files.get(file.to_str()?));
            let word = file.and_then(|file| file.pointer(pointer)).and_then(Value::as_str);
            let is_deny = word.is_some_and(|word| word.eq_ignore_ascii_case("deny"));
            if is_deny { "deny-not-on-pre-tool" } else { "command-only-event" }
        }
        _ if is_fallback(code) => "matcher-fallback",
        _ if code == codes::UNKNOWN_FIELD => "unknown-field",
        _ if code == codes::UNKNOWN_HANDLER_TYPE => "unknown-handler-type",
        _ if code == codes::MISSING_FIELD && pointer_has_no_type(finding, files) => "unknown-handler-type",
        _ if code == codes::TIMEOUT_NOT_A_NUMBER => "timeout-not-positive",
        _ if code == codes::TIMEOUT_OUT_OF_RANGE && finding.severity == Severity::Error => {
            "timeout-not-positive"
        }
        _ if NO_HOOK_FILE.contains(&code) => "parse-error",
        _ if code == codes::REWAKE_NOT_ON_EVENT => "rewake-unsupported-event",
        _ if [codes::MISSING_FIELD, codes::INVALID_URL, codes::INVALID_METHOD, codes::INVALID_HEADER]
            .contains(&code) =>
        {
            "invalid-handler"
        }
        _ => return None,
    })
}

/// A handler without `type` is one of no known type.
fn pointer_has_no_type(finding: &Diagnostic, files: &Map<String, Value>) -> bool {
    let file = finding.file.as_deref().and_then(|file| files.get(file.to_str()?));
    let handler = file.and_then(|file| file.pointer(finding.pointer.as_deref()?));
    handler.is_some_and(|handler| handler.is_object() && handler.get("type").is_none())
}

pub(super) fn frontmatter(check: &mut Check<'_>) -> Result<()> {
    let dialect = world::dialect("aimon")?;
    let markdown = check.given_text("markdown");
    let spec = DocumentSpec {
        path: format!("{}/.aimon/skills/skill/SKILL.md", world::PROJECT).into(),
        dialect: dialect.profile().id,
        layer: Layer::Skill,
        root: Some(format!("{}/.aimon/skills/skill", world::PROJECT).into()),
        source: Some("skill".into()),
        scope: Scope::Always,
    };
    let parsed = parse(markdown.as_bytes(), &spec, &Dialects::standard());
    let documents: Vec<Document> = parsed.document.into_iter().collect();
    let actual = handlers(dialect.as_ref(), &documents, Some("hooks."));
    compare(check, &actual)?;
    let errors: Vec<&Diagnostic> =
        parsed.diagnostics.iter().filter(|finding| finding.severity == Severity::Error).collect();
    check.equals("error", &json!(!errors.is_empty()));
    if let Some(expected) = check.expected("about") {
        let words: Vec<String> = errors.iter().flat_map(|finding| words(finding, markdown)).collect();
        if !words.iter().any(|word| expected == word) {
            check.mismatch("about", expected.clone(), json!(words));
        }
    }
    Ok(())
}

/// What a finding in a frontmatter is about: the member that it names, and the type of the action that is not taken there.
fn words(finding: &Diagnostic, text: &str) -> Vec<String> {
    if finding.code == codes::UNKNOWN_EVENT {
        return vec!["unknown-event".to_owned()];
    }
    let pointer = finding.pointer.as_deref().unwrap_or_default();
    let mut words: Vec<String> = pointer.rsplit('/').next().map(str::to_owned).into_iter().collect();
    if finding.code == codes::HANDLER_TYPE_NOT_SUPPORTED || finding.code == codes::UNKNOWN_HANDLER_TYPE {
        let span = finding.labels.first().map(|label| label.location.span);
        let word = span.and_then(|span| text.get(span.start..span.end));
        words.extend(word.map(|word| word.trim_matches(['"', '\'']).to_owned()));
    }
    if finding.code == codes::MISSING_FIELD {
        words.extend(finding.message.split('"').nth(1).map(str::to_owned));
    }
    words
}

/// Every handler that runs, with what a case may assert of it.
fn handlers(dialect: &dyn Dialect, documents: &[Document], skill: Option<&str>) -> Vec<Value> {
    let bindings = documents.iter().flat_map(|document| &document.bindings);
    described(dialect, bindings.flat_map(|binding| &binding.hooks), skill)
}

/// The enabled ones of these hooks, in the words of the cases.
pub(super) fn described<'a>(
    dialect: &dyn Dialect,
    hooks: impl Iterator<Item = &'a Arc<Hook>>,
    skill: Option<&str>,
) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    // An event of several kinds stands in one binding for each.
    let own = hooks
        .filter(|hook| hook.enabled && seen.insert((hook.origin.file.clone(), hook.origin.pointer.clone())));
    own.map(|hook| describe(dialect, hook, skill)).collect()
}

pub(super) fn describe(dialect: &dyn Dialect, hook: &Hook, skill: Option<&str>) -> Value {
    let event = dialect.event_row(&hook.event_name).map_or("", |row| row.name);
    let (entry, handler) = (hook.origin.entry, hook.origin.handler);
    let kind = hook.handler.kind();
    let own = hook.limits.timeout;
    let timeout = own.unwrap_or_else(|| (dialect.profile().default_timeout)(&hook.event, kind));
    let id = match skill {
        Some(prefix) => format!("{prefix}{event}[{entry}]"),
        None => format!("{event}[{entry}][{handler}]"),
    };
    let mut value = json!({
        "event": event,
        "source": source(dialect, hook),
        "matcher": hook.matcher.text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or("*"),
        "type": match (kind.name(), skill) {
            ("command", Some(_)) => "shell",
            (name, _) => name,
        },
        "timeout_ms": u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
        "hook_id_suffix": id,
        "rewake": hook.rewake.as_ref().map(|spec| json!(spec)),
    });
    match &hook.handler {
        Handler::Command(CommandHandler { command, .. }) => value["command"] = json!(command),
        Handler::Http(http) => {
            value["url"] = json!(http.url);
            value["method"] = json!(http.method.name());
        }
        Handler::Mcp(call) => {
            value["server"] = json!(call.server);
            value["tool"] = json!(call.tool);
        }
        Handler::Deny { reason } => value["reason"] = json!(reason),
        _ => {}
    }
    value
}

/// The source name, as the hook itself is told it.
fn source(dialect: &dyn Dialect, hook: &Hook) -> Option<String> {
    let event = super::aimon::fire(dialect, &hook.event_name, Map::new()).ok()?.events.into_iter().next()?;
    let (host, session) = (world::host(), hook_engine::core::SessionView::default());
    let cx = hook_engine::core::HookCx { event: &event, hook, session: &session, host: &host };
    let variables = dialect.variables(&cx);
    let value = variables.into_iter().find(|(name, _)| name == "AIMON_SKILL_NAME")?.1;
    value.into_string().ok()
}

/// Handlers are compared per event, in order; only members that a case names.
fn compare(check: &mut Check<'_>, actual: &[Value]) -> Result<()> {
    let Some(expected) = check.expected("handlers").and_then(Value::as_array) else { return Ok(()) };
    let of = |all: &[Value], event: &Value| -> Vec<Value> {
        all.iter().filter(|handler| handler["event"] == *event).cloned().collect()
    };
    let events: Vec<Value> = expected.iter().chain(actual).map(|handler| handler["event"].clone()).collect();
    let mut done: Vec<Value> = Vec::new();
    for event in events {
        if done.contains(&event) {
            continue;
        }
        let (wanted, found) = (of(expected, &event), of(actual, &event));
        if wanted.len() != found.len() {
            check.mismatch(format!("handlers of {event}"), json!(wanted), json!(found));
        } else {
            for (index, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
                let members = wanted.as_object().context("a handler is no object")?;
                for key in members.keys().filter(|key| found.get(key.as_str()).is_none()) {
                    check.fail(format!("handlers of {event}: the runner does not know {key:?}"));
                }
                check.includes(&format!("handlers of {event}[{index}]"), members, found);
            }
        }
        done.push(event);
    }
    Ok(())
}
