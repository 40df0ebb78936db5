//! Answers as models give them, and as nobody should.

use proptest::prelude::*;
use serde_json::json;

use super::{Basis, UNCLEAR, lenient, strict};

#[test]
fn any_answer_is_a_yes_or_a_no() {
    let long = format!("No{}", " again".repeat(100));
    let cut: String = long.chars().take(200).collect();
    for (reply, ok, reason, basis) in [
        // An object, wherever it stands.
        (r#"{"ok": true}"#, true, "", Basis::Object),
        (r#"{"ok": false, "reason": "r"}"#, false, "r", Basis::Object),
        (" \n{\"ok\": false}\n ", false, "", Basis::Object),
        ("Sure:\n```json\n{\"ok\": false, \"reason\": \"r\"}\n```\nDone.", false, "r", Basis::Object),
        ("```{\"ok\": false}```", false, "", Basis::Object),
        ("I say {\"ok\": false, \"reason\": \"r\"} and am done", false, "r", Basis::Object),
        (r#"{"ok": false, "reason": "r", "details": {"failed": 2}}"#, false, "r", Basis::Object),
        (r#"{"details": {"ok": true}, "ok": false, "reason": "r"}"#, false, "r", Basis::Object),
        (r#"{"ok": false, "reason": "a } and a { in it"}"#, false, "a } and a { in it", Basis::Object),
        (r#"{"ok": false, "reason": "say {\"ok\": true}"}"#, false, "say {\"ok\": true}", Basis::Object),
        (r#"Like {this}: {"ok": false}"#, false, "", Basis::Object),
        (r#"{ not json {"ok": false} }"#, false, "", Basis::Object),
        (r#"[{"ok": false}]"#, false, "", Basis::Object),
        (r#"{"verdict": {"ok": false, "reason": "r"}}"#, false, "r", Basis::Object),
        // A fenced object counts before one in the text, one with `ok` before one with `decision`, that before any other.
        ("Asked for {\"ok\": true}, so\n```\n{\"ok\": false}\n```", false, "", Basis::Object),
        (r#"{"a": 1} {"decision": "block"} {"ok": true, "reason": "r"}"#, true, "r", Basis::Object),
        (r#"{"a": 1} {"decision": "block", "reason": "r"}"#, false, "r", Basis::Object),
        (r#"{"decision": "approve", "checks": {"ok": false}}"#, true, "", Basis::Object),
        (r#"{"ok": true} {"ok": false}"#, true, "", Basis::Object),
        (r#"{"reason": "r"}"#, true, "r", Basis::Object),
        // What `ok` may be.
        (r#"{"ok": "true"}"#, true, "", Basis::Object),
        (r#"{"ok": "YES"}"#, true, "", Basis::Object),
        (r#"{"ok": "1"}"#, true, "", Basis::Object),
        (r#"{"ok": "Ok"}"#, true, "", Basis::Object),
        (r#"{"ok": "false"}"#, false, "", Basis::Object),
        (r#"{"ok": "sure"}"#, false, "", Basis::Object),
        (r#"{"ok": 0}"#, false, "", Basis::Object),
        (r#"{"ok": 0.0}"#, false, "", Basis::Object),
        (r#"{"ok": 2}"#, true, "", Basis::Object),
        (r#"{"ok": null}"#, false, "", Basis::Object),
        (r#"{"ok": []}"#, false, "", Basis::Object),
        (r#"{"ok": true, "decision": "block"}"#, true, "", Basis::Object),
        (r#"{"decision": "Deny"}"#, false, "", Basis::Object),
        (r#"{"decision": "allow", "reason": "r"}"#, true, "r", Basis::Object),
        (r#"{"decision": false}"#, true, "", Basis::Object),
        (r#"{"ok": false, "reason": 7}"#, false, "7", Basis::Object),
        (r#"{"ok": false, "reason": null}"#, false, "", Basis::Object),
        // Words.
        ("No, there is more to do.", false, "No, there is more to do.", Basis::Words),
        ("no", false, "no", Basis::Words),
        ("**No.** Tests fail.", false, "**No.** Tests fail.", Basis::Words),
        ("False", false, "False", Basis::Words),
        ("The task is incomplete.", false, "The task is incomplete.", Basis::Words),
        ("Not complete", false, "Not complete", Basis::Words),
        ("It is NOT DONE", false, "It is NOT DONE", Basis::Words),
        ("not yet", false, "not yet", Basis::Words),
        ("Yes, but more work waits", false, "Yes, but more work waits", Basis::Words),
        ("It needs more tests", false, "It needs more tests", Basis::Words),
        ("Nothing to fix, all done", true, "Nothing to fix, all done", Basis::Words),
        ("Yes.", true, "Yes.", Basis::Words),
        ("The task is complete", true, "The task is complete", Basis::Words),
        ("All points are fully addressed", true, "All points are fully addressed", Basis::Words),
        (long.as_str(), false, cut.as_str(), Basis::Words),
        // Neither.
        ("I am unsure what you want.", true, UNCLEAR, Basis::Nothing),
        ("Nothing to fix", true, UNCLEAR, Basis::Nothing),
        ("Falsehoods", true, UNCLEAR, Basis::Nothing),
        ("{\"ok\": fals", true, UNCLEAR, Basis::Nothing),
        ("{}{", true, "", Basis::Object),
        ("", true, UNCLEAR, Basis::Nothing),
    ] {
        let found = lenient(reply);
        assert_eq!((found.ok, found.reason.as_str(), found.basis), (ok, reason, basis), "{reply}");
    }
}

#[test]
fn a_verdict_has_to_be_one() {
    for (reply, expected) in [
        (r#"{"ok": true}"#, Some((true, "", false))),
        (r#"{"ok": false, "reason": "r"}"#, Some((false, "r", false))),
        (r#"{"ok": false, "reason": "r", "impossible": true}"#, Some((false, "r", true))),
        (r#"{"ok": false, "impossible": "yes"}"#, Some((false, "", false))),
        ("Here:\n```json\n{\"ok\": false, \"reason\": \"r\"}\n```", Some((false, "r", false))),
        (r#"Of {"note": 1} and {"ok": "False"} the second"#, Some((false, "", false))),
        (r#"{"result": {"ok": false}}"#, Some((false, "", false))),
        (r#"{"ok": "maybe"}"#, None),
        (r#"{"ok": 1}"#, None),
        (r#"{"decision": "block"}"#, None),
        ("No.", None),
        ("", None),
        ("{\"ok\": false", None),
    ] {
        let found = strict(reply);
        let found = found.as_ref().ok().map(|found| (found.ok, found.reason.as_str(), found.impossible));
        assert_eq!(found, expected, "{reply}");
    }
    assert!(strict("Hm.").unwrap_err().ends_with("\"Hm.\""));
}

/// Not a timed test: what costs the square of a megabyte does not end within the patience of whoever runs it.
#[test]
fn a_megabyte_of_braces_is_read_in_passing() {
    let size = 1 << 20;
    let times = |piece: &str| piece.repeat(size / piece.len());
    let nested = format!("{}{}", "{\"a\":[".repeat(60), times("{},"));
    let wide = format!("{}{}", "{\"a\":".repeat(127), times("\"x\""));
    for text in [
        times("{"),
        times("}"),
        times("{}"),
        times("{\""),
        times("{\"a\":"),
        times("{\"a\":{\n"),
        times("{\"a\":[\"{\","),
        times("```{"),
        times("[{"),
        nested,
        wide,
    ] {
        assert!(strict(&text).is_err(), "{}", &text[..40]);
    }
    assert!(lenient(&times("{\"a\":")).ok);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_reading_fail(text in "[\\PC{}\"\\\\`: a-o]{0,60}") {
        let reason = lenient(&text).reason;
        prop_assert!(reason.len() <= text.len() + UNCLEAR.len() + 4 * text.len());
        let _ = strict(&text);
    }

    /// A verdict survives whatever stands around it, as long as that holds no object of its own.
    #[test]
    fn a_verdict_is_found_in_any_prose(
        before in "[^{`]{0,30}", after in "[^`]{0,30}", ok: bool, reason in "\\PC{0,30}", fenced: bool, deep: bool,
    ) {
        let mut verdict = json!({"ok": ok, "reason": reason});
        if deep {
            verdict["details"] = json!({"ok": !ok, "list": [{"decision": "block"}]});
        }
        let text = if fenced {
            format!("{before}\n```json\n{verdict:#}\n```\n{after}")
        } else {
            format!("{before}{verdict}{after}")
        };
        let found = lenient(&text);
        prop_assert_eq!((found.ok, &found.reason, found.basis), (ok, &reason, Basis::Object));
        prop_assert_eq!(strict(&text).map(|found| (found.ok, found.reason)), Ok((ok, reason)));
    }
}
