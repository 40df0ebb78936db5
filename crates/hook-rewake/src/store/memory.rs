//! Envelopes of one process.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::{Claim, Filter, Put, RewakeStore, StoreError};
use crate::envelope::{End, EndRecord, Envelope};

/// Records that are kept at most.
const MOST_RECORDS: usize = 10_000;

/// A store in memory: gone with its process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
    #[cfg(feature = "scheduler")]
    fresh: tokio::sync::Notify,
}

#[derive(Debug, Default)]
struct Inner {
    pending: HashMap<Arc<str>, Pending>,
    /// Everything pending by the moment something has to be done about it; equal moments in the order they came.
    times: BTreeMap<(i64, u64), Arc<str>>,
    /// Who waits for which event.
    waiting: HashMap<(String, String), BTreeSet<Arc<str>>>,
    counts: HashMap<Arc<str>, u32>,
    records: VecDeque<EndRecord>,
    /// Orders equal moments, and numbers claims.
    last: u64,
}

#[derive(Debug)]
struct Pending {
    envelope: Envelope,
    at: (i64, u64),
    /// The token of the claim in force.
    claim: Option<u64>,
    delivery: u32,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// Something was put in.
    fn tell(&self) {
        #[cfg(feature = "scheduler")]
        self.fresh.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change is whole before anything can panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn insert(&mut self, envelope: Envelope, quota: Option<u32>) -> Put {
        let replaced = self.remove(&envelope.id.clone()).is_some();
        let count = self.counts.get(&envelope.context).copied().unwrap_or(0);
        if !replaced && quota.is_some_and(|quota| count >= quota) {
            return Put::OverQuota;
        }
        *self.counts.entry(envelope.context.clone()).or_default() += 1;
        if let Some((kind, key)) = envelope.waits_for() {
            self.waiting.entry((kind.to_owned(), key.to_owned())).or_default().insert(envelope.id.clone());
        }
        let at = (envelope.wake_at(), self.number());
        self.times.insert(at, envelope.id.clone());
        self.pending.insert(envelope.id.clone(), Pending { envelope, at, claim: None, delivery: 0 });
        if replaced { Put::Replaced } else { Put::Stored }
    }

    fn remove(&mut self, id: &str) -> Option<Envelope> {
        let Pending { envelope, at, .. } = self.pending.remove(id)?;
        self.times.remove(&at);
        if let Some((kind, key)) = envelope.waits_for() {
            let event = (kind.to_owned(), key.to_owned());
            if let Some(ids) = self.waiting.get_mut(&event) {
                ids.remove(id);
                if ids.is_empty() {
                    self.waiting.remove(&event);
                }
            }
        }
        if let Some(count) = self.counts.get_mut(&envelope.context) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&envelope.context);
            }
        }
        Some(envelope)
    }

    fn keep(&mut self, records: Vec<EndRecord>) {
        self.records.extend(records);
        while self.records.len() > MOST_RECORDS {
            self.records.pop_front();
        }
    }
}

#[async_trait]
impl RewakeStore for MemoryStore {
    async fn put(&self, envelopes: Vec<Envelope>, quota: Option<u32>) -> Result<Vec<Put>, StoreError> {
        let mut inner = self.lock();
        let puts = envelopes.into_iter().map(|envelope| inner.insert(envelope, quota)).collect();
        drop(inner);
        self.tell();
        Ok(puts)
    }

    async fn claim(&self, now: i64, lease: i64, most: usize) -> Result<Vec<Claim>, StoreError> {
        let mut inner = self.lock();
        let due: Vec<_> =
            inner.times.range(..=(now, u64::MAX)).take(most).map(|(at, id)| (*at, id.clone())).collect();
        let mut claims = Vec::with_capacity(due.len());
        for (at, id) in due {
            let token = inner.number();
            let until = (now.saturating_add(lease), token);
            inner.times.remove(&at);
            inner.times.insert(until, id.clone());
            if let Some(pending) = inner.pending.get_mut(&id) {
                pending.at = until;
                pending.claim = Some(token);
                pending.delivery += 1;
                claims.push(Claim {
                    envelope: pending.envelope.clone(),
                    planned: pending.envelope.wake_at(),
                    token,
                    delivery: pending.delivery,
                });
            }
        }
        Ok(claims)
    }

    async fn settle(
        &self,
        claim: &Claim,
        records: Vec<EndRecord>,
        next: Vec<Envelope>,
        quota: Option<u32>,
    ) -> Result<Vec<Put>, StoreError> {
        let mut inner = self.lock();
        let id = &claim.envelope.id;
        if inner.pending.get(id).is_none_or(|pending| pending.claim != Some(claim.token)) {
            return Err(StoreError::Fenced(id.clone()));
        }
        inner.remove(id);
        inner.keep(records);
        Ok(next.into_iter().map(|envelope| inner.insert(envelope, quota)).collect())
    }

    async fn resolve(
        &self,
        kind: &str,
        key: &str,
        brought: &BTreeMap<String, String>,
        now: i64,
    ) -> Result<u64, StoreError> {
        let mut inner = self.lock();
        let event = (kind.to_owned(), key.to_owned());
        let ids: Vec<_> = inner.waiting.get(&event).into_iter().flatten().cloned().collect();
        let mut count = 0;
        for id in ids {
            let open = |pending: &Pending| pending.claim.is_none() && pending.envelope.expires() >= now;
            if !inner.pending.get(&id).is_some_and(open) {
                continue;
            }
            if let Some(mut envelope) = inner.remove(&id) {
                envelope.due = Some(now);
                envelope.brought.clone_from(brought);
                inner.insert(envelope, None);
                count += 1;
            }
        }
        drop(inner);
        self.tell();
        Ok(count)
    }

    async fn cancel(&self, id: &str, now: i64, why: &str) -> Result<bool, StoreError> {
        let mut inner = self.lock();
        let Some(envelope) = inner.remove(id) else { return Ok(false) };
        inner.keep(vec![EndRecord::new(&envelope, now, End::Cancelled, why)]);
        Ok(true)
    }

    async fn cancel_hook(&self, hook: &str, now: i64) -> Result<u64, StoreError> {
        let mut inner = self.lock();
        let of_hook = |pending: &&Pending| &*pending.envelope.hook == hook;
        let ids: Vec<_> =
            inner.pending.values().filter(of_hook).map(|pending| pending.envelope.id.clone()).collect();
        for id in &ids {
            if let Some(envelope) = inner.remove(id) {
                inner.keep(vec![EndRecord::new(&envelope, now, End::Cancelled, "its hook is gone")]);
            }
        }
        Ok(ids.len() as u64)
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Envelope>, StoreError> {
        let inner = self.lock();
        let pending = inner.times.values().filter_map(|id| inner.pending.get(id));
        let fitting = pending.filter(|one| filter.fits(&one.envelope.context, &one.envelope.hook));
        Ok(fitting.map(|one| one.envelope.clone()).collect())
    }

    async fn get(&self, id: &str) -> Result<Option<Envelope>, StoreError> {
        Ok(self.lock().pending.get(id).map(|pending| pending.envelope.clone()))
    }

    async fn next(&self) -> Result<Option<i64>, StoreError> {
        Ok(self.lock().times.keys().next().map(|(at, _)| *at))
    }

    async fn record(&self, records: Vec<EndRecord>) -> Result<(), StoreError> {
        self.lock().keep(records);
        Ok(())
    }

    async fn records(&self, filter: &Filter, most: usize) -> Result<Vec<EndRecord>, StoreError> {
        let inner = self.lock();
        let fitting = inner.records.iter().rev().filter(|one| filter.fits(&one.context, &one.hook));
        Ok(fitting.take(most).cloned().collect())
    }

    #[cfg(feature = "scheduler")]
    async fn hint(&self) {
        self.fresh.notified().await
    }

    async fn forget(&self, before: i64) -> Result<u64, StoreError> {
        let mut inner = self.lock();
        let count = inner.records.len();
        inner.records.retain(|record| record.at >= before);
        Ok((count - inner.records.len()) as u64)
    }
}
