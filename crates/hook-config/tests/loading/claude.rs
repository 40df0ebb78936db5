//! Claude Code's settings and plugins: sources, switches, plugins, handlers, findings.

use std::time::Duration;

use hook_config::{DocumentSpec, LoadRequest, Loaded, check_file, lint, load, parse_value};
use hook_core::{DialectId, Layer, MemoryFiles};
use hook_mapper::Dialects;
use serde_json::{Value, json};

use crate::common::*;

const CLAUDE: DialectId = DialectId("claude");
const SETTINGS: &str = ".claude/settings.json";

fn from(files: &[(&str, &str)]) -> Loaded {
    load_from(&tree(files.iter().copied()), &["claude"], Value::Null)
}

fn stop(name: &str) -> String {
    json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": name}]}]}}).to_string()
}

/// One settings file of the project with these hooks of one event.
fn event(event: &str, handlers: Value) -> Loaded {
    from(&[(SETTINGS, &json!({"hooks": {event: [{"hooks": handlers}]}}).to_string())])
}

#[test]
fn settings_are_read_when_asked_for_and_in_order() {
    let files = tree([
        (SETTINGS, stop("project")),
        (".claude/settings.local.json", stop("local")),
        ("~/.claude/settings.json", stop("user")),
        ("/etc/claude-code/managed-settings.json", stop("managed")),
        ("/etc/claude-code/managed-settings.d/20-b.json", stop("managed-b")),
        ("/etc/claude-code/managed-settings.d/10-a.json", stop("managed-a")),
        ("/etc/claude-code/managed-settings.d/note.txt", "x".to_owned()),
        (".hooks/hooks.json", stop("native")),
    ]);
    let order = ["managed", "managed-a", "managed-b", "user", "native", "project", "local"];
    assert_eq!(
        hooks(&load_from(&files, &["claude"], Value::Null)),
        order.map(|name| format!("Stop - {name}"))
    );
    assert_eq!(hooks(&load_from(&files, &[], Value::Null)), ["Stop - native"]);
}

#[test]
fn a_native_file_may_ask_for_them_but_never_when_their_agent_fires() {
    let files = tree([
        (SETTINGS, stop("project")),
        (".hooks/hooks.json", r#"{"settings": {"sources": ["claude-code"]}}"#.to_owned()),
    ]);
    let (host, dialects) = (host(), Dialects::standard());
    let mut request = LoadRequest::new(&host, &files, &dialects);
    assert_eq!(hooks(&load(&request)), ["Stop - project"]);
    request.firing = Some(CLAUDE);
    assert_eq!(hooks(&load(&request)), [""; 0]);
    request.own_files_of = vec![CLAUDE];
    assert_eq!(hooks(&load(&request)), ["Stop - project"]);
}

#[test]
fn defaults_of_handlers_by_event_and_type() {
    let table = [
        ("PreToolUse", json!({"type": "command", "command": "c"}), 600),
        ("UserPromptSubmit", json!({"type": "command", "command": "c"}), 30),
        ("MessageDisplay", json!({"type": "http", "url": "http://localhost:9/h"}), 10),
        ("Stop", json!({"type": "prompt", "prompt": "p"}), 30),
        ("Stop", json!({"type": "agent", "prompt": "p"}), 60),
    ];
    let profile = Dialects::standard().get(CLAUDE).unwrap().profile();
    for (name, handler, seconds) in table {
        let loaded = event(name, json!([handler]));
        let hook = loaded.hooks().next().unwrap();
        assert!(hook.enabled && found(&loaded).is_empty(), "{name} {handler}");
        assert_eq!(hook.limits.timeout, None);
        assert_eq!(
            (profile.default_timeout)(&hook.event, hook.handler.kind()),
            Duration::from_secs(seconds),
            "{name}"
        );
    }
}

#[test]
fn handlers_and_what_is_found_about_them() {
    let at = |event: &str, member: &str| format!("/hooks/{event}/0/hooks/0{member}");
    let table = [
        // event, handler, runs, slug, member
        (
            "PostToolUse",
            json!({"type": "command", "command": "${CLAUDE_PROJECT_DIR}/x.sh", "args": []}),
            true,
            "",
            "",
        ),
        (
            "PostToolUse",
            json!({"type": "command", "command": "node", "args": ["x"], "shell": "powershell"}),
            true,
            "",
            "",
        ),
        (
            "PostToolUse",
            json!({"type": "command", "command": "node script.js", "args": []}),
            true,
            "exec-command-has-whitespace",
            "/command",
        ),
        ("PostToolUse", json!({"type": "command", "command": "/opt/my tools/x", "args": []}), true, "", ""),
        (
            "Stop",
            json!({"type": "command", "command": "c", "if": "Bash(git *)"}),
            false,
            "condition-without-tool",
            "/if",
        ),
        ("PreToolUse", json!({"type": "command", "command": "c", "if": "Bash(git *)"}), true, "", ""),
        (
            "PreToolUse",
            json!({"type": "command", "command": "c", "once": true}),
            true,
            "once-ignored",
            "/once",
        ),
        (
            "SessionStart",
            json!({"type": "http", "url": "http://localhost:9/h"}),
            false,
            "handler-type-not-supported",
            "/type",
        ),
        (
            "PermissionRequest",
            json!({"type": "agent", "prompt": "p"}),
            false,
            "handler-type-not-supported",
            "/type",
        ),
        ("Setup", json!({"type": "mcp_tool", "server": "s", "tool": "t"}), true, "", ""),
        ("Stop", json!({"type": "mcp", "server": "s", "tool": "t"}), false, "unknown-handler-type", "/type"),
        ("Stop", json!({"command": "c"}), false, "missing-field", ""),
        ("Stop", json!({"type": "http"}), false, "missing-field", ""),
        (
            "Stop",
            json!({"type": "command", "command": "c", "enabled": false}),
            true,
            "unknown-field",
            "/enabled",
        ),
        ("Stop", json!({"type": "command", "command": "c", "id": "x"}), true, "unknown-field", "/id"),
        ("Stop", json!({"type": "http", "url": "https://u", "async": true}), true, "unknown-field", "/async"),
        (
            "Stop",
            json!({"type": "command", "command": "c", "onFailure": {"exit": "block"}}),
            true,
            "wrong-type",
            "/onFailure",
        ),
        (
            "Stop",
            json!({"type": "command", "command": "c", "onFailure": "block", "async": true}),
            true,
            "",
            "",
        ),
        ("Stop", json!({"type": "command", "command": "${user_config.x}"}), true, "", ""),
    ];
    for (name, handler, runs, slug, member) in table {
        let loaded = event(name, json!([handler, {"type": "command", "command": "sound"}]));
        let hook = loaded.hooks().next().unwrap();
        assert_eq!(hook.enabled, runs, "{name} {handler}");
        assert!(!hook.once, "{handler}");
        let wanted: Vec<String> =
            (!slug.is_empty()).then(|| format!("{slug} {}", at(name, member))).into_iter().collect();
        assert_eq!(found(&loaded), wanted, "{name} {handler}");
        assert!(loaded.hooks().nth(1).unwrap().enabled);
    }
}

#[test]
fn one_bad_entry_never_voids_the_file() {
    for matcher in [json!({"kind": "tool"}), json!(["Bash"]), json!(1), json!(true), json!(null)] {
        let text = json!({"hooks": {
            "PreToolUse": [
                {"matcher": matcher, "hooks": [{"type": "command", "command": "bad"}]},
                {"matcher": "Bash", "hooks": [{"type": "command", "command": "ok"}]},
            ],
            "Stop": [{"hooks": [{"type": "command", "command": "stop"}]}],
        }});
        let loaded = from(&[(SETTINGS, &text.to_string())]);
        assert_eq!(hooks(&loaded), ["PreToolUse Bash ok", "Stop - stop"], "{matcher}");
        assert_eq!(found(&loaded), ["matcher-not-a-string /hooks/PreToolUse/0/matcher"], "{matcher}");
        assert!(loaded.has_errors());
    }
}

#[test]
fn an_unknown_event_leaves_the_rest_in_force() {
    let text = r#"{"env": {"KEEP": "1"}, "hooks": {"AfterLunch": [{"hooks": [{"type": "command", "command": "no"}]}],
        "postToolUse": [{"hooks": [{"type": "command", "command": "no"}]}],
        "PostToolUse": [{"hooks": [{"type": "command", "command": "ok"}]}]}}"#;
    let loaded = from(&[(SETTINGS, text)]);
    assert_eq!(hooks(&loaded), ["PostToolUse - ok"]);
    assert_eq!(found(&loaded), ["unknown-event /hooks/AfterLunch", "unknown-event /hooks/postToolUse"]);
    assert_eq!(loaded.diagnostics[1].suggestion.as_deref(), Some("PostToolUse"));
}

#[test]
fn comments_are_a_warning_and_load() {
    let text = "{\n  // keep me\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"ok\"}]}, ]},\n}\n";
    let loaded = from(&[(SETTINGS, text)]);
    assert_eq!(hooks(&loaded), ["Stop - ok"]);
    assert_eq!(found(&loaded), ["not-strict-json "]);
    assert_eq!(loaded.diagnostics[0].location().unwrap().to_string(), "/p/.claude/settings.json:2:3");
}

#[test]
fn shapes_its_agent_does_not_read_are_named_and_not_loaded() {
    let table: &[(&str, &[&str])] = &[
        (
            r#"{"PreToolUse": [{"hooks": [{"type": "command", "command": "a"}]}]}"#,
            &["naked-events /PreToolUse", "none-loaded "],
        ),
        (
            r#"{"hooks": {"Stop": [{"type": "command", "command": "a"}]}}"#,
            &["flat-entry /hooks/Stop/0", "none-loaded "],
        ),
        (
            r#"{"hooks": {"Stop": {"hooks": [{"type": "command", "command": "a"}]}}}"#,
            &["hooks-not-a-list /hooks/Stop", "none-loaded "],
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": {"type": "command", "command": "a"}}]}}"#,
            &["hooks-not-a-list /hooks/Stop/0/hooks", "none-loaded "],
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": ["a"]}]}}"#,
            &["entry-not-an-object /hooks/Stop/0/hooks/0", "none-loaded "],
        ),
        (r#"{"permissions": {}, "model": "x"}"#, &[]),
    ];
    for (text, findings) in table {
        let loaded = from(&[(SETTINGS, text)]);
        assert_eq!(hooks(&loaded), [""; 0], "{text}");
        assert_eq!(found(&loaded), *findings, "{text}");
    }
}

#[test]
fn the_switch_that_counts_is_of_the_highest_authority() {
    let managed = "/etc/claude-code/managed-settings.json";
    let user = "~/.claude/settings.json";
    let with = |name: &str, value: Value| {
        let mut file: Value = serde_json::from_str(&stop(name)).unwrap();
        for (key, value) in value.as_object().unwrap() {
            file[key] = value.clone();
        }
        file.to_string()
    };
    let plugin = stop("plugin");
    let table: &[(Value, Value, Value, &[&str])] = &[
        // managed, user, project: which of m, u, p and the plugin run
        (
            json!({}),
            json!({"disableAllHooks": true}),
            json!({"disableAllHooks": false}),
            &["m", "u", "p", "plugin"],
        ),
        (json!({}), json!({"disableAllHooks": true}), json!({}), &["m"]),
        (json!({"disableAllHooks": true}), json!({}), json!({"disableAllHooks": false}), &[]),
        (
            json!({"disableAllHooks": false}),
            json!({"disableAllHooks": true}),
            json!({}),
            &["m", "u", "p", "plugin"],
        ),
        (json!({"allowManagedHooksOnly": true}), json!({}), json!({}), &["m"]),
        (
            json!({"allowManagedHooksOnly": true, "enabledPlugins": {"demo@shop": true}}),
            json!({}),
            json!({}),
            &["m", "plugin"],
        ),
        (json!({}), json!({"allowManagedHooksOnly": true}), json!({}), &["m", "u", "p", "plugin"]),
        (json!({"strictPluginOnlyCustomization": ["hooks"]}), json!({}), json!({}), &["m", "plugin"]),
    ];
    for (of_managed, of_user, of_project, running) in table {
        let loaded = from(&[
            (managed, &with("m", of_managed.clone())),
            (user, &with("u", of_user.clone())),
            (SETTINGS, &with("p", of_project.clone())),
            ("hooks/hooks.json", &plugin),
            (".claude-plugin/plugin.json", r#"{"name": "demo"}"#),
        ]);
        assert_eq!(loaded.hooks().count(), 4);
        let runs: Vec<String> =
            loaded.hooks().filter(|hook| hook.enabled).map(|hook| hook.handler.summary()).collect();
        assert_eq!(runs, *running, "{of_managed} {of_user} {of_project}");
        assert!(loaded.hooks().all(|hook| hook.enabled == hook.disabled_because.is_none()));
    }
}

#[test]
fn of_exact_copies_in_settings_the_one_of_most_authority_runs() {
    let loaded = from(&[
        ("~/.claude/settings.json", &stop("check.sh")),
        (SETTINGS, &stop("check.sh")),
        ("hooks/hooks.json", &stop("check.sh")),
    ]);
    assert_eq!(hooks(&loaded), ["Stop - check.sh", "!Stop - check.sh", "Stop - check.sh"]);
    let layers: Vec<Layer> = loaded.hooks().map(|hook| hook.origin.layer).collect();
    assert_eq!(layers, [Layer::User, Layer::Project, Layer::Pack]);
}

#[test]
fn plugins_are_read_by_convention_and_by_their_manifest() {
    let table: &[(&str, &[&str], &[&str])] = &[
        (r#"{"name": "demo"}"#, &["standard"], &[]),
        (r#"{"name": "demo", "hooks": "./more.json"}"#, &["standard", "more"], &[]),
        (r#"{"name": "demo", "hooks": ["./more.json", "./a/b.json"]}"#, &["standard", "more", "b"], &[]),
        (
            r#"{"name": "demo", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "inline"}]}]}}"#,
            &["standard", "inline"],
            &[],
        ),
        (
            r#"{"name": "demo", "hooks": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "inline"}]}]}}}"#,
            &["standard", "inline"],
            &[],
        ),
        (
            r#"{"name": "demo", "hooks": "./hooks/hooks.json"}"#,
            &["standard"],
            &["hooks-file-loaded-twice /hooks"],
        ),
        (
            r#"{"name": "demo", "hooks": ["./more.json", "more.json"]}"#,
            &["standard", "more"],
            &["hooks-file-loaded-twice /hooks/1"],
        ),
        (r#"{"name": "demo", "hooks": "./gone.json"}"#, &["standard"], &["unreadable-file /hooks"]),
        (r#"{"name": "demo", "hooks": "../out.json"}"#, &["standard"], &["unreadable-file /hooks"]),
        (r#"{"name": "demo", "hooks": "/p/more.json"}"#, &["standard"], &["unreadable-file /hooks"]),
        (r#"{"name": "demo", "hooks": 1}"#, &["standard"], &["wrong-type /hooks"]),
        ("{", &["standard"], &["invalid-json "]),
    ];
    for (manifest, wanted, findings) in table {
        let files: Vec<(String, String)> = [
            (".claude-plugin/plugin.json", (*manifest).to_owned()),
            ("hooks/hooks.json", stop("standard")),
            ("more.json", stop("more")),
            ("a/b.json", stop("b")),
            ("../out.json", stop("out")),
        ]
        .map(|(path, text)| (path.to_owned(), text))
        .into();
        let by_place =
            from(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
        // The same plugin somewhere else, named by the caller.
        let moved = tree(files.iter().map(|(path, text)| (format!("/plugins/demo/{path}"), text.as_str())));
        let (host, dialects) = (host(), Dialects::standard());
        let mut request = LoadRequest::new(&host, &moved, &dialects);
        request.own_files_of = vec![CLAUDE];
        request.plugin_roots = vec!["/plugins/demo".into(), "/plugins/demo".into()];
        for (loaded, root) in [(by_place, "/p"), (load(&request), "/plugins/demo")] {
            let names: Vec<String> = loaded.hooks().map(|hook| hook.handler.summary()).collect();
            assert_eq!(names, *wanted, "{manifest} in {root}");
            assert_eq!(found(&loaded), *findings, "{manifest} in {root}");
            for document in &loaded.documents {
                assert_eq!((document.layer, document.root.as_deref()), (Layer::Pack, Some(root.as_ref())));
            }
        }
    }
}

#[test]
fn packs_come_by_name_after_all_settings() {
    let files = tree([
        ("/plugins/1/hooks/hooks.json", stop("zebra")),
        ("/plugins/1/.claude-plugin/plugin.json", r#"{"name": "zebra"}"#.to_owned()),
        ("/plugins/2/hooks/hooks.json", stop("ant")),
        ("/plugins/2/.claude-plugin/plugin.json", r#"{"name": "ant"}"#.to_owned()),
        (".claude/settings.local.json", stop("local")),
    ]);
    let (host, dialects) = (host(), Dialects::standard());
    let mut request = LoadRequest::new(&host, &files, &dialects);
    request.own_files_of = vec![CLAUDE];
    request.plugin_roots = vec!["/plugins/1".into(), "/plugins/2".into(), "/plugins/none".into()];
    assert_eq!(hooks(&load(&request)), ["Stop - local", "Stop - ant", "Stop - zebra"]);
}

#[test]
fn a_plugin_may_not_paste_its_options_into_a_shell_line() {
    let text = json!({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "run ${user_config.key}"},
        {"type": "command", "command": "run", "args": ["${user_config.key}"]},
    ]}]}});
    let options = json!({"pluginConfigs": {"p@shop": {"options": {"key": "v"}}}}).to_string();
    let loaded = from(&[("hooks/hooks.json", &text.to_string()), ("~/.claude/settings.json", &options)]);
    assert_eq!(hooks(&loaded), ["!Stop - run ${user_config.key}", "Stop - run ${user_config.key}"]);
    assert_eq!(found(&loaded), ["user-config-in-shell-form /hooks/Stop/0/hooks/0/command"]);
}

#[test]
fn frontmatter_has_rules_of_its_own() {
    let dialects = Dialects::standard();
    let value = json!({"Stop": [{"hooks": [{"type": "command", "command": "c", "once": true}]}]});
    let table = [(Layer::Agent, "SubagentStop", false), (Layer::Skill, "Stop", true)];
    for (layer, name, once) in table {
        let parsed = parse_value(&value, &DocumentSpec::new("/p/x.md", CLAUDE, layer), &dialects);
        let document = parsed.document.unwrap();
        let binding = &document.bindings[0];
        assert_eq!((binding.event.name(), binding.event_name.as_str()), (name, name));
        assert_eq!((binding.hooks[0].event.name(), binding.hooks[0].once), (name, once));
    }
}

#[test]
fn timeouts_are_seconds_in_a_sensible_range() {
    let timeouts = ["65000", "9007199254740991", "0", "-5", "\"30\"", "2.5", "1e999", "3600"];
    let handlers: Vec<String> = timeouts
        .iter()
        .map(|t| format!(r#"{{"type": "command", "command": "true", "timeout": {t}}}"#))
        .collect();
    let text = format!(
        r#"{{"hooks": {{"Stop": [{{"hooks": [{}, {{"type": "command", "command": "true", "timeout_ms": 5000}}]}}]}}}}"#,
        handlers.join(", ")
    );
    let loaded = from(&[("hooks/hooks.json", &text)]);
    let seen: Vec<(String, &str)> =
        loaded.diagnostics.iter().map(|d| (short(d), d.severity.name())).collect();
    let at = |slug: &str, index: usize, member: &str| format!("{slug} /hooks/Stop/0/hooks/{index}/{member}");
    let wanted = [
        (at("timeout-looks-like-milliseconds", 0, "timeout"), "warning"),
        (at("timeout-out-of-range", 1, "timeout"), "warning"),
        (at("timeout-out-of-range", 2, "timeout"), "warning"),
        (at("timeout-out-of-range", 3, "timeout"), "error"),
        (at("timeout-not-a-number", 4, "timeout"), "error"),
        (at("timeout-out-of-range", 6, "timeout"), "warning"),
        (at("unknown-field", 8, "timeout_ms"), "warning"),
    ];
    assert_eq!(seen, wanted);
    let seconds: Vec<Option<f64>> =
        loaded.hooks().map(|hook| hook.limits.timeout.map(|timeout| timeout.as_secs_f64())).collect();
    let cut = Some(2_147_483.0);
    assert_eq!(seconds, [Some(65_000.0), cut, None, None, None, Some(2.5), cut, Some(3_600.0), None]);
    assert!(loaded.hooks().all(|hook| hook.enabled));
}

#[test]
fn a_bare_server_name_as_a_matcher_is_named_with_what_was_meant() {
    let text = json!({"hooks": {"PreToolUse": [
        {"matcher": "mcp__store", "hooks": [{"type": "command", "command": "no"}]},
        {"matcher": "mcp__store__.*", "hooks": [{"type": "command", "command": "ok"}]},
    ]}});
    let loaded = from(&[(SETTINGS, &text.to_string())]);
    assert_eq!(found(&loaded), ["mcp-server-prefix /hooks/PreToolUse/0/matcher"]);
    assert_eq!(loaded.diagnostics[0].suggestion.as_deref(), Some("mcp__store__.*"));
}

#[test]
fn commands_of_plugins_are_looked_at() {
    let text = json!({"hooks": {"PreToolUse": [{"hooks": [
        {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/run.sh one"},
        {"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}/run.sh\" two"},
        {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/run.sh", "args": ["three"]},
        {"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}/begin.sh\""},
        {"type": "command", "command": "bash \"${CLAUDE_SKILL_DIR}/x.sh\""},
        {"type": "command", "command": "echo \"$CLAUDE_PLUGIN_OPTION_KEY\" \"$CLAUDE_PLUGIN_DATA\" \"$CLAUDE_ENV_FILE\""},
    ]}]}});
    let files = tree([("hooks/hooks.json", text.to_string())])
        .with_mode("/p/run.sh", "#!/bin/sh\n", 0o755)
        .with_mode("/p/begin.sh", "#!/bin/bash\r\n", 0o755);
    let loaded = load_from(&files, &["claude"], Value::Null);
    let findings: Vec<String> =
        lint(&loaded, &files, &host(), &Dialects::standard()).iter().map(short).collect();
    let wanted = [
        "unquoted-placeholder /hooks/PreToolUse/0/hooks/0/command",
        "crlf-script /hooks/PreToolUse/0/hooks/3/command",
        "unknown-placeholder /hooks/PreToolUse/0/hooks/4/command",
    ];
    assert_eq!(findings, wanted);
}

#[test]
fn outside_of_a_plugin_nobody_sets_a_plugin_root() {
    let text = json!({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}/run.sh\""},
        {"type": "command", "command": "python3 \"$CLAUDE_PROJECT_DIR/guards/nope.py\""},
    ]}]}});
    let files = tree([(SETTINGS, text.to_string())]);
    let loaded = load_from(&files, &["claude"], Value::Null);
    let findings: Vec<String> =
        lint(&loaded, &files, &host(), &Dialects::standard()).iter().map(short).collect();
    let wanted =
        ["unknown-placeholder /hooks/Stop/0/hooks/0/command", "missing-script /hooks/Stop/0/hooks/1/command"];
    assert_eq!(findings, wanted);
}

#[test]
fn one_file_is_read_by_its_place() {
    let files = MemoryFiles::new()
        .with("/x/.claude/settings.local.json", stop("local"))
        .with("/x/demo/hooks/hooks.json", stop("plugin"))
        .with("/x/demo/.claude-plugin/plugin.json", r#"{"name": "d", "hooks": "./hooks/hooks.json"}"#);
    let dialects = Dialects::standard();
    let loaded = check_file("/x/.claude/settings.local.json".as_ref(), None, &files, &dialects);
    assert_eq!((loaded.documents[0].dialect, loaded.documents[0].layer), (CLAUDE, Layer::Local));
    let loaded = check_file("/x/demo/hooks/hooks.json".as_ref(), None, &files, &dialects);
    assert_eq!(loaded.documents[0].source.as_deref(), Some("demo"));
    assert_eq!(loaded.documents[0].root.as_deref(), Some("/x/demo".as_ref()));
    let loaded = check_file("/x/demo/.claude-plugin/plugin.json".as_ref(), None, &files, &dialects);
    assert_eq!(hooks(&loaded), ["Stop - plugin"]);
    assert_eq!(found(&loaded), ["hooks-file-loaded-twice /hooks"]);
}
