//! Edits by example, and their laws over texts of every shape.

use proptest::prelude::*;

use super::*;

const PATH: &[&str] = &["settings", "disabled"];

fn add(text: &str, word: &str) -> String {
    match add_to_list(Some(text), PATH, word).unwrap() {
        Edit::Changed { text, at } => {
            assert_eq!(&text[at.start..at.end], quoted(word), "{text}");
            text
        }
        other => panic!("{other:?} of {text}"),
    }
}

fn remove(text: &str, word: &str) -> String {
    match remove_from_list(text, PATH, word).unwrap() {
        Edit::Changed { text: left, at } => {
            assert_eq!(&text[at.start..at.end], quoted(word), "{text}");
            left
        }
        other => panic!("{other:?} of {text}"),
    }
}

#[test]
fn a_word_goes_in_and_comes_out_without_a_trace() {
    let table = [
        ("{}", r#"{"settings": { "disabled": [ "x" ] }}"#),
        ("{ }\n", "{\"settings\": { \"disabled\": [ \"x\" ] } }\n"),
        ("{\n}\n", "{\"settings\": { \"disabled\": [ \"x\" ] }\n}\n"),
        (r#"{"a": 1}"#, r#"{"a": 1, "settings": { "disabled": [ "x" ] }}"#),
        (r#"{"a": 1,}"#, r#"{"a": 1, "settings": { "disabled": [ "x" ] },}"#),
        ("{\n  \"hooks\": {}\n}\n", "{\n  \"hooks\": {},\n  \"settings\": { \"disabled\": [ \"x\" ] }\n}\n"),
        (
            "{\r\n\t\"hooks\": {}\r\n}\r\n",
            "{\r\n\t\"hooks\": {},\r\n\t\"settings\": { \"disabled\": [ \"x\" ] }\r\n}\r\n",
        ),
        (
            "{\n  \"hooks\": {}, // all of them\n  /* the end */\n}\n",
            "{\n  \"hooks\": {}, // all of them\n  \"settings\": { \"disabled\": [ \"x\" ] },\n  /* the end */\n}\n",
        ),
        (
            "{\n  \"hooks\": {} // all of them\n}\n",
            "{\n  \"hooks\": {}, // all of them\n  \"settings\": { \"disabled\": [ \"x\" ] }\n}\n",
        ),
        ("{\"a\": 1 // one\r\n}", "{\"a\": 1, // one\r\n\"settings\": { \"disabled\": [ \"x\" ] }\r\n}"),
        ("{ // nothing\n}", "{\"settings\": { \"disabled\": [ \"x\" ] } // nothing\n}"),
        (r#"{"settings": {}}"#, r#"{"settings": {"disabled": [ "x" ]}}"#),
        (r#"{"settings": { /* none */ }}"#, r#"{"settings": {"disabled": [ "x" ] /* none */ }}"#),
        (
            "{\"settings\": {\n    \"failClosed\": true\n  }}",
            "{\"settings\": {\n    \"failClosed\": true,\n    \"disabled\": [ \"x\" ]\n  }}",
        ),
        (r#"{"settings": {"disabled": []}}"#, r#"{"settings": {"disabled": ["x"]}}"#),
        ("{\"settings\": {\"disabled\": [\n]}}", "{\"settings\": {\"disabled\": [\"x\"\n]}}"),
        (r#"{"settings": {"disabled": ["a"]}}"#, r#"{"settings": {"disabled": ["a", "x"]}}"#),
        (r#"{"settings": {"disabled": [ "a" ]}}"#, r#"{"settings": {"disabled": [ "a", "x" ]}}"#),
        (r#"{"settings": {"disabled": ["a",]}}"#, r#"{"settings": {"disabled": ["a", "x",]}}"#),
        (
            "{\"settings\": {\"disabled\": [\n      \"a\", // too slow\n      \"b\" // too fast\n    ]}}",
            "{\"settings\": {\"disabled\": [\n      \"a\", // too slow\n      \"b\", // too fast\n      \"x\"\n    ]}}",
        ),
        (
            "{\"settings\": {\"disabled\": [\"a\" /* 1 */ /* 2\n */ ]}}",
            "{\"settings\": {\"disabled\": [\"a\", /* 1 */ /* 2\n */ \"x\" ]}}",
        ),
        // Of two blocks the last one counts.
        (
            r#"{"settings": {"disabled": ["x"]}, "settings": {}}"#,
            r#"{"settings": {"disabled": ["x"]}, "settings": {"disabled": [ "x" ]}}"#,
        ),
        ("\u{feff}{\"a\": 1}", "\u{feff}{\"a\": 1, \"settings\": { \"disabled\": [ \"x\" ] }}"),
    ];
    for (before, after) in table {
        assert_eq!(add(before, "x"), after, "{before}");
        assert_eq!(remove(after, "x"), before, "{after}");
        let two = add(after, "y");
        assert_eq!(remove(&two, "y"), after, "{two}");
    }
}

#[test]
fn a_word_leaves_a_list_that_people_wrote() {
    let table = [
        (r#"{"settings": {"disabled": ["x", "a"]}}"#, r#"{"settings": {"disabled": ["a"]}}"#),
        (r#"{"settings": {"disabled": ["x", "x"]}}"#, r#"{"settings": {"disabled": []}}"#),
        (r#"{"settings": {"disabled": ["a", "x", "b"]}}"#, r#"{"settings": {"disabled": ["a", "b"]}}"#),
        (r#"{"settings": {"disabled": ["\u0078"]}}"#, r#"{"settings": {"disabled": []}}"#),
        (
            "{\"settings\": {\"disabled\": [\n  \"x\",\n  \"a\"\n]}}",
            "{\"settings\": {\"disabled\": [\n  \"a\"\n]}}",
        ),
        // A list of its own goes with its last word, remarks stay.
        ("{\"a\": 1, \"settings\": {\n  \"disabled\": [\n    \"x\"\n  ]\n}}", "{\"a\": 1}"),
        (
            "{\"settings\": {\"disabled\": [\n  // too slow\n  \"x\"\n]}}",
            "{\"settings\": {\"disabled\": [\n  // too slow\n]}}",
        ),
        (
            "{\"settings\": {\"disabled\": [\n  \"x\", // too slow\n  \"a\"]}}",
            "{\"settings\": {\"disabled\": [\n  // too slow\n  \"a\"]}}",
        ),
        (
            "{\"settings\": {\"disabled\": [ \"a\", // first\n \"x\" , \"b\" ]}}",
            "{\"settings\": {\"disabled\": [ \"a\", // first\n \"b\" ]}}",
        ),
        (
            "{\"settings\": {\"disabled\": [\"a\" // first\n, \"x\"]}}",
            "{\"settings\": {\"disabled\": [\"a\" // first\n]}}",
        ),
        (
            "{\"settings\": {\"disabled\": [\"x\" /* why */, \"b\"]}}",
            "{\"settings\": {\"disabled\": [ /* why */ \"b\"]}}",
        ),
    ];
    for (before, after) in table {
        let word_as_written = remove_from_list(before, PATH, "x").unwrap();
        let Edit::Changed { text, .. } = word_as_written else { panic!("{word_as_written:?} of {before}") };
        assert_eq!(text, after, "{before}");
    }
}

#[test]
fn a_file_is_made_for_one_word_and_goes_with_it() {
    let Edit::Changed { text, at } = add_to_list(None, PATH, "x").unwrap() else { panic!() };
    assert_eq!(text, "{\n  \"settings\": { \"disabled\": [ \"x\" ] }\n}\n");
    assert_eq!(&text[at.start..at.end], "\"x\"");
    assert_eq!(remove_from_list(&text, PATH, "x").unwrap(), Edit::Gone { at });
    let two = add(&text, "y");
    let one = remove(&two, "x");
    assert!(matches!(remove_from_list(&one, PATH, "y").unwrap(), Edit::Gone { .. }));
    let Edit::Changed { text, .. } = add_to_list(None, &["disabled"], "a \"b\"").unwrap() else { panic!() };
    assert_eq!(text, "{\n  \"disabled\": [ \"a \\\"b\\\"\" ]\n}\n");
}

#[test]
fn what_is_said_already_is_not_said_again() {
    let text = r#"{"settings": {"disabled": ["a", "x"]}}"#;
    let at = Some(Span::new(32, 35));
    assert_eq!(add_to_list(Some(text), PATH, "x").unwrap(), Edit::Unchanged { at });
    for text in ["{}", r#"{"settings": {}}"#, r#"{"settings": {"disabled": ["a"]}}"#] {
        assert_eq!(remove_from_list(text, PATH, "x").unwrap(), Edit::Unchanged { at: None });
    }
}

#[test]
fn what_is_not_understood_is_left_alone() {
    let table = [
        ("", "the file is empty", 0),
        ("{\"a\": }", "expected a value", 6),
        ("[1]", "the top level is a list, not an object", 0),
        (r#"{"settings": 5}"#, "\"settings\" is a number, not an object", 13),
        (r#"{"settings": {"disabled": "x"}}"#, "\"disabled\" is a string, not a list", 26),
        (r#"{"settings": {"disabled": {}}}"#, "\"disabled\" is an object, not a list", 26),
    ];
    for (text, message, at) in table {
        for error in
            [add_to_list(Some(text), PATH, "x").unwrap_err(), remove_from_list(text, PATH, "x").unwrap_err()]
        {
            assert!(error.message.contains(message), "{text}: {error}");
            assert_eq!(error.span.start, at, "{text}");
        }
    }
}

/// Blanks and remarks, as people leave them between the pieces of a file.
fn gap() -> impl Strategy<Value = String> {
    let one = prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // it's, [so]\n".to_owned()),
        1 => Just("// {\r\n ".to_owned()),
        1 => Just("/* a, \"b\" */".to_owned()),
        1 => Just(" /* two\n lines */ ".to_owned()),
    ];
    prop::collection::vec(one, 0..3).prop_map(|parts| parts.concat())
}

/// Parts with gaps around them and commas between them, a trailing one now and then.
fn joined(parts: Vec<(String, String, String)>, trailing: bool, empty: String) -> String {
    if parts.is_empty() {
        return empty;
    }
    let mut out = String::new();
    let count = parts.len();
    for (index, (before, part, after)) in parts.into_iter().enumerate() {
        let comma = if index + 1 < count || trailing { "," } else { "" };
        out.push_str(&format!("{before}{part}{after}{comma}"));
    }
    out + &empty
}

fn around(part: impl Strategy<Value = String>) -> impl Strategy<Value = (String, String, String)> {
    (gap(), part, gap())
}

fn list() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("\"a\"".to_owned()),
        Just("\"b // c\"".to_owned()),
        Just("\"q\\\"\"".to_owned()),
        Just("7".to_owned()),
        Just("[\"x\"]".to_owned())
    ];
    (prop::collection::vec(around(word), 0..4), any::<bool>(), gap())
        .prop_map(|(words, trailing, empty)| format!("[{}]", joined(words, trailing, empty)))
}

fn object(named: Option<(&'static str, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    let other = prop_oneof![
        Just("\"a\": {\"disabled\": [\"x\"]}".to_owned()),
        Just("\"b\":1".to_owned()),
        Just("\"c\" : /* 3 */ [ ]".to_owned())
    ];
    let before = prop::collection::vec(around(other.clone()), 0..2);
    let after = prop::collection::vec(around(other), 0..2);
    let named = match named {
        Some((name, value)) => prop::collection::vec(
            around((gap(), value).prop_map(move |(gap, value)| format!("\"{name}\":{gap}{value}"))),
            0..=1,
        )
        .boxed(),
        None => Just(Vec::new()).boxed(),
    };
    (before, named, after, any::<bool>(), gap())
        .prop_map(|(before, named, after, trailing, empty)| {
            let parts = [before, named, after].concat();
            format!("{{{}}}", joined(parts, trailing, empty))
        })
        .boxed()
}

fn file() -> impl Strategy<Value = String> {
    let settings = object(Some(("disabled", list().boxed())));
    (gap(), object(Some(("settings", settings))), gap()).prop_map(|(a, object, b)| format!("{a}{object}{b}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn removing_undoes_adding_whatever_the_file_looks_like(text in file(), word in "[a-zA-Z\"\\\\ é]{1,6}") {
        let word = format!("new {word}");
        let added = add(&text, &word);
        let again = add_to_list(Some(&added), PATH, &word).unwrap();
        prop_assert!(matches!(again, Edit::Unchanged { at: Some(_) }), "{again:?}");
        prop_assert_eq!(remove(&added, &word), text);
    }

    #[test]
    fn two_words_come_out_in_the_order_in_which_they_went_in(text in file()) {
        let one = add(&text, "one");
        let two = add(&one, "two");
        prop_assert_eq!(remove(&remove(&two, "two"), "one"), text);
    }

    #[test]
    fn only_blanks_and_commas_go_with_a_word(text in file(), word in prop::sample::select(vec!["a", "b // c", "q\""])) {
        let Ok(Edit::Changed { text: left, .. }) = remove_from_list(&text, PATH, word) else { return Ok(()) };
        let comments = |text: &str| -> Vec<String> {
            let own = cut(text).into_iter().filter(|token| token.is_comment());
            own.map(|token| text[token.start..token.end].trim_end().to_owned()).collect()
        };
        prop_assert_eq!(comments(&text), comments(&left));
    }

    #[test]
    fn no_text_breaks_an_edit(text in "[\\[\\]{},:\"a /*\\n\\\\]{0,24}", word in ".{0,3}") {
        let _ = add_to_list(Some(&text), PATH, &word);
        let _ = remove_from_list(&text, PATH, &word);
    }
}
