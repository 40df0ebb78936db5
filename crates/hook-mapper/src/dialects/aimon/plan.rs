//! One chain of all hooks, in order; hooks that a host wants to run at the same time are a link of it ("Hook Configuration Guide, Configuration locations and the 4-tier layering": the narrower layer runs
//! last, so that it has the last word on the input).

use hook_core::plan::{FoldRule, Group, InputRule, Order, Stage, StopRule};
use hook_core::{Candidate, Event, EventKind, Plan, Skip};

use super::profile::ID;

pub(super) fn plan(event: &Event, candidates: &[Candidate]) -> Plan {
    // The prompt of a turn of this agent comes as two events, and its own hooks hear both: the first one runs them.
    if event.kind == EventKind::UserPromptSubmit && event.dialect == ID {
        let why = "it ran at the start of the turn, which the same payload tells of";
        let skipped = (0..candidates.len()).map(|member| Skip { member, why: why.to_owned() });
        return Plan { stages: Vec::new(), skipped: skipped.collect() };
    }
    if candidates.is_empty() {
        return Plan::default();
    }
    let stop = if stops(event) { StopRule::OnDeny } else { StopRule::Never };
    let mut groups: Vec<Group> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if (group.order == Order::Parallel) == candidate.parallel => {
                group.members.push(index)
            }
            _ if candidate.parallel => groups.push(Group {
                members: vec![index],
                order: Order::Parallel,
                stop: StopRule::Never,
                input: InputRule::Keep,
                fold: FoldRule::Merge,
            }),
            _ => groups.push(Group {
                members: vec![index],
                order: Order::Sequential,
                stop,
                input: InputRule::Thread,
                fold: FoldRule::JoinReasons,
            }),
        }
    }
    Plan { stages: vec![Stage { dialect: ID, groups, budget: None }], skipped: Vec::new() }
}

/// The first refusal ends the chain there; on all other events every hook runs.
fn stops(event: &Event) -> bool {
    match event.kind {
        EventKind::PreToolUse | EventKind::PermissionRequest => true,
        EventKind::PreCompact => !event.variant.as_deref().is_some_and(|v| v.eq_ignore_ascii_case("manual")),
        _ => false,
    }
}
