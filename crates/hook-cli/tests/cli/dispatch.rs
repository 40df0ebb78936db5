//! `hook dispatch`: every agent in its own words, also where the command itself fails.

use serde_json::{Value, json};

use crate::place::Place;

fn claude(event: &str, command: &str) -> Value {
    json!({ "hook_event_name": event, "session_id": "s1", "tool_name": "Bash",
        "tool_input": { "command": command } })
}

fn amplifier(event: &str, command: &str) -> Value {
    json!({ "event": event, "session_id": "s1",
        "data": { "tool_name": "bash", "tool_input": { "command": command } } })
}

fn send(place: &Place, arguments: &[&str], payload: &Value) -> crate::place::Said {
    let arguments: Vec<&str> = ["dispatch"].iter().chain(arguments).copied().collect();
    place.hook_fed(&arguments, payload.to_string().as_bytes())
}

#[test]
fn a_deny_is_said_in_each_agents_words() {
    let place = Place::example("quickstart");
    let native = json!({ "event": "PreToolUse", "data": { "tool_name": "Bash",
        "tool_input": { "command": "rm -rf /" } } });
    let table: [(&[&str], Value, &str); 6] = [
        (&["--agent", "claude"], claude("PreToolUse", "rm -rf /"), "/hookSpecificOutput/permissionDecision"),
        (
            &["--agent", "claude-code"],
            claude("PreToolUse", "rm -rf /"),
            "/hookSpecificOutput/permissionDecision",
        ),
        (&[], claude("PreToolUse", "rm -rf /"), "/hookSpecificOutput/permissionDecision"),
        (&["--agent", "amplifier"], amplifier("tool:pre", "rm -rf /"), "/action"),
        (&[], amplifier("tool:pre", "rm -rf /"), "/action"),
        (&[], native, "/decision"),
    ];
    for (arguments, payload, pointer) in table {
        let said = send(&place, arguments, &payload);
        said.exits(0).shows(&["rm -r / removes everything"]);
        assert_eq!(said.json().pointer(pointer), Some(&json!("deny")), "{arguments:?}: {said:#?}");
    }
}

#[test]
fn what_concerns_no_hook_goes_on_without_a_word() {
    let place = Place::example("quickstart");
    send(&place, &["--agent", "claude"], &claude("PreToolUse", "ls")).exits(0);
    let said = send(&place, &["--agent", "claude"], &claude("PermissionRequest", "ls"));
    assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (Some(0), "", ""));
    let said = send(&place, &["--agent", "amplifier"], &amplifier("tool:selecting", "ls"));
    assert_eq!(said.exits(0).json()["action"], "continue");
    let said = send(&place, &[], &json!({ "hook_event_name": "SomethingNew", "session_id": "s1" }));
    assert_eq!(said.exits(0).json()["decision"], "none");
}

#[test]
fn a_nul_byte_in_an_id_kept_guards_from_starting() {
    let place = Place::example("quickstart");
    let odd = json!("s\u{0}t");
    for (agent, payload) in
        [("claude", claude("PreToolUse", "rm -rf /")), ("amplifier", amplifier("tool:pre", "rm -rf /"))]
    {
        let mut payload = payload;
        for member in ["session_id", "cwd", "permission_mode", "agent_id"] {
            payload[member] = odd.clone();
        }
        payload["effort"] = json!({ "level": odd });
        send(&place, &["--agent", agent], &payload).exits(0).shows(&["rm -r / removes everything"]);
    }
}

/// Payloads that nobody can read, by name.
fn unreadable() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("empty", b"".to_vec()),
        ("blank", b" \n".to_vec()),
        ("two documents", b"{}{}".to_vec()),
        ("cut off", br#"{"hook_event_name": "PreToo"#.to_vec()),
        ("not UTF-8", b"{\"a\": \"\xff\"}".to_vec()),
        ("an array", b"[1]".to_vec()),
        ("a mebibyte of brackets", vec![b'['; 1 << 20]),
    ]
}

#[test]
fn an_unreadable_payload_denies_where_a_guard_is_and_is_told_elsewhere() {
    let guarded = Place::example("quickstart");
    let bare = Place::new();
    for (name, payload) in unreadable() {
        let fed = |place: &Place, arguments: &[&str]| place.hook_fed(arguments, &payload);
        let said = fed(&guarded, &["dispatch", "--agent", "claude", "--event", "PreToolUse"]);
        let reply = said.exits(0).json();
        assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{name}: {reply:#}");
        let reason = reply["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.contains("payload") && reason.contains("hook dispatch"), "{name}: {reason}");

        let said = fed(&guarded, &["dispatch", "--agent", "claude"]);
        said.exits(2).tells(&["payload"]);
        let said = fed(&guarded, &["dispatch", "--agent", "claude", "--event", "PostToolUse"]);
        assert!(said.exits(0).json()["systemMessage"].is_string(), "{name}: {said:#?}");

        let said = fed(&guarded, &["dispatch", "--agent", "amplifier", "--event", "tool:pre"]);
        assert_eq!(said.exits(0).json()["action"], "deny", "{name}");
        let said = fed(&bare, &["dispatch", "--agent", "amplifier", "--event", "tool:pre"]);
        let reply = said.exits(0).json();
        assert_eq!(reply["action"], "continue", "{name}: no hook is configured");
        assert!(reply["user_message"].is_string(), "{name}: {reply:#}");

        let said = fed(&guarded, &["dispatch"]);
        assert_eq!(said.exits(0).json()["decision"], "deny", "{name}");
    }
}

#[test]
fn the_user_may_let_the_agent_go_on_where_the_engine_fails() {
    let place = Place::example("quickstart")
        .with_home(".config/hook/hooks.json", r#"{"settings": {"onEngineFailure": "allow"}, "hooks": {}}"#);
    let said = place.hook_fed(&["dispatch", "--agent", "amplifier", "--event", "tool:pre"], b"{");
    assert_eq!(said.exits(0).json()["action"], "continue");
}

#[test]
fn a_wrong_wiring_denies_in_the_agents_words() {
    let place = Place::example("quickstart");
    let said = send(&place, &["--agent", "claude", "--from", "nobody"], &claude("PreToolUse", "ls"));
    let reply = said.exits(0).json();
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{reply:#}");
    // Without the agent there are no words to say it in.
    send(&place, &["--agent", "nobody"], &claude("PreToolUse", "ls")).exits(64).tells(&["nobody", "claude"]);
}

#[test]
fn a_broken_file_is_told_on_every_guard_event_and_the_others_still_guard() {
    let place = Place::example("quickstart").with(".hooks/hooks.local.json", "{\"hooks\": {\"Stop\": [}}");
    let said = send(&place, &["--agent", "claude"], &claude("PreToolUse", "rm -rf /"));
    let reply = said.exits(0).json();
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{reply:#}");
    let message = reply["systemMessage"].as_str().unwrap();
    assert!(message.contains("hooks.local.json:1:"), "{message}");
    let again = send(&place, &["--agent", "claude"], &claude("PreToolUse", "rm -rf /")).json();
    assert_eq!(again["systemMessage"], reply["systemMessage"]);
    let told = |event| {
        send(&place, &["--agent", "claude"], &claude(event, "ls")).stdout.contains("hooks.local.json")
    };
    assert!(!told("PostToolUse"), "this session knows");
}

#[test]
fn a_broken_file_denies_where_the_user_wants_to_fail_closed() {
    let place = Place::new()
        .with(".hooks/hooks.json", "{")
        .with_home(".config/hook/hooks.json", r#"{"settings": {"failClosed": true}, "hooks": {}}"#);
    let said = send(&place, &["--agent", "amplifier"], &amplifier("tool:pre", "ls"));
    let reply = said.exits(0).json();
    assert_eq!(reply["action"], "deny", "{reply:#}");
    assert!(reply["reason"].as_str().unwrap().contains("hooks.json:1:"), "{reply:#}");
    let said = send(&place, &["--agent", "amplifier"], &amplifier("tool:post", "ls"));
    assert_eq!(said.exits(0).json()["action"], "continue", "nothing to hold back");
}

#[test]
fn the_project_is_found_from_the_agent_the_process_and_the_session() {
    let place = Place::example("quickstart");
    let denied = |said: crate::place::Said| said.stdout.contains("\"deny\"");
    let arguments = ["dispatch", "--agent", "claude"];
    let payload = |cwd: &str| {
        let mut payload = claude("PreToolUse", "rm -rf /");
        payload["cwd"] = cwd.into();
        payload.to_string()
    };
    let from = |directory: &std::path::Path, variable: Option<&str>, cwd: &str| {
        let mut command = place.command();
        command.current_dir(directory).args(arguments);
        if let Some(value) = variable {
            command.env("CLAUDE_PROJECT_DIR", value);
        }
        crate::place::feed(command, payload(cwd).as_bytes())
    };
    let project = place.project();
    let project = project.to_str().unwrap();
    let below = place.project().join("deep/down");
    std::fs::create_dir_all(&below).unwrap();
    assert!(denied(from(&below, None, "/")), "above the process");
    assert!(denied(from(&place.home(), Some(project), "/")), "the agent's variable");
    assert!(denied(from(&place.home(), None, project)), "the session's directory");
    assert!(!denied(from(&place.home(), None, "/")), "none of them");
}

fn guard(hook: &Value) -> Place {
    let hooks = json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [hook] }] } });
    Place::new().with(".hooks/hooks.json", &hooks.to_string())
}

#[test]
fn a_broken_guard_blocks_where_its_author_said_so() {
    for broken in [
        json!({ "type": "command", "command": 7 }),
        json!({ "type": "command", "command": "" }),
        json!({ "type": "command", "commnad": "true" }),
        json!({ "type": "comand", "command": "true" }),
        json!({ "type": "command", "command": "true", "args": "x" }),
        json!({ "type": "http", "url": "http://127.0.0.1:9/" }),
    ] {
        let mut hook = broken.clone();
        hook["onFailure"] = "block".into();
        let said = send(&guard(&hook), &["--agent", "claude"], &claude("PreToolUse", "ls"));
        assert_eq!(
            said.exits(0).json()["hookSpecificOutput"]["permissionDecision"],
            "deny",
            "{hook}: {said:#?}"
        );
        let said = send(&guard(&broken), &["--agent", "claude"], &claude("PreToolUse", "ls"));
        assert!(!said.exits(0).stdout.contains("deny"), "{broken}: {said:#?}");
        assert!(
            said.stdout.contains("hooks.json") || said.stderr.contains("hooks.json"),
            "{broken}: {said:#?}"
        );
    }
}

#[test]
fn a_mistyped_fail_mode_blocks() {
    let hook = json!({ "type": "command", "command": "exit 1", "onFailure": "blok" });
    let said = send(&guard(&hook), &["--agent", "claude"], &claude("PreToolUse", "ls"));
    assert_eq!(said.exits(0).json()["hookSpecificOutput"]["permissionDecision"], "deny", "{said:#?}");
}

#[test]
fn a_once_hook_that_blocked_or_failed_is_not_spent() {
    for command in ["echo no >&2; exit 2", "exit 1"] {
        let place =
            guard(&json!({ "type": "command", "command": command, "once": true, "onFailure": "block" }));
        for round in 0..2 {
            let said = send(&place, &["--agent", "claude"], &claude("PreToolUse", "ls"));
            assert!(said.exits(0).stdout.contains("\"deny\""), "{command}, round {round}: {said:#?}");
        }
    }
}

#[test]
fn payloads_without_a_session_share_nothing() {
    let place = guard(&json!({ "type": "command", "command": "echo ran >> ran", "once": true }));
    for _ in 0..2 {
        let mut payload = claude("PreToolUse", "ls");
        payload.as_object_mut().unwrap().remove("session_id");
        send(&place, &["--agent", "claude"], &payload).exits(0);
    }
    let ran = std::fs::read_to_string(place.project().join("ran")).unwrap();
    assert_eq!(ran, "ran\nran\n");
}

#[test]
fn an_incomplete_tool_event_does_not_pass_a_guard_by() {
    let place = guard(&json!({ "type": "command", "command": "echo no >&2; exit 2" }));
    for (agent, payload) in [
        ("claude", json!({ "hook_event_name": "PreToolUse", "session_id": "s" })),
        ("native", json!({ "event": "PreToolUse", "data": { "tool_name": null } })),
    ] {
        let said = send(&place, &["--agent", agent], &payload);
        assert!(said.exits(0).stdout.contains("\"deny\""), "{agent}: {said:#?}");
    }
}

#[test]
fn an_event_that_the_agent_does_not_fire_is_said() {
    let place = Place::example("quickstart");
    let said = send(&place, &["--agent", "claude"], &json!({ "hook_event_name": "pretooluse" }));
    said.exits(0);
    assert!(said.stderr.contains("fires no event"), "{said:#?}");
}

#[test]
fn a_deny_that_cannot_be_written_still_blocks() {
    let place = Place::example("quickstart");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let payload = tempfile::NamedTempFile::new().unwrap();
    for (command, code) in [("rm -rf /", 2), ("ls", 0)] {
        std::fs::write(payload.path(), claude("PreToolUse", command).to_string()).unwrap();
        let status = place
            .command()
            .args(["dispatch", "--agent", "claude"])
            .stdin(std::fs::File::open(payload.path()).unwrap())
            .stdout(full.try_clone().unwrap())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(code), "{command}");
    }
}

#[test]
fn a_target_of_a_redirection_is_no_program() {
    let place = guard(&json!({ "type": "command", "command": "true 2>&1 >/dev/null; echo x >&2; exit 0" }));
    let said = place.hook(&["check", "--json"]);
    assert_eq!(said.exits(0).json(), json!([]), "{said:#?}");
}

#[test]
fn a_signal_ends_the_hooks_and_denies_in_the_agents_words() {
    use std::io::{BufRead as _, BufReader, Read as _};

    // The hook and its children hold the pipe: a first line says that it runs, the end that none of them is left.
    let hook = json!({ "type": "command", "command": "exec 9>pipe; echo up >&9; sleep 60 & sleep 60" });
    let place = guard(&hook);
    let pipe = place.project().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let payload = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(payload.path(), claude("PreToolUse", "ls").to_string()).unwrap();
    let child = place
        .command()
        .args(["dispatch", "--agent", "claude"])
        .stdin(std::fs::File::open(payload.path()).unwrap())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut running = BufReader::new(std::fs::File::open(&pipe).unwrap());
    let mut line = String::new();
    running.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");

    let id = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{reply:#}");
    let mut rest = String::new();
    running.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "", "nobody holds the pipe any more");
}

#[test]
fn a_hook_file_that_is_not_utf8_is_told_at_its_byte_by_every_verb() {
    for text in [&b"{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Ba\xff\xfe\"}]}}"[..], b"\xff\xfe{\0}\0"] {
        let place = Place::new().with(".hooks/hooks.json", "");
        std::fs::write(place.project().join(".hooks/hooks.json"), text).unwrap();
        for arguments in [&["check"][..], &["list"], &["run", "PreToolUse", "--tool", "Bash"]] {
            let said = place.hook(arguments);
            let all = format!("{}{}", said.stdout, said.stderr);
            assert!(all.contains("HK103") && all.contains("hooks.json:1:"), "{arguments:?}: {said:#?}");
        }
        place.hook(&["check"]).exits(1);
    }
}

#[test]
fn hooks_of_a_loaded_skill_outlive_the_process_that_loaded_them() {
    let place = Place::new();
    let hooks = json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "echo skill >&2; exit 2" }] }] });
    let fire = |event: &str, session: &str, data: Value| {
        send(
            &place,
            &["--agent", "amplifier"],
            &json!({ "event": event, "session_id": session, "data": data }),
        )
        .exits(0)
        .json()
    };
    let tool = json!({ "tool_name": "bash", "tool_input": {} });
    fire("skill:loaded", "s", json!({ "skill_name": "sec", "hooks": hooks }));
    assert_eq!(fire("tool:pre", "s", tool.clone())["reason"], "skill");
    assert_eq!(fire("tool:pre", "another", tool.clone())["action"], "continue");
    fire("skill:unloaded", "s", json!({ "skill_name": "sec" }));
    assert_eq!(fire("tool:pre", "s", tool)["action"], "continue");
}

#[test]
fn a_background_hook_is_not_waited_for_and_is_heard_later() {
    let command = "until test -e go; do sleep 0.01; done; echo '{\"systemMessage\": \"built\"}'; touch done";
    let hooks = json!({ "hooks": { "PostToolUse": [{ "hooks": [{ "type": "command", "command": command, "async": true, "timeout": 20 }] }] } });
    let place = Place::new().with(".hooks/hooks.json", &hooks.to_string());
    // The hook waits for a file that is written after the reply, so a reply at all means that nobody waited for the hook.
    let first = send(&place, &["--agent", "claude"], &claude("PostToolUse", "ls"));
    assert!(!first.exits(0).stdout.contains("built"), "{first:#?}");
    std::fs::write(place.project().join("go"), "").unwrap();
    let heard = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let later = send(&place, &["--agent", "claude"], &claude("UserPromptSubmit", ""));
        later.stdout.contains("built")
    });
    assert!(heard);
    let again = send(&place, &["--agent", "claude"], &claude("UserPromptSubmit", ""));
    assert!(!again.stdout.contains("built"), "told twice: {again:#?}");
}
