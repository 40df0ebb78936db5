//! All hooks at once, copies once ("Hook handler fields": identical handlers are deduplicated).

use std::time::Duration;

use hook_core::plan::{Budget, FoldRule, Group, InputRule, Order, Stage, StopRule};
use hook_core::{Candidate, Event, EventKind, Handler, Hook, HostContext, Layer, Plan, Skip};

use super::profile::PROFILE;

const END_BUDGET: Duration = Duration::from_millis(1500);
const MAX_END_BUDGET: Duration = Duration::from_secs(60);
const END_VARIABLE: &str = "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS";

pub(super) fn plan(event: &Event, candidates: &[Candidate], host: &HostContext) -> Plan {
    let mut members: Vec<usize> = Vec::new();
    let mut skipped = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let hook = &candidate.hook;
        let original = members.iter().find(|&&earlier| same(&candidates[earlier].hook, hook));
        match original {
            Some(&earlier) => {
                let why = format!("a copy of the hook at {}", candidates[earlier].hook.origin);
                skipped.push(Skip { member: index, why });
            }
            None => members.push(index),
        }
    }
    if members.is_empty() {
        return Plan { stages: Vec::new(), skipped };
    }
    let group = Group {
        members,
        order: Order::Parallel,
        stop: StopRule::Never,
        input: InputRule::Keep,
        fold: FoldRule::JoinAsFinished,
    };
    let budget = (event.kind == EventKind::SessionEnd).then(|| end_budget(candidates, host));
    Plan { stages: vec![Stage { dialect: PROFILE.id, groups: vec![group], budget }], skipped }
}

/// The hooks of a session's end share a short budget. Timeouts in settings files raise it, those of plugins do not
/// ("SessionEnd").
fn end_budget(candidates: &[Candidate], host: &HostContext) -> Budget {
    let set = host.variable(END_VARIABLE).and_then(|value| value.trim().parse().ok());
    if let Some(total) = set.filter(|&millis| millis > 0).map(Duration::from_millis) {
        return Budget { total, default: Some(total) };
    }
    let settings = |hook: &Hook| {
        matches!(hook.origin.layer, Layer::Managed | Layer::User | Layer::Project | Layer::Local)
    };
    let own = candidates.iter().filter(|c| settings(&c.hook)).filter_map(|c| c.hook.limits.timeout);
    Budget { total: own.max().unwrap_or_default().clamp(END_BUDGET, MAX_END_BUDGET), default: None }
}

/// The same handler with the same rule, in settings files both: their matchers and limits do not count. The client lets the
/// last copy's limits count; here the first one's do, so that a project cannot loosen what a user wrote, nor put a copy that
/// is not trusted in the place of one that is. Background hooks run once per entry.
fn same(a: &Hook, b: &Hook) -> bool {
    let settings = |hook: &Hook| {
        matches!(hook.origin.layer, Layer::Managed | Layer::User | Layer::Project | Layer::Local)
            && !matches!(hook.handler, Handler::Code { .. } | Handler::Unknown { .. })
            && !hook.background
    };
    settings(a) && settings(b) && a.handler == b.handler && rule(a) == rule(b)
}

/// The text of a hook's rule; where it stands makes no other handler of it.
fn rule(hook: &Hook) -> Option<&str> {
    hook.condition.as_ref().map(|condition| condition.text.as_str())
}
