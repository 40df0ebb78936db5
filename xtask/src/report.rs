//! What a run of cases or trials says: which passed, which failed, and whether that was expected.

use std::fmt::Write as _;

use serde_json::Value;

use crate::check::Mismatch;
use crate::expected::Expected;

/// One case that was run.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Its id.
    pub id: String,
    /// What was wrong; empty where it passed.
    pub mismatches: Vec<Mismatch>,
}

/// All cases under one heading.
#[derive(Debug, Clone)]
pub struct Section {
    /// The heading.
    pub name: String,
    /// The cases.
    pub ran: Vec<Ran>,
}

/// A whole run.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The sections, in order.
    pub sections: Vec<Section>,
}

impl Report {
    /// The ids of all cases.
    pub fn ids(&self) -> Vec<String> {
        self.sections.iter().flat_map(|section| section.ran.iter().map(|ran| ran.id.clone())).collect()
    }

    /// The report as text, and whether it is as expected: no failure outside the list, no listed case that passes.
    pub fn judge(&self, expected: &Expected) -> (String, bool) {
        let (mut text, mut good) = (String::new(), true);
        let (mut passed, mut total, mut known) = (0, 0, 0);
        for section in &self.sections {
            let right = section.ran.iter().filter(|ran| ran.mismatches.is_empty()).count();
            let _ = writeln!(text, "{}: {right}/{}", section.name, section.ran.len());
            passed += right;
            total += section.ran.len();
            for ran in &section.ran {
                match (ran.mismatches.is_empty(), expected.find(&ran.id)) {
                    (true, None) => {}
                    (true, Some(entry)) => {
                        good = false;
                        let pattern = &entry.pattern;
                        let _ = writeln!(
                            text,
                            "  PASSES NOW {}: take {pattern:?} off the list of known gaps",
                            ran.id
                        );
                    }
                    (false, Some(entry)) => {
                        known += 1;
                        let _ = writeln!(text, "  known gap {}: {}", ran.id, entry.reason);
                        describe(&mut text, &ran.mismatches);
                    }
                    (false, None) => {
                        good = false;
                        let _ = writeln!(text, "  FAILED {}", ran.id);
                        describe(&mut text, &ran.mismatches);
                    }
                }
            }
        }
        let _ = writeln!(text, "total: {passed}/{total}, {known} known gaps");
        (text, good)
    }
}

fn describe(text: &mut String, mismatches: &[Mismatch]) {
    for mismatch in mismatches {
        let _ = writeln!(text, "    {}", mismatch.at);
        if mismatch.expected.is_null() && mismatch.actual.is_null() {
            continue;
        }
        for (label, value) in [("expected", &mismatch.expected), ("actual", &mismatch.actual)] {
            let _ = writeln!(text, "      {label}: {}", pretty(value).replace('\n', "\n      "));
        }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
