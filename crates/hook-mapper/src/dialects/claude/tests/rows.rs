//! Tables over events: exit 2, a `block`, plain text, and the rows of the reference's response table that need more than a
//! decision to be told apart.

use hook_core::{Answer, Audience, Decision, Dialect, Effect, EventKind, Reading, Status, StdoutForm};
use serde_json::{Value, json};

use super::{Bench, Claude, fired, of, own};

/// What becomes of `why` on an event: who reads it, and whether something is held back.
fn fate(reading: &Reading) -> (Decision, Option<Audience>) {
    let feedback = reading.answer.effects.iter().find_map(|effect| match effect {
        Effect::Feedback { text, to } if text.contains("why") => Some(*to),
        _ => None,
    });
    let reason = reading.answer.reason.as_ref().map(|reason| {
        assert!(reason.contains("why"), "{reading:?}");
        reading.answer.reason_to
    });
    (reading.answer.decision, reason.or(feedback))
}

#[test]
fn exit_2_on_all_33_events() {
    use Audience::{Model, Nobody, User};
    use Decision::{Deny, None as Nothing};
    let bench = Bench::new(&Claude);
    let rows = [
        ("SessionStart", Status::Blocked, Nothing, Some(User)),
        ("Setup", Status::Ignored, Nothing, None),
        ("InstructionsLoaded", Status::Ignored, Nothing, None),
        ("UserPromptSubmit", Status::Blocked, Deny, Some(User)),
        ("UserPromptExpansion", Status::Blocked, Deny, Some(User)),
        ("MessageDisplay", Status::Ignored, Nothing, None),
        ("PreToolUse", Status::Blocked, Deny, Some(Model)),
        ("PermissionRequest", Status::Ignored, Nothing, None),
        ("PermissionDenied", Status::Ignored, Nothing, None),
        ("PostToolUse", Status::Blocked, Nothing, Some(Model)),
        ("PostToolUseFailure", Status::Blocked, Nothing, Some(Model)),
        ("PostToolBatch", Status::Blocked, Deny, Some(User)),
        ("Notification", Status::Ignored, Nothing, None),
        ("SubagentStart", Status::Blocked, Nothing, Some(User)),
        ("SubagentStop", Status::Blocked, Deny, Some(Model)),
        ("TaskCreated", Status::Blocked, Deny, Some(Model)),
        ("TaskCompleted", Status::Blocked, Deny, Some(Model)),
        ("Stop", Status::Blocked, Deny, Some(Model)),
        ("StopFailure", Status::Ignored, Nothing, None),
        ("TeammateIdle", Status::Blocked, Deny, Some(Model)),
        ("ConfigChange", Status::Blocked, Deny, Some(Nobody)),
        ("CwdChanged", Status::Blocked, Nothing, Some(User)),
        ("DirectoryAdded", Status::Blocked, Nothing, None),
        ("FileChanged", Status::Blocked, Nothing, Some(User)),
        ("WorktreeCreate", Status::Blocked, Deny, Some(User)),
        ("WorktreeRemove", Status::Blocked, Deny, Some(User)),
        ("PreCompact", Status::Blocked, Deny, Some(User)),
        ("PostCompact", Status::Blocked, Nothing, Some(User)),
        ("PreModelSwitch", Status::Blocked, Deny, Some(User)),
        ("PostModelSwitch", Status::Blocked, Nothing, Some(User)),
        ("SessionEnd", Status::Blocked, Nothing, Some(User)),
        ("Elicitation", Status::Blocked, Deny, Some(Nobody)),
        ("ElicitationResult", Status::Blocked, Deny, Some(Nobody)),
    ];
    let names: Vec<&str> = rows.iter().map(|row| row.0).collect();
    for known in Claude.profile().events {
        assert!(names.contains(&known.name), "{} has no row", known.name);
    }
    for (name, status, decision, reader) in rows {
        let reading = bench.exit(&of(EventKind::from_name(name)), 2, "", " why\n");
        assert_eq!(reading.status, status, "{name}");
        assert_eq!(fate(&reading), (decision, reader), "{name}");
    }
}

#[test]
fn a_block_in_json_where_there_is_something_to_block() {
    let bench = Bench::new(&Claude);
    let guards = [
        EventKind::UserPromptSubmit,
        EventKind::UserPromptExpansion,
        EventKind::PreToolUse,
        EventKind::PostToolBatch,
        EventKind::SubagentStop,
        EventKind::TaskCreated,
        EventKind::TaskCompleted,
        EventKind::Stop,
        EventKind::TeammateIdle,
        EventKind::ConfigChange,
        EventKind::PreCompact,
        EventKind::PreModelSwitch,
        EventKind::Elicitation,
        EventKind::ElicitationResult,
    ];
    for kind in EventKind::ALL.iter().filter(|kind| Claude.event_row(kind.name()).is_some()) {
        if matches!(kind, EventKind::WorktreeCreate | EventKind::WorktreeRemove) {
            continue; // Paths and exit codes only.
        }
        let said = bench.exit(&of(kind.clone()), 0, r#"{"decision":"block","reason":"why"}"#, "");
        let told = matches!(kind, EventKind::PostToolUse | EventKind::PostToolUseFailure);
        let expected = if guards.contains(kind) { Decision::Deny } else { Decision::None };
        let (decision, reader) = fate(&said);
        assert_eq!(decision, expected, "{kind}");
        assert_eq!(reader.is_some(), told || decision == Decision::Deny, "{kind}");
        let bare = bench.exit(&of(kind.clone()), 0, r#"{"decision":"block"}"#, "");
        if decision == Decision::Deny {
            assert_eq!(bare.answer.reason.as_deref(), Some("Blocked by hook"), "{kind}");
        }
    }
}

#[test]
fn plain_text_is_context_on_four_events_and_not_beside_a_failure() {
    let bench = Bench::new(&Claude);
    let four = ["SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch"];
    for row in Claude.profile().events.iter().filter(|row| !row.name.starts_with("Worktree")) {
        let event = of(EventKind::from_name(row.name));
        for (text, form, counts) in [
            ("branch: main", StdoutForm::Text, true),
            ("[1,2]", StdoutForm::Text, true),
            ("\"quoted\"", StdoutForm::Text, true),
            ("{draft", StdoutForm::Text, true),
            ("{\"a\":1}\n{\"b\":2}", StdoutForm::Text, true),
            ("{not json}", StdoutForm::InvalidJson, false),
            ("{\"a\":1}", StdoutForm::Json, false),
        ] {
            let reading = bench.exit(&event, 0, text, "");
            assert_eq!(reading.stdout, Some(form), "{} {text}", row.name);
            let context = reading.answer.contexts().next();
            let expected = (counts && four.contains(&row.name)).then_some(text);
            assert_eq!(context, expected, "{} {text}", row.name);
            assert_eq!(
                bench.exit(&event, 1, text, "bad").answer.contexts().count(),
                0,
                "{} {text}",
                row.name
            );
        }
    }
}

#[test]
fn rows_with_more_than_a_decision() {
    let bench = Bench::new(&Claude);
    let say =
        |kind: EventKind, code: i32, stdout: &str, stderr: &str| bench.exit(&of(kind), code, stdout, stderr);

    let halt = say(
        EventKind::PreToolUse,
        0,
        r#"{"continue":false,"stopReason":"halt","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
        "",
    );
    assert_eq!((halt.answer.stop, halt.answer.stop_reason.as_deref()), (true, Some("halt")));

    let secret = say(EventKind::UserPromptSubmit, 0, r#"{"decision":"block","reason":"secret found"}"#, "");
    assert_eq!(secret.answer, Answer { reason_to: Audience::User, ..Answer::deny("secret found") });

    for (decision, reader) in [
        ("allow", Audience::User),
        ("deny", Audience::Model),
        ("ask", Audience::User),
        ("defer", Audience::Nobody),
    ] {
        let members = json!({"permissionDecision": decision, "permissionDecisionReason": "r"});
        let reading = say(EventKind::PreToolUse, 0, &own(&EventKind::PreToolUse, members), "");
        assert_eq!(reading.answer.reason_to, reader, "{decision}");
    }

    let accept = own(&EventKind::Elicitation, json!({"action": "accept", "content": {"u": "a"}}));
    let declined = say(EventKind::Elicitation, 2, &accept, "no");
    assert_eq!((declined.status, declined.answer.reason_to), (Status::Blocked, Audience::Nobody));
    assert_eq!(declined.answer.effects, [Effect::Elicitation { action: "decline".into(), content: None }]);
    let accepted = say(EventKind::Elicitation, 0, &accept, "").answer;
    assert_eq!(
        accepted.effects,
        [Effect::Elicitation { action: "accept".into(), content: Some(json!({"u": "a"})) }]
    );

    let started = say(EventKind::WorktreeCreate, 0, "Welcome\nwt/feature-a\n\n", "");
    assert_eq!(started.answer.effects, [Effect::WorktreePath { path: "wt/feature-a".into() }]);
    let failed = say(EventKind::WorktreeCreate, 1, "wt/feature-a\n", "svn down");
    assert_eq!((failed.status, failed.answer.reason.as_deref()), (Status::Blocked, Some("svn down")));
    assert_eq!(say(EventKind::WorktreeCreate, 0, "\n", "").answer.decision, Decision::Deny);
    let http = own(&EventKind::WorktreeCreate, json!({"worktreePath": "wt/b"}));
    let named = say(EventKind::WorktreeCreate, 0, &http, "").answer;
    assert_eq!(named.effects, [Effect::WorktreePath { path: "wt/b".into() }]);

    let policy = fired(json!({"hook_event_name": "ConfigChange", "source": "policy_settings"}));
    assert_eq!(bench.exit(&policy, 2, "", "no").answer, Answer::default());
}

#[test]
fn fields_count_only_where_the_event_takes_them() {
    let bench = Bench::new(&Claude);
    let document = |kind: &EventKind| {
        let mut document: Value =
            serde_json::from_str(&own(kind, json!({"additionalContext": "c"}))).unwrap();
        document["continue"] = false.into();
        document["systemMessage"] = "m".into();
        document.to_string()
    };
    for row in Claude.profile().events.iter().filter(|row| !row.name.starts_with("Worktree")) {
        let event = of(EventKind::from_name(row.name));
        let can = Claude.capabilities(&event);
        let said = bench.exit(&event, 0, &document(&event.kind), "").answer;
        assert_eq!(said.stop, can.stop, "{}", row.name);
        assert_eq!(said.messages().count() == 1, can.message, "{}", row.name);
        assert_eq!(said.contexts().count() == 1, can.context, "{}", row.name);
    }
}

#[test]
fn wrong_types_are_errors_and_unknown_members_are_not() {
    let bench = Bench::new(&Claude);
    let pre = EventKind::PreToolUse;
    for document in [
        json!({"continue": "yes"}),
        json!({"stopReason": 1}),
        json!({"systemMessage": {}}),
        json!({"decision": "deny"}),
        json!({"decision": true}),
        json!({"reason": []}),
        json!({"hookSpecificOutput": "x"}),
        json!({"hookSpecificOutput": {"hookEventName": 1}}),
        json!({"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "deny"}}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "maybe"}}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": "ls"}}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": 1}}),
    ] {
        let reading = bench.exit(&of(pre.clone()), 0, &document.to_string(), "");
        assert_eq!(reading.stdout, Some(StdoutForm::SchemaError), "{document}");
        assert_eq!((reading.status, reading.answer.decision), (Status::Error, Decision::None), "{document}");
        let blocked = bench.exit(&of(pre.clone()), 2, &document.to_string(), "why");
        assert_eq!(fate(&blocked), (Decision::Deny, Some(Audience::Model)), "{document}");
    }
    for decision in [json!({}), json!({"behavior": "ask"}), json!({"behavior": "deny", "message": 1})] {
        let said = own(&EventKind::PermissionRequest, json!({ "decision": decision }));
        let reading = bench.exit(&of(EventKind::PermissionRequest), 0, &said, "");
        assert_eq!(reading.stdout, Some(StdoutForm::SchemaError), "{decision}");
    }
    let odd = own(&pre, json!({"permissionDecision": "deny", "mood": 1})).replacen('{', r#"{"zzz":[1],"#, 1);
    assert_eq!(bench.exit(&of(pre), 0, &odd, "").answer.decision, Decision::Deny);
}
