//! Outcomes in Claude Code's words.

use hook_core::{
    Answer, Audience, Decision, Dialect, Effect, EngineFailure, Event, EventKind, FailureStage, ReplyPolicy,
};
use serde_json::{Value, json};

use super::{Bench, Claude, of};
use crate::dialects::testing::{holds, outcome};

fn reply(kind: EventKind, answer: Answer) -> (Value, Vec<String>) {
    let event = of(kind);
    let reply = Claude.write_reply(Some(&event), Ok(&outcome(answer)), &ReplyPolicy::default());
    assert_eq!(reply.exit_code, 0);
    let value =
        if reply.stdout.is_empty() { Value::Null } else { serde_json::from_str(&reply.stdout).unwrap() };
    (value, reply.degraded)
}

#[test]
fn replies_have_the_form_of_their_event() {
    let own = |value: &Value| value["hookSpecificOutput"].clone();
    assert_eq!(reply(EventKind::PreToolUse, Answer::default()).0, Value::Null);
    let (deny, lost) =
        reply(EventKind::PreToolUse, Answer::deny("no").with(Effect::Context { text: "c".into() }));
    holds(
        "deny",
        &own(&deny),
        &json!({"permissionDecision": "deny", "permissionDecisionReason": "no", "additionalContext": "c"}),
    );
    assert!(lost.is_empty());
    let (ask, _) = reply(EventKind::PreToolUse, Answer::ask("sure?"));
    holds("ask", &own(&ask), &json!({"permissionDecision": "ask", "permissionDecisionReason": "sure?"}));
    let (rewrite, _) = reply(EventKind::PreToolUse, Answer::rewrite(json!({"command": "ls"})));
    holds("rewrite", &own(&rewrite), &json!({"updatedInput": {"command": "ls"}, "permissionDecision": null}));
    let (permission, _) = reply(EventKind::PermissionRequest, Answer::deny("no").with(Effect::Interrupt));
    assert_eq!(own(&permission)["decision"], json!({"behavior": "deny", "message": "no", "interrupt": true}));
    let (stop, _) = reply(EventKind::Stop, Answer::deny("more"));
    assert_eq!(stop, json!({"decision": "block", "reason": "more"}));
    let (post, lost) = reply(EventKind::PostToolUse, Answer::deny("late"));
    assert_eq!(post, json!({"decision": "block", "reason": "late"}));
    assert_eq!(lost.len(), 1);
    let (asked, lost) = reply(EventKind::UserPromptSubmit, Answer::ask("sure?"));
    assert_eq!(asked, json!({"decision": "block", "reason": "sure?"}));
    assert_eq!(lost.len(), 1);
    let (end, lost) = reply(EventKind::SessionEnd, Answer::context("bye"));
    assert_eq!((end, lost.len()), (Value::Null, 1));
    let halt = Answer { stop: true, stop_reason: Some("halt".into()), ..Answer::default() };
    assert_eq!(
        reply(EventKind::PostToolUse, halt.clone()).0,
        json!({"continue": false, "stopReason": "halt"})
    );
    // The client would run the call before it stops.
    for decision in [Decision::None, Decision::Allow, Decision::Ask] {
        let (stopped, lost) = reply(EventKind::PreToolUse, Answer { decision, ..halt.clone() });
        assert_eq!(stopped["continue"], false);
        assert_eq!(own(&stopped)["permissionDecision"], "deny", "{decision:?}");
        assert!(lost.is_empty());
    }
    assert_eq!(reply(EventKind::SessionStart, halt).1.len(), 1);
}

#[test]
fn a_failure_of_the_engine_denies_on_guards_and_says_so_elsewhere() {
    let failure = EngineFailure { stage: FailureStage::Configuration, message: "mend it".into(), deny: true };
    let write =
        |event: Option<Event>| Claude.write_reply(event.as_ref(), Err(&failure), &ReplyPolicy::default());
    assert!(write(Some(of(EventKind::PreToolUse))).stdout.contains("\"deny\""));
    assert!(write(Some(of(EventKind::Stop))).stdout.contains("systemMessage"));
    assert!(write(Some(of(EventKind::PostToolUse))).stdout.contains("systemMessage"));
    let blind = write(None);
    assert_eq!((blind.exit_code, blind.stderr.as_str()), (2, "mend it\n"));
    let mild = EngineFailure { deny: false, ..failure.clone() };
    let reply = Claude.write_reply(Some(&of(EventKind::PreToolUse)), Err(&mild), &ReplyPolicy::default());
    assert!(!reply.stdout.contains("deny") && reply.stdout.contains("mend it"));
}

fn effects(effects: impl IntoIterator<Item = Effect>, answer: Answer) -> Answer {
    Answer { effects: effects.into_iter().collect(), ..answer }
}

#[test]
fn an_answer_to_a_server_carries_its_content_and_a_decline_wins() {
    let say =
        |action: &str| Effect::Elicitation { action: action.into(), content: Some(json!({"u": action})) };
    let own = |answer: Answer| reply(EventKind::Elicitation, answer).0["hookSpecificOutput"].clone();
    holds(
        "accept",
        &own(effects([say("accept")], Answer::default())),
        &json!({"action": "accept", "content": {"u": "accept"}}),
    );
    for others in [["decline", "accept"], ["accept", "decline"], ["cancel", "decline"]] {
        let all = own(effects(others.map(say), Answer::default()));
        holds("decline", &all, &json!({"action": "decline", "content": null}));
    }
    let denied = own(effects([say("accept")], Answer::deny("no")));
    holds("deny", &denied, &json!({"action": "decline", "content": null}));
}

#[test]
fn a_permission_takes_rules_with_an_allow_and_an_interrupt_with_a_deny() {
    let rules = |n: i32| Effect::Permissions { updates: json!([{ "n": n }]) };
    let decision = |answer: Answer| {
        let (value, lost) = reply(EventKind::PermissionRequest, answer);
        (value["hookSpecificOutput"]["decision"].clone(), lost.len())
    };
    let allowed = decision(effects([rules(1), Effect::Interrupt, rules(2)], Answer::allow()));
    assert_eq!(allowed, (json!({"behavior": "allow", "updatedPermissions": [{"n": 1}, {"n": 2}]}), 1));
    let denied = decision(effects([rules(1), Effect::Interrupt], Answer::deny("no")));
    assert_eq!(denied, (json!({"behavior": "deny", "message": "no", "interrupt": true}), 1));
    let input = Answer { updated_input: Some(json!({"command": "ls"})), ..Answer::allow() };
    assert_eq!(decision(input), (json!({"behavior": "allow", "updatedInput": {"command": "ls"}}), 0));
}

#[test]
fn what_cannot_be_rewritten_or_asked_is_refused_unless_the_policy_drops_it() {
    let drops = ReplyPolicy {
        deny_unsupported_ask: false,
        deny_unsupported_rewrite: false,
        ..ReplyPolicy::default()
    };
    let rewrite = || Answer::rewrite(json!({"command": "ls"}));
    let text = || Answer::default().with(Effect::ReplaceContent { content: "other".into() });
    for (kind, answer, part) in [
        (EventKind::PermissionRequest, rewrite(), r#"{"command":"ls"}"#),
        (EventKind::UserPromptSubmit, text(), "other"),
        (EventKind::PreToolUse, text(), "other"),
        (EventKind::PermissionRequest, Answer::ask("sure?"), "sure?"),
        (EventKind::Stop, Answer::ask("sure?"), "sure?"),
        (EventKind::UserPromptSubmit, Answer { decision: Decision::Defer, ..Answer::default() }, "human"),
    ] {
        let event = of(kind);
        let write =
            |policy: &ReplyPolicy| Claude.write_reply(Some(&event), Ok(&outcome(answer.clone())), policy);
        let strict = write(&ReplyPolicy::default());
        let read = Bench::new(&Claude).exit(&event, strict.exit_code, &strict.stdout, "").answer;
        assert_eq!(read.decision, Decision::Deny, "{strict:?}");
        assert!(read.reason.unwrap().contains(part), "{strict:?}");
        assert_eq!(strict.degraded.len(), 1);
        let loose = write(&drops);
        assert_eq!((loose.stdout.as_str(), loose.degraded.len()), ("", 1), "{loose:?}");
    }
}

#[test]
fn a_defer_is_a_question_where_a_person_sits() {
    let defer = effects(
        [Effect::Context { text: "c".into() }],
        Answer { decision: Decision::Defer, updated_input: Some(json!({})), ..Answer::default() },
    );
    let (headless, lost) = reply(EventKind::PreToolUse, defer.clone());
    assert_eq!(headless["hookSpecificOutput"]["permissionDecision"], "defer");
    assert_eq!(lost.len(), 2, "{lost:?}");
    let policy = ReplyPolicy { interactive: true, ..ReplyPolicy::default() };
    let seated = Claude.write_reply(Some(&of(EventKind::PreToolUse)), Ok(&outcome(defer)), &policy);
    assert!(seated.stdout.contains(r#""permissionDecision":"ask""#), "{seated:?}");
}

#[test]
fn effects_of_several_hooks_add_up() {
    let watch = |path: &str| Effect::WatchPaths { paths: vec!["/a".into(), path.into()] };
    let (start, _) = reply(EventKind::SessionStart, effects([watch("/b"), watch("/c")], Answer::default()));
    assert_eq!(start["hookSpecificOutput"]["watchPaths"], json!(["/a", "/b", "/c"]));
    let note = |text: &str| Effect::ClassifierContext { text: text.into() };
    let (post, _) = reply(EventKind::PostToolUse, effects([note("x"), note("y")], Answer::default()));
    assert_eq!(post["hookSpecificOutput"]["classifierContext"], "x\ny");
    let bell = || Effect::TerminalSequence { text: "\u{7}".into() };
    let (stop, _) = reply(EventKind::Stop, effects([bell(), bell()], Answer::default()));
    assert_eq!(stop["terminalSequence"], "\u{7}\u{7}");
    let told = [
        Effect::Context { text: "one".into() },
        Effect::Feedback { text: "lint".into(), to: Audience::Model },
        Effect::Context { text: "two".into() },
        Effect::Feedback { text: "psst".into(), to: Audience::User },
    ];
    let (post, lost) = reply(EventKind::PostToolUse, effects(told, Answer::default()));
    holds("post", &post, &json!({"decision": "block", "reason": "lint", "systemMessage": "psst"}));
    assert_eq!(post["hookSpecificOutput"]["additionalContext"], "one\ntwo");
    assert!(lost.is_empty());
}

#[test]
fn changes_of_policy_cannot_be_refused_and_that_is_said() {
    let mut event = of(EventKind::ConfigChange);
    event.variant = Some("policy_settings".into());
    assert!(!Claude.capabilities(&event).block);
    let reply = Claude.write_reply(Some(&event), Ok(&outcome(Answer::deny("no"))), &ReplyPolicy::default());
    assert_eq!(reply.stdout, "");
    assert!(reply.degraded[0].contains("a deny"), "{reply:?}");
}

#[test]
fn worktrees_are_named_or_refused_by_exit_code() {
    let write = |answer: Answer| {
        Claude.write_reply(
            Some(&of(EventKind::WorktreeCreate)),
            Ok(&outcome(answer)),
            &ReplyPolicy::default(),
        )
    };
    let named = write(Answer::default().with(Effect::WorktreePath { path: "wt/a".into() }));
    assert_eq!((named.exit_code, named.stdout.as_str()), (0, "wt/a\n"));
    let refused = write(Answer::deny("no"));
    assert_eq!((refused.exit_code, refused.stderr.as_str(), refused.stdout.as_str()), (1, "no\n", ""));
    let silent = write(Answer { stop: true, ..Answer::default() });
    assert_eq!(silent.degraded.len(), 2, "{silent:?}");
    let failure = EngineFailure { stage: FailureStage::Internal, message: "broken".into(), deny: false };
    let failed =
        Claude.write_reply(Some(&of(EventKind::WorktreeCreate)), Err(&failure), &ReplyPolicy::default());
    assert_eq!((failed.exit_code, failed.stdout.as_str()), (1, ""));
}

#[test]
fn a_failing_engine_never_prolongs_work_and_fails_closed_on_request() {
    let failure = EngineFailure { stage: FailureStage::Internal, message: "broken".into(), deny: false };
    let closed = ReplyPolicy { fail_closed: true, ..ReplyPolicy::default() };
    let write = |kind: EventKind| Claude.write_reply(Some(&of(kind)), Err(&failure), &closed);
    assert!(write(EventKind::PermissionRequest).stdout.contains(r#""behavior":"deny""#));
    assert!(write(EventKind::UserPromptSubmit).stdout.contains(r#""decision":"block""#));
    for kind in [EventKind::Stop, EventKind::SubagentStop, EventKind::TaskCompleted, EventKind::TeammateIdle]
    {
        assert_eq!(write(kind).stdout, "{\"systemMessage\":\"broken\"}\n");
    }
    assert_eq!(write(EventKind::Notification).degraded.len(), 1);
    assert_eq!(Claude.write_reply(None, Err(&failure), &closed).exit_code, 2);
    let open = Claude.write_reply(None, Err(&failure), &ReplyPolicy::default());
    assert_eq!((open.exit_code, open.stdout.as_str()), (0, "{\"systemMessage\":\"broken\"}\n"));
}
