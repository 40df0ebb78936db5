//! Hooks that wait to be woken, through the built command: one process per event.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::place::{Place, Said, feed};

const GATE: &str = r#"case "$HOOK_REWAKE_STATUS" in
  granted) exit 0 ;;
  refused) echo "no to $HOOK_REWAKE_TICKET" >&2; exit 2 ;;
  *) echo "wait for T-42" >&2; exit 2 ;;
esac
"#;

fn place(rewake: Value) -> Place {
    let hook = json!({"id": "gate", "type": "command", "command": "sh gate.sh", "asyncRewake": rewake});
    let file = json!({"hooks": {"PreToolUse": [{"matcher": "Bash(deploy *)", "hooks": [hook]}]}});
    Place::new().with(".hooks/hooks.json", &format!("{file:#}")).with("gate.sh", GATE)
}

fn approval() -> Value {
    json!({"trigger": {"event": {"type": "approval", "key": "T-42"}}, "reason": "the release manager decides",
        "payload": {"ticket": "T-42"}, "maxAttempts": 2})
}

fn dispatch(place: &Place, line: &str) -> Value {
    let payload = json!({"event": "PreToolUse", "session_id": "s", "data": {"tool_name": "Bash", "tool_input": {"command": line}}});
    let mut command = place.command();
    command.args(["dispatch", "--agent", "native"]);
    feed(command, payload.to_string().as_bytes()).exits(0).json()
}

fn pending(place: &Place) -> Vec<Value> {
    let said = place.hook(&["rewake", "list", "--json"]);
    said.exits(0).json().as_array().unwrap().clone()
}

fn resolve(place: &Place, status: &str) -> Said {
    let payload = json!({"status": status}).to_string();
    place.hook(&["rewake", "resolve", "approval", "T-42", "--payload", &payload])
}

#[test]
fn a_refused_call_is_looked_at_again_when_somebody_decides() {
    for (status, told) in [("granted", "no objection"), ("refused", "refuses it: no to T-42")] {
        let place = place(approval());
        let reply = dispatch(&place, "deploy prod");
        assert_eq!((&reply["decision"], &reply["reason"]), (&json!("deny"), &json!("wait for T-42")));
        let waiting = pending(&place);
        assert_eq!(
            (waiting.len(), &waiting[0]["hook"], &waiting[0]["attempt"]),
            (1, &json!("gate"), &json!(1))
        );
        resolve(&place, status).exits(0).shows(&["1 matched", "1 woken, 0 dropped"]);
        let next = dispatch(&place, "ls");
        let context = next["context"][0].as_str().unwrap_or_default();
        assert!(context.contains(told) && context.contains("deploy prod"), "{next}");
        assert!(context.contains("the release manager decides"), "{next}");
        assert_eq!(dispatch(&place, "ls").get("context"), None, "told twice");
        // The chain goes on until its attempts are over.
        assert_eq!(pending(&place)[0]["attempt"], 2);
        resolve(&place, status).exits(0);
        assert_eq!(pending(&place), [Value::Null; 0]);
        let ended = place.hook(&["rewake", "list", "--ended"]);
        ended.exits(0).shows(&["fired: the release manager decides", "dropped: max-attempts"]);
    }
}

#[test]
fn what_is_due_is_woken_by_the_next_event_of_any_session() {
    let place = place(json!({"trigger": {"delay": "PT0.001S"}, "reason": "soon", "maxAttempts": 1}));
    dispatch(&place, "deploy prod");
    let until = Instant::now() + Duration::from_secs(10);
    // The process that wakes is nobody's child; what it did is seen in the records.
    while place.hook(&["rewake", "list", "--ended", "--json"]).json().as_array().unwrap().is_empty() {
        dispatch(&place, "ls");
        assert!(Instant::now() < until, "nobody was woken");
    }
    place.hook(&["rewake", "list", "--ended"]).shows(&["fired: soon"]);
}

#[test]
fn one_that_waits_is_shown_and_cancelled() {
    let place = place(approval());
    place.hook(&["list"]).exits(0).shows(&["woken again on approval \"T-42\", 2 times at most"]);
    assert_eq!(place.hook(&["list", "--json"]).json()[0]["rewake"]["maxAttempts"], 2);
    place.hook(&["rewake", "list"]).exits(0).shows(&["nothing waits"]);
    dispatch(&place, "deploy prod");
    let id = pending(&place)[0]["id"].as_str().unwrap().to_owned();
    place.hook(&["rewake", "show", &id]).exits(0).shows(&[
        "on approval \"T-42\"",
        "ticket: T-42",
        "deploy prod",
    ]);
    assert_eq!(place.hook(&["rewake", "show", "rw-none"]).code, Some(1));
    place.hook(&["rewake", "cancel", &id]).exits(0).shows(&["1 cancelled"]);
    assert_eq!(place.hook(&["rewake", "cancel", &id]).code, Some(1));
    dispatch(&place, "deploy prod");
    place.hook(&["rewake", "cancel", "--hook", "gate"]).exits(0).shows(&["1 cancelled"]);
    resolve(&place, "granted").exits(0).shows(&["0 matched"]);
    let said = place.hook(&["rewake", "resolve", " ", "k"]);
    assert_eq!(said.code, Some(64), "{said:?}");
    let said = place.hook(&["rewake", "resolve", "t", "k", "--payload", "[1]"]);
    assert!(said.code == Some(65) && said.stderr.contains("--payload"), "{said:?}");
}

#[test]
fn a_hook_whose_file_is_gone_is_dropped_and_told() {
    let place = place(approval());
    dispatch(&place, "deploy prod");
    let place = place.with(".hooks/hooks.json", r#"{"hooks": {}}"#);
    resolve(&place, "granted").exits(0).shows(&["1 matched", "0 woken, 1 dropped"]);
    place.hook(&["rewake", "list", "--ended"]).shows(&["dropped: hook-gone"]);
}

#[test]
fn a_store_that_cannot_be_used_changes_no_decision_and_is_told() {
    let place = place(approval()).with_home(".local/state/hook/rewakes.db/x", "");
    let payload = json!({"event": "PreToolUse", "session_id": "s", "data": {"tool_name": "Bash", "tool_input": {"command": "deploy prod"}}});
    let mut command = place.command();
    command.args(["dispatch", "--agent", "native"]);
    let said = feed(command, payload.to_string().as_bytes());
    assert!(said.stderr.contains("rewakes.db") && said.stderr.contains("not woken again"), "{said:?}");
    assert_eq!(said.exits(0).json()["decision"], "deny");
    let said = place.hook(&["rewake", "list"]);
    assert!(said.code == Some(74) && said.stderr.contains("rewakes.db"), "{said:?}");
}

#[test]
fn a_held_call_goes_through_once_when_it_was_approved() {
    let mut rewake = approval();
    rewake["hold"] = true.into();
    let place = place(rewake);
    assert_eq!(dispatch(&place, "deploy prod")["reason"], "wait for T-42");
    let held = dispatch(&place, "deploy prod");
    assert!(
        held["decision"] == "deny"
            && held["reason"].as_str().unwrap().contains("the release manager decides"),
        "{held}"
    );
    assert_eq!(dispatch(&place, "deploy test")["decision"], "deny", "another call is another question");
    resolve(&place, "granted").exits(0).shows(&["2 matched", "2 woken"]);
    assert_eq!(dispatch(&place, "deploy prod")["decision"], "none");
    assert_eq!(dispatch(&place, "deploy prod")["decision"], "deny");
}

#[test]
fn a_run_by_hand_said_that_nothing_wakes_hooks_and_not_what_to_do() {
    let place = place(approval());
    let run = ["run", "PreToolUse", "--tool", "Bash", "--input", r#"{"command": "deploy prod"}"#];
    let said = place.hook(&run);
    assert!(said.stderr.contains("with --session ID"), "{said:?}");
    assert_eq!((said.code, pending(&place).len()), (Some(3), 0));
    let said = place.hook(&[&run[..], &["--session", "s"]].concat());
    assert!(!said.stderr.contains("--session ID"), "{said:?}");
    assert_eq!((said.code, pending(&place).len()), (Some(3), 1));
}
