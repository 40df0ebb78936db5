//! What Claude Code's settings do to hooks: switches, allow-lists, options of plugins, settings of one run.

use std::path::Path;

use hook_config::{LoadRequest, Loaded, load};
use hook_core::{DialectId, Handler, HostContext, MemoryFiles, Source};
use hook_mapper::Dialects;
use serde_json::{Value, json};

use crate::common::*;

const CLAUDE: DialectId = DialectId("claude");
const MANAGED: &str = "/etc/claude-code/managed-settings.json";
const USER: &str = "~/.claude/settings.json";
const PROJECT: &str = ".claude/settings.json";
const LOCAL: &str = ".claude/settings.local.json";
const PLUGIN: &str = "/plugins/kit/hooks/hooks.json";

/// A file with one hook that is called `name`, and these switches.
fn with(name: &str, switches: &Value) -> String {
    let file = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": name}]}]}});
    merged(file, switches).to_string()
}

fn merged(mut object: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
    object
}

/// Loads with the plugin `kit`, with variables, and with settings of this run.
fn load_with(files: &MemoryFiles, variables: &[(&str, &str)], settings: Option<&str>) -> Loaded {
    let mut host: HostContext = host();
    host.environment = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let dialects = Dialects::standard();
    let mut request = LoadRequest::new(&host, files, &dialects);
    request.own_files_of = vec![CLAUDE];
    request.plugin_roots = vec!["/plugins/kit".into()];
    request.extra_settings = settings.map(|text| Source::new(Path::new("--settings"), text));
    load(&request)
}

fn running(loaded: &Loaded) -> Vec<String> {
    loaded.hooks().filter(|hook| hook.enabled).map(|hook| hook.handler.summary()).collect()
}

#[test]
fn of_a_switch_the_value_of_the_highest_authority_counts() {
    let (on, off) = (json!({"disableAllHooks": true}), json!({"disableAllHooks": false}));
    let none = json!({});
    let all = ["m", "u", "p", "l", "f", "plugin"];
    // Managed, user, project, local, command line; what runs.
    let rows: &[([&Value; 5], &[&str])] = &[
        ([&none, &none, &none, &none, &none], &all),
        ([&none, &on, &none, &none, &none], &["m"]),
        ([&none, &on, &off, &none, &none], &all),
        ([&none, &on, &off, &on, &none], &["m"]),
        ([&none, &on, &off, &on, &off], &all),
        ([&none, &none, &none, &none, &on], &["m"]),
        ([&off, &on, &on, &on, &on], &all),
        ([&on, &none, &none, &none, &off], &[]),
    ];
    for (switches, expected) in rows {
        let [managed, user, project, local, flag] = switches;
        let files = tree([
            (MANAGED, with("m", managed)),
            (USER, with("u", user)),
            (PROJECT, with("p", project)),
            (LOCAL, with("l", local)),
            (PLUGIN, with("plugin", &none)),
        ]);
        assert_eq!(running(&load_with(&files, &[], Some(&with("f", flag)))), *expected, "{switches:?}");
    }
}

#[test]
fn later_drop_ins_beat_earlier_ones_and_the_file_before_them() {
    let drop_in = |name: &str| format!("/etc/claude-code/managed-settings.d/{name}");
    let files = |first: bool, second: bool| {
        tree([
            (MANAGED.to_owned(), with("m", &json!({"disableAllHooks": true}))),
            (drop_in("10.json"), with("a", &json!({"disableAllHooks": first}))),
            (drop_in("20.json"), with("b", &json!({"disableAllHooks": second}))),
        ])
    };
    assert_eq!(running(&load_with(&files(true, false), &[], None)), ["m", "a", "b"]);
    assert_eq!(running(&load_with(&files(false, true), &[], None)), [""; 0]);
}

#[test]
fn variables_of_the_environment_leave_the_managed_hooks() {
    let forced = json!({"enabledPlugins": {"kit@shop": true}});
    let files = tree([
        (MANAGED, with("m", &forced)),
        (USER, with("u", &json!({}))),
        (PLUGIN, with("plugin", &json!({}))),
    ]);
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);
    let rows: &[Row<'_>] = &[
        (&[], &["m", "u", "plugin"]),
        (&[("CLAUDE_CODE_SIMPLE", "1")], &["m"]),
        (&[("CLAUDE_CODE_SAFE_MODE", "TRUE")], &["m"]),
        (&[("CLAUDE_CODE_SIMPLE", "0"), ("CLAUDE_CODE_SAFE_MODE", "")], &["m", "u", "plugin"]),
    ];
    for (variables, expected) in rows {
        let loaded = load_with(&files, variables, None);
        assert_eq!(running(&loaded), *expected, "{variables:?}");
        for hook in loaded.hooks().filter(|hook| !hook.enabled) {
            assert!(hook.disabled_because.as_deref().unwrap().contains(variables[0].0));
        }
    }
}

#[test]
fn a_plugin_that_the_settings_switch_off_is_off() {
    let plugins = |value: Value| json!({ "enabledPlugins": value });
    let (on, off) = (plugins(json!({"kit@shop": true})), plugins(json!({"kit@shop": false})));
    let other = plugins(json!({"kitten@shop": false, "other": false}));
    let none = json!({});
    for (managed, user, project, runs) in [
        (&none, &none, &none, true),
        (&none, &on, &none, true),
        (&none, &off, &none, false),
        (&none, &on, &off, false),
        (&none, &off, &on, true),
        (&off, &on, &on, false),
        (&none, &other, &none, true),
        (&none, &plugins(json!({"kit@a": false, "kit@b": true})), &none, true),
    ] {
        let files = tree([
            (MANAGED, with("m", managed)),
            (USER, with("u", user)),
            (PROJECT, with("p", project)),
            (PLUGIN, with("plugin", &none)),
        ]);
        let loaded = load_with(&files, &[], None);
        assert_eq!(running(&loaded).contains(&"plugin".to_owned()), runs, "{managed} {user} {project}");
        assert_eq!(running(&loaded).len(), 3 + usize::from(runs));
    }
}

#[test]
fn switches_of_a_wrong_type_are_named_and_lists_of_what_is_allowed_close() {
    let rows = [
        (json!({"disableAllHooks": "true"}), "wrong-type /disableAllHooks", "warning"),
        (json!({"enabledPlugins": ["kit"]}), "wrong-type /enabledPlugins", "warning"),
        (
            json!({"strictPluginOnlyCustomization": "hooks"}),
            "wrong-type /strictPluginOnlyCustomization",
            "warning",
        ),
        (json!({"allowedHttpHookUrls": "https://a.test/*"}), "wrong-type /allowedHttpHookUrls", "error"),
        (json!({"allowedHttpHookUrls": [1]}), "wrong-type /allowedHttpHookUrls/0", "warning"),
        (json!({"httpHookAllowedEnvVars": {}}), "wrong-type /httpHookAllowedEnvVars", "error"),
    ];
    for (switches, finding, severity) in rows {
        let files = tree([(USER, with("u", &switches)), (PROJECT, http("https://a.test/x", &json!({})))]);
        let loaded = load_with(&files, &[], None);
        assert_eq!(found(&loaded)[0], finding, "{switches}");
        assert_eq!(loaded.diagnostics[0].severity.name(), severity, "{switches}");
        let open = !switches.as_object().unwrap().contains_key("allowedHttpHookUrls");
        assert_eq!(running(&loaded).contains(&"POST https://a.test/x".to_owned()), open, "{switches}");
    }
    let files = tree([
        (USER, with("u", &json!({"httpHookAllowedEnvVars": 1}))),
        (PROJECT, http("https://a.test/", &json!({}))),
    ]);
    let loaded = load_with(&files, &[], None);
    let policy = loaded.hooks().last().unwrap().grants.http.clone().unwrap();
    assert_eq!((policy.urls.len(), policy.variables.clone()), (0, vec![Vec::<String>::new()]));
}

fn http(url: &str, more: &Value) -> String {
    let handler = merged(json!({"type": "http", "url": url}), more);
    json!({"hooks": {"Stop": [{"hooks": [handler]}]}}).to_string()
}

#[test]
fn an_http_hook_runs_where_the_lists_of_all_files_together_allow_its_url() {
    let list = |urls: &[&str]| json!({ "allowedHttpHookUrls": urls });
    let none = json!({});
    for (managed, user, runs) in [
        (none.clone(), none.clone(), true),
        (list(&[]), none.clone(), false),
        (none.clone(), list(&["https://a.test/*"]), true),
        (none.clone(), list(&["https://b.test/*"]), false),
        (list(&["https://b.test/*"]), list(&["https://A.test/*"]), true),
        (list(&["*"]), list(&[]), true),
    ] {
        for place in [MANAGED, PROJECT, PLUGIN] {
            let drop_in = "/etc/claude-code/managed-settings.d/1.json";
            let files = tree([
                (place, http("https://a.test/hook", &json!({}))),
                (drop_in, with("m", &managed)),
                (USER, with("u", &user)),
            ]);
            let loaded = load_with(&files, &[], None);
            let hook = loaded.hooks().find(|hook| hook.handler.summary().starts_with("POST https")).unwrap();
            assert_eq!(hook.enabled, runs, "{managed} {user} {place}");
            let findings: &[&str] = if runs { &[] } else { &["url-not-allowed /hooks/Stop/0/hooks/0/url"] };
            assert_eq!(found(&loaded), findings, "{managed} {user} {place}");
            assert_eq!(hook.disabled_because.is_some(), !runs);
            let bounded = [&managed, &user].iter().any(|list| **list != none);
            assert_eq!(hook.grants.http.is_some(), bounded, "{managed} {user}");
        }
    }
}

#[test]
fn a_guard_whose_url_is_not_allowed_stays_in_force_and_fails() {
    let files = tree([
        (USER, with("u", &json!({"allowedHttpHookUrls": [], "httpHookAllowedEnvVars": ["A", "B"]}))),
        (PROJECT, http("https://a.test/hook", &json!({"onFailure": "block"}))),
        (LOCAL, with("l", &json!({"httpHookAllowedEnvVars": ["C"]}))),
    ]);
    let loaded = load_with(&files, &[], None);
    let hook = loaded.hooks().find(|hook| hook.on_failure.is_stated()).unwrap();
    assert!(hook.enabled && hook.disabled_because.is_some());
    assert!(matches!(hook.handler, Handler::Unknown { .. }));
    let policy = hook.grants.http.clone().unwrap();
    assert_eq!(policy.variables, [["A", "B", "C"].map(String::from)]);
}

#[test]
fn options_of_a_plugin_come_from_its_manifest_the_user_the_command_line_and_the_administrator() {
    let manifest = r#"{"name": "kit", "userConfig": {
        "one": {"type": "string", "default": "d1"}, "two": {"type": "number", "default": 2},
        "three": {"type": "string"}, "four": {"type": "boolean", "default": true}}}"#;
    let options = |value: Value| json!({"pluginConfigs": {"kit@shop": {"options": value}, "kitten": {"options": {"one": "no"}}}});
    let files = tree([
        ("/plugins/kit/.claude-plugin/plugin.json", manifest.to_owned()),
        (PLUGIN, with("plugin", &json!({}))),
        (USER, options(json!({"one": "u1", "three": "u3", "two": 7})).to_string()),
        (PROJECT, options(json!({"one": "p1"})).to_string()),
        (LOCAL, options(json!({"one": "l1"})).to_string()),
        (MANAGED, options(json!({"three": "m3"})).to_string()),
    ]);
    let flag = options(json!({"two": 8})).to_string();
    let loaded = load_with(&files, &[], Some(&flag));
    let hook = loaded.hooks().next().unwrap();
    let expected = [("four", "true"), ("one", "u1"), ("three", "m3"), ("two", "8")];
    assert_eq!(hook.grants.options, expected.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
    let mut ignored = found(&loaded);
    ignored.sort_unstable();
    assert_eq!(ignored, ["setting-not-allowed-here /pluginConfigs"; 2]);
    let places: Vec<String> =
        loaded.diagnostics.iter().map(|d| d.file.as_ref().unwrap().display().to_string()).collect();
    assert_eq!(places, ["/p/.claude/settings.json", "/p/.claude/settings.local.json"]);
}

#[test]
fn a_placeholder_for_an_option_without_value_never_goes_out_as_it_stands() {
    let text = json!({"hooks": {"PreToolUse": [{"hooks": [
        {"type": "command", "command": "a", "args": ["--key", "${user_config.key}"]},
        {"type": "command", "command": "${user_config.tool}", "args": [], "onFailure": "block"},
        {"type": "command", "command": "c", "args": ["${user_config.known}", "$user_config.key", "${user_config."]},
    ]}]}});
    let given = json!({"pluginConfigs": {"kit": {"options": {"known": "k"}}}}).to_string();
    for (place, known) in [(PLUGIN, true), (PROJECT, false)] {
        let files = tree([(place, text.to_string()), (USER, given.clone())]);
        let loaded = load_with(&files, &[], None);
        let enabled: Vec<bool> = loaded.hooks().map(|hook| hook.enabled).collect();
        assert_eq!(enabled, [false, true, known], "{place}");
        let guard = loaded.hooks().nth(1).unwrap();
        assert!(
            matches!(&guard.handler, Handler::Unknown { kind } if kind.contains("user_config.tool")),
            "{place}"
        );
        let mut expected = vec![
            "option-without-value /hooks/PreToolUse/0/hooks/0",
            "option-without-value /hooks/PreToolUse/0/hooks/1",
        ];
        if !known {
            expected.push("option-without-value /hooks/PreToolUse/0/hooks/2");
        }
        assert_eq!(found(&loaded), expected, "{place}");
        assert!(loaded.diagnostics[0].help.as_deref().unwrap().contains("`key`"));
    }
}

#[test]
fn settings_of_one_run_are_read_after_the_local_ones_and_may_be_broken_alone() {
    let files = tree([(LOCAL, with("l", &json!({}))), (PLUGIN, with("plugin", &json!({})))]);
    let loaded = load_with(&files, &[], Some(&with("f", &json!({}))));
    assert_eq!(running(&loaded), ["l", "f", "plugin"]);
    let loaded = load_with(&files, &[], Some("{"));
    assert_eq!(running(&loaded), ["l", "plugin"]);
    assert_eq!(found(&loaded), ["invalid-json "]);
}

#[test]
fn hooks_of_a_plugins_skills_go_with_the_plugin() {
    let skill = "---\nname: review\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: say\n          args: ['${user_config.key}']\n---\n";
    let rows = [
        (json!({}), json!({}), false),
        (json!({}), json!({"pluginConfigs": {"kit": {"options": {"key": "v"}}}}), true),
        (
            json!({}),
            json!({"pluginConfigs": {"kit": {"options": {"key": "v"}}}, "enabledPlugins": {"kit@a": false}}),
            false,
        ),
        (
            json!({"allowManagedHooksOnly": true, "enabledPlugins": {"kit@a": true}}),
            json!({"pluginConfigs": {"kit": {"options": {"key": "v"}}}}),
            true,
        ),
        (
            json!({"allowManagedHooksOnly": true}),
            json!({"pluginConfigs": {"kit": {"options": {"key": "v"}}}}),
            false,
        ),
        (
            json!({"strictPluginOnlyCustomization": ["hooks"]}),
            json!({"pluginConfigs": {"kit": {"options": {"key": "v"}}}}),
            true,
        ),
    ];
    for (managed, user, runs) in rows {
        let files = tree([
            ("/plugins/kit/skills/review/SKILL.md", skill.to_owned()),
            (MANAGED, managed.to_string()),
            (USER, user.to_string()),
        ]);
        let loaded = load_with(&files, &[], None);
        let hook = loaded.hooks().next().unwrap();
        assert_eq!(hook.enabled, runs, "{managed} {user} {:?}", hook.disabled_because);
    }
}

#[test]
fn a_skill_of_a_plugin_may_not_paste_options_into_a_shell_line() {
    let skill = "---\nname: review\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: say ${user_config.key}\n---\n";
    for (place, refused) in
        [("/plugins/kit/skills/review/SKILL.md", true), (".claude/skills/review/SKILL.md", false)]
    {
        let options = json!({"pluginConfigs": {"kit": {"options": {"key": "v"}}}}).to_string();
        let loaded = load_with(&tree([(place, skill.to_owned()), (USER, options)]), &[], None);
        assert_eq!(loaded.hooks().next().unwrap().enabled, !refused, "{place}");
        assert_eq!(
            found(&loaded).iter().any(|found| found.starts_with("user-config-in-shell-form")),
            refused,
            "{place}"
        );
    }
}
