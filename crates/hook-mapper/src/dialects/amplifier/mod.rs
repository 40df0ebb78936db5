//! Amplifier's shell hooks ("Shell hooks module for Amplifier"): the agent's events and results, and the hooks that are
//! written in `.amplifier/hooks/`.

mod answer;
mod input;
mod profile;
mod prompt;
mod read;
mod reply;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use hook_core::plan::{FoldRule, InputRule, StopRule};
use hook_core::{
    Candidate, Capabilities, Dialect, EngineFailure, Event, EventHint, HandlerOutput, HookCx, HostContext,
    Incoming, Outcome, Payload, Plan, Profile, ReadError, Reading, Reply, ReplyPolicy,
};

use super::groups;

/// Amplifier.
#[derive(Debug, Clone, Copy, Default)]
pub struct Amplifier;

impl Dialect for Amplifier {
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
        reply::capabilities(event)
    }

    /// Groups as written. The first answer that acts ends the run, an injection too; in a group whose hooks run at the same
    /// time a deny goes before it.
    fn plan(&self, _event: &Event, candidates: &[Candidate], _host: &HostContext) -> Plan {
        groups::plan(profile::ID, candidates, |parallel| groups::Rules {
            stop: StopRule::OnAnswer,
            input: InputRule::Keep,
            fold: if parallel { FoldRule::Select } else { FoldRule::Join },
        })
    }

    fn write_event(&self, cx: &HookCx<'_>) -> String {
        input::write_event(cx)
    }

    fn prompt_arguments(&self, cx: &HookCx<'_>, template: &str) -> String {
        prompt::expand(cx, template)
    }

    fn variables(&self, cx: &HookCx<'_>) -> Vec<(String, OsString)> {
        input::variables(cx)
    }

    fn read_answer(&self, cx: &HookCx<'_>, output: &HandlerOutput) -> Reading {
        answer::read_answer(cx, output)
    }
}
