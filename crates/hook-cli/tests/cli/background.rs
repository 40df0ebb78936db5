//! Background hooks of processes that live for one event: looked after, bounded, and gone with their session.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::place::Place;
use crate::server::{dispatch, signal, start, until};

fn event(name: &str, session: &str) -> String {
    json!({"hook_event_name": name, "session_id": session, "tool_name": "Bash", "tool_input": {"command": "ls"}})
        .to_string()
}

fn fire(place: &Place, name: &str) -> String {
    dispatch(place, &["--agent", "claude"], &event(name, "s")).exits(0).stdout.clone()
}

/// A hook after every tool call, and perhaps more hooks.
fn place(hook: Value, more: Value) -> Place {
    let mut hooks = json!({"PostToolUse": [{"hooks": [hook]}]});
    for (name, value) in more.as_object().unwrap() {
        hooks[name] = value.clone();
    }
    Place::new().with(".claude/settings.json", &json!({"hooks": hooks}).to_string())
}

fn claude(place: &Place, name: &str) -> String {
    dispatch(place, &["--agent", "claude", "--from", "claude"], &event(name, "s")).exits(0).stdout.clone()
}

/// Says its process, and waits.
const SLOW: &str = "echo half of it; echo $$ > $$.pid; sleep 300 & wait";

fn slow() -> Value {
    json!({"type": "command", "command": SLOW, "async": true, "timeout": 200})
}

fn hooks_of(place: &Place) -> Vec<String> {
    let names = fs::read_dir(place.project()).unwrap().flatten().map(|entry| entry.path());
    let pids = names.filter(|path| path.extension().is_some_and(|extension| extension == "pid"));
    pids.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

fn runs(process: &str) -> bool {
    // One that nobody has asked for has ended all the same.
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

/// The files of background runs with this extension.
fn files(place: &Place, extension: &str) -> Vec<PathBuf> {
    let folder = place.home().join(".local/state/hook/background");
    let sessions = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = sessions.flat_map(|session| fs::read_dir(session.path()).into_iter().flatten().flatten());
    let paths = files.map(|file| file.path());
    paths.filter(|path| path.extension().is_some_and(|own| own == extension)).collect()
}

/// What is written down of background runs.
fn entries(place: &Place) -> Vec<Value> {
    let read = |path: PathBuf| serde_json::from_slice(&fs::read(path).ok()?).ok();
    files(place, "json").into_iter().filter_map(read).collect()
}

/// What they have said so far.
fn spools(place: &Place) -> Vec<PathBuf> {
    files(place, "out")
}

#[test]
fn nothing_goes_on_after_the_end_of_the_session() {
    for warm in [false, true] {
        let place = place(slow(), json!({}));
        let server = warm.then(|| start(&place, &[]));
        claude(&place, "PostToolUse");
        claude(&place, "PostToolUse");
        until("both run", || hooks_of(&place).len() == 2);
        assert_eq!(entries(&place).len(), if warm { 0 } else { 2 });
        dispatch(&place, &["--agent", "claude", "--from", "claude"], &event("SessionEnd", "other")).exits(0);
        assert!(hooks_of(&place).iter().all(|hook| runs(hook)), "they are of another session");
        claude(&place, "SessionEnd");
        until("they are gone", || !hooks_of(&place).iter().any(|hook| runs(hook)));
        assert_eq!(entries(&place), [Value::Null; 0]);
        assert!(server.is_none_or(|server| server.declined() == 0));
    }
}

#[test]
fn runs_from_before_the_server_end_with_the_session_too() {
    let place = place(slow(), json!({}));
    claude(&place, "PostToolUse");
    until("it runs", || hooks_of(&place).len() == 1);
    let server = start(&place, &[]);
    claude(&place, "SessionEnd");
    until("it is gone", || !hooks_of(&place).iter().any(|hook| runs(hook)));
    assert_eq!(server.answered(), 1);
}

#[test]
fn a_supervisor_that_is_killed_leaves_no_hook_and_the_model_hears_of_it() {
    let place = place(slow(), json!({}));
    claude(&place, "PostToolUse");
    until("it runs", || hooks_of(&place).len() == 1);
    until("what it said is written down", || {
        spools(&place).iter().any(|path| fs::read_to_string(path).is_ok_and(|said| said == "half of it\n"))
    });
    assert_eq!(fs::metadata(&spools(&place)[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let supervisor = u32::try_from(entries(&place)[0]["pid"].as_u64().unwrap()).unwrap();
    signal("KILL", supervisor);
    until("the supervisor is gone", || !runs(&supervisor.to_string()));
    assert!(hooks_of(&place).iter().all(|hook| runs(hook)), "nobody has looked yet");
    claude(&place, "PreToolUse");
    assert!(!hooks_of(&place).iter().any(|hook| runs(hook)));
    let told = claude(&place, "UserPromptSubmit");
    assert!(told.contains("did not come to its end") && told.contains("half of it"), "{told}");
    assert!(!claude(&place, "UserPromptSubmit").contains("did not come"), "told twice");
    assert_eq!(entries(&place), [Value::Null; 0]);
}

#[test]
fn no_more_run_at_once_than_may() {
    let place = place(slow(), json!({}));
    for _ in 0..17 {
        claude(&place, "PostToolUse");
    }
    let said = dispatch(&place, &["--agent", "claude", "--from", "claude"], &event("PostToolUse", "s"));
    said.exits(0).tells(&["was not started: 16 run for this session already"]);
    until("sixteen run", || hooks_of(&place).len() == 16);
    assert_eq!(entries(&place).len(), 16);
    let told = claude(&place, "UserPromptSubmit");
    assert!(told.contains("was not started: 16 run"), "{told}");
    claude(&place, "SessionEnd");
    until("all are gone", || !hooks_of(&place).iter().any(|hook| runs(hook)));
}

#[test]
fn a_run_that_is_done_leaves_nothing_written_down() {
    let hook = json!({"type": "command", "command": "echo '{\"systemMessage\": \"built\"}'", "async": true});
    let place = place(hook, json!({}));
    claude(&place, "PostToolUse");
    let folder = place.home().join(".local/state/hook/background");
    until("it is heard", || claude(&place, "UserPromptSubmit").contains("built"));
    until("its entry is gone", || entries(&place).is_empty());
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn a_hook_that_wakes_the_model_says_why_on_either_stream() {
    let table = [
        ("echo out; echo err >&2; exit 2", Some("err"), Some("out")),
        ("echo out; exit 2", Some("out"), None),
        ("echo out; echo err >&2; exit 1", None, Some("err")),
        ("echo out; exit 0", None, Some("out")),
    ];
    for (command, told, untold) in table {
        let hook = json!({"type": "command", "command": format!("{command}"), "asyncRewake": true});
        let place = place(hook, json!({}));
        claude(&place, "PostToolUse");
        until("it is done", || {
            let state = place.home().join(".local/state/hook/background");
            entries(&place).is_empty() && state.exists()
        });
        let said = claude(&place, "UserPromptSubmit");
        assert!(told.is_none_or(|told| said.contains(told)), "{command}: {said}");
        assert!(untold.is_none_or(|untold| !said.contains(untold)), "{command}: {said}");
    }
}

#[test]
fn a_deadline_of_a_background_hook_holds() {
    let hook = json!({"type": "command", "command": SLOW, "asyncRewake": true, "timeout": 1});
    let place = place(hook, json!({}));
    claude(&place, "PostToolUse");
    until("it runs", || hooks_of(&place).len() == 1);
    until("it was ended", || !hooks_of(&place).iter().any(|hook| runs(hook)) && entries(&place).is_empty());
}

#[test]
fn another_process_of_the_same_number_is_not_ended() {
    let place = place(slow(), json!({}));
    let mut innocent = std::process::Command::new("sleep").arg("300").spawn().unwrap();
    claude(&place, "PostToolUse");
    until("it runs", || hooks_of(&place).len() == 1);
    let mut entry = entries(&place).remove(0);
    let supervisor = u32::try_from(entry["pid"].as_u64().unwrap()).unwrap();
    entry["pid"] = json!(innocent.id());
    // It was started at another time than the one that is written down.
    entry["began"] = json!(entry["began"].as_u64().unwrap() + 1_000_000);
    let folder = place.home().join(".local/state/hook/background");
    let session = fs::read_dir(folder).unwrap().flatten().next().unwrap().path();
    let file = session.join(format!("{}.json", entry["mark"].as_str().unwrap()));
    fs::write(file, entry.to_string()).unwrap();
    fire(&place, "SessionEnd");
    assert!(innocent.try_wait().unwrap().is_none(), "it was ended");
    until("the hook is gone", || !hooks_of(&place).iter().any(|hook| runs(hook)));
    innocent.kill().unwrap();
    innocent.wait().unwrap();
    assert!(!Path::new(&format!("/proc/{supervisor}/exe")).exists(), "the supervisor bears the mark, too");
}
