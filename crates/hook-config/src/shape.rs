//! The shapes of hook files: events under `hooks` or at the top level, groups of handlers or handlers alone.
//!
//! What cannot be read is left out in the smallest unit that holds it (event, group, handler) with a finding; everything
//! around it loads.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{
    Binding, Dialect, Document, Event, EventKind, EventRow, Flavour, HandlerKind, Hook, Layer, MatcherSpec,
    Payload, Severity, Subject,
};
use hook_mapper::Dialects;
use hook_matcher::Matcher;
use serde_json::{Map, Value};

use crate::fields::{Fields, warn_unknown};
use crate::formats::{Entries, Rules, Tolerance};
use crate::json::{Kind, Member, Node};
use crate::matchers;
use crate::report::{Report, step};
use crate::spec::DocumentSpec;
use crate::switches;

/// Reads the hooks of one file.
pub(crate) struct Reader<'a, 's> {
    pub(crate) spec: &'a DocumentSpec,
    pub(crate) dialect: &'a dyn Dialect,
    pub(crate) dialects: &'a Dialects,
    pub(crate) rules: &'static Rules,
    pub(crate) report: Report<'s>,
    pub(crate) file: Arc<Path>,
    pub(crate) root: Option<Arc<Path>>,
    /// A native file that names another dialect: its top level may hold what native ones hold.
    pub(crate) switched: bool,
    /// Groups that were read of each event, where its spellings are counted through.
    entries: HashMap<&'static str, usize>,
    /// Handlers that stand in the file, whatever became of them.
    pub(crate) written: usize,
    /// Those of them that can run.
    pub(crate) sound: usize,
}

/// What an event's key means.
pub(crate) struct Heard {
    pub(crate) name: String,
    pub(crate) kinds: Vec<EventKind>,
    pub(crate) row: Option<&'static EventRow>,
}

/// Where a handler stands.
pub(crate) struct Place<'p> {
    pub(crate) heard: &'p Heard,
    pub(crate) matcher: &'p MatcherSpec,
    pub(crate) entry: usize,
    pub(crate) handler: usize,
}

impl<'a, 's> Reader<'a, 's> {
    pub(crate) fn new(
        spec: &'a DocumentSpec,
        dialect: &'a dyn Dialect,
        dialects: &'a Dialects,
        rules: &'static Rules,
        mut report: Report<'s>,
    ) -> Reader<'a, 's> {
        report.notes_are_fine = rules.ways.notes_are_fine;
        report.left_out = rules.ways.left_out;
        Reader {
            spec,
            dialect,
            dialects,
            rules,
            file: Arc::from(spec.path.as_path()),
            root: spec.root.as_deref().map(Arc::from),
            report,
            switched: false,
            entries: HashMap::new(),
            written: 0,
            sound: 0,
        }
    }

    /// The whole file; `None` where its top level is no object.
    pub(crate) fn document(&mut self, root: &Node) -> Option<Document> {
        let Kind::Object(members) = &root.kind else {
            let message =
                format!("the top level is {}, not an object; none of the file's hooks run", root.what());
            let finding = self.report.at(codes::NOT_AN_OBJECT, "", root.span, message);
            self.report.push(finding.help("begin with `{\"hooks\": {…}}`"));
            return None;
        };
        let mut bindings = Vec::new();
        match root.get("hooks") {
            Some(member) if member.value.kind == Kind::Null && self.rules.ways.empty_is_fine => {}
            Some(member) => self.events(&member.value, "/hooks", &mut bindings),
            None => self.naked(members, &mut bindings),
        }
        self.top_level(members, root.get("hooks").is_none());
        let switches = switches::read(self.rules, root, &mut self.report);
        self.none_loaded(root);
        let description = root.get("description").and_then(|member| member.value.as_str());
        Some(self.finish(bindings, switches, description.map(str::to_owned)))
    }

    /// A document from bindings that were read already.
    pub(crate) fn finish(
        &self,
        bindings: Vec<Binding>,
        switches: Map<String, Value>,
        description: Option<String>,
    ) -> Document {
        Document {
            dialect: self.dialect.profile().id,
            layer: self.spec.layer,
            file: Some(self.file.clone()),
            root: self.spec.root.clone(),
            source: self.spec.source.clone(),
            description,
            bindings,
            switches,
        }
    }

    pub(crate) fn none_loaded(&mut self, root: &Node) {
        if self.written == 0 || self.sound > 0 {
            return;
        }
        let message = match self.written {
            1 => "the one hook of this file cannot run".to_owned(),
            n => format!("none of the {n} hooks of this file can run"),
        };
        let span = root.get("hooks").map_or(root.span, |member| member.key_span);
        let finding = self.report.at(codes::NONE_LOADED, "", span, message);
        self.report.push(finding.help("the other findings of this file say why"));
    }

    fn top_level(&mut self, members: &[Member], naked: bool) {
        let Some(known) = self.rules.top else { return };
        for member in members {
            let event = naked && self.is_event(member);
            if self.switched && matches!(member.key.as_str(), "dialect" | "settings") {
                continue;
            }
            if !event
                && !known.contains(&member.key.as_str())
                && !self.rules.switches.iter().any(|(name, _)| *name == member.key)
            {
                warn_unknown(&mut self.report, "", member, known);
            }
        }
    }

    fn is_event(&self, member: &Member) -> bool {
        matches!(member.value.kind, Kind::Array(_) | Kind::Object(_))
            && self.dialect.event_row(&member.key).is_some()
    }

    fn naked(&mut self, members: &[Member], bindings: &mut Vec<Binding>) {
        let events: Vec<&Member> = members.iter().filter(|member| self.is_event(member)).collect();
        let Some(first) = events.first() else { return };
        if self.rules.naked != Tolerance::Silent {
            let consequence =
                if self.rules.naked == Tolerance::Warn { "" } else { "; its agent reads none of them" };
            let message =
                format!("{:?} stands at the top level instead of under \"hooks\"{consequence}", first.key);
            let finding = self.report.at(codes::NAKED_EVENTS, &step("", &first.key), first.key_span, message);
            self.report.push(finding.help("put the events into an object under \"hooks\""));
        }
        if self.rules.naked == Tolerance::Refuse {
            self.written += events.len();
            return;
        }
        for member in events {
            self.event(member, &step("", &member.key), bindings);
        }
    }

    /// The value of `hooks`.
    pub(crate) fn events(&mut self, node: &Node, pointer: &str, bindings: &mut Vec<Binding>) {
        let Kind::Object(events) = &node.kind else {
            let message =
                format!("\"hooks\" is {}, not an object; none of the file's hooks run", node.what());
            let finding = self.report.at(codes::HOOKS_NOT_AN_OBJECT, pointer, node.span, message);
            self.report.push(finding.help("write `\"hooks\": {\"PreToolUse\": [ … ]}`"));
            return;
        };
        match self.rules.ways.entries {
            Entries::Groups => {
                for member in events {
                    self.event(member, &step(pointer, &member.key), bindings);
                }
            }
            Entries::Actions(known) => self.actions(events, known, pointer, bindings),
        }
    }

    fn event(&mut self, member: &Member, pointer: &str, bindings: &mut Vec<Binding>) {
        let Some(heard) = self.hear(&member.key) else {
            if self.rules.ways.unsupported.iter().any(|name| name.eq_ignore_ascii_case(&member.key)) {
                self.unsupported_event(member, pointer);
                return;
            }
            self.written += match &member.value.kind {
                Kind::Array(groups) => groups.len(),
                _ => 1,
            };
            self.unknown_event(member, pointer);
            return;
        };
        match &member.value.kind {
            Kind::Array(groups) => {
                let first = match heard.row.filter(|_| self.rules.ways.one_list_per_event) {
                    Some(row) => {
                        let count = self.entries.entry(row.name).or_default();
                        std::mem::replace(count, *count + groups.len())
                    }
                    None => 0,
                };
                for (entry, group) in groups.iter().enumerate() {
                    self.group(group, &heard, first + entry, &step(pointer, entry), bindings);
                }
            }
            Kind::Object(_) if self.rules.single_group => {
                self.group(&member.value, &heard, 0, pointer, bindings);
            }
            _ => {
                self.written += 1;
                let what = member.value.what();
                let message =
                    format!("{:?} is {what}, not a list of groups; its hooks never run", member.key);
                let finding = self.report.at(codes::HOOKS_NOT_A_LIST, pointer, member.value.span, message);
                self.report.push(finding.help("write `[{\"matcher\": …, \"hooks\": [ … ]}]`"));
            }
        }
    }

    fn hear(&self, key: &str) -> Option<Heard> {
        if let Some(row) = self.dialect.event_row(key) {
            let renamed = self.rules.agent_stop_is_subagent_stop
                && self.spec.layer == Layer::Agent
                && row.hears == [EventKind::Stop].as_slice();
            let renamed = renamed.then(|| self.dialect.event_row("SubagentStop")).flatten();
            let name = renamed.map_or(key, |row| row.name).to_owned();
            let row = renamed.unwrap_or(row);
            return Some(Heard { name, kinds: row.hears.to_vec(), row: Some(row) });
        }
        if self.rules.foreign_events
            && key.split_once(':').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
        {
            return Some(Heard {
                name: key.to_owned(),
                kinds: vec![EventKind::Other(Arc::from(key))],
                row: None,
            });
        }
        None
    }

    fn unsupported_event(&mut self, member: &Member, pointer: &str) {
        let title = self.dialect.profile().title;
        let message = format!("{title} does not fire {:?}; its hooks never run", member.key);
        let finding = self.report.at(codes::UNSUPPORTED_EVENT, pointer, member.key_span, message);
        self.report.push(finding.help("remove it, or put these hooks into a file of another agent"));
    }

    fn unknown_event(&mut self, member: &Member, pointer: &str) {
        let key = member.key.as_str();
        let profile = self.dialect.profile();
        let own = |id| id == profile.id || id == hook_core::DialectId::NATIVE;
        let other = self
            .dialects
            .iter()
            .map(|dialect| dialect.profile())
            .find(|other| !own(other.id) && other.event(key).is_some());
        let finding = match other {
            Some(other) => {
                let message = format!(
                    "{key:?} is an event of {}, not of {}; its hooks never run",
                    other.title, profile.title
                );
                self.report.at(codes::EVENT_OF_ANOTHER_DIALECT, pointer, member.key_span, message)
            }
            None => {
                let message = format!("{key:?} is no event of {}; its hooks never run", profile.title);
                self.report.at(codes::UNKNOWN_EVENT, pointer, member.key_span, message)
            }
        };
        // An agent's own name of an event, where its hook files have another.
        let fired = profile.events.iter().find(|row| row.fired_as.contains(&key)).map(|row| row.name);
        let near = || {
            let names = profile.events.iter().flat_map(|row| row.fired_as.iter().chain([&row.name]));
            let near = self.report.nearest(key, names.copied())?;
            let row = profile.events.iter().find(|row| row.name == near || row.fired_as.contains(&near))?;
            Some(row.name)
        };
        let names = || profile.events.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
        self.report.push(match fired.or_else(near) {
            Some(near) => finding.help(format!("did you mean {near:?}?")).suggest(near),
            None => finding.help(format!("the events are {}", names())),
        });
    }

    fn group(
        &mut self,
        node: &Node,
        heard: &Heard,
        entry: usize,
        pointer: &str,
        bindings: &mut Vec<Binding>,
    ) {
        if !matches!(node.kind, Kind::Object(_)) {
            self.written += 1;
            let message = format!("a group is {}, not an object; it is left out", node.what());
            let finding = self.report.at(codes::ENTRY_NOT_AN_OBJECT, pointer, node.span, message);
            self.report.push(finding.help("write `{\"matcher\": …, \"hooks\": [ … ]}`"));
            return;
        }
        if node.get("hooks").is_none() && looks_like_a_handler(node) {
            self.flat(node, heard, entry, pointer, bindings);
            return;
        }
        let mut fields = Fields::new(node, pointer, self.rules.group, &mut self.report);
        let hooks = fields.take("hooks");
        let matcher = fields.take("matcher");
        let parallel = fields.flag("parallel").unwrap_or(false);
        fields.rest();
        let Some(hooks) = hooks else {
            self.empty_group(node, pointer);
            return;
        };
        let Kind::Array(handlers) = &hooks.kind else {
            self.written += 1;
            let message =
                format!("\"hooks\" of a group is {}, not a list; the group is left out", hooks.what());
            let finding =
                self.report.at(codes::HOOKS_NOT_A_LIST, &step(pointer, "hooks"), hooks.span, message);
            self.report.push(finding.help("write `\"hooks\": [{\"type\": \"command\", \"command\": …}]`"));
            return;
        };
        if handlers.is_empty() {
            self.empty_group(hooks, pointer);
            return;
        }
        let Some(matcher) = self.matcher(matcher, heard, pointer) else {
            self.written += handlers.len();
            return;
        };
        let mut hooks = Vec::new();
        let pointer = step(pointer, "hooks");
        for (handler, node) in handlers.iter().enumerate() {
            let place = Place { heard, matcher: &matcher, entry, handler };
            hooks.extend(self.handler(node, &place, &step(&pointer, handler)));
        }
        bind(heard, &matcher, parallel, entry, hooks, bindings);
    }

    fn empty_group(&mut self, node: &Node, pointer: &str) {
        let finding = self.report.at(
            codes::GROUP_WITHOUT_HOOKS,
            pointer,
            node.span,
            "a group without handlers does nothing",
        );
        let severity = if self.rules.empty_group_is_fine { Severity::Info } else { Severity::Warning };
        self.report.push(finding.severity(severity).help("give it `\"hooks\": [ … ]`, or remove it"));
    }

    /// A handler where a group is expected: a group of its own, with the matcher that stands in it.
    fn flat(&mut self, node: &Node, heard: &Heard, entry: usize, pointer: &str, bindings: &mut Vec<Binding>) {
        if self.rules.flat != Tolerance::Silent {
            let message = "a handler stands where a group is expected; its agent does not run it";
            let finding = self.report.at(codes::FLAT_ENTRY, pointer, node.span, message);
            self.report.push(finding.help("write `{\"hooks\": [ … ]}` around it"));
        }
        if self.rules.flat == Tolerance::Refuse {
            self.written += 1;
            return;
        }
        let matcher = node.get("matcher").map(|member| &member.value);
        let Some(matcher) = self.matcher(matcher, heard, pointer) else {
            self.written += 1;
            return;
        };
        let place = Place { heard, matcher: &matcher, entry, handler: 0 };
        let hooks = self.handler(node, &place, pointer).into_iter().map(|mut hook| {
            hook.extra.shift_remove("matcher");
            hook
        });
        let hooks: Vec<Hook> = hooks.collect();
        bind(heard, &matcher, false, entry, hooks, bindings);
    }

    /// The matcher of a group; `None` where it is no string.
    pub(crate) fn matcher(
        &mut self,
        node: Option<&Node>,
        heard: &Heard,
        pointer: &str,
    ) -> Option<MatcherSpec> {
        let flavour: Flavour =
            heard.row.and_then(|row| row.flavour).unwrap_or_else(|| self.dialect.profile().flavour);
        let none = MatcherSpec { text: None, flavour, location: None };
        let Some(node) = node else { return Some(none) };
        let pointer = step(pointer, "matcher");
        let text = match &node.kind {
            Kind::String(text) => text,
            Kind::Null if self.rules.null_matcher => return Some(none),
            _ => {
                let message = format!("the matcher is {}, not a string; its group is left out", node.what());
                let finding = self.report.at(codes::MATCHER_NOT_A_STRING, &pointer, node.span, message);
                self.report
                    .push(finding.help("write the matcher as a string, or remove it to match everything"));
                return None;
            }
        };
        let subject = heard.row.map(|row| row.subject);
        if subject == Some(Subject::None) && self.rules.ways.matcher_for_tools_only {
            if !matches!(text.trim(), "" | "*") {
                let message =
                    format!("{} has no tool, so its matcher has no effect; its hooks always run", heard.name);
                self.report.push(self.report.at(codes::MATCHER_IGNORED, &pointer, node.span, message));
                // Whatever it says, nothing depends on it.
                let event =
                    matchers::About { name: &heard.name, has_tool: true, guards: &|| false, tools: None };
                matchers::check(text, flavour, &event, node, &pointer, &mut self.report);
            }
            // Events of other agents may have a subject here that this matcher was not written for.
            return Some(none);
        }
        if subject == Some(Subject::None) {
            if !text.is_empty() && text != "*" {
                self.without_subject(text, flavour, heard, node, &pointer);
            }
        } else {
            let dialect = self.dialect;
            let event = matchers::About {
                name: &heard.name,
                has_tool: subject.is_none_or(|subject| subject == Subject::Tool),
                guards: &|| guards(dialect, heard),
                tools: self.rules.tools.filter(|_| subject == Some(Subject::Tool)),
            };
            matchers::check(text, flavour, &event, node, &pointer, &mut self.report);
        }
        Some(MatcherSpec { text: Some(text.clone()), flavour, location: Some(self.report.locate(node.span)) })
    }
}

impl Reader<'_, '_> {
    /// A matcher on an event that has nothing to see: most agents ignore it, some test it against the empty text.
    fn without_subject(&mut self, text: &str, flavour: Flavour, heard: &Heard, node: &Node, pointer: &str) {
        let fits = Matcher::compile(Some(text), flavour).matcher.matches([]);
        let finding = if fits {
            let message =
                format!("{} has nothing a matcher could see; the hooks of this group always run", heard.name);
            self.report.at(codes::MATCHER_IGNORED, pointer, node.span, message)
        } else {
            let message = format!(
                "on {} matchers see an empty text, which {text:?} does not fit; the hooks of this group never run",
                heard.name
            );
            self.report.at(codes::MATCHER_NEVER_FITS, pointer, node.span, message).help("remove the matcher")
        };
        self.report.push(finding);
    }
}

/// True where hooks of the event can hold something back.
fn guards(dialect: &dyn Dialect, heard: &Heard) -> bool {
    let id = dialect.profile().id;
    heard.kinds.iter().any(|kind| {
        let payload = Arc::new(Payload::from_value(Value::Null));
        let event = Event::new(kind.clone(), id, heard.name.clone(), payload);
        dialect.capabilities(&event).block
    })
}

fn looks_like_a_handler(node: &Node) -> bool {
    ["type", "command", "url", "prompt", "server", "tool", "reason"].iter().any(|key| node.get(key).is_some())
}

/// One binding per neutral kind the event hears.
pub(crate) fn bind(
    heard: &Heard,
    matcher: &MatcherSpec,
    parallel: bool,
    entry: usize,
    hooks: Vec<Hook>,
    bindings: &mut Vec<Binding>,
) {
    if hooks.is_empty() {
        return;
    }
    for kind in &heard.kinds {
        let hooks = hooks.iter().map(|hook| Arc::new(Hook { event: kind.clone(), ..hook.clone() }));
        bindings.push(Binding {
            event: kind.clone(),
            event_name: heard.name.clone(),
            matcher: matcher.clone(),
            parallel,
            entry,
            hooks: hooks.collect(),
        });
    }
}

/// The kind that a word of `type` names.
pub(crate) fn kind_of(rules: &Rules, word: &str) -> Option<HandlerKind> {
    let is = |name: &str| name == word || (rules.ways.types_in_any_case && name.eq_ignore_ascii_case(word));
    rules.types.iter().find(|(name, _)| is(name)).map(|(_, kind)| *kind)
}
