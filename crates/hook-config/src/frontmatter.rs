//! Hooks in the frontmatter of Markdown files: skills, slash commands, subagents.
//!
//! The frontmatter is the YAML between a first line `---` and the next such line ("Claude Code hooks reference, Hooks in skills
//! and agents"; "Shell hooks module for Amplifier, Skill-embedded hooks"). Its member `hooks` holds what a hook file holds under
//! the same name. The rest of the file is never looked at.

mod yaml;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Component, Path};
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{DialectId, Document, Layer, Scope, Severity, Source, Span};
use hook_mapper::Dialects;
use serde_json::Value;

use crate::formats;
use crate::json::{Kind, Member, Node, SyntaxError};
use crate::load::Parsed;
use crate::report::Report;
use crate::settings::Settings;
use crate::shape::Reader;
use crate::spec::DocumentSpec;
use crate::text::repeated;

/// The file of a skill.
pub(crate) const SKILL: &str = "SKILL.md";

const BOM: &str = "\u{feff}";

/// Members that a mistake elsewhere in the frontmatter does not cost.
const MEMBERS: &[&str] = &["name", "description", "hooks"];

/// True for a file whose hooks stand in a frontmatter.
pub(crate) fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"))
}

/// What a Markdown file is by its place: a skill by its name, a subagent by the nearest folder that tells, else a slash command,
/// whose hooks live like those of a skill. It is named after the folder or the file, until its frontmatter names it.
pub(crate) fn spec(path: &Path, dialect: DialectId) -> DocumentSpec {
    let skill = path.file_name() == Some(OsStr::new(SKILL));
    let tells =
        |part: &Component<'_>| ["agents", "commands", "skills"].iter().any(|name| part.as_os_str() == *name);
    let agent = !skill && path.components().rfind(tells).is_some_and(|part| part.as_os_str() == "agents");
    let folder = path.parent().unwrap_or(path);
    let name = if skill { folder.file_name() } else { path.file_stem() };
    let name = name.unwrap_or_default().to_string_lossy();
    let layer = if agent { Layer::Agent } else { Layer::Skill };
    DocumentSpec::new(path, dialect, layer).of_source(folder, name)
}

/// Where the frontmatter of a text lies.
enum Found {
    Nothing,
    /// From its first line to this one nothing closes it.
    Open,
    Closed(Range<usize>),
}

/// Finds the frontmatter; a text without a first line `---` has none.
fn find(text: &str) -> Found {
    let is_rule = |line: &str| line.strip_prefix("---").is_some_and(|rest| rest.trim().is_empty());
    let first = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let mut lines = text[first..].split_inclusive('\n');
    let Some(line) = lines.next().filter(|line| is_rule(line)) else { return Found::Nothing };
    let begin = first + line.len();
    let mut at = begin;
    for line in lines {
        if is_rule(line) {
            return Found::Closed(begin..at);
        }
        at += line.len();
    }
    Found::Open
}

/// The frontmatter's tree; `None` where there is none.
pub(crate) fn root(text: &str) -> Option<Node> {
    let Found::Closed(range) = find(text) else { return None };
    let source = Source::new(Path::new(""), "");
    Some(tree(text, range, &mut Report::new(&source)))
}

/// Reads a Markdown file. Without hooks it has no document.
pub(crate) fn read(bytes: &[u8], spec: &DocumentSpec, dialects: &Dialects) -> Parsed {
    // A body in another encoding is none of our business.
    let (text, broken_at) = match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), usize::MAX),
        Err(error) => (String::from_utf8_lossy(bytes), error.valid_up_to()),
    };
    let found = find(&text);
    let end = match &found {
        Found::Nothing => 0,
        Found::Closed(range) => range.end,
        Found::Open => text.len(),
    };
    let shown = text[end..].find('\n').map_or(text.len(), |line| end + line);
    let source = Source::new(spec.path.as_path(), &text[..shown]);
    let mut report = Report::new(&source);
    let document = match found {
        _ if broken_at < end => {
            let message = format!("byte {broken_at} is not UTF-8; none of the file's hooks run");
            let finding = report.at(codes::NOT_UTF8, "", Span::new(broken_at, broken_at + 1), message);
            report.push(finding.help("save the file as UTF-8"));
            None
        }
        Found::Nothing => {
            needed(spec, &|_| false, &mut report);
            None
        }
        Found::Open => {
            open(&text, &mut report);
            None
        }
        Found::Closed(range) => closed(&text, range, spec, dialects, &mut report),
    };
    let diagnostics = report.diagnostics;
    Parsed { document, diagnostics, source, settings: Settings::default() }
}

/// A frontmatter without an end. A rule at the top of an ordinary text looks the same, so only one with hooks is an error.
fn open(text: &str, report: &mut Report<'_>) {
    let has_hooks = text.lines().any(|line| line.starts_with("hooks:"));
    let severity = if has_hooks { Severity::Error } else { Severity::Warning };
    let first = text.find("---").unwrap_or_default();
    let message = "the frontmatter never ends; nothing of it is read, and none of its hooks run";
    let finding = report.at(codes::FRONTMATTER_NOT_CLOSED, "", Span::new(first, first + 3), message);
    report.push(finding.severity(severity).help("close it with a line `---`"));
}

fn closed(
    text: &str,
    range: Range<usize>,
    spec: &DocumentSpec,
    dialects: &Dialects,
    report: &mut Report<'_>,
) -> Option<Document> {
    if text.starts_with(BOM) {
        let span = Span::new(0, BOM.len());
        let finding = report.at(codes::BOM, "", span, "the file begins with a byte order mark");
        report.push(finding.help("save the file as UTF-8 without a byte order mark"));
    }
    let yaml = &text[range.clone()];
    let stands = |name: &str| {
        yaml.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
    };
    // Most skills have no hooks, and the start of an agent's turn waits for all of them to be looked at.
    if !yaml.contains("hooks") && needs(spec).iter().all(|name| stands(name)) {
        return None;
    }
    let root = tree(text, range, report);
    needed(spec, &|name| root.get(name).is_some_and(|member| is_text(&member.value)), report);
    let hooks = root.get("hooks")?;
    let dialect = dialects.get(spec.dialect)?;
    let spec = named(spec, &root);
    let own = Report::new(report.source);
    let rules = formats::rules(spec.dialect, spec.layer);
    let mut reader = Reader::new(&spec, dialect.as_ref(), dialects, rules, own);
    let mut bindings = Vec::new();
    match &hooks.value.kind {
        Kind::Array(items) => list_form(&hooks.value, items, &mut reader.report),
        Kind::Null => {
            let finding = reader.report.at(
                codes::HOOKS_NOT_AN_OBJECT,
                "/hooks",
                hooks.key_span,
                "\"hooks\" is empty; nothing runs",
            );
            reader
                .report
                .push(finding.severity(Severity::Warning).help("write events below it, or remove it"));
        }
        _ => reader.events(&hooks.value, "/hooks", &mut bindings),
    }
    reader.none_loaded(&root);
    let description = root.get("description").and_then(|member| member.value.as_str());
    let document = reader.finish(bindings, serde_json::Map::new(), description.map(str::to_owned));
    report.diagnostics.append(&mut reader.report.diagnostics);
    Some(document)
}

/// The tree of a frontmatter. Where it is no YAML, the members that are, each read alone: a colon in a description must not
/// switch off a guard.
fn tree(text: &str, range: Range<usize>, report: &mut Report<'_>) -> Node {
    let span = Span::new(range.start, range.end);
    let whole = match yaml::parse(text, range.clone()) {
        Ok(tree) => {
            repeated(&tree, report);
            if !matches!(tree.root.kind, Kind::Object(_) | Kind::Null) {
                let message =
                    format!("the frontmatter is {}, not a mapping; nothing of it is read", tree.root.what());
                let finding = report.at(codes::NOT_AN_OBJECT, "", tree.root.span, message);
                report.push(finding.severity(Severity::Warning).help("write members: `name: …`, `hooks: …`"));
            }
            return tree.root;
        }
        Err(error) => error,
    };
    let mut members: Vec<Member> = Vec::new();
    // In braces, nothing can be read alone.
    let mut lost = text[range.clone()].trim_start().starts_with('{').then(|| whole.clone());
    for (name, block) in blocks(text, range) {
        match yaml::parse(text, block) {
            Ok(tree) => {
                repeated(&tree, report);
                if let Kind::Object(more) = tree.root.kind {
                    members.extend(more);
                }
            }
            Err(error) if name == "hooks" => lost = Some(error),
            Err(_) => {}
        }
    }
    if lost.as_ref() != Some(&whole) {
        let message = format!("{}; members that are right are read all the same", whole.message);
        no_yaml(whole, message, Severity::Warning, report);
    }
    if let Some(error) = lost {
        let message = format!("{}; none of the file's hooks run", error.message);
        no_yaml(error, message, Severity::Error, report);
    }
    Node { span, kind: Kind::Object(members) }
}

fn no_yaml(error: SyntaxError, message: String, severity: Severity, report: &mut Report<'_>) {
    let code = if error.too_deep { codes::TOO_DEEP } else { codes::INVALID_YAML };
    let mut finding = report.at(code, "", error.span, message).severity(severity);
    finding.help = error.help.map(str::to_owned);
    report.push(finding);
}

/// The lines of the members that are read alone.
fn blocks(text: &str, range: Range<usize>) -> Vec<(&'static str, Range<usize>)> {
    let mut found: Vec<(&'static str, Range<usize>)> = Vec::new();
    let mut at = range.start;
    let mut current: Option<(&'static str, usize)> = None;
    for line in text[range.clone()].split_inclusive('\n') {
        // Lists may stand under their key without indentation.
        if !line.starts_with([' ', '\t', '#', '-', ']', '}', '\r', '\n']) {
            found.extend(current.take().map(|(name, start)| (name, start..at)));
            let named = |name: &&&str| line.strip_prefix(**name).is_some_and(|rest| rest.starts_with(':'));
            current = MEMBERS.iter().find(named).map(|name| (*name, at));
        }
        at += line.len();
    }
    found.extend(current.map(|(name, start)| (name, start..at)));
    found
}

/// The specification with the name that the frontmatter gives; the plugin it belongs to stays before it.
fn named(spec: &DocumentSpec, root: &Node) -> DocumentSpec {
    let mut spec = spec.clone();
    let given =
        root.get("name").filter(|member| is_text(&member.value)).and_then(|member| member.value.as_str());
    if let Some(given) = given {
        let plugin =
            spec.source.as_deref().and_then(|source| source.rsplit_once(':')).map(|(plugin, _)| plugin);
        spec.source = Some(match plugin {
            Some(plugin) => Arc::from(format!("{plugin}:{}", given.trim())),
            None => Arc::from(given.trim()),
        });
    }
    if let Some(name) = spec.source.clone() {
        spec.scope = match spec.scope {
            Scope::Skill(_) => Scope::Skill(name),
            Scope::Agent(_) => Scope::Agent(name),
            always => always,
        };
    }
    spec
}

fn is_text(node: &Node) -> bool {
    node.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// The members that the frontmatter has to have.
fn needs(spec: &DocumentSpec) -> &'static [&'static str] {
    let skill = spec.path.file_name() == Some(OsStr::new(SKILL));
    if skill { formats::rules(spec.dialect, spec.layer).skill_needs } else { &[] }
}

fn needed(spec: &DocumentSpec, has: &dyn Fn(&str) -> bool, report: &mut Report<'_>) {
    for name in needs(spec).iter().filter(|name| !has(name)) {
        let instead = match (*name, &spec.source) {
            ("name", Some(folder)) => format!("; it is called {folder:?} after its directory"),
            _ => String::new(),
        };
        let message = format!("the skill has no {name:?} in its frontmatter{instead}");
        let finding = report.at(codes::SKILL_FIELD_MISSING, "", Span::new(0, 0), message);
        report
            .push(finding.help(format!("write `{name}: …` between two lines `---` at the top of the file")));
    }
}

/// A list of hooks, as a draft of the format once had it and no agent reads: the finding shows the right form.
fn list_form(node: &Node, items: &[Node], report: &mut Report<'_>) {
    let first = items.first();
    let text = |key: &str| first.and_then(|item| item.get(key)).and_then(|member| member.value.as_str());
    let quoted = |text: &str| Value::from(text).to_string();
    let mut right = format!("hooks:\n  {}:\n    - ", text("event").unwrap_or("PreToolUse"));
    if let Some(matcher) = text("matcher") {
        right.push_str(&format!("matcher: {}\n      ", quoted(matcher)));
    }
    right.push_str("hooks:\n        - type: command\n          command: ");
    right.push_str(&text("command").map_or_else(|| "…".to_owned(), quoted));
    let message = "\"hooks\" is a list, not a mapping from events to groups; none of the file's hooks run";
    let finding = report.at(codes::HOOKS_NOT_AN_OBJECT, "/hooks", node.span, message);
    report.push(finding.help(format!("write\n{right}")));
}
