//! Patterns as their own languages understand them.
//!
//! `data/javascript.json` holds what Node 20 says (`new RegExp(pattern).test(value)`, exact lists as lists), `data/python.json` what
//! Python 3.11 says (`re.fullmatch(pattern, value, re.IGNORECASE)`). A row is a pattern with the indexes of the values that match,
//! `"all"` for all of them, or null where the language refuses the pattern.

#![expect(clippy::unwrap_used, reason = "a broken data file fails the test")]

use hook_core::Flavour::{self, Amplifier, Claude};
use hook_matcher::{Matcher, ProblemKind};
use serde_json::Value;

/// Patterns whose verdicts differ, with the reason.
const KNOWN: &[(&str, &str)] = &[
    ("(?i-:a)", "flags for a group are newer than Node 20"),
    ("(?<=(a)\\1)b", "a look-behind reads its own groups backwards; refused here"),
];

fn check(data: &str, flavour: Flavour) {
    let data: Value = serde_json::from_str(data).unwrap();
    let values: Vec<&str> = data["values"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    let mut wrong = Vec::new();
    for row in data["rows"].as_array().unwrap() {
        let pattern = row[0].as_str().unwrap();
        let compiled = Matcher::compile(Some(pattern), flavour);
        let refused = compiled
            .problems
            .iter()
            .any(|p| matches!(p.kind, ProblemKind::Unreadable | ProblemKind::LiteralFallback));
        let matches = |value: &str| compiled.matcher.matches([value]);
        let differs: Vec<&str> = match &row[1] {
            Value::Null if refused => Vec::new(),
            Value::Null => vec!["(refused)"],
            _ if refused => vec!["(taken)"],
            Value::Array(hits) => values
                .iter()
                .enumerate()
                .filter(|(at, value)| matches(value) != hits.contains(&Value::from(*at)))
                .map(|(_, value)| *value)
                .collect(),
            _ => values.iter().filter(|value| !matches(value)).copied().collect(),
        };
        if !differs.is_empty() && !KNOWN.iter().any(|(known, _)| *known == pattern) {
            wrong.push(format!("{pattern:?} on {differs:?}: {}", compiled.matcher.describe()));
        }
    }
    assert!(wrong.is_empty(), "{flavour:?}:\n{}", wrong.join("\n"));
}

#[test]
fn javascript_patterns_mean_what_node_makes_of_them() {
    check(include_str!("data/javascript.json"), Claude);
}

#[test]
fn python_patterns_mean_what_python_makes_of_them() {
    check(include_str!("data/python.json"), Amplifier);
}
