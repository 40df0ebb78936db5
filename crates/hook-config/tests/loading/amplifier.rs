//! Amplifier's directories: order, isolation of what is broken, module settings.

use std::time::Duration;

use hook_exec_budget::effective;
use serde_json::{Value, json};

use crate::common::*;

const OK: &str =
    r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}}"#;
const ROOT: &str = ".amplifier/hooks/hooks.json";

fn load(files: &[(&str, &str)]) -> hook_config::Loaded {
    load_from(&tree(files.iter().copied()), &[], Value::Null)
}

fn command(name: &str) -> String {
    format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "{name}"}}]}}]}}}}"#)
}

#[test]
fn user_before_project_root_before_plugins_plugins_by_name() {
    let files = [
        (".amplifier/hooks/c/hooks.json", "pc"),
        (".amplifier/hooks/a/hooks.json", "pa"),
        (".amplifier/hooks/.b/hooks.json", "pb"),
        (ROOT, "p"),
        ("~/.amplifier/hooks/z/hooks.json", "uz"),
        ("~/.amplifier/hooks/hooks.json", "u"),
        (".amplifier/hooks/a/deeper/hooks.json", "never"),
        (".amplifier/hooks/other.json", "never"),
        (".amplifier/settings.json", "never"),
    ];
    let loaded = load_from(&tree(files.map(|(path, name)| (path, command(name)))), &[], Value::Null);
    let order = ["u", "uz", "p", "pb", "pa", "pc"].map(|name| format!("Stop - {name}"));
    assert_eq!(hooks(&loaded), order);
    assert_eq!(found(&loaded), [""; 0]);
    let plugin = &loaded.documents[1];
    assert_eq!(plugin.source.as_deref(), Some("z"));
    assert_eq!(plugin.root.as_deref(), Some(std::path::Path::new("/home/u/.amplifier/hooks/z")));
}

#[test]
fn nothing_there_is_nothing_to_say() {
    let loaded = load(&[]);
    assert_eq!((hooks(&loaded).len(), found(&loaded).len()), (0, 0));
}

/// What a root registry says, its hooks, and what is found; the plugin beside it always loads.
#[test]
fn a_broken_unit_takes_nothing_with_it() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("{ not json", &[], &["invalid-json "]),
        ("", &[], &["invalid-json "]),
        (r#"{"hooks": {}} // why"#, &[], &["invalid-json "]),
        (r#"{"hooks": {},}"#, &[], &["invalid-json "]),
        ("\u{feff}{}", &[], &["invalid-json "]),
        ("[]", &[], &["not-an-object "]),
        (r#"{"hooks": null}"#, &[], &["hooks-not-an-object /hooks"]),
        (r#"{"hooks": []}"#, &[], &["hooks-not-an-object /hooks"]),
        (r#"{"name": "x", "version": "1", "description": "d"}"#, &[], &[]),
        (
            r#"{"hooks": {"Stop": null, "PreToolUse": [{"hooks": [{"command": "a"}]}]}}"#,
            &["PreToolUse - a"],
            &["hooks-not-a-list /hooks/Stop"],
        ),
        (
            r#"{"hooks": {"Stop": [1, {"hooks": [{"command": "a"}]}]}}"#,
            &["Stop - a"],
            &["entry-not-an-object /hooks/Stop/0"],
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"matcher": 1, "hooks": [{"command": "b"}]}, {"hooks": [{"command": "a"}]}]}}"#,
            &["PreToolUse - a"],
            &["matcher-not-a-string /hooks/PreToolUse/0/matcher"],
        ),
        (r#"{"hooks": {"Stop": {"hooks": [{"type": "command", "command": "a"}]}}}"#, &["Stop - a"], &[]),
        (
            r#"{"hooks": {"Stop": [{}, {"hooks": []}]}}"#,
            &[],
            &["group-without-hooks /hooks/Stop/0", "group-without-hooks /hooks/Stop/1"],
        ),
        (
            r#"{"hooks": {"AfterLunch": [], "Stop": [{"hooks": [{"command": "a"}]}]}}"#,
            &["Stop - a"],
            &["unknown-event /hooks/AfterLunch"],
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "u"}, {"command": "a"}]}]}}"#,
            &["!Stop - type \"http\"", "Stop - a"],
            &["unknown-handler-type /hooks/Stop/0/hooks/0/type"],
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "command"}, {"type": "prompt", "prompt": " "}, {"command": "a"}]}]}}"#,
            &["!Stop - ", "!Stop - ", "Stop - a"],
            &["missing-field /hooks/Stop/0/hooks/0", "missing-field /hooks/Stop/0/hooks/1/prompt"],
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "b", "command": "a"}]}]}}"#,
            &["Stop - a"],
            &["duplicate-key /hooks/Stop/0/hooks/0/command"],
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "a", "once": true}]}]}}"#,
            &["Stop - a"],
            &["once-ignored /hooks/Stop/0/hooks/0/once"],
        ),
    ];
    for (text, wanted, findings) in table {
        let loaded = load(&[(ROOT, text), (".amplifier/hooks/ok/hooks.json", OK)]);
        let mut lines = hooks(&loaded);
        assert_eq!(lines.pop().as_deref(), Some("PreToolUse Bash x"), "the neighbour of {text}");
        assert_eq!(lines, *wanted, "{text}");
        assert_eq!(found(&loaded), *findings, "{text}");
        for diagnostic in &loaded.diagnostics {
            assert_eq!(
                diagnostic.file.as_deref(),
                Some(std::path::Path::new("/p/.amplifier/hooks/hooks.json"))
            );
        }
        assert!(loaded.hooks().all(|hook| !hook.once), "{text}");
    }
}

#[test]
fn a_file_that_is_not_utf8_takes_nothing_with_it() {
    let files = tree([(ROOT, b"{\"hooks\": {}, \"name\": \"\xff\"}".to_vec())])
        .with("/p/.amplifier/hooks/ok/hooks.json", OK);
    let loaded = load_from(&files, &[], Value::Null);
    assert_eq!(hooks(&loaded), ["PreToolUse Bash x"]);
    assert_eq!(found(&loaded), ["not-utf8 "]);
    assert_eq!(loaded.diagnostics[0].location().unwrap().to_string(), "/p/.amplifier/hooks/hooks.json:1:24");
}

#[test]
fn matchers_that_mean_everything_and_parallel_groups() {
    let text = r#"{"hooks": {"PreToolUse": [
        {"matcher": null, "hooks": [{"command": "a"}]},
        {"matcher": "", "hooks": [{"command": "b"}]},
        {"matcher": "*", "parallel": true, "hooks": [{"command": "c"}]},
        {"parallel": "false", "hooks": [{"command": "d"}]}
    ]}}"#;
    let loaded = load(&[(ROOT, text)]);
    assert_eq!(hooks(&loaded), ["PreToolUse - a", "PreToolUse  b", "PreToolUse * c", "PreToolUse - d"]);
    let parallel: Vec<bool> = loaded.documents[0].bindings.iter().map(|binding| binding.parallel).collect();
    assert_eq!(parallel, [false, false, true, false]);
    assert_eq!(found(&loaded), ["wrong-type /hooks/PreToolUse/3/parallel"]);
}

#[test]
fn timeouts_and_the_module_settings() {
    let text =
        |timeout: &str| format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{{"command": "a"{timeout}}}]}}]}}}}"#);
    let table: &[(&str, Value, u64, &[&str])] = &[
        ("", json!({}), 30_000, &[]),
        (r#", "timeout": 5"#, json!({}), 5_000, &[]),
        (r#", "timeout": 0.5"#, json!({}), 500, &[]),
        (r#", "timeout": null"#, json!({}), 30_000, &["timeout-not-a-number /hooks/Stop/0/hooks/0/timeout"]),
        (r#", "timeout": "5""#, json!({}), 30_000, &["timeout-not-a-number /hooks/Stop/0/hooks/0/timeout"]),
        (r#", "timeout": 0"#, json!({}), 30_000, &["timeout-out-of-range /hooks/Stop/0/hooks/0/timeout"]),
        (r#", "timeout": -1"#, json!({}), 30_000, &["timeout-out-of-range /hooks/Stop/0/hooks/0/timeout"]),
        ("", json!({"default_timeout": 10}), 10_000, &[]),
        ("", json!({"timeout": 12}), 12_000, &[]),
        ("", json!({"timeout": 12, "default_timeout": 10}), 10_000, &[]),
        ("", json!({"max_timeout": 20}), 20_000, &[]),
        (r#", "timeout": 200"#, json!({"max_timeout": 60}), 60_000, &[]),
        (r#", "timeout": 250"#, json!({"max_timeout": 900}), 250_000, &[]),
        ("", json!({"default_timeout": 500, "max_timeout": 900}), 500_000, &[]),
        (
            "",
            json!({"default_timeout": "ten", "max_timeout": 0}),
            30_000,
            &["wrong-type /default_timeout", "wrong-type /max_timeout"],
        ),
        ("", json!({"defaultTimeout": 10, "maxTimeout": 5}), 5_000, &[]),
        ("", json!({"allow_blocking": "no"}), 30_000, &["wrong-type /allow_blocking"]),
        ("", json!({"subagent_tools": "Task"}), 30_000, &["wrong-type /subagent_tools"]),
        ("", json!({"fail_open": true}), 30_000, &["unknown-field /fail_open"]),
    ];
    for (timeout, switches, wanted, findings) in table {
        let loaded = load_from(&tree([(ROOT, text(timeout))]), &[], switches.clone());
        let hook = loaded.hooks().next().unwrap();
        assert_eq!(effective(hook), Duration::from_millis(*wanted), "{timeout} {switches}");
        assert_eq!(found(&loaded), *findings, "{timeout} {switches}");
    }
}

#[test]
fn switches_close_directories_and_the_whole_module() {
    let files = tree([(ROOT, command("p")), ("~/.amplifier/hooks/hooks.json", command("u"))]);
    let table: &[(Value, &[&str])] = &[
        (json!({}), &["Stop - u", "Stop - p"]),
        (json!({"allow_user_hooks": false}), &["Stop - p"]),
        (json!({"allow_project_hooks": false}), &["Stop - u"]),
        (json!({"enabled": false}), &["!Stop - u", "!Stop - p"]),
        (json!({"enabled": "no"}), &["Stop - u", "Stop - p"]),
    ];
    for (switches, wanted) in table {
        assert_eq!(hooks(&load_from(&files, &[], switches.clone())), *wanted, "{switches}");
    }
}

#[test]
fn the_name_under_which_an_event_is_fired_leads_to_the_name_for_hooks() {
    for (written, meant) in
        [("tool:pre", "PreToolUse"), ("prompt:complete", "Stop"), ("PreTooluse", "PreToolUse")]
    {
        let file = format!(r#"{{"hooks": {{"{written}": [{{"hooks": [{{"command": "x"}}]}}]}}}}"#);
        let loaded = load(&[(ROOT, &file)]);
        assert_eq!(loaded.diagnostics[0].suggestion.as_deref(), Some(meant), "{written}");
    }
}

#[test]
fn switching_the_module_off_leaves_native_files_alone() {
    let files = tree([(ROOT, command("p")), (".hooks/hooks.json", command("n"))]);
    assert_eq!(hooks(&load_from(&files, &[], json!({"enabled": false}))), ["Stop - n", "!Stop - p"]);
}

/// The budget as the engine computes it.
mod hook_exec_budget {
    use std::time::Duration;

    use hook_core::Hook;
    use hook_mapper::Dialects;

    pub(super) fn effective(hook: &Hook) -> Duration {
        let dialects = Dialects::standard();
        let profile = dialects.get(hook.dialect).map(|dialect| dialect.profile());
        let Some(profile) = profile else { return Duration::ZERO };
        let wanted = hook
            .limits
            .timeout
            .unwrap_or_else(|| (profile.default_timeout)(&hook.event, hook.handler.kind()));
        wanted.min(hook.limits.ceiling.or(profile.max_timeout).unwrap_or(Duration::MAX))
    }
}

#[test]
fn a_matcher_that_the_empty_value_of_an_event_does_not_fit_is_told() {
    for (matcher, told) in [("Bash", "matcher-never-fits"), (".*", "matcher-ignored-on-event")] {
        let text = json!({ "hooks": { "Stop": [{ "matcher": matcher, "hooks": [{ "type": "command", "command": "true" }] }] } });
        let loaded = load(&[(ROOT, &text.to_string())]);
        let slugs: Vec<&str> = loaded.diagnostics.iter().map(|finding| finding.code.slug()).collect();
        assert_eq!(slugs, [told], "{matcher}");
    }
}
