//! Exit codes, documents and failures.

use hook_core::{
    Answer, Audience, Decision, Effect, EventKind, Exit, FailMode, FailureKind, HandlerOutput, Level,
    OnFailure, ProcessOutput, Status, StdoutForm,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Bench, Claude, of, own};

fn deny_json(reason: &str) -> String {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}})
        .to_string()
}

/// Exit code, output, error; status, form of the output, decision, reason.
#[test]
fn exit_codes_and_output_read_by_the_table() {
    use Decision as D;
    use Status as S;
    use StdoutForm as F;
    let deny = deny_json("policy");
    let allow = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"safe"}}"#;
    type Row<'a> = (i32, &'a str, &'a str, S, F, D, Option<&'a str>);
    let rows: &[Row<'_>] = &[
        (0, "", "", S::Ok, F::Empty, D::None, None),
        (2, "", "no rm here", S::Blocked, F::Empty, D::Deny, Some("no rm here")),
        (2, "", "", S::Blocked, F::Empty, D::Deny, Some("Blocked by hook")),
        (1, "", "bad", S::Error, F::Empty, D::None, None),
        (127, "", "sh: not found", S::Error, F::Empty, D::None, None),
        (-9, "", "", S::Error, F::Empty, D::None, None),
        (0, &deny, "", S::Ok, F::Json, D::Deny, Some("policy")),
        (1, &deny, "noise", S::Ok, F::Json, D::Deny, Some("policy")),
        (0, allow, "", S::Ok, F::Json, D::Allow, Some("safe")),
        (2, allow, "stop", S::Blocked, F::Json, D::Deny, Some("stop")),
        (2, &deny, "noise", S::Blocked, F::Json, D::Deny, Some("policy")),
        (0, "checked", "", S::Ok, F::Text, D::None, None),
        (0, "{draft", "", S::Ok, F::Text, D::None, None),
        (0, "[1]", "", S::Ok, F::Text, D::None, None),
        (0, "{\"a\":1}\n{\"b\":2}", "", S::Ok, F::Text, D::None, None),
        (0, "{\"a\":1}\n{\"decision\":\"block\"}", "", S::Error, F::InvalidJson, D::None, None),
        (0, "{not json}", "", S::Error, F::InvalidJson, D::None, None),
        (2, "{not json}", "really", S::Blocked, F::InvalidJson, D::Deny, Some("really")),
        (0, r#"{"continue":"yes"}"#, "", S::Error, F::SchemaError, D::None, None),
        (2, r#"{"continue":"yes"}"#, "blocked", S::Blocked, F::SchemaError, D::Deny, Some("blocked")),
        (
            0,
            r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
            "",
            S::Error,
            F::SchemaError,
            D::None,
            None,
        ),
        (0, r#"{"decision":"block","reason":"old style"}"#, "", S::Ok, F::Json, D::Deny, Some("old style")),
        (0, r#"{"decision":"approve"}"#, "", S::Ok, F::Json, D::Allow, None),
        (
            0,
            "\r\n{\"decision\":\"block\",\r\n\"reason\":\"not now\"}\r\n",
            "",
            S::Ok,
            F::Json,
            D::Deny,
            Some("not now"),
        ),
        (0, r#"{"a":1}"#, "", S::Ok, F::Json, D::None, None),
    ];
    let bench = Bench::new(&Claude);
    for (code, stdout, stderr, status, form, decision, reason) in rows {
        let reading = bench.exit(&of(EventKind::PreToolUse), *code, stdout, stderr);
        let what = format!("exit {code} {stdout:?}");
        assert_eq!((reading.status, reading.stdout), (*status, Some(*form)), "{what}");
        assert_eq!(reading.answer.decision, *decision, "{what}");
        assert_eq!(reading.answer.reason.as_deref(), *reason, "{what}");
    }
}

#[test]
fn each_event_takes_a_block_in_its_own_way() {
    let bench = Bench::new(&Claude);
    let exit2 = |kind: EventKind| bench.exit(&of(kind), 2, "", "why");
    assert_eq!(exit2(EventKind::Stop).answer, Answer::deny("why"));
    assert_eq!(exit2(EventKind::UserPromptSubmit).answer.reason_to, Audience::User);
    let post = exit2(EventKind::PostToolUse);
    assert_eq!(post.status, Status::Blocked);
    assert_eq!(
        post.answer,
        Answer::default().with(Effect::Feedback { text: "why".into(), to: Audience::Model })
    );
    assert_eq!(exit2(EventKind::Notification).status, Status::Ignored);
    let permission = exit2(EventKind::PermissionRequest).answer;
    assert_eq!((permission.decision, permission.reason_to), (Decision::None, Audience::Nobody));
    let mut policy = of(EventKind::ConfigChange);
    assert_eq!(bench.exit(&policy, 2, "", "no").answer.decision, Decision::Deny);
    policy.variant = Some("policy_settings".into());
    assert_eq!(bench.exit(&policy, 2, "", "no").answer.decision, Decision::None);
}

#[test]
fn fields_of_the_document_become_effects() {
    let bench = Bench::new(&Claude);
    let say = |kind: EventKind, own: Value| {
        let document = super::own(&kind, own);
        bench.exit(&of(kind), 0, &document, "").answer
    };
    let rewrite =
        say(EventKind::PreToolUse, json!({"updatedInput": {"command": "ls"}, "permissionDecision": "allow"}));
    assert_eq!(rewrite.updated_input, Some(json!({"command": "ls"})));
    let defer = say(
        EventKind::PreToolUse,
        json!({"permissionDecision": "defer", "updatedInput": {}, "additionalContext": "x"}),
    );
    assert_eq!((defer.decision, defer.updated_input, defer.effects.len()), (Decision::Defer, None, 0));
    let stop = say(EventKind::Stop, json!({"additionalContext": "run the tests"}));
    assert_eq!(stop, Answer::context("run the tests"));
    let deny = say(
        EventKind::PermissionRequest,
        json!({"decision": {"behavior": "deny", "message": "read only", "interrupt": true}}),
    );
    assert_eq!(deny, Answer::deny("read only").with(Effect::Interrupt));
    let output = say(EventKind::PostToolUse, json!({"updatedToolOutput": {"stdout": "x"}}));
    assert_eq!(output.updated_output, Some(json!({"stdout": "x"})));
    let start = say(
        EventKind::SessionStart,
        json!({"sessionTitle": "t", "watchPaths": ["/a"], "reloadSkills": true}),
    );
    assert_eq!(start.effects.len(), 3);
    let halt = bench.exit(
        &of(EventKind::PreToolUse),
        0,
        r#"{"continue":false,"stopReason":"halt","systemMessage":"m"}"#,
        "",
    );
    assert!(halt.answer.stop);
    assert_eq!(halt.answer.stop_reason.as_deref(), Some("halt"));
    assert_eq!(halt.answer.messages().next(), Some(("m", Level::Info)));
    let text = bench.exit(&of(EventKind::SessionStart), 0, "branch: main", "");
    assert_eq!(text.answer, Answer::context("branch: main"));
    let tree = bench.exit(&of(EventKind::WorktreeCreate), 0, "Welcome\nwt/a\n\n", "");
    assert_eq!(tree.answer.effects, [Effect::WorktreePath { path: "wt/a".into() }]);
    assert_eq!(bench.exit(&of(EventKind::WorktreeCreate), 1, "wt/a", "down").answer.decision, Decision::Deny);
}

#[test]
fn failures_follow_on_failure() {
    let mut bench = Bench::new(&Claude);
    let timeout = bench.fail(&of(EventKind::PreToolUse), FailureKind::Timeout);
    assert_eq!((timeout.status, timeout.answer.decision), (Status::Timeout, Decision::None));
    let switch = bench.fail(&of(EventKind::PreModelSwitch), FailureKind::Timeout);
    assert_eq!((switch.status, switch.answer.decision), (Status::Timeout, Decision::Deny));
    bench.hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() };
    for failure in FailureKind::ALL {
        assert_eq!(
            bench.fail(&of(EventKind::PreToolUse), *failure).answer.decision,
            Decision::Deny,
            "{failure:?}"
        );
        assert_eq!(bench.fail(&of(EventKind::PermissionRequest), *failure).answer.decision, Decision::Deny);
        assert_eq!(bench.fail(&of(EventKind::Stop), *failure).answer.decision, Decision::None);
    }
    assert_eq!(bench.exit(&of(EventKind::PreToolUse), 1, "", "boom").answer.decision, Decision::Deny);
    assert_eq!(bench.exit(&of(EventKind::PreToolUse), 0, "{x}", "").answer.decision, Decision::Deny);
}

#[test]
fn an_accidental_exit_2_keeps_its_verdict_and_gets_a_hint() {
    let stderr = "python3: can't open file '/x/nope.py': [Errno 2] No such file or directory";
    let reading = Bench::new(&Claude).exit(&of(EventKind::PreToolUse), 2, "", stderr);
    assert_eq!(reading.answer.decision, Decision::Deny);
    assert!(reading.answer.reason.unwrap().contains("No such file"));
    assert!(
        reading.notes.iter().any(|note| note.text.contains("the script does not exist")),
        "{:?}",
        reading.notes
    );
}

#[test]
fn beside_exit_2_everything_but_the_decision_still_counts() {
    let bench = Bench::new(&Claude);
    let post = own(&EventKind::PostToolUse, json!({"updatedToolOutput": {"x": 1}, "additionalContext": "c"}));
    let reading = bench.exit(&of(EventKind::PostToolUse), 2, &post, "lint");
    assert_eq!(reading.answer.updated_output, Some(json!({"x": 1})));
    assert_eq!(reading.answer.contexts().collect::<Vec<_>>(), ["c"]);
    assert!(reading.answer.effects.contains(&Effect::Feedback { text: "lint".into(), to: Audience::Model }));

    let ask = own(&EventKind::Elicitation, json!({"action": "accept", "content": {"a": 1}}));
    let message = ask.replacen('{', "{\"systemMessage\":\"m\",", 1);
    let declined = bench.exit(&of(EventKind::Elicitation), 2, &message, "no").answer;
    assert_eq!(declined.messages().count(), 1);
    let actions = declined.effects.iter().filter(|effect| matches!(effect, Effect::Elicitation { .. }));
    assert_eq!(
        actions.collect::<Vec<_>>(),
        [&Effect::Elicitation { action: "decline".into(), content: None }]
    );
}

#[test]
fn where_exit_2_is_void_a_document_refuses_but_does_not_allow() {
    let bench = Bench::new(&Claude);
    let say =
        |behavior: &str| own(&EventKind::PermissionRequest, json!({"decision": {"behavior": behavior}}));
    let deny = bench.exit(&of(EventKind::PermissionRequest), 2, &say("deny"), "");
    assert_eq!((deny.status, deny.answer.decision), (Status::Ok, Decision::Deny));
    let allow = bench.exit(&of(EventKind::PermissionRequest), 2, &say("allow"), "");
    assert_eq!((allow.status, allow.answer.decision), (Status::Ignored, Decision::None));
    let bell = bench.exit(&of(EventKind::Notification), 2, r#"{"terminalSequence":"\u0007"}"#, "");
    assert_eq!(bell.answer.effects, [Effect::TerminalSequence { text: "\u{7}".into() }]);
    let deaf =
        bench.exit(&of(EventKind::Setup), 0, r#"{"terminalSequence":"\u0007","systemMessage":"m"}"#, "");
    assert_eq!(deaf.answer, Answer::default());
    let shown = own(&EventKind::MessageDisplay, json!({"displayContent": "x"}));
    assert_eq!(bench.exit(&of(EventKind::MessageDisplay), 2, &shown, "").answer.effects, []);
}

#[test]
fn a_document_over_the_limit_is_no_answer_and_text_over_it_is_text() {
    let mut bench = Bench::new(&Claude);
    let cut = |text: &str| {
        let mut output = ProcessOutput::new(Exit::Code(0), text, "");
        output.stdout.dropped = 1;
        HandlerOutput::Process(output)
    };
    let document = cut("{\"continue\":false}");
    let reading = bench.answer(&of(EventKind::PreToolUse), &document);
    assert_eq!((reading.status, reading.failure), (Status::Error, Some(FailureKind::Oversize)));
    assert!(!reading.answer.stop);
    bench.hook.on_failure =
        FailMode { default: None, by_kind: vec![(FailureKind::Oversize, OnFailure::Block)] };
    assert_eq!(bench.answer(&of(EventKind::PreToolUse), &document).answer.decision, Decision::Deny);
    let text = bench.answer(&of(EventKind::SessionStart), &cut("long"));
    assert_eq!(text.answer, Answer::context("long"));
}

#[test]
fn a_hook_that_goes_into_the_background_decides_nothing() {
    let bench = Bench::new(&Claude);
    let document = r#"{"systemMessage":"m","decision":"block","hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}"#;
    let reading = bench.exit(&of(EventKind::PreToolUse), 2, &format!("{{\"async\":true}}\n{document}"), "no");
    assert_eq!(reading.status, Status::Ok);
    assert_eq!(reading.answer, Answer::context("m").with(Effect::Context { text: "c".into() }));
    assert_eq!(reading.notes.len(), 1);
    let plain = bench.exit(&of(EventKind::SessionStart), 0, "{\"async\":true,\"asyncTimeout\":5}\ntext", "");
    assert_eq!(plain.answer, Answer::default());
}

#[test]
fn notes_name_what_the_author_did_not_mean() {
    let bench = Bench::new(&Claude);
    let pre = of(EventKind::PreToolUse);
    for (code, stdout, stderr, part) in [
        (0, "Shell ready\n{\"decision\":\"block\"}", "", "text before the JSON document"),
        (0, "checked", "", "decides nothing"),
        (0, "{x}", "", "no JSON"),
        (0, r#"{"decision":"deny"}"#, "", "decision is \"deny\", not one of approve, block"),
        (0, r#"{"hookSpecificOutput":{}}"#, "", "no hookEventName"),
        (0, r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#, "", "the event is PreToolUse"),
        (2, "", "sh: 3: Syntax error: \"fi\" unexpected", "a syntax error"),
        (2, "", "sh: 0: cannot open guard.sh: No such file", "the script does not exist"),
        (2, "", "grep: x: No such file or directory", "from grep"),
        (2, "", "jq: error (at <stdin>:1): Cannot index string", "from jq"),
    ] {
        let notes = bench.exit(&pre, code, stdout, stderr).notes;
        assert!(notes.iter().any(|note| note.text.contains(part)), "{stdout} {stderr}: {notes:?}");
    }
    let log = bench.exit(&pre, 0, "{\"a\":1}\n{\"b\":2}", "").notes;
    assert!(!log.iter().any(|note| note.text.contains("before the JSON")), "{log:?}");
    assert_eq!(
        bench.exit(&pre, 0, "\u{feff}{\"decision\":\"approve\"}", "").answer.decision,
        Decision::Allow
    );
}

#[test]
fn a_blocking_failure_says_everything_the_hook_said() {
    let mut bench = Bench::new(&Claude);
    let mild = bench.exit(&of(EventKind::PreToolUse), 1, "", "\n first\nsecond");
    assert_eq!(
        mild.answer.messages().next(),
        Some(("a PreToolUse hook failed: exit 1: first", Level::Warning))
    );
    bench.hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() };
    let reason = |kind: EventKind| bench.exit(&of(kind), 1, "", "first\nsecond").answer.reason;
    assert!(reason(EventKind::PreToolUse).unwrap().ends_with("exit 1: first\nsecond"));
    for kind in [EventKind::Stop, EventKind::SubagentStop, EventKind::TaskCompleted, EventKind::TeammateIdle]
    {
        assert_eq!(reason(kind), None);
    }
    bench.hook.background = true;
    assert_eq!(bench.exit(&of(EventKind::PreToolUse), 1, "", "x").answer.decision, Decision::None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_output_makes_reading_fail(code in -9..130i32, stdout in "\\PC{0,40}", stderr in "\\PC{0,20}") {
        for kind in EventKind::ALL {
            Bench::new(&Claude).exit(&of(kind.clone()), code, &stdout, &stderr);
        }
    }
}
