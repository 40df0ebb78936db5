//! The tree's own conformance cases, as `cargo xtask conformance` runs them.

use xtask::expected::Expected;
use xtask::{conformance, root, trials};

#[test]
fn every_case_passes_or_is_a_known_gap() {
    let report = conformance::run(&root::cases(), &[]).unwrap();
    let expected = Expected::read(&root::expected_failures()).unwrap();
    let (text, good) = report.judge(&expected);
    assert!(good, "{text}");
    assert!(report.ids().len() > 200, "{} cases were found", report.ids().len());
}

#[test]
fn every_known_gap_lists_a_case() {
    let mut ids = conformance::run(&root::cases(), &[]).unwrap().ids();
    ids.extend(trials::ids(&root::cases()).unwrap());
    let expected = Expected::read(&root::expected_failures()).unwrap();
    let stale: Vec<&str> = expected.without_case(&ids).map(|entry| entry.pattern.as_str()).collect();
    assert_eq!(stale, [""; 0], "lines without a case");
}
