//! Which hooks run, and how their answers become one.

use std::sync::Arc;

use hook_core::plan::{FoldRule, InputRule, Order, StopRule};
use hook_core::{
    Answer, Candidate, Decision, Dialect, EventKind, FailureKind, Handler, Layer, McpHandler, fold,
};
use serde_json::json;

use super::{Bench, Claude, of, own};
use crate::dialects::testing::host;

#[test]
fn copies_in_settings_files_run_once_and_a_plugins_copy_runs_besides() {
    let bench = Bench::new(&Claude);
    let mut candidates = bench.candidates(&[(0, false), (1, false), (2, false), (3, false)]);
    let layers = [Layer::User, Layer::Project, Layer::Pack, Layer::Local];
    for (candidate, layer) in candidates.iter_mut().zip(layers) {
        Arc::make_mut(&mut candidate.hook).origin.layer = layer;
    }
    Arc::make_mut(&mut candidates[3].hook).condition = Some(rule("Bash(git *)"));
    let plan = Claude.plan(&of(EventKind::PreToolUse), &candidates, &host());
    assert_eq!(plan.stages[0].groups[0].members, [0, 2, 3]);
    assert_eq!(plan.skipped[0].member, 1);
}

/// Two copies in settings files, the second one changed.
fn members(change: impl Fn(&mut hook_core::Hook)) -> Vec<usize> {
    let bench = Bench::new(&Claude);
    let mut candidates: Vec<Candidate> = bench.candidates(&[(0, false), (1, false)]);
    for candidate in &mut candidates {
        Arc::make_mut(&mut candidate.hook).origin.layer = Layer::Project;
    }
    change(Arc::make_mut(&mut candidates[1].hook));
    Claude.plan(&of(EventKind::PreToolUse), &candidates, &host()).stages[0].groups[0].members.clone()
}

#[test]
fn identity_is_the_handler_and_its_rule() {
    use hook_core::{FailMode, OnFailure};
    let mcp = |input: i32| {
        move |hook: &mut hook_core::Hook| {
            let input = [("x".to_owned(), input.into())].into_iter().collect();
            let (server, tool, allowed_env_vars) = ("s".into(), "t".into(), Vec::new());
            hook.handler = Handler::Mcp(McpHandler { server, tool, input, allowed_env_vars });
        }
    };
    assert_eq!(members(|_| ()), [0]);
    assert_eq!(members(|hook| hook.matcher.text = Some("Bash".into())), [0]);
    assert_eq!(members(|hook| hook.limits.timeout = Some(std::time::Duration::from_secs(1))), [0]);
    assert_eq!(
        members(|hook| hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() }),
        [0]
    );
    assert_eq!(members(|hook| hook.condition = Some(rule("Bash"))), [0, 1]);
    assert_eq!(members(|hook| hook.background = true), [0, 1]);
    assert_eq!(members(|hook| hook.origin.layer = Layer::Skill), [0, 1]);
    assert_eq!(members(mcp(1)), [0, 1]);

    let bench = Bench::new(&Claude);
    let mut calls = bench.candidates(&[(0, false), (0, false), (0, false)]);
    for (candidate, input) in calls.iter_mut().zip([1, 2, 1]) {
        let hook = Arc::make_mut(&mut candidate.hook);
        hook.origin.layer = Layer::User;
        mcp(input)(hook);
    }
    let plan = Claude.plan(&of(EventKind::PreToolUse), &calls, &host());
    assert_eq!(plan.stages[0].groups[0].members, [0, 1]);
    assert!(plan.skipped[0].why.contains("a copy of the hook at"));
}

#[test]
fn all_hooks_run_at_once_and_none_stops_another() {
    let candidates = Bench::new(&Claude).candidates(&[(0, false), (1, true), (2, false)]);
    let plan = Claude.plan(&of(EventKind::Stop), &candidates, &host());
    let group = &plan.stages[0].groups[0];
    assert_eq!((group.order, group.stop), (Order::Parallel, StopRule::Never));
    assert_eq!((group.input, group.fold), (InputRule::Keep, FoldRule::JoinAsFinished));
    assert!(Claude.plan(&of(EventKind::Stop), &[], &host()).stages.is_empty());
}

#[test]
fn several_answers_join_as_the_reference_says() {
    let bench = Bench::new(&Claude);
    let pre = of(EventKind::PreToolUse);
    let say = |decision: &str, reason: &str| {
        let own = json!({"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason});
        bench.exit(&pre, 0, &json!({ "hookSpecificOutput": own }).to_string(), "").answer
    };
    let rows = [
        (vec![say("allow", "a"), say("deny", "policy")], Decision::Deny, Some("policy")),
        (vec![say("allow", "a"), say("ask", "confirm")], Decision::Ask, Some("confirm")),
        (vec![say("ask", "a"), say("defer", "d")], Decision::Defer, Some("d")),
        (vec![say("allow", "a"), Answer::default()], Decision::Allow, Some("a")),
        (vec![say("allow", "a"), bench.exit(&pre, 2, "", "nope").answer], Decision::Deny, Some("nope")),
        (vec![say("allow", "a"), bench.fail(&pre, FailureKind::Timeout).answer], Decision::Allow, Some("a")),
    ];
    for (answers, decision, reason) in rows {
        let joined = fold::join_all(answers);
        assert_eq!((joined.decision, joined.reason.as_deref()), (decision, reason));
    }
}

#[test]
fn contexts_stops_and_blocks_of_several_hooks_are_kept() {
    let bench = Bench::new(&Claude);
    let pre = of(EventKind::PreToolUse);
    let context = |text: &str| {
        bench.exit(&pre, 0, &own(&EventKind::PreToolUse, json!({"additionalContext": text})), "").answer
    };
    let both = fold::join_all([context("one"), context("two")]);
    assert_eq!((both.decision, both.contexts().collect::<Vec<_>>()), (Decision::None, vec!["one", "two"]));
    let denied = fold::join_all([Answer::deny("x"), context("logged")]);
    assert_eq!((denied.decision, denied.contexts().count()), (Decision::Deny, 1));
    let halt = bench.exit(&pre, 0, r#"{"continue":false,"stopReason":"halt"}"#, "").answer;
    let halted = fold::join_all([Answer::allow(), halt]);
    assert_eq!((halted.stop, halted.stop_reason.as_deref()), (true, Some("halt")));
    let block = bench.exit(&of(EventKind::Stop), 0, r#"{"decision":"block","reason":"tests"}"#, "").answer;
    let stopped = fold::join_all([Answer::default(), block]);
    assert_eq!((stopped.decision, stopped.reason.as_deref()), (Decision::Deny, Some("tests")));
}

fn rule(text: &str) -> hook_core::ConditionSpec {
    hook_core::ConditionSpec { text: text.to_owned(), location: None }
}
