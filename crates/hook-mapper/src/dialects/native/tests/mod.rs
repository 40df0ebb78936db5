//! The native dialect: spellings, standard input, answers, plans, replies.

mod outputs;

use hook_core::plan::{FoldRule, InputRule, Order, StopRule};
use hook_core::{
    Answer, Audience, Decision, Dialect, Effect, EngineFailure, Event, EventKind, FailMode, FailureKind,
    FailureStage, Level, OnFailure, ReadError, ReplyPolicy, Status, StdoutForm,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Native, profile};
use crate::Amplifier;
use crate::dialects::testing::{self, Bench, holds, host, outcome};

fn fire(name: &str, data: Value) -> Event {
    let payload = json!({ "event": name, "data": data, "session_id": "s", "cwd": "/w" });
    testing::read(&Native, payload, None).unwrap().events.remove(0)
}

fn event(kind: EventKind) -> Event {
    testing::event(&Native, kind)
}

#[test]
fn every_neutral_event_has_a_row_and_any_spelling_of_it() {
    assert_eq!(Native.profile().events.len(), EventKind::ALL.len());
    for kind in EventKind::ALL {
        let row = Native.profile().event(kind.name()).unwrap();
        assert_eq!(row.hears, std::slice::from_ref(kind));
        let mut snake = String::new();
        for c in kind.name().chars() {
            if c.is_ascii_uppercase() && !snake.is_empty() {
                snake.push('_');
            }
            snake.push(c.to_ascii_lowercase());
        }
        let mut camel = kind.name().to_owned();
        camel[..1].make_ascii_lowercase();
        for name in [kind.name(), &snake, &camel, &snake.replace('_', "-"), &snake.to_uppercase()] {
            assert_eq!(Native.event_row(name).map(|row| row.name), Some(kind.name()), "{name}");
            assert_eq!(fire(name, json!({})).kind, *kind, "{name}");
        }
    }
    assert!(Native.event_row("PreToolUses").is_none());
    assert!(Native.event_row("").is_none());
}

#[test]
fn an_event_without_a_neutral_name_keeps_its_own() {
    let event = fire("gemini:BeforeModel", json!({ "model": "m" }));
    assert_eq!(event.kind, EventKind::Other("gemini:BeforeModel".into()));
    assert_eq!(event.fields["model"], "m");
}

#[test]
fn what_matchers_see() {
    for (name, data, values) in [
        ("PreToolUse", json!({ "tool_name": "Bash" }), &["Bash"][..]),
        ("PreToolUse", json!({ "tool_name": "MultiEdit" }), &["MultiEdit", "Edit"]),
        ("PreToolUse", json!({ "tool_name": "Agent" }), &["Agent", "Task"]),
        ("PreToolUse", json!({ "tool_name": "Task" }), &["Task", "Agent"]),
        ("PreToolUse", json!({ "tool_name": "Edit" }), &["Edit"]),
        // Nothing to be matched: every matcher fits.
        ("PreToolUse", json!({}), &[]),
        ("SessionStart", json!({ "source": "resume" }), &["resume"]),
        ("SessionStart", json!({ "trigger": "resume" }), &["resume"]),
        ("PreCompact", json!({ "trigger": "auto" }), &["auto"]),
        ("Notification", json!({ "notification_type": "idle_prompt" }), &["idle_prompt"]),
        ("SubagentStop", json!({ "agent_type": "Explore" }), &["Explore"]),
        ("FileChanged", json!({ "file_path": "/a/.envrc", "event": "change" }), &[".envrc"]),
        ("Stop", json!({}), &[]),
        ("UserPromptSubmit", json!({ "prompt": "p" }), &[]),
    ] {
        assert_eq!(fire(name, data.clone()).match_values().collect::<Vec<_>>(), values, "{name} {data}");
    }
}

#[test]
fn the_envelope_the_bare_document_and_the_hint() {
    let read =
        |payload: Value, hint| testing::read(&Native, payload, hint).map(|mut all| all.events.remove(0));
    let bash = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } });
    let bare =
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {} });
    for (payload, hint) in [
        (json!({ "event": "pre_tool_use", "data": bash, "session_id": "s" }), None),
        (bare, None),
        (json!({ "session_id": "s", "tool_name": "Bash" }), Some("PreToolUse")),
        (json!({ "session_id": "s", "data": { "tool_name": "Bash" } }), Some("preToolUse")),
    ] {
        let event = read(payload.clone(), hint).unwrap();
        assert_eq!(event.kind, EventKind::PreToolUse, "{payload}");
        assert_eq!(event.session.id.as_deref(), Some("s"), "{payload}");
        assert_eq!(event.tool.unwrap().name, "Bash", "{payload}");
    }
    let changed = json!({ "hook_event_name": "FileChanged", "event": "change", "file_path": "/a/b" });
    let changed = read(changed, None).unwrap();
    assert_eq!((changed.kind.name(), &changed.fields["event"]), ("FileChanged", &json!("change")));
    assert_eq!(read(json!({}), None), Err(ReadError::NoEvent { field: "event" }));
    assert_eq!(read(json!("x"), None), Err(ReadError::NotAnObject { found: "a string" }));
    for payload in [
        json!({ "event": "PreToolUse", "data": [] }),
        json!({ "event": "PreToolUse", "data": { "tool_name": ["Bash"] } }),
        json!({ "event": 7 }),
    ] {
        assert!(matches!(read(payload.clone(), None), Err(ReadError::WrongType { .. })), "{payload}");
    }
}

#[test]
fn standard_input_says_everything_that_is_known() {
    let mut bench = Bench::new(&Native);
    let post = fire(
        "PostToolUse",
        json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t1", "tool_response": "out",
                "permission_mode": "plan", "transcript_path": "/t", "extra": [1], "agent": "liar" }),
    );
    let expected = json!({ "hook_event_name": "PostToolUse", "event": "PostToolUse", "agent": "native",
        "native_event": "PostToolUse", "session_id": "s", "cwd": "/w", "transcript_path": "/t",
        "permission_mode": "plan", "tool_name": "Bash", "native_tool_name": "Bash",
        "tool_input": { "command": "ls" }, "tool_use_id": "t1", "tool_response": "out", "extra": [1] });
    assert_eq!(bench.stdin(&post), expected);

    let rewritten = post.with_input(json!({ "command": "pwd" }));
    assert_eq!(bench.stdin(&rewritten)["tool_input"], json!({ "command": "pwd" }));
    holds(
        "start",
        &bench.stdin(&fire("SessionStart", json!({ "trigger": "clear" }))),
        &json!({ "source": "clear" }),
    );
    holds(
        "prompt",
        &bench.stdin(&fire("UserPromptSubmit", json!({ "prompt": "p" }))),
        &json!({ "prompt": "p" }),
    );
    holds("stop", &bench.stdin(&fire("Stop", json!({}))), &json!({ "stop_hook_active": false }));
    bench.session.state.stop_active = true;
    holds("stop", &bench.stdin(&fire("Stop", json!({}))), &json!({ "stop_hook_active": true }));
    let changed = fire("FileChanged", json!({ "file_path": "/a", "event": "add" }));
    holds("file", &bench.stdin(&changed), &json!({ "hook_event_name": "FileChanged", "event": "add" }));
}

#[test]
fn an_amplifier_event_reaches_native_hooks_under_neutral_names() {
    let payload = json!({ "event": "tool:pre", "data": { "name": "bash", "input": { "command": "ls" } } });
    let event = testing::read(&Amplifier, payload, None).unwrap().events.remove(0);
    let expected = json!({ "hook_event_name": "PreToolUse", "agent": "amplifier", "native_event": "tool:pre",
        "tool_name": "Bash", "native_tool_name": "bash", "tool_input": { "command": "ls" }, "name": null });
    holds("tool:pre", &Bench::new(&Native).stdin(&event), &expected);
}

#[test]
fn variables() {
    let mut bench = Bench::new(&Native).root("/work/project/.hooks");
    bench.session.env_file = Some("/tmp/env".into());
    bench.host.hook_command = Some("/usr/bin/hook".into());
    let event = fire("PreToolUse", json!({ "tool_name": "Bash" }));
    for (name, value) in [
        ("HOOK", "/usr/bin/hook"),
        ("HOOK_EVENT", "PreToolUse"),
        ("HOOK_AGENT", "native"),
        ("HOOK_PROJECT_DIR", "/work/project"),
        ("HOOK_ROOT", "/work/project/.hooks"),
        ("HOOK_SESSION_ID", "s"),
        ("HOOK_TOOL_NAME", "Bash"),
        ("HOOK_ENV_FILE", "/tmp/env"),
        ("CLAUDE_PROJECT_DIR", "/work/project"),
        ("CLAUDE_PLUGIN_ROOT", "/work/project/.hooks"),
        ("CLAUDE_ENV_FILE", "/tmp/env"),
    ] {
        assert_eq!(bench.variable(&event, name).as_deref(), Some(value), "{name}");
        assert!(Native.profile().protected_variables.contains(&name), "{name} is protected");
    }
    bench.host.hook_command = None;
    assert_eq!(bench.variable(&event, "HOOK"), None);
}

#[test]
fn decisions_in_three_spellings() {
    use Decision::{Allow, Ask, Defer, Deny};
    let pre = event(EventKind::PreToolUse);
    let bench = Bench::new(&Native);
    for (stdout, decision, reason) in [
        (r#"{"decision": "deny", "reason": "r"}"#, Deny, Some("r")),
        (r#"{"decision": "block", "reason": "r"}"#, Deny, Some("r")),
        (r#"{"decision": "Deny"}"#, Deny, Some("A hook blocked this")),
        (r#"{"decision": "allow"}"#, Allow, None),
        (r#"{"decision": "approve"}"#, Allow, None),
        (r#"{"decision": "ask", "reason": "r"}"#, Ask, Some("r")),
        (r#"{"decision": "defer"}"#, Defer, None),
        (r#"{"decision": "none"}"#, Decision::None, None),
        (r#"{"decision": null}"#, Decision::None, None),
        ("{}", Decision::None, None),
        (
            r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "r"}}"#,
            Deny,
            Some("r"),
        ),
        (r#"{"hookSpecificOutput": {"permissionDecision": "ask"}, "reason": "r"}"#, Ask, Some("r")),
        (r#"{"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "r"}}}"#, Deny, Some("r")),
        (
            r#"{"decision": "allow", "reason": "a", "hookSpecificOutput": {"permissionDecision": "deny"}}"#,
            Deny,
            Some("a"),
        ),
        (r#"{"permissionDecision": "deny", "reason": "r"}"#, Deny, Some("r")),
    ] {
        let reading = bench.exit(&pre, 0, stdout, "");
        assert_eq!(reading.status, Status::Ok, "{stdout}");
        assert_eq!(reading.stdout, Some(StdoutForm::Json), "{stdout}");
        assert_eq!(
            (reading.answer.decision, reading.answer.reason.as_deref()),
            (decision, reason),
            "{stdout}"
        );
    }
}

#[test]
fn everything_else_in_three_spellings() {
    let bench = Bench::new(&Native);
    let pre = event(EventKind::PreToolUse);
    let input = json!({ "command": "ls" });
    let message = |text: &str, level| Effect::Message { text: text.into(), level };
    let context = |text: &str| Effect::Context { text: text.into() };
    for (stdout, expected) in [
        (json!({ "updatedInput": input }), Answer::rewrite(input.clone())),
        (json!({ "hookSpecificOutput": { "updatedInput": input } }), Answer::rewrite(input.clone())),
        (json!({ "newContent": input }), Answer::rewrite(input.clone())),
        (
            json!({ "newContent": "x" }),
            Answer::default().with(Effect::ReplaceContent { content: json!("x") }),
        ),
        (json!({ "updatedOutput": "o" }), Answer { updated_output: Some(json!("o")), ..Answer::default() }),
        (
            json!({ "hookSpecificOutput": { "updatedMCPToolOutput": "o" } }),
            Answer { updated_output: Some(json!("o")), ..Answer::default() },
        ),
        (json!({ "context": ["a", "b"] }), Answer::context("a").with(context("b"))),
        (json!({ "additionalContext": "a" }), Answer::context("a")),
        (json!({ "contextInjection": "a" }), Answer::context("a")),
        (json!({ "hookSpecificOutput": { "additionalContext": "a" } }), Answer::context("a")),
        (json!({ "message": "m" }), Answer::default().with(message("m", Level::Info))),
        (json!({ "systemMessage": "m" }), Answer::default().with(message("m", Level::Info))),
        (
            json!({ "messages": ["m", { "text": "n", "level": "warning" }] }),
            Answer::default().with(message("m", Level::Info)).with(message("n", Level::Warning)),
        ),
        (
            json!({ "continue": false, "stopReason": "s" }),
            Answer { stop: true, stop_reason: Some("s".into()), ..Answer::default() },
        ),
        (json!({ "stop": true }), Answer { stop: true, ..Answer::default() }),
        (json!({ "continue": true, "stopReason": "s" }), Answer::default()),
        (json!({ "sessionTitle": "t" }), Answer::default().with(Effect::SessionTitle { text: "t".into() })),
        (json!({ "suppressOriginalPrompt": true }), Answer::default().with(Effect::HidePrompt)),
        (json!({ "unknown": 1 }), Answer::default()),
    ] {
        assert_eq!(bench.exit(&pre, 0, &stdout.to_string(), "").answer, expected, "{stdout}");
    }
}

#[test]
fn exit_codes_and_plain_text() {
    let bench = Bench::new(&Native);
    let pre = event(EventKind::PreToolUse);
    for (code, stdout, stderr, reason) in [
        (2, "", " why \n", "why"),
        (2, "", "", "A hook blocked this"),
        (2, r#"{"reason": "json"}"#, "why", "json"),
        (2, r#"{"decision": "allow", "reason": "json"}"#, "", "json"),
        (2, "{broken", "why", "why"),
        (1, r#"{"decision": "deny", "reason": "json"}"#, "crash", "json"),
        (-15, r#"{"decision": "deny", "reason": "json"}"#, "", "json"),
    ] {
        let reading = bench.exit(&pre, code, stdout, stderr);
        assert_eq!(reading.answer.decision, Decision::Deny, "{code} {stdout}");
        assert_eq!(reading.answer.reason.as_deref(), Some(reason), "{code} {stdout}");
    }
    let rewrite = bench.exit(&pre, 2, r#"{"updatedInput": {}, "message": "m"}"#, "no").answer;
    assert_eq!((rewrite.updated_input.clone(), rewrite.messages().count()), (None, 1));

    assert_eq!(bench.exit(&pre, 0, "", "chatter").answer, Answer::default());
    let text = bench.exit(&pre, 0, "all fine", "");
    assert_eq!((text.answer, text.notes.len()), (Answer::default(), 1));
    for kind in [EventKind::SessionStart, EventKind::UserPromptSubmit] {
        assert_eq!(bench.exit(&event(kind), 0, " hello \n", "").answer, Answer::context("hello"));
    }
    for text in ["42", "[]", "\"ok\"", "null"] {
        assert_eq!(bench.exit(&pre, 0, text, "").status, Status::Ok, "{text}");
    }
}

#[test]
fn failures_and_what_their_author_makes_of_them() {
    let mut bench = Bench::new(&Native);
    let pre = event(EventKind::PreToolUse);
    let outputs = [
        (1, "", FailureKind::Exit, StdoutForm::Empty),
        (127, r#"{"context": "c"}"#, FailureKind::Exit, StdoutForm::Json),
        (-9, "", FailureKind::Signal, StdoutForm::Empty),
        (0, "{broken", FailureKind::Parse, StdoutForm::InvalidJson),
        (0, r#"{"decision": "forbid"}"#, FailureKind::Parse, StdoutForm::SchemaError),
        (0, r#"{"continue": "false"}"#, FailureKind::Parse, StdoutForm::SchemaError),
        (0, r#"{"hookSpecificOutput": "deny"}"#, FailureKind::Parse, StdoutForm::SchemaError),
    ];
    for (mode, decision) in [(OnFailure::Continue, Decision::None), (OnFailure::Block, Decision::Deny)] {
        bench.hook.on_failure = FailMode { default: Some(mode), by_kind: Vec::new() };
        for (code, stdout, kind, form) in outputs {
            let reading = bench.exit(&pre, code, stdout, "oops");
            assert_eq!((reading.failure, reading.status), (Some(kind), Status::Error), "{code} {stdout}");
            assert_eq!((reading.answer.decision, reading.stdout), (decision, Some(form)), "{code} {stdout}");
            assert!(!reading.notes.is_empty(), "{code} {stdout}");
        }
        for kind in FailureKind::ALL {
            assert_eq!(bench.fail(&pre, *kind).answer.decision, decision, "{}", kind.name());
        }
    }
    let after = bench.exit(&event(EventKind::PostToolUse), 1, "", "");
    assert_eq!(after.answer.decision, Decision::None, "a failure cannot hold back what happened");
    let stop = event(EventKind::Stop);
    assert_eq!(bench.exit(&stop, 1, "", "").answer.decision, Decision::Deny);
    bench.session.state.stop_active = true;
    assert_eq!(bench.exit(&stop, 1, "", "").answer.decision, Decision::None, "a broken hook must not loop");
}

#[test]
fn a_deny_where_nothing_can_be_held_back_is_word_to_the_model() {
    let bench = Bench::new(&Native);
    for kind in EventKind::ALL {
        let reading = bench.exit(&event(kind.clone()), 2, "", "why");
        if profile::blocks(kind) {
            assert_eq!(reading.answer.decision, Decision::Deny, "{kind}");
        } else {
            assert_eq!(reading.answer.decision, Decision::None, "{kind}");
            let feedback = Effect::Feedback { text: "why".into(), to: Audience::Model };
            assert_eq!(reading.answer.effects, [feedback], "{kind}");
        }
    }
    let ask = bench.exit(&event(EventKind::PostToolUse), 0, r#"{"decision": "ask"}"#, "");
    assert_eq!((ask.answer.decision, ask.notes.len()), (Decision::None, 1));
}

#[test]
fn groups_run_in_order_and_hand_rewrites_on() {
    let bench = Bench::new(&Native);
    let plan = Native.plan(
        &event(EventKind::PreToolUse),
        &bench.candidates(&[(0, false), (0, false), (1, true), (1, true)]),
        &host(),
    );
    let [stage] = plan.stages.as_slice() else { panic!("one stage") };
    let rules: Vec<_> =
        stage.groups.iter().map(|g| (g.members.len(), g.order, g.input, g.stop, g.fold)).collect();
    let expected = [
        (2, Order::Sequential, InputRule::Thread, StopRule::OnDeny, FoldRule::Join),
        (2, Order::Parallel, InputRule::Keep, StopRule::OnDeny, FoldRule::Join),
    ];
    assert_eq!(rules, expected);
}

#[test]
fn the_reply_carries_everything() {
    let answer = Answer {
        updated_input: Some(json!({ "a": 1 })),
        updated_output: Some(json!("o")),
        stop: true,
        stop_reason: Some("s".into()),
        effects: vec![
            Effect::Context { text: "c".into() },
            Effect::Message { text: "m".into(), level: Level::Warning },
            Effect::SessionTitle { text: "t".into() },
        ],
        ..Answer::ask("r")
    };
    let event = event(EventKind::PreToolUse);
    let reply = Native.write_reply(Some(&event), Ok(&outcome(answer.clone())), &ReplyPolicy::default());
    let document: Value = serde_json::from_str(&reply.stdout).unwrap();
    let expected = json!({ "decision": "ask", "reason": "r", "updatedInput": { "a": 1 }, "updatedOutput": "o",
        "context": ["c"], "messages": [{ "text": "m", "level": "warning" }], "stop": true, "stopReason": "s",
        "effects": [{ "effect": "sessionTitle", "text": "t" }] });
    assert_eq!(document, expected);
    assert_eq!((reply.exit_code, reply.degraded.len()), (0, 0));

    // A hook may print what the engine replies, and a second engine reads the same out of it.
    let read = Bench::new(&Native).exit(&event, 0, &reply.stdout, "").answer;
    let known = Answer { effects: answer.effects[..2].to_vec(), reason_to: Audience::User, ..answer };
    assert_eq!(read, known);
}

#[test]
fn a_failing_engine_holds_guards_and_lets_the_rest_go() {
    let failure = EngineFailure { stage: FailureStage::Payload, message: "mend it".into(), deny: true };
    for (event, decision) in [
        (Some(event(EventKind::PreToolUse)), "deny"),
        (None, "deny"),
        (Some(event(EventKind::PostToolUse)), "none"),
        (Some(event(EventKind::Stop)), "none"),
    ] {
        let reply = Native.write_reply(event.as_ref(), Err(&failure), &ReplyPolicy::default());
        let document: Value = serde_json::from_str(&reply.stdout).unwrap();
        assert_eq!(document["decision"], decision, "{event:?}");
        assert!(reply.stdout.contains("mend it"));
    }
}

fn any_effect() -> impl Strategy<Value = Effect> {
    prop_oneof![
        "[a-z]{0,3}".prop_map(|text| Effect::Context { text }),
        "[a-z]{0,3}".prop_map(|text| Effect::Message { text, level: Level::Info }),
        "[a-z]{0,3}".prop_map(|text| Effect::Feedback { text, to: Audience::Model }),
        Just(Effect::ReplaceContent { content: json!("x") }),
        Just(Effect::HidePrompt),
        Just(Effect::Retry),
    ]
}

proptest! {
    #[test]
    fn a_deny_on_a_guard_event_is_written_as_a_deny(
        kind in prop::sample::select(EventKind::ALL.to_vec()),
        reason in prop::option::of("[a-z]{0,4}"),
        input in prop::option::of(0..3u8),
        stop in any::<bool>(),
        effects in prop::collection::vec(any_effect(), 0..4),
        flags in any::<[bool; 4]>(),
    ) {
        let [deny_unsupported_ask, deny_unsupported_rewrite, interactive, fail_closed] = flags;
        let policy = ReplyPolicy { deny_unsupported_ask, deny_unsupported_rewrite, interactive, fail_closed };
        let answer = Answer {
            decision: Decision::Deny,
            reason,
            updated_input: input.map(|n| json!({ "n": n })),
            stop,
            effects,
            ..Answer::default()
        };
        for (dialect, member) in [(&Native as &dyn Dialect, "decision"), (&Amplifier, "action")] {
            let event = testing::event(dialect, kind.clone());
            if dialect.capabilities(&event).block {
                let reply = dialect.write_reply(Some(&event), Ok(&outcome(answer.clone())), &policy);
                let document: Value = serde_json::from_str(&reply.stdout).unwrap();
                prop_assert_eq!(&document[member], "deny");
                prop_assert!(document["reason"].is_string());
            }
        }
    }

    #[test]
    fn no_output_of_a_hook_makes_reading_fail(
        kind in prop::sample::select(EventKind::ALL.to_vec()),
        code in -15..130i32,
        stdout in "[{}\\[\\]\":, a-z0-9]{0,40}",
        stderr in ".{0,20}",
    ) {
        for dialect in [&Native as &dyn Dialect, &Amplifier] {
            let event = testing::event(dialect, kind.clone());
            let reading = Bench::new(dialect).exit(&event, code, &stdout, &stderr);
            prop_assert!(!reading.rule.is_empty());
        }
    }
}
