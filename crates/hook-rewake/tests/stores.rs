//! Every store passes the suite; and what is true of files alone.
#![expect(clippy::disallowed_methods, reason = "a test looks at its own files")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hook_rewake::store::{Filter, MemoryStore, RewakeStore, SqliteStore, StoreError};
use hook_rewake::suite::{self, envelope};

#[tokio::test]
async fn the_store_in_memory() {
    suite::all(MemoryStore::new).await;
}

#[tokio::test]
async fn the_store_in_a_database() {
    let place = tempfile::tempdir().unwrap();
    let mut number = 0;
    suite::all(|| {
        number += 1;
        SqliteStore::new(place.path().join(format!("{number}.db")))
    })
    .await;
}

#[tokio::test]
async fn two_connections_see_one_another_and_claim_once() {
    let place = tempfile::tempdir().unwrap();
    let store = || SqliteStore::new(place.path().join("rewakes.db"));
    let (one, two) = (store(), store());
    one.put((0..40).map(|n| envelope(&format!("e{n}"), Some(1))).collect(), None).await.unwrap();
    let (a, b) = tokio::join!(one.claim(5, 100, 30), two.claim(5, 100, 30));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!(a.len() + b.len(), 40);
    let both = a.iter().filter(|claim| b.iter().any(|other| other.envelope.id == claim.envelope.id));
    assert_eq!(both.count(), 0);
    drop((one, two));
    let again = store().list(&Filter::default()).await.unwrap();
    assert_eq!(again.len(), 40, "what was stored did not outlive its connections");
}

#[tokio::test]
async fn nobody_else_reads_the_database() {
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(place.path().join("rewakes.db"));
    store.put(vec![envelope("a", Some(1))], None).await.unwrap();
    for file in fs::read_dir(place.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", file.path());
    }
    let open = place.path().join("open.db");
    fs::write(&open, "").unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    let error = SqliteStore::new(&open).next().await.unwrap_err().to_string();
    assert!(error.contains("open.db") && error.contains("600"), "{error}");
}

#[tokio::test]
async fn a_database_that_cannot_be_used_is_told_apart() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("rewakes.db");
    let write = |text: &str| {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    };
    write(&"no database at all ".repeat(99));
    let error = SqliteStore::new(&path).next().await.unwrap_err();
    assert!(matches!(error, StoreError::Broken { .. }), "{error}");
    fs::remove_file(&path).unwrap();
    SqliteStore::new(&path).next().await.unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update(None, "user_version", 7).unwrap();
    let error = SqliteStore::new(&path).next().await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 7, known: 1, .. }), "{error}");
    other.pragma_update(None, "user_version", 1).unwrap();
    other
        .execute_batch(
            "INSERT INTO envelope (id, context, hook, at, expires, body) VALUES ('x', 'c', 'h', 1, 2, '{')",
        )
        .unwrap();
    let error = SqliteStore::new(&path).claim(5, 100, 9).await.unwrap_err().to_string();
    assert!(error.contains("cannot be read") && error.contains("rewakes.db"), "{error}");
    let missing = path.join("rewakes.db");
    let error = SqliteStore::new(missing).next().await.unwrap_err().to_string();
    assert!(error.contains("rewakes.db/rewakes.db"), "{error}");
}

#[tokio::test]
async fn a_store_is_made_by_its_first_use_and_not_by_a_look() {
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(place.path().join("state/rewakes.db"));
    assert_eq!(store.glance().unwrap(), None);
    assert!(!place.path().join("state").exists());
    store.put(vec![envelope("a", Some(7))], None).await.unwrap();
    assert_eq!(store.glance().unwrap(), Some(7));
    assert_eq!(fs::metadata(place.path().join("state")).unwrap().permissions().mode() & 0o777, 0o700);
}

/// Somebody waits for the process that looks, and another one writes for as long as it likes.
#[tokio::test]
async fn a_look_waited_for_a_writer() {
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(place.path().join("rewakes.db"));
    store.put(vec![envelope("a", Some(7))], None).await.unwrap();
    let mut other = rusqlite::Connection::open(store.path()).unwrap();
    let writing = other.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive).unwrap();
    assert_eq!(store.glance().unwrap(), Some(7), "a writer holds no reader up");
    drop(writing);
}

#[test]
fn of_two_that_made_the_database_at_once_one_was_told_that_it_is_locked() {
    for _ in 0..60 {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("rewakes.db");
        let start = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for number in 0..2 {
                let (path, start) = (&path, &start);
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    start.wait();
                    let one = envelope(&format!("e{number}"), Some(1));
                    runtime.block_on(SqliteStore::new(path).put(vec![one], None)).unwrap();
                });
            }
        });
    }
}
