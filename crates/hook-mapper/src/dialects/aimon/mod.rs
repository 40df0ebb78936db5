//! AIMON's hooks ("Hook Configuration Guide (hooks.json)"): the agent's thirteen events and its answer document, and the hooks that are
//! written in `.aimon/`.

mod answer;
mod document;
mod input;
mod plan;
mod profile;
mod read;
mod reply;
#[cfg(test)]
mod tests;
mod text;

use std::ffi::OsString;

use hook_core::{
    Candidate, Capabilities, Dialect, EngineFailure, Event, EventHint, EventRow, HandlerOutput, HookCx,
    HostContext, Incoming, Outcome, Payload, Plan, Profile, ReadError, Reading, Reply, ReplyPolicy,
    TemplateValues,
};

use super::asked;

/// AIMON.
#[derive(Debug, Clone, Copy, Default)]
pub struct Aimon;

impl Dialect for Aimon {
    fn profile(&self) -> &'static Profile {
        &profile::PROFILE
    }

    /// Its own names and Claude Code's, in any letter case.
    fn event_row(&self, name: &str) -> Option<&'static EventRow> {
        profile::event_row(name)
    }

    fn read(&self, payload: Payload, hint: &EventHint) -> Result<Incoming, ReadError> {
        read::read(payload, hint)
    }

    fn write_reply(
        &self,
        event: Option<&Event>,
        result: Result<&Outcome, &EngineFailure>,
        policy: &ReplyPolicy,
    ) -> Reply {
        reply::write_reply(event, result, policy)
    }

    fn capabilities(&self, event: &Event) -> Capabilities {
        reply::capabilities(event)
    }

    fn plan(&self, event: &Event, candidates: &[Candidate], _host: &HostContext) -> Plan {
        plan::plan(event, candidates)
    }

    fn write_event(&self, cx: &HookCx<'_>) -> String {
        input::write_event(cx)
    }

    fn prompt_arguments(&self, cx: &HookCx<'_>, template: &str) -> String {
        asked::expand(template, &input::write_event(cx))
    }

    fn variables(&self, cx: &HookCx<'_>) -> Vec<(String, OsString)> {
        input::variables(cx)
    }

    fn template_values(&self, cx: &HookCx<'_>) -> TemplateValues {
        input::template_values(cx)
    }

    fn read_answer(&self, cx: &HookCx<'_>, output: &HandlerOutput) -> Reading {
        answer::read_answer(cx, output)
    }
}
