//! Hooks that wait to be woken: what is pending, what became of the others, and what moves them.

use std::collections::BTreeMap;
use std::fmt::Write;

use hook_engine::core::HostContext;
use hook_engine::mapper::Dialects;
use hook_engine::rewake::envelope::{EndRecord, Envelope};
use hook_engine::rewake::scheduler::Round;
use hook_engine::rewake::store::{Filter, RewakeStore, SqliteStore, StoreError};
use hook_engine::rewake::zone::rfc3339;
use serde_json::{Value, json};

use crate::args::{RewakeArgs, RewakeVerb};
use crate::error::CliError;
use crate::{exit, output, session, waking, world};

/// Records that are listed at most.
pub(crate) const MOST_RECORDS: usize = 1000;

pub(crate) fn rewake(args: &RewakeArgs) -> Result<u8, CliError> {
    let dialects = Dialects::standard();
    let host = world::host(session::dialect(&dialects, "native")?.profile(), None);
    let Some(store) = waking::store(&host) else {
        return Err(CliError::usage("there is no directory for state").help("set HOME or XDG_STATE_HOME"));
    };
    match &args.verb {
        RewakeVerb::List { ended: false, json } => {
            let pending = ask(store.list(&Filter::default()))?;
            let shown: Vec<Value> = pending.iter().map(envelope).collect();
            show(*json, &shown.into(), || pending.iter().map(line).collect(), "nothing waits to be woken")
        }
        RewakeVerb::List { ended: true, json } => {
            let records = ask(store.records(&Filter::default(), MOST_RECORDS))?;
            let shown = serde_json::to_value(&records).unwrap_or_default();
            show(*json, &shown, || records.iter().map(record).collect(), "nothing has ended yet")
        }
        RewakeVerb::Show { id, json } => {
            let pending = ask(store.get(id))?;
            let records: Vec<EndRecord> = ask(store.records(&Filter::default(), usize::MAX))?
                .into_iter()
                .filter(|one| *one.id == **id || *one.chain == **id)
                .collect();
            if pending.is_none() && records.is_empty() {
                return Err(unknown(id));
            }
            let shown = json!({"pending": pending.as_ref().map(envelope), "ended": records});
            let text = || pending.iter().map(details).chain(records.iter().map(record)).collect();
            show(*json, &shown, text, "")
        }
        RewakeVerb::Resolve { kind, key, payload } => resolve(&host, store, kind, key, payload.as_deref()),
        RewakeVerb::Cancel { id, hook } => {
            let now = millis(&host);
            let count = match (id, hook) {
                (Some(id), _) => u64::from(ask(store.cancel(id, now, "by its id"))?),
                (None, Some(hook)) => ask(store.cancel_hook(hook, now))?,
                (None, None) => 0,
            };
            match (count, id) {
                (0, Some(id)) => Err(unknown(id)),
                _ => {
                    output::data(&format!("{count} cancelled\n"))?;
                    Ok(exit::OK)
                }
            }
        }
        RewakeVerb::Tick => told(waking::tick(&host, store)?),
    }
}

fn resolve(
    host: &HostContext,
    store: SqliteStore,
    kind: &str,
    key: &str,
    payload: Option<&str>,
) -> Result<u8, CliError> {
    for (name, word) in [("type", kind), ("key", key)] {
        if word.trim().is_empty() {
            return Err(CliError::usage(format!("the {name} of the event is empty")));
        }
    }
    let brought: BTreeMap<String, String> = match payload {
        None => BTreeMap::new(),
        Some(text) => serde_json::from_str(text).map_err(|error| {
            CliError::data(format!("--payload: {error}"))
                .help("give it an object of texts, for instance '{\"status\": \"approved\"}'")
        })?,
    };
    let matched = ask(store.resolve(kind, key, &brought, millis(host)))?;
    output::data(&format!("{matched} matched\n"))?;
    if matched == 0 {
        return Ok(exit::OK);
    }
    told(waking::tick(host, store)?)
}

fn told(round: Option<Round>) -> Result<u8, CliError> {
    match round {
        Some(round) => {
            output::data(&format!("{} woken, {} dropped\n", round.fired, round.dropped))?;
            Ok(exit::OK)
        }
        None => Err(CliError::internal("a signal ended it; what it had begun comes back in two minutes")),
    }
}

fn ask<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, CliError> {
    match session::block_on(work)? {
        Some(result) => result.map_err(waking::failed),
        None => Err(CliError::internal("a signal ended it")),
    }
}

fn unknown(id: &str) -> CliError {
    CliError::refused(format!("nothing that waits has the id {id:?}"))
        .help("`hook rewake list` shows what waits, with --ended what became of the others")
}

fn millis(host: &HostContext) -> i64 {
    let since = host.clock.now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.ok().and_then(|time| i64::try_from(time.as_millis()).ok()).unwrap_or(0)
}

fn show(as_json: bool, value: &Value, text: impl FnOnce() -> String, nothing: &str) -> Result<u8, CliError> {
    if as_json {
        output::data(&format!("{value:#}\n"))?;
    } else {
        let text = text();
        let text = if text.is_empty() { format!("{nothing}\n") } else { text };
        output::data(&output::harmless(&text))?;
    }
    Ok(exit::OK)
}

fn line(envelope: &Envelope) -> String {
    let when = match (envelope.waits_for(), envelope.due) {
        (Some((kind, key)), _) => format!("on {kind} {key:?}, until {}", rfc3339(envelope.expires())),
        (None, Some(due)) => format!("at {}", rfc3339(due)),
        (None, None) => "never".to_owned(),
    };
    let attempts = format!("{}/{}", envelope.attempt, envelope.spec.max_attempts);
    format!("{}  {}  {attempts}  {when}\n  {}\n", envelope.id, envelope.hook, envelope.spec.reason)
}

fn details(envelope: &Envelope) -> String {
    let mut out = line(envelope);
    for (name, value) in envelope.payload() {
        let _ = writeln!(out, "  {name}: {value}");
    }
    let _ = writeln!(out, "  {}: {}", envelope.snapshot.dialect, envelope.snapshot.payload);
    out
}

fn record(record: &EndRecord) -> String {
    let how = json!(record.end);
    let how = how.as_str().unwrap_or_default();
    format!(
        "{}  {}  {}  {how}: {}  {}\n",
        record.id,
        record.hook,
        record.attempt,
        record.why,
        rfc3339(record.at)
    )
}

pub(crate) fn envelope(envelope: &Envelope) -> Value {
    json!({
        "id": envelope.id,
        "chain": envelope.chain,
        "hook": envelope.hook,
        "agent": envelope.snapshot.dialect,
        "session": envelope.snapshot.session,
        "attempt": envelope.attempt,
        "max_attempts": envelope.spec.max_attempts,
        "due": envelope.due.map(rfc3339),
        "waits_for": envelope.waits_for().map(|(kind, key)| json!({"type": kind, "key": key})),
        "expires": rfc3339(envelope.expires()),
        "reason": envelope.spec.reason,
        "payload": envelope.payload(),
    })
}
