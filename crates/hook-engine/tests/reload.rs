//! Other hook files under an engine that runs: with real files, and while events run.
#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hook_engine::config::{LoadRequest, Loaded, StdFiles, load};
use hook_engine::core::{
    Answer, Decision, EventHint, EventKind, Files, HostContext, Layer, MemoryFiles, Outcome, Payload,
};
use hook_engine::mapper::Dialects;
use hook_engine::registry::watch::Timing;
use hook_engine::{Engine, Reload, Watching};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A guard that refuses with this reason.
fn guard(reason: &str) -> String {
    json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "deny", "reason": reason}]}]}})
        .to_string()
}

async fn bash(engine: &Engine) -> Outcome {
    let payload = json!({"event": "PreToolUse", "session_id": "s", "data": {"tool_name": "Bash", "tool_input": {"command": "ls"}}});
    let native = engine.dialects().find("native").unwrap();
    engine.dispatch(&native.read(Payload::from_value(payload), &EventHint::default()).unwrap()).await
}

fn load_in(host: &HostContext, files: &dyn Files) -> Loaded {
    load(&LoadRequest::new(host, files, &Dialects::standard()))
}

/// A project in a folder, watched.
struct Place {
    folder: tempfile::TempDir,
    engine: Engine,
    reloads: UnboundedReceiver<Reload>,
    _watching: Watching,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        Place::with(files, |_| {})
    }

    fn with(files: &[(&str, &str)], listener: impl Fn(&Reload) + Send + Sync + 'static) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (path, text) in files {
            write(&root.join(path), text);
        }
        let host = HostContext::new(&root);
        let engine = Engine::builder(host.clone()).build();
        let (tell, reloads) = unbounded_channel();
        let watching = engine.watch(
            Arc::new(StdFiles),
            Timing::default(),
            move |files| load_in(&host, files),
            move |reload| {
                tell.send(reload.clone()).unwrap();
                listener(reload);
            },
        );
        Place { folder, engine, reloads, _watching: watching }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn reloaded(&mut self) -> Reload {
        tokio::time::timeout(Duration::from_secs(10), self.reloads.recv()).await.expect("no reload").unwrap()
    }

    async fn reason(&self) -> Option<String> {
        bash(&self.engine).await.answer.reason
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

const FILE: &str = ".hooks/hooks.json";

#[tokio::test]
async fn saved_hooks_are_in_force_whatever_way_they_were_saved() {
    let mut place = Place::new(&[(FILE, &guard("one"))]);
    assert_eq!(place.reason().await.as_deref(), Some("one"));
    write(&place.path(FILE), &guard("two"));
    let reload = place.reloaded().await;
    assert_eq!((reload.number, reload.failure.as_deref(), reload.vanished.len()), (1, None, 1));
    assert_eq!(reload.source.as_deref(), Some(&*place.path(FILE).canonicalize().unwrap()));
    assert_eq!(place.reason().await.as_deref(), Some("two"));
    // As editors do it: beside the file, then over it. Twice, since a watch on the file itself would see the first one only.
    for reason in ["three", "four"] {
        write(&place.path(".hooks/new"), &guard(reason));
        fs::rename(place.path(".hooks/new"), place.path(FILE)).unwrap();
        place.reloaded().await;
        assert_eq!(place.reason().await.as_deref(), Some(reason));
    }
    fs::remove_file(place.path(FILE)).unwrap();
    assert_eq!(place.reloaded().await.failure, None);
    assert_eq!(bash(&place.engine).await.answer.decision, Decision::None);
}

#[tokio::test]
async fn files_and_folders_that_were_not_there_are_seen_when_they_come() {
    let mut place = Place::new(&[]);
    assert_eq!(place.reason().await, None);
    write(&place.path(FILE), &guard("new"));
    place.reloaded().await;
    assert_eq!(place.reason().await.as_deref(), Some("new"));
    fs::remove_dir_all(place.path(".hooks")).unwrap();
    place.reloaded().await;
    write(&place.path(FILE), &guard("again"));
    place.reloaded().await;
    assert_eq!(place.reason().await.as_deref(), Some("again"));
}

#[tokio::test]
async fn a_file_behind_a_link_is_watched_at_both_ends() {
    let mut place =
        Place::new(&[("real/a.json", &guard("a")), ("real/b.json", &guard("b")), (".hooks/x", "")]);
    symlink(place.path("real/a.json"), place.path(FILE)).unwrap();
    place.reloaded().await;
    assert_eq!(place.reason().await.as_deref(), Some("a"));
    write(&place.path("real/a.json"), &guard("changed"));
    place.reloaded().await;
    assert_eq!(place.reason().await.as_deref(), Some("changed"));
    symlink(place.path("real/b.json"), place.path(".hooks/link")).unwrap();
    fs::rename(place.path(".hooks/link"), place.path(FILE)).unwrap();
    while place.reloaded().await.failure.is_some() {}
    assert_eq!(place.reason().await.as_deref(), Some("b"));
}

#[tokio::test]
async fn a_half_written_file_leaves_the_old_hooks_in_force_and_says_where() {
    let mut place = Place::new(&[(FILE, &guard("old"))]);
    write(&place.path(FILE), &guard("new")[..40]);
    let reload = place.reloaded().await;
    let failure = reload.failure.unwrap();
    assert!(failure.contains("hooks.json:1:"), "{failure}");
    assert_eq!((reload.number, reload.vanished.len(), place.reason().await.as_deref()), (1, 0, Some("old")));
    write(&place.path(FILE), &guard("new"));
    let reload = place.reloaded().await;
    assert_eq!((reload.number, reload.failure, place.reason().await.as_deref()), (2, None, Some("new")));
}

#[tokio::test]
async fn a_bad_entry_costs_itself_and_not_the_reload() {
    let mut place = Place::new(&[(FILE, &guard("old"))]);
    let two = json!({"hooks": {"PreToolUse": [
        {"hooks": [{"type": "command"}]}, {"matcher": "Bash", "hooks": [{"type": "deny", "reason": "new"}]}]}});
    write(&place.path(FILE), &two.to_string());
    let reload = place.reloaded().await;
    assert_eq!((reload.failure, place.reason().await.as_deref()), (None, Some("new")));
    assert!(!reload.diagnostics.is_empty());
}

#[tokio::test]
async fn a_listener_that_panics_hears_of_the_next_reload() {
    let mut place = Place::with(&[(FILE, &guard("one"))], |_| panic!("a listener"));
    for reason in ["two", "three"] {
        write(&place.path(FILE), &guard(reason));
        place.reloaded().await;
        assert_eq!(place.reason().await.as_deref(), Some(reason));
    }
}

#[tokio::test]
async fn nothing_changes_after_the_watch_was_stopped() {
    let mut place = Place::new(&[(FILE, &guard("one"))]);
    place._watching.stop();
    place._watching.stop();
    write(&place.path(FILE), &guard("two"));
    // The task is gone, and its end of the channel with it.
    let end = tokio::time::timeout(Duration::from_secs(10), place.reloads.recv()).await.unwrap();
    assert!(end.is_none());
    assert_eq!(place.reason().await.as_deref(), Some("one"));
}

/// What was loaded from a tree in memory with this guard.
fn loaded(reason: &str) -> Loaded {
    let files = MemoryFiles::new().with("/p/.hooks/hooks.json", guard(reason));
    load_in(&HostContext::new("/p"), &files)
}

#[tokio::test]
async fn hooks_in_code_stay_and_hear_of_every_reload() {
    let engine = Engine::builder(HostContext::new("/p"))
        .documents(loaded("old").documents)
        .reload_check(|hooks| match hooks.iter().all(|hook| hook.origin.layer == Layer::Code) {
            true => Err("nothing guards any more".to_owned()),
            false => Ok(()),
        })
        .build();
    let heard: Arc<Mutex<Vec<(bool, u64)>>> = Arc::default();
    let told = heard.clone();
    let _registration = engine.register(EventKind::ConfigReload, None, "listener", move |event| {
        let successful = event.fields["successful"].as_bool().unwrap();
        told.lock().unwrap().push((successful, event.fields["reload_counter"].as_u64().unwrap()));
        Answer::default()
    });
    assert_eq!(engine.reload(&loaded("new"), None).await.failure, None);
    let broken = MemoryFiles::new().with("/p/.hooks/hooks.json", "[");
    let failed = engine.reload(&load_in(&HostContext::new("/p"), &broken), None).await;
    assert!(failed.failure.is_some());
    assert_eq!(bash(&engine).await.answer.reason.as_deref(), Some("new"));
    let refused = engine.reload(&Loaded::default(), None).await;
    assert_eq!(refused.failure.as_deref(), Some("nothing guards any more"));
    assert_eq!(bash(&engine).await.answer.reason.as_deref(), Some("new"));
    assert_eq!(*heard.lock().unwrap(), [(true, 1), (false, 2), (false, 3)]);
}

/// Every event sees one whole set of hooks: both guards of it, never one of each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_beside_reloads_see_one_generation_and_wait_for_none() {
    let pair = |name: &str| {
        let hooks = ["a", "b"].map(|half| json!({"type": "command", "command": format!("{name} {half}")}));
        let file = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}).to_string();
        let files = MemoryFiles::new().with("/p/.hooks/hooks.json", file);
        load_in(&HostContext::new("/p"), &files)
    };
    let engine = Engine::builder(HostContext::new("/p")).documents(pair("0").documents).build();
    let done = Arc::new(AtomicBool::new(false));
    let (events, end) = (engine.clone(), done.clone());
    let firing = tokio::spawn(async move {
        let (mut fired, mut generations) = (0, std::collections::BTreeSet::new());
        while !end.load(Ordering::Relaxed) || fired < 200 {
            let outcome = bash(&events).await;
            let names: Vec<String> = outcome.runs.iter().map(|run| run.hook.handler.summary()).collect();
            let [a, b] = &names[..] else { panic!("{names:?}") };
            assert_eq!(a.trim_end_matches('a'), b.trim_end_matches('b'), "two generations in one event");
            assert!(outcome.runs.iter().all(|run| run.generation == outcome.runs[0].generation));
            generations.insert(outcome.runs[0].generation);
            fired += 1;
            tokio::task::yield_now().await;
        }
        generations.len()
    });
    let until = Instant::now() + Duration::from_millis(500);
    let mut number = 0;
    while Instant::now() < until {
        number += 1;
        assert_eq!(engine.reload(&pair(&number.to_string()), None).await.failure, None);
    }
    done.store(true, Ordering::Relaxed);
    assert!(firing.await.unwrap() > 1, "no event met a reload");
}
