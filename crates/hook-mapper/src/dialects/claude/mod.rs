//! Claude Code: the reference dialect of the field. Rules are those of the "Claude Code hooks reference".

mod answer;
mod document;
mod input;
mod plan;
mod profile;
mod read;
mod remarks;
mod reply;
mod skills;
mod terminal;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use hook_core::{
    Candidate, Capabilities, Dialect, EngineFailure, Event, EventHint, HandlerOutput, HookCx, HostContext,
    Incoming, Outcome, Payload, Plan, Profile, ReadError, Reading, Reply, ReplyPolicy,
};

use super::asked;

/// Claude Code.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claude;

impl Dialect for Claude {
    fn profile(&self) -> &'static Profile {
        &profile::PROFILE
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
        profile::capabilities(event)
    }

    fn plan(&self, event: &Event, candidates: &[Candidate], host: &HostContext) -> Plan {
        plan::plan(event, candidates, host)
    }

    fn write_event(&self, cx: &HookCx<'_>) -> String {
        input::write_event(cx)
    }

    fn prompt_arguments(&self, cx: &HookCx<'_>, template: &str) -> String {
        asked::expand(template, input::write_event(cx).trim_end())
    }

    fn variables(&self, cx: &HookCx<'_>) -> Vec<(String, OsString)> {
        input::variables(cx)
    }

    fn placeholders(&self, cx: &HookCx<'_>) -> Vec<(String, String)> {
        input::placeholders(cx)
    }

    fn directories(&self, cx: &HookCx<'_>) -> Vec<PathBuf> {
        input::plugin_data(cx).into_iter().collect()
    }

    fn shell_prefix(&self, cx: &HookCx<'_>) -> Option<String> {
        input::shell_prefix(cx)
    }

    fn read_answer(&self, cx: &HookCx<'_>, output: &HandlerOutput) -> Reading {
        answer::read_answer(cx, output)
    }
}
