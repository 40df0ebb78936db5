use std::sync::Arc;

use hook_core::{
    Answer, Audience, Decision, Dialect, Effect, EngineFailure, Event, EventKind, FailMode, FailureKind,
    FailureStage, Layer, Level, OnFailure, Payload, ReadError, ReplyPolicy, Status, StdoutForm, fold,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::Claude;
use crate::dialects::testing::{Bench, event, holds, outcome, read};

fn fired(payload: Value) -> Event {
    read(&Claude, payload, None).unwrap().events.remove(0)
}

fn of(kind: EventKind) -> Event {
    event(&Claude, kind)
}

fn deny_json(reason: &str) -> String {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}})
        .to_string()
}

#[test]
fn a_tool_event_is_read_with_every_name_of_its_tool() {
    let event = fired(json!({
        "session_id": "s", "transcript_path": "/t", "cwd": "/w", "permission_mode": "plan",
        "hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {"file_path": "/a"}, "tool_use_id": "u", "effort": {"level": "low"}
    }));
    assert_eq!(event.kind, EventKind::PreToolUse);
    assert_eq!(event.match_names, ["Agent", "Task"]);
    assert_eq!(event.session.id.as_deref(), Some("s"));
    assert_eq!(event.paths, [std::path::PathBuf::from("/a")]);
    assert_eq!(event.fields.keys().collect::<Vec<_>>(), ["effort"]);
    let edit = fired(
        json!({"hook_event_name": "PostToolUse", "tool_name": "MultiEdit", "tool_input": {}, "tool_response": 1}),
    );
    assert_eq!(edit.match_names, ["MultiEdit", "Edit"]);
    assert_eq!(edit.tool.unwrap().response, Some(json!(1)));
}

#[test]
fn subjects_are_read_by_the_table() {
    for (payload, subject) in [
        (json!({"hook_event_name": "SessionStart", "source": "resume"}), Some("resume")),
        (json!({"hook_event_name": "Notification", "notification_type": "idle_prompt"}), Some("idle_prompt")),
        (json!({"hook_event_name": "PreCompact", "trigger": "auto"}), Some("auto")),
        (json!({"hook_event_name": "SessionEnd", "reason": "clear"}), Some("clear")),
        (json!({"hook_event_name": "SubagentStop", "agent_type": ""}), Some("")),
        (json!({"hook_event_name": "FileChanged", "file_path": "/a/.env"}), Some(".env")),
        (json!({"hook_event_name": "Stop"}), None),
        (json!({"hook_event_name": "UserPromptSubmit", "prompt": "x"}), None),
    ] {
        assert_eq!(fired(payload.clone()).subject.as_deref(), subject, "{payload}");
    }
}

#[test]
fn payloads_of_no_event_and_of_no_use_are_told_apart() {
    assert!(read(&Claude, json!({"hook_event_name": "Tomorrow"}), None).unwrap().events.is_empty());
    assert!(matches!(read(&Claude, json!({}), None), Err(ReadError::NoEvent { .. })));
    assert!(matches!(read(&Claude, json!([]), None), Err(ReadError::NotAnObject { .. })));
    let odd = json!({"hook_event_name": "PreToolUse", "tool_name": 7});
    assert!(matches!(read(&Claude, odd, None), Err(ReadError::WrongType { .. })));
    assert_eq!(read(&Claude, json!({}), Some("Stop")).unwrap().events[0].kind, EventKind::Stop);
}

#[test]
fn the_payload_is_passed_on_byte_for_byte() {
    let text = r#"{"hook_event_name":"Stop",  "n": 123456789012345678901234567890, "x": 1.0}"#;
    let incoming = Claude.read(Payload::parse(text).unwrap(), &Default::default()).unwrap();
    let bench = Bench::new(&Claude);
    let cx = hook_core::HookCx {
        event: &incoming.events[0],
        hook: &bench.hook,
        session: &bench.session,
        host: &bench.host,
    };
    assert_eq!(Claude.write_event(&cx), format!("{text}\n"));
}

#[test]
fn a_rewritten_input_reaches_the_next_hook_beside_unknown_fields() {
    let event = fired(
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "a"}, "new": 1}),
    );
    let stdin = Bench::new(&Claude).stdin(&event.with_input(json!({"command": "b"})));
    holds("stdin", &stdin, &json!({"new": 1, "tool_input": {"command": "b"}, "tool_name": "Bash"}));
}

#[test]
fn variables_name_the_project_and_the_plugin() {
    let mut bench = Bench::new(&Claude).root("/plugin");
    let start = fired(json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}));
    assert_eq!(bench.variable(&start, "CLAUDE_PROJECT_DIR").as_deref(), Some("/work/project"));
    assert_eq!(bench.variable(&start, "CLAUDE_CODE_SESSION_ID").as_deref(), Some("s"));
    assert_eq!(bench.variable(&start, "CLAUDE_PLUGIN_ROOT"), None);
    bench.hook.origin.layer = Layer::Pack;
    assert_eq!(bench.variable(&start, "CLAUDE_PLUGIN_ROOT").as_deref(), Some("/plugin"));
    bench.session.env_file = Some("/ours".into());
    assert_eq!(bench.variable(&start, "CLAUDE_ENV_FILE").as_deref(), Some("/ours"));
    bench.host.environment.insert("CLAUDE_ENV_FILE".into(), "/theirs".into());
    assert_eq!(bench.variable(&start, "CLAUDE_ENV_FILE").as_deref(), Some("/theirs"));
    assert_eq!(bench.variable(&of(EventKind::Stop), "CLAUDE_ENV_FILE"), None);
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
        let mut own = own;
        own["hookEventName"] = kind.name().into();
        bench.exit(&of(kind), 0, &json!({ "hookSpecificOutput": own }).to_string(), "").answer
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
fn copies_in_settings_files_run_once_and_a_plugins_copy_runs_besides() {
    let bench = Bench::new(&Claude);
    let mut candidates = bench.candidates(&[(0, false), (1, false), (2, false), (3, false)]);
    let layers = [Layer::User, Layer::Project, Layer::Pack, Layer::Local];
    for (candidate, layer) in candidates.iter_mut().zip(layers) {
        Arc::make_mut(&mut candidate.hook).origin.layer = layer;
    }
    Arc::make_mut(&mut candidates[3].hook).condition = Some("Bash(git *)".into());
    let plan = Claude.plan(&of(EventKind::PreToolUse), &candidates);
    assert_eq!(plan.stages[0].groups[0].members, [0, 2, 3]);
    assert_eq!(plan.skipped[0].member, 1);
}

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
    assert_eq!(reply(EventKind::PreToolUse, halt).0, json!({"continue": false, "stopReason": "halt"}));
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

fn any_effect() -> impl Strategy<Value = Effect> {
    prop_oneof![
        "[a-z]{1,3}".prop_map(|text| Effect::Context { text }),
        "[a-z]{1,3}".prop_map(|text| Effect::Message { text, level: Level::Info }),
        "[a-z]{1,3}".prop_map(|text| Effect::Feedback { text, to: Audience::Model }),
        Just(Effect::Interrupt),
        Just(Effect::ReplaceContent { content: json!("x") }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_deny_on_a_guard_event_is_read_back_as_a_deny(
        kind in prop::sample::select(EventKind::ALL.to_vec()),
        reason in prop::option::of("[ -~]{0,20}"),
        input in prop::option::of(Just(json!({"command": "ls"}))),
        stop in any::<bool>(),
        effects in prop::collection::vec(any_effect(), 0..4),
    ) {
        let event = of(kind);
        prop_assume!(Claude.capabilities(&event).block);
        let answer = Answer { reason, updated_input: input, stop, effects, ..Answer::deny("x") };
        let reply = Claude.write_reply(Some(&event), Ok(&outcome(answer)), &ReplyPolicy::default());
        let reading = Bench::new(&Claude).exit(&event, reply.exit_code, &reply.stdout, &reply.stderr);
        prop_assert_eq!(reading.answer.decision, Decision::Deny, "{:?}", reply);
    }

    #[test]
    fn no_output_makes_reading_fail(code in -9..130i32, stdout in "\\PC{0,40}", stderr in "\\PC{0,20}") {
        for kind in EventKind::ALL {
            Bench::new(&Claude).exit(&of(kind.clone()), code, &stdout, &stderr);
        }
    }
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
