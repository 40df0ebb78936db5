//! Session stores: one suite for both, then what only files have.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the files themselves and fail by panic"
)]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use hook_core::{ManualClock, SessionStore, SystemClock};
use hook_state::{FileSessions, MemorySessions};

fn files(folder: &Path) -> FileSessions {
    FileSessions::new(folder.join("state"), Arc::new(SystemClock))
}

fn count(store: &dyn SessionStore, session: &str) -> u64 {
    store.load(session).unwrap().variables.get("N").map_or(0, |n| n.parse().unwrap())
}

fn increment(store: &dyn SessionStore, session: &str) {
    let bump = |n: Option<&String>| n.map_or(0, |n| n.parse::<u64>().unwrap()) + 1;
    store
        .update(session, &mut |state| {
            let next = bump(state.variables.get("N"));
            state.variables.insert("N".into(), next.to_string());
        })
        .unwrap();
}

fn suite(store: &dyn SessionStore) {
    assert_eq!(count(store, "a"), 0, "an unknown session is empty");
    increment(store, "a");
    increment(store, "a");
    increment(store, "../b");
    assert_eq!((count(store, "a"), count(store, "../b")), (2, 1), "sessions do not mix");

    let env = store.env_file("a").unwrap();
    assert_eq!(std::fs::metadata(&env).unwrap().len(), 0, "the env file begins empty");
    assert_eq!(std::fs::metadata(&env).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(&env, "X=1\n").unwrap();
    assert_eq!(store.env_file("a").unwrap(), env, "and stays the same file");
    assert_eq!(std::fs::read_to_string(&env).unwrap(), "X=1\n");
    assert_ne!(store.env_file("../b").unwrap(), env);

    store.end("a").unwrap();
    store.end("a").unwrap();
    assert_eq!(count(store, "a"), 0, "an ended session is forgotten");
    assert!(!env.exists());
    assert_eq!(count(store, "../b"), 1);
}

#[test]
fn memory_keeps_sessions() {
    suite(&MemorySessions::new());
}

#[test]
fn files_keep_sessions() {
    let folder = tempfile::tempdir().unwrap();
    suite(&files(folder.path()));
}

#[test]
fn the_directory_is_private_and_files_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = files(folder.path());
    increment(&store, "s");
    store.env_file("s").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("state")), 0o700);
    for entry in std::fs::read_dir(folder.path().join("state")).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[test]
fn a_directory_that_others_can_write_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    std::fs::create_dir(&state).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = files(folder.path()).update("s", &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("can be written by others"), "{error}");
}

#[test]
fn a_planted_link_is_not_taken_for_the_env_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = files(folder.path());
    let env = store.env_file("s").unwrap();
    std::fs::remove_file(&env).unwrap();
    symlink(folder.path().join("elsewhere"), &env).unwrap();
    assert!(store.env_file("s").is_err());
}

#[test]
fn a_broken_state_is_moved_aside_and_the_session_starts_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = files(folder.path());
    increment(&store, "s");
    let state = folder.path().join("state");
    let json = |extension: &str| {
        let mut names = std::fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path());
        names.find(|path| path.extension().is_some_and(|e| e == extension))
    };
    std::fs::write(json("json").unwrap(), "{ broken").unwrap();
    assert_eq!(count(&store, "s"), 0);
    assert!(json("bad").is_some(), "the broken text is kept");
    increment(&store, "s");
    assert_eq!(count(&store, "s"), 1);
}

#[test]
fn sweep_takes_old_sessions_and_leaves_used_ones() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(SystemTime::now()));
    let store = FileSessions::new(folder.path().join("state"), clock.clone());
    assert_eq!(store.sweep(Duration::from_secs(60)).unwrap(), 0, "no directory, nothing to sweep");
    increment(&store, "a");
    store.env_file("b").unwrap();
    assert_eq!(store.sweep(Duration::from_secs(60)).unwrap(), 0);
    clock.advance(Duration::from_secs(61));
    // A process that another test starts holds the locks of this one between its fork and its exec; what is in use is left for the
    // next sweep.
    let until = Instant::now() + Duration::from_secs(10);
    let mut swept = 0;
    while swept < 2 && Instant::now() < until {
        swept += store.sweep(Duration::from_secs(60)).unwrap();
    }
    assert_eq!(swept, 2);
    assert_eq!(std::fs::read_dir(folder.path().join("state")).unwrap().count(), 0);
}

const CHILD: &str = "HOOK_STATE_TEST_FOLDER";

/// The body of a child process of the next test; alone it does nothing.
#[test]
fn child_process_increments() {
    let Ok(folder) = std::env::var(CHILD) else { return };
    let store = files(Path::new(&folder));
    for _ in 0..200 {
        increment(&store, "race");
    }
}

#[test]
fn processes_that_update_at_the_same_time_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..4)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "child_process_increments"])
                .env(CHILD, folder.path())
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(count(&files(folder.path()), "race"), 800);
}

#[test]
fn sweeping_beside_writers_never_splits_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let writer = files(folder.path());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..200 {
                files(folder.path()).sweep(Duration::from_secs(3600)).unwrap();
            }
        });
        for _ in 0..200 {
            increment(&writer, "s");
        }
    });
    assert_eq!(count(&writer, "s"), 200);
}
