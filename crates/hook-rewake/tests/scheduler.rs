//! The scheduler against a clock that stands until it is moved.
#![expect(clippy::unwrap_used, reason = "tests fail by panic")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use hook_core::{Clock, ManualClock, RewakeMissed, RewakeSpec, RewakeTrigger};
use hook_rewake::envelope::{End, Snapshot, why};
use hook_rewake::scheduler::{Round, Scheduled, Scheduler, Waker, Wish, Woken};
use hook_rewake::store::{Claim, Filter, MemoryStore, RewakeStore};

/// Notes who was woken when, and wishes the same again as often as it is told to.
struct Notes {
    clock: Arc<ManualClock>,
    woken: Mutex<Vec<(u32, u64, String)>>,
    wishes: bool,
}

#[async_trait]
impl Waker for Notes {
    async fn wake(&self, claim: &Claim) -> Woken {
        let minute = self.clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() / 60;
        self.woken.lock().unwrap().push((claim.envelope.attempt, minute, claim.fire_id()));
        Woken::Fired(if self.wishes { vec![claim.envelope.spec.clone()] } else { Vec::new() })
    }
}

struct Bench {
    clock: Arc<ManualClock>,
    store: Arc<MemoryStore>,
    scheduler: Scheduler,
    notes: Notes,
}

impl Bench {
    fn new() -> Bench {
        let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH));
        let store = Arc::new(MemoryStore::new());
        let scheduler = Scheduler::new(store.clone(), clock.clone());
        let notes = Notes { clock: clock.clone(), woken: Mutex::default(), wishes: true };
        Bench { clock, store, scheduler, notes }
    }

    async fn schedule(&self, spec: RewakeSpec) -> Scheduled {
        let snapshot = Snapshot {
            dialect: "native".into(),
            session: None,
            payload: "{}".into(),
            event: 0,
            host: "".into(),
        };
        let wish = Wish {
            context: "c".into(),
            hook: "h".into(),
            spec: Arc::new(spec),
            snapshot: Arc::new(snapshot),
        };
        self.scheduler.schedule(vec![wish]).await.unwrap().remove(0)
    }

    async fn after(&self, minutes: u64) -> Round {
        self.clock.advance(Duration::from_secs(minutes * 60));
        self.scheduler.tick(&self.notes).await.unwrap()
    }

    /// Attempts with the minute they were woken in.
    fn woken(&self) -> Vec<(u32, u64)> {
        self.notes.woken.lock().unwrap().iter().map(|(attempt, minute, _)| (*attempt, *minute)).collect()
    }

    async fn ends(&self) -> Vec<(End, String)> {
        let records = self.store.records(&Filter::default(), 99).await.unwrap();
        records.into_iter().rev().map(|one| (one.end, one.why)).collect()
    }
}

fn spec(trigger: RewakeTrigger, attempts: u32) -> RewakeSpec {
    RewakeSpec {
        trigger,
        timeout: Duration::from_secs(7200),
        max_attempts: attempts,
        payload: BTreeMap::new(),
        reason: "r".into(),
        missed: RewakeMissed::Once,
        hold: false,
    }
}

fn delay(minutes: u64) -> RewakeTrigger {
    RewakeTrigger::Delay(Duration::from_secs(minutes * 60))
}

fn cron(expression: &str) -> RewakeTrigger {
    RewakeTrigger::Cron { expression: expression.into(), zone: "UTC".into() }
}

#[tokio::test]
async fn a_chain_ends_with_its_attempts_or_its_time() {
    let bench = Bench::new();
    bench.schedule(spec(delay(5), 2)).await;
    for _ in 0..4 {
        bench.after(5).await;
    }
    assert_eq!(bench.woken(), [(1, 5), (2, 10)]);
    let fired = (End::Fired, "r".to_owned());
    let dropped = (End::Dropped, why::MAX_ATTEMPTS.to_owned());
    assert_eq!(bench.ends().await, [fired.clone(), fired.clone(), dropped]);

    let bench = Bench::new();
    bench.schedule(spec(delay(50), 9)).await;
    for _ in 0..4 {
        bench.after(50).await;
    }
    assert_eq!(bench.woken(), [(1, 50), (2, 100)], "the window covers the whole chain");
    assert_eq!(bench.ends().await, [fired.clone(), fired, (End::Expired, why::EXPIRED.to_owned())]);
}

#[tokio::test]
async fn missed_times_of_a_series_are_made_up_for_as_its_author_says() {
    let window = Duration::from_secs(15 * 60);
    for (missed, expected) in [
        (RewakeMissed::Once, vec![(1, 37), (2, 40)]),
        (RewakeMissed::Skip, vec![(1, 40)]),
        // Those at 10 and 20 minutes are longer ago than the window.
        (RewakeMissed::All { window }, vec![(1, 37), (2, 40)]),
    ] {
        let bench = Bench::new();
        bench.schedule(RewakeSpec { missed, ..spec(cron("*/10 * * * *"), 9) }).await;
        bench.after(37).await;
        bench.after(4).await;
        let woken: Vec<_> =
            bench.woken().into_iter().map(|(n, at)| (n, if at == 41 { 40 } else { at })).collect();
        assert_eq!(woken, expected, "{missed:?}");
    }
    let bench = Bench::new();
    let missed = RewakeMissed::All { window: Duration::from_secs(3600) };
    bench.schedule(RewakeSpec { missed, ..spec(cron("*/10 * * * *"), 9) }).await;
    bench.after(37).await;
    assert_eq!(bench.woken(), [(1, 37), (2, 37), (3, 37)], "every one in the window");
    let ids: Vec<String> = bench.notes.woken.lock().unwrap().iter().map(|one| one.2.clone()).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
}

#[tokio::test]
async fn a_series_ends_with_its_window_and_a_date_that_never_comes_is_dropped() {
    let bench = Bench::new();
    bench.schedule(spec(cron("0 * * * *"), 9)).await;
    for _ in 0..10 {
        bench.after(30).await;
    }
    assert_eq!(bench.woken(), [(1, 60), (2, 120)]);
    assert_eq!(bench.store.next().await.unwrap(), None);
    assert_eq!(bench.schedule(spec(cron("0 0 30 2 *"), 1)).await, Scheduled::Dropped(why::NEVER));
    assert!(bench.ends().await.contains(&(End::Dropped, why::NEVER.to_owned())));
}

#[tokio::test]
async fn two_schedulers_on_one_store_wake_once() {
    let bench = Bench::new();
    for _ in 0..50 {
        bench.schedule(spec(delay(1), 1)).await;
    }
    let other = Scheduler::new(bench.store.clone(), bench.clock.clone());
    bench.clock.advance(Duration::from_secs(60));
    let (one, two) = tokio::join!(bench.scheduler.tick(&bench.notes), other.tick(&bench.notes));
    assert_eq!(one.unwrap().fired + two.unwrap().fired, 50);
    assert_eq!(bench.woken().len(), 50);
}

#[tokio::test]
async fn what_a_killed_scheduler_claimed_comes_back_and_not_for_ever() {
    let bench = Bench::new();
    bench.schedule(spec(delay(1), 1)).await;
    // Claimed, and never settled.
    for minute in [1, 4, 7, 10, 13] {
        let claims = bench.store.claim(minute * 60_000, 120_000, 9).await.unwrap();
        assert_eq!(claims.len(), 1, "{minute}");
    }
    let round = bench.after(16).await;
    assert_eq!((round.fired, round.dropped), (0, 1));
    assert_eq!(bench.ends().await, [(End::Dropped, why::DELIVERIES.to_owned())]);
}

#[tokio::test]
async fn a_wake_up_that_outlives_its_lease_is_told_and_changes_nothing() {
    struct Slow(Arc<ManualClock>, Arc<MemoryStore>);
    #[async_trait]
    impl Waker for Slow {
        async fn wake(&self, claim: &Claim) -> Woken {
            self.0.advance(Duration::from_secs(500));
            let taken = self.1.claim(600_000, 120_000, 9).await.unwrap();
            assert_eq!(taken[0].fire_id(), claim.fire_id());
            Woken::Fired(vec![claim.envelope.spec.clone()])
        }
    }
    let bench = Bench::new();
    bench.schedule(spec(delay(1), 9)).await;
    bench.clock.advance(Duration::from_secs(60));
    let round = bench.scheduler.tick(&Slow(bench.clock.clone(), bench.store.clone())).await.unwrap();
    assert_eq!((round.fired, round.fenced), (1, 1));
    assert_eq!((bench.ends().await, bench.store.list(&Filter::default()).await.unwrap().len()), (vec![], 1));
}

#[tokio::test]
async fn a_clock_that_jumps_back_fires_nothing_twice() {
    struct Jumping(Mutex<SystemTime>);
    impl std::fmt::Debug for Jumping {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Jumping")
        }
    }
    impl Clock for Jumping {
        fn now(&self) -> SystemTime {
            *self.0.lock().unwrap()
        }
    }
    let bench = Bench::new();
    let at = |minutes: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(minutes * 60);
    let clock = Arc::new(Jumping(Mutex::new(at(600))));
    let scheduler = Scheduler::new(bench.store.clone(), clock.clone());
    let snapshot =
        Snapshot { dialect: "native".into(), session: None, payload: "{}".into(), event: 0, host: "".into() };
    let wish = Wish {
        context: "c".into(),
        hook: "h".into(),
        spec: Arc::new(spec(cron("*/10 * * * *"), 9)),
        snapshot: Arc::new(snapshot),
    };
    scheduler.schedule(vec![wish]).await.unwrap();
    let mut fired = Vec::new();
    for minutes in [611, 590, 605, 621, 640] {
        *clock.0.lock().unwrap() = at(minutes);
        fired.push(scheduler.tick(&bench.notes).await.unwrap().fired);
    }
    assert_eq!(fired, [1, 0, 0, 1, 1]);
    let ids: Vec<String> = bench.notes.woken.lock().unwrap().iter().map(|one| one.2.clone()).collect();
    let mut unique = ids.clone();
    unique.dedup();
    assert_eq!(unique, ids);
}

#[tokio::test]
async fn a_running_scheduler_wakes_when_it_is_nudged() {
    let store = Arc::new(MemoryStore::new());
    let scheduler = Arc::new(Scheduler::new(store, Arc::new(hook_core::SystemClock)));
    let (tell, told) = tokio::sync::oneshot::channel();
    struct Once(Mutex<Option<tokio::sync::oneshot::Sender<()>>>);
    #[async_trait]
    impl Waker for Once {
        async fn wake(&self, _: &Claim) -> Woken {
            if let Some(tell) = self.0.lock().unwrap().take() {
                tell.send(()).unwrap();
            }
            Woken::Fired(Vec::new())
        }
    }
    let snapshot =
        Snapshot { dialect: "native".into(), session: None, payload: "{}".into(), event: 0, host: "".into() };
    let event = RewakeTrigger::Event { kind: "t".into(), key: "k".into() };
    let wish = Wish {
        context: "c".into(),
        hook: "h".into(),
        spec: Arc::new(spec(event, 1)),
        snapshot: Arc::new(snapshot),
    };
    let running = scheduler.clone();
    let waker = Once(Mutex::new(Some(tell)));
    let run = async {
        running.run(&waker, async { told.await.unwrap() }, |error| panic!("{error}"), |_| ()).await;
    };
    let rest = async {
        scheduler.schedule(vec![wish]).await.unwrap();
        assert_eq!(scheduler.resolve("t", "k", &BTreeMap::new()).await.unwrap(), 1);
    };
    tokio::time::timeout(Duration::from_secs(10), async { tokio::join!(run, rest) }).await.unwrap();
}

/// The first hook it wakes waits until it is let go; the others are counted.
struct Slow {
    let_go: tokio::sync::Notify,
    others: tokio::sync::mpsc::UnboundedSender<String>,
    ended: Mutex<Vec<String>>,
}

#[async_trait]
impl Waker for Slow {
    async fn wake(&self, claim: &Claim) -> Woken {
        let hook = claim.envelope.hook.to_string();
        if hook == "slow" {
            self.let_go.notified().await;
        } else {
            let _ = self.others.send(hook.clone());
        }
        self.ended.lock().unwrap().push(hook);
        Woken::Fired(Vec::new())
    }
}

fn wish_of(hook: &str) -> Wish {
    let snapshot =
        Snapshot { dialect: "native".into(), session: None, payload: "{}".into(), event: 0, host: "".into() };
    let now = RewakeTrigger::Delay(Duration::from_millis(1));
    Wish {
        context: "c".into(),
        hook: hook.into(),
        spec: Arc::new(spec(now, 1)),
        snapshot: Arc::new(snapshot),
    }
}

#[tokio::test]
async fn a_slow_hook_holds_up_no_other_and_is_waited_for_at_the_end() {
    let scheduler = Scheduler::new(Arc::new(MemoryStore::new()), Arc::new(hook_core::SystemClock));
    let (others, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let waker = Slow { let_go: tokio::sync::Notify::new(), others, ended: Mutex::default() };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let rounds = Mutex::new(Round::default());
    let run = scheduler.run(
        &waker,
        async { drop(stopped.await) },
        |error| panic!("{error}"),
        |round| rounds.lock().unwrap().add(*round),
    );
    let rest = async {
        scheduler.schedule(vec![wish_of("slow")]).await.unwrap();
        for name in ["one", "two", "three"] {
            scheduler.schedule(vec![wish_of(name)]).await.unwrap();
            assert_eq!(heard.recv().await.as_deref(), Some(name));
        }
        stop.send(()).unwrap();
        waker.let_go.notify_one();
    };
    tokio::time::timeout(Duration::from_secs(10), async { tokio::join!(run, rest) }).await.unwrap();
    assert_eq!(*waker.ended.lock().unwrap(), ["one", "two", "three", "slow"]);
    assert_eq!(rounds.lock().unwrap().fired, 4);
    assert_eq!(scheduler.store().list(&Filter::default()).await.unwrap(), []);
}

#[tokio::test]
async fn no_more_hooks_run_at_once_than_may() {
    let scheduler = Scheduler::new(Arc::new(MemoryStore::new()), Arc::new(hook_core::SystemClock)).at_once(1);
    let (others, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let waker = Slow { let_go: tokio::sync::Notify::new(), others, ended: Mutex::default() };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    scheduler.schedule(vec![wish_of("slow"), wish_of("other")]).await.unwrap();
    let run = scheduler.run(&waker, async { drop(stopped.await) }, |error| panic!("{error}"), |_| ());
    let rest = async {
        waker.let_go.notify_one();
        assert_eq!(heard.recv().await.as_deref(), Some("other"));
        stop.send(()).unwrap();
    };
    tokio::time::timeout(Duration::from_secs(10), async { tokio::join!(run, rest) }).await.unwrap();
    assert_eq!(*waker.ended.lock().unwrap(), ["slow", "other"]);
}

#[tokio::test]
async fn what_waited_too_long_for_its_turn_is_claimed_anew() {
    let bench = Bench::new();
    struct Long(Arc<ManualClock>, Mutex<Vec<u32>>, Arc<MemoryStore>);
    #[async_trait]
    impl Waker for Long {
        async fn wake(&self, claim: &Claim) -> Woken {
            self.0.advance(Duration::from_secs(70));
            self.1.lock().unwrap().push(claim.delivery);
            let now = self.0.now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
            let theirs = self.2.claim(i64::try_from(now).unwrap(), 1, 99).await.unwrap();
            assert_eq!(theirs, [], "another scheduler got what waits for its turn here");
            Woken::Fired(Vec::new())
        }
    }
    for _ in 0..9 {
        bench.schedule(spec(RewakeTrigger::Delay(Duration::from_secs(1)), 1)).await;
    }
    bench.clock.advance(Duration::from_secs(1));
    let long = Long(bench.clock.clone(), Mutex::default(), bench.store.clone());
    // A lease is two minutes: after the first of a batch less than half of it is left for the others.
    assert_eq!(bench.scheduler.tick(&long).await.unwrap(), Round { fired: 9, dropped: 0, fenced: 0 });
    assert_eq!(*long.1.lock().unwrap(), [1; 9], "waiting was counted as a delivery");
    assert_eq!(bench.store.list(&Filter::default()).await.unwrap(), []);
}
