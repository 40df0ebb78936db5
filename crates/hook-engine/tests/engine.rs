//! The engine with a scripted executor: order, short circuits, rewrites, turns, hooks in code. No process is started.
#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use hook_engine::config::{DocumentSpec, parse};
use hook_engine::core::{
    Answer, Call, Decision, DialectId, Document, EventHint, EventKind, Executor, Exit, FailureKind, Gate,
    Handler, HandlerFailure, HandlerKind, HandlerOutput, Hook, HookCx, HostContext, Incoming, Layer, Outcome,
    Payload, ProcessOutput, ReplyPolicy, Scope, Status,
};
use hook_engine::mapper::Dialects;
use hook_engine::{Engine, Hurdle};
use serde_json::{Value, json};

/// Answers by the command's text and keeps what it was given.
#[derive(Default)]
struct Script {
    calls: Mutex<Vec<(String, Value)>>,
}

#[async_trait]
impl Executor for Script {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        let Handler::Command(handler) = &cx.hook.handler else { panic!("not a command") };
        let stdin = serde_json::from_slice(&call.input).expect("stdin is JSON");
        self.calls.lock().unwrap().push((handler.command.clone(), stdin));
        let words: Vec<&str> = handler.command.splitn(2, ' ').collect();
        let output = |code, stdout: &str, stderr: &str| {
            HandlerOutput::Process(ProcessOutput::new(Exit::Code(code), stdout, stderr))
        };
        match words.as_slice() {
            ["pass", ..] => output(0, "", ""),
            ["block", why] => output(2, "", why),
            ["say", json] => output(0, json, ""),
            ["never"] => std::future::pending().await,
            ["slow", json] => {
                tokio::task::yield_now().await;
                output(0, json, "")
            }
            ["fail", code] => output(code.parse().unwrap(), "", "went wrong"),
            ["late"] => HandlerOutput::Failure(HandlerFailure {
                kind: FailureKind::Timeout,
                message: "Hook timed out after 1s".into(),
                notes: Vec::new(),
            }),
            other => panic!("no such script: {other:?}"),
        }
    }
}

struct World {
    engine: Engine,
    script: Arc<Script>,
}

impl World {
    fn new(dialect: &str, layer: Layer, hooks: Value) -> World {
        World::with(vec![document(dialect, layer, hooks)], |builder| builder)
    }

    fn with(
        documents: Vec<Document>,
        more: impl FnOnce(hook_engine::EngineBuilder) -> hook_engine::EngineBuilder,
    ) -> World {
        let script = Arc::new(Script::default());
        let builder = Engine::builder(HostContext::new("/p")).documents(documents).executor(script.clone());
        World { engine: more(builder).build(), script }
    }

    fn read(&self, agent: &str, payload: Value) -> Incoming {
        let dialect = self.engine.dialects().find(agent).unwrap();
        dialect.read(Payload::from_value(payload), &EventHint::default()).unwrap()
    }

    async fn fire(&self, agent: &str, payload: Value) -> Outcome {
        self.engine.dispatch(&self.read(agent, payload)).await
    }

    async fn bash(&self, command: &str) -> Outcome {
        self.fire("native", json!({"event": "PreToolUse", "session_id": "s", "data": {"tool_name": "Bash", "tool_input": {"command": command}}}))
            .await
    }

    fn commands(&self) -> Vec<String> {
        self.script.calls.lock().unwrap().iter().map(|(command, _)| command.clone()).collect()
    }

    fn stdin(&self, index: usize) -> Value {
        self.script.calls.lock().unwrap()[index].1.clone()
    }
}

fn document(dialect: &str, layer: Layer, hooks: Value) -> Document {
    let dialects = Dialects::standard();
    let id = dialects.find(dialect).unwrap().profile().id;
    let spec = DocumentSpec {
        path: Path::new("/p/hooks.json").into(),
        dialect: id,
        layer,
        root: Some("/p".into()),
        source: None,
        scope: Scope::Always,
    };
    let parsed = parse(json!({ "hooks": hooks }).to_string().as_bytes(), &spec, &dialects);
    parsed.document.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn commands(lines: &[&str]) -> Value {
    lines.iter().map(|line| json!({"type": "command", "command": line})).collect()
}

fn statuses(outcome: &Outcome) -> Vec<Status> {
    outcome.runs.iter().map(|run| run.status()).collect()
}

#[tokio::test]
async fn native_hooks_run_in_sequence_and_a_deny_ends_them() {
    let hooks =
        json!({"PreToolUse": [{"matcher": "Bash", "hooks": commands(&["pass", "block no", "pass 2"])}]});
    let world = World::new("native", Layer::Project, hooks);
    let outcome = world.bash("ls").await;
    assert_eq!(outcome.answer.decision, Decision::Deny);
    assert_eq!(outcome.answer.reason.as_deref(), Some("no"));
    assert_eq!(world.commands(), ["pass", "block no"]);
    assert_eq!(statuses(&outcome), [Status::Ok, Status::Blocked, Status::Skipped]);
    assert_eq!(outcome.decided_by, Some(1));
}

#[tokio::test]
async fn a_native_rewrite_goes_on_to_the_next_hook() {
    let rewrite = r#"say {"updatedInput": {"command": "ls -l"}}"#;
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": commands(&[rewrite, "pass"])}]});
    let world = World::new("native", Layer::Project, hooks);
    let outcome = world.bash("ls").await;
    assert_eq!(world.stdin(0)["tool_input"]["command"], "ls");
    assert_eq!(world.stdin(1)["tool_input"]["command"], "ls -l");
    assert_eq!(outcome.answer.updated_input, Some(json!({"command": "ls -l"})));
}

#[tokio::test]
async fn a_short_circuit_ends_its_own_stage_only() {
    let inject = r#"say {"contextInjection": "note"}"#;
    let amplifier = json!({"PreToolUse": [{"hooks": commands(&[inject, "pass"])}]});
    let claude = json!({"PreToolUse": [{"hooks": commands(&["block no"])}]});
    let documents =
        vec![document("amplifier", Layer::User, amplifier), document("claude", Layer::Project, claude)];
    let world = World::with(documents, |builder| builder);
    let outcome = world.bash("ls").await;
    assert_eq!(statuses(&outcome), [Status::Ok, Status::Skipped, Status::Blocked]);
    assert_eq!(outcome.answer.decision, Decision::Deny);
    assert_eq!(outcome.answer.contexts().collect::<Vec<_>>(), ["note"]);
    assert_eq!(outcome.decided_by, Some(2));
}

#[tokio::test]
async fn claude_hooks_all_run_beside_a_deny() {
    let context =
        r#"say {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "logged"}}"#;
    let hooks = json!({"PreToolUse": [{"hooks": commands(&["block no", context])}]});
    let world = World::new("claude", Layer::Project, hooks);
    let outcome = world.bash("ls").await;
    assert_eq!(statuses(&outcome), [Status::Blocked, Status::Ok]);
    assert_eq!(outcome.answer.contexts().collect::<Vec<_>>(), ["logged"]);
}

#[tokio::test]
async fn of_two_claude_rewrites_that_of_the_hook_which_finished_last_counts() {
    let rewrite = |speed: &str, n: u8| {
        let own = json!({"hookEventName": "PreToolUse", "updatedInput": {"n": n}});
        format!("{speed} {}", json!({"hookSpecificOutput": own}))
    };
    for (first, second, expected) in [("slow", "say", 1), ("say", "slow", 2), ("say", "say", 2)] {
        let hooks = commands(&[&rewrite(first, 1), &rewrite(second, 2)]);
        let world = World::new("claude", Layer::Project, json!({"PreToolUse": [{"hooks": hooks}]}));
        let outcome = world.bash("ls").await;
        assert_eq!(outcome.answer.updated_input, Some(json!({"n": expected})), "{first} {second}");
        let notes: Vec<&str> = outcome.notes.iter().map(|note| note.text.as_str()).collect();
        assert!(notes.iter().any(|text| text.contains("finished last")), "{notes:?}");
    }
}

#[tokio::test]
async fn a_rule_decides_for_each_call_and_an_unreadable_one_holds_on_a_guard() {
    let hook =
        |command: &str, rule: &str| json!({"hooks": [{"type": "command", "command": command, "if": rule}]});
    let world = World::new(
        "native",
        Layer::Project,
        json!({
            "PreToolUse": [hook("pass push", "Bash(git push *)"), hook("pass broken", "Bash(git")],
            "PostToolUse": [hook("pass after", "Bash(git")],
        }),
    );
    let outcome = world.bash("npm test").await;
    assert_eq!(world.commands(), ["pass broken"]);
    let why = &outcome.runs[0].reading.rule;
    assert_eq!(why, "Bash(git push *): no sub-command of \"npm test\" fits");
    world.bash("npm test && git push origin").await;
    assert_eq!(world.commands(), ["pass broken", "pass push", "pass broken"]);
}

#[tokio::test]
async fn an_unreadable_matcher_switched_a_hook_off_where_no_matcher_counts() {
    let group = |matcher| json!([{"matcher": matcher, "hooks": commands(&["pass"])}]);
    for matcher in ["Bash", "[", "*x"] {
        for (event, ran) in [("CwdChanged", true), ("Stop", true), ("PostToolUse", matcher == "Bash")] {
            let world = World::new("claude", Layer::Project, json!({event: group(matcher)}));
            let payload =
                json!({"hook_event_name": event, "session_id": "s", "tool_name": "Bash", "tool_input": {}});
            let outcome = world.fire("claude", payload).await;
            assert_eq!(outcome.runs.iter().any(|run| run.ran()), ran, "{event} {matcher}");
        }
    }
}

#[tokio::test]
async fn a_claude_hook_under_another_agent_gets_a_claude_payload() {
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": commands(&["pass"])}]});
    let world = World::new("claude", Layer::Project, hooks);
    let payload = json!({"event": "tool:pre", "session_id": "s", "data": {"tool_name": "bash", "tool_input": {"command": "ls"}}});
    let outcome = world.fire("amplifier", payload).await;
    assert_eq!(outcome.runs.len(), 1);
    let stdin = world.stdin(0);
    assert_eq!(stdin["hook_event_name"], "PreToolUse");
    assert_eq!(stdin["tool_name"], "Bash");
    assert_eq!(stdin["tool_input"]["command"], "ls");
}

#[tokio::test]
async fn both_stop_events_of_one_turn_run_the_hooks_once() {
    let hooks = json!({"Stop": [{"hooks": commands(&["pass"])}]});
    let world = World::new("amplifier", Layer::Project, hooks);
    let fire =
        |event: &'static str| world.fire("amplifier", json!({"event": event, "session_id": "s", "data": {}}));
    fire("prompt:complete").await;
    let second = fire("orchestrator:complete").await;
    assert_eq!(world.commands().len(), 1);
    assert!(!second.notes.is_empty(), "the second event says why nothing ran");
    fire("prompt:submit").await;
    fire("orchestrator:complete").await;
    assert_eq!(world.commands().len(), 2);
}

#[tokio::test]
async fn a_denied_stop_keeps_the_turn_open_and_says_so_on_stdin() {
    let hooks = json!({"Stop": [{"hooks": commands(&["block more work"])}]});
    let world = World::new("amplifier", Layer::Project, hooks);
    let fire =
        |event: &'static str| world.fire("amplifier", json!({"event": event, "session_id": "s", "data": {}}));
    assert_eq!(fire("prompt:complete").await.answer.decision, Decision::Deny);
    fire("orchestrator:complete").await;
    assert_eq!(world.stdin(0)["stop_hook_active"], false);
    assert_eq!(world.stdin(1)["stop_hook_active"], true);
}

#[tokio::test]
async fn context_that_ends_the_run_before_other_hooks_is_told() {
    let inject = r#"say {"contextInjection": "c"}"#;
    let fire = |hooks: Value| async move {
        let world = World::new("amplifier", Layer::Project, json!({ "PreToolUse": hooks }));
        let payload = json!({"event": "tool:pre", "session_id": "s", "data": {"tool_name": "bash"}});
        let notes = world.fire("amplifier", payload).await.notes;
        notes.into_iter().map(|note| note.text).collect::<Vec<_>>()
    };
    let notes =
        fire(json!([{"hooks": commands(&[inject, "block no"])}, {"hooks": commands(&["pass"])}])).await;
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("(contextInjection) ended the run, so 2 hooks after it"), "{notes:?}");
    assert_eq!(fire(json!([{"hooks": commands(&["pass", inject])}])).await, [""; 0], "nobody is after it");
    let denied = fire(json!([{"hooks": commands(&["block no", "pass"])}])).await;
    assert_eq!(denied, [""; 0], "a deny may end a run");
    let parallel = json!([{"parallel": true, "hooks": commands(&[inject, "block no"])}]);
    assert_eq!(fire(parallel).await, [""; 0], "at the same time all of them run");
}

#[tokio::test]
async fn a_once_hook_runs_once_in_a_session() {
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "pass", "once": true}]}]});
    let world = World::new("native", Layer::Project, hooks);
    world.bash("ls").await;
    let second = world.bash("ls").await;
    assert_eq!(statuses(&second), [Status::Skipped]);
    assert_eq!(world.commands().len(), 1);
}

#[tokio::test]
async fn hooks_in_code_come_and_go() {
    let world = World::new("native", Layer::Project, json!({}));
    let registration = world.engine.register(EventKind::PreToolUse, Some("Bash"), "guard", |event| {
        let tool = event.tool.as_ref().unwrap();
        Answer::deny(format!("not {}", tool.input["command"].as_str().unwrap()))
    });
    let outcome = world.bash("ls").await;
    assert_eq!(outcome.answer.reason.as_deref(), Some("not ls"));
    assert_eq!(outcome.runs[0].hook.origin.to_string(), "code");
    registration.remove();
    assert!(world.bash("ls").await.runs.is_empty());
}

#[tokio::test]
async fn a_panic_in_code_costs_only_its_own_hook() {
    let world = World::new("native", Layer::Project, json!({"PreToolUse": [{"hooks": commands(&["pass"])}]}));
    world.engine.register(EventKind::PreToolUse, None, "broken", |_| panic!("broken"));
    let outcome = world.bash("ls").await;
    assert_eq!(statuses(&outcome), [Status::Error, Status::Ok]);
}

#[tokio::test]
async fn a_handler_that_nothing_runs_is_reported_as_not_run() {
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "agent", "prompt": "Look"}]}]});
    let world = World::new("native", Layer::Project, hooks);
    let outcome = world.bash("ls").await;
    assert_eq!(statuses(&outcome), [Status::Skipped]);
    assert!(outcome.runs[0].reading.rule.contains("agent"), "{}", outcome.runs[0].reading.rule);
}

#[tokio::test]
async fn a_guard_that_nothing_runs_blocks_where_its_author_said_so() {
    let agent = json!({"type": "agent", "prompt": "Look", "onFailure": "block"});
    let world = World::new("native", Layer::Project, json!({"PreToolUse": [{"hooks": [agent]}]}));
    assert_eq!(world.bash("ls").await.answer.decision, Decision::Deny);
}

#[tokio::test]
async fn a_failing_hook_blocks_where_its_author_said_so() {
    let table: &[(&str, Value, Decision)] = &[
        ("fail 1", json!("continue"), Decision::None),
        ("fail 1", json!("block"), Decision::Deny),
        ("late", json!("block"), Decision::Deny),
        ("late", json!({"exit": "block"}), Decision::None),
        ("fail 7", json!({"exit": "block"}), Decision::Deny),
    ];
    for (command, mode, expected) in table {
        let hook = json!({"type": "command", "command": command, "onFailure": mode});
        let world = World::new("native", Layer::Project, json!({"PreToolUse": [{"hooks": [hook]}]}));
        let outcome = world.bash("ls").await;
        assert_eq!(outcome.answer.decision, *expected, "{command} {mode}");
    }
}

#[tokio::test]
async fn a_gate_keeps_a_hook_from_running_and_says_why() {
    struct Shut;
    impl Gate for Shut {
        fn admit(&self, _hook: &Hook) -> Result<(), String> {
            Err("not approved; run: hook trust".into())
        }
    }
    let hooks =
        document("native", Layer::Project, json!({"PreToolUse": [{"hooks": commands(&["block no"])}]}));
    let world = World::with(vec![hooks], |builder| builder.gate(Arc::new(Shut)));
    let outcome = world.bash("ls").await;
    assert_eq!(statuses(&outcome), [Status::Skipped]);
    assert_eq!(outcome.runs[0].reading.rule, "not approved; run: hook trust");
    assert!(world.commands().is_empty());
}

#[tokio::test]
async fn one_event_is_answered_in_the_words_of_every_agent() {
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": commands(&["block no rm here"])}]});
    let world = World::new("native", Layer::Project, hooks);
    let payloads: HashMap<&str, Value> = HashMap::from([
        (
            "claude",
            json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "rm"}}),
        ),
        (
            "amplifier",
            json!({"event": "tool:pre", "data": {"tool_name": "bash", "tool_input": {"command": "rm"}}}),
        ),
        (
            "native",
            json!({"event": "PreToolUse", "data": {"tool_name": "Bash", "tool_input": {"command": "rm"}}}),
        ),
    ]);
    for (agent, payload) in payloads {
        let incoming = world.read(agent, payload);
        let outcome = world.engine.dispatch(&incoming).await;
        let id: DialectId = world.engine.dialects().find(agent).unwrap().profile().id;
        let reply = world.engine.reply(id, &incoming, &outcome, &ReplyPolicy::default());
        assert_eq!(reply.exit_code, 0, "{agent}");
        assert!(
            reply.stdout.contains("no rm here") && reply.stdout.contains("deny"),
            "{agent}: {}",
            reply.stdout
        );
    }
}

#[tokio::test]
async fn nothing_to_do_is_known_without_running_anything() {
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": commands(&["pass"])}]});
    let world = World::new("native", Layer::Project, hooks);
    let payload = |tool: &str| json!({"event": "PreToolUse", "data": {"tool_name": tool, "tool_input": {}}});
    assert!(world.engine.concerns(&world.read("native", payload("Bash"))));
    assert!(!world.engine.concerns(&world.read("native", payload("Read"))));
}

/// Writes one line to the env file of its session.
struct Exporter(&'static str);

#[async_trait]
impl Executor for Exporter {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        std::fs::write(cx.session.env_file.as_ref().unwrap(), self.0).unwrap();
        let value = call
            .environment
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value.to_string_lossy());
        HandlerOutput::Process(ProcessOutput::new(Exit::Code(0), "", value.unwrap_or_default()))
    }
}

#[tokio::test]
async fn a_line_that_extends_path_does_not_grow_it_with_every_hook() {
    let hooks =
        document("amplifier", Layer::Project, json!({"PreToolUse": [{"hooks": commands(&["a", "b", "c"])}]}));
    let mut host = HostContext::new("/p");
    host.environment.insert("PATH".into(), "/bin".into());
    let executor = Arc::new(Exporter("export PATH=\"$PATH:/x\"\n"));
    let engine = Engine::builder(host).documents([hooks]).executor(executor).build();
    let dialect = engine.dialects().find("amplifier").unwrap();
    let payload = json!({"event": "tool:pre", "session_id": "s", "data": {"tool_name": "bash"}});
    let incoming = dialect.read(Payload::from_value(payload), &EventHint::default()).unwrap();
    let paths: Vec<String> =
        engine.dispatch(&incoming).await.runs.iter().map(|run| run.stderr.clone()).collect();
    assert_eq!(paths, ["/bin", "/bin:/x", "/bin:/x"]);
}

/// Runs `export` lines into the env file, and says what `VALUE` is.
struct Places;

#[async_trait]
impl Executor for Places {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Command
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        use std::io::Write;
        let Handler::Command(handler) = &cx.hook.handler else { panic!("not a command") };
        if handler.command.starts_with("export") {
            let file = cx.session.env_file.as_ref().unwrap();
            let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
            writeln!(file, "{}", handler.command).unwrap();
        }
        let value = call.environment.iter().find(|(name, _)| name == "VALUE");
        let value = value.map(|(_, value)| value.to_string_lossy().into_owned()).unwrap_or_default();
        HandlerOutput::Process(ProcessOutput::new(Exit::Code(0), "", value))
    }
}

#[tokio::test]
async fn variables_of_a_place_go_when_the_directory_changes_again() {
    let hooks = json!({
        "SessionStart": [{"hooks": commands(&["export VALUE=a"])}],
        "CwdChanged": [{"hooks": commands(&["export VALUE=$VALUE-here"])}],
        "FileChanged": [{"hooks": commands(&["export VALUE=$VALUE-file"])}],
        "Stop": [{"hooks": commands(&["show"])}],
    });
    for dialect in ["claude", "native"] {
        let hooks = document(dialect, Layer::Project, hooks.clone());
        let engine =
            Engine::builder(HostContext::new("/p")).documents([hooks]).executor(Arc::new(Places)).build();
        let native = engine.dialects().find("native").unwrap();
        let mut shown = Vec::new();
        for event in [
            "SessionStart",
            "Stop",
            "FileChanged",
            "Stop",
            "CwdChanged",
            "Stop",
            "FileChanged",
            "Stop",
            "CwdChanged",
            "Stop",
        ] {
            let data = match event {
                "FileChanged" => json!({"file_path": "/p/.env", "event": "change"}),
                "SessionStart" => json!({"source": "startup"}),
                _ => json!({}),
            };
            let payload = Payload::from_value(json!({"event": event, "session_id": "s", "data": data}));
            let incoming = native.read(payload, &EventHint::default()).unwrap();
            let outcome = engine.dispatch(&incoming).await;
            if event == "Stop" {
                shown.push(outcome.runs[0].stderr.clone());
            }
        }
        assert_eq!(shown, ["a", "a-file", "a-here", "a-here-file", "a-here"], "{dialect}");
    }
}

fn skill_loaded(name: &str, hooks: Value) -> Value {
    json!({"event": "skill:loaded", "data": {"skill_name": name, "skill_directory": "/skills/x", "hooks": hooks}})
}

fn amplifier_bash() -> Value {
    json!({"event": "tool:pre", "data": {"tool_name": "bash", "tool_input": {}}})
}

#[tokio::test]
async fn hooks_of_skills_run_after_files_in_the_order_of_the_first_load() {
    let world =
        World::new("amplifier", Layer::Project, json!({"PreToolUse": [{"hooks": commands(&["pass file"])}]}));
    let hooks = |line: &str| json!({"PreToolUse": [{"hooks": commands(&[line])}]});
    for (name, line) in [("one", "pass one"), ("two", "pass two"), ("one", "pass one again")] {
        world.fire("amplifier", skill_loaded(name, hooks(line))).await;
    }
    world.fire("amplifier", amplifier_bash()).await;
    assert_eq!(world.commands(), ["pass file", "pass one again", "pass two"]);
    world.fire("amplifier", json!({"event": "skill:unloaded", "data": {"skill_name": "one"}})).await;
    world.fire("amplifier", amplifier_bash()).await;
    assert_eq!(world.commands()[3..], ["pass file", "pass two"]);
    world.fire("amplifier", json!({"event": "session:end", "data": {}})).await;
    world.fire("amplifier", amplifier_bash()).await;
    assert_eq!(world.commands()[5..], ["pass file"]);
}

#[tokio::test]
async fn a_once_hook_of_an_amplifier_skill_is_spent_when_it_is_started_and_stays_so() {
    let world = World::with(Vec::new(), |builder| builder);
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "fail 1", "once": true}]}]});
    for _ in 0..2 {
        world.fire("amplifier", skill_loaded("one", hooks.clone())).await;
        world.fire("amplifier", amplifier_bash()).await;
        world.fire("amplifier", json!({"event": "skill:unloaded", "data": {"skill_name": "one"}})).await;
    }
    assert_eq!(world.commands(), ["fail 1"]);
}

#[tokio::test]
async fn what_is_wrong_with_a_loaded_skill_is_said() {
    let world = World::with(Vec::new(), |builder| builder);
    let outcome = world
        .fire("amplifier", skill_loaded("one", json!({"PreToolUse": [{"hooks": [{"type": "comand"}]}]})))
        .await;
    let notes: Vec<&str> = outcome.notes.iter().map(|note| note.text.as_str()).collect();
    assert!(notes.iter().any(|note| note.contains("SKILL.md") && note.contains("comand")), "{notes:?}");
}

#[tokio::test]
async fn hooks_of_a_subagent_run_while_it_runs() {
    let mut document =
        document("claude", Layer::Agent, json!({"PreToolUse": [{"hooks": commands(&["pass"])}]}));
    for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
        Arc::make_mut(hook).scope = Scope::Agent("reviewer".into());
    }
    let world = World::with(vec![document], |builder| builder);
    let payload = |agent: Option<&str>| json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {}, "agent_type": agent});
    for (agent, runs) in [(None, 0), (Some("planner"), 0), (Some("reviewer"), 1)] {
        let outcome = world.fire("claude", payload(agent)).await;
        assert_eq!(outcome.runs.len(), runs, "{agent:?}");
    }
}

#[tokio::test]
async fn a_stop_that_is_held_back_again_and_again_is_let_through() {
    let world = World::new("claude", Layer::Project, json!({"Stop": [{"hooks": commands(&["block more"])}]}));
    let stop = json!({"hook_event_name": "Stop", "session_id": "s"});
    let tool =
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {}});
    let decisions = async |count: usize| {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(world.fire("claude", stop.clone()).await.answer.decision == Decision::Deny);
        }
        all
    };
    assert_eq!(decisions(5).await, [true; 5]);
    // A call of a tool is progress.
    world.fire("claude", tool).await;
    assert_eq!(decisions(8).await, [true; 8]);
    let ninth = world.fire("claude", stop.clone()).await;
    assert_eq!(ninth.answer.decision, Decision::None);
    assert!(ninth.answer.messages().any(|(text, _)| text.contains("8 times in a row")), "{ninth:?}");
    assert_eq!(decisions(1).await, [true]);
}

#[tokio::test]
async fn the_bound_on_stops_can_be_set_in_the_environment() {
    let hooks = json!({"Stop": [{"hooks": commands(&["say {\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"additionalContext\":\"go on\"}}"])}]});
    for (set, lets_through) in [("1", true), ("0", false), ("many", false)] {
        let mut host = HostContext::new("/p");
        host.environment.insert("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP".into(), set.into());
        let engine = Engine::builder(host)
            .documents([document("claude", Layer::Project, hooks.clone())])
            .executor(Arc::new(Script::default()))
            .build();
        let agent = engine.dialects().find("claude").unwrap();
        let stop = Payload::from_value(json!({"hook_event_name": "Stop", "session_id": "s"}));
        let incoming = agent.read(stop, &EventHint::default()).unwrap();
        engine.dispatch(&incoming).await;
        let second = engine.dispatch(&incoming).await;
        assert_eq!(second.answer.contexts().next().is_none(), lets_through, "{set}");
    }
}

#[tokio::test]
async fn the_hooks_of_a_sessions_end_share_a_short_budget() {
    struct Budgets(Mutex<Vec<(String, u64)>>);
    #[async_trait]
    impl Executor for Budgets {
        fn kind(&self) -> HandlerKind {
            HandlerKind::Command
        }
        async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
            // What has passed since the stage began is taken off; rounded up it is what was granted.
            let granted = (call.timeout.as_secs_f64() * 10.0).ceil() as u64 * 100;
            self.0.lock().unwrap().push((cx.hook.handler.summary(), granted));
            HandlerOutput::Process(ProcessOutput::new(Exit::Code(0), "", ""))
        }
    }
    let end = |command: &str, timeout: Option<f64>| {
        let mut hook = json!({"type": "command", "command": command});
        if let Some(timeout) = timeout {
            hook["timeout"] = timeout.into();
        }
        json!({"SessionEnd": [{"hooks": [hook]}]})
    };
    let table = [
        // Own timeouts of user and plugin, the environment; what the user's, the plugin's and a hook without its own get.
        (None, None, None, [1500, 1500, 1500]),
        (Some(5.0), None, None, [5000, 1500, 1500]),
        (Some(90.0), Some(90.0), None, [60_000, 60_000, 1500]),
        (None, Some(30.0), None, [1500, 1500, 1500]),
        (Some(5.0), None, Some("4000"), [4000, 4000, 4000]),
    ];
    for (user, plugin, variable, expected) in table {
        let mut host = HostContext::new("/p");
        if let Some(value) = variable {
            host.environment.insert("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS".into(), value.into());
        }
        let budgets = Arc::new(Budgets(Mutex::new(Vec::new())));
        let engine = Engine::builder(host)
            .documents([
                document("claude", Layer::User, end("a user", user)),
                document("claude", Layer::Project, end("c plain", None)),
                document("claude", Layer::Pack, end("b plugin", plugin)),
            ])
            .executor(budgets.clone())
            .build();
        let agent = engine.dialects().find("claude").unwrap();
        let payload = json!({"hook_event_name": "SessionEnd", "session_id": "s", "reason": "other"});
        let incoming = agent.read(Payload::from_value(payload), &EventHint::default()).unwrap();
        engine.dispatch(&incoming).await;
        let mut granted = budgets.0.lock().unwrap().clone();
        granted.sort();
        let granted: Vec<u64> = granted.into_iter().map(|(_, millis)| millis).collect();
        assert_eq!(granted, expected, "{user:?} {plugin:?} {variable:?}");
    }
}

#[tokio::test]
async fn a_long_context_of_a_claude_hook_goes_into_a_file() {
    let long = "x".repeat(10_001);
    let say = |text: &str| {
        format!(
            "say {}",
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": text}})
        )
    };
    let hooks = json!({"PreToolUse": [{"hooks": commands(&[&say(&long), &say(&long[1..])])}]});
    let world = World::new("claude", Layer::Project, hooks);
    let outcome = world.bash("ls").await;
    let contexts: Vec<&str> = outcome.answer.contexts().collect();
    assert!(contexts[0].len() < 3000 && contexts[0].contains("10001 characters"), "{}", contexts[0]);
    assert_eq!(contexts[1].len(), 10_000);
}

#[tokio::test]
async fn every_hook_is_explained_and_nothing_is_run() {
    let hooks = json!({
        "PreToolUse": [
            {"matcher": "Bash", "hooks": commands(&["pass one"])},
            {"matcher": "bash", "hooks": commands(&["pass two"])},
            {"hooks": [{"type": "command", "command": "pass three", "enabled": false}, {"type": "prompt", "prompt": "ok?"}]},
        ],
        "Stop": [{"hooks": commands(&["pass four"])}],
    });
    let world = World::new("native", Layer::Project, hooks);
    let payload =
        json!({"event": "PreToolUse", "session_id": "s", "data": {"tool_name": "Bash", "tool_input": {}}});
    let incoming = world.read("native", payload);
    let explained = world.engine.explain(&incoming.events[0]);
    let found: Vec<(String, Option<Hurdle>, &str)> =
        explained.iter().map(|one| (one.hook.handler.summary(), one.hurdle, one.why[0].as_str())).collect();
    let expected = [
        ("pass one", None, "exactly Bash"),
        ("pass two", Some(Hurdle::Matcher), "letter case counts here"),
        ("pass three", Some(Hurdle::Off), "`enabled` is false"),
        ("ok?", Some(Hurdle::Executor), "No provider available"),
        ("pass four", Some(Hurdle::Event), "listens to Stop"),
    ];
    assert_eq!(found.len(), expected.len());
    for ((command, hurdle, why), wanted) in found.iter().zip(expected) {
        assert_eq!((command.as_str(), *hurdle), (wanted.0, wanted.1));
        assert!(why.contains(wanted.2), "{command}: {why}");
    }
    assert!(world.commands().is_empty());
}

#[tokio::test]
async fn what_a_background_hook_says_comes_with_the_next_event_that_can_carry_it() {
    let say = |json: Value| json!({"type": "command", "command": format!("say {json}"), "async": true});
    let hooks = json!({
        "PreToolUse": [{"hooks": [say(json!({"decision": "deny", "reason": "too late", "context": "found it"}))]}],
    });
    let world = World::new("native", Layer::Project, hooks);
    let first = world.bash("ls").await;
    assert_eq!(first.answer, Answer::default());
    assert_eq!(statuses(&first), [Status::Background]);
    world.engine.background_done().await;
    let event = |name: &str| json!({"hook_event_name": name, "session_id": "s"});
    // A text at the end of a turn would start another one.
    assert_eq!(world.fire("claude", event("Stop")).await.answer.contexts().count(), 0);
    let prompt = world.fire("claude", event("UserPromptSubmit")).await;
    assert_eq!(prompt.answer.contexts().collect::<Vec<_>>(), ["found it"]);
    assert_eq!(world.fire("claude", event("UserPromptSubmit")).await.answer.contexts().count(), 0);
    assert_eq!(world.commands().len(), 1);
}

#[tokio::test]
async fn a_background_hook_ended_those_behind_it_or_kept_what_they_said_waiting() {
    for first in ["block no", r#"say {"decision": "deny"}"#, "never"] {
        let hooks: Value = [first, r#"say {"context": "found it"}"#]
            .iter()
            .map(|command| json!({"type": "command", "command": command, "async": true}))
            .collect();
        let world = World::new("native", Layer::Project, json!({"PreToolUse": [{"hooks": hooks}]}));
        world.bash("ls").await;
        // The tasks of this runtime go as far as they get.
        for _ in 0..8 {
            tokio::task::yield_now().await;
        }
        let prompt =
            world.fire("claude", json!({"hook_event_name": "UserPromptSubmit", "session_id": "s"})).await;
        assert_eq!(prompt.answer.contexts().collect::<Vec<_>>(), ["found it"], "{first}");
    }
}

#[tokio::test]
async fn a_hook_that_wakes_the_model_says_why_by_its_exit_code() {
    let hook = |command: &str, wakes: bool| json!({"type": "command", "command": command, "async": true, "asyncRewake": wakes});
    let hooks =
        json!({"PostToolUse": [{"hooks": [hook("block tests fail", true), hook("block unheard", false)]}]});
    let world = World::new("claude", Layer::Project, hooks);
    let post =
        json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {}});
    assert_eq!(world.fire("claude", post).await.answer, Answer::default());
    world.engine.background_done().await;
    let prompt =
        world.fire("claude", json!({"hook_event_name": "UserPromptSubmit", "session_id": "s"})).await;
    assert_eq!(prompt.answer.contexts().collect::<Vec<_>>(), ["tests fail"]);
}

#[tokio::test]
async fn the_hooks_of_a_claude_skill_come_into_force_when_it_is_called_or_typed() {
    let mut document =
        document("claude", Layer::Skill, json!({"PreToolUse": [{"hooks": commands(&["pass"])}]}));
    for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
        Arc::make_mut(hook).scope = Scope::Skill("review".into());
    }
    let world = World::with(vec![document], |builder| builder);
    let tool = |session: &str, event: &str, name: &str, input: Value| json!({"hook_event_name": event, "session_id": session, "tool_name": name, "tool_input": input});
    let typed = |session: &str, name: &str| json!({"hook_event_name": "UserPromptExpansion", "session_id": session, "command_name": name, "expansion_type": "slash_command"});
    let calls = [
        (tool("a", "PostToolUse", "Skill", json!({"skill": "review"})), "a", 1),
        (tool("b", "PostToolUse", "Skill", json!({"skill": "other"})), "b", 0),
        (tool("c", "PreToolUse", "Skill", json!({"skill": "review"})), "c", 0),
        (typed("d", "review"), "d", 1),
        (typed("e", "/tools:review"), "e", 1),
    ];
    for (call, session, runs) in calls {
        world.fire("claude", call).await;
        let outcome = world.fire("claude", tool(session, "PreToolUse", "Bash", json!({}))).await;
        assert_eq!(outcome.runs.len(), runs, "{session}");
    }
}

#[tokio::test]
async fn a_skill_whose_hooks_the_agent_sends_along_does_not_run_those_of_its_file_as_well() {
    let mut document =
        document("amplifier", Layer::Skill, json!({"PreToolUse": [{"hooks": commands(&["pass file"])}]}));
    for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
        Arc::make_mut(hook).scope = Scope::Skill("one".into());
    }
    let world = World::with(vec![document], |builder| builder);
    world
        .fire("amplifier", skill_loaded("one", json!({"PreToolUse": [{"hooks": commands(&["pass sent"])}]})))
        .await;
    world.fire("amplifier", amplifier_bash()).await;
    assert_eq!(world.commands(), ["pass sent"]);
    let incoming = world.read("amplifier", amplifier_bash());
    let explained = world.engine.explain(&incoming.events[0]);
    let hurdles: Vec<_> = explained.iter().map(|one| (one.hook.handler.summary(), one.hurdle)).collect();
    assert_eq!(hurdles, [("pass file".to_owned(), Some(Hurdle::Scope)), ("pass sent".to_owned(), None)]);
}

/// Rows of hooks, in the order of the file, and what runs for a command.
#[tokio::test]
async fn a_predicate_is_asked_with_the_input_as_it_is_by_then() {
    let world = World::new(
        "native",
        Layer::Project,
        json!({"PreToolUse": [
            {"matcher": "Bash(git *)", "hooks": [{"command": "pass git"}]},
            {"matcher": "Bash & input.command~^npm", "hooks": [
                {"command": "say {\"updatedInput\": {\"command\": \"git push\"}}"}]},
            {"matcher": "Bash(git *)", "hooks": [{"command": "pass again"}]},
            {"matcher": "Bash & input.command~^npm", "hooks": [{"command": "pass npm"}]},
        ]}),
    );
    let outcome = world.bash("npm publish").await;
    assert_eq!(world.commands()[1..], ["pass again"]);
    assert_eq!(outcome.runs.len(), 4);
    assert_eq!(outcome.runs[3].status(), Status::Skipped);
    let rule = &outcome.runs[3].reading.rule;
    assert_eq!(rule, "the matcher does not fit: input.command~^npm: command is \"git push\"");
}

#[tokio::test]
async fn a_predicate_and_an_if_have_to_hold_both() {
    let hooks = json!({"PreToolUse": [{"matcher": "Bash(command=push)", "hooks": [
        {"command": "pass rule", "if": "Bash(git *)"},
        {"command": "pass field", "if": "Bash(command=--force)"},
        {"command": "pass joined", "if": "Bash(hg *) | input.command~--dry"},
        {"command": "pass none"},
    ]}]});
    for (command, expected) in [
        ("git push", &["pass rule", "pass none"][..]),
        ("git push --force", &["pass rule", "pass field", "pass none"]),
        ("hg push", &["pass joined", "pass none"]),
        ("svn push --dry", &["pass joined", "pass none"]),
        ("git pull", &[]),
    ] {
        let world = World::new("native", Layer::Project, hooks.clone());
        world.bash(command).await;
        assert_eq!(world.commands(), expected, "{command}");
    }
}

#[tokio::test]
async fn a_deny_handler_refuses_where_its_predicate_fits() {
    let world = World::new(
        "native",
        Layer::Project,
        json!({
            "PreToolUse": [{"matcher": "Bash(command=^rm\\s+-rf\\s+/)", "hooks": [{"type": "deny", "reason": "not that"}]}],
            "UserPromptSubmit": [{"hooks": [{"type": "deny", "reason": "no prompts today"}]}],
        }),
    );
    let outcome = world.bash("rm  -rf /var").await;
    assert_eq!(
        (outcome.answer.decision, outcome.answer.reason.as_deref()),
        (Decision::Deny, Some("not that"))
    );
    assert_eq!(
        (outcome.runs[0].status(), outcome.runs[0].reading.rule.as_str()),
        (Status::Blocked, "the deny handler refuses")
    );
    assert_eq!(world.bash("ls /").await.answer.decision, Decision::None);
    let prompt = json!({"event": "UserPromptSubmit", "data": {"prompt": "hello"}});
    let outcome = world.fire("native", prompt).await;
    assert_eq!(outcome.answer.reason_to, hook_engine::core::Audience::User);
    assert_eq!(outcome.answer.decision, Decision::Deny);
}

#[tokio::test]
async fn an_unreadable_predicate_fits_where_it_guards_something() {
    let group = json!([{"matcher": "Bash(command=^rm[)", "hooks": [{"command": "pass"}]}]);
    let world = World::new("native", Layer::Project, json!({"PreToolUse": group, "PostToolUse": group}));
    world.bash("ls").await;
    assert_eq!(world.commands(), ["pass"]);
    let after =
        json!({"event": "PostToolUse", "data": {"tool_name": "Bash", "tool_input": {"command": "rm"}}});
    world.fire("native", after).await;
    assert_eq!(world.commands(), ["pass"], "nothing can be held back after the call");
}

#[tokio::test]
async fn what_a_predicate_cannot_judge_is_told() {
    let world = World::new(
        "native",
        Layer::Project,
        json!({"PreToolUse": [{"matcher": "Bash(rm *)", "hooks": [{"type": "deny", "reason": "no rm"}]}]}),
    );
    let outcome = world.bash(&"x".repeat(70_000)).await;
    assert_eq!(outcome.answer.decision, Decision::Deny);
    let notes: Vec<&str> = outcome.runs[0].reading.notes.iter().map(|note| note.text.as_str()).collect();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("cannot be judged") && note.contains("longer than 65536 bytes")),
        "{notes:?}"
    );
}

#[tokio::test]
async fn what_is_explained_of_a_predicate_names_the_first_false_term() {
    let world = World::new(
        "native",
        Layer::Project,
        json!({"PreToolUse": [
            {"matcher": "Bash & input.command~^npm", "hooks": [{"command": "pass", "if": "Bash(npm *) | Edit(*)"}]},
        ]}),
    );
    let explain = |tool: &str, command: &str| {
        let data = json!({"tool_name": tool, "tool_input": {"command": command}});
        let incoming = world.read("native", json!({"event": "PreToolUse", "data": data}));
        world.engine.explain(&incoming.events[0]).remove(0)
    };
    let no = explain("Bash", "pnpm i");
    assert_eq!(no.hurdle, Some(Hurdle::Matcher));
    assert_eq!(no.why, ["the matcher does not fit: input.command~^npm: command is \"pnpm i\""]);
    assert_eq!(
        no.terms[..2],
        ["  Bash: true, the tool is Bash", "& input.command~^npm: false, command is \"pnpm i\""]
    );
    let other = explain("Read", "npm i");
    assert_eq!((other.hurdle, other.terms.len()), (Some(Hurdle::Matcher), 0));
    assert!(other.why[0].contains("does not fit \"Read\""), "{:?}", other.why);
    let yes = explain("Bash", "npm i");
    assert_eq!(yes.hurdle, None);
    assert_eq!(yes.terms[2..], ["  Bash(npm *): true, a sub-command is \"npm i\"", "| Edit(*): not asked"]);
}
