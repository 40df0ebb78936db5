//! Tests of the parser.

use super::*;
use hook_core::Source;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

fn tree(text: &str) -> Tree {
    parse(text, 0..text.len()).unwrap()
}

fn value(text: &str) -> Value {
    tree(text).root.to_value(text)
}

fn place(text: &str, span: Span) -> (usize, usize) {
    let location = Source::new(Path::new("/x"), text).locate(span);
    (location.line, location.column)
}

#[test]
fn words_stay_what_their_author_wrote() {
    let table = [
        ("no", json!("no")),
        ("Yes", json!("Yes")),
        ("on", json!("on")),
        ("off", json!("off")),
        ("y", json!("y")),
        ("0777", json!("0777")),
        ("1.2.3", json!("1.2.3")),
        ("1_000", json!("1_000")),
        ("0x1F", json!("0x1F")),
        ("+5", json!("+5")),
        (".5", json!(".5")),
        ("12:30:45", json!("12:30:45")),
        ("2024-01-01", json!("2024-01-01")),
        ("=", json!("=")),
        ("'5'", json!("5")),
        ("\"true\"", json!("true")),
        ("!!str 5", json!("5")),
        ("!!int 5", json!(5)),
        ("! true", json!("true")),
        ("!own true", json!("true")),
        ("true", json!(true)),
        ("False", json!(false)),
        ("~", json!(null)),
        ("null", json!(null)),
        ("'~'", json!("~")),
        ("''", json!("")),
        ("", json!(null)),
        ("5", json!(5)),
        ("-2.5e3", json!(-2.5e3)),
        ("12345678901234567890", json!(12345678901234567890u64)),
        ("1e999", json!("1e999")),
        ("Edit|Write", json!("Edit|Write")),
        ("Bash # all of them", json!("Bash")),
        ("a#b", json!("a#b")),
        ("one\n  two", json!("one two")),
        ("\"one\\\n  two\\t\"", json!("onetwo\t")),
        ("'it''s'", json!("it's")),
        ("|\n  one\n   two\n", json!("one\n two\n")),
        ("|-\n  one\n", json!("one")),
        (">\n  one\n  two\n\n  three\n", json!("one two\nthree\n")),
        ("[a, {b: c}, 'd']", json!(["a", {"b": "c"}, "d"])),
        ("\n- a\n- b\n", json!(["a", "b"])),
        ("\n  - a\n  -\n    b: c\n", json!(["a", {"b": "c"}])),
    ];
    for (text, wanted) in table {
        let text = format!("k: {text}");
        assert_eq!(value(&text), json!({"k": wanted}), "{text}");
        let windows = text.replace('\n', "\r\n");
        assert_eq!(value(&windows), json!({"k": wanted}), "{windows:?}");
    }
    assert_eq!(value("on: 1\nno: 2\ntrue: 3\n5: 4"), json!({"on": 1, "no": 2, "true": 3, "5": 4}));
    assert_eq!(value(""), json!(null));
    assert_eq!(value("# nothing\n"), json!(null));
}

#[test]
fn aliases_and_merges_are_resolved() {
    let table = [
        ("a: &x [1, b]\nc: *x", json!({"a": [1, "b"], "c": [1, "b"]})),
        ("a: &x no\nb: *x", json!({"a": "no", "b": "no"})),
        ("a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3", json!({"a": {"p": 1, "q": 2}, "b": {"q": 3, "p": 1}})),
        (
            "a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc:\n  <<: [*x, *y]",
            json!({"a": {"p": 1}, "b": {"p": 2, "q": 2}, "c": {"p": 1, "q": 2}}),
        ),
        ("<<: text", json!({"<<": "text"})),
    ];
    for (text, wanted) in table {
        assert_eq!(value(text), wanted, "{text}");
    }
}

#[test]
fn every_key_and_value_has_its_place() {
    let text = "a: é\nb:\n  - c: 'd'\n    e: |\n      one\n      two\n";
    let root = tree(text).root;
    let member = |node: &Node, key: &str| node.get(key).unwrap().clone();
    assert_eq!(place(text, member(&root, "b").key_span), (2, 1));
    let Kind::Array(items) = &member(&root, "b").value.kind else { panic!() };
    assert_eq!(place(text, items[0].span), (3, 5));
    assert_eq!(place(text, member(&items[0], "c").value.span), (3, 8));
    let block = member(&items[0], "e").value;
    assert_eq!(place(text, block.span), (5, 7));
    // "two", which stands behind its indentation.
    assert_eq!(place(text, block.span_within(text, Span::new(4, 7))), (6, 7));
    let windows = text.replace('\n', "\r\n");
    let root = tree(&windows).root;
    let Kind::Array(items) = &root.get("b").unwrap().value.kind else { panic!() };
    let block = member(&items[0], "e").value;
    assert_eq!(place(&windows, block.span_within(&windows, Span::new(5, 6))), (6, 8));
    let bare = member(&root, "a").value;
    assert_eq!(bare.span_within(&windows, Span::new(0, 2)), bare.span);
}

#[test]
fn places_are_those_of_the_whole_text() {
    let text = "---\nk: v\nk: w\n---\nbody";
    let tree = parse(text, 4..14).unwrap();
    let member = tree.root.get("k").unwrap();
    assert_eq!((place(text, member.value.span), member.value.as_str()), ((3, 4), Some("w")));
    assert_eq!(place(text, tree.duplicates[0].first), (2, 1));
    assert_eq!(place(text, parse("---\nk: [1\n---", 4..10).unwrap_err().span), (2, 4));
}

#[test]
fn what_is_no_yaml_says_where_and_what_to_do() {
    let table = [
        ("a: 1\nb: *", (2, 4), "quotes"),
        ("a: *.sh", (1, 4), "quotes"),
        ("a: b: c", (1, 5), "quotes"),
        ("a:\n\tb: c", (2, 1), "no tabs"),
        ("a:\n  - b\n\t- c", (3, 1), "no tabs"),
        ("a: \"b", (1, 4), "close it"),
        ("a: `b`", (1, 4), "quotes"),
        ("a: @b", (1, 4), "quotes"),
        ("a: \"b\" c", (1, 8), "one pair of quotes"),
        ("a: [1", (1, 4), ""),
        ("? [a]\n: b", (1, 3), "a word"),
        ("a: &x [*x]", (1, 8), ""),
        ("a: 1\n...\nb: 2", (3, 1), "remove"),
    ];
    for (text, wanted, help) in table {
        let error = parse(text, 0..text.len()).unwrap_err();
        assert_eq!(place(text, error.span), wanted, "{text}: {}", error.message);
        assert!(error.help.unwrap_or_default().contains(help), "{text}: {:?}", error.help);
        assert!(!error.too_deep);
    }
}

#[test]
fn nothing_is_read_deeper_than_json() {
    for text in ["[".repeat(1 << 20), "- ".repeat(1 << 18), "a: ".to_owned() + &"{b: ".repeat(1 << 18)] {
        assert!(parse(&text, 0..text.len()).unwrap_err().too_deep, "{:.10}", text);
    }
    // Each alias is shallow, all of them together are not.
    let mut text = "a0: &a0 [1]\n".to_owned();
    for n in 1..300 {
        text.push_str(&format!("a{n}: &a{n} [*a{}]\n", n - 1));
    }
    assert!(parse(&text, 0..text.len()).unwrap_err().too_deep);
}

#[test]
fn an_alias_bomb_ends_in_an_error() {
    let mut text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for n in 1..30 {
        let aliases = vec![format!("*a{}", n - 1); 9].join(", ");
        text.push_str(&format!("a{n}: &a{n} [{aliases}]\n"));
    }
    let error = parse(&text, 0..text.len()).unwrap_err();
    assert!(error.message.contains("aliases"), "{}", error.message);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_within_itself(text in "[a-c:\\-\\[\\]{}&*!|>'\"#%@`,?<é\t\r\n 0-9.]{0,60}") {
        match parse(&text, 0..text.len()) {
            Ok(tree) => {
                let _ = tree.root.to_value(&text);
                prop_assert!(tree.root.span.end <= text.len());
            }
            Err(error) => {
                prop_assert!(error.span.start <= error.span.end);
                prop_assert!(text.get(error.span.start..error.span.end).is_some(), "{:?}", error);
            }
        }
    }

    #[test]
    fn json_means_the_same(value in json_value()) {
        let text = value.to_string();
        prop_assert_eq!(tree(&text).root.to_value(&text), value);
    }
}

/// JSON is YAML.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z:#*&\"\\\\ \n\té]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
