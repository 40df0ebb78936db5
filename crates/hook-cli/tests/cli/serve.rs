//! `hook serve`: the same decisions, faster; and nothing that goes wrong with it opens a guard.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};

use crate::place::{Place, feed};
use crate::server::{Server, dispatch, signal, start, start_in, until};

fn call(tool: &str, command: &str) -> String {
    json!({"event": "PreToolUse", "session_id": "s",
        "data": {"tool_name": tool, "tool_input": {"command": command}}})
    .to_string()
}

fn folder(place: &Place) -> std::path::PathBuf {
    place.home().join(".local/state/hook/serve")
}

/// The same payload with a server and without one.
#[track_caller]
fn same(server: &Server, arguments: &[&str], payload: &str) {
    let before = server.answered() + server.declined();
    let warm = dispatch(server.place, arguments, payload);
    assert_eq!(server.answered() + server.declined(), before + 1, "the server was not asked: {payload}");
    let arguments: Vec<&str> = arguments.iter().chain(&["--cold"]).copied().collect();
    let cold = dispatch(server.place, &arguments, payload);
    let all = |said: &crate::place::Said| (said.code, said.stdout.clone(), said.stderr.clone());
    assert_eq!(all(&warm), all(&cold), "{payload}");
}

#[test]
fn what_is_decided_is_the_same_with_a_server_and_without_one() {
    let place = Place::example("quickstart");
    let server = start(&place, &[]);
    let claude = |event: &str, command: &str| {
        json!({"hook_event_name": event, "session_id": "s", "tool_name": "Bash", "tool_input": {"command": command}})
            .to_string()
    };
    let amplifier = json!({"event": "tool:pre", "session_id": "s",
        "data": {"tool_name": "bash", "tool_input": {"command": "rm -rf /"}}});
    let unnamed =
        json!({"event": "PreToolUse", "data": {"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}});
    let skill = json!({"event": "SkillLoaded", "data": {"name": "x", "hooks": {"PreToolUse": []}}});
    let table: [(&[&str], String); 14] = [
        (&[], call("Bash", "rm -rf /")),
        (&[], call("Bash", "ls")),
        (&["--agent", "claude"], claude("PreToolUse", "rm -rf /")),
        (&["--agent", "claude"], claude("PermissionRequest", "ls")),
        (&["--agent", "claude"], claude("SomethingNew", "ls")),
        (&["--agent", "amplifier"], amplifier.to_string()),
        (&[], amplifier.to_string()),
        (&[], unnamed.to_string()),
        (&[], skill.to_string()),
        (&["--agent", "nobody"], call("Bash", "ls")),
        (&["--event", "PreToolUse"], "{}".into()),
        (&[], "{\"event\": \"Stop\"".into()),
        (&["--agent", "claude"], "[1]".into()),
        (&["--from", "claude", "--plugin-root", "missing"], call("Bash", "rm -rf /")),
    ];
    for (arguments, payload) in &table {
        same(&server, arguments, payload);
        same(&server, arguments, payload);
    }
    assert!(server.answered() > server.declined(), "{:?}", server.status());
}

#[test]
fn what_a_session_without_a_name_leaves_is_forgotten_as_in_a_process_of_its_own() {
    let hooks = json!({"PreToolUse": [{"matcher": "bash", "hooks": [{"type": "command", "command": "echo skill >&2; exit 2"}]}]});
    let place = Place::new();
    let server = start(&place, &[]);
    let fire = |event: &str, session: Option<&str>, data: Value| {
        let mut payload = json!({"event": event, "data": data});
        if let Some(session) = session {
            payload["session_id"] = session.into();
        }
        dispatch(&place, &["--agent", "amplifier"], &payload.to_string()).exits(0).json()
    };
    let skill = json!({"skill_name": "sec", "hooks": hooks});
    let tool = json!({"tool_name": "bash", "tool_input": {}});
    fire("skill:loaded", None, skill.clone());
    assert_eq!(fire("tool:pre", None, tool.clone())["action"], "continue");
    fire("skill:loaded", Some("s"), skill);
    assert_eq!(fire("tool:pre", Some("s"), tool.clone())["action"], "deny");
    assert_eq!(fire("tool:pre", None, tool)["action"], "continue");
    assert_eq!((server.answered(), server.declined()), (5, 0));
}

#[test]
fn the_environment_and_the_directory_of_the_one_that_asks_count() {
    let hook = json!({"type": "command", "command": "echo \"$MARK $HOME $PATH $(pwd) $(umask) $PROBE\""});
    let file = json!({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}});
    let place = Place::new().with(".hooks/hooks.json", &file.to_string()).with("inner/.keep", "");
    let server = start_in(&place, &[], &[("MARK", "server"), ("PROBE", "server")]);
    let payload =
        json!({"event": "UserPromptSubmit", "session_id": "s", "data": {"prompt": "x"}}).to_string();
    let said = |mark: &str, inner: bool, cold: bool| {
        let mut command = place.command();
        command.arg("dispatch").args(cold.then_some("--cold")).env("MARK", mark);
        if inner {
            command.current_dir(place.project().join("inner"));
        }
        feed(command, payload.as_bytes()).exits(0).stdout.clone()
    };
    for (mark, inner) in [("one", false), ("two", false), ("one", true)] {
        let warm = said(mark, inner, false);
        assert!(warm.contains(mark) && !warm.contains("server"), "{warm}");
        assert_eq!(warm, said(mark, inner, true));
    }
    assert_eq!((server.answered(), server.declined()), (3, 0));
}

#[test]
fn a_large_payload_is_read_while_the_server_gives_signs_of_life() {
    let deny = json!({"matcher": "Bash", "hooks": [{"type": "deny", "reason": "no"}]});
    let file = json!({"hooks": {"PreToolUse": [deny]}});
    let place = Place::new().with(".hooks/hooks.json", &file.to_string());
    let server = start(&place, &[]);
    let said = dispatch(&place, &[], &call("Bash", &format!("rm {}", "x".repeat(6_000_000))));
    assert_eq!((said.exits(0).json()["decision"].as_str(), said.stderr.as_str()), (Some("deny"), ""));
    assert_eq!(server.answered(), 1);
}

#[test]
fn a_dispatch_with_another_umask_does_its_work_itself() {
    let hook = json!({"type": "command", "command": "umask"});
    let file = json!({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}});
    let place = Place::new().with(".hooks/hooks.json", &file.to_string());
    let server = start(&place, &[]);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "umask 027; exec \"$0\" dispatch", env!("CARGO_BIN_EXE_hook")]);
    command.current_dir(place.project()).env("HOME", place.home());
    let payload =
        json!({"event": "UserPromptSubmit", "session_id": "s", "data": {"prompt": "x"}}).to_string();
    let said = feed(command, payload.as_bytes());
    said.exits(0).shows(&["0027"]);
    assert_eq!((server.answered(), server.declined()), (0, 1));
}

#[test]
fn one_that_is_locked_in_does_its_work_itself() {
    let place = Place::example("quickstart");
    let server = start(&place, &[]);
    let mut command = std::process::Command::new("setpriv");
    command.args(["--no-new-privs", env!("CARGO_BIN_EXE_hook"), "dispatch"]);
    command.current_dir(place.project()).env("HOME", place.home());
    // Without the program nobody can be locked in, and there is nothing to see.
    if std::process::Command::new("setpriv").arg("--version").output().is_err() {
        return;
    }
    feed(command, call("Bash", "rm -rf /").as_bytes()).exits(0).shows(&["deny"]);
    assert_eq!((server.answered(), server.declined()), (0, 1));
}

#[test]
fn a_changed_file_counts_for_the_very_next_event() {
    let guard = |reason: &str| {
        json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "deny", "reason": reason}]}]}})
            .to_string()
    };
    let place = Place::new().with(".hooks/hooks.json", &guard("number 0"));
    let server = start(&place, &[]);
    for number in 0..20 {
        let reason = format!("number {number}");
        fs::write(place.project().join(".hooks/hooks.json"), guard(&reason)).unwrap();
        dispatch(&place, &[], &call("Bash", "ls")).exits(0).shows(&[&reason]);
    }
    fs::write(place.project().join(".hooks/hooks.json"), "{}").unwrap();
    assert_eq!(dispatch(&place, &[], &call("Bash", "ls")).json()["decision"], "none");
    // A new file of another layer, too.
    let user = place.home().join(".config/hook");
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("hooks.json"), guard("of the user")).unwrap();
    dispatch(&place, &[], &call("Bash", "ls")).exits(0).shows(&["of the user"]);
    assert_eq!((server.answered(), server.declined()), (22, 0));
}

#[test]
fn a_file_that_is_broken_while_the_server_runs_switches_no_guard_off() {
    let place = Place::example("quickstart");
    let server = start(&place, &[]);
    dispatch(&place, &[], &call("Bash", "rm -rf /")).shows(&["deny"]);
    fs::write(place.project().join(".hooks/hooks.json"), "{\"hooks\": {\"PreToolUse\": [").unwrap();
    let said = dispatch(&place, &[], &call("Bash", "rm -rf /"));
    said.exits(0).shows(&["deny", "rm -r /"]).tells(&["1 error in hook files", "hooks.json"]);
    assert_eq!(server.answered(), 2);
}

#[test]
fn settings_of_a_changed_file_count_as_well() {
    let with = |mode: &str| json!({"settings": {"failClosed": mode == "closed"}, "hooks": {}}).to_string();
    let place = Place::new().with_home(".config/hook/hooks.json", &with("open"));
    let server = start(&place, &[]);
    assert_eq!(dispatch(&place, &[], &call("Bash", "ls")).json()["decision"], "none");
    let user = place.home().join(".config/hook/hooks.json");
    fs::write(&user, with("closed")).unwrap();
    fs::create_dir_all(place.project().join(".hooks")).unwrap();
    fs::write(place.project().join(".hooks/hooks.json"), "{").unwrap();
    assert_eq!(dispatch(&place, &[], &call("Bash", "ls")).json()["decision"], "deny");
    assert_eq!(server.answered(), 2);
}

#[test]
fn a_server_that_is_killed_is_not_missed_and_comes_back() {
    let place = Place::example("quickstart");
    let server = start(&place, &[]);
    for _ in 0..3 {
        let worker = server.worker();
        signal("KILL", worker);
        dispatch(&place, &[], &call("Bash", "rm -rf /")).exits(0).shows(&["deny"]);
        let status = || place.hook(&["serve", "--status", "--json"]);
        until("another one serves", || {
            let said = status();
            said.code == Some(0) && said.json()["pid"] != worker
        });
    }
    dispatch(&place, &[], &call("Bash", "rm -rf /")).exits(0).shows(&["deny"]);
    assert_eq!(server.answered(), 1);
}

/// A dispatch that runs beside the test.
fn begun(place: &Place) -> Child {
    let mut command = place.command();
    command.arg("dispatch").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(call("Bash", "ls").as_bytes()).unwrap();
    child
}

/// A project with one guard in a script.
fn guarded(script: &str) -> Place {
    let hook = json!({"type": "command", "command": "sh guard.sh"});
    let file = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
    Place::new().with(".hooks/hooks.json", &file.to_string()).with("guard.sh", script)
}

#[test]
fn one_that_is_told_to_end_while_its_worker_dies_starts_no_other() {
    let place = Place::example("quickstart");
    for _ in 0..4 {
        let server = start(&place, &[]);
        let worker = server.worker();
        // Both are there at once when it looks again.
        signal("STOP", server.process());
        signal("KILL", worker);
        signal("TERM", server.process());
        signal("CONT", server.process());
        assert_eq!(server.waited(), Some(0));
    }
}

#[test]
fn a_server_that_is_killed_while_hooks_run_leaves_the_decision_to_the_dispatch() {
    let script =
        "#!/bin/sh\nif mkdir first 2>/dev/null; then echo > began; sleep 60; fi\necho no >&2; exit 2\n";
    let place = guarded(script);
    let server = start(&place, &[]);
    let child = begun(&place);
    until("the hook runs", || place.project().join("began").exists());
    signal("KILL", server.worker());
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("deny") && err.contains("went away while hooks ran"), "{out} {err}");
}

#[test]
fn a_server_that_stands_still_holds_nobody_up() {
    let place = Place::example("quickstart");
    let server = start(&place, &[]);
    let worker = server.worker();
    signal("STOP", worker);
    let began = Instant::now();
    let said = dispatch(&place, &[], &call("Bash", "rm -rf /"));
    let took = began.elapsed();
    signal("CONT", worker);
    said.exits(0).shows(&["deny"]).tells(&["did not take the event"]);
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn a_socket_that_is_not_ours_is_not_trusted() {
    let guard = |place: &Place| dispatch(place, &[], &call("Bash", "rm -rf /"));
    let make = || {
        let place = Place::example("quickstart");
        fs::create_dir_all(folder(&place)).unwrap();
        fs::set_permissions(folder(&place), fs::Permissions::from_mode(0o700)).unwrap();
        place
    };
    // Nobody listens, it is a file, it is a dangling link.
    let place = make();
    drop(UnixListener::bind(folder(&place).join("socket")).unwrap());
    guard(&place).exits(0).shows(&["deny"]);
    fs::remove_file(folder(&place).join("socket")).unwrap();
    fs::write(folder(&place).join("socket"), "x").unwrap();
    guard(&place).exits(0).shows(&["deny"]);
    fs::remove_file(folder(&place).join("socket")).unwrap();
    std::os::unix::fs::symlink("/nowhere", folder(&place).join("socket")).unwrap();
    guard(&place).exits(0).shows(&["deny"]);
    // Others may write into the directory: whoever listens there could be anybody.
    let place = make();
    let listener = UnixListener::bind(folder(&place).join("socket")).unwrap();
    fs::set_permissions(folder(&place), fs::Permissions::from_mode(0o770)).unwrap();
    let answering = std::thread::spawn(move || {
        listener.set_nonblocking(true).unwrap();
        listener.accept().is_ok()
    });
    guard(&place).exits(0).shows(&["deny"]).tells(&["lets others in"]);
    assert!(!answering.join().unwrap(), "it was asked");
    // Somebody who says nothing sensible.
    for words in ["HTTP/1.1 200 OK\r\n\r\n", "A\0\0\0\0R\0\0\0\x02{}", "A\0\0\0\0", "D\0\0\0\0", ""] {
        let place = make();
        let listener = UnixListener::bind(folder(&place).join("socket")).unwrap();
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut piece = [0; 4096];
            let _ = stream.read(&mut piece);
            let _ = stream.write_all(words.as_bytes());
        });
        guard(&place).exits(0).shows(&["deny"]);
        answering.join().unwrap();
    }
}

#[test]
fn a_signal_ends_hooks_that_the_server_runs() {
    let script = "#!/bin/sh\necho $$ > pid\nsleep 300 &\nwait\n";
    let place = guarded(script);
    let server = start(&place, &[]);
    let child = begun(&place);
    let pid = place.project().join("pid");
    until("the hook runs", || fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')));
    signal("TERM", child.id());
    let output = child.wait_with_output().unwrap();
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reply["decision"], "deny", "{reply}");
    assert!(reply["reason"].as_str().unwrap().contains("a signal ended it"), "{reply}");
    let group = fs::read_to_string(&pid).unwrap().trim().to_owned();
    until("the hook is gone", || !std::path::Path::new(&format!("/proc/{group}/task")).exists());
    assert_eq!(server.answered(), 0);
}

#[test]
fn stopping_waits_for_what_runs() {
    let script = "echo > began\nwhile ! test -e go; do sleep 0.01; done\necho late >&2; exit 2\n";
    let place = guarded(script);
    let server = start(&place, &[]);
    let child = begun(&place);
    until("the hook runs", || place.project().join("began").exists());
    let mut stop = place.command();
    stop.args(["serve", "--stop"]).stdout(Stdio::piped());
    let stop = stop.spawn().unwrap();
    until("it takes no more", || !folder(&place).join("socket").exists());
    fs::write(place.project().join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("late") && err.is_empty(), "{out} {err}");
    assert_eq!(stop.wait_with_output().unwrap().stdout, b"ended\n");
    assert_eq!(server.end(), Some(0));
    assert_eq!(place.hook(&["serve", "--status"]).code, Some(1));
    assert_eq!(place.hook(&["serve", "--stop"]).code, Some(1));
}

#[test]
fn there_is_one_server_and_it_can_go_on_by_itself() {
    let place = Place::example("quickstart");
    place.hook(&["serve", "--detach"]).exits(0).shows(&["listening on", "log in"]);
    let again = place.hook(&["serve", "--detach"]);
    again.exits(1).tells(&["a server runs already"]);
    place.hook(&["serve"]).exits(1).tells(&["a server runs already"]);
    dispatch(&place, &[], &call("Bash", "rm -rf /")).exits(0).shows(&["deny"]);
    place.hook(&["serve", "--status"]).exits(0).shows(&["1 answered", "engine  native", "http    off"]);
    for (file, mode) in [("", 0o700), ("lock", 0o600), ("log", 0o600), ("token", 0o600)] {
        let data = fs::metadata(folder(&place).join(file)).unwrap();
        assert_eq!(data.permissions().mode() & 0o777, mode, "{file:?}");
    }
    place.hook(&["serve", "--stop"]).exits(0).shows(&["ended"]);
    assert!(!folder(&place).join("socket").exists());
    // One that was killed leaves a socket behind.
    place.hook(&["serve", "--detach"]).exits(0);
    place.hook(&["serve", "--stop"]).exits(0);
    let log = fs::read_to_string(folder(&place).join("log")).unwrap();
    assert_eq!(log, "hook serve: ended\nhook serve: ended\n");
}

#[test]
fn bad_arguments_are_told() {
    let place = Place::new();
    let table = [
        (vec!["serve", "--http", "0.0.0.0:0"], 64, "only addresses of this machine"),
        (vec!["serve", "--http", "7070"], 64, "an address and a port"),
        (vec!["serve", "--detach", "--secret-file", "missing"], 74, "missing"),
        (vec!["serve", "--json"], 64, "--status"),
    ];
    for (arguments, code, words) in table {
        place.hook(&arguments).exits(code).tells(&[words]);
    }
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = busy.local_addr().unwrap().to_string();
    place.hook(&["serve", "--detach", "--http", &at]).exits(74).tells(&[&at]);
    place.hook(&["serve", "--http", &at]).exits(74).tells(&[&at]);
}

#[test]
fn http_wants_the_token_and_says_what_is_wrong() {
    let place = Place::example("quickstart");
    let server = start(&place, &["--http", "127.0.0.1:0"]);
    let wrong = ["Authorization: Bearer x", "Authorization: Basic x", "Authorization: "];
    let closed = [
        ("GET", "/metrics"),
        ("GET", "/v1/rewake"),
        ("POST", "/v1/rewake/resolve"),
        ("POST", "/v1/dispatch/native"),
    ];
    for (method, path) in closed {
        assert_eq!(server.request(method, path, &[], b"").status, 401, "{path}");
        for header in wrong {
            assert_eq!(server.request(method, path, &[header], b"").status, 401, "{path} {header}");
        }
    }
    assert_eq!(server.request("GET", "/healthz", &[], b"").body, "ok\n");
    let payload = call("Bash", "rm -rf /");
    let reply = server.ask("POST", "/v1/dispatch/native", &payload);
    let cold = dispatch(&place, &["--cold"], &payload);
    assert_eq!((reply.status, &reply.json()["decision"]), (200, &json!("deny")));
    assert_eq!((&reply.json()["stdout"], &reply.json()["exit_code"]), (&json!(cold.stdout), &json!(0)));
    let bare =
        server.ask("POST", "/v1/dispatch/native?event=PreToolUse", r#"{"data": {"tool_name": "Read"}}"#);
    assert_eq!((bare.status, &bare.json()["decision"]), (200, &json!("none")));
    let table = [
        ("POST", "/v1/dispatch/nobody", "{}", 404, "known agents"),
        ("POST", "/v1/dispatch/native", "{", 400, "no JSON"),
        ("POST", "/v1/dispatch/native", "[]", 400, ""),
        ("GET", "/v1/dispatch/native", "", 405, ""),
        ("POST", "/v1/rewake/resolve", "x", 400, "no JSON"),
        ("POST", "/v1/rewake/resolve", r#"{"type": "a"}"#, 422, "missing or blank"),
        (
            "POST",
            "/v1/rewake/resolve",
            r#"{"type": "a", "key": "k", "payload": {"x": 1}}"#,
            422,
            "the payload",
        ),
        ("POST", "/v1/rewake/resolve", r#"{"type": "a", "key": "k"}"#, 200, "\"matched\":0"),
        ("GET", "/v1/rewake", "", 200, "pending"),
        ("GET", "/v1/rewake?ended=true", "", 200, "ended"),
        ("GET", "/v2", "", 404, "nothing here"),
    ];
    for (method, path, body, status, words) in table {
        let reply = server.ask(method, path, body);
        assert!(reply.status == status && reply.body.contains(words), "{method} {path} {body}: {reply:?}");
    }
    let large = "x".repeat(2 * 1024 * 1024);
    assert_eq!(server.ask("POST", "/v1/rewake/resolve", &large).status, 413);
    let text = server.ask("GET", "/metrics", "").body;
    for line in [
        "hook_dispatches_total{agent=\"native\",decision=\"deny\"} 1",
        "hook_dispatch_seconds_count 2",
        "hook_runs_total{status=\"blocked\"} 1",
        "hook_engines 1",
        "# EOF",
    ] {
        assert!(text.lines().any(|known| known == line), "no {line} in {text}");
    }
}

fn signed(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let digits: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("X-Rewake-Signature: sha256={digits}")
}

fn gate(wishes: Value) -> Place {
    let script = "case \"$HOOK_REWAKE_STATUS\" in granted) exit 0 ;; refused) echo \"no to $HOOK_REWAKE_TICKET\" >&2; exit 2 ;;\n\
        *) echo 'wait for T-42' >&2; exit 2 ;; esac\n";
    let hook = json!({"id": "gate", "type": "command", "command": "sh gate.sh", "asyncRewake": wishes});
    let file = json!({"hooks": {"PreToolUse": [{"matcher": "Bash(deploy *)", "hooks": [hook]}]}});
    Place::new().with(".hooks/hooks.json", &file.to_string()).with("gate.sh", script)
}

fn approval() -> Value {
    json!({"trigger": {"event": {"type": "approval", "key": "T-42"}}, "reason": "the release manager decides",
        "payload": {"ticket": "T-42"}, "maxAttempts": 1})
}

#[test]
fn a_signed_delivery_wakes_a_hook_once() {
    let place = gate(approval());
    let body = r#"{"eventType": "approval", "eventKey": "T-42", "payload": {"status": "refused", "n": 1}}"#;
    let path = "/rewake/events";
    let server = start(&place, &["--http", "127.0.0.1:0"]);
    assert_eq!(server.request("POST", path, &[&signed("s3", body)], body.as_bytes()).status, 503);
    drop(server);
    let server = start_in(&place, &["--http", "127.0.0.1:0"], &[("HOOK_REWAKE_SECRET", "s3")]);
    dispatch(&place, &[], &call("Bash", "deploy prod")).shows(&["wait for T-42"]);
    for header in [&signed("other", body), &signed("s3", "{}"), "X-Rewake-Signature: zz", "X-Other: 1"] {
        assert_eq!(server.request("POST", path, &[header], body.as_bytes()).status, 401, "{header}");
    }
    for (bad, status) in [("[]", 400), ("{", 400), (r#"{"eventType": "a"}"#, 422)] {
        assert_eq!(server.request("POST", path, &[&signed("s3", bad)], bad.as_bytes()).status, status);
    }
    let deliver = |server: &Server| {
        let headers = [&*signed("s3", body), "X-Rewake-Idempotency-Key: d-1"];
        let reply = server.request("POST", path, &headers, body.as_bytes());
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    };
    assert_eq!(deliver(&server), json!({"matched": 1, "idempotentReplay": false}));
    assert_eq!(deliver(&server), json!({"matched": 1, "idempotentReplay": true}));
    until("it is woken", || server.ask("GET", "/v1/rewake?ended=true", "").body.contains("fired"));
    let said = dispatch(&place, &[], &call("Bash", "ls"));
    let context = said.json()["context"][0].as_str().unwrap_or_default().to_owned();
    assert!(context.contains("refuses it: no to T-42") && context.contains("deploy prod"), "{said:?}");
    // Known after a restart as well.
    drop(server);
    let server = start_in(&place, &["--http", "127.0.0.1:0"], &[("HOOK_REWAKE_SECRET", "s3")]);
    assert_eq!(deliver(&server), json!({"matched": 1, "idempotentReplay": true}));
    assert_eq!(dispatch(&place, &[], &call("Bash", "ls")).json().get("context"), None, "told twice");
}

#[test]
fn what_is_due_is_woken_without_an_event() {
    let place = gate(json!({"trigger": {"delay": "PT0.05S"}, "reason": "soon", "maxAttempts": 1}));
    let server = start(&place, &[]);
    dispatch(&place, &[], &call("Bash", "deploy prod")).shows(&["deny"]);
    until("it is woken", || place.hook(&["rewake", "list", "--ended"]).stdout.contains("fired: soon"));
    dispatch(&place, &[], &call("Bash", "ls")).shows(&["A hook looked again at", "deploy prod"]);
    assert_eq!(dispatch(&place, &[], &call("Bash", "ls")).json().get("context"), None, "told twice");
    assert_eq!(server.declined(), 0);
}

#[test]
fn nothing_that_waits_is_lost_with_a_server_that_is_killed() {
    let place = gate(approval());
    let server = start(&place, &["--http", "127.0.0.1:0"]);
    dispatch(&place, &[], &call("Bash", "deploy prod")).shows(&["deny"]);
    let worker = server.worker();
    signal("KILL", worker);
    let resolve = ["rewake", "resolve", "approval", "T-42", "--payload", "{\"status\": \"granted\"}"];
    place.hook(&resolve).exits(0).shows(&["1 matched"]);
    dispatch(&place, &[], &call("Bash", "ls")).shows(&["no objection"]);
}

#[test]
fn a_letter_whose_reader_was_killed_is_kept() {
    let place = gate(approval());
    let server = start(&place, &["--http", "127.0.0.1:0"]);
    dispatch(&place, &[], &call("Bash", "deploy prod")).shows(&["deny"]);
    let granted = r#"{"type": "approval", "key": "T-42", "payload": {"status": "granted"}}"#;
    assert_eq!(server.ask("POST", "/v1/rewake/resolve", granted).json()["matched"], 1);
    until("it is woken", || server.ask("GET", "/v1/rewake?ended=true", "").body.contains("fired"));
    // An agent that is gone before it reads: its pipe is closed.
    let mut command = place.command();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.arg("dispatch").stdin(Stdio::piped()).stdout(writer).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(call("Bash", "ls").as_bytes()).unwrap();
    child.wait().unwrap();
    // The server is done with it by then.
    place.hook(&["serve", "--stop"]).exits(0);
    let sessions = place.home().join(".local/state/hook/sessions");
    let state = fs::read_dir(&sessions).unwrap().flatten().map(|entry| entry.path());
    let texts: String = state.filter_map(|path| fs::read_to_string(path).ok()).collect();
    assert!(texts.contains("no objection"), "{texts}");
}

#[test]
fn a_hook_that_goes_from_one_project_leaves_that_of_another_waiting() {
    let place = gate(approval());
    let other = place.home().join("other");
    let file = fs::read_to_string(place.project().join(".hooks/hooks.json")).unwrap();
    fs::create_dir_all(other.join(".hooks")).unwrap();
    fs::write(other.join(".hooks/hooks.json"), &file).unwrap();
    fs::write(other.join("gate.sh"), "exit 2").unwrap();
    let server = start(&place, &[]);
    let deploy = call("Bash", "deploy prod");
    let beside = || {
        let mut command = place.command();
        command.arg("dispatch").current_dir(&other);
        feed(command, deploy.as_bytes()).exits(0).json()
    };
    dispatch(&place, &[], &deploy).shows(&["deny"]);
    assert_eq!(beside()["decision"], "deny");
    let pending = || place.hook(&["rewake", "list", "--json"]).json().as_array().unwrap().len();
    assert_eq!(pending(), 2);
    // The watcher sees to it; no event comes.
    fs::write(place.project().join(".hooks/hooks.json"), "{}").unwrap();
    until("one is cancelled", || pending() == 1);
    place.hook(&["rewake", "list", "--ended"]).shows(&["cancelled: its hook is gone"]);
    assert_eq!(beside()["decision"], "deny");
    assert_eq!(pending(), 2);
    assert_eq!(server.declined(), 0);
}

#[test]
fn config_reload_is_told_whichever_way_it_went() {
    let hook = |more: &str| {
        let tell = json!({"type": "command", "command": "cat > told.json; mv told.json told"});
        json!({"hooks": {"ConfigReload": [{"hooks": [tell]}], "Stop": [{"hooks": [{"type": "command", "command": more}]}]}})
    };
    let place = Place::new().with(".hooks/hooks.json", &hook("one").to_string());
    let server = start(&place, &[]);
    dispatch(&place, &[], &call("Bash", "ls")).exits(0);
    let file = place.project().join(".hooks/hooks.json");
    let told = || {
        let told = place.project().join("told");
        until("it is told", || told.exists());
        let text = fs::read_to_string(&told).unwrap();
        fs::remove_file(told).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    fs::write(&file, hook("two").to_string()).unwrap();
    let good = told();
    assert_eq!((&good["successful"], &good["reload_counter"]), (&json!(true), &json!(1)), "{good}");
    fs::write(&file, "{\"hooks\": ").unwrap();
    let bad = told();
    assert_eq!(bad["successful"], false, "{bad}");
    assert!(bad["failure_reason"].as_str().unwrap().contains("hooks.json:1:"), "{bad}");
    assert_eq!(server.declined(), 0);
}
