//! Every row of the examples on the reference page.

use hook_core::Flavour::{self, Aimon, Native};
use hook_matcher::Matcher;
use serde_json::Value;

fn says(matcher: &str, flavour: Flavour, tool: &str, input: &Value) -> &'static str {
    let compiled = Matcher::compile(Some(matcher), flavour);
    match compiled.matcher.judge(&[tool], input).holds {
        _ if compiled.matcher.is_unreadable() => "unreadable",
        true => "yes",
        false => "no",
    }
}

#[test]
fn every_example_does_what_the_page_says() {
    let page = include_str!("../src/reference.rs");
    let rows = page.lines().filter_map(|line| line.strip_prefix("//! | `"));
    let mut seen = 0;
    for row in rows {
        let row = format!("`{row}").replace("\\|", "\u{1}");
        let cells: Vec<String> =
            row.trim_end_matches(" |").split(" | ").map(|cell| cell.replace('\u{1}', "|")).collect();
        let [matcher, tool, input, native, aimon] = cells.as_slice() else { continue };
        let [matcher, tool, input] = [matcher, tool, input].map(|cell| cell.trim_matches('`'));
        let input: Value = serde_json::from_str(input).unwrap_or_else(|error| panic!("{input}: {error}"));
        assert_eq!(says(matcher, Native, tool, &input), native, "native: {matcher} on {tool} {input}");
        assert_eq!(says(matcher, Aimon, tool, &input), aimon, "AIMON: {matcher} on {tool} {input}");
        seen += 1;
    }
    assert!(seen > 40, "{seen} rows were found");
}
