//! What holds for any outcome: a reply never says less than the hooks did.

use hook_core::{Answer, Audience, Decision, Dialect, Effect, EventKind, Level, ReplyPolicy};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Bench, Claude, of};
use crate::dialects::testing::outcome;

fn any_effect() -> impl Strategy<Value = Effect> {
    let text = "[ -~]{1,4}";
    prop_oneof![
        text.prop_map(|text| Effect::Context { text }),
        text.prop_map(|text| Effect::Message { text, level: Level::Info }),
        (text, prop::sample::select(vec![Audience::Model, Audience::User, Audience::Nobody]))
            .prop_map(|(text, to)| Effect::Feedback { text, to }),
        prop::sample::select(vec!["accept", "decline", "cancel"])
            .prop_map(|action| Effect::Elicitation { action: action.into(), content: Some(json!({"a": 1})) }),
        prop::sample::select(vec![
            Effect::Interrupt,
            Effect::Retry,
            Effect::HidePrompt,
            Effect::ReloadSkills,
            Effect::Permissions { updates: json!([{"type": "setMode"}]) },
            Effect::Permissions { updates: json!("odd") },
            Effect::ReplaceContent { content: json!("x") },
            Effect::ReplaceContent { content: json!({"command": "x"}) },
            Effect::SessionTitle { text: "t".into() },
            Effect::InitialPrompt { text: "p".into() },
            Effect::WatchPaths { paths: vec!["/a".into()] },
            Effect::WorktreePath { path: "wt/a".into() },
            Effect::DisplayContent { text: "d".into() },
            Effect::ClassifierContext { text: "k".into() },
            Effect::TerminalSequence { text: "\u{7}".into() },
        ]),
    ]
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let inputs = vec![json!({"command": "ls"}), json!("text"), Value::Null, json!([1])];
    (
        prop::sample::select(vec![
            Decision::None,
            Decision::Allow,
            Decision::Ask,
            Decision::Defer,
            Decision::Deny,
        ]),
        prop::option::of("[ -~]{0,20}"),
        prop::option::of(prop::sample::select(inputs.clone())),
        prop::option::of(prop::sample::select(inputs)),
        any::<bool>(),
        prop::option::of("[ -~]{0,4}"),
        prop::collection::vec(any_effect(), 0..6),
    )
        .prop_map(|(decision, reason, updated_input, updated_output, stop, stop_reason, effects)| {
            Answer {
                decision,
                reason,
                reason_to: Audience::Model,
                updated_input,
                updated_output,
                stop,
                stop_reason,
                effects,
            }
        })
}

fn any_policy() -> impl Strategy<Value = ReplyPolicy> {
    any::<[bool; 4]>().prop_map(|[ask, rewrite, interactive, fail_closed]| ReplyPolicy {
        deny_unsupported_ask: ask,
        deny_unsupported_rewrite: rewrite,
        interactive,
        fail_closed,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn a_deny_on_a_guard_event_is_read_back_as_a_deny(answer in any_answer(), policy in any_policy()) {
        for kind in EventKind::ALL {
            let event = of(kind.clone());
            if !Claude.capabilities(&event).block {
                continue;
            }
            let answer = Answer { decision: Decision::Deny, ..answer.clone() };
            let reply = Claude.write_reply(Some(&event), Ok(&outcome(answer.clone())), &policy);
            let reading = Bench::new(&Claude).exit(&event, reply.exit_code, &reply.stdout, &reply.stderr);
            prop_assert_eq!(reading.answer.decision, Decision::Deny, "{} {:?}", kind, reply);
            if let Some(reason) = answer.reason.filter(|reason| !reason.trim().is_empty()) {
                // A declined question gives its reason in the log only.
                let said = reading.answer.reason.unwrap_or_default();
                prop_assert_eq!(said.trim(), reason.trim(), "{} {:?}", kind, reply);
            }
        }
    }

    #[test]
    fn what_holds_back_is_never_weakened_and_every_reply_fits(answer in any_answer()) {
        for kind in EventKind::ALL {
            let event = of(kind.clone());
            let can = Claude.capabilities(&event);
            let reply = Claude.write_reply(Some(&event), Ok(&outcome(answer.clone())), &ReplyPolicy::default());
            let reading = Bench::new(&Claude).exit(&event, reply.exit_code, &reply.stdout, &reply.stderr);
            prop_assert_eq!(reading.failure, None, "{} {:?}", kind, reply);
            if can.block && answer.decision >= Decision::Ask {
                prop_assert!(reading.answer.decision >= Decision::Ask, "{} {:?}", kind, reply);
            }
            if can.stop {
                prop_assert_eq!(reading.answer.stop, answer.stop, "{} {:?}", kind, reply);
            }
            if can.block && answer.updated_input.as_ref().is_some_and(|input| !input.is_null()) {
                let kept = reading.answer.updated_input.is_some();
                let held = reading.answer.decision >= Decision::Defer;
                prop_assert!(kept || held, "{} {:?}", kind, reply);
            }
        }
    }

    #[test]
    fn an_allow_is_never_invented(answer in any_answer(), policy in any_policy()) {
        prop_assume!(answer.decision != Decision::Allow);
        for kind in EventKind::ALL {
            let event = of(kind.clone());
            let reply = Claude.write_reply(Some(&event), Ok(&outcome(answer.clone())), &policy);
            let reading = Bench::new(&Claude).exit(&event, reply.exit_code, &reply.stdout, &reply.stderr);
            prop_assert_ne!(reading.answer.decision, Decision::Allow, "{} {:?}", kind, reply);
        }
    }
}

/// What a hook of Claude Code says, said again by the engine, is the same.
#[test]
fn documents_of_hooks_survive_the_round_trip() {
    let bench = Bench::new(&Claude);
    let common =
        json!({"continue": false, "stopReason": "halt", "systemMessage": "m", "terminalSequence": "\u{7}"});
    let rows = [
        (
            EventKind::PreToolUse,
            json!({}),
            json!({"permissionDecision": "allow", "permissionDecisionReason": "r", "updatedInput": {"a": 1}, "additionalContext": "c"}),
        ),
        (
            EventKind::PreToolUse,
            json!({}),
            json!({"permissionDecision": "deny", "permissionDecisionReason": "r", "additionalContext": "c"}),
        ),
        (
            EventKind::PreToolUse,
            json!({}),
            json!({"permissionDecision": "ask", "permissionDecisionReason": "r", "updatedInput": {"a": 1}}),
        ),
        (EventKind::PreToolUse, json!({}), json!({"permissionDecision": "defer"})),
        (EventKind::PreToolUse, json!({}), json!({"updatedInput": {"a": 1}})),
        (EventKind::PostToolUse, common.clone(), json!({"additionalContext": "c"})),
        (
            EventKind::PermissionRequest,
            json!({}),
            json!({"decision": {"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": [{"type": "setMode"}]}}),
        ),
        (
            EventKind::PermissionRequest,
            json!({}),
            json!({"decision": {"behavior": "deny", "message": "r", "interrupt": true}}),
        ),
        (EventKind::PermissionDenied, json!({}), json!({"retry": true})),
        (
            EventKind::PostToolUse,
            json!({"decision": "block", "reason": "r"}),
            json!({"updatedToolOutput": {"x": 1}, "additionalContext": "c", "classifierContext": "k"}),
        ),
        (
            EventKind::PostToolUseFailure,
            json!({"decision": "block", "reason": "r"}),
            json!({"additionalContext": "c"}),
        ),
        (
            EventKind::PostToolBatch,
            json!({"decision": "block", "reason": "r"}),
            json!({"additionalContext": "c"}),
        ),
        (
            EventKind::UserPromptSubmit,
            json!({"decision": "block", "reason": "r"}),
            json!({"sessionTitle": "t", "suppressOriginalPrompt": true, "additionalContext": "c"}),
        ),
        (
            EventKind::UserPromptExpansion,
            json!({"decision": "block", "reason": "r"}),
            json!({"suppressOriginalPrompt": true}),
        ),
        (
            EventKind::SessionStart,
            json!({"systemMessage": "m"}),
            json!({"additionalContext": "c", "initialUserMessage": "i", "sessionTitle": "t", "watchPaths": ["/a"], "reloadSkills": true}),
        ),
        (EventKind::Stop, json!({"decision": "block", "reason": "r"}), json!({"additionalContext": "c"})),
        (EventKind::Stop, common.clone(), json!({})),
        (EventKind::SubagentStop, json!({"decision": "block", "reason": "r"}), json!({})),
        (EventKind::SubagentStart, json!({}), json!({"additionalContext": "c"})),
        (EventKind::TaskCreated, json!({"decision": "block", "reason": "r"}), json!({})),
        (EventKind::TaskCompleted, json!({"decision": "block", "reason": "r"}), json!({})),
        (EventKind::TeammateIdle, json!({"continue": false, "stopReason": "halt"}), json!({})),
        (EventKind::PreCompact, json!({"decision": "block", "reason": "r"}), json!({})),
        (EventKind::ConfigChange, json!({"decision": "block", "reason": "r"}), json!({})),
        (
            EventKind::PreModelSwitch,
            json!({"systemMessage": "m"}),
            json!({"permissionDecision": "ask", "permissionDecisionReason": "r"}),
        ),
        (EventKind::PostModelSwitch, json!({"systemMessage": "m"}), json!({"additionalContext": "c"})),
        (EventKind::CwdChanged, json!({"systemMessage": "m"}), json!({"watchPaths": []})),
        (EventKind::FileChanged, json!({"systemMessage": "m"}), json!({"watchPaths": ["/a"]})),
        (EventKind::MessageDisplay, json!({}), json!({"displayContent": "d"})),
        (EventKind::Notification, json!({"terminalSequence": "\u{7}"}), json!({})),
        (EventKind::StopFailure, json!({"terminalSequence": "\u{7}"}), json!({})),
        (EventKind::Elicitation, json!({}), json!({"action": "accept", "content": {"a": 1}})),
        (EventKind::Elicitation, json!({"decision": "block", "reason": "r"}), json!({})),
        (EventKind::ElicitationResult, json!({}), json!({"action": "cancel"})),
        (EventKind::WorktreeCreate, json!({}), json!({"worktreePath": "wt/a"})),
    ];
    for (kind, mut document, mut own) in rows {
        own["hookEventName"] = kind.name().into();
        document["hookSpecificOutput"] = own;
        let event = of(kind.clone());
        let said = bench.exit(&event, 0, &document.to_string(), "");
        assert_eq!(said.failure, None, "{kind} {document}");
        assert_ne!(said.answer, Answer::default(), "{kind} {document}");
        let reply =
            Claude.write_reply(Some(&event), Ok(&outcome(said.answer.clone())), &ReplyPolicy::default());
        assert_eq!(reply.degraded, Vec::<String>::new(), "{kind} {document}");
        let again = bench.exit(&event, reply.exit_code, &reply.stdout, &reply.stderr);
        let sorted = |mut answer: Answer| {
            answer.effects.sort_by_key(|effect| serde_json::to_string(effect).unwrap());
            answer
        };
        assert_eq!(sorted(again.answer), sorted(said.answer), "{kind} {document} {}", reply.stdout);
    }
}
