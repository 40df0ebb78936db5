//! What every store of envelopes has to do; a store passes by running [`all`] on itself.
//!
//! Each part gets a store that is empty, and panics at the first thing that is wrong.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hook_core::{RewakeMissed, RewakeSpec, RewakeTrigger};

use crate::envelope::{End, EndRecord, Envelope, Snapshot};
use crate::store::{Claim, Filter, Put, RewakeStore, StoreError};

const HOUR: i64 = 3_600_000;

/// An envelope of the context `c` for the hook `h`: due at `due`, or waiting for the event `t`/`k`.
pub fn envelope(id: &str, due: Option<i64>) -> Envelope {
    let trigger = match due {
        Some(_) => RewakeTrigger::Delay(Duration::from_secs(1)),
        None => RewakeTrigger::Event { kind: "t".into(), key: "k".into() },
    };
    let spec = RewakeSpec {
        trigger,
        timeout: Duration::from_secs(3600),
        max_attempts: 3,
        payload: BTreeMap::from([("own".into(), "1".into()), ("both".into(), "own".into())]),
        reason: "why".into(),
        missed: RewakeMissed::default(),
        hold: false,
    };
    let snapshot = Snapshot {
        dialect: "native".into(),
        session: Some("s".into()),
        payload: "{}".into(),
        event: 0,
        host: "".into(),
    };
    Envelope {
        id: id.into(),
        chain: id.into(),
        context: "c".into(),
        hook: "h".into(),
        spec: Arc::new(spec),
        snapshot: Arc::new(snapshot),
        attempt: 1,
        first_scheduled: 0,
        due,
        brought: BTreeMap::new(),
    }
}

/// Runs every part, each on a store that `make` makes.
pub async fn all<S: RewakeStore>(mut make: impl FnMut() -> S) {
    what_is_due_is_claimed_in_order(&make()).await;
    an_id_is_replaced_without_double_quota(&make()).await;
    a_quota_counts_per_context_and_is_freed(&make()).await;
    a_claim_is_fenced_after_its_lease(&make()).await;
    a_claim_on_an_earlier_one_of_its_id_is_fenced(&make()).await;
    settling_ends_one_and_stores_the_next(&make()).await;
    events_fire_what_waits_for_them(&make()).await;
    an_event_that_comes_too_late_fires_nothing(&make()).await;
    cancelling_tells_what_it_did(&make()).await;
    records_are_the_latest_first_and_forgotten(&make()).await;
    what_was_stored_comes_back_whole(&make()).await;
}

async fn put(store: &impl RewakeStore, envelopes: Vec<Envelope>) -> Vec<Put> {
    store.put(envelopes, None).await.expect("put")
}

async fn claim(store: &impl RewakeStore, now: i64) -> Vec<Claim> {
    store.claim(now, 100, 10).await.expect("claim")
}

fn ids(claims: &[Claim]) -> Vec<&str> {
    claims.iter().map(|claim| &*claim.envelope.id).collect()
}

async fn what_is_due_is_claimed_in_order(store: &impl RewakeStore) {
    put(store, vec![envelope("b", Some(20)), envelope("a", Some(10)), envelope("later", Some(21))]).await;
    assert_eq!(store.next().await.expect("next"), Some(10));
    assert_eq!(ids(&claim(store, 9).await), [""; 0]);
    let claims = claim(store, 20).await;
    assert_eq!(ids(&claims), ["a", "b"]);
    assert_eq!((claims[0].planned, claims[0].delivery, claims[0].fire_id()), (10, 1, "a@10".to_owned()));
    assert_eq!(ids(&claim(store, 20).await), [""; 0], "a claimed envelope was claimed again");
    let many = (0..5).map(|n| envelope(&format!("m{n}"), Some(30 + n))).collect();
    put(store, many).await;
    assert_eq!(store.claim(40, 100, 2).await.expect("claim").len(), 2);
}

async fn an_id_is_replaced_without_double_quota(store: &impl RewakeStore) {
    let twice = vec![envelope("a", Some(10)), envelope("a", Some(50))];
    assert_eq!(store.put(twice, Some(1)).await.expect("put"), [Put::Stored, Put::Replaced]);
    assert_eq!(ids(&claim(store, 49).await), [""; 0]);
    assert_eq!(ids(&claim(store, 50).await), ["a"]);
}

async fn a_quota_counts_per_context_and_is_freed(store: &impl RewakeStore) {
    let mut other = envelope("x", Some(10));
    other.context = "other".into();
    let all = vec![envelope("a", Some(10)), envelope("b", Some(10)), envelope("over", Some(10)), other];
    let puts = store.put(all, Some(2)).await.expect("put");
    assert_eq!(puts, [Put::Stored, Put::Stored, Put::OverQuota, Put::Stored]);
    assert_eq!(store.get("over").await.expect("get"), None);
    assert!(store.cancel("a", 1, "enough").await.expect("cancel"));
    assert_eq!(store.put(vec![envelope("c", Some(10))], Some(2)).await.expect("put"), [Put::Stored]);
    let fired = claim(store, 10).await;
    let one = fired.iter().find(|claim| &*claim.envelope.id == "b").expect("b is due");
    store.settle(one, Vec::new(), Vec::new(), None).await.expect("settle");
    assert_eq!(store.put(vec![envelope("d", Some(10))], Some(2)).await.expect("put"), [Put::Stored]);
}

async fn a_claim_is_fenced_after_its_lease(store: &impl RewakeStore) {
    put(store, vec![envelope("a", Some(10))]).await;
    let first = claim(store, 10).await.remove(0);
    assert_eq!(ids(&claim(store, 109).await), [""; 0]);
    let second = claim(store, 110).await.remove(0);
    assert_eq!((second.delivery, second.fire_id()), (2, first.fire_id()));
    assert_ne!(second.token, first.token);
    let link = vec![envelope("link", Some(500))];
    let late =
        store.settle(&first, vec![EndRecord::new(&first.envelope, 1, End::Fired, "")], link, None).await;
    assert_eq!(late, Err(StoreError::Fenced("a".into())));
    assert_eq!(store.get("link").await.expect("get"), None, "a fenced claim changed the store");
    assert_eq!(store.records(&Filter::default(), 9).await.expect("records"), []);
    store.settle(&second, Vec::new(), Vec::new(), None).await.expect("settle");
    assert_eq!(
        store.settle(&second, Vec::new(), Vec::new(), None).await,
        Err(StoreError::Fenced("a".into()))
    );
    assert_eq!(store.next().await.expect("next"), None);
}

async fn a_claim_on_an_earlier_one_of_its_id_is_fenced(store: &impl RewakeStore) {
    put(store, vec![envelope("a", Some(10))]).await;
    let slow = claim(store, 10).await.remove(0);
    let second = claim(store, 110).await.remove(0);
    store.settle(&second, Vec::new(), vec![envelope("a", Some(200))], None).await.expect("settle");
    let third = claim(store, 200).await.remove(0);
    for old in [&slow, &second] {
        let settled = store.settle(old, Vec::new(), Vec::new(), None).await;
        assert_eq!(settled, Err(StoreError::Fenced("a".into())));
    }
    store.settle(&third, Vec::new(), Vec::new(), None).await.expect("settle");
}

async fn settling_ends_one_and_stores_the_next(store: &impl RewakeStore) {
    put(store, vec![envelope("a", Some(10))]).await;
    let one = claim(store, 10).await.remove(0);
    let mut again = envelope("a", Some(70));
    again.attempt = 2;
    let next = vec![again.clone(), envelope("over", Some(1))];
    let puts =
        store.settle(&one, vec![EndRecord::new(&one.envelope, 11, End::Fired, "why")], next, Some(1)).await;
    assert_eq!(puts, Ok(vec![Put::Stored, Put::OverQuota]));
    assert_eq!(store.get("a").await.expect("get"), Some(again));
    let records = store.records(&Filter::default(), 9).await.expect("records");
    assert_eq!((records.len(), records[0].end, records[0].at), (1, End::Fired, 11));
}

async fn events_fire_what_waits_for_them(store: &impl RewakeStore) {
    let mut elsewhere = envelope("elsewhere", None);
    elsewhere.context = "other".into();
    let mut due = envelope("due", Some(HOUR));
    due.hook = "g".into();
    put(store, vec![envelope("a", None), elsewhere, due]).await;
    let brought = BTreeMap::from([("both".into(), "brought".into()), ("new".into(), "2".into())]);
    for (kind, key) in [("T", "k"), ("t", "K"), ("t", ""), ("t ", "k")] {
        assert_eq!(store.resolve(kind, key, &brought, 5).await.expect("resolve"), 0, "{kind:?} {key:?}");
    }
    assert_eq!(ids(&claim(store, 5).await), [""; 0]);
    assert_eq!(store.resolve("t", "k", &brought, 5).await.expect("resolve"), 2);
    assert_eq!(store.resolve("t", "k", &brought, 6).await.expect("resolve"), 0, "it fired twice");
    let mut claims = claim(store, 5).await;
    claims.sort_by_key(|claim| claim.envelope.id.clone());
    assert_eq!(ids(&claims), ["a", "elsewhere"]);
    let payload = claims[0].envelope.payload();
    let expected = [("both", "brought"), ("new", "2"), ("own", "1")];
    assert!(payload.iter().map(|(a, b)| (a.as_str(), b.as_str())).eq(expected), "{payload:?}");
    assert_eq!(claims[0].planned, 5);
}

async fn an_event_that_comes_too_late_fires_nothing(store: &impl RewakeStore) {
    put(store, vec![envelope("a", None)]).await;
    assert_eq!(store.resolve("t", "k", &BTreeMap::new(), HOUR + 1).await.expect("resolve"), 0);
    assert_eq!(ids(&claim(store, HOUR).await), [""; 0]);
    let over = claim(store, HOUR + 1).await;
    assert_eq!((ids(&over), over[0].envelope.due), (vec!["a"], None));
}

async fn cancelling_tells_what_it_did(store: &impl RewakeStore) {
    let mut other = envelope("other", Some(10));
    other.hook = "g".into();
    put(store, vec![envelope("a", Some(10)), envelope("b", None), envelope("c", Some(10)), other]).await;
    assert!(!store.cancel("nobody", 3, "enough").await.expect("cancel"));
    assert!(store.cancel("a", 3, "enough").await.expect("cancel"));
    assert!(!store.cancel("a", 3, "enough").await.expect("cancel"));
    assert_eq!(store.cancel_hook("h", 4).await.expect("cancel"), 2);
    assert_eq!(store.cancel_hook("h", 4).await.expect("cancel"), 0);
    assert_eq!(store.resolve("t", "k", &BTreeMap::new(), 5).await.expect("resolve"), 0);
    assert_eq!(ids(&claim(store, 99).await), ["other"]);
    let records = store.records(&Filter::default(), 9).await.expect("records");
    assert!(records.iter().all(|one| one.end == End::Cancelled && &*one.hook == "h"), "{records:?}");
    assert_eq!(records.len(), 3);
    let why = records.iter().find(|one| &*one.id == "a").map(|one| one.why.as_str());
    assert_eq!(why, Some("enough"));
}

async fn records_are_the_latest_first_and_forgotten(store: &impl RewakeStore) {
    let record = |id: &str, at| EndRecord::new(&envelope(id, Some(1)), at, End::Dropped, "quota");
    store.record(vec![record("a", 1), record("b", 2), record("c", 3)]).await.expect("record");
    let found =
        |records: Vec<EndRecord>| records.into_iter().map(|one| one.id.to_string()).collect::<Vec<_>>();
    assert_eq!(found(store.records(&Filter::default(), 2).await.expect("records")), ["c", "b"]);
    let nobody = Filter { hook: Some("g".into()), ..Filter::default() };
    assert_eq!(found(store.records(&nobody, 9).await.expect("records")), [""; 0]);
    assert_eq!(store.forget(3).await.expect("forget"), 2);
    assert_eq!(found(store.records(&Filter::default(), 9).await.expect("records")), ["c"]);
}

async fn what_was_stored_comes_back_whole(store: &impl RewakeStore) {
    let mut odd = envelope("odd \u{1F600}'\"", None);
    odd.brought.insert("a\n".into(), "\u{0}".into());
    put(store, vec![odd.clone(), envelope("z", Some(9))]).await;
    assert_eq!(store.get(&odd.id).await.expect("get"), Some(odd.clone()));
    let of_context = Filter { context: Some("c".into()), hook: Some("h".into()) };
    assert_eq!(store.list(&of_context).await.expect("list"), [envelope("z", Some(9)), odd]);
    assert_eq!(store.list(&Filter { context: Some("d".into()), hook: None }).await.expect("list"), []);
}
