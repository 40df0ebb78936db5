//! Amplifier's shell hooks: tables first, behaviour follows.

mod profile;

use std::ffi::OsString;

use hook_core::{
    Answer, Candidate, Capabilities, Dialect, EngineFailure, Event, EventHint, HandlerOutput, HookCx,
    Incoming, Outcome, Payload, Plan, Profile, ReadError, Reading, Reply, ReplyPolicy, Status,
};

/// Amplifier.
#[derive(Debug, Clone, Copy, Default)]
pub struct Amplifier;

impl Dialect for Amplifier {
    fn profile(&self) -> &'static Profile {
        &profile::PROFILE
    }
    fn read(&self, _payload: Payload, _hint: &EventHint) -> Result<Incoming, ReadError> {
        Ok(Incoming::default())
    }
    fn write_reply(
        &self,
        _event: Option<&Event>,
        _result: Result<&Outcome, &EngineFailure>,
        _policy: &ReplyPolicy,
    ) -> Reply {
        Reply::default()
    }
    fn capabilities(&self, _event: &Event) -> Capabilities {
        Capabilities::default()
    }
    fn plan(&self, _event: &Event, _candidates: &[Candidate]) -> Plan {
        Plan::default()
    }
    fn write_event(&self, _cx: &HookCx<'_>) -> String {
        String::new()
    }
    fn variables(&self, _cx: &HookCx<'_>) -> Vec<(String, OsString)> {
        Vec::new()
    }
    fn read_answer(&self, _cx: &HookCx<'_>, _output: &HandlerOutput) -> Reading {
        Reading::new(Status::Ok, Answer::default(), "")
    }
}
