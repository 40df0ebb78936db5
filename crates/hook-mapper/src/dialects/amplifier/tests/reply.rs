//! Plans and results.

use hook_core::plan::{FoldRule, InputRule, Order, StopRule};
use hook_core::{Answer, Dialect, Effect, EngineFailure, Event, EventKind, FailureStage, Level, ReplyPolicy};
use serde_json::{Value, json};

use super::{event, fire};
use crate::Amplifier;
use crate::dialects::testing::{Bench, holds, host, outcome};

#[test]
fn groups_run_as_written() {
    let bench = Bench::new(&Amplifier);
    let event = event(EventKind::PreToolUse);
    let plan = Amplifier.plan(
        &event,
        &bench.candidates(&[(0, false), (0, false), (3, true), (3, true), (4, false)]),
        &host(),
    );
    let [stage] = plan.stages.as_slice() else { panic!("one stage") };
    assert_eq!(stage.dialect, Amplifier.profile().id);
    let groups: Vec<_> = stage.groups.iter().map(|g| (g.members.as_slice(), g.order, g.fold)).collect();
    let expected = [
        (&[0usize, 1][..], Order::Sequential, FoldRule::Join),
        (&[2, 3][..], Order::Parallel, FoldRule::Select),
        (&[4][..], Order::Sequential, FoldRule::Join),
    ];
    assert_eq!(groups, expected);
    assert!(stage.groups.iter().all(|g| g.stop == StopRule::OnAnswer && g.input == InputRule::Keep));
    assert!(Amplifier.plan(&event, &[], &host()).stages.is_empty());
}

#[test]
fn what_a_result_cannot_carry_is_named() {
    use EventKind::*;
    let strict = ReplyPolicy::default();
    let lax = ReplyPolicy { deny_unsupported_ask: false, deny_unsupported_rewrite: false, ..strict };
    let input = json!({ "command": "ls" });
    let stop = Answer { stop: true, stop_reason: Some("enough".into()), ..Answer::default() };
    let context = |answer: Answer| answer.with(Effect::Context { text: "c".into() });
    for (kind, answer, policy, expected, lost) in [
        (
            PreToolUse,
            Answer::ask("sure?"),
            strict,
            json!({ "action": "ask_user", "approval_prompt": "sure?" }),
            "",
        ),
        (
            UserPromptSubmit,
            Answer::ask("sure?"),
            strict,
            json!({ "action": "deny", "reason": "sure?" }),
            "ask became",
        ),
        (UserPromptSubmit, Answer::ask("sure?"), lax, json!({ "action": "continue" }), "ask"),
        (PostToolUse, Answer::ask("sure?"), strict, json!({ "action": "continue" }), "ask"),
        (
            PermissionRequest,
            Answer::ask("sure?"),
            strict,
            json!({ "action": "continue", "user_message": "sure?" }),
            "",
        ),
        (PreToolUse, Answer::allow(), strict, json!({ "action": "continue", "decision": null }), "allow"),
        (
            PermissionRequest,
            Answer::allow(),
            strict,
            json!({ "action": "continue", "decision": "approve" }),
            "",
        ),
        (
            PreToolUse,
            context(Answer::deny("no")),
            strict,
            json!({ "action": "deny", "reason": "no" }),
            "context beside",
        ),
        (
            PostToolUse,
            Answer::deny("no"),
            strict,
            json!({ "action": "continue", "user_message": "no" }),
            "deny:",
        ),
        (PreToolUse, stop.clone(), strict, json!({ "action": "deny", "reason": "enough" }), "stop became"),
        (
            PostToolUse,
            stop.clone(),
            strict,
            json!({ "action": "continue", "user_message": "enough" }),
            "stop",
        ),
        (Stop, stop, strict, json!({ "action": "continue", "user_message": null }), ""),
        (
            PreToolUse,
            context(Answer::rewrite(input.clone())),
            strict,
            json!({ "action": "modify", "data": { "modified_content": input.clone() } }),
            "context beside a rewrite",
        ),
        (
            PermissionRequest,
            Answer::rewrite(input.clone()),
            strict,
            json!({ "action": "deny" }),
            "became a deny",
        ),
        (
            PermissionRequest,
            Answer::rewrite(input.clone()),
            lax,
            json!({ "action": "continue" }),
            "a rewritten input",
        ),
        (
            PreToolUse,
            Answer { updated_input: Some(input.clone()), ..Answer::ask("sure?") },
            strict,
            json!({ "action": "deny" }),
            "became a deny",
        ),
        (
            PreToolUse,
            Answer { updated_input: Some(input), ..Answer::ask("sure?") },
            lax,
            json!({ "action": "ask_user" }),
            "a rewrite beside a question",
        ),
        (
            PostToolUse,
            Answer { updated_output: Some(json!("short")), ..Answer::default() },
            strict,
            json!({ "action": "modify", "data": { "result": "short" } }),
            "",
        ),
        (Stop, Answer::context("c"), strict, json!({ "action": "continue" }), "context"),
        (
            PreToolUse,
            Answer::default().with(Effect::Retry),
            strict,
            json!({ "action": "continue" }),
            "a retry",
        ),
    ] {
        let event = event(kind.clone());
        let reply = Amplifier.write_reply(Some(&event), Ok(&outcome(answer.clone())), &policy);
        let document = serde_json::from_str(&reply.stdout).unwrap();
        holds(&format!("{kind} {answer:?}"), &document, &expected);
        let named = match lost {
            "" => reply.degraded.is_empty(),
            lost => reply.degraded.iter().any(|what| what.contains(lost)),
        };
        assert!(named, "{kind} {answer:?}: {:?}", reply.degraded);
    }
}

#[test]
fn a_changed_result_keeps_the_rest_of_the_event_data() {
    let data =
        json!({ "tool_name": "bash", "tool_input": {}, "tool_result": "long", "parallel_group_id": "g" });
    let event = &fire("tool:post", data)[0];
    let answer = Answer { updated_output: Some(json!("short")), ..Answer::default() };
    let reply = Amplifier.write_reply(Some(event), Ok(&outcome(answer)), &ReplyPolicy::default());
    let document: Value = serde_json::from_str(&reply.stdout).unwrap();
    let expected =
        json!({ "tool_name": "bash", "tool_input": {}, "parallel_group_id": "g", "result": "short" });
    assert_eq!(document["data"], expected);
}

#[test]
fn messages_are_joined_at_the_highest_level() {
    let message = |text: &str, level| Effect::Message { text: text.into(), level };
    let answer = Answer::context("a")
        .with(message("one", Level::Info))
        .with(message("two", Level::Warning))
        .with(Effect::Context { text: "b".into() });
    let event = event(EventKind::PostToolUse);
    let reply = Amplifier.write_reply(Some(&event), Ok(&outcome(answer)), &ReplyPolicy::default());
    let expected = json!({ "action": "inject_context", "context_injection": "a\n\nb", "user_message": "one\ntwo",
                           "user_message_level": "warning" });
    assert_eq!(serde_json::from_str::<Value>(&reply.stdout).unwrap(), expected);
    assert_eq!(reply.degraded, [""; 0]);
}

#[test]
fn a_failing_engine_holds_guards_and_lets_the_rest_go() {
    let failure = |deny| EngineFailure { stage: FailureStage::Internal, message: "mend it".into(), deny };
    let closed = ReplyPolicy { fail_closed: true, ..ReplyPolicy::default() };
    let action = |event: Option<&Event>, deny, policy: &ReplyPolicy| {
        let reply = Amplifier.write_reply(event, Err(&failure(deny)), policy);
        assert!(reply.stdout.contains("mend it"));
        let document: Value = serde_json::from_str(&reply.stdout).unwrap();
        document["action"].as_str().unwrap().to_owned()
    };
    let open = ReplyPolicy::default();
    let pre = event(EventKind::PreToolUse);
    assert_eq!(action(Some(&pre), true, &open), "deny");
    assert_eq!(action(Some(&pre), false, &open), "continue");
    assert_eq!(action(Some(&pre), false, &closed), "deny");
    assert_eq!(action(None, true, &open), "deny");
    assert_eq!(action(Some(&event(EventKind::PostToolUse)), true, &open), "continue");
    assert_eq!(action(Some(&event(EventKind::Stop)), true, &open), "continue");
}
