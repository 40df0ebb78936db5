//! Tests of the parser.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn value(text: &str) -> Value {
    parse(text).unwrap().root.to_value(text)
}

#[test]
fn values_are_read_as_json() {
    let text = r#"{"a": [1, -2.5e3, true, null, "x\né😀\u0041"], "b": {}}"#;
    assert_eq!(value(text), json!({"a": [1, -2.5e3, true, null, "x\né😀A"], "b": {}}));
    assert_eq!(value("12345678901234567890"), json!(12345678901234567890u64));
    assert_eq!(value(r#""\ud800x""#), json!("\u{fffd}x"));
}

#[test]
fn what_is_no_json_says_where() {
    let table = [
        ("", 0, "empty"),
        ("{ not json", 2, "expected a key in double quotes, found 'n'"),
        ("{\"a\": 1", 0, "this object never ends"),
        ("[1 2]", 3, "expected ',' or ']', found '2'"),
        ("[,]", 1, "expected a value, found ','"),
        ("{\"a\" 1}", 5, "expected ':' after the key \"a\""),
        ("{} x", 3, "text after the end"),
        ("[01]", 1, "01 is no JSON number"),
        ("[1.]", 1, "1. is no JSON number"),
        ("[.5]", 1, "expected a value, found '.'"),
        ("['a']", 1, "single quotes"),
        ("[True]", 1, "True is no JSON value"),
        ("[\"a\nb\"]", 3, "a line break inside a string"),
        ("[\"\\x\"]", 2, "an escape that JSON does not know"),
        ("[\"\\é\"]", 2, "an escape that JSON does not know"),
        ("[\"\\u12\"]", 2, "four hexadecimal digits"),
        ("[\"abc", 1, "this string never ends"),
        ("/* x", 0, "a comment that never ends"),
        ("[\u{a0}1]", 1, "expected a value"),
    ];
    for (text, start, message) in table {
        let error = parse(text).unwrap_err();
        assert_eq!(error.span.start, start, "{text:?}: {error:?}");
        assert!(error.message.contains(message), "{text:?}: {error:?}");
    }
}

#[test]
fn comments_and_trailing_commas_are_read_and_noticed() {
    assert_eq!(parse("[1] // x").unwrap().lax, Some((Span::new(4, 8), "a comment")));
    assert_eq!(parse("{\"a\": [1,], /* b */}").unwrap().lax, Some((Span::new(8, 9), "a trailing comma")));
    assert_eq!(parse("[\"// no comment, ]\"]").unwrap().lax, None);
}

#[test]
fn of_a_repeated_key_the_last_value_counts_and_both_places_are_known() {
    let text = r#"{"a": 1, "b": 2, "a": 3}"#;
    let tree = parse(text).unwrap();
    assert_eq!(tree.root.to_value(text), json!({"a": 3, "b": 2}));
    let wanted = Duplicate { key: "a".into(), first: Span::new(1, 4), last: Span::new(17, 20) };
    assert_eq!(tree.duplicates, [wanted]);
    let many = format!("{{{}\"k7\": 0}}", (0..40).map(|n| format!("\"k{n}\": {n}, ")).collect::<String>());
    assert_eq!(parse(&many).unwrap().duplicates.len(), 1);
}

#[test]
fn depth_is_bounded() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(parse(&nested(MAX_DEPTH)).is_ok());
    assert!(parse(&nested(MAX_DEPTH + 1)).unwrap_err().too_deep);
    assert!(parse(&"[".repeat(1_000_000)).unwrap_err().too_deep);
    assert!(parse(&"{\"a\":".repeat(1_000_000)).unwrap_err().too_deep);
}

#[test]
fn a_part_of_a_plain_string_has_its_own_place() {
    let text = r#"["abc", "a\"c"]"#;
    let tree = parse(text).unwrap();
    let Kind::Array(items) = tree.root.kind else { panic!("no list") };
    assert_eq!(items[0].span_within(text, Span::new(1, 2)), Span::new(3, 4));
    assert_eq!(items[1].span_within(text, Span::new(1, 2)), items[1].span);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let _ = parse(&text);
    }

    #[test]
    fn text_of_json_pieces_is_read_or_refused(
        pieces in prop::collection::vec(
            prop::sample::select(vec!["{", "}", "[", "]", ",", ":", "\"a\"", "1", "\\", "\"", "//", "/*", "\n", "é", "\\u"]), 0..40)
    ) {
        let text = pieces.concat();
        if let Ok(tree) = parse(&text) {
            // What both parsers accept, both read alike.
            if let Ok(wanted) = serde_json::from_str::<Value>(&text) {
                prop_assert_eq!(tree.root.to_value(&text), wanted);
            }
        } else {
            prop_assert!(serde_json::from_str::<Value>(&text).is_err());
        }
    }
}
