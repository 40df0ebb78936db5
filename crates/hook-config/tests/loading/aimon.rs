//! AIMON's three files: order and names, every warning and error of the guide's tables, rewake blocks, the strict mode.

use std::time::Duration;

use hook_config::{DocumentSpec, Loaded, Parsed, parse};
use hook_core::{
    CommandHandler, DialectId, Handler, HandlerKind, Hook, Layer, OnFailure, RewakeTrigger, Scope, Severity,
    Shell,
};
use hook_mapper::Dialects;
use serde_json::Value;

use crate::common::*;

const FILE: &str = ".aimon/hooks.json";

fn load(files: &[(&str, &str)]) -> Loaded {
    load_from(&tree(files.iter().copied()), &[], Value::Null)
}

/// One file of the project with these events.
fn file(events: &str) -> Loaded {
    load(&[(FILE, &format!("{{\"hooks\": {events}}}"))])
}

/// One handler of preTool.
fn handler(handler: &str) -> Loaded {
    file(&format!(
        "{{\"preTool\": [{{\"hooks\": [{handler}, {{\"type\": \"command\", \"command\": \"sibling\"}}]}}]}}"
    ))
}

fn command(name: &str) -> String {
    format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command", "command": "{name}"}}]}}]}}}}"#)
}

/// `severity slug pointer` of every finding, each of which says what to do.
#[track_caller]
fn judged(loaded: &Loaded) -> Vec<String> {
    let judged =
        loaded.diagnostics.iter().filter(|finding| finding.severity > Severity::Info).map(|finding| {
            assert!(finding.help.is_some() || finding.suggestion.is_some(), "no help: {finding:?}");
            assert!(finding.location().is_some() || finding.file.is_some(), "no place: {finding:?}");
            format!("{} {}", finding.severity.name(), short(finding))
        });
    judged.collect()
}

#[test]
fn user_then_project_then_local_and_nothing_replaces_anything() {
    let files = [
        (".aimon/hooks.local.json", "local"),
        (".aimon/hooks.json", "project"),
        ("~/.aimon/hooks.json", "user"),
        (".aimon/other.json", "never"),
    ];
    let loaded = load_from(&tree(files.map(|(path, name)| (path, command(name)))), &[], Value::Null);
    // A turn that ends on an error ends, too: every hook stands under both kinds.
    let order: Vec<String> = ["user", "project", "local"]
        .iter()
        .flat_map(|name| [format!("Stop - {name}"), format!("Stop - {name}")])
        .collect();
    assert_eq!(hooks(&loaded), order);
    assert_eq!(found(&loaded), [""; 0]);
    let layers: Vec<Layer> = loaded.documents.iter().map(|document| document.layer).collect();
    assert_eq!(layers, [Layer::User, Layer::Project, Layer::Local]);
}

#[test]
fn a_session_in_the_home_directory_has_one_file_of_that_name() {
    let files = tree([("~/.aimon/hooks.json", command("once"))]);
    let (mut host, dialects) = (host(), Dialects::standard());
    host.project = "/home/u".into();
    let loaded = hook_config::load(&hook_config::LoadRequest::new(&host, &files, &dialects));
    assert_eq!(loaded.documents.len(), 1);
    assert_eq!(loaded.documents[0].layer, Layer::User);
}

#[test]
fn entries_are_counted_through_both_spellings_of_an_event() {
    let entry = |name: &str| format!(r#"{{"hooks": [{{"type": "command", "command": "{name}"}}]}}"#);
    let loaded = file(&format!(
        r#"{{"PreToolUse": [{}, {{"hooks": []}}, {}], "onStart": [{}], "pretool": [{}]}}"#,
        entry("a"),
        entry("b"),
        entry("c"),
        entry("d")
    ));
    let places: Vec<String> = loaded
        .hooks()
        .map(|hook| format!("{}{}.{}", hook.handler.summary(), hook.origin.entry, hook.origin.handler))
        .collect();
    assert_eq!(places, ["a0.0", "b2.0", "c0.0", "c0.0", "d3.0"]);
}

#[test]
fn files_without_a_word_have_no_hooks_and_no_faults() {
    for text in ["", " \n", "null", " null\n", "{}", r#"{"hooks": null}"#, r#"{"hooks": {}}"#] {
        let loaded = load(&[(FILE, text)]);
        assert_eq!((hooks(&loaded).len(), found(&loaded).len()), (0, 0), "{text:?}");
    }
}

#[test]
fn what_is_no_hook_file_costs_itself_and_no_other_file() {
    for (text, expected) in [
        ("{not valid", "error invalid-json "),
        (r#"{"hooks": {}} // why"#, "error invalid-json "),
        (r#"{"hooks": {},}"#, "error invalid-json "),
        ("[]", "error not-an-object "),
        (r#"{"hooks": []}"#, "error hooks-not-an-object /hooks"),
    ] {
        let other = command("other");
        let loaded = load(&[(FILE, text), ("~/.aimon/hooks.json", &other)]);
        assert_eq!(judged(&loaded), [expected], "{text}");
        assert_eq!(loaded.hooks().filter(|hook| hook.enabled).count(), 2, "{text}");
    }
}

#[test]
fn a_file_that_cannot_be_read_counts_as_absent_with_a_warning() {
    let loaded = load(&[(".aimon/hooks.json/inner", "x")]);
    assert_eq!(judged(&loaded), ["warning unreadable-file -"]);
}

#[test]
fn every_warning_of_the_guide_has_its_place() {
    let ok = r#"{"type": "command", "command": "x"}"#;
    let table: &[(&str, &[&str], &[&str])] = &[
        // Events.
        (
            r#"{"Notification": [{"hooks": [{"type": "command", "command": "x"}]}]}"#,
            &[],
            &["warning unsupported-event /hooks/Notification"],
        ),
        (
            r#"{"userpromptsubmit": [], "STOP_HOOK_ACTIVE": []}"#,
            &[],
            &[
                "warning unsupported-event /hooks/userpromptsubmit",
                "warning unsupported-event /hooks/STOP_HOOK_ACTIVE",
            ],
        ),
        (r#"{"GibberishEvent": []}"#, &[], &["warning unknown-event /hooks/GibberishEvent"]),
        (
            r#"{"PostToolUseFailure": []}"#,
            &[],
            &["warning event-of-another-dialect /hooks/PostToolUseFailure"],
        ),
        // Entries.
        (
            r#"{"preTool": [{"matcher": "Bash", "hooks": []}]}"#,
            &[],
            &["warning group-without-hooks /hooks/preTool/0"],
        ),
        (r#"{"preTool": [{"matcher": "Bash"}]}"#, &[], &["warning group-without-hooks /hooks/preTool/0"]),
        (
            r#"{"preTool": [{"hooks": [@], "later": 1, "$note": 2}]}"#,
            &["preTool - x"],
            &["warning unknown-field /hooks/preTool/0/later", "warning unknown-field /hooks/preTool/0/$note"],
        ),
        (
            r#"{"preTool": {"hooks": [@]}}"#,
            &[],
            &["error hooks-not-a-list /hooks/preTool", "error none-loaded "],
        ),
        // Matchers.
        (r#"{"postCompact": [{"matcher": "Bash", "hooks": [@]}]}"#, &["postCompact - x"], &[]),
        (r#"{"preTool": [{"matcher": null, "hooks": [@]}]}"#, &["preTool - x"], &[]),
        (
            r#"{"preTool": [{"matcher": 1, "hooks": [@]}]}"#,
            &[],
            &["error matcher-not-a-string /hooks/preTool/0/matcher", "error none-loaded "],
        ),
    ];
    for (events, hooks, findings) in table {
        let loaded = file(&events.replace('@', ok));
        assert_eq!(judged(&loaded), *findings, "{events}");
        let named: Vec<String> = loaded.hooks().map(|hook| line(hook)).collect();
        assert_eq!(named, *hooks, "{events}");
    }
}

#[test]
fn a_bad_handler_is_left_out_and_its_sibling_stays() {
    let at = "/hooks/preTool/0/hooks/0";
    let table: &[(&str, &[&str])] = &[
        (r#"{"type": "command"}"#, &["warning missing-field "]),
        (r#"{"type": "command", "command": " "}"#, &["warning missing-field /command"]),
        (r#"{"type": "command", "command": 7}"#, &["warning missing-field /command"]),
        (r#"{"type": "http"}"#, &["warning missing-field "]),
        (r#"{"type": "http", "url": " "}"#, &["warning missing-field /url"]),
        (r#"{"type": "http", "url": "no address"}"#, &["warning invalid-url /url"]),
        (r#"{"type": "http", "url": "ftp://a.test/"}"#, &["warning invalid-url /url"]),
        (
            r#"{"type": "http", "url": "https://a.test/", "method": "FETCH"}"#,
            &["warning invalid-method /method"],
        ),
        (
            r#"{"type": "http", "url": "https://a.test/", "headers": {"A": null}}"#,
            &["warning invalid-header /headers/A"],
        ),
        (
            r#"{"type": "http", "url": "https://a.test/", "headers": {"Host": "x"}}"#,
            &["warning invalid-header /headers/Host"],
        ),
        (r#"{"type": "mcp", "server": "s", "tool": "t", "args": 7}"#, &["error wrong-type /args"]),
        (r#"{"type": "mcp", "server": "s"}"#, &["warning missing-field "]),
        (r#"{"type": "mcp", "tool": "t", "server": ""}"#, &["warning missing-field /server"]),
        (r#"{"type": "deny"}"#, &["warning missing-field "]),
        (r#"{"type": "deny", "reason": " "}"#, &["warning missing-field /reason"]),
        (r#"{"command": "x"}"#, &["error missing-field "]),
        (r#"{"type": "prompt", "prompt": "x"}"#, &["error unknown-handler-type /type"]),
        (r#"{"type": "command", "command": "x", "timeout": 0}"#, &["error timeout-out-of-range /timeout"]),
        (r#"{"type": "command", "command": "x", "timeout": -1}"#, &["error timeout-out-of-range /timeout"]),
        (
            r#"{"type": "command", "command": "x", "timeoutMs": 0}"#,
            &["error timeout-out-of-range /timeoutMs"],
        ),
        (r#"{"type": "command", "command": "x", "timeout": 0.5}"#, &["error timeout-out-of-range /timeout"]),
        (r#"{"type": "command", "command": "x", "timeout": 1.5}"#, &["error timeout-out-of-range /timeout"]),
        (
            r#"{"type": "command", "command": "x", "timeout": 1e300}"#,
            &["error timeout-out-of-range /timeout"],
        ),
        (r#"{"type": "command", "command": "x", "timeout": "5"}"#, &["error timeout-not-a-number /timeout"]),
        (
            r#"{"type": "command", "command": "x", "timeout": 0, "timeoutMs": 5}"#,
            &["error timeout-out-of-range /timeout"],
        ),
        ("7", &["error entry-not-an-object "]),
    ];
    for (text, findings) in table {
        let loaded = handler(text);
        let expected: Vec<String> = findings
            .iter()
            .map(|finding| {
                let (head, rest) = finding.rsplit_once(' ').unwrap();
                format!("{head} {at}{rest}")
            })
            .collect();
        let judged: Vec<String> =
            judged(&loaded).into_iter().filter(|finding| !finding.contains("none-loaded")).collect();
        assert_eq!(judged, expected, "{text}");
        let running: Vec<&str> =
            loaded.hooks().filter(|hook| hook.enabled).map(|hook| hook.origin.pointer.as_str()).collect();
        assert_eq!(running, ["/hooks/preTool/0/hooks/1"], "{text}");
    }
}

#[test]
fn handlers_stand_on_events_that_take_them() {
    let http = r#"{"type": "http", "url": "https://example.test/h"}"#;
    let mcp = r#"{"type": "mcp", "server": "s", "tool": "t"}"#;
    let deny = r#"{"type": "deny", "reason": "no"}"#;
    for row in Dialects::standard().find("aimon").unwrap().profile().events {
        for (text, kind) in [(http, HandlerKind::Http), (mcp, HandlerKind::Mcp), (deny, HandlerKind::Deny)] {
            let loaded = file(&format!(r#"{{"{}": [{{"hooks": [{text}]}}]}}"#, row.name));
            let takes = row.handlers.contains(&kind);
            let misfit = format!("warning handler-type-not-supported /hooks/{}/0/hooks/0/type", row.name);
            assert_eq!(judged(&loaded).contains(&misfit), !takes, "{} {}", row.name, kind.name());
            assert_eq!(loaded.hooks().any(|hook| hook.enabled), takes, "{} {}", row.name, kind.name());
        }
    }
}

#[test]
fn types_count_in_any_case_and_have_synonyms() {
    for (word, kind) in [
        ("COMMAND", HandlerKind::Command),
        ("Http", HandlerKind::Http),
        ("mcp_tool", HandlerKind::Mcp),
        ("McpTool", HandlerKind::Mcp),
        ("MCP", HandlerKind::Mcp),
        ("Deny", HandlerKind::Deny),
    ] {
        let loaded = handler(&format!(
            r#"{{"type": "{word}", "command": "x", "url": "https://example.test", "server": "s", "tool": "t", "reason": "r"}}"#
        ));
        let first = loaded.hooks().next().unwrap();
        assert_eq!((first.handler.kind(), first.enabled), (kind, true), "{word}");
    }
}

#[test]
fn timeouts_are_seconds_and_milliseconds_go_before() {
    for (members, millis) in [
        (r#""timeout": 60"#, Some(60_000)),
        (r#""timeoutMs": 1500"#, Some(1_500)),
        (r#""timeout": 5, "timeoutMs": 1500"#, Some(1_500)),
        (r#""timeout": null"#, None),
        (r#""timeout": 3600"#, Some(3_600_000)),
    ] {
        let loaded = handler(&format!(r#"{{"type": "command", "command": "x", {members}}}"#));
        let hook = loaded.hooks().next().unwrap();
        assert_eq!(hook.limits.timeout, millis.map(Duration::from_millis), "{members}");
        assert!(hook.enabled, "{members}");
    }
    let long = handler(r#"{"type": "command", "command": "x", "timeout": 3600}"#);
    assert_eq!(judged_slugs(&long), ["timeout-out-of-range"]);
    let old = handler(r#"{"type": "command", "command": "x", "timeout": 5000}"#);
    assert_eq!(judged_slugs(&old), ["timeout-looks-like-milliseconds"]);
}

fn judged_slugs(loaded: &Loaded) -> Vec<&str> {
    loaded.diagnostics.iter().map(|finding| finding.code.slug()).collect()
}

#[test]
fn commands_are_lines_of_bash() {
    let loaded = handler(r#"{"type": "command", "command": "echo ${tool_input.x}"}"#);
    let hook = loaded.hooks().next().unwrap();
    let line = CommandHandler { command: "echo ${tool_input.x}".into(), args: None, shell: Shell::Bash };
    assert_eq!(hook.handler, Handler::Command(line));
}

#[test]
fn a_rewake_is_kept_where_its_event_can_be_woken() {
    let block = r#"{"trigger": {"delay": "5m"}, "reason": "r"}"#;
    for row in Dialects::standard().find("aimon").unwrap().profile().events {
        let loaded = file(&format!(
            r#"{{"{}": [{{"hooks": [{{"type": "command", "command": "x", "asyncRewake": {block}}}]}}]}}"#,
            row.name
        ));
        let wakes =
            ["preTool", "preCompact", "onSessionStart", "onSessionEnd", "onConfigReload"].contains(&row.name);
        let hook = loaded.hooks().next().unwrap();
        assert_eq!((hook.rewake.is_some(), hook.enabled), (wakes, true), "{}", row.name);
        let left = format!("warning rewake-not-on-event /hooks/{}/0/hooks/0/asyncRewake", row.name);
        assert_eq!(judged(&loaded), if wakes { vec![] } else { vec![left] }, "{}", row.name);
    }
}

#[test]
fn a_rewake_that_cannot_be_used_costs_itself_only() {
    let rewake =
        |block: &str| handler(&format!(r#"{{"type": "deny", "reason": "no", "asyncRewake": {block}}}"#));
    let table = [
        (r#"{"trigger": {"delay": "0s"}, "reason": "r"}"#, "/trigger/delay"),
        (r#"{"trigger": {"delay": "5m", "cron": "0 * * * *"}, "reason": "r"}"#, "/trigger"),
        (r#"{"trigger": {"cron": "0 0 * * * ?"}, "reason": "r"}"#, "/trigger/cron"),
        (r#"{"trigger": {"delay": "5m", "zone": "UTC"}, "reason": "r"}"#, "/trigger/zone"),
        (r#"{"trigger": {"event": {"type": "a"}}, "reason": "r"}"#, "/trigger/event"),
        (r#"{"trigger": {"delay": "5m"}}"#, ""),
        (r#"{"trigger": {"delay": "5m"}, "reason": " "}"#, "/reason"),
        (r#"{"trigger": {"delay": "5m"}, "reason": "r", "maxAttempts": 0}"#, "/maxAttempts"),
        (r#"{"trigger": {"delay": "5m"}, "reason": "r", "timeout": "soon"}"#, "/timeout"),
        (r#"{"trigger": {"delay": "5m"}, "reason": "r", "payload": {"a": null}}"#, "/payload/a"),
        ("true", ""),
    ];
    for (block, path) in table {
        let loaded = rewake(block);
        let place = format!("warning rewake-invalid /hooks/preTool/0/hooks/0/asyncRewake{path}");
        assert_eq!(judged(&loaded), [place], "{block}");
        let hook = loaded.hooks().next().unwrap();
        assert_eq!((hook.enabled, &hook.rewake), (true, &None), "{block}");
    }
    let loaded =
        rewake(r#"{"trigger": {"event": {"type": "approval", "key": "k"}}, "reason": "r", "later": 1}"#);
    assert_eq!(judged(&loaded), [""; 0]);
    let spec = loaded.hooks().next().unwrap().rewake.clone().unwrap();
    assert_eq!(spec.trigger, RewakeTrigger::Event { kind: "approval".into(), key: "k".into() });
}

#[test]
fn a_hook_with_another_rewake_is_another_hook() {
    let id = |delay: &str| {
        let block = format!(r#"{{"trigger": {{"delay": "{delay}"}}, "reason": "r"}}"#);
        let loaded = handler(&format!(r#"{{"type": "deny", "reason": "no", "asyncRewake": {block}}}"#));
        loaded.hooks().next().unwrap().id.clone()
    };
    assert_ne!(id("5m"), id("6m"));
    assert_eq!(id("5m"), id("300s"));
}

// --- skills ---

fn skill(hooks: &str) -> Parsed {
    let text = format!("---\nname: my-skill\ndescription: d\nhooks:\n{hooks}---\nText\n");
    let spec = DocumentSpec {
        path: "/p/.aimon/skills/my-skill/SKILL.md".into(),
        dialect: DialectId("aimon"),
        layer: Layer::Skill,
        root: Some("/p/.aimon/skills/my-skill".into()),
        source: Some("my-skill".into()),
        scope: Scope::Always,
    };
    parse(text.as_bytes(), &spec, &Dialects::standard())
}

fn skill_hooks(parsed: &Parsed) -> Vec<&Hook> {
    let bindings = parsed.document.iter().flat_map(|document| &document.bindings);
    bindings.flat_map(|binding| &binding.hooks).map(std::convert::AsRef::as_ref).collect()
}

#[test]
fn a_skill_has_one_action_per_entry() {
    let parsed = skill(
        "  preTool:\n    - matcher: Read\n      action: { type: shell, command: \"echo a\", timeoutMs: 5000 }\n    - action: { type: deny, reason: no }\n  onStart:\n    - action: { type: shell, command: \"echo b\" }\n",
    );
    let lines: Vec<String> = skill_hooks(&parsed).into_iter().map(line).collect();
    assert_eq!(lines, ["preTool Read echo a", "preTool - no", "onStart - echo b", "onStart - echo b"]);
    assert_eq!(parsed.diagnostics, []);
    let first = skill_hooks(&parsed)[0];
    assert_eq!(first.limits.timeout, Some(Duration::from_millis(5000)));
    assert_eq!((first.origin.entry, first.origin.source.as_deref()), (0, Some("my-skill")));
}

#[test]
fn a_mistake_costs_all_hooks_of_the_skill() {
    const GOOD: &str = "  onStop:\n    - action: { type: shell, command: good }\n";
    let action = |action: &str| format!("  preTool:\n    - action: {action}\n");
    let table = [
        (
            "  PreToolUse:\n    - action: { type: deny, reason: x }\n".to_owned(),
            "unknown-event /hooks/PreToolUse",
        ),
        ("  onstart:\n    - action: { type: shell, command: x }\n".into(), "unknown-event /hooks/onstart"),
        (
            "  onSessionStart:\n    - action: { type: shell, command: x }\n".into(),
            "unknown-event /hooks/onSessionStart",
        ),
        ("  preTool: 1\n".into(), "hooks-not-a-list /hooks/preTool"),
        ("  preTool:\n    - 1\n".into(), "entry-not-an-object /hooks/preTool/0"),
        ("  preTool:\n    - matcher: Bash\n".into(), "missing-field /hooks/preTool/0/action"),
        (
            "  preTool:\n    - hooks:\n        - { type: command, command: x }\n".into(),
            "missing-field /hooks/preTool/0/action",
        ),
        (action("1"), "entry-not-an-object /hooks/preTool/0/action"),
        (action("{ command: x }"), "missing-field /hooks/preTool/0/action"),
        (action("{ type: command, command: x }"), "unknown-handler-type /hooks/preTool/0/action/type"),
        (action("{ type: Shell, command: x }"), "unknown-handler-type /hooks/preTool/0/action/type"),
        (action("{ type: shell, command: ' ' }"), "missing-field /hooks/preTool/0/action/command"),
        (action("{ type: deny }"), "missing-field /hooks/preTool/0/action"),
        (
            action("{ type: shell, command: x, timeoutMs: 5s }"),
            "timeout-not-a-number /hooks/preTool/0/action/timeoutMs",
        ),
        (
            action("{ type: shell, command: x, timeoutMs: 0 }"),
            "timeout-out-of-range /hooks/preTool/0/action/timeoutMs",
        ),
        (
            "  onStart:\n    - matcher: Bash\n      action: { type: shell, command: x }\n".into(),
            "matcher-ignored-on-event /hooks/onStart/0/matcher",
        ),
        (
            "  preTool:\n    - matcher: 1\n      action: { type: shell, command: x }\n".into(),
            "matcher-not-a-string /hooks/preTool/0/matcher",
        ),
        (
            "  postTool:\n    - action: { type: deny, reason: x }\n".into(),
            "handler-type-not-supported /hooks/postTool/0/action/type",
        ),
        (
            "  onStart:\n    - action: { type: http, url: 'https://example.test' }\n".into(),
            "handler-type-not-supported /hooks/onStart/0/action/type",
        ),
    ];
    for (hooks, finding) in table {
        let parsed = skill(&format!("{GOOD}{hooks}"));
        let errors: Vec<String> = parsed
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == Severity::Error && finding.code.slug() != "none-loaded")
            .map(short)
            .collect();
        assert_eq!(errors, [finding], "{hooks}");
        let hooks: Vec<&Hook> = skill_hooks(&parsed);
        assert!(!hooks.is_empty() && hooks.iter().all(|hook| !hook.enabled), "{finding}");
        let why = hooks[0].disabled_because.as_deref().unwrap_or_default();
        assert!(why.contains("SKILL.md"), "{why}");
    }
}

#[test]
fn members_that_a_skill_does_not_know_are_told_and_harmless() {
    let parsed = skill(
        "  preTool:\n    - later: 1\n      action: { type: shell, command: x, timeout: 5, asyncRewake: {} }\n",
    );
    let told: Vec<String> = parsed.diagnostics.iter().map(short).collect();
    assert_eq!(
        told,
        [
            "unknown-field /hooks/preTool/0/later",
            "unknown-field /hooks/preTool/0/action/timeout",
            "unknown-field /hooks/preTool/0/action/asyncRewake",
        ]
    );
    assert!(skill_hooks(&parsed)[0].enabled);
}

#[test]
fn skills_wait_until_they_are_activated() {
    let text =
        "---\nname: s\ndescription: d\nhooks:\n  onStop:\n    - action: { type: shell, command: x }\n---\n";
    let loaded = load(&[(".aimon/skills/s/SKILL.md", text), ("~/.aimon/skills/t/SKILL.md", text)]);
    let scopes: Vec<Scope> = loaded.hooks().map(|hook| hook.scope.clone()).collect();
    assert_eq!(scopes.len(), 4);
    assert!(scopes.iter().all(|scope| *scope == Scope::Skill("s".into())), "{scopes:?}");
}

// --- the strict mode ---

fn strict(events: &str) -> Loaded {
    let settings = r#"{"settings": {"agents": {"aimon": {"mode": "strict"}}}}"#;
    load(&[(".hooks/hooks.json", settings), (FILE, events)])
}

/// The events that a hook without a handler stands in the way of.
fn obstacles(loaded: &Loaded) -> Vec<String> {
    let broken = loaded.hooks().filter(|hook| hook.enabled && hook.handler.kind() == HandlerKind::Unknown);
    broken
        .map(|hook| {
            assert_eq!(hook.on_failure.default, Some(OnFailure::Block));
            hook.event.name().to_owned()
        })
        .collect()
}

#[test]
fn strict_hooks_fail_closed_unless_their_author_wants_them_open() {
    let hook = |members: &str| {
        let events = format!(r#"{{"hooks": {{"preTool": [{{"hooks": [{{{members}}}]}}]}}}}"#);
        strict(&events).hooks().next().unwrap().clone()
    };
    let mode = |hook: &Hook, kind| hook.on_failure.for_kind(kind, OnFailure::Continue);
    use hook_core::FailureKind::{Exit, Spawn, Timeout, Unreachable};
    let command = hook(r#""type": "command", "command": "x""#);
    assert!(command.strict);
    assert_eq!([Spawn, Timeout].map(|kind| mode(&command, kind)), [OnFailure::Block; 2]);
    assert_eq!(mode(&command, Exit), OnFailure::Continue);
    let http = hook(r#""type": "http", "url": "https://example.test""#);
    assert_eq!([Exit, Unreachable].map(|kind| mode(&http, kind)), [OnFailure::Block; 2]);
    let open = hook(r#""type": "command", "command": "x", "failOpen": true"#);
    assert_eq!(mode(&open, Timeout), OnFailure::Continue);
    let odd = hook(r#""type": "command", "command": "x", "failOpen": "true""#);
    assert_eq!(mode(&odd, Timeout), OnFailure::Block);
}

#[test]
fn what_cannot_be_applied_under_a_guard_stands_in_its_way() {
    let turn = ["UserPromptSubmit", "TurnStart"];
    let all = ["PreToolUse", "PermissionRequest", turn[0], turn[1], "PreCompact"];
    let one = ["PreToolUse"];
    let none: [&str; 0] = [];
    let table: &[(&str, &[&str])] = &[
        ("{broken", &all),
        (r#"{"hooks": {"preTool": [{"hooks": [{"type": "command"}]}]}}"#, &one),
        (r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "nope"}]}]}}"#, &one),
        (r#"{"hooks": {"preTool": [{"hooks": []}]}}"#, &one),
        (r#"{"hooks": {"preTool": [7]}}"#, &one),
        (r#"{"hooks": {"onStart": [{"hooks": [{"type": "deny", "reason": "x"}]}]}}"#, &turn),
        (r#"{"hooks": {"preToll": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#, &one),
        (r#"{"hooks": {"PreToolUsee": []}}"#, &one),
        (r#"{"hooks": {"onStopp": []}}"#, &none),
        (r#"{"hooks": {"onStop": [{"hooks": [{"type": "command"}]}]}}"#, &none),
        (r#"{"hooks": {"preTool": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#, &none),
    ];
    for (text, expected) in table {
        let mut found = obstacles(&strict(text));
        let mut expected: Vec<String> = expected.iter().map(|name| (*name).to_owned()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{text}");
    }
    // By the guide alone nothing stands in the way.
    assert_eq!(obstacles(&load(&[(FILE, "{broken")])), [""; 0]);
}

#[test]
fn the_mode_can_be_made_stricter_by_everybody_and_milder_by_the_user_alone() {
    let agents = |mode: &str| format!(r#"{{"settings": {{"agents": {{"aimon": {{"mode": "{mode}"}}}}}}}}"#);
    let plain = command("x");
    let is_strict = |user: &str, project: &str| {
        let (user, project) = (agents(user), agents(project));
        let files =
            [("~/.config/hook/hooks.json", user.as_str()), (".hooks/hooks.json", &project), (FILE, &plain)];
        let loaded = load(&files);
        let strict = loaded.hooks().next().unwrap().strict;
        (strict, loaded.diagnostics.iter().map(|finding| finding.code.slug()).collect::<Vec<_>>())
    };
    assert_eq!(is_strict("guide", "strict"), (true, vec![]));
    assert_eq!(is_strict("strict", "guide"), (true, vec!["setting-not-allowed-here"]));
    assert_eq!(is_strict("guide", "sturdy"), (true, vec!["wrong-type"]));
}

#[test]
fn another_mode_makes_no_other_hook() {
    let events = r#"{"hooks": {"preTool": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#;
    let id = |loaded: &Loaded| loaded.hooks().next().unwrap().id.clone();
    assert_eq!(id(&strict(events)), id(&load(&[(FILE, events)])));
}
