//! Envelopes in a PostgreSQL database, shared by many machines.
//!
//! Whoever claims locks rows and skips those that others have locked, so that schedulers do not wait for each other. `NOTIFY` tells
//! others that something was put in; it is a hint, and looking is the truth. Texts are kept as bytes: they may hold what a text of
//! this database cannot.

mod connect;
mod schema;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::{Mutex, MutexGuard, Notify};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Row, Transaction};

use super::{Claim, Filter, Put, RewakeStore, StoreError};
use crate::envelope::{End, EndRecord, Envelope};
use connect::Listening;

/// A store in a PostgreSQL database (13 or newer), in a schema of its own. It is connected to by the first call, and again when the
/// connection is lost; the tables are made where they are missing.
///
/// A handle uses one connection for its calls and one to be told of changes.
pub struct PostgresStore {
    config: Config,
    schema: String,
    client: Mutex<Option<Client>>,
    listening: Mutex<Option<Listening>>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("place", &self.place()).finish_non_exhaustive()
    }
}

/// The schema of stores that name none.
const SCHEMA: &str = "hook_rewake";

/// What goes wrong in a transaction.
enum Fault {
    Fenced(Arc<str>),
    Body(String),
    Newer(i64),
    Database(tokio_postgres::Error),
    Connecting(String),
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Fault {
        Fault::Database(error)
    }
}

type Held<'s> = MutexGuard<'s, Option<Client>>;

impl PostgresStore {
    /// The store that `url` names ("PostgreSQL documentation, Connection Strings": `postgresql://user@host:5432/database`, or keys and
    /// values). Nothing is connected to yet.
    ///
    /// With `sslmode=require` the connection is encrypted and the server has to prove who it is, by the certificates of the system.
    /// So it goes without a mode, too, unless the server is on this machine. `sslmode=disable` sends everything as it is.
    ///
    /// # Errors
    /// The text names no database.
    pub fn new(url: &str) -> Result<PostgresStore, StoreError> {
        let config: Config = url.parse().map_err(|error: tokio_postgres::Error| StoreError::Broken {
            // The text may hold a password.
            place: "a PostgreSQL database".to_owned(),
            why: format!("its address cannot be read: {}", told(&error)),
        })?;
        Ok(PostgresStore {
            config: connect::bounded(config),
            schema: SCHEMA.to_owned(),
            client: Mutex::default(),
            listening: Mutex::default(),
        })
    }

    /// With the tables in this schema.
    #[must_use]
    pub fn schema(mut self, name: impl Into<String>) -> PostgresStore {
        self.schema = name.into();
        self
    }

    /// Where it is, without a password.
    fn place(&self) -> String {
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            tokio_postgres::config::Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            tokio_postgres::config::Host::Unix(path) => path.display().to_string(),
        });
        let hosts: Vec<String> = hosts.collect();
        let (database, schema) = (self.config.get_dbname().unwrap_or("the user's database"), &self.schema);
        let ports: Vec<String> = self.config.get_ports().iter().map(u16::to_string).collect();
        let port = if ports.is_empty() { String::new() } else { format!(":{}", ports.join(",")) };
        format!("{}{port}, {database}, {schema}", hosts.join(","))
    }

    fn fault(&self, fault: Fault) -> StoreError {
        let place = self.place();
        match fault {
            Fault::Fenced(id) => StoreError::Fenced(id),
            Fault::Body(why) => StoreError::Broken { place, why },
            Fault::Newer(found) => StoreError::Newer { place, found, known: schema::VERSION },
            Fault::Connecting(why) => StoreError::Unreachable { place, why },
            Fault::Database(error) => match error.code() {
                Some(&SqlState::LOCK_NOT_AVAILABLE | &SqlState::QUERY_CANCELED) => StoreError::Locked(place),
                Some(&SqlState::DISK_FULL) => StoreError::Full(place),
                Some(_) => StoreError::Broken { place, why: told(&error) },
                None => StoreError::Unreachable { place, why: told(&error) },
            },
        }
    }

    /// A connection, made where there is none that works.
    async fn client(&self) -> Result<Held<'_>, Fault> {
        let mut held = self.client.lock().await;
        // One that was lost without a word is found out by asking: nothing has been done on it yet.
        let works = match &*held {
            Some(client) if !client.is_closed() => client.simple_query("").await.is_ok(),
            _ => false,
        };
        if !works {
            *held = None;
            let mut client = connect::connect(&self.config).await?;
            schema::prepare(&mut client, &self.schema).await?;
            *held = Some(client);
        }
        Ok(held)
    }

    async fn put_all(&self, envelopes: Vec<Envelope>, quota: Option<u32>) -> Result<Vec<Put>, Fault> {
        let mut held = self.client().await?;
        let on = begin(&mut held).await?;
        let puts = insert(&on, &envelopes, quota).await?;
        self.tell(&on).await?;
        on.commit().await?;
        Ok(puts)
    }

    async fn claim_all(&self, now: i64, lease: i64, most: usize) -> Result<Vec<Claim>, Fault> {
        let mut held = self.client().await?;
        let on = begin(&mut held).await?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let until = now.saturating_add(lease);
        let rows = on
            .query_typed(
                "WITH due AS MATERIALIZED (
                     SELECT id FROM envelope WHERE at <= $1 ORDER BY at, id LIMIT $3 FOR UPDATE SKIP LOCKED)
                 UPDATE envelope SET claimed = TRUE, token = nextval('claim_token'), delivery = delivery + 1, at = $2
                 FROM due WHERE envelope.id = due.id
                 RETURNING body, token, delivery",
                &[(&now, Type::INT8), (&until, Type::INT8), (&most, Type::INT8)],
            )
            .await?;
        let mut claims = Vec::with_capacity(rows.len());
        for row in rows {
            let envelope: Envelope = body(&row)?;
            let (token, delivery): (i64, i32) = (row.try_get(1)?, row.try_get(2)?);
            let planned = envelope.wake_at();
            let delivery = u32::try_from(delivery).unwrap_or(u32::MAX);
            claims.push(Claim { envelope, planned, token: token.cast_unsigned(), delivery });
        }
        on.commit().await?;
        claims.sort_by(|a, b| (a.planned, &a.envelope.id).cmp(&(b.planned, &b.envelope.id)));
        Ok(claims)
    }

    async fn settle_one(
        &self,
        claim: &Claim,
        records: &[EndRecord],
        next: &[Envelope],
        quota: Option<u32>,
    ) -> Result<Vec<Put>, Fault> {
        let mut held = self.client().await?;
        let on = begin(&mut held).await?;
        let (id, token) = (claim.envelope.id.as_bytes(), claim.token.cast_signed());
        let gone = on
            .query_typed(
                "DELETE FROM envelope WHERE id = $1 AND token = $2 AND claimed RETURNING id",
                &[(&id, Type::BYTEA), (&token, Type::INT8)],
            )
            .await?;
        if gone.is_empty() {
            return Err(Fault::Fenced(claim.envelope.id.clone()));
        }
        keep(&on, records).await?;
        let puts = insert(&on, next, quota).await?;
        if !next.is_empty() {
            self.tell(&on).await?;
        }
        on.commit().await?;
        Ok(puts)
    }

    async fn resolve_all(
        &self,
        kind: &str,
        key: &str,
        brought: &BTreeMap<String, String>,
        now: i64,
    ) -> Result<u64, Fault> {
        let mut held = self.client().await?;
        let on = begin(&mut held).await?;
        let rows = on
            .query_typed(
                "SELECT body FROM envelope WHERE kind = $1 AND key = $2 AND NOT claimed AND expires >= $3
                 ORDER BY id FOR UPDATE",
                &[(&kind.as_bytes(), Type::BYTEA), (&key.as_bytes(), Type::BYTEA), (&now, Type::INT8)],
            )
            .await?;
        let mut due: Vec<Envelope> = rows.iter().map(body).collect::<Result<_, _>>()?;
        for envelope in &mut due {
            envelope.due = Some(now);
            envelope.brought.clone_from(brought);
        }
        if !due.is_empty() {
            insert(&on, &due, None).await?;
            self.tell(&on).await?;
        }
        on.commit().await?;
        Ok(due.len() as u64)
    }

    /// Removes what a condition on `column` finds.
    async fn cancel_all(&self, column: &str, value: &str, now: i64, why: &str) -> Result<u64, Fault> {
        let mut held = self.client().await?;
        let on = begin(&mut held).await?;
        let query = format!("DELETE FROM envelope WHERE {column} = $1 RETURNING body");
        let rows = on.query_typed(&query, &[(&value.as_bytes(), Type::BYTEA)]).await?;
        let gone: Vec<Envelope> = rows.iter().map(body).collect::<Result<_, _>>()?;
        let records: Vec<_> = gone.iter().map(|one| EndRecord::new(one, now, End::Cancelled, why)).collect();
        keep(&on, &records).await?;
        on.commit().await?;
        Ok(gone.len() as u64)
    }

    /// Asks for bodies.
    async fn bodies<T: DeserializeOwned>(
        &self,
        query: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<T>, Fault> {
        let held = self.client().await?;
        let client = connected(&held)?;
        client.query_typed(query, values).await?.iter().map(body).collect()
    }

    async fn next_moment(&self) -> Result<Option<i64>, Fault> {
        let held = self.client().await?;
        let rows = connected(&held)?.query_typed("SELECT min(at) FROM envelope", &[]).await?;
        Ok(rows.first().map(|row| row.try_get(0)).transpose()?.flatten())
    }

    async fn keep_all(&self, records: &[EndRecord]) -> Result<(), Fault> {
        let mut held = self.client().await?;
        let on = begin(&mut held).await?;
        keep(&on, records).await?;
        on.commit().await?;
        Ok(())
    }

    async fn forget_all(&self, before: i64) -> Result<u64, Fault> {
        let held = self.client().await?;
        let query = "WITH gone AS (DELETE FROM ending WHERE at < $1 RETURNING 1) SELECT count(*) FROM gone";
        let rows = connected(&held)?.query_typed(query, &[(&before, Type::INT8)]).await?;
        let count: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Tells the others, when the transaction is done.
    async fn tell(&self, on: &Transaction<'_>) -> Result<(), Fault> {
        on.query_typed("SELECT pg_notify($1, '')", &[(&self.schema, Type::TEXT)]).await?;
        Ok(())
    }

    /// Heard of a change; the connection for it is made where there is none.
    async fn heard(&self) -> Result<Arc<Notify>, Fault> {
        let mut held = self.listening.lock().await;
        if let Some(listening) = held.as_ref().filter(|listening| listening.is_on()) {
            return Ok(listening.told());
        }
        let listening = Listening::start(&self.config, &self.schema).await?;
        let told = listening.told();
        *held = Some(listening);
        Ok(told)
    }
}

fn connected<'h>(held: &'h Held<'_>) -> Result<&'h Client, Fault> {
    held.as_ref().ok_or_else(|| Fault::Connecting("there is no connection".to_owned()))
}

async fn begin<'h>(held: &'h mut Held<'_>) -> Result<Transaction<'h>, Fault> {
    let client = held.as_mut().ok_or_else(|| Fault::Connecting("there is no connection".to_owned()))?;
    Ok(client.transaction().await?)
}

/// An error with its causes.
fn told(error: &tokio_postgres::Error) -> String {
    if let Some(database) = error.as_db_error() {
        return database.message().to_owned();
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(&format!(": {next}"));
        cause = next.source();
    }
    text
}

fn written(value: &impl Serialize) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(value).map_err(|error| Fault::Body(error.to_string()))
}

/// The body in the first column.
fn body<T: DeserializeOwned>(row: &Row) -> Result<T, Fault> {
    let bytes: &[u8] = row.try_get(0)?;
    serde_json::from_slice(bytes).map_err(|error| Fault::Body(format!("an entry cannot be read: {error}")))
}

/// Stores envelopes, in one statement however many they are.
async fn insert(on: &Transaction<'_>, envelopes: &[Envelope], quota: Option<u32>) -> Result<Vec<Put>, Fault> {
    if envelopes.is_empty() {
        return Ok(Vec::new());
    }
    let mut counts = HashMap::new();
    if quota.is_some() {
        counts = counted(on, envelopes).await?;
    }
    let ids: Vec<&[u8]> = envelopes.iter().map(|envelope| envelope.id.as_bytes()).collect();
    let query = "SELECT id FROM envelope WHERE id = ANY($1)";
    let rows = on.query_typed(query, &[(&ids, Type::BYTEA_ARRAY)]).await?;
    let mut there = HashSet::new();
    for row in rows {
        there.insert(row.try_get::<_, Vec<u8>>(0)?);
    }
    let mut puts = Vec::with_capacity(envelopes.len());
    // Of one id the last one counts; a statement may not touch a row twice.
    let mut stored: Vec<&Envelope> = Vec::with_capacity(envelopes.len());
    let mut places: HashMap<&str, usize> = HashMap::new();
    for envelope in envelopes {
        let replaced = !there.insert(envelope.id.as_bytes().to_vec());
        let count = counts.entry(envelope.context.as_bytes().to_vec()).or_insert(0_i64);
        if !replaced && quota.is_some_and(|quota| *count >= i64::from(quota)) {
            there.remove(envelope.id.as_bytes());
            puts.push(Put::OverQuota);
            continue;
        }
        *count += i64::from(!replaced);
        match places.get(&*envelope.id) {
            Some(place) => stored[*place] = envelope,
            None => {
                places.insert(&envelope.id, stored.len());
                stored.push(envelope);
            }
        }
        puts.push(if replaced { Put::Replaced } else { Put::Stored });
    }
    if stored.is_empty() {
        return Ok(puts);
    }
    let texts = |of: fn(&Envelope) -> &str| stored.iter().map(|one| of(one).as_bytes()).collect::<Vec<_>>();
    let (ids, contexts, hooks) = (texts(|one| &one.id), texts(|one| &one.context), texts(|one| &one.hook));
    let at: Vec<i64> = stored.iter().map(|one| one.wake_at()).collect();
    let expires: Vec<i64> = stored.iter().map(|one| one.expires()).collect();
    let kinds: Vec<_> = stored.iter().map(|one| one.waits_for().map(|(kind, _)| kind.as_bytes())).collect();
    let keys: Vec<_> = stored.iter().map(|one| one.waits_for().map(|(_, key)| key.as_bytes())).collect();
    let bodies: Vec<Vec<u8>> = stored.iter().map(written).collect::<Result<_, _>>()?;
    on.query_typed(
        "INSERT INTO envelope (id, context, hook, at, expires, kind, key, body)
         SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (id) DO UPDATE SET context = excluded.context, hook = excluded.hook, at = excluded.at,
             expires = excluded.expires, kind = excluded.kind, key = excluded.key, body = excluded.body,
             claimed = FALSE, token = 0, delivery = 0",
        &[
            (&ids, Type::BYTEA_ARRAY),
            (&contexts, Type::BYTEA_ARRAY),
            (&hooks, Type::BYTEA_ARRAY),
            (&at, Type::INT8_ARRAY),
            (&expires, Type::INT8_ARRAY),
            (&kinds, Type::BYTEA_ARRAY),
            (&keys, Type::BYTEA_ARRAY),
            (&bodies, Type::BYTEA_ARRAY),
        ],
    )
    .await?;
    Ok(puts)
}

/// How many envelopes the contexts have. Nobody else puts any into them until the transaction is done.
async fn counted(on: &Transaction<'_>, envelopes: &[Envelope]) -> Result<HashMap<Vec<u8>, i64>, Fault> {
    let mut contexts: Vec<&[u8]> = envelopes.iter().map(|envelope| envelope.context.as_bytes()).collect();
    // In one order, so that two that lock several do not wait for each other.
    contexts.sort_unstable();
    contexts.dedup();
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || encode(context, 'hex'), 0))
                FROM unnest($1) WITH ORDINALITY AS all_of(context, place) ORDER BY place";
    on.query_typed(lock, &[(&contexts, Type::BYTEA_ARRAY)]).await?;
    let query = "SELECT context, count(*) FROM envelope WHERE context = ANY($1) GROUP BY context";
    let rows = on.query_typed(query, &[(&contexts, Type::BYTEA_ARRAY)]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

async fn keep(on: &Transaction<'_>, records: &[EndRecord]) -> Result<(), Fault> {
    if records.is_empty() {
        return Ok(());
    }
    let contexts: Vec<&[u8]> = records.iter().map(|record| record.context.as_bytes()).collect();
    let hooks: Vec<&[u8]> = records.iter().map(|record| record.hook.as_bytes()).collect();
    let at: Vec<i64> = records.iter().map(|record| record.at).collect();
    let bodies: Vec<Vec<u8>> = records.iter().map(written).collect::<Result<_, _>>()?;
    on.query_typed(
        "INSERT INTO ending (context, hook, at, body)
         SELECT context, hook, at, body FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS all_of(context, hook, at, body, place)
         ORDER BY place",
        &[
            (&contexts, Type::BYTEA_ARRAY),
            (&hooks, Type::BYTEA_ARRAY),
            (&at, Type::INT8_ARRAY),
            (&bodies, Type::BYTEA_ARRAY),
        ],
    )
    .await?;
    Ok(())
}

/// The two values that a filter is asked with.
fn wanted(filter: &Filter) -> [Option<&[u8]>; 2] {
    [filter.context.as_deref().map(str::as_bytes), filter.hook.as_deref().map(str::as_bytes)]
}

#[async_trait]
impl RewakeStore for PostgresStore {
    async fn put(&self, envelopes: Vec<Envelope>, quota: Option<u32>) -> Result<Vec<Put>, StoreError> {
        self.put_all(envelopes, quota).await.map_err(|fault| self.fault(fault))
    }

    async fn claim(&self, now: i64, lease: i64, most: usize) -> Result<Vec<Claim>, StoreError> {
        self.claim_all(now, lease, most).await.map_err(|fault| self.fault(fault))
    }

    async fn settle(
        &self,
        claim: &Claim,
        records: Vec<EndRecord>,
        next: Vec<Envelope>,
        quota: Option<u32>,
    ) -> Result<Vec<Put>, StoreError> {
        self.settle_one(claim, &records, &next, quota).await.map_err(|fault| self.fault(fault))
    }

    async fn resolve(
        &self,
        kind: &str,
        key: &str,
        brought: &BTreeMap<String, String>,
        now: i64,
    ) -> Result<u64, StoreError> {
        self.resolve_all(kind, key, brought, now).await.map_err(|fault| self.fault(fault))
    }

    async fn cancel(&self, id: &str, now: i64, why: &str) -> Result<bool, StoreError> {
        let gone = self.cancel_all("id", id, now, why).await;
        gone.map(|count| count > 0).map_err(|fault| self.fault(fault))
    }

    async fn cancel_hook(&self, hook: &str, now: i64) -> Result<u64, StoreError> {
        self.cancel_all("hook", hook, now, "its hook is gone").await.map_err(|fault| self.fault(fault))
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Envelope>, StoreError> {
        let [context, hook] = wanted(filter);
        let query =
            "SELECT body FROM envelope WHERE ($1 IS NULL OR context = $1) AND ($2 IS NULL OR hook = $2)
                     ORDER BY at, id";
        let listed = self.bodies(query, &[(&context, Type::BYTEA), (&hook, Type::BYTEA)]).await;
        listed.map_err(|fault| self.fault(fault))
    }

    async fn get(&self, id: &str) -> Result<Option<Envelope>, StoreError> {
        let query = "SELECT body FROM envelope WHERE id = $1";
        let found = self.bodies(query, &[(&id.as_bytes(), Type::BYTEA)]).await;
        found.map(|mut found| found.pop()).map_err(|fault| self.fault(fault))
    }

    async fn next(&self) -> Result<Option<i64>, StoreError> {
        self.next_moment().await.map_err(|fault| self.fault(fault))
    }

    async fn record(&self, records: Vec<EndRecord>) -> Result<(), StoreError> {
        self.keep_all(&records).await.map_err(|fault| self.fault(fault))
    }

    async fn records(&self, filter: &Filter, most: usize) -> Result<Vec<EndRecord>, StoreError> {
        let [context, hook] = wanted(filter);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let query = "SELECT body FROM ending WHERE ($1 IS NULL OR context = $1) AND ($2 IS NULL OR hook = $2)
                     ORDER BY number DESC LIMIT $3";
        let values: [(&(dyn ToSql + Sync), Type); 3] =
            [(&context, Type::BYTEA), (&hook, Type::BYTEA), (&most, Type::INT8)];
        self.bodies(query, &values).await.map_err(|fault| self.fault(fault))
    }

    async fn forget(&self, before: i64) -> Result<u64, StoreError> {
        self.forget_all(before).await.map_err(|fault| self.fault(fault))
    }

    async fn hint(&self) {
        match self.heard().await {
            Ok(told) => told.notified().await,
            // Looking now and then has to do; the next call tries again.
            Err(_) => tokio::time::sleep(connect::AGAIN).await,
        }
    }
}
