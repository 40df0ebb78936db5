//! Comparing what was expected with what came out.
//!
//! Every key of a case must be asked for: a key that nobody asked for is one that the runner does not understand, and that
//! is a failure of the case, never a pass.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::cases::Case;

/// One difference.
#[derive(Debug, Clone)]
pub struct Mismatch {
    /// The key of `expect`, or where inside it.
    pub at: String,
    /// What was expected.
    pub expected: Value,
    /// What came out.
    pub actual: Value,
}

impl Mismatch {
    /// A remark without a pair of values.
    pub fn remark(text: impl Into<String>) -> Mismatch {
        Mismatch { at: text.into(), expected: Value::Null, actual: Value::Null }
    }
}

/// A case while it is checked.
#[derive(Debug)]
pub struct Check<'a> {
    case: &'a Case,
    project: String,
    asked: RefCell<BTreeSet<String>>,
    mismatches: Vec<Mismatch>,
}

impl<'a> Check<'a> {
    /// Begins a check. `<project>` in texts means `project`.
    pub fn new(case: &'a Case, project: impl Into<String>) -> Check<'a> {
        Check { case, project: project.into(), asked: RefCell::default(), mismatches: Vec::new() }
    }

    /// A member of `given`.
    pub fn given(&self, key: &str) -> Option<&'a Value> {
        self.asked.borrow_mut().insert(format!("given.{key}"));
        self.case.given.get(key)
    }

    /// A member of `given` that is a string; empty where it is missing.
    pub fn given_text(&self, key: &str) -> &'a str {
        self.given(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// A member of `given` with placeholders filled in; null where it is missing.
    pub fn given_value(&self, key: &str) -> Value {
        self.given(key).map_or(Value::Null, |value| self.fill(value))
    }

    /// A member of `expect`, to be judged by the caller.
    pub fn expected(&self, key: &str) -> Option<&'a Value> {
        self.asked.borrow_mut().insert(format!("expect.{key}"));
        self.case.expect.get(key)
    }

    /// Compares a member of `expect`, where it is there.
    pub fn equals(&mut self, key: &str, actual: &Value) {
        if let Some(expected) = self.expected(key) {
            self.compare(key, expected, actual);
        }
    }

    /// Compares two values; placeholders on the expected side count.
    pub fn compare(&mut self, at: &str, expected: &Value, actual: &Value) {
        if !fits(&self.fill(expected), actual) {
            self.mismatch(at, expected.clone(), actual.clone());
        }
    }

    /// Every member of `expected` has to be in `actual`; further members are allowed.
    pub fn includes(&mut self, at: &str, expected: &Map<String, Value>, actual: &Value) {
        for (key, value) in expected {
            let found = actual.get(key).unwrap_or(&Value::Null);
            self.compare(&format!("{at}.{key}"), value, found);
        }
    }

    /// Notes a difference.
    pub fn mismatch(&mut self, at: impl Into<String>, expected: Value, actual: Value) {
        self.mismatches.push(Mismatch { at: at.into(), expected, actual });
    }

    /// Notes a failure without a pair of values.
    pub fn fail(&mut self, text: impl Into<String>) {
        self.mismatches.push(Mismatch::remark(text));
    }

    /// Ends a check that could not go on. Keys that were not asked for yet say nothing then.
    pub fn give_up(mut self, error: &anyhow::Error) -> Vec<Mismatch> {
        self.fail(format!("{error:#}"));
        self.mismatches
    }

    /// What was found, unknown keys included.
    pub fn finish(mut self) -> Vec<Mismatch> {
        self.mismatches.extend(self.case.faults.iter().map(Mismatch::remark));
        let asked = self.asked.take();
        for (side, members) in [("given", &self.case.given), ("expect", &self.case.expect)] {
            for key in members.keys() {
                if !asked.contains(&format!("{side}.{key}")) {
                    self.mismatches
                        .push(Mismatch::remark(format!("{side}.{key}: the runner does not know this key")));
                }
            }
        }
        self.mismatches
    }

    /// Fills in what can be known beforehand: `<project>` and `<repeat:c:n>`.
    pub fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => json!(self.fill_text(text)),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(key, value)| (key.clone(), self.fill(value))).collect())
            }
            other => other.clone(),
        }
    }

    /// The same for one text.
    pub fn fill_text(&self, text: &str) -> String {
        repeat(&text.replace("<project>", &self.project))
    }
}

/// `<repeat:c:n>` is the character `c`, `n` times.
fn repeat(text: &str) -> String {
    let Some((before, rest)) = text.split_once("<repeat:") else { return text.to_owned() };
    let parsed = rest.split_once('>').and_then(|(inside, after)| {
        let (letter, count) = inside.rsplit_once(':')?;
        Some((letter, count.parse::<usize>().ok()?, after))
    });
    match parsed {
        Some((letter, count, after)) => format!("{before}{}{}", letter.repeat(count), repeat(after)),
        None => text.to_owned(),
    }
}

/// True where `actual` is what was expected. Null means null or absent, `<timestamp>` any time in UTC, `<bool>` any boolean.
pub fn fits(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::String(text), actual) if text == "<bool>" => actual.is_boolean(),
        (Value::String(text), Value::String(actual)) if text == "<timestamp>" => is_timestamp(actual),
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| fits(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let member = |map: &Map<String, Value>, key: &str| map.get(key).cloned().unwrap_or(Value::Null);
            a.keys().chain(b.keys()).all(|key| fits(&member(a, key), &member(b, key)))
        }
        (expected, actual) => expected == actual,
    }
}

/// RFC 3339 in UTC: `2026-01-31T12:00:00Z`, with or without a fraction.
fn is_timestamp(text: &str) -> bool {
    let Some(body) = text.strip_suffix('Z') else { return false };
    let (whole, fraction) = body.split_once('.').unwrap_or((body, "0"));
    let shape =
        whole.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).eq("0000-00-00T00:00:00".chars());
    shape && !fraction.is_empty() && fraction.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> Case {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let (given, expect) = (object(json!({"a": "<project>/x"})), object(json!({"b": 1, "z": null})));
        Case { id: "c".into(), given, expect, faults: Vec::new() }
    }

    #[test]
    fn a_key_that_nobody_asked_for_fails_the_case() {
        let case = case();
        let mut check = Check::new(&case, "/p");
        check.equals("b", &json!(1));
        let found: Vec<String> = check.finish().into_iter().map(|m| m.at).collect();
        assert_eq!(
            found,
            ["given.a: the runner does not know this key", "expect.z: the runner does not know this key"]
        );
    }

    #[test]
    fn placeholders_are_filled_on_the_given_side() {
        let case = case();
        let check = Check::new(&case, "/p");
        assert_eq!(check.given_value("a"), json!("/p/x"));
        assert_eq!(check.fill_text("<repeat:é:3>!<repeat:a:2>"), "ééé!aa");
        assert_eq!(check.fill_text("<repeat:broken"), "<repeat:broken");
    }

    #[test]
    fn null_means_absent_and_numbers_compare_by_value() {
        for (expected, actual, want) in [
            (json!({"a": null}), json!({}), true),
            (json!({"a": 1}), json!({"a": 1.0}), true),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), false),
            (json!("<bool>"), json!(false), true),
            (json!("<bool>"), json!("x"), false),
            (json!("<timestamp>"), json!("2026-01-31T12:00:00.123Z"), true),
            (json!("<timestamp>"), json!("2026-01-31T12:00:00+00:00"), false),
            (json!("<timestamp>"), json!("2026-01-31T12:00:00.Z"), false),
        ] {
            assert_eq!(fits(&expected, &actual), want, "{expected} {actual}");
        }
    }
}
