//! The block `asyncRewake` of a handler, with the places of its faults.

use hook_core::RewakeSpec;
use hook_core::diagnostic::codes;
use hook_rewake::spec;

use crate::json::{Kind, Member};
use crate::report::step;
use crate::shape::{Place, Reader};

impl Reader<'_, '_> {
    /// Reads the block. One that cannot be used is left out, and the hook runs without it.
    pub(crate) fn rewake(&mut self, member: &Member, place: &Place<'_>, pointer: &str) -> Option<RewakeSpec> {
        if member.value.kind == Kind::Null {
            return None;
        }
        let pointer = step(pointer, "asyncRewake");
        let event = place.heard.row.map_or("", |row| row.name);
        let events = self.rules.ways.rewakes;
        if !events.on(event) {
            let message =
                format!("a hook of {event} cannot be woken again; it runs without its \"asyncRewake\"");
            let finding = self.report.at(codes::REWAKE_NOT_ON_EVENT, &pointer, member.key_span, message);
            self.report.push(finding.help(format!("the events that can be woken are {}", events.shown())));
            return None;
        }
        let error = match spec::parse(&member.value.to_value(&self.report.source.text)) {
            Ok(spec) => return Some(spec),
            Err(error) => error,
        };
        let (mut node, mut pointer) = (&member.value, pointer);
        for part in &error.path {
            pointer = step(&pointer, part);
            node = node.get(part).map_or(node, |member| &member.value);
        }
        let message = format!("{}; the hook runs without its \"asyncRewake\"", error.message);
        let finding = self.report.at(codes::REWAKE_INVALID, &pointer, node.span, message);
        self.report
            .push(finding.help("for instance `{\"trigger\": {\"delay\": \"5m\"}, \"reason\": \"…\"}`"));
        None
    }
}
