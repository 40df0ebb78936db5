//! The store in a PostgreSQL database, against a real one: `HOOK_TEST_POSTGRES_URL` says where. Without it these tests say that they
//! are skipped.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::unwrap_used,
    reason = "a test reads where its database is, says so where there is none, and fails by panic"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use hook_core::SystemClock;
use hook_rewake::envelope::{End, EndRecord};
use hook_rewake::scheduler::{Round, Scheduler, Waker, Woken};
use hook_rewake::store::{Claim, Filter, PostgresStore, Put, RewakeStore, StoreError};
use hook_rewake::suite::{self, envelope};
use tokio_postgres::NoTls;

/// The database, with schemas that are dropped at the end.
struct Database {
    url: String,
    name: String,
    count: AtomicU64,
}

impl Database {
    fn find(test: &str) -> Option<Database> {
        let Ok(url) = std::env::var("HOOK_TEST_POSTGRES_URL") else {
            eprintln!("{test}: skipped, HOOK_TEST_POSTGRES_URL names no database");
            return None;
        };
        let name = format!("hook_test_{}_{test}", std::process::id());
        Some(Database { url, name, count: AtomicU64::new(0) })
    }

    /// A store of its own.
    fn fresh(&self) -> PostgresStore {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.same()
    }

    /// Another handle on the last one.
    fn same(&self) -> PostgresStore {
        PostgresStore::new(&self.url).unwrap().schema(self.schema())
    }

    fn schema(&self) -> String {
        format!("{}_{}", self.name, self.count.load(Ordering::Relaxed))
    }

    async fn run(&self, statement: &str) {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.unwrap();
        let running = tokio::spawn(connection);
        client.batch_execute(statement).await.unwrap();
        drop(client);
        running.await.unwrap().unwrap();
    }

    async fn drop_all(&self) {
        for number in 0..=self.count.load(Ordering::Relaxed) {
            self.run(&format!("DROP SCHEMA IF EXISTS {}_{number} CASCADE", self.name)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_passes_the_suite() {
    let Some(database) = Database::find("suite") else { return };
    suite::all(|| database.fresh()).await;
    database.drop_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_make_the_tables_at_once_and_claim_each_envelope_once() {
    let Some(database) = Database::find("several") else { return };
    let stores: Vec<_> = (0..6).map(|_| Arc::new(database.same())).collect();
    let all = (0..60).map(|n| envelope(&format!("e{n:02}"), Some(1)));
    let all: Vec<Vec<_>> = all.collect::<Vec<_>>().chunks(10).map(<[_]>::to_vec).collect();
    let putting = stores.iter().zip(all).map(|(store, some)| {
        let store = store.clone();
        tokio::spawn(async move { store.put(some, None).await.unwrap() })
    });
    for put in putting.collect::<Vec<_>>() {
        assert_eq!(put.await.unwrap(), [Put::Stored; 10]);
    }
    let claiming = stores.iter().map(|store| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut ids = Vec::new();
            loop {
                let claims = store.claim(5, 100_000, 7).await.unwrap();
                if claims.is_empty() {
                    return ids;
                }
                ids.extend(claims.into_iter().map(|claim| (claim.envelope.id, claim.token)));
            }
        })
    });
    let mut ids = Vec::new();
    for claims in claiming.collect::<Vec<_>>() {
        ids.extend(claims.await.unwrap());
    }
    let tokens: BTreeSet<u64> = ids.iter().map(|(_, token)| *token).collect();
    let different: BTreeSet<_> = ids.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!((ids.len(), different.len(), tokens.len()), (60, 60, 60));
    database.drop_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_holds_where_several_put_at_once() {
    let Some(database) = Database::find("quota") else { return };
    let putting = (0..8).map(|n| {
        let store = database.same();
        tokio::spawn(async move {
            let some = (0..5).map(|m| envelope(&format!("e{n}{m}"), Some(1))).collect();
            store.put(some, Some(12)).await.unwrap()
        })
    });
    let mut stored = 0;
    for put in putting.collect::<Vec<_>>() {
        stored += put.await.unwrap().into_iter().filter(|put| *put == Put::Stored).count();
    }
    assert_eq!(stored, 12);
    assert_eq!(database.same().list(&Filter::default()).await.unwrap().len(), 12);
    database.drop_all().await;
}

struct Counting(AtomicU64);

#[async_trait]
impl Waker for Counting {
    async fn wake(&self, _: &Claim) -> Woken {
        self.0.fetch_add(1, Ordering::Relaxed);
        Woken::Fired(Vec::new())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_schedulers_on_one_store_wake_each_hook_once() {
    let Some(database) = Database::find("schedulers") else { return };
    let now = Scheduler::new(Arc::new(database.same()), Arc::new(SystemClock)).now();
    let mut all: Vec<_> = (0..200).map(|n| envelope(&format!("e{n:03}"), Some(now))).collect();
    for one in &mut all {
        one.first_scheduled = now;
    }
    database.same().put(all, None).await.unwrap();
    let woken = Arc::new(Counting(AtomicU64::new(0)));
    let schedulers = (0..2).map(|_| {
        let (store, woken) = (Arc::new(database.same()), woken.clone());
        tokio::spawn(async move { Scheduler::new(store, Arc::new(SystemClock)).tick(&*woken).await.unwrap() })
    });
    let mut round = Round::default();
    for one in schedulers.collect::<Vec<_>>() {
        round.add(one.await.unwrap());
    }
    assert_eq!((woken.0.load(Ordering::Relaxed), round.fired, round.fenced), (200, 200, 0));
    let ended = database.same().records(&Filter::default(), 999).await.unwrap();
    assert!(ended.len() == 200 && ended.iter().all(|record| record.end == End::Fired));
    database.drop_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduler_hears_what_another_one_puts_in() {
    let Some(database) = Database::find("hints") else { return };
    let (listens, puts) = (Arc::new(database.same()), database.same());
    // Connected, so that what is told from now on is heard.
    listens.next().await.unwrap();
    let hearing = tokio::spawn({
        let listens = listens.clone();
        async move { listens.hint().await }
    });
    let until = tokio::time::Instant::now() + Duration::from_secs(10);
    let mut number = 0;
    while !hearing.is_finished() {
        assert!(tokio::time::Instant::now() < until, "nothing was heard");
        number += 1;
        puts.put(vec![envelope(&format!("e{number}"), Some(1))], None).await.unwrap();
        tokio::task::yield_now().await;
    }
    database.drop_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_was_lost_is_made_anew() {
    let Some(database) = Database::find("lost") else { return };
    let sign = if database.url.contains('?') { '&' } else { '?' };
    let url = format!("{}{sign}application_name={}", database.url, database.name);
    let store = PostgresStore::new(&url).unwrap().schema(database.schema());
    store.put(vec![envelope("a", Some(1))], None).await.unwrap();
    let claim = store.claim(5, 100, 9).await.unwrap().remove(0);
    let end = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name =";
    database.run(&format!("{end} '{}'", database.name)).await;
    let record = EndRecord::new(&claim.envelope, 6, End::Fired, "");
    let settled = store.settle(&claim, vec![record], Vec::new(), None).await;
    assert_eq!(settled, Ok(Vec::new()));
    assert_eq!(store.records(&Filter::default(), 9).await.unwrap().len(), 1);
    database.drop_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_cannot_be_used_is_told_and_no_password() {
    let Some(database) = Database::find("unusable") else { return };
    let store = database.fresh();
    store.next().await.unwrap();
    database.run(&format!("INSERT INTO {}.version VALUES (99)", database.schema())).await;
    let newer = database.same().put(vec![envelope("a", Some(1))], None).await.unwrap_err();
    assert!(matches!(newer, StoreError::Newer { found: 99, known: 1, .. }), "{newer}");
    let nobody = PostgresStore::new("postgresql://me:geheim@127.0.0.1:1/nothing?connect_timeout=2").unwrap();
    let error = nobody.next().await.unwrap_err();
    let text = format!("{error} {nobody:?}");
    assert!(
        matches!(error, StoreError::Unreachable { .. }) && text.contains("127.0.0.1:1, nothing"),
        "{text}"
    );
    assert!(!text.contains("geheim"), "{text}");
    for bad in ["postgresql://:geheim@[", "key=geheim"] {
        let text = PostgresStore::new(bad).unwrap_err().to_string();
        assert!(text.contains("cannot be read") && !text.contains("geheim"), "{text}");
    }
    database.drop_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_who_holds_everything_up_is_told() {
    let Some(database) = Database::find("locked") else { return };
    let store = database.same();
    store.put(vec![envelope("a", None)], None).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&database.url, NoTls).await.unwrap();
    let running = tokio::spawn(connection);
    let lock = format!("BEGIN; LOCK TABLE {}.envelope IN ACCESS EXCLUSIVE MODE", database.schema());
    client.batch_execute(&lock).await.unwrap();
    let error = store.resolve("t", "k", &BTreeMap::new(), 5).await.unwrap_err();
    assert!(matches!(error, StoreError::Locked(_)), "{error}");
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(store.resolve("t", "k", &BTreeMap::new(), 5).await, Ok(1));
    drop(client);
    running.await.unwrap().unwrap();
    database.drop_all().await;
}
