//! Hooks that are woken again.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use hook_engine::EngineBuilder;
use hook_engine::core::{
    Call, Decision, EventKind, Executor, Gate, HandlerKind, HandlerOutput, Hook, HookCx, HostContext, Layer,
    ManualClock, Outcome, Stream,
};
use hook_engine::rewake::scheduler::Round;
use hook_engine::rewake::store::{Filter, MemoryStore, RewakeStore};
use serde_json::{Value, json};

use crate::world::{Script, World, document};

/// A world whose clock stands until it is moved, and the store of its envelopes.
struct Bench {
    world: World,
    clock: Arc<ManualClock>,
    store: Arc<MemoryStore>,
}

fn waking(hooks: Value, more: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Bench {
    let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH));
    let store = Arc::new(MemoryStore::new());
    let script = Arc::new(Script::default());
    let mut host = HostContext::new("/p");
    host.clock = clock.clone();
    let builder = hook_engine::Engine::builder(host)
        .documents([document("native", Layer::Project, hooks)])
        .executor(script.clone())
        .rewake(store.clone());
    let world = World { engine: more(builder).build(), script };
    Bench { world, clock, store }
}

impl Bench {
    async fn after(&self, seconds: u64) -> Round {
        self.clock.advance(Duration::from_secs(seconds));
        self.world.engine.wake_due().await.unwrap()
    }

    async fn pending(&self) -> usize {
        self.store.list(&Filter::default()).await.unwrap().len()
    }

    /// The payload of the first envelope.
    async fn stored(&self) -> String {
        self.store.list(&Filter::default()).await.unwrap()[0].snapshot.payload.clone()
    }

    async fn ends(&self) -> Vec<String> {
        let records = self.store.records(&Filter::default(), 99).await.unwrap();
        records.into_iter().rev().map(|one| one.why).collect()
    }
}

fn hook(command: &str, rewake: Value) -> Value {
    json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": command, "asyncRewake": rewake}]}])
}

fn delay(attempts: u32) -> Value {
    json!({"trigger": {"delay": "5m"}, "reason": "wait", "payload": {"ticket": "T-1"}, "maxAttempts": attempts})
}

fn contexts(outcome: &Outcome) -> Vec<String> {
    outcome.answer.contexts().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_woken_hook_sees_the_call_again_and_why_and_is_heard_by_the_next_event() {
    let bench = waking(json!({"PreToolUse": hook("block not yet", delay(1))}), |builder| builder);
    let outcome = bench.world.bash("deploy").await;
    assert_eq!((outcome.answer.decision, bench.pending().await), (Decision::Deny, 1));
    assert_eq!(bench.after(299).await, Round::default());
    assert_eq!(bench.after(1).await.fired, 1);
    let stdin = bench.world.stdin(1);
    assert_eq!(stdin["tool_input"], json!({"command": "deploy"}));
    let wake = &stdin["rewake"];
    assert_eq!(
        (&wake["attempt"], &wake["reason"], &wake["payload"]),
        (&json!(1), &json!("wait"), &json!({"ticket": "T-1"}))
    );
    assert_eq!(bench.world.stdin(0).get("rewake"), None);
    let told = contexts(
        &bench
            .world
            .fire("native", json!({"event": "UserPromptSubmit", "session_id": "s", "data": {"prompt": "x"}}))
            .await,
    );
    assert_eq!(told.len(), 1);
    for part in ["Bash {\"command\":\"deploy\"}", "wait", "refuses it: not yet", "no approval"] {
        assert!(told[0].contains(part), "{told:?}");
    }
    let again = bench
        .world
        .fire("native", json!({"event": "UserPromptSubmit", "session_id": "s", "data": {"prompt": "x"}}))
        .await;
    assert_eq!(contexts(&again), [""; 0], "a letter came twice");
}

#[tokio::test]
async fn what_a_woken_hook_decides_is_told_to_the_listener_and_holds_nothing_back() {
    let heard: Arc<Mutex<Vec<(u32, Decision)>>> = Arc::default();
    let listener = heard.clone();
    let bench = waking(json!({"PreToolUse": hook("block no", delay(2))}), |builder| {
        builder.on_rewake(move |envelope, outcome| {
            listener.lock().unwrap().push((envelope.attempt, outcome.answer.decision));
        })
    });
    bench.world.bash("deploy").await;
    for _ in 0..3 {
        bench.after(300).await;
    }
    assert_eq!(*heard.lock().unwrap(), [(1, Decision::Deny), (2, Decision::Deny)]);
    assert_eq!(bench.ends().await, ["wait", "wait", "max-attempts"]);
    let next = bench
        .world
        .fire("native", json!({"event": "UserPromptSubmit", "session_id": "s", "data": {"prompt": "x"}}))
        .await;
    assert_eq!((contexts(&next), next.answer.decision), (vec![], Decision::None));
}

#[tokio::test]
async fn a_hook_that_did_not_run_wishes_nothing_and_one_without_a_store_says_so() {
    let hooks = json!({"PreToolUse": hook("pass", delay(1))});
    let bench = waking(hooks.clone(), |builder| builder);
    let read =
        json!({"event": "PreToolUse", "session_id": "s", "data": {"tool_name": "Read", "tool_input": {}}});
    bench.world.fire("native", read).await;
    assert_eq!(bench.pending().await, 0);
    let without = World::new("native", Layer::Project, hooks).bash("ls").await;
    assert!(
        without.notes.iter().any(|note| note.text.contains("nothing here wakes hooks")),
        "{:?}",
        without.notes
    );
    assert_eq!(without.answer.decision, Decision::None);
}

#[tokio::test]
async fn a_quota_drops_what_is_beyond_and_says_so() {
    let bench = waking(json!({"PreToolUse": hook("pass", delay(1))}), |builder| builder.rewake_quota(1));
    bench.world.bash("a").await;
    let over = bench.world.bash("b").await;
    assert_eq!(bench.pending().await, 1);
    assert!(over.notes.iter().any(|note| note.text.contains("too many")), "{:?}", over.notes);
    assert_eq!(bench.ends().await, ["quota"]);
}

#[tokio::test]
async fn envelopes_of_hooks_that_are_gone_are_cancelled_or_dropped() {
    let bench = waking(json!({"PreToolUse": hook("pass", delay(1))}), |builder| builder);
    bench.world.bash("a").await;
    let other = waking(json!({"PreToolUse": hook("pass 2", delay(1))}), |builder| {
        builder.rewake(bench.store.clone())
    });
    assert_eq!(other.world.engine.cancel_vanished().await.unwrap(), 1);
    assert_eq!(bench.world.engine.cancel_vanished().await.unwrap(), 0);
    bench.world.bash("a").await;
    assert_eq!(other.after(300).await.dropped, 1);
    assert_eq!(bench.ends().await, ["its hook is gone", "hook-gone"]);
}

#[tokio::test]
async fn background_hooks_can_be_woken_as_well() {
    let hooks = json!({"PreToolUse": [{"hooks": [
        {"type": "command", "command": "pass", "async": true, "asyncRewake": delay(1)}]}]});
    let bench = waking(hooks, |builder| builder.background(hook_engine::BackgroundMode::Tasks));
    bench.world.bash("a").await;
    bench.world.engine.background_done().await;
    assert_eq!((bench.pending().await, bench.world.commands().len()), (1, 1));
    assert_eq!(bench.after(300).await.fired, 1);
}

/// A hook that holds its call until somebody resolves `approval`/`k`, and says then what `command` says.
fn holding(command: &str, attempts: u32) -> Value {
    let trigger = json!({"event": {"type": "approval", "key": "k"}});
    json!({"PreToolUse": hook(command, json!({"trigger": trigger, "reason": "wait for it", "hold": true, "maxAttempts": attempts}))})
}

impl Bench {
    /// What is decided of a call of Bash, with the reason.
    async fn call(&self, line: &str) -> (Decision, String) {
        let answer = self.world.bash(line).await.answer;
        (answer.decision, answer.reason.unwrap_or_default())
    }

    async fn resolve(&self) -> u64 {
        let scheduler = self.world.engine.scheduler().unwrap();
        let count = scheduler.resolve("approval", "k", &Default::default()).await.unwrap();
        self.world.engine.wake_due().await.unwrap();
        count
    }
}

#[tokio::test]
async fn a_held_call_is_refused_until_the_woken_hook_lets_it_go_once() {
    let bench = waking(holding("pass", 2), |builder| builder);
    for _ in 0..3 {
        let (decision, reason) = bench.call("deploy").await;
        assert_eq!(decision, Decision::Deny);
        assert!(reason.contains("wait for it"), "{reason}");
    }
    assert_eq!((bench.world.commands().len(), bench.pending().await), (1, 1), "the hook was asked again");
    assert_eq!(bench.call("another").await.0, Decision::Deny);
    assert_eq!(bench.resolve().await, 2);
    assert_eq!(bench.pending().await, 0, "released, and nothing to wait for");
    assert_eq!(bench.call("deploy").await.0, Decision::None);
    assert_eq!(bench.call("another").await.0, Decision::None);
    assert_eq!(bench.world.commands().len(), 4);
    // The verdict was of that one call; the next one is asked about anew.
    assert_eq!((bench.call("deploy").await.0, bench.pending().await), (Decision::Deny, 1));
}

#[tokio::test]
async fn a_refusal_is_final_when_the_hook_is_not_woken_again() {
    let bench = waking(holding("block the manager said no", 2), |builder| builder);
    assert_eq!(bench.call("deploy").await, (Decision::Deny, "the manager said no".into()));
    bench.resolve().await;
    let (decision, reason) = bench.call("deploy").await;
    assert_eq!((decision, reason.contains("wait for it")), (Decision::Deny, true), "{reason}");
    bench.resolve().await;
    let before = bench.world.commands().len();
    assert_eq!(bench.call("deploy").await, (Decision::Deny, "the manager said no".into()));
    assert_eq!(bench.world.commands().len(), before, "a verdict that is there was asked for");
}

#[tokio::test]
async fn a_hook_that_fails_when_it_is_woken_does_not_let_the_call_go() {
    let bench = waking(holding("fail 1", 1), |builder| builder);
    assert_eq!(bench.call("deploy").await.0, Decision::Deny);
    bench.resolve().await;
    assert_eq!(bench.call("deploy").await.0, Decision::Deny);
}

#[tokio::test]
async fn a_call_whose_hook_waits_no_more_is_asked_about_anew() {
    let bench = waking(holding("pass", 1), |builder| builder);
    bench.call("deploy").await;
    let id = bench.store.list(&Filter::default()).await.unwrap()[0].id.clone();
    assert!(bench.store.cancel(&id, 0, "by its id").await.unwrap());
    assert_eq!(bench.call("deploy").await.0, Decision::Deny);
    assert_eq!((bench.world.commands().len(), bench.pending().await), (2, 1));
    // Nobody decides, and the time is over.
    bench.after(3601).await;
    assert_eq!(bench.ends().await, ["by its id", "expired"]);
    assert_eq!((bench.call("deploy").await.0, bench.world.commands().len()), (Decision::Deny, 3));
}

#[tokio::test]
async fn a_letter_in_a_reply_that_never_reached_the_agent_was_lost() {
    let bench =
        waking(json!({"PreToolUse": hook("block not yet", delay(1))}), EngineBuilder::confirms_replies);
    bench.world.bash("deploy").await;
    bench.after(300).await;
    let prompt = json!({"event": "UserPromptSubmit", "session_id": "s", "data": {"prompt": "x"}});
    let incoming = bench.world.read("native", prompt.clone());
    let told = contexts(&bench.world.engine.dispatch(&incoming).await);
    assert_eq!(told.len(), 1);
    // Another process replies meanwhile: the first one may still be writing.
    assert_eq!(contexts(&bench.world.fire("native", prompt.clone()).await), [""; 0]);
    bench.clock.advance(Duration::from_secs(61));
    assert!(bench.world.engine.concerns(&incoming));
    let again = bench.world.engine.dispatch(&incoming).await;
    assert_eq!(contexts(&again), told, "the reply was not confirmed");
    assert!(bench.world.engine.confirm(&incoming, &again).is_empty());
    bench.clock.advance(Duration::from_secs(61));
    assert_eq!(contexts(&bench.world.fire("native", prompt).await), [""; 0], "told twice");
}

/// A policy server that keeps what templates may name.
#[derive(Default)]
struct Templates(Mutex<Vec<Value>>);

#[async_trait]
impl Executor for Templates {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Http
    }

    async fn run(&self, _: &HookCx<'_>, call: Call) -> HandlerOutput {
        self.0.lock().unwrap().push(Value::Object(call.template.context));
        HandlerOutput::Http { status: 200, body: Stream::new("{}"), notes: Vec::new() }
    }
}

#[tokio::test]
async fn templates_of_a_woken_hook_may_name_what_it_is_told() {
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:9", "asyncRewake": delay(1)}]}]});
    let templates = Arc::new(Templates::default());
    let bench = waking(hooks, |builder| builder.executor(templates.clone()));
    bench.world.bash("a").await;
    bench.after(300).await;
    let seen = templates.0.lock().unwrap();
    let named = |index: usize, name: &str| seen[index].get(name).cloned().unwrap_or_default();
    assert_eq!(named(0, "rewake_reason"), Value::Null);
    for (name, value) in [("rewake_reason", "wait"), ("rewake_ticket", "T-1"), ("rewake_attempt", "1")] {
        assert_eq!(named(1, name), json!(value), "{name}");
    }
}

/// Hook files cannot say so, but a host can: an answer that comes later is no approval.
#[tokio::test]
async fn a_question_of_permission_is_never_asked_again() {
    let mut document = document("native", Layer::Project, json!({"PreToolUse": hook("pass", delay(1))}));
    for binding in &mut document.bindings {
        binding.event = EventKind::PermissionRequest;
        for hook in &mut binding.hooks {
            *hook = Arc::new(Hook { event: EventKind::PermissionRequest, ..(**hook).clone() });
        }
    }
    let bench = waking(json!({}), |builder| builder.documents([document]));
    let payload = json!({"event": "PermissionRequest", "session_id": "s", "data": {"tool_name": "Bash", "tool_input": {}}});
    let outcome = bench.world.fire("native", payload).await;
    assert_eq!((bench.world.commands().len(), bench.pending().await), (1, 0));
    assert!(outcome.notes.iter().any(|note| note.text.contains("not asked again")), "{:?}", outcome.notes);
}

#[tokio::test]
async fn secrets_are_not_kept_and_a_host_has_its_own_rule() {
    let hooks = || json!({"PreToolUse": hook("pass", delay(1))});
    let bench = waking(hooks(), |builder| builder);
    let line = "deploy --token s3cret-value prod";
    bench.world.bash(line).await;
    let text = bench.stored().await;
    assert!(!text.contains("s3cret") && text.contains("--token [redacted] prod"), "{text}");
    bench.after(300).await;
    assert_eq!(bench.world.stdin(1)["tool_input"], json!({"command": "deploy --token [redacted] prod"}));
    assert_eq!(bench.world.stdin(0)["tool_input"], json!({"command": line}));

    let bench = waking(hooks(), |builder| builder.rewake_redact(|_| false));
    bench.world.bash(line).await;
    assert!(bench.stored().await.contains("s3cret-value"));
}

/// Trusts every hook until it is told otherwise.
#[derive(Default)]
struct Fickle(std::sync::atomic::AtomicBool);

impl Gate for Fickle {
    fn admit(&self, _: &Hook) -> Result<(), String> {
        match self.0.load(std::sync::atomic::Ordering::Relaxed) {
            false => Ok(()),
            true => Err("it was changed since it was approved".to_owned()),
        }
    }
}

#[tokio::test]
async fn a_hook_that_is_not_trusted_any_more_is_not_woken() {
    let gate = Arc::new(Fickle::default());
    let hooks = json!({"PreToolUse": hook("pass", delay(1))});
    let bench = waking(hooks, |builder| builder.gate(gate.clone()));
    bench.world.bash("deploy").await;
    gate.0.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(bench.after(300).await, Round { fired: 0, dropped: 1, fenced: 0 });
    assert_eq!(bench.world.commands().len(), 1);
    assert_eq!(bench.ends().await, ["it was changed since it was approved"]);
}

#[tokio::test]
async fn a_hook_of_the_same_id_that_another_engine_has_read_waits_on() {
    let bench = waking(json!({"PreToolUse": hook("pass", delay(1))}), |builder| builder.rewake_note("one"));
    bench.world.bash("a").await;
    let other = waking(json!({}), |builder| builder.rewake(bench.store.clone()).rewake_note("two"));
    assert_eq!(other.world.engine.cancel_vanished().await.unwrap(), 0);
    let same = waking(json!({}), |builder| builder.rewake(bench.store.clone()).rewake_note("one"));
    assert_eq!(same.world.engine.cancel_vanished().await.unwrap(), 1);
    assert_eq!(bench.ends().await, ["its hook is gone"]);
}
