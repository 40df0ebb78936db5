//! The engine's own files: layers, every shape, every member, settings.

use std::time::Duration;

use hook_config::{EngineFailureMode, Unsupported, Untrusted, check_file};
use hook_core::{FailureKind, Handler, HandlerKind, Layer, MemoryFiles, OnFailure, ReplyPolicy, Shell};
use hook_mapper::Dialects;
use serde_json::{Value, json};

use crate::common::*;

#[test]
fn layers_come_by_authority() {
    let text = |name: &str| format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{{"command": "{name}"}}]}}]}}}}"#);
    let files = tree([
        (".hooks/hooks.local.json", text("local")),
        (".hooks/hooks.json", text("project")),
        ("~/.config/hook/hooks.json", text("user")),
        ("/etc/hook/hooks.json", text("managed")),
        (".amplifier/hooks/hooks.json", text("amplifier")),
    ]);
    let loaded = load_from(&files, &[], Value::Null);
    let order = ["managed", "user", "project", "amplifier", "local"].map(|name| format!("Stop - {name}"));
    assert_eq!(hooks(&loaded), order);
    let layers: Vec<Layer> = loaded.documents.iter().map(|document| document.layer).collect();
    assert_eq!(layers, [Layer::Managed, Layer::User, Layer::Project, Layer::Project, Layer::Local]);
    assert_eq!(loaded.sources.len(), 5);
}

#[test]
fn all_shapes_and_spellings_load_in_silence() {
    let table = [
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "a"}]}]}}"#,
        r#"{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "a"}]}]}"#,
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "command": "a"}]}}"#,
        r#"{"hooks": {"PreToolUse": {"matcher": "Bash", "hooks": [{"command": "a"}]}}}"#,
        r#"{"PreToolUse": {"matcher": "Bash", "command": "a"}}"#,
        "// a comment\n{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"command\": \"a\",},],},],},}",
    ];
    for text in table {
        let loaded = native(text);
        assert_eq!(hooks(&loaded), ["PreToolUse Bash a"], "{text}");
        assert_eq!(found(&loaded), [""; 0], "{text}");
    }
    let loaded = native(
        r#"{"hooks": {"pre_tool_use": [{"command": "a"}], "cursor:beforeTabFileRead": [{"command": "b"}]}}"#,
    );
    assert_eq!(hooks(&loaded), ["pre_tool_use - a", "cursor:beforeTabFileRead - b"]);
    assert_eq!(loaded.documents[0].bindings[0].event.name(), "PreToolUse");
    assert_eq!(loaded.documents[0].bindings[1].event.name(), "cursor:beforeTabFileRead");
}

#[test]
fn every_member_of_a_hook_is_read() {
    let loaded = native(
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "parallel": true, "hooks": [
            {"id": "guard", "type": "command", "command": "node", "args": ["x.js", "a b"], "if": "Bash(rm *)",
             "once": true, "async": true, "timeout": 2.5, "onFailure": "block", "statusMessage": "Looking",
             "priority": -3, "shell": "powershell"},
            {"command": "a", "timeoutMs": 1500, "enabled": false,
             "onFailure": {"default": "continue", "timeout": "block", "spawn": "block"}},
            {"url": "https://example.org", "headers": {"A": "b"}},
            {"server": "s", "tool": "t"},
            {"prompt": "ok?"},
            {"type": "agent", "prompt": "look"},
            {"type": "deny", "reason": "no"},
            {"reason": "no"}
        ]}]}}"#,
    );
    assert_eq!(found(&loaded), [""; 0]);
    let hooks: Vec<_> = loaded.hooks().collect();
    let guard = hooks[0];
    assert_eq!(guard.id.as_str(), "guard");
    assert_eq!(guard.handler.summary(), "node x.js a b");
    assert_eq!(guard.condition.as_ref().map(|condition| condition.text.as_str()), Some("Bash(rm *)"));
    assert!(guard.once && guard.background && guard.enabled && loaded.documents[0].bindings[0].parallel);
    assert_eq!(guard.limits.timeout, Some(Duration::from_millis(2500)));
    assert_eq!(guard.on_failure.default, Some(OnFailure::Block));
    assert_eq!((guard.priority, guard.status_message.as_deref()), (-3, Some("Looking")));
    let hook_core::Handler::Command(command) = &guard.handler else { panic!("no command") };
    assert_eq!(command.shell, Shell::PowerShell);
    assert_eq!(guard.origin.pointer, "/hooks/PreToolUse/0/hooks/0");
    assert_eq!(guard.origin.to_string(), "/p/.hooks/hooks.json:2:13");
    assert_eq!(guard.origin.root.as_deref(), Some(std::path::Path::new("/p/.hooks")));

    assert_eq!(hooks[1].limits.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(hooks[1].disabled_because.as_deref(), Some("`enabled` is false at /p/.hooks/hooks.json:5:49"));
    assert_eq!(hooks[1].on_failure.for_kind(FailureKind::Spawn, OnFailure::Continue), OnFailure::Block);
    assert_eq!(hooks[1].on_failure.for_kind(FailureKind::Exit, OnFailure::Block), OnFailure::Continue);
    assert_eq!(hooks[2].handler.summary(), "POST https://example.org");
    let kinds: Vec<_> = hooks[2..].iter().map(|hook| hook.handler.kind()).collect();
    assert_eq!(kinds[..4], [HandlerKind::Http, HandlerKind::Mcp, HandlerKind::Prompt, HandlerKind::Agent]);
    assert_eq!(kinds[4..], [HandlerKind::Deny; 2]);
}

#[test]
fn findings_name_the_place_and_the_right_word() {
    let table: &[(&str, &str, Option<&str>)] = &[
        (r#"{"hooks": {"PreToolUsed": []}}"#, "unknown-event /hooks/PreToolUsed", Some("PreToolUse")),
        (r#"{"hook": {}}"#, "unknown-field /hook", Some("hooks")),
        (
            r#"{"hooks": {"Stop": [{"matchers": "x", "hooks": [{"command": "a"}]}]}}"#,
            "unknown-field /hooks/Stop/0/matchers",
            Some("matcher"),
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "a", "time_out": 1}]}]}}"#,
            "unknown-field /hooks/Stop/0/hooks/0/time_out",
            Some("timeout"),
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"type": "Command", "command": "a"}]}]}}"#,
            "unknown-handler-type /hooks/Stop/0/hooks/1/type",
            Some("command"),
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "a", "timeout": "30"}]}]}}"#,
            "timeout-not-a-number /hooks/Stop/0/hooks/0/timeout",
            Some("30"),
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "a", "timeout": 5000}]}]}}"#,
            "timeout-looks-like-milliseconds /hooks/Stop/0/hooks/0/timeout",
            Some("5"),
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "a", "onFailure": {"timout": "block"}}]}]}}"#,
            "unknown-field /hooks/Stop/0/hooks/0/onFailure/timout",
            Some("timeout"),
        ),
        (r#"{"dialect": "nativ", "hooks": {}}"#, "unknown-dialect /dialect", Some("native")),
        (r#"{"settings": {"failclosed": true}}"#, "unknown-field /settings/failclosed", Some("failClosed")),
        (
            r#"{"hooks": {"Stop": [{"matcher": "a/b~c", "hooks": [{"command": "a"}]}]}}"#,
            "matcher-ignored-on-event /hooks/Stop/0/matcher",
            None,
        ),
        (
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "a", "x/y~z": 1}]}]}}"#,
            "unknown-field /hooks/Stop/0/hooks/0/x~1y~0z",
            None,
        ),
    ];
    for (text, finding, suggestion) in table {
        let loaded = native(text);
        assert_eq!(found(&loaded), [*finding], "{text}");
        assert_eq!(loaded.diagnostics[0].suggestion.as_deref(), *suggestion, "{text}");
        assert!(loaded.diagnostics[0].location().is_some(), "{text}");
    }
}

#[test]
fn notes_of_people_are_no_findings() {
    let loaded = native(
        r#"{"$schema": "x", "_comment": "y", "//": "z", "hooks": {"Stop": [{"_why": 1, "hooks": [{"command": "a", "comment": "b"}]}]}}"#,
    );
    assert_eq!(found(&loaded), [""; 0]);
}

#[test]
fn an_unreadable_matcher_is_an_error_at_its_place() {
    let loaded = native(r#"{"hooks": {"PreToolUse": [{"matcher": "Bash(", "hooks": [{"command": "a"}]}]}}"#);
    assert_eq!(found(&loaded), ["matcher-unreadable /hooks/PreToolUse/0/matcher"]);
    assert!(loaded.has_errors());
    assert_eq!(hooks(&loaded), ["PreToolUse Bash( a"], "it is for the registry to say what that means");
    let column = loaded.diagnostics[0].location().unwrap().column;
    assert!((39..=45).contains(&column), "{column}");
}

#[test]
fn a_file_whose_every_hook_is_broken_says_so() {
    let loaded = native(
        r#"{"hooks": {"AfterLunch": [{"hooks": [{"command": "a"}]}], "Stop": [{"hooks": [{"type": "x"}]}]}}"#,
    );
    let slugs = [
        "unknown-event /hooks/AfterLunch",
        "unknown-handler-type /hooks/Stop/0/hooks/0/type",
        "none-loaded ",
    ];
    assert_eq!(found(&loaded), slugs);
    assert_eq!(
        found(&native(r#"{"hooks": {"Stop": [{"hooks": [{"command": "a", "enabled": false}]}]}}"#)),
        [""; 0]
    );
}

#[test]
fn arguments_that_are_no_list_of_strings_stop_the_hook() {
    let loaded =
        native(r#"{"hooks": {"Stop": [{"hooks": [{"command": "a", "args": ["x", 1]}, {"command": "b"}]}]}}"#);
    assert_eq!(found(&loaded), ["wrong-type /hooks/Stop/0/hooks/0/args"]);
    assert!(loaded.has_errors());
    assert_eq!(hooks(&loaded), ["!Stop - a", "Stop - b"]);
}

#[test]
fn another_dialect_at_the_top_is_read_by_its_rules() {
    let loaded = native(
        r#"{"dialect": "hook-shell", "hooks": {"Stop": [{"hooks": [{"command": "a", "once": true, "id": "x"}]}]}} // fine"#,
    );
    assert_eq!(loaded.documents[0].dialect.0, "amplifier");
    let hook = loaded.hooks().next().unwrap();
    assert_eq!((hook.dialect.0, hook.once), ("amplifier", false));
    assert_eq!(
        found(&loaded),
        ["unknown-field /hooks/Stop/0/hooks/0/id", "once-ignored /hooks/Stop/0/hooks/0/once"]
    );
}

#[test]
fn settings_of_less_authority_only_tighten() {
    let files = tree([
        (
            "~/.config/hook/hooks.json",
            r#"{"settings": {"askUnsupported": "drop", "rewriteUnsupported": "drop", "untrusted": "skip", "sources": []}}"#,
        ),
        (
            ".hooks/hooks.json",
            r#"{"settings": {"ask_unsupported": "deny", "rewriteUnsupported": "drop", "untrusted": "ask",
                "failClosed": true, "onEngineFailure": "allow"}}"#,
        ),
    ]);
    let loaded = load_from(&files, &[], Value::Null);
    let refused = ["rewriteUnsupported", "untrusted", "onEngineFailure"]
        .map(|name| format!("setting-not-allowed-here /settings/{name}"));
    assert_eq!(found(&loaded), refused);
    let settings = &loaded.settings;
    assert_eq!(settings.ask_unsupported, Some(Unsupported::Deny));
    assert_eq!(settings.rewrite_unsupported, Some(Unsupported::Drop));
    assert_eq!(settings.untrusted, Some(Untrusted::Skip));
    assert_eq!(settings.on_engine_failure, None::<EngineFailureMode>);
    let policy = settings.reply_policy(ReplyPolicy::default());
    assert!(policy.deny_unsupported_ask && !policy.deny_unsupported_rewrite && policy.fail_closed);
}

#[test]
fn a_source_that_nobody_knows_is_named() {
    let loaded = native(r#"{"settings": {"sources": ["nobody"]}}"#);
    assert_eq!(found(&loaded), ["unknown-dialect -"]);
}

#[test]
fn one_file_is_read_by_its_place() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}]}]}}"#;
    let files = MemoryFiles::new()
        .with("/x/.hooks/hooks.local.json", text)
        .with("/x/.amplifier/hooks/a/hooks.json", text)
        .with("/x/some.json", text);
    let dialects = Dialects::standard();
    let table = [
        ("/x/.hooks/hooks.local.json", "native", Layer::Local),
        ("/x/.amplifier/hooks/a/hooks.json", "amplifier", Layer::Project),
        ("/x/some.json", "native", Layer::Project),
    ];
    for (path, dialect, layer) in table {
        let loaded = check_file(path.as_ref(), None, &files, &dialects);
        let document = &loaded.documents[0];
        assert_eq!((document.dialect.0, document.layer), (dialect, layer), "{path}");
    }
    let loaded = check_file("/x/none.json".as_ref(), None, &files, &dialects);
    assert_eq!(found(&loaded), ["unreadable-file -"]);
}

#[test]
fn the_arguments_of_a_tool_are_read_under_both_names_and_make_another_hook_of_it() {
    let file = |input: &str| {
        let entry = format!(r#"[{{"type": "mcp", "server": "s", "tool": "t"{input}}}]"#);
        tree([(".hooks/hooks.json", format!(r#"{{"hooks": {{"Stop": {entry}}}}}"#))])
    };
    let mut ids = Vec::new();
    for (written, read) in [
        ("", json!({})),
        (r#", "input": {"a": "${cwd}", "b": [1.50, null]}"#, json!({"a": "${cwd}", "b": [1.5, null]})),
        (r#", "args": {"a": 1}"#, json!({"a": 1})),
    ] {
        let loaded = load_from(&file(written), &[], Value::Null);
        assert_eq!(found(&loaded), [""; 0], "{written}");
        let hook = loaded.hooks().next().unwrap();
        let Handler::Mcp(call) = &hook.handler else { panic!("{:?}", hook.handler) };
        assert_eq!(Value::Object(call.input.clone()), read, "{written}");
        ids.push(hook.id.clone());
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let loaded = load_from(&file(r#", "args": ["a"]"#), &[], Value::Null);
    assert_eq!(found(&loaded), ["wrong-type /hooks/Stop/0/args", "none-loaded "]);
}

#[test]
fn what_a_prompt_says_is_read_and_makes_another_hook_of_it() {
    let read = |members: &str| {
        native(&format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{{"prompt": "p"{members}}}]}}]}}}}"#))
    };
    let handler = |members: &str| {
        let loaded = read(members);
        assert_eq!(found(&loaded), [""; 0]);
        let hook = loaded.hooks().next().unwrap();
        let Handler::Prompt(asked) = &hook.handler else { panic!("no prompt") };
        assert!(hook.extra.is_empty());
        (asked.model.clone(), asked.continue_on_block, hook.id.clone())
    };
    let (model, goes_on, plain) = handler("");
    assert_eq!((model, goes_on), (None, false));
    let (model, goes_on, other) = handler(r#", "model": "small", "continueOnBlock": true"#);
    assert_eq!((model.as_deref(), goes_on), (Some("small"), true));
    assert_ne!(plain, other);
    assert_eq!(handler(r#", "model": " ""#).0, None);
    for (members, finding) in [
        (r#", "model": 4"#, "wrong-type /hooks/Stop/0/hooks/0/model"),
        (r#", "continueOnBlock": "yes""#, "wrong-type /hooks/Stop/0/hooks/0/continueOnBlock"),
    ] {
        let loaded = read(members);
        assert_eq!(found(&loaded), [finding]);
        assert!(loaded.hooks().next().unwrap().enabled);
    }
}

#[test]
fn a_deny_needs_a_reason_and_something_to_hold_back() {
    for (event, handler, expected, enabled) in [
        ("PreToolUse", r#"{"type": "deny", "reason": "no"}"#, "", true),
        ("Stop", r#"{"type": "deny", "reason": "no"}"#, "", true),
        ("PreToolUse", r#"{"type": "deny"}"#, "missing-field /hooks/PreToolUse/0/hooks/0", false),
        (
            "PreToolUse",
            r#"{"type": "deny", "reason": " "}"#,
            "missing-field /hooks/PreToolUse/0/hooks/0/reason",
            false,
        ),
        (
            "PostToolUse",
            r#"{"type": "deny", "reason": "no"}"#,
            "handler-type-not-supported /hooks/PostToolUse/0/hooks/0/type",
            false,
        ),
        (
            "PreToolUse",
            r#"{"type": "deny", "reason": "no", "async": true}"#,
            "unknown-field /hooks/PreToolUse/0/hooks/0/async",
            true,
        ),
    ] {
        let loaded =
            native(&format!(r#"{{"hooks": {{"{event}": [{{"hooks": [{handler}, {{"command": "a"}}]}}]}}}}"#));
        let found = found(&loaded);
        assert_eq!(found.join(" "), expected, "{handler}");
        let hook = loaded.hooks().next().expect("it is kept");
        assert_eq!((hook.enabled, hook.background), (enabled, false), "{handler}");
    }
}

#[test]
fn predicates_are_checked_at_their_place() {
    for (event, matcher, expected) in [
        ("PreToolUse", "Bash(git *) | Edit(*.ts)", &[] as &[&str]),
        ("PreToolUse", "Bash(command=^rm[)", &["matcher-unreadable error 2:28 ^rm["]),
        ("PreToolUse", "Read(*) | Bash(git *", &["matcher-unreadable error 2:29 (git *"]),
        ("PreToolUse", "HttpFetch(https://*)", &["matcher-unreadable error 2:25 https://*"]),
        ("PreToolUse", "Edit|Write & input.file_path~x", &["matcher-dialect-trap warning 2:15 Edit|Write"]),
        ("SessionStart", "startup & input.x~y", &["matcher-without-tool error 2:14 \"startup & input.x~y\""]),
        ("SessionStart", "startup", &[]),
    ] {
        let text = format!(
            "{{\"{event}\": [\n {{\"matcher\": \"{matcher}\", \"hooks\": [{{\"command\": \"a\"}}]}}]}}"
        );
        let loaded = native(&text);
        let short = |finding: &hook_core::Diagnostic| {
            let place = &finding.labels[0].location;
            assert!(finding.help.is_some(), "{finding:?}");
            let under = &text[place.span.start..place.span.end];
            format!(
                "{} {} {}:{} {under}",
                finding.code.slug(),
                finding.severity.name(),
                place.line,
                place.column
            )
        };
        let found: Vec<String> = loaded.diagnostics.iter().map(short).collect();
        assert_eq!(found, expected, "{matcher}");
    }
}
