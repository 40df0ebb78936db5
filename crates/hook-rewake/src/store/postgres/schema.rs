//! The tables, and how those of older versions become today's.

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::Fault;

/// What each version adds to the one before.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE envelope (
        id BYTEA PRIMARY KEY, context BYTEA NOT NULL, hook BYTEA NOT NULL,
        at BIGINT NOT NULL, expires BIGINT NOT NULL, kind BYTEA, key BYTEA,
        claimed BOOLEAN NOT NULL DEFAULT FALSE, token BIGINT NOT NULL DEFAULT 0, delivery INTEGER NOT NULL DEFAULT 0,
        body BYTEA NOT NULL
    );
    CREATE INDEX envelope_at ON envelope (at, id);
    CREATE INDEX envelope_context ON envelope (context);
    CREATE INDEX envelope_hook ON envelope (hook);
    CREATE INDEX envelope_event ON envelope (kind, key) WHERE kind IS NOT NULL;
    CREATE SEQUENCE claim_token;
    CREATE TABLE ending (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        context BYTEA NOT NULL, hook BYTEA NOT NULL, at BIGINT NOT NULL, body BYTEA NOT NULL
    );
    CREATE INDEX ending_at ON ending (at);
"];

/// The version of the tables.
#[expect(clippy::cast_possible_wrap, reason = "there are few")]
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Others are waited for so long, and a statement may take so long.
const BOUNDS: &str = "SET lock_timeout = '5s'; SET statement_timeout = '15s';
    SET idle_in_transaction_session_timeout = '30s'; SET client_min_messages = warning;";

/// A name in a statement.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Makes a connection ready: bounds, the schema as the place where names are looked for, and the tables.
pub(super) async fn prepare(client: &mut Client, schema: &str) -> Result<(), Fault> {
    client.batch_execute(&format!("{BOUNDS} SET search_path = {}", quoted(schema))).await?;
    let there =
        "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 AND table_name = 'version'";
    let rows = client.query_typed(there, &[(&schema, Type::TEXT)]).await?;
    let there: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
    if there == 1 && version(client).await? == VERSION {
        return Ok(());
    }
    let on = client.transaction().await?;
    // Of two that come at once, one makes the tables and the other finds them.
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended('hook_rewake tables of ' || $1, 0))";
    on.query_typed(lock, &[(&schema, Type::TEXT)]).await?;
    on.batch_execute(&format!(
        "CREATE SCHEMA IF NOT EXISTS {}; CREATE TABLE IF NOT EXISTS version (number BIGINT NOT NULL)",
        quoted(schema)
    ))
    .await?;
    let rows = on.query_typed("SELECT max(number) FROM version", &[]).await?;
    let found: Option<i64> = rows.first().map(|row| row.try_get(0)).transpose()?.flatten();
    let found = found.unwrap_or(0);
    if found > VERSION {
        return Err(Fault::Newer(found));
    }
    for (step, number) in MIGRATIONS.iter().zip(1_i64..).filter(|(_, number)| *number > found) {
        on.batch_execute(step).await?;
        on.query_typed("INSERT INTO version VALUES ($1)", &[(&number, Type::INT8)]).await?;
    }
    on.commit().await?;
    Ok(())
}

async fn version(client: &Client) -> Result<i64, Fault> {
    let rows = client.query_typed("SELECT max(number) FROM version", &[]).await?;
    let found: Option<i64> = rows.first().map(|row| row.try_get(0)).transpose()?.flatten();
    Ok(found.unwrap_or(0))
}
