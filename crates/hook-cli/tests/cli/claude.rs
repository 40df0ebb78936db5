//! Claude Code's hook files through the built command: options of plugins, settings of one run, working directories.

use serde_json::{Value, json};

use crate::place::{Place, Said, feed};

const SETTINGS: &str = ".claude/settings.json";

fn hooks(event: &str, handlers: Value) -> String {
    json!({ "hooks": { event: [{ "hooks": handlers }] } }).to_string()
}

fn send(place: &Place, payload: &Value, more: &[&str]) -> Said {
    let arguments: Vec<&str> =
        ["dispatch", "--agent", "claude", "--from", "claude"].iter().chain(more).copied().collect();
    place.hook_fed(&arguments, payload.to_string().as_bytes())
}

#[test]
fn options_and_the_data_directory_of_a_plugin_reach_its_hooks() {
    let handlers = json!([
        {"type": "command", "command": "printf", "args": ["%s\n", "${user_config.key}", "${CLAUDE_PLUGIN_ROOT}"]},
        {"type": "command", "command": "echo $CLAUDE_PLUGIN_OPTION_KEY; cd \"$CLAUDE_PLUGIN_DATA\" && pwd"},
    ]);
    let place = Place::new().with("kit/hooks/hooks.json", &hooks("SessionStart", handlers)).with_home(
        ".claude/settings.json",
        r#"{"pluginConfigs": {"kit@shop": {"options": {"key": "a $HOME b"}}}}"#,
    );
    let start = json!({"hook_event_name": "SessionStart", "source": "startup", "session_id": "s"});
    let said = send(&place, &start, &["--plugin-root", "kit"]);
    let reply = said.exits(0).json();
    let context = reply["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let root = place.project().join("kit");
    let data = place.home().join(".local/state/hook/plugins/kit");
    let expected = format!("a $HOME b\n{}\na $HOME b\n{}", root.display(), data.display());
    assert_eq!(context, expected);

    let place = Place::new().with(
        "kit/hooks/hooks.json",
        &hooks(
            "Stop",
            json!([
                {"type": "command", "command": "printf", "args": ["${user_config.key}"]},
            ]),
        ),
    );
    let check = place.hook(&["check", "--from", "claude", "--plugin-root", "kit"]);
    check.exits(1).shows(&["`${user_config.key}` has no value", "option-without-value"]);
}

#[test]
fn settings_of_one_run_come_as_text_or_as_a_file() {
    let refuse = hooks("PreToolUse", json!([{"type": "command", "command": "echo no >&2; exit 2"}]));
    let place = Place::new().with("extra.json", &refuse);
    let call =
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "session_id": "s"});
    let decision = |more: &[&str]| {
        let said = send(&place, &call, more);
        said.exits(0);
        let reply: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
        reply["hookSpecificOutput"]["permissionDecision"].clone()
    };
    assert_eq!(decision(&[]), Value::Null);
    assert_eq!(decision(&["--settings", &refuse]), "deny");
    assert_eq!(decision(&["--settings", "extra.json"]), "deny");
    assert_eq!(decision(&["--settings", "missing.json"]), "deny");
    let list = place.hook(&["list", "--from", "claude", "--settings", "extra.json"]);
    list.exits(0).shows(&["PreToolUse", "extra.json:1"]);
    place.hook(&["list", "--settings", "extra.json"]).exits(64);
}

#[test]
fn an_http_hook_that_the_settings_do_not_allow_is_listed_as_off() {
    let mut settings: Value =
        serde_json::from_str(&hooks("Stop", json!([{"type": "http", "url": "https://a.test/hook"}])))
            .unwrap();
    settings["allowedHttpHookUrls"] = json!(["https://b.test/*"]);
    let place = Place::new().with(SETTINGS, &settings.to_string());
    let list = place.hook(&["list", "--from", "claude"]);
    list.exits(0).shows(&["off: the settings allow no hook to be sent to https://a.test/hook"]);
}

#[test]
fn a_session_whose_directory_is_gone_still_has_its_hooks() {
    let place =
        Place::new().with(SETTINGS, &hooks("SessionStart", json!([{"type": "command", "command": "pwd"}])));
    let gone = place.project().join("gone");
    let start = json!({"hook_event_name": "SessionStart", "source": "startup", "cwd": gone});
    let reply = send(&place, &start, &[]).exits(0).json();
    assert_eq!(reply["hookSpecificOutput"]["additionalContext"], json!(place.project()));
}

#[test]
fn shell_lines_go_through_the_prefix_that_the_user_set() {
    let handlers = json!([
        {"type": "command", "command": "echo shell"},
        {"type": "command", "command": "echo", "args": ["program"]},
    ]);
    let place = Place::new().with(SETTINGS, &hooks("SessionStart", handlers));
    let mut command = place.command();
    command
        .args(["dispatch", "--agent", "claude", "--from", "claude"])
        .env("CLAUDE_CODE_SHELL_PREFIX", "echo through");
    let start = json!({"hook_event_name": "SessionStart", "source": "startup"});
    let reply = feed(command, start.to_string().as_bytes()).exits(0).json();
    assert_eq!(reply["hookSpecificOutput"]["additionalContext"], "through echo shell\nprogram");
}

#[test]
fn a_hook_sees_its_session_and_what_the_agent_handed_on() {
    let names = [
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_CHILD_SESSION", "1"),
        ("CLAUDE_CODE_SESSION_ID", "s"),
        ("CLAUDE_EFFORT", "high"),
        ("CLAUDE_CODE_REMOTE", "true"),
        ("OTEL_EXPORTER", ""),
        ("CLAUDE_ENV_FILE", ""),
    ];
    let line: Vec<String> = names.iter().map(|(name, _)| format!("{name}=${name}")).collect();
    let tell = json!([{"type": "command", "command": format!("echo {}", line.join(" "))}]);
    let place = Place::new().with(SETTINGS, &hooks("UserPromptSubmit", tell));
    let mut command = place.command();
    command.args(["dispatch", "--agent", "claude", "--from", "claude"]);
    command.envs([("CLAUDE_CODE_REMOTE", "true"), ("OTEL_EXPORTER", "x"), ("CLAUDE_EFFORT", "low")]);
    command.env("CLAUDE_CODE_SESSION_ID", "of somebody else");
    let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "hi", "session_id": "s", "effort": {"level": "high"}});
    let reply = feed(command, prompt.to_string().as_bytes()).exits(0).json();
    let expected: Vec<String> = names.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(reply["hookSpecificOutput"]["additionalContext"], expected.join(" "));
}
