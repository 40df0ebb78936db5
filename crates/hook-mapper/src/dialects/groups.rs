//! Plans that keep the groups of the hook files.

use hook_core::plan::{FoldRule, Group, InputRule, Order, Stage, StopRule};
use hook_core::{Candidate, DialectId, Plan};

/// How a group runs, but for its order.
pub(super) struct Rules {
    pub(super) stop: StopRule,
    pub(super) input: InputRule,
    pub(super) fold: FoldRule,
}

/// One stage with one group per group of the files, in dispatch order.
pub(super) fn plan(dialect: DialectId, candidates: &[Candidate], rules: impl Fn(bool) -> Rules) -> Plan {
    if candidates.is_empty() {
        return Plan::default();
    }
    let mut groups: Vec<Group> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        // Hooks of one group stand together unless a priority tore them apart; a plan never reorders what it is given.
        let continues = index > 0 && candidates[index - 1].group == candidate.group;
        match groups.last_mut() {
            Some(group) if continues => group.members.push(index),
            _ => {
                let Rules { stop, input, fold } = rules(candidate.parallel);
                let order = if candidate.parallel { Order::Parallel } else { Order::Sequential };
                groups.push(Group { members: vec![index], order, stop, input, fold });
            }
        }
    }
    Plan { stages: vec![Stage { dialect, groups, budget: None }], skipped: Vec::new() }
}
