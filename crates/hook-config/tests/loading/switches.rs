//! What switches hooks off, and who may: settings of an agent's module, plugins by name, hooks by id.

use hook_config::Loaded;
use hook_core::{DialectId, Hook, Severity};
use serde_json::{Value, json};

use crate::common::*;

const AMPLIFIER: DialectId = DialectId("amplifier");
const USER: &str = "~/.config/hook/hooks.json";
const PROJECT_FILE: &str = ".hooks/hooks.json";
const LOCAL: &str = ".hooks/hooks.local.json";
const MANAGED: &str = "/etc/hook/hooks.json";

fn stop(command: &str) -> String {
    json!({ "hooks": { "Stop": [{ "hooks": [{ "command": command }] }] } }).to_string()
}

/// One hook of the module per level, and what the files of `settings` say of the module.
fn governed(settings: &[(&str, Value)], mount: Value) -> Loaded {
    let mut files = vec![
        ("~/.amplifier/hooks/hooks.json".to_owned(), stop("u")),
        (".amplifier/hooks/hooks.json".to_owned(), stop("p")),
    ];
    for (path, said) in settings {
        let text = json!({ "settings": { "agents": { "amplifier": said } } }).to_string();
        files.push(((*path).to_owned(), text));
    }
    load_from(&tree(files), &[], mount)
}

/// `command timeout/ceiling` in seconds, `!` before a hook that is off, `~` after one that may not block.
fn state(hook: &Hook) -> String {
    let seconds = |time: Option<std::time::Duration>| {
        time.map_or("-".to_owned(), |time| time.as_secs_f64().to_string())
    };
    format!(
        "{}{} {}/{}{}",
        if hook.enabled { "" } else { "!" },
        hook.handler.summary(),
        seconds(hook.limits.timeout),
        seconds(hook.limits.ceiling),
        if hook.may_block { "" } else { "~" }
    )
}

/// Files that say something of the module, what the host says, the hooks, and what is found.
type Row<'a> = (&'a [(&'a str, Value)], Value, &'a [&'a str], &'a [&'a str]);

#[test]
fn who_may_set_what_of_a_module() {
    let table: &[Row<'_>] = &[
        (&[], Value::Null, &["u -/-", "p -/-"], &[]),
        // The user's file and the host speak for every hook.
        (&[(USER, json!({"enabled": false}))], Value::Null, &["!u -/-", "!p -/-"], &[]),
        (&[(USER, json!({"allow_user_hooks": false}))], Value::Null, &["p -/-"], &[]),
        (&[(USER, json!({"allow_project_hooks": false}))], Value::Null, &["u -/-"], &[]),
        (&[(USER, json!({"allow_blocking": false}))], Value::Null, &["u -/-~", "p -/-~"], &[]),
        (&[(USER, json!({"default_timeout": 5, "max_timeout": 9}))], Value::Null, &["u 5/9", "p 5/9"], &[]),
        // The first of managed file, host and user file that names a setting decides.
        (&[(USER, json!({"enabled": false}))], json!({"enabled": true}), &["u -/-", "p -/-"], &[]),
        (&[(USER, json!({"max_timeout": 50}))], json!({"max_timeout": 60}), &["u -/60", "p -/60"], &[]),
        (&[(MANAGED, json!({"max_timeout": 70}))], json!({"max_timeout": 60}), &["u -/70", "p -/70"], &[]),
        (
            &[(MANAGED, json!({"allow_blocking": true})), (USER, json!({"allow_blocking": false}))],
            Value::Null,
            &["u -/-", "p -/-"],
            &[],
        ),
        // A project shortens the time of its own hooks and of no others, closes its own directory, and does no more.
        (&[(PROJECT_FILE, json!({"max_timeout": 0.1}))], Value::Null, &["u -/-", "p -/0.1"], &[]),
        (
            &[
                (USER, json!({"max_timeout": 60})),
                (PROJECT_FILE, json!({"default_timeout": 5, "max_timeout": 20})),
            ],
            Value::Null,
            &["u -/60", "p 5/20"],
            &[],
        ),
        (
            &[(PROJECT_FILE, json!({"max_timeout": 50})), (LOCAL, json!({"max_timeout": 40}))],
            Value::Null,
            &["u -/-", "p -/40"],
            &[],
        ),
        (
            &[(USER, json!({"max_timeout": 10})), (PROJECT_FILE, json!({"max_timeout": 20}))],
            Value::Null,
            &["u -/10", "p -/10"],
            &["setting-not-allowed-here -"],
        ),
        (
            &[(PROJECT_FILE, json!({"max_timeout": 900}))],
            Value::Null,
            &["u -/-", "p -/300"],
            &["setting-not-allowed-here -"],
        ),
        (&[(PROJECT_FILE, json!({"allow_project_hooks": false}))], Value::Null, &["u -/-"], &[]),
        (
            &[(USER, json!({"allow_project_hooks": false})), (LOCAL, json!({"allow_project_hooks": true}))],
            Value::Null,
            &["u -/-"],
            &["setting-not-allowed-here /settings/agents/amplifier/allow_project_hooks"],
        ),
        (
            &[(PROJECT_FILE, json!({"enabled": false, "allow_user_hooks": false, "allow_blocking": false}))],
            Value::Null,
            &["u -/-", "p -/-"],
            &[
                "setting-not-allowed-here /settings/agents/amplifier/enabled",
                "setting-not-allowed-here /settings/agents/amplifier/allow_user_hooks",
                "setting-not-allowed-here /settings/agents/amplifier/allow_blocking",
            ],
        ),
        (
            &[(USER, json!({"enabled": false})), (PROJECT_FILE, json!({"enabled": true}))],
            Value::Null,
            &["!u -/-", "!p -/-"],
            &["setting-not-allowed-here /settings/agents/amplifier/enabled"],
        ),
        // What cannot be read is said, and the default is used.
        (&[(USER, json!([]))], Value::Null, &["u -/-", "p -/-"], &["wrong-type /settings/agents/amplifier"]),
        (
            &[(USER, json!({"max_timout": 3}))],
            Value::Null,
            &["u -/-", "p -/-"],
            &["unknown-field /settings/agents/amplifier/max_timout"],
        ),
    ];
    for (settings, mount, wanted, findings) in table {
        let loaded = governed(settings, mount.clone());
        let states: Vec<String> = loaded.hooks().map(|hook| state(hook)).collect();
        assert_eq!(states, *wanted, "{settings:?} {mount}");
        assert_eq!(found(&loaded), *findings, "{settings:?} {mount}");
    }
}

#[test]
fn a_switched_off_module_says_where() {
    let loaded = governed(&[(USER, json!({"enabled": false}))], Value::Null);
    let why = loaded.hooks().next().unwrap().disabled_because.clone().unwrap();
    assert_eq!(why, "the module's setting `enabled` is false at /home/u/.config/hook/hooks.json:1:37");
    let loaded = governed(&[], json!({"enabled": false}));
    let why = loaded.hooks().next().unwrap().disabled_because.clone().unwrap();
    assert_eq!(why, "the module's setting `enabled` is false at mount.json:1:2");
}

#[test]
fn tools_that_end_a_subagent_are_set_by_the_user_and_added_to_by_a_project() {
    let tools = |settings: &[(&str, Value)], mount: Value| {
        governed(settings, mount).settings.subagent_tools(AMPLIFIER).map(|tools| tools.join(" "))
    };
    assert_eq!(tools(&[], Value::Null), None);
    assert_eq!(tools(&[], json!({"max_timeout": 3})), None);
    assert_eq!(tools(&[], json!({"subagent_tools": ["task", "delegate"]})).unwrap(), "task delegate");
    assert_eq!(tools(&[(USER, json!({"subagent_tools": []}))], Value::Null).unwrap(), "");
    assert_eq!(
        tools(&[(PROJECT_FILE, json!({"subagent_tools": ["spawn"]}))], Value::Null).unwrap(),
        "Task spawn"
    );
    let both = [
        (USER, json!({"subagent_tools": ["delegate"]})),
        (PROJECT_FILE, json!({"subagent_tools": ["spawn"]})),
    ];
    assert_eq!(tools(&both, Value::Null).unwrap(), "delegate spawn");
}

#[test]
fn agents_without_a_module_have_no_such_settings() {
    let text = r#"{"settings": {"agents": {"claude": {}, "amplifer": {"enabled": false}}}}"#;
    let loaded = native(text);
    assert_eq!(
        found(&loaded),
        ["unknown-field /settings/agents/claude", "unknown-dialect /settings/agents/amplifer"]
    );
    assert_eq!(loaded.diagnostics[1].suggestion.as_deref(), Some("amplifier"));
    assert_eq!(found(&native(r#"{"settings": {"agents": []}}"#)), ["wrong-type /settings/agents"]);
}

#[test]
fn settings_of_a_host_that_are_no_json_leave_the_defaults() {
    let files = tree([(".amplifier/hooks/hooks.json", stop("p"))]);
    let (host, dialects) = (host(), hook_mapper::Dialects::standard());
    let mut request = hook_config::LoadRequest::new(&host, &files, &dialects);
    let source = hook_core::Source::new(std::path::Path::new("mount.json"), "{\"enabled\": fals}");
    request.module_config = Some(source);
    let loaded = hook_config::load(&request);
    assert_eq!(hooks(&loaded), ["Stop - p"]);
    assert_eq!(found(&loaded), ["invalid-json "]);
    assert_eq!(loaded.diagnostics[0].location().unwrap().to_string(), "mount.json:1:13");
}

/// State files: what they say, the hooks of the plugins `a` and `b`, and what is found.
#[test]
fn plugins_are_switched_off_by_name() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("{}", &["Stop - root", "Stop - a", "Stop - b"], &[]),
        (r#"{"disabled": []}"#, &["Stop - root", "Stop - a", "Stop - b"], &[]),
        (r#"{"disabled": ["b"], "installed": {"a": 1}}"#, &["Stop - root", "Stop - a", "!Stop - b"], &[]),
        (r#"{"disabled": ["a", "b"]}"#, &["Stop - root", "!Stop - a", "!Stop - b"], &[]),
        (r#"{"disabled": ["B"]}"#, &["Stop - root", "Stop - a", "Stop - b"], &["disabled-unknown -"]),
        (r#"{"disabled": [3, "a"]}"#, &["Stop - root", "!Stop - a", "Stop - b"], &["wrong-type /disabled/0"]),
        // A state file that cannot be read switches nothing off, and says so.
        (r#"{"disabled": "a"}"#, &["Stop - root", "Stop - a", "Stop - b"], &["state-unreadable /disabled"]),
        ("[]", &["Stop - root", "Stop - a", "Stop - b"], &["state-unreadable "]),
        (r#"{"disabled": ["a""#, &["Stop - root", "Stop - a", "Stop - b"], &["state-unreadable "]),
        ("", &["Stop - root", "Stop - a", "Stop - b"], &["state-unreadable "]),
    ];
    for (text, wanted, findings) in table {
        for level in ["", "~/"] {
            let at = |path: &str| format!("{level}.amplifier/hooks/{path}");
            let files = tree([
                (at("hooks.json"), stop("root")),
                (at("a/hooks.json"), stop("a")),
                (at("b/hooks.json"), stop("b")),
                (at("state.json"), (*text).to_owned()),
            ]);
            let loaded = load_from(&files, &[], Value::Null);
            assert_eq!(hooks(&loaded), *wanted, "{text}");
            assert_eq!(found(&loaded), *findings, "{text}");
            let names: Vec<_> = loaded.plugins.iter().map(|plugin| plugin.name.as_deref()).collect();
            assert_eq!(names, [None, Some("a"), Some("b")]);
        }
    }
}

#[test]
fn a_plugin_that_is_off_says_where_and_is_no_worry() {
    let files = tree([
        (".amplifier/hooks/a/hooks.json", stop("a")),
        (".amplifier/hooks/broken/hooks.json", "{".to_owned()),
        (".amplifier/hooks/state.json", r#"{"disabled": ["a", "broken"]}"#.to_owned()),
        ("~/.amplifier/hooks/a/hooks.json", stop("the user's own")),
    ]);
    let loaded = load_from(&files, &[], Value::Null);
    assert_eq!(hooks(&loaded), ["Stop - the user's own", "!Stop - a"], "each level has its own state");
    let off = loaded.hooks().last().unwrap();
    let why = "the plugin a is switched off at /p/.amplifier/hooks/state.json:1:15";
    assert_eq!(off.disabled_because.as_deref(), Some(why));
    assert_eq!(loaded.plugins[1].disabled_at.as_ref().map(|at| at.column), Some(15));
    assert_eq!(found(&loaded), ["invalid-json "]);
    assert_eq!(loaded.diagnostics[0].severity, Severity::Info);
}

#[test]
fn a_state_file_that_is_not_utf8_or_too_large_switches_nothing_off() {
    for bytes in [b"{\"disabled\": [\"\xff\"]}".to_vec(), vec![b' '; 9 << 20]] {
        let files = tree([(".amplifier/hooks/a/hooks.json", stop("a"))])
            .with("/p/.amplifier/hooks/state.json", bytes);
        let loaded = load_from(&files, &[], Value::Null);
        assert_eq!(hooks(&loaded), ["Stop - a"]);
        assert_eq!(found(&loaded), ["state-unreadable -"]);
        assert!(loaded.has_errors());
    }
}

/// A hook in every layer, and a list `disabled` with all their ids in the file of one.
#[test]
fn a_list_switches_off_what_has_no_more_authority_than_its_file() {
    let all = ["m", "u", "p", "l"];
    let files = [(MANAGED, "m"), (USER, "u"), (PROJECT_FILE, "p"), (LOCAL, "l")];
    let table: [(&str, &[&str], &[&str]); 4] = [
        (MANAGED, &["!m", "!u", "!p", "!l"], &[]),
        (USER, &["m", "!u", "!p", "!l"], &["m"]),
        (PROJECT_FILE, &["m", "u", "!p", "!l"], &["m", "u"]),
        (LOCAL, &["m", "u", "!p", "!l"], &["m", "u"]),
    ];
    for (with_list, wanted, refused) in table {
        let text = |path: &str, id: &str| {
            let list: &[&str] = if path == with_list { &all } else { &[] };
            json!({
                "settings": { "disabled": list },
                "hooks": { "Stop": [{ "hooks": [{ "id": id, "command": id }] }] },
            })
            .to_string()
        };
        let loaded = load_from(&tree(files.map(|(path, id)| (path, text(path, id)))), &[], Value::Null);
        let states: Vec<String> = loaded
            .hooks()
            .map(|hook| format!("{}{}", if hook.enabled { "" } else { "!" }, hook.id))
            .collect();
        assert_eq!(states, wanted, "{with_list}");
        assert_eq!(found(&loaded), vec!["setting-not-allowed-here -"; refused.len()], "{with_list}");
        for (finding, id) in loaded.diagnostics.iter().zip(refused) {
            assert!(finding.message.starts_with(&format!("{id:?} is a hook of")), "{}", finding.message);
            assert_eq!(finding.labels.len(), 2, "the entry and the hook");
        }
    }
}

#[test]
fn a_hook_is_found_by_its_id_whatever_its_dialect() {
    let plain = load_from(&tree([(".amplifier/hooks/a/hooks.json", stop("a"))]), &[], Value::Null);
    let id = plain.hooks().next().unwrap().id.to_string();
    let list = json!({ "settings": { "disabled": [id] } }).to_string();
    let files = tree([(".amplifier/hooks/a/hooks.json", stop("a")), (USER, list)]);
    let loaded = load_from(&files, &[], Value::Null);
    let hook = loaded.hooks().next().unwrap();
    assert!(!hook.enabled);
    assert_eq!(
        hook.disabled_because.as_deref(),
        Some("switched off at /home/u/.config/hook/hooks.json:1:26")
    );
}

#[test]
fn an_id_that_nobody_has_is_a_remark_in_the_project_and_nothing_in_the_users_file() {
    let text = r#"{"settings": {"disabled": ["gone", 7]}}"#;
    let loaded = load_from(&tree([(USER, text), (LOCAL, text)]), &[], Value::Null);
    let wrong = "wrong-type /settings/disabled/1";
    assert_eq!(found(&loaded), [wrong, wrong, "disabled-unknown -"]);
    assert_eq!(loaded.diagnostics[2].severity, Severity::Info);
    let finding = native(r#"{"settings": {"disabled": "gone"}}"#);
    assert_eq!(found(&finding), ["wrong-type /settings/disabled"]);
}

#[test]
fn a_state_file_is_checked_with_the_plugins_beside_it() {
    let files = tree([
        (".amplifier/hooks/a/hooks.json", stop("a")),
        (".amplifier/hooks/state.json", r#"{"disabled": ["aa"]}"#.to_owned()),
    ]);
    let path = std::path::Path::new("/p/.amplifier/hooks/state.json");
    let loaded = hook_config::check_file(path, None, &files, &hook_mapper::Dialects::standard());
    assert_eq!(found(&loaded), ["disabled-unknown -"]);
    assert_eq!(loaded.diagnostics[0].suggestion.as_deref(), Some("a"));
}
