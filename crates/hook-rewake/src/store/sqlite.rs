//! Envelopes in a file, shared by the processes of one user.
//!
//! The journal is a write-ahead log: readers do not wait for the writer, and what was answered is on the disk. A process that is
//! killed leaves whole transactions behind.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::Notify;

use super::{Claim, Filter, Put, RewakeStore, StoreError};
use crate::envelope::{End, EndRecord, Envelope};

/// The version of the tables.
const VERSION: i64 = 1;

/// How long others are waited for.
const BUSY: Duration = Duration::from_secs(5);

/// Between two tries where SQLite itself does not wait.
const AGAIN: Duration = Duration::from_millis(2);

/// The same for somebody who only looks.
const GLANCE: Duration = Duration::from_millis(20);

const TABLES: &str = "
    CREATE TABLE envelope (
        id TEXT PRIMARY KEY, context TEXT NOT NULL, hook TEXT NOT NULL,
        at INTEGER NOT NULL, expires INTEGER NOT NULL, kind TEXT, key TEXT,
        claimed INTEGER NOT NULL DEFAULT 0, token INTEGER NOT NULL DEFAULT 0, delivery INTEGER NOT NULL DEFAULT 0,
        body TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX envelope_at ON envelope (at);
    CREATE INDEX envelope_context ON envelope (context);
    CREATE INDEX envelope_hook ON envelope (hook);
    CREATE INDEX envelope_event ON envelope (kind, key) WHERE kind IS NOT NULL;
    CREATE TABLE ending (number INTEGER PRIMARY KEY, context TEXT NOT NULL, hook TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL);
    CREATE INDEX ending_at ON ending (at);
";

/// A store in an SQLite database. It is opened by the first call; until then nothing is made.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    path: PathBuf,
    connection: Arc<Mutex<Option<Connection>>>,
    /// Something was put in through this handle or a copy of it.
    fresh: Arc<Notify>,
}

impl SqliteStore {
    /// The store at this path. Where its folder is not there it is made, for this user alone.
    pub fn new(path: impl Into<PathBuf>) -> SqliteStore {
        SqliteStore { path: path.into(), connection: Arc::default(), fresh: Arc::default() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A look at when something has to be done next, for a process without a runtime that somebody waits for. A store that is not
    /// there has nothing pending, and one that others are writing to is theirs to look after.
    ///
    /// # Errors
    /// The store fails.
    pub fn glance(&self) -> Result<Option<i64>, StoreError> {
        if !self.path.exists() {
            return Ok(None);
        }
        let look = || {
            let connection = Connection::open_with_flags(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.busy_timeout(GLANCE)?;
            let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            match version {
                VERSION => connection.query_row("SELECT min(at) FROM envelope", [], |row| row.get(0)),
                _ => Ok(None),
            }
        };
        match look().map_err(|error| self.fault(Fault::Database(error))) {
            Err(StoreError::Locked(_)) => Ok(None),
            looked => looked,
        }
    }

    /// Does something in one transaction, on a thread where waiting for the disk holds nobody up.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let mut held = store.connection.lock().unwrap_or_else(PoisonError::into_inner);
            let connection = match &mut *held {
                Some(connection) => connection,
                none => none.insert(store.open()?),
            };
            let transaction = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(|error| store.fault(Fault::Database(error)))?;
            let value = work(&transaction).map_err(|fault| store.fault(fault))?;
            transaction.commit().map_err(|error| store.fault(Fault::Database(error)))?;
            Ok(value)
        });
        match done.await {
            Ok(result) => result,
            Err(error) => Err(StoreError::Broken { place: self.place(), why: error.to_string() }),
        }
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn open(&self) -> Result<Connection, StoreError> {
        let broken = |why: String| StoreError::Broken { place: self.place(), why };
        if let Some(folder) = self.path.parent().filter(|folder| !folder.exists()) {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(|error| broken(error.to_string()))?;
        }
        // SQLite gives its other files the mode of this one. They hold what tools were called with.
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path);
        let file = file.map_err(|error| broken(error.to_string()))?;
        let mode = file.metadata().map_err(|error| broken(error.to_string()))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(broken(format!("its mode {:o} lets others read it; set it to 600", mode & 0o777)));
        }
        let mut connection =
            Connection::open(&self.path).map_err(|error| self.fault(Fault::Database(error)))?;
        let mut prepare = || {
            connection.busy_timeout(BUSY)?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "full")?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if found == 0 {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "user_version", VERSION)?;
            }
            transaction.commit()?;
            Ok(found)
        };
        // Two that make the database at once get in each other's way when they choose the journal, and SQLite does not wait there.
        let began = Instant::now();
        let mut prepared = prepare();
        while prepared.as_ref().is_err_and(is_busy) && began.elapsed() < BUSY {
            std::thread::sleep(AGAIN);
            prepared = prepare();
        }
        let found = prepared.map_err(|error| self.fault(Fault::Database(error)))?;
        if found > VERSION {
            return Err(StoreError::Newer { place: self.place(), found, known: VERSION });
        }
        Ok(connection)
    }

    fn fault(&self, fault: Fault) -> StoreError {
        let place = self.place();
        match fault {
            Fault::Fenced(id) => StoreError::Fenced(id),
            Fault::Body(why) => StoreError::Broken { place, why },
            Fault::Database(error) if is_busy(&error) => StoreError::Locked(place),
            Fault::Database(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => StoreError::Full(place),
                _ => StoreError::Broken { place, why: error.to_string() },
            },
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// What goes wrong in a transaction.
enum Fault {
    Fenced(Arc<str>),
    Body(String),
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Database(error)
    }
}

fn written(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::Body(error.to_string()))
}

fn read<T: DeserializeOwned>(body: &str) -> Result<T, Fault> {
    serde_json::from_str(body).map_err(|error| Fault::Body(format!("an entry cannot be read: {error}")))
}

fn insert(on: &Transaction<'_>, envelopes: Vec<Envelope>, quota: Option<u32>) -> Result<Vec<Put>, Fault> {
    let mut there = on.prepare_cached("SELECT 1 FROM envelope WHERE id = ?1")?;
    let mut count = on.prepare_cached("SELECT count(*) FROM envelope WHERE context = ?1")?;
    let mut put = on.prepare_cached(
        "INSERT OR REPLACE INTO envelope (id, context, hook, at, expires, kind, key, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let mut puts = Vec::with_capacity(envelopes.len());
    for envelope in envelopes {
        let replaced = there.exists([&envelope.id])?;
        if let (false, Some(quota)) = (replaced, quota) {
            let pending: u32 = count.query_row([&envelope.context], |row| row.get(0))?;
            if pending >= quota {
                puts.push(Put::OverQuota);
                continue;
            }
        }
        let waits = envelope.waits_for();
        put.execute(params![
            envelope.id,
            envelope.context,
            envelope.hook,
            envelope.wake_at(),
            envelope.expires(),
            waits.map(|(kind, _)| kind),
            waits.map(|(_, key)| key),
            written(&envelope)?,
        ])?;
        puts.push(if replaced { Put::Replaced } else { Put::Stored });
    }
    Ok(puts)
}

fn keep(on: &Transaction<'_>, records: &[EndRecord]) -> Result<(), Fault> {
    let mut put =
        on.prepare_cached("INSERT INTO ending (context, hook, at, body) VALUES (?1, ?2, ?3, ?4)")?;
    for record in records {
        put.execute(params![record.context, record.hook, record.at, written(record)?])?;
    }
    Ok(())
}

/// Bodies of the rows of a query.
fn bodies<T: DeserializeOwned>(
    on: &Transaction<'_>,
    query: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<T>, Fault> {
    let mut statement = on.prepare_cached(query)?;
    let rows = statement.query_map(values, |row| row.get::<_, String>(0))?;
    rows.map(|body| read(&body?)).collect()
}

fn cancelled(on: &Transaction<'_>, gone: &[Envelope], now: i64, why: &str) -> Result<(), Fault> {
    let mut remove = on.prepare_cached("DELETE FROM envelope WHERE id = ?1")?;
    for envelope in gone {
        remove.execute([&envelope.id])?;
    }
    let records: Vec<_> = gone.iter().map(|one| EndRecord::new(one, now, End::Cancelled, why)).collect();
    keep(on, &records)
}

#[async_trait]
impl RewakeStore for SqliteStore {
    async fn put(&self, envelopes: Vec<Envelope>, quota: Option<u32>) -> Result<Vec<Put>, StoreError> {
        let put = self.with(move |on| insert(on, envelopes, quota)).await;
        self.fresh.notify_one();
        put
    }

    async fn claim(&self, now: i64, lease: i64, most: usize) -> Result<Vec<Claim>, StoreError> {
        self.with(move |on| {
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let mut statement = on.prepare_cached(
                "UPDATE envelope SET claimed = 1, token = random() & 9223372036854775807, delivery = delivery + 1, at = ?2
                 WHERE id IN (SELECT id FROM envelope WHERE at <= ?1 ORDER BY at, id LIMIT ?3)
                 RETURNING body, token, delivery",
            )?;
            let until = now.saturating_add(lease);
            let rows = statement.query_map(params![now, until, most], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, u32>(2)?))
            })?;
            let mut claims = Vec::new();
            for row in rows {
                let (body, token, delivery) = row?;
                let envelope: Envelope = read(&body)?;
                let planned = envelope.wake_at();
                claims.push(Claim { envelope, planned, token: token.cast_unsigned(), delivery });
            }
            claims.sort_by(|a, b| (a.planned, &a.envelope.id).cmp(&(b.planned, &b.envelope.id)));
            Ok(claims)
        })
        .await
    }

    async fn settle(
        &self,
        claim: &Claim,
        records: Vec<EndRecord>,
        next: Vec<Envelope>,
        quota: Option<u32>,
    ) -> Result<Vec<Put>, StoreError> {
        let (id, token) = (claim.envelope.id.clone(), claim.token.cast_signed());
        self.with(move |on| {
            let mut remove =
                on.prepare_cached("DELETE FROM envelope WHERE id = ?1 AND token = ?2 AND claimed = 1")?;
            if remove.execute(params![id, token])? == 0 {
                return Err(Fault::Fenced(id));
            }
            keep(on, &records)?;
            insert(on, next, quota)
        })
        .await
    }

    async fn resolve(
        &self,
        kind: &str,
        key: &str,
        brought: &BTreeMap<String, String>,
        now: i64,
    ) -> Result<u64, StoreError> {
        let (kind, key, brought) = (kind.to_owned(), key.to_owned(), brought.clone());
        let resolved = self.with(move |on| {
            let waiting: Vec<Envelope> = bodies(
                on,
                "SELECT body FROM envelope WHERE kind = ?1 AND key = ?2 AND claimed = 0 AND expires >= ?3",
                params![kind, key, now],
            )?;
            let count = waiting.len() as u64;
            let due = |envelope| Envelope { due: Some(now), brought: brought.clone(), ..envelope };
            insert(on, waiting.into_iter().map(due).collect(), None)?;
            Ok(count)
        })
        .await;
        self.fresh.notify_one();
        resolved
    }

    async fn cancel(&self, id: &str, now: i64, why: &str) -> Result<bool, StoreError> {
        let (id, why) = (id.to_owned(), why.to_owned());
        self.with(move |on| {
            let gone: Vec<Envelope> = bodies(on, "SELECT body FROM envelope WHERE id = ?1", [id])?;
            cancelled(on, &gone, now, &why)?;
            Ok(!gone.is_empty())
        })
        .await
    }

    async fn cancel_hook(&self, hook: &str, now: i64) -> Result<u64, StoreError> {
        let hook = hook.to_owned();
        self.with(move |on| {
            let gone: Vec<Envelope> = bodies(on, "SELECT body FROM envelope WHERE hook = ?1", [hook])?;
            cancelled(on, &gone, now, "its hook is gone")?;
            Ok(gone.len() as u64)
        })
        .await
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Envelope>, StoreError> {
        let filter = filter.clone();
        self.with(move |on| {
            bodies(
                on,
                "SELECT body FROM envelope WHERE (?1 IS NULL OR context = ?1) AND (?2 IS NULL OR hook = ?2) ORDER BY at, id",
                params![filter.context, filter.hook],
            )
        })
        .await
    }

    async fn get(&self, id: &str) -> Result<Option<Envelope>, StoreError> {
        let id = id.to_owned();
        self.with(move |on| Ok(bodies(on, "SELECT body FROM envelope WHERE id = ?1", [id])?.pop())).await
    }

    async fn next(&self) -> Result<Option<i64>, StoreError> {
        self.with(|on| {
            let next = on.query_row("SELECT min(at) FROM envelope", [], |row| row.get(0)).optional()?;
            Ok(next.flatten())
        })
        .await
    }

    async fn record(&self, records: Vec<EndRecord>) -> Result<(), StoreError> {
        self.with(move |on| keep(on, &records)).await
    }

    async fn records(&self, filter: &Filter, most: usize) -> Result<Vec<EndRecord>, StoreError> {
        let filter = filter.clone();
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.with(move |on| {
            bodies(
                on,
                "SELECT body FROM ending WHERE (?1 IS NULL OR context = ?1) AND (?2 IS NULL OR hook = ?2) ORDER BY number DESC LIMIT ?3",
                params![filter.context, filter.hook, most],
            )
        })
        .await
    }

    async fn hint(&self) {
        self.fresh.notified().await
    }

    async fn forget(&self, before: i64) -> Result<u64, StoreError> {
        self.with(move |on| Ok(on.execute("DELETE FROM ending WHERE at < ?1", [before])? as u64)).await
    }
}
