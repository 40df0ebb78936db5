//! How Claude Code's files are loaded, rule by rule: what is broken is left out in the smallest unit that holds it.
//!
//! For two events its client leaves out the whole file for one broken entry, permission rules included. Its documentation says
//! otherwise, and that is what counts here.

use hook_config::Loaded;
use hook_core::{Handler, HandlerKind, Hook, Layer, OnFailure, Shell};
use serde_json::{Value, json};

use crate::common::*;

const SETTINGS: &str = ".claude/settings.json";

fn from(files: &[(&str, &str)]) -> Loaded {
    load_from(&tree(files.iter().copied()), &["claude"], Value::Null)
}

fn command(name: &str) -> Value {
    json!({"type": "command", "command": name})
}

/// What is wrong, as a group of its own; whether its handler is listed; the finding and its place within the group.
fn broken() -> Vec<(Value, bool, &'static str)> {
    let one = |handler: Value| json!({ "hooks": [handler] });
    vec![
        (one(json!({"type": "command"})), true, "missing-field /hooks/0"),
        (one(json!({"type": "command", "command": ""})), true, "missing-field /hooks/0/command"),
        (one(json!({"type": "command", "command": 7})), true, "missing-field /hooks/0/command"),
        (one(json!({"command": "c"})), true, "missing-field /hooks/0"),
        (one(json!({"type": "shell", "command": "c"})), true, "unknown-handler-type /hooks/0/type"),
        (one(json!({"type": 1, "command": "c"})), true, "unknown-handler-type /hooks/0/type"),
        (one(json!("c")), false, "entry-not-an-object /hooks/0"),
        (one(Value::Null), false, "entry-not-an-object /hooks/0"),
        (
            json!({"matcher": {"tool": "Bash"}, "hooks": [command("c")]}),
            false,
            "matcher-not-a-string /matcher",
        ),
        (json!({"matcher": "Bash"}), false, "group-without-hooks "),
        (json!({"matcher": "Bash", "hooks": []}), false, "group-without-hooks "),
        (json!({"matcher": "Bash", "hooks": {}}), false, "hooks-not-a-list /hooks"),
        (json!("Bash"), false, "entry-not-an-object "),
        (one(json!({"type": "command", "command": "c", "args": "x"})), true, "wrong-type /hooks/0/args"),
        (one(json!({"type": "http", "url": ""})), true, "missing-field /hooks/0/url"),
        (one(json!({"type": "mcp_tool", "server": "s"})), true, "missing-field /hooks/0"),
        (
            one(json!({"type": "mcp_tool", "server": "s", "tool": "t", "input": ["x"]})),
            true,
            "wrong-type /hooks/0/input",
        ),
        (one(json!({"type": "prompt"})), true, "missing-field /hooks/0"),
    ]
}

#[test]
fn one_broken_entry_costs_itself_alone_on_every_event_that_guards() {
    for event in ["PreToolUse", "PermissionRequest", "PostToolUse", "Stop"] {
        for (group, listed, finding) in broken() {
            let mut file = json!({
                "permissions": {"deny": ["Bash(rm *)"]},
                "hooks": {
                    event: [{"hooks": [command("before")]}, group, {"hooks": [command("after")]}],
                    "SessionEnd": [{"hooks": [command("other")]}],
                }
            });
            // A sibling in the same group, where the group itself is sound.
            let siblings = file["hooks"][event][1].get_mut("hooks").and_then(Value::as_array_mut);
            let sibling = siblings
                .filter(|handlers| listed || !handlers.is_empty())
                .map(|all| all.push(command("beside")));
            let sibling = sibling.is_some() && !finding.starts_with("matcher-not-a-string");
            let loaded = from(&[
                (SETTINGS, &file.to_string()),
                (
                    "~/.claude/settings.json",
                    r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "user"}]}]}}"#,
                ),
            ]);
            let running: Vec<String> =
                loaded.hooks().filter(|hook| hook.enabled).map(|hook| hook.handler.summary()).collect();
            let mut expected = vec!["user", "before", "after", "other"];
            if sibling {
                expected.insert(2, "beside");
            }
            assert_eq!(running, expected, "{event} {group}");
            let off = loaded.hooks().filter(|hook| !hook.enabled).count();
            assert_eq!(off, usize::from(listed), "{event} {group}");
            let (slug, place) = finding.split_once(' ').unwrap();
            let wanted = format!("{slug} /hooks/{event}/1{place}");
            assert!(found(&loaded).contains(&wanted), "{event} {group} {:?}", found(&loaded));
        }
    }
}

#[test]
fn members_with_a_wrong_value_are_left_out_and_their_handler_runs() {
    let rows: &[(Value, &str)] = &[
        (json!({"timeout": "5"}), "timeout-not-a-number /timeout"),
        (json!({"timeout": 0}), "timeout-out-of-range /timeout"),
        (json!({"timeout": -1}), "timeout-out-of-range /timeout"),
        (json!({"onFailure": "deny"}), "wrong-type /onFailure"),
        (json!({"statusMessage": 1}), "wrong-type /statusMessage"),
        (json!({"async": "yes"}), "wrong-type /async"),
        (json!({"shell": "fish"}), "wrong-type /shell"),
        (json!({"if": 1}), "condition-unreadable /if"),
        (json!({"once": 1}), "wrong-type /once"),
        (json!({"once": true}), "once-ignored /once"),
        (json!({"colour": "red"}), "unknown-field /colour"),
        (json!({"env": {}}), "unknown-field /env"),
    ];
    for (members, finding) in rows {
        let mut handler = command("c");
        for (key, value) in members.as_object().into_iter().flatten() {
            handler[key] = value.clone();
        }
        let loaded =
            from(&[(SETTINGS, &json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}).to_string())]);
        let hook = loaded.hooks().next().unwrap();
        assert!(hook.enabled && !hook.once && !hook.background, "{members}");
        assert_eq!(hook.limits.timeout, None, "{members}");
        let (slug, place) = finding.split_once(' ').unwrap();
        assert_eq!(found(&loaded), [format!("{slug} /hooks/PreToolUse/0/hooks/0{place}")], "{members}");
        // A mode that was mistyped must not open a guard.
        let blocks = hook.on_failure.default == Some(OnFailure::Block);
        assert_eq!(blocks, members.get("onFailure").is_some(), "{members}");
    }
}

#[test]
fn a_file_that_cannot_be_read_takes_no_other_with_it() {
    let sound = |name: &str| json!({"hooks": {"Stop": [{"hooks": [command(name)]}]}}).to_string();
    for (text, finding) in [
        ("", "invalid-json "),
        ("{", "invalid-json "),
        (r#"{"hooks": {"Stop": []}"#, "invalid-json "),
        ("hooks:\n  Stop: []", "invalid-json "),
        ("[]", "not-an-object "),
        (r#"{"hooks": []}"#, "hooks-not-an-object /hooks"),
        (r#"{"hooks": null}"#, "hooks-not-an-object /hooks"),
        (r#"{"hooks": {"Stop": "x"}}"#, "hooks-not-a-list /hooks/Stop"),
    ] {
        let loaded = from(&[
            ("/etc/claude-code/managed-settings.json", &sound("managed")),
            ("~/.claude/settings.json", &sound("user")),
            (SETTINGS, text),
            (".claude/settings.local.json", &sound("local")),
        ]);
        assert_eq!(hooks(&loaded), ["Stop - managed", "Stop - user", "Stop - local"], "{text}");
        assert_eq!(found(&loaded)[0], finding, "{text}");
        assert!(loaded.has_errors(), "{text}");
    }
}

#[test]
fn what_a_handler_says_is_kept() {
    let handlers = json!([
        {"type": "command", "command": "a", "shell": "bash", "statusMessage": "looking", "timeout": 2.5},
        {"type": "command", "command": "b", "shell": "powershell"},
        {"type": "command", "command": "c", "async": true},
        {"type": "command", "command": "d", "asyncRewake": true, "rewakeMessage": "m", "rewakeSummary": "s"},
        {"type": "command", "command": "e", "asyncRewake": false, "cloud": "skip"},
        {"type": "http", "url": "https://a.test/", "headers": {"A": "$B"}, "allowedEnvVars": ["B"], "onFailure": "block"},
        {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"x": "${tool_input.command}"}},
        {"type": "prompt", "prompt": "p", "model": "m", "continueOnBlock": true},
    ]);
    let loaded = from(&[(SETTINGS, &json!({"hooks": {"PostToolUse": [{"hooks": handlers}]}}).to_string())]);
    assert_eq!(found(&loaded), [""; 0]);
    let hooks: Vec<&Hook> = loaded.hooks().map(|hook| &**hook).collect();
    let shell = |hook: &Hook| match &hook.handler {
        Handler::Command(command) => Some(command.shell),
        _ => None,
    };
    assert_eq!(shell(hooks[0]), Some(Shell::Sh));
    assert_eq!(hooks[0].status_message.as_deref(), Some("looking"));
    assert_eq!(hooks[0].limits.timeout, Some(std::time::Duration::from_millis(2500)));
    assert_eq!(shell(hooks[1]), Some(Shell::PowerShell));
    let background: Vec<bool> = hooks.iter().map(|hook| hook.background).collect();
    assert_eq!(background, [false, false, true, true, false, false, false, false]);
    let extra = |at: usize| Value::Object(hooks[at].extra.clone());
    assert_eq!(extra(3), json!({"asyncRewake": true, "rewakeMessage": "m", "rewakeSummary": "s"}));
    assert_eq!(extra(4), json!({"asyncRewake": false, "cloud": "skip"}));
    let Handler::Http(http) = &hooks[5].handler else { panic!("{:?}", hooks[5].handler) };
    assert_eq!(http.headers, [("A".to_owned(), "$B".to_owned())]);
    assert_eq!(http.allowed_env_vars, ["B"]);
    assert_eq!(hooks[5].on_failure.default, Some(OnFailure::Block));
    let Handler::Mcp(call) = &hooks[6].handler else { panic!("{:?}", hooks[6].handler) };
    assert_eq!((call.server.as_str(), call.tool.as_str()), ("s", "t"));
    assert_eq!(Value::Object(call.input.clone()), json!({"x": "${tool_input.command}"}));
    let Handler::Prompt(asked) = &hooks[7].handler else { panic!("{:?}", hooks[7].handler) };
    assert_eq!(
        (asked.prompt.as_str(), asked.model.as_deref(), asked.continue_on_block),
        ("p", Some("m"), true)
    );
}

#[test]
fn each_event_takes_its_types_of_handler() {
    use HandlerKind::{Agent, Command, Http, Mcp, Prompt};
    let all = "PreToolUse PostToolUse PostToolUseFailure PostToolBatch PermissionDenied UserPromptSubmit \
        UserPromptExpansion Stop SubagentStop TaskCreated TaskCompleted TeammateIdle";
    let no_model = "ConfigChange CwdChanged DirectoryAdded Elicitation ElicitationResult FileChanged InstructionsLoaded \
        MessageDisplay Notification PreCompact PostCompact PreModelSwitch PostModelSwitch SessionEnd StopFailure \
        SubagentStart WorktreeCreate WorktreeRemove";
    let rows: &[(&str, &[HandlerKind])] = &[
        (all, &[Command, Http, Mcp, Prompt, Agent]),
        ("PermissionRequest", &[Command, Http, Mcp, Prompt]),
        (no_model, &[Command, Http, Mcp]),
        ("SessionStart Setup", &[Command, Mcp]),
    ];
    assert_eq!(rows.iter().flat_map(|row| row.0.split_whitespace()).count(), 33);
    let handlers = json!([
        command("c"), {"type": "http", "url": "https://a.test/"}, {"type": "mcp_tool", "server": "s", "tool": "t"},
        {"type": "prompt", "prompt": "p"}, {"type": "agent", "prompt": "p"},
    ]);
    for (events, kinds) in rows {
        for event in events.split_whitespace() {
            let loaded = from(&[(SETTINGS, &json!({"hooks": {event: [{"hooks": handlers}]}}).to_string())]);
            let running: Vec<HandlerKind> =
                loaded.hooks().filter(|hook| hook.enabled).map(|hook| hook.handler.kind()).collect();
            assert_eq!(running, *kinds, "{event}");
            assert_eq!(found(&loaded).len(), 5 - kinds.len(), "{event}");
        }
    }
}

#[test]
fn copies_of_a_handler_are_told_by_what_they_do() {
    let group = |matcher: &str, handler: Value| json!({"matcher": matcher, "hooks": [handler]});
    let with = |key: &str, value: Value| {
        let mut handler = command("c");
        handler[key] = value;
        handler
    };
    // Exact copies are off when they are read; the rest is for the plan of an event, where matchers have had their say.
    let user = json!({"hooks": {"PreToolUse": [group("Bash", command("c"))]}}).to_string();
    for (group, off) in [
        (group("Bash", command("c")), true),
        (group("Write", command("c")), false),
        (group("Bash", with("timeout", json!(5))), false),
        (group("Bash", with("args", json!([]))), false),
        (group("Bash", with("if", json!("Bash(git *)"))), false),
        (group("Bash", with("onFailure", json!("block"))), false),
    ] {
        let project = json!({"hooks": {"PreToolUse": [group]}}).to_string();
        for (place, layer) in [(SETTINGS, Layer::Project), (".claude/settings.local.json", Layer::Local)] {
            let loaded = from(&[
                ("~/.claude/settings.json", &user),
                (place, &project),
                ("hooks/hooks.json", &project),
            ]);
            let enabled: Vec<(Layer, bool)> =
                loaded.hooks().map(|hook| (hook.origin.layer, hook.enabled)).collect();
            assert_eq!(enabled, [(Layer::User, true), (layer, !off), (Layer::Pack, true)], "{group}");
        }
    }
}

#[test]
fn matchers_that_name_no_known_tool_are_named() {
    let rows: &[(&str, &str, Option<&str>, &[&str])] = &[
        // event, matcher, suggestion, severities
        ("PreToolUse", "Bash|Write, Edit", None, &[]),
        ("PreToolUse", "bash", Some("Bash"), &["warning"]),
        ("PreToolUse", "Bahs|Write", Some("Bash"), &["warning"]),
        ("PreToolUse", "Deploy", None, &["info"]),
        ("PreToolUse", "mcp__notes__read", None, &[]),
        ("PreToolUse", "mcp__notes__.*", None, &[]),
        ("PreToolUse", "^Bash$|^Edit$", None, &[]),
        ("PreToolUse", "^bash$", Some("Bash"), &["warning"]),
        ("PreToolUse", "^ba.*", None, &["info"]),
        ("PreToolUse", "Notebook.*", None, &[]),
        ("PermissionRequest", "write|edit", Some("Write"), &["warning", "warning"]),
        ("PreToolUse", "*", None, &[]),
        ("PreToolUse", "", None, &[]),
        ("SessionStart", "anything", None, &[]),
        ("SubagentStop", "bash", None, &[]),
    ];
    for (event, matcher, suggestion, severities) in rows {
        let text = json!({"hooks": {*event: [{"matcher": matcher, "hooks": [command("c")]}]}}).to_string();
        let loaded = from(&[(SETTINGS, &text)]);
        let seen: Vec<&str> = loaded.diagnostics.iter().map(|d| d.severity.name()).collect();
        assert_eq!(seen, *severities, "{matcher} {:?}", found(&loaded));
        assert!(found(&loaded).iter().all(|found| found.starts_with("unknown-tool ")), "{matcher}");
        let first = loaded.diagnostics.first().and_then(|finding| finding.suggestion.as_deref());
        assert_eq!(first, *suggestion, "{matcher}");
    }
    let loaded =
        from(&[(SETTINGS, "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Write|Bahs\", \"hooks\": []}]}}")]);
    assert_eq!(found(&loaded), ["group-without-hooks /hooks/PreToolUse/0"]);
    let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Write|Bahs", "hooks": [{"type": "command", "command": "c"}]}]}}"#;
    let place = from(&[(SETTINGS, text)]).diagnostics[0].location().unwrap().to_string();
    assert_eq!(place, format!("/p/{SETTINGS}:1:{}", text.find("Bahs").unwrap() + 1));
}
