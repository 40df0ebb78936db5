//! What is explained is what happens: over random hook files and events, the hooks of which it is said that they run are those
//! that run, but for the ones that an earlier answer cut off.
#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use hook_engine::config::{DocumentSpec, parse};
use hook_engine::core::{
    Call, Document, EventHint, Executor, Exit, HandlerKind, HandlerOutput, HookCx, HostContext, Layer,
    Payload, ProcessOutput, Status,
};
use hook_engine::mapper::Dialects;
use hook_engine::{Engine, Hurdle};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Exits with the number that the command ends in.
struct Exits;

#[async_trait]
impl Executor for Exits {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, _call: Call) -> HandlerOutput {
        let code = cx.hook.handler.summary().chars().last().and_then(|last| last.to_digit(10)).unwrap_or(0);
        HandlerOutput::Process(ProcessOutput::new(Exit::Code(code as i32), "", "said"))
    }
}

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words)
}

fn handler() -> impl Strategy<Value = Value> {
    let rule = one_of(&[
        "",
        "",
        "",
        "Bash",
        "Bash(git *)",
        "Edit(*.rs)",
        "Bash(git",
        "bash",
        "mcp__x",
        "Bash(command=push)",
        "Bash & input.command~(",
    ]);
    let kind = one_of(&["command", "command", "command", "prompt", "http", "nonsense"]);
    let exit = one_of(&["0", "0", "1", "2"]);
    let flags = (any::<bool>(), any::<bool>(), prop::option::of(any::<bool>()), -1i64..2);
    (rule, kind, exit, flags, 0..4usize).prop_map(|(rule, kind, exit, (once, later, enabled, priority), same)| {
        // Few different commands, so that copies occur.
        let mut handler = json!({"type": kind, "command": format!("run {same} {exit}"), "prompt": "ok?", "url": "http://127.0.0.1/"});
        for (name, on, value) in [
            ("if", !rule.is_empty(), json!(rule)),
            ("once", once && later, json!(true)),
            ("async", later && !once, json!(true)),
            ("enabled", enabled.is_some(), json!(enabled)),
            ("priority", priority != 0, json!(priority)),
        ] {
            if on {
                handler[name] = value;
            }
        }
        handler
    })
}

fn file() -> impl Strategy<Value = Value> {
    let matcher = one_of(&[
        "*",
        "Bash",
        "bash",
        "Edit|Write",
        "^Ba",
        "(",
        "mcp__.*",
        "Ba*",
        "Task",
        "startup",
        "Bash(git *)",
        "Edit(*.rs)|input.command~ls",
        "Bash(command=push)",
        "Bash(git",
    ]);
    let event = one_of(&["PreToolUse", "PreToolUse", "PreToolUse", "PostToolUse", "Stop", "SessionStart"]);
    let group = (event, matcher, any::<bool>(), prop::collection::vec(handler(), 1..4));
    prop::collection::vec(group, 1..6).prop_map(|groups| {
        let mut events = json!({});
        for (event, matcher, parallel, hooks) in groups {
            let group = json!({"matcher": matcher, "parallel": parallel, "hooks": hooks});
            match events.get_mut(event).and_then(Value::as_array_mut) {
                Some(groups) => groups.push(group),
                None => events[event] = json!([group]),
            }
        }
        json!({ "hooks": events })
    })
}

fn document(dialect: &str, layer: Layer, file: &Value) -> Option<Document> {
    let dialects = Dialects::standard();
    let id = dialects.find(dialect).unwrap().profile().id;
    let path = format!("/p/{dialect}/{}/hooks.json", layer.name());
    parse(file.to_string().as_bytes(), &DocumentSpec::new(path, id, layer), &dialects).document
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_said_to_run_runs(
        files in prop::collection::vec((one_of(&["native", "amplifier", "claude"]), one_of(&["user", "project", "local"]), file()), 1..4),
        agent in one_of(&["native", "amplifier", "claude"]),
        event in one_of(&["PreToolUse", "PreToolUse", "PostToolUse", "Stop", "SessionStart"]),
        tool in one_of(&["Bash", "bash", "Edit", "Task", "mcp__x__y"]),
        command in one_of(&["git push", "ls", "echo $(git push)", "echo 'x"]),
    ) {
        let documents: Vec<Document> = files
            .iter()
            .filter_map(|(dialect, layer, file)| {
                let layer = match *layer { "user" => Layer::User, "project" => Layer::Project, _ => Layer::Local };
                document(dialect, layer, file)
            })
            .collect();
        let engine = Engine::builder(HostContext::new("/p")).documents(documents).executor(Arc::new(Exits)).build();
        let data = json!({"tool_name": tool, "tool_input": {"command": command, "file_path": "/p/a.rs"}, "source": "startup"});
        let mut payload = json!({"event": event, "data": data, "session_id": "s"});
        if agent == "claude" {
            payload = data;
            payload["hook_event_name"] = event.into();
            payload["session_id"] = "s".into();
        }
        let reader = engine.dialects().find(agent).unwrap().clone();
        let incoming = reader.read(Payload::from_value(payload), &EventHint::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // The second time hooks that run once have had their run.
        for round in 0..2 {
            for event in &incoming.events {
                let explained = engine.explain(event);
                let outcome = runtime.block_on(engine.dispatch_event(event));
                runtime.block_on(engine.background_done());
                let key = |hook: &hook_engine::core::Hook| (hook.origin.to_string(), hook.event.clone());
                let said: BTreeSet<_> = explained.iter().filter(|one| one.hurdle.is_none()).map(|one| key(&one.hook)).collect();
                let of = |cut_off: bool| -> BTreeSet<_> {
                    let runs = outcome.runs.iter().filter(|run| match run.status() {
                        Status::Skipped => cut_off && run.reading.rule.contains("ended the run"),
                        _ => true,
                    });
                    runs.map(|run| key(&run.hook)).collect()
                };
                prop_assert!(of(false).is_subset(&said), "round {}: {:#?} ran, explained: {:#?}", round, of(false), explained);
                prop_assert!(said.is_subset(&of(true)), "round {}: {:#?} ran, explained: {:#?}", round, of(true), explained);
                // A hook that is not run has one reason, and it is not empty.
                for one in explained.iter().filter(|one| one.hurdle.is_some_and(|hurdle| hurdle != Hurdle::Event)) {
                    prop_assert!(one.why.len() == 1 && !one.why[0].is_empty(), "{:?}", one);
                }
            }
        }
    }
}
