//! The examples do what their pages say, in a path with a blank.

use std::fs;

use serde_json::{Value, json};

use crate::place::Place;

fn fire(place: &Place, event: &str, tool: &str, input: serde_json::Value) -> serde_json::Value {
    place.hook(&["run", event, "--tool", tool, "--input", &input.to_string(), "--json"]).json()
}

#[test]
fn the_bash_guard_blocks_what_destroys_and_nothing_else() {
    let place = Place::example("quickstart");
    let table = [
        ("rm -rf /", true),
        ("rm -r -f /*", true),
        ("rm / -rf", true),
        ("sudo /bin/rm --recursive --force /", true),
        ("rm -rf \"$HOME\"", true),
        ("cd /tmp; rm -rf ~/", true),
        ("bash -c 'rm -rf /'", true),
        ("x=$(rm -rf /)", true),
        ("true\nrm -rf /", true),
        (":(){ :|:& };:", true),
        (":() { : | : & }; :", true),
        ("dd if=/dev/zero of=/dev/sda", true),
        ("mkfs.ext4 /dev/sda1", true),
        ("/sbin/mkfs /dev/sda1", true),
        ("ls -l", false),
        ("ls *", false),
        ("rm -rf /tmp/build", false),
        ("rm -rf ./build && ls /", false),
        ("rm notes.txt", false),
        ("echo rm -rf /", false),
        ("git commit -m \"no rm -rf / here\"", false),
        ("", false),
    ];
    for (command, blocked) in table {
        let said = fire(&place, "PreToolUse", "Bash", json!({ "command": command }));
        let decision = if blocked { "deny" } else { "none" };
        assert_eq!(said["decision"], decision, "{command}: {said:#}");
        let ran = |run: &&Value| run["status"] != "skipped";
        let ran: Vec<&Value> =
            said["runs"].as_array().unwrap().iter().filter(ran).map(|run| &run["id"]).collect();
        assert_eq!(ran, ["bash-guard"], "{command}");
    }
}

#[test]
fn forced_pushes_are_refused_without_a_script() {
    let place = Place::example("quickstart");
    for (command, refused) in [
        ("git push --force", true),
        ("git push origin main -f", true),
        ("cd x && git  push --force origin", true),
        ("git push origin main", false),
        ("git push --force-with-lease", false),
        ("git push origin fix-f", false),
        ("git commit -m 'git push --force'", false),
    ] {
        let said = fire(&place, "PreToolUse", "Bash", json!({ "command": command }));
        let decision = if refused { "deny" } else { "none" };
        assert_eq!(said["decision"], decision, "{command}: {said:#}");
        assert_eq!(said["runs"][1]["status"], if refused { "blocked" } else { "skipped" }, "{command}");
    }
}

#[test]
fn a_guard_that_cannot_look_blocks() {
    let place = Place::example("quickstart");
    for tool in ["Bash", "Write"] {
        let said = fire(&place, "PreToolUse", tool, json!({}));
        assert_eq!(said["decision"], "deny", "{said:#}");
        assert_eq!(said["runs"][0]["status"], "error");
        assert_eq!(said["rule"], "onFailure block");
    }
}

#[test]
fn the_report_names_hook_reason_rule_and_place() {
    let place = Place::example("quickstart");
    let said = place.hook(&["run", "PreToolUse", "--tool", "Bash", "--input", r#"{"command": "rm -rf /"}"#]);
    said.exits(3).shows(&[
        "PreToolUse Bash",
        "blocked",
        "bash-guard.sh",
        "rm -r / removes everything",
        "exit 2 blocks",
        ".hooks/hooks.json:8:11",
        "deny",
    ]);
    assert!(!said.stdout.contains('\u{1b}'), "colour without a terminal");
    let said = place.hook(&["run", "PreToolUse", "--tool", "Bash", "--input", r#"{"command": "ls"}"#]);
    said.exits(0).shows(&["ok", "bash-guard.sh"]);
    let said = place.hook(&["run", "PreToolUse", "--tool", "Read", "--input", "{}"]);
    said.exits(0).shows(&["none of the 3 hooks of this event runs"]);
}

#[test]
fn the_file_guard_keeps_secrets_keys_and_system_files() {
    let place = Place::example("quickstart");
    let table = [
        ("/app/.env", true),
        (".env", true),
        ("sub/.env.local", true),
        (".env.example", false),
        ("server.pem", true),
        ("/home/me/.ssh/config", true),
        ("id_rsa", true),
        ("/etc/passwd", true),
        ("/srv/../etc/passwd", true),
        ("src/main.rs", false),
        ("docs/environment.md", false),
    ];
    for (path, blocked) in table {
        for (tool, field) in [("Write", "file_path"), ("NotebookEdit", "notebook_path")] {
            let said = fire(&place, "PreToolUse", tool, json!({ field: path }));
            let decision = if blocked { "deny" } else { "none" };
            assert_eq!(said["decision"], decision, "{tool} {path}: {said:#}");
        }
    }
}

#[test]
fn the_formatter_tidies_text_and_leaves_the_rest() {
    let table = [
        ("a.txt", "one  \n\ttwo\t\nthree\n", "one\n\ttwo\nthree\n"),
        ("a.md", "break  \nno \n   \nend\n", "break  \nno\n\nend\n"),
        ("a.bin", "one  \n", "one  \n"),
    ];
    for (name, before, after) in table {
        let place = Place::example("quickstart").with(name, before);
        let path = place.project().join(name);
        let said = fire(&place, "PostToolUse", "Write", json!({ "file_path": path }));
        assert_eq!(fs::read_to_string(&path).unwrap(), after, "{name}: {said:#}");
        let told = said["contexts"].as_array().unwrap().len();
        assert_eq!(told, usize::from(before != after), "{name}: {said:#}");
    }
    let place = Place::example("quickstart").with("a.txt", "one  \n");
    fire(&place, "PostToolUse", "Edit", json!({ "file_path": "a.txt" }));
    assert_eq!(fs::read_to_string(place.project().join("a.txt")).unwrap(), "one\n", "a relative path");
    let outside = place.home().join("b.txt");
    fs::write(&outside, "one  \n").unwrap();
    fire(&place, "PostToolUse", "Edit", json!({ "file_path": outside }));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "one  \n", "not of this project");
}

#[test]
fn a_session_begins_with_context() {
    let place = Place::example("quickstart");
    let said = place.hook(&["run", "SessionStart", "--data", r#"{"source": "startup"}"#, "--json"]).json();
    let context = said["contexts"][0].as_str().unwrap();
    assert!(context.contains("Project: a project"), "{said:#}");
}

#[test]
fn the_examples_have_no_findings() {
    for name in ["quickstart", "amplifier"] {
        let place = Place::example(name);
        place.hook(&["check"]).exits(0).tells(&["no findings"]);
    }
}

#[test]
fn an_amplifier_hook_blocks_for_amplifier_and_for_others() {
    let place = Place::example("amplifier");
    let payload = json!({ "event": "tool:pre", "session_id": "s", "data": {
        "tool_name": "bash", "tool_input": { "command": "rm -rf / --no-preserve-root" } } });
    let said = place.hook_fed(&["dispatch", "--agent", "amplifier"], payload.to_string().as_bytes());
    said.exits(0);
    assert_eq!(said.json()["action"], "deny");
    for (command, decision) in [("rm -rf /", "deny"), ("mkfs /dev/sda", "deny"), ("ls", "none")] {
        let said = fire(&place, "PreToolUse", "Bash", json!({ "command": command }));
        assert_eq!(said["decision"], decision, "{command}: {said:#}");
    }
}
