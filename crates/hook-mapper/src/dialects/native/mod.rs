//! The engine's own dialect: neutral names, and a superset of what the other dialects can say.

mod answer;
mod document;
mod input;
pub(crate) mod profile;
mod read;
mod reply;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use hook_core::plan::{FoldRule, InputRule, StopRule};
use hook_core::{
    Candidate, Capabilities, Dialect, DialectId, EngineFailure, Event, EventHint, EventRow, HandlerOutput,
    HookCx, HostContext, Incoming, Outcome, Payload, Plan, Profile, ReadError, Reading, Reply, ReplyPolicy,
};

use super::{asked, groups};

/// The engine's own dialect.
#[derive(Debug, Clone, Copy, Default)]
pub struct Native;

impl Dialect for Native {
    fn profile(&self) -> &'static Profile {
        &profile::PROFILE
    }

    /// Any letter case counts, and `_` and `-` between the words: `preToolUse`, `pre_tool_use`.
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

    /// Groups in order: a deny ends the run, contexts collect, a rewritten input goes on to the next hook.
    fn plan(&self, _event: &Event, candidates: &[Candidate], _host: &HostContext) -> Plan {
        groups::plan(DialectId::NATIVE, candidates, |parallel| groups::Rules {
            stop: StopRule::OnDeny,
            input: if parallel { InputRule::Keep } else { InputRule::Thread },
            fold: FoldRule::Join,
        })
    }

    fn write_event(&self, cx: &HookCx<'_>) -> String {
        input::write_event(cx)
    }

    /// As Claude Code does it, with the native document.
    fn prompt_arguments(&self, cx: &HookCx<'_>, template: &str) -> String {
        asked::expand(template, &input::write_event(cx))
    }

    fn variables(&self, cx: &HookCx<'_>) -> Vec<(String, OsString)> {
        input::variables(cx)
    }

    fn read_answer(&self, cx: &HookCx<'_>, output: &HandlerOutput) -> Reading {
        answer::read_answer(cx, output)
    }
}
