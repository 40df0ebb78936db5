//! Skills whose frontmatter has one action per entry ("Hook Configuration Guide, A skill frontmatter `hooks:` block").
//!
//! A mistake costs all hooks of the skill, as its agent does not load such a skill: a guard that is missing among its neighbours
//! would not be noticed. The hooks are kept, so that they can be listed.

use hook_core::diagnostic::codes;
use hook_core::{Binding, MatcherSpec, Severity, Subject};

use crate::json::{Kind, Member, Node};
use crate::report::step;
use crate::shape::{Heard, Place, Reader, bind};

impl Reader<'_, '_> {
    /// The events of a skill.
    pub(crate) fn actions(
        &mut self,
        events: &[Member],
        known: &'static [&'static str],
        pointer: &str,
        bindings: &mut Vec<Binding>,
    ) {
        let before = self.report.diagnostics.len();
        let first = bindings.len();
        for member in events {
            self.action_event(member, known, &step(pointer, &member.key), bindings);
        }
        let broken = self.report.diagnostics[before..].iter().find(|d| d.severity == Severity::Error);
        let Some(broken) = broken else { return };
        let place = broken.location().map(|place| format!(" at {place}")).unwrap_or_default();
        let why = format!("a mistake{place} costs all hooks of this skill");
        for hook in bindings[first..].iter_mut().flat_map(|binding| &mut binding.hooks) {
            let hook = std::sync::Arc::make_mut(hook);
            hook.enabled = false;
            hook.disabled_because.get_or_insert_with(|| why.clone());
        }
        self.sound = 0;
    }

    fn action_event(
        &mut self,
        member: &Member,
        known: &'static [&'static str],
        pointer: &str,
        bindings: &mut Vec<Binding>,
    ) {
        let row =
            known.iter().find(|name| **name == member.key).and_then(|name| self.dialect.event_row(name));
        let Some(row) = row else {
            self.written += 1;
            let message = format!("{:?} is no event of a skill's hooks", member.key);
            let mut finding = self.report.at(codes::UNKNOWN_EVENT, pointer, member.key_span, message);
            finding.suggestion = match self.dialect.event_row(&member.key).map(|row| row.name) {
                Some(own) => known.contains(&own).then(|| own.to_owned()),
                None => self.report.nearest(&member.key, known.iter().copied()).map(str::to_owned),
            };
            let help = format!("the events are {}, written exactly so", known.join(", "));
            self.report.push(finding.severity(Severity::Error).help(help));
            return;
        };
        let Kind::Array(entries) = &member.value.kind else {
            self.written += 1;
            let message = format!("{:?} is {}, not a list of entries", member.key, member.value.what());
            let finding = self.report.at(codes::HOOKS_NOT_A_LIST, pointer, member.value.span, message);
            self.report.push(finding.help("write `- action: { type: shell, command: … }` below it"));
            return;
        };
        let heard = Heard { name: member.key.clone(), kinds: row.hears.to_vec(), row: Some(row) };
        for (entry, node) in entries.iter().enumerate() {
            self.action(node, &heard, entry, &step(pointer, entry), bindings);
        }
    }

    fn action(
        &mut self,
        node: &Node,
        heard: &Heard,
        entry: usize,
        pointer: &str,
        bindings: &mut Vec<Binding>,
    ) {
        if !matches!(node.kind, Kind::Object(_)) {
            self.written += 1;
            let message = format!("an entry is {}, not a mapping", node.what());
            self.report.push(self.report.at(codes::ENTRY_NOT_AN_OBJECT, pointer, node.span, message));
            return;
        }
        let matcher = self.action_matcher(node, heard, pointer);
        for member in node.members().iter().filter(|m| !matches!(m.key.as_str(), "matcher" | "action")) {
            crate::fields::warn_unknown(&mut self.report, pointer, member, &["matcher", "action"]);
        }
        let action = node.get("action").map(|member| &member.value).filter(|node| node.kind != Kind::Null);
        let Some(action) = action else {
            self.written += 1;
            let pointer = step(pointer, "action");
            let message = "the entry has no \"action\"";
            let finding = self.report.at(codes::MISSING_FIELD, &pointer, node.span, message);
            let help = "a skill has one action per entry, and no list of hooks: `action: { type: shell, command: … }`";
            self.report.push(finding.help(help));
            return;
        };
        let place = Place { heard, matcher: &matcher, entry, handler: 0 };
        let hooks: Vec<_> = self.handler(action, &place, &step(pointer, "action")).into_iter().collect();
        bind(heard, &matcher, false, entry, hooks, bindings);
    }

    /// The matcher of an entry. It counts on the events of tools and is a mistake elsewhere, as is one that cannot be read.
    fn action_matcher(&mut self, node: &Node, heard: &Heard, pointer: &str) -> MatcherSpec {
        let flavour = self.dialect.profile().flavour;
        let none = MatcherSpec { text: None, flavour, location: None };
        let Some(member) = node.get("matcher").filter(|member| member.value.kind != Kind::Null) else {
            return none;
        };
        if heard.row.is_some_and(|row| row.subject != Subject::Tool) {
            let message = format!("{} takes no matcher", heard.name);
            let finding =
                self.report.at(codes::MATCHER_IGNORED, &step(pointer, "matcher"), member.key_span, message);
            self.report
                .push(finding.severity(Severity::Error).help("remove it; only the events of tools have one"));
            return none;
        }
        let before = self.report.diagnostics.len();
        let matcher = self.matcher(Some(&member.value), heard, pointer);
        let unreadable = [codes::MATCHER_UNREADABLE, codes::MATCHER_NAME_FALLBACK];
        for finding in &mut self.report.diagnostics[before..] {
            if unreadable.contains(&finding.code) {
                finding.severity = Severity::Error;
            }
        }
        matcher.unwrap_or(none)
    }
}
