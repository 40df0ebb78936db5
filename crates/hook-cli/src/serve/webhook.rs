//! Events from outside ("Hook Configuration Guide, Async Rewake, Webhook": `POST /rewake/events`).
//!
//! A delivery is signed: `X-Rewake-Signature` holds the HMAC-SHA256 of the raw body in hexadecimal digits, with or without `sha256=`
//! before it. One that brings an `X-Rewake-Idempotency-Key` counts once in 24 hours; the key is remembered in a file, so that a
//! repetition after a restart is still one.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// How long a delivery is remembered, in milliseconds.
const REMEMBERED: i64 = 24 * 3_600_000;

/// Deliveries that are remembered at most; the oldest go.
const MOST: usize = 10_000;

/// An event that a delivery brings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Delivery {
    pub(crate) kind: String,
    pub(crate) key: String,
    pub(crate) payload: BTreeMap<String, String>,
}

/// Why a body is no delivery.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It is no JSON object.
    NoObject(String),
    /// Its type or its key is not there.
    Missing(&'static str),
}

impl Delivery {
    /// Reads a body. Values of the payload that are no texts are left out, as the guide has it.
    pub(crate) fn read(body: &[u8]) -> Result<Delivery, Unfit> {
        let value: Value =
            serde_json::from_slice(body).map_err(|error| Unfit::NoObject(format!("no JSON: {error}")))?;
        let Value::Object(members) = value else {
            return Err(Unfit::NoObject("JSON, but no object".to_owned()));
        };
        let text = |name: &'static str| match members.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
            _ => Err(Unfit::Missing(name)),
        };
        let (kind, key) = (text("eventType")?, text("eventKey")?);
        let payload = members.get("payload").and_then(Value::as_object).into_iter().flatten();
        let texts = payload.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        Ok(Delivery { kind, key, payload: texts.collect() })
    }
}

/// True where the signature is that of the body; comparing takes as long for every wrong one.
pub(crate) fn is_signed(secret: &[u8], body: &[u8], signature: &str) -> bool {
    let signature = signature.trim();
    let digits = signature.strip_prefix("sha256=").unwrap_or(signature);
    let Some(bytes) = bytes(digits) else { return false };
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
    mac.update(body);
    mac.verify_slice(&bytes).is_ok()
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()).collect()
}

/// One delivery that was counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Counted {
    key: String,
    at: i64,
    matched: u64,
}

/// Deliveries that were counted already.
pub(crate) struct Deliveries {
    path: PathBuf,
    known: HashMap<String, Counted>,
}

impl Deliveries {
    /// Those of a file. A line that cannot be read was cut off by the end of its process.
    pub(crate) fn open(path: PathBuf, now: i64) -> Deliveries {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Counted>(line).ok());
        let known = lines.map(|one| (one.key.clone(), one)).collect();
        let mut deliveries = Deliveries { path, known };
        deliveries.forget(now);
        deliveries
    }

    /// How many this one matched when it came for the first time.
    pub(crate) fn seen(&self, key: &str, now: i64) -> Option<u64> {
        let one = self.known.get(&print(key))?;
        (now.saturating_sub(one.at) < REMEMBERED).then_some(one.matched)
    }

    /// Remembers one.
    pub(crate) fn remember(&mut self, key: &str, matched: u64, now: i64) -> std::io::Result<()> {
        if self.known.len() >= MOST {
            self.forget(now);
        }
        let one = Counted { key: print(key), at: now, matched };
        let line = serde_json::to_string(&one)?;
        self.known.insert(one.key.clone(), one);
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    }

    /// Forgets what is old, and of too many the oldest.
    fn forget(&mut self, now: i64) {
        self.known.retain(|_, one| now.saturating_sub(one.at) < REMEMBERED);
        let mut left: Vec<Counted> = self.known.values().cloned().collect();
        left.sort_by_key(|one| one.at);
        let over = left.len().saturating_sub(MOST / 2);
        if left.len() >= MOST {
            for one in left.drain(..over) {
                self.known.remove(&one.key);
            }
        }
        let lines: String =
            left.iter().filter_map(|one| serde_json::to_string(one).ok()).map(|line| line + "\n").collect();
        // A file that cannot be replaced is read once more next time.
        let aside = self.path.with_extension("new");
        let written = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&aside);
        if written.and_then(|mut file| file.write_all(lines.as_bytes())).is_ok() {
            let _ = fs::rename(&aside, &self.path);
        }
    }
}

/// Keys are as long as somebody likes.
fn print(key: &str) -> String {
    Sha256::digest(key.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_fits_its_body_and_secret_alone() {
        // RFC 4231, test case 2.
        let right = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let (secret, body) = (b"Jefe", b"what do ya want for nothing?");
        for good in [right.to_owned(), format!("sha256={right}"), right.to_uppercase(), format!(" {right} ")]
        {
            assert!(is_signed(secret, body, &good), "{good}");
        }
        let cut = &right[..62];
        let other = right.replace('5', "6");
        for bad in ["", "sha256=", cut, &other, "sha1=5bdc", "zz", "é"] {
            assert!(!is_signed(secret, body, bad), "{bad}");
        }
        assert!(!is_signed(b"jefe", body, right) && !is_signed(secret, b"something else", right));
    }

    #[test]
    fn bodies_are_read_as_the_guide_has_them() {
        let read = |body: &str| Delivery::read(body.as_bytes());
        let good =
            read(r#"{"eventType": "approval", "eventKey": "T-1", "payload": {"a": "1", "b": 2}, "more": 1}"#);
        let good = good.unwrap();
        assert_eq!((good.kind.as_str(), good.key.as_str()), ("approval", "T-1"));
        assert_eq!(good.payload, [("a".to_owned(), "1".to_owned())].into());
        assert_eq!(read(r#"{"eventKey": "k"}"#), Err(Unfit::Missing("eventType")));
        assert_eq!(read(r#"{"eventType": "t", "eventKey": " "}"#), Err(Unfit::Missing("eventKey")));
        assert_eq!(read(r#"{"eventType": 1, "eventKey": "k"}"#), Err(Unfit::Missing("eventType")));
        for bad in ["", "[]", "1", "{", "null"] {
            assert!(matches!(read(bad), Err(Unfit::NoObject(_))), "{bad}");
        }
    }

    #[test]
    fn a_delivery_is_remembered_for_a_day_across_restarts() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("deliveries");
        let mut first = Deliveries::open(path.clone(), 0);
        assert_eq!(first.seen("k", 0), None);
        first.remember("k", 3, 5).unwrap();
        first.remember("other", 0, 5).unwrap();
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"key\": \"cut").unwrap();
        let again = Deliveries::open(path.clone(), 6);
        assert_eq!(
            (again.seen("k", 6), again.seen("other", 6), again.seen("new", 6)),
            (Some(3), Some(0), None)
        );
        assert_eq!(again.seen("k", 5 + REMEMBERED), None);
        Deliveries::open(path.clone(), 5 + REMEMBERED);
        assert_eq!(fs::read_to_string(path).unwrap(), "");
    }
}
