//! Mcp hooks through the command, with servers from `.mcp.json`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::bench::{Place, SERVER, gone};

/// The binary, built once for all tests of this file.
fn binary() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| xtask::trials::build().unwrap())
}

fn write(place: &Place, name: &str, text: &Value) {
    let path = place.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text.to_string()).unwrap();
}

/// A project with a guard that a server is behind.
fn project(hooks: &str, kind: &str) -> Place {
    let place = Place::new();
    let hook = json!({"type": kind, "server": "guard", "tool": "judge", "input": {"command": "${tool_input.command}"}});
    write(&place, hooks, &json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}));
    let args = ["--log".into(), json!("${LOG}"), "${NONE:---child}".into()];
    write(&place, ".mcp.json", &json!({"mcpServers": {"guard": {"command": SERVER, "args": args}}}));
    place
}

fn hook(place: &Place, words: &[&str], stdin: &str) -> Output {
    let mut command = Command::new(binary());
    command.args(words).current_dir(place.path("")).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", place.path("home"));
    command.env("LOG", place.path("log"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_server_of_the_project_guards_run_and_dispatch_and_ends_with_each() {
    let place = project(".hooks/hooks.json", "mcp");
    let input = r#"{"command": "rm -r /x"}"#;
    let run = hook(&place, &["run", "PreToolUse", "--tool", "Bash", "--input", input], "");
    let said = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(3), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("nothing is removed here"), "{said}");
    assert_eq!(place.processes().len(), 2);
    gone(&place.processes());

    let place = project(".claude/settings.json", "mcp_tool");
    for (command, denied) in [("rm -r /x", true), ("ls", false)] {
        let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": place.path(""),
            "tool_name": "Bash", "tool_input": {"command": command}});
        let reply =
            hook(&place, &["dispatch", "--agent", "claude", "--from", "claude"], &payload.to_string());
        let said = String::from_utf8_lossy(&reply.stdout);
        assert_eq!(said.contains("nothing is removed here"), denied, "{said}");
    }
    assert_eq!(place.processes().len(), 4);
    gone(&place.processes());
}

#[test]
fn check_finds_what_is_wrong_with_servers_where_a_hook_calls_one() {
    let place = project(".hooks/hooks.json", "mcp");
    let servers = json!({"mcpServers": {"gaurd": {"command": "x", "args": ["${UNSET}"]}}});
    write(&place, ".mcp.json", &servers);
    let found = hook(&place, &["check"], "");
    let said = String::from_utf8_lossy(&found.stdout);
    for word in ["HK432", "UNSET is not set", "HK434", "\"guard\", which nobody wrote down"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(found.status.code(), Some(1), "{said}");
    let alone = hook(&place, &["check", ".mcp.json"], "");
    assert!(String::from_utf8_lossy(&alone.stdout).contains("HK432"));
    write(&place, ".hooks/hooks.json", &json!({}));
    let quiet = hook(&place, &["check"], "");
    assert_eq!(quiet.status.code(), Some(0), "{}", String::from_utf8_lossy(&quiet.stdout));
}
