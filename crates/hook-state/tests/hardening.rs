//! Session files under attack, neglect and the unexpected.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the files themselves and fail by panic"
)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hook_core::{ManualClock, SessionStore, SystemClock};
use hook_state::{FileSessions, MAX_AGE, MemorySessions, env_file};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct World {
    folder: tempfile::TempDir,
    clock: Arc<ManualClock>,
    store: FileSessions,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(SystemTime::now()));
    let store = FileSessions::new(folder.path().join("state"), clock.clone());
    World { folder, clock, store }
}

impl World {
    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.state()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn set(&self, session: &str) {
        let mut change = |state: &mut hook_core::SessionState| state.stop_active = true;
        self.store.update(session, &mut change).unwrap();
    }
}

#[test]
fn sweep_takes_nothing_that_is_not_a_sessions() {
    let world = world();
    world.set("s");
    let strange = ["Cargo.lock", "Cargo.json", "Cargo.env", "x-0123.lock", ".tmpABC", "notes.txt"];
    for name in strange {
        std::fs::write(world.state().join(name), "mine").unwrap();
    }
    world.clock.advance(MAX_AGE + DAY);
    assert_eq!(world.store.sweep(MAX_AGE).unwrap(), 1);
    let mut left = world.names();
    left.sort();
    let mut expected = strange.map(String::from);
    expected.sort();
    assert_eq!(left, expected);
}

#[test]
fn a_session_that_is_only_read_is_in_use() {
    for touch in [
        (|store: &FileSessions| drop(store.load("s").unwrap())) as fn(&FileSessions),
        |store| drop(store.env_file("s").unwrap()),
        |store| drop(store.update("s", &mut |_| {}).unwrap()),
    ] {
        let world = world();
        world.set("s");
        world.clock.advance(MAX_AGE - DAY);
        touch(&world.store);
        world.clock.advance(2 * DAY);
        assert_eq!(world.store.sweep(MAX_AGE).unwrap(), 0);
        assert!(world.store.load("s").unwrap().stop_active);
    }
}

#[test]
fn parts_without_their_lock_are_swept_and_ended() {
    let remove_lock = |world: &World| {
        let lock = world.names().into_iter().find(|name| name.ends_with(".lock")).unwrap();
        std::fs::remove_file(world.state().join(lock)).unwrap();
    };
    let first = world();
    first.set("s");
    remove_lock(&first);
    first.clock.advance(MAX_AGE + DAY);
    assert_eq!(first.store.sweep(MAX_AGE).unwrap(), 1);
    assert!(first.names().is_empty());

    let second = world();
    second.set("s");
    remove_lock(&second);
    second.store.end("s").unwrap();
    assert!(second.names().is_empty(), "{:?}", second.names());
}

#[test]
fn what_a_killed_writer_left_is_swept() {
    let world = world();
    world.set("s");
    let left = world.state().join(".state-Ab12Cd.tmp");
    std::fs::write(&left, "{").unwrap();
    world.store.sweep(Duration::ZERO).unwrap();
    assert!(left.exists(), "a young one may belong to a writer at work");
    world.clock.advance(MAX_AGE + DAY);
    world.store.sweep(MAX_AGE).unwrap();
    assert!(!left.exists());
}

#[test]
fn ages_are_reckoned_by_the_hosts_clock_alone() {
    // A clock far from the machine's, as in a replay: nothing here may depend on how long the test takes.
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH + 1000 * DAY));
    let store = FileSessions::new(folder.path().join("state"), clock.clone());
    store.update("a", &mut |state| state.stop_active = true).unwrap();
    store.env_file("b").unwrap();
    clock.advance(DAY - Duration::from_nanos(1));
    assert_eq!(store.sweep(DAY).unwrap(), 0);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(store.sweep(DAY).unwrap(), 2);
}

#[test]
fn a_session_in_use_survives_a_sweep_of_any_age() {
    let world = world();
    world.set("s");
    let mut sweep_inside = |_: &mut hook_core::SessionState| {
        world.clock.advance(MAX_AGE + DAY);
        assert_eq!(world.store.sweep(Duration::ZERO).unwrap(), 0);
    };
    world.store.update("s", &mut sweep_inside).unwrap();
    assert!(world.store.load("s").unwrap().stop_active);
}

#[test]
fn nothing_is_done_in_a_directory_that_others_can_write() {
    let world = world();
    world.set("s");
    world.store.env_file("s").unwrap();
    std::fs::set_permissions(world.state(), std::fs::Permissions::from_mode(0o770)).unwrap();
    let errors = [
        world.store.load("s").map(drop),
        world.store.update("s", &mut |_| {}).map(drop),
        world.store.env_file("s").map(drop),
        world.store.end("s"),
        world.store.sweep(Duration::ZERO).map(drop),
    ];
    for (number, result) in errors.into_iter().enumerate() {
        let error = result.expect_err(&format!("call {number} was refused"));
        assert!(error.to_string().contains("can be written by others"), "{error}");
    }
}

#[test]
fn a_file_in_place_of_the_directory_is_said() {
    let world = world();
    std::fs::write(world.state(), "").unwrap();
    let error = world.store.update("s", &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("no directory"), "{error}");
}

#[test]
fn ids_from_outside_make_no_paths() {
    let world = world();
    let long = "x".repeat(1024 * 1024);
    let ids = ["", "/etc/passwd", "../../x", "a\0b", "..", long.as_str(), "ünïcödé"];
    for id in ids {
        world.set(id);
        assert_eq!(world.store.env_file(id).unwrap().parent(), Some(world.state().as_path()));
    }
    assert_eq!(world.names().len(), 3 * ids.len());
    assert_eq!(std::fs::read_dir(world.folder.path()).unwrap().count(), 1, "nothing beside the directory");
    for id in ids {
        world.store.end(id).unwrap();
    }
    assert!(world.names().is_empty());
}

#[test]
fn an_older_file_still_reads() {
    let world = world();
    world.set("s");
    let json = world.names().into_iter().find(|name| name.ends_with(".json")).unwrap();
    std::fs::write(world.state().join(json), r#"{"spent": ["a"], "unknown": 1}"#).unwrap();
    assert!(world.store.load("s").unwrap().spent.contains("a"));
}

#[test]
fn threads_with_stores_of_their_own_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // The directory is not there yet: making it is part of the race.
    let directory = folder.path().join("made/at/first/use");
    let store = || FileSessions::new(directory.clone(), Arc::new(SystemClock));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for n in 0..200 {
                    let key = format!("{thread}-{n}");
                    store()
                        .update("s", &mut |state| {
                            state.spent.insert(key.clone());
                        })
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(store().load("s").unwrap().spent.len(), 800);
}

#[test]
fn ending_beside_writers_never_splits_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileSessions::new(folder.path().join("state"), Arc::new(SystemClock));
    // Holds only while every holder of a lock is alone.
    let inside = std::sync::Mutex::new(());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for n in 0..200 {
                    let mut change = |state: &mut hook_core::SessionState| {
                        let _alone = inside.try_lock().expect("two hold the lock of one session");
                        state.spent.insert(n.to_string());
                    };
                    store.update("s", &mut change).unwrap();
                    if n % 10 == 0 {
                        store.end("s").unwrap();
                    }
                }
            });
        }
    });
}

#[test]
fn memory_makes_a_lost_env_file_anew() {
    let store = MemorySessions::new();
    let env = store.env_file("s").unwrap();
    std::fs::remove_file(&env).unwrap();
    assert!(store.env_file("s").unwrap().is_file());
}

fn read(path: &Path) -> std::io::Result<env_file::EnvFile> {
    env_file::read(path, &|_| None, &[])
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.env");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let link = folder.path().join("link.env");
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    for path in [pipe.as_path(), link.as_path(), folder.path()] {
        let error = read(path).unwrap_err();
        assert!(error.to_string().contains("no regular file"), "{}: {error}", path.display());
    }
}

#[test]
fn a_huge_file_ends_at_a_whole_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.env");
    let mut text = String::from("A=1\n");
    while text.len() < 1024 * 1024 - 100 {
        text.push_str("#############################################################\n");
    }
    text.push_str("PATH=");
    text.push_str(&"/dir:".repeat(100));
    std::fs::write(&path, &text).unwrap();
    let file = read(&path).unwrap();
    assert_eq!(file.vars, [("A".to_owned(), "1".to_owned())]);
    let [line] = file.skipped.as_slice() else { panic!("{:?}", file.skipped) };
    assert_eq!(line.line, text.lines().count());
    assert!(line.why.contains("1 MiB"), "{line}");
}
