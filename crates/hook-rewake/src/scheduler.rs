//! From wishes to wake-ups.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use futures_util::stream::{FuturesUnordered, StreamExt};
use hook_core::{Clock, RewakeMissed, RewakeSpec, RewakeTrigger};

use crate::cron::Cron;
use crate::envelope::{End, EndRecord, Envelope, Snapshot, millis, why};
use crate::store::{Claim, Put, RewakeStore, StoreError};
use crate::zone::Zone;

/// A fire so much after its time was missed, for triggers that say what becomes of missed times.
const LATE: i64 = 60_000;

/// How often an envelope is claimed at most.
const MOST_DELIVERIES: u32 = 5;

/// How many envelopes are claimed at once.
const BATCH: usize = 64;

/// How many hooks [`Scheduler::run`] wakes at the same time, where nobody says otherwise.
const AT_ONCE: usize = 16;

/// How long a scheduler sleeps at most: others may put something into its store.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// A hook's wish to be woken.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Whose it is.
    pub context: Arc<str>,
    /// The hook.
    pub hook: Arc<str>,
    /// What it wishes.
    pub spec: Arc<RewakeSpec>,
    /// The event it was called for.
    pub snapshot: Arc<Snapshot>,
}

/// What became of a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheduled {
    /// It is pending, under this id.
    Pending(Arc<str>),
    /// It was dropped; why.
    Dropped(&'static str),
}

/// What came of a wake-up.
#[derive(Debug, Clone, PartialEq)]
pub enum Woken {
    /// The hook ran. Its new wishes are the next links of the chain.
    Fired(Vec<Arc<RewakeSpec>>),
    /// It could not be woken; why.
    Dropped(String),
}

/// Wakes hooks: what a scheduler calls for every envelope whose time has come.
#[async_trait]
pub trait Waker: Send + Sync {
    /// Runs the hook of the envelope, and no other.
    async fn wake(&self, claim: &Claim) -> Woken;
}

/// What a round of the scheduler did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Round {
    /// Hooks that were woken.
    pub fired: u64,
    /// Envelopes that were discarded.
    pub dropped: u64,
    /// Wake-ups that another scheduler took over while they ran here.
    pub fenced: u64,
}

impl Round {
    /// Counts another one in.
    pub fn add(&mut self, other: Round) {
        self.fired += other.fired;
        self.dropped += other.dropped;
        self.fenced += other.fenced;
    }
}

/// Wakes hooks when their time has come. Schedulers of several processes can share a store.
pub struct Scheduler {
    store: Arc<dyn RewakeStore>,
    clock: Arc<dyn Clock>,
    quota: Option<u32>,
    lease: Duration,
    at_once: usize,
}

impl Scheduler {
    /// A scheduler on this store. No quota, two minutes for every wake-up, and sixteen of them at once.
    pub fn new(store: Arc<dyn RewakeStore>, clock: Arc<dyn Clock>) -> Scheduler {
        let lease = Duration::from_secs(120);
        Scheduler { store, clock, quota: None, lease, at_once: AT_ONCE }
    }

    /// With so many pending envelopes per context at most; what is beyond is dropped.
    #[must_use]
    pub fn quota(mut self, quota: u32) -> Scheduler {
        self.quota = Some(quota);
        self
    }

    /// With so much time for a wake-up, before others take it to be lost and repeat it.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Scheduler {
        self.lease = lease;
        self
    }

    /// With so many wake-ups at the same time in [`Scheduler::run`]; at least one.
    #[must_use]
    pub fn at_once(mut self, most: usize) -> Scheduler {
        self.at_once = most.max(1);
        self
    }

    /// The store.
    pub fn store(&self) -> &dyn RewakeStore {
        &*self.store
    }

    /// Now, in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        self.clock.now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, millis)
    }

    /// Makes envelopes of wishes.
    ///
    /// # Errors
    /// The store fails; no wish is scheduled.
    pub async fn schedule(&self, wishes: Vec<Wish>) -> Result<Vec<Scheduled>, StoreError> {
        let now = self.now();
        let mut made: Vec<Envelope> = Vec::with_capacity(wishes.len());
        let mut results = Vec::with_capacity(wishes.len());
        let mut records = Vec::new();
        for wish in wishes {
            let id = fresh_id(now);
            let mut envelope = Envelope {
                id: id.clone(),
                chain: id.clone(),
                context: wish.context,
                hook: wish.hook,
                spec: wish.spec,
                snapshot: wish.snapshot,
                attempt: 1,
                first_scheduled: now,
                due: None,
                brought: BTreeMap::new(),
            };
            match due(&envelope.spec.trigger, now) {
                Ok(due) => {
                    envelope.due = due;
                    made.push(envelope);
                    results.push(Scheduled::Pending(id));
                }
                Err(why) => {
                    records.push(EndRecord::new(&envelope, now, End::Dropped, why));
                    results.push(Scheduled::Dropped(why));
                }
            }
        }
        let puts = self.store.put(made.clone(), self.quota).await?;
        for (put, envelope) in puts.into_iter().zip(&made) {
            if put == Put::OverQuota {
                records.push(EndRecord::new(envelope, now, End::Dropped, why::QUOTA));
                let pending = |one: &&mut Scheduled| **one == Scheduled::Pending(envelope.id.clone());
                if let Some(result) = results.iter_mut().find(pending) {
                    *result = Scheduled::Dropped(why::QUOTA);
                }
            }
        }
        if !records.is_empty() {
            self.store.record(records).await?;
        }
        Ok(results)
    }

    /// Makes every envelope due that waits for this event, and gives their number. They are woken in the next round.
    ///
    /// # Errors
    /// The store fails; nothing is changed.
    pub async fn resolve(
        &self,
        kind: &str,
        key: &str,
        brought: &BTreeMap<String, String>,
    ) -> Result<u64, StoreError> {
        let count = self.store.resolve(kind, key, brought, self.now()).await?;
        Ok(count)
    }

    /// Wakes everything whose time has come, and what comes due through that, one after the other.
    ///
    /// # Errors
    /// The store fails. What is claimed by then comes back when its lease is over.
    pub async fn tick(&self, waker: &dyn Waker) -> Result<Round, StoreError> {
        let mut round = Round::default();
        loop {
            let claimed = self.now();
            let claims = self.store.claim(claimed, millis(self.lease), BATCH).await?;
            if claims.is_empty() {
                return Ok(round);
            }
            for claim in claims {
                if self.now().saturating_sub(claimed) <= millis(self.lease) / 2 {
                    round.add(self.fire(claim, waker).await?);
                } else {
                    // Those before it took long. With the rest of its lease somebody else might have it before it is done, so it is
                    // put back, and claimed anew.
                    let again = vec![claim.envelope.clone()];
                    self.settle(&claim, Vec::new(), again, &mut round).await?;
                }
            }
        }
    }

    /// Wakes hooks until `stop` is done: whenever something comes due, something is scheduled here, and once a second for what others
    /// schedule. A slow hook holds up no other. What runs when it is stopped is waited for. A failing store is told to `trouble`, and
    /// asked again; what came of wake-ups is told to `rounds`.
    pub async fn run(
        &self,
        waker: &dyn Waker,
        stop: impl Future<Output = ()>,
        trouble: impl Fn(&StoreError),
        rounds: impl Fn(&Round),
    ) {
        let mut stop = std::pin::pin!(stop);
        let mut firing = FuturesUnordered::new();
        let told = |fired: Result<Round, StoreError>| match fired {
            Ok(round) => rounds(&round),
            Err(error) => trouble(&error),
        };
        loop {
            let room = self.at_once - firing.len();
            let mut sleep = LONGEST_SLEEP;
            if room > 0 {
                match self.store.claim(self.now(), millis(self.lease), room.min(BATCH)).await {
                    Ok(claims) => {
                        let full = claims.len() == room.min(BATCH);
                        firing.extend(claims.into_iter().map(|claim| self.fire(claim, waker)));
                        if !full && let Ok(Some(at)) = self.store.next().await {
                            sleep = Duration::from_millis(u64::try_from(at - self.now()).unwrap_or(0));
                        }
                    }
                    Err(error) => trouble(&error),
                }
            }
            tokio::select! {
                () = &mut stop => break,
                Some(fired) = firing.next(), if !firing.is_empty() => told(fired),
                () = self.store.hint() => {}
                () = tokio::time::sleep(sleep.min(LONGEST_SLEEP)) => {}
            }
        }
        while let Some(fired) = firing.next().await {
            told(fired);
        }
    }

    async fn fire(&self, claim: Claim, waker: &dyn Waker) -> Result<Round, StoreError> {
        let mut round = Round::default();
        let claim = &claim;
        let envelope = &claim.envelope;
        let now = self.now();
        let ended = |end, why: String| EndRecord::new(envelope, self.now(), end, why);
        let (mut record, links) = if envelope.due.is_none() || now > envelope.expires() {
            (ended(End::Expired, why::EXPIRED.to_owned()), Vec::new())
        } else if claim.delivery > MOST_DELIVERIES {
            (ended(End::Dropped, why::DELIVERIES.to_owned()), Vec::new())
        } else if self.skips(claim, now) {
            self.settle(claim, Vec::new(), self.series(claim, envelope.attempt), &mut round).await?;
            return Ok(round);
        } else {
            match waker.wake(claim).await {
                Woken::Fired(links) => (ended(End::Fired, envelope.spec.reason.clone()), links),
                Woken::Dropped(why) => (ended(End::Dropped, why), Vec::new()),
            }
        };
        let mut next = Vec::new();
        let fired = record.end == End::Fired;
        if fired {
            record.fire_id = Some(claim.fire_id());
            round.fired += 1;
            next = self.series(claim, envelope.attempt.saturating_add(1));
        } else {
            round.dropped += 1;
        }
        let mut records = vec![record];
        for spec in links {
            match self.link(envelope, spec) {
                Ok(Some(link)) => next.push(link),
                Ok(None) => {}
                Err(record) => records.push(*record),
            }
        }
        self.settle(claim, records, next, &mut round).await?;
        Ok(round)
    }

    async fn settle(
        &self,
        claim: &Claim,
        records: Vec<EndRecord>,
        next: Vec<Envelope>,
        round: &mut Round,
    ) -> Result<(), StoreError> {
        match self.store.settle(claim, records, next.clone(), self.quota).await {
            Ok(puts) => {
                let over = puts.iter().zip(&next).filter(|(put, _)| **put == Put::OverQuota);
                let records: Vec<_> = over
                    .map(|(_, link)| EndRecord::new(link, self.now(), End::Dropped, why::QUOTA))
                    .collect();
                if !records.is_empty() {
                    self.store.record(records).await?;
                }
                Ok(())
            }
            Err(StoreError::Fenced(_)) => {
                round.fenced += 1;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// True for a time of a series that was missed and is not made up for.
    fn skips(&self, claim: &Claim, now: i64) -> bool {
        let spec = &claim.envelope.spec;
        let late = now - claim.planned;
        matches!(spec.trigger, RewakeTrigger::Cron { .. })
            && match spec.missed {
                RewakeMissed::Skip => late > LATE,
                RewakeMissed::Once => false,
                RewakeMissed::All { window } => late > millis(window),
                _ => false,
            }
    }

    /// The next time of a series; nothing where it is at its end, or no series.
    fn series(&self, claim: &Claim, attempt: u32) -> Vec<Envelope> {
        let envelope = &claim.envelope;
        let RewakeTrigger::Cron { .. } = envelope.spec.trigger else { return Vec::new() };
        // What makes up for every missed time goes on from the planned one, the others from now on.
        let from = match envelope.spec.missed {
            RewakeMissed::All { .. } => claim.planned,
            _ => claim.planned.max(self.now()),
        };
        let mut next = envelope.clone();
        next.attempt = attempt;
        next.due = due(&envelope.spec.trigger, from).ok().flatten();
        let goes_on =
            attempt <= envelope.spec.max_attempts && next.due.is_some_and(|due| due <= envelope.expires());
        if goes_on { vec![next] } else { Vec::new() }
    }

    /// The next link of a chain. `None`: the wish is that of a series, which repeats itself.
    fn link(&self, envelope: &Envelope, spec: Arc<RewakeSpec>) -> Result<Option<Envelope>, Box<EndRecord>> {
        let series = |trigger: &RewakeTrigger| matches!(trigger, RewakeTrigger::Cron { .. });
        if series(&spec.trigger) && series(&envelope.spec.trigger) {
            return Ok(None);
        }
        let now = self.now();
        let mut link = Envelope {
            id: fresh_id(now),
            spec,
            attempt: envelope.attempt.saturating_add(1),
            due: None,
            brought: BTreeMap::new(),
            ..envelope.clone()
        };
        let dropped = |link: &Envelope, why| Err(Box::new(EndRecord::new(link, now, End::Dropped, why)));
        if link.attempt > link.spec.max_attempts {
            return dropped(&link, why::MAX_ATTEMPTS);
        }
        match due(&link.spec.trigger, now) {
            Ok(due) => {
                link.due = due;
                Ok(Some(link))
            }
            Err(why) => dropped(&link, why),
        }
    }
}

/// When a trigger fires for the first time after `now`; `None` where it waits for an event.
fn due(trigger: &RewakeTrigger, now: i64) -> Result<Option<i64>, &'static str> {
    match trigger {
        RewakeTrigger::Delay(delay) => Ok(Some(now.saturating_add(millis(*delay)))),
        RewakeTrigger::Cron { expression, zone } => {
            let next = Cron::parse(expression)
                .ok()
                .zip(Zone::find(zone))
                .and_then(|(cron, zone)| cron.next(&zone, now));
            next.map(Some).ok_or(why::NEVER)
        }
        RewakeTrigger::Event { .. } => Ok(None),
        _ => Err(why::NEVER),
    }
}

/// Ids in the order in which they were made, told apart from those of other processes by chance.
fn fresh_id(now: i64) -> Arc<str> {
    static COUNT: AtomicU16 = AtomicU16::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("rw-{now:012x}{count:04x}{:08x}", fastrand::u32(..)).into()
}
