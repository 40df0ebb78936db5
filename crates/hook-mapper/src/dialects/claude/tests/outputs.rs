//! What each of the 33 events takes: fields of an answer, effects of a reply, failures.

use hook_core::{
    Decision, Dialect, Effect, EventKind, FailMode, FailureKind, OnFailure, ReplyPolicy, Status,
};
use serde_json::{Value, json};

use super::{Bench, Claude, all_33, fired, of, own};
use crate::dialects::testing::outcome;

/// Event; c context, m message to the user, s stop, t control sequences; the fields of its own output.
const OUTPUTS: &[(&str, &str, &[&str])] = &[
    (
        "SessionStart",
        "cmst",
        &["additionalContext", "initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills"],
    ),
    ("Setup", "", &[]),
    ("InstructionsLoaded", "", &[]),
    ("UserPromptSubmit", "cmst", &["additionalContext", "sessionTitle", "suppressOriginalPrompt"]),
    ("UserPromptExpansion", "cmst", &["additionalContext", "suppressOriginalPrompt"]),
    ("MessageDisplay", "t", &["displayContent"]),
    ("PreToolUse", "cmst", &["permissionDecision", "updatedInput", "additionalContext"]),
    ("PermissionRequest", "mst", &["decision"]),
    ("PermissionDenied", "mst", &["retry"]),
    (
        "PostToolUse",
        "cmst",
        &["additionalContext", "updatedToolOutput", "updatedMCPToolOutput", "classifierContext"],
    ),
    ("PostToolUseFailure", "cmst", &["additionalContext"]),
    ("PostToolBatch", "cmst", &["additionalContext"]),
    ("Notification", "t", &[]),
    ("SubagentStart", "cmst", &["additionalContext"]),
    ("SubagentStop", "cmst", &["additionalContext"]),
    ("TaskCreated", "mt", &[]),
    ("TaskCompleted", "mst", &[]),
    ("Stop", "cmst", &["additionalContext"]),
    ("StopFailure", "t", &[]),
    ("TeammateIdle", "mst", &[]),
    ("ConfigChange", "t", &[]),
    ("CwdChanged", "mt", &["watchPaths"]),
    ("DirectoryAdded", "t", &[]),
    ("FileChanged", "mt", &["watchPaths"]),
    ("WorktreeCreate", "", &["worktreePath"]),
    ("WorktreeRemove", "", &[]),
    ("PreCompact", "t", &[]),
    ("PostCompact", "t", &[]),
    ("PreModelSwitch", "mt", &["permissionDecision"]),
    ("PostModelSwitch", "cmt", &["additionalContext"]),
    ("SessionEnd", "", &[]),
    ("Elicitation", "mt", &["action"]),
    ("ElicitationResult", "mt", &["action"]),
];

/// Every field of an own output with a value that has an effect where the field counts.
fn own_fields() -> Vec<(&'static str, Value)> {
    vec![
        ("additionalContext", json!("c")),
        ("initialUserMessage", json!("i")),
        ("sessionTitle", json!("t")),
        ("watchPaths", json!(["/a"])),
        ("reloadSkills", json!(true)),
        ("suppressOriginalPrompt", json!(true)),
        ("displayContent", json!("d")),
        ("permissionDecision", json!("ask")),
        ("updatedInput", json!({"a": 1})),
        ("decision", json!({"behavior": "allow"})),
        ("retry", json!(true)),
        ("updatedToolOutput", json!({"x": 1})),
        ("updatedMCPToolOutput", json!("x")),
        ("classifierContext", json!("k")),
        ("worktreePath", json!("wt")),
        ("action", json!("cancel")),
    ]
}

#[test]
fn universal_fields_count_where_the_event_takes_them_and_are_remarked_on_elsewhere() {
    all_33(OUTPUTS.iter().map(|row| row.0));
    let bench = Bench::new(&Claude);
    for (name, letters, _) in OUTPUTS.iter().filter(|row| row.0 != "WorktreeRemove") {
        let event = of(EventKind::from_name(name));
        let rows = [
            ('m', json!({"systemMessage": "m"})),
            ('s', json!({"continue": false})),
            ('t', json!({"terminalSequence": "\u{1b}]0;t\u{7}"})),
        ];
        for (letter, mut document) in rows {
            if *name == "WorktreeCreate" {
                document["hookSpecificOutput"] = json!({"hookEventName": name, "worktreePath": "wt"});
            }
            let said = bench.exit(&event, 0, &document.to_string(), "");
            let counts = match letter {
                'm' => said.answer.messages().count() == 1,
                's' => said.answer.stop,
                _ => {
                    said.answer.effects.iter().any(|effect| matches!(effect, Effect::TerminalSequence { .. }))
                }
            };
            assert_eq!(counts, letters.contains(letter), "{name} {document}");
            assert_eq!(said.notes.is_empty(), counts, "{name} {document} {:?}", said.notes);
        }
        assert_eq!(Claude.capabilities(&event).context, letters.contains('c'), "{name}");
    }
}

#[test]
fn own_fields_count_on_their_events_and_are_remarked_on_elsewhere() {
    let bench = Bench::new(&Claude);
    let known = own_fields();
    for (name, _, fields) in OUTPUTS {
        assert!(fields.iter().all(|field| known.iter().any(|(known, _)| known == field)), "{name}");
        if *name == "WorktreeRemove" {
            continue; // "All JSON discarded": exit codes only.
        }
        let kind = EventKind::from_name(name);
        let mut event = of(kind.clone());
        if *name == "PostToolUse" {
            event = fired(json!({"hook_event_name": name, "tool_name": "mcp__s__t"}));
        }
        let bare = bench.exit(&event, 0, &own(&kind, json!({})), "").answer;
        for (field, value) in &known {
            let said = bench.exit(&event, 0, &own(&kind, json!({ *field: value })), "");
            assert_eq!(said.failure, None, "{name} {field}");
            let counts = said.answer != bare;
            assert_eq!(counts, fields.contains(field), "{name} {field} {:?}", said.answer);
            assert_eq!(said.notes.is_empty(), counts, "{name} {field} {:?}", said.notes);
        }
    }
}

#[test]
fn fields_that_depend_on_more_than_the_event() {
    let bench = Bench::new(&Claude);
    let long = "ü".repeat(2_001);
    let rows = [
        // payload, field, value, effects, remarks
        (json!({"hook_event_name": "SessionStart", "source": "startup"}), "sessionTitle", json!("t"), 1, 0),
        (json!({"hook_event_name": "SessionStart", "source": "clear"}), "sessionTitle", json!("t"), 0, 1),
        (json!({"hook_event_name": "SessionStart", "source": "compact"}), "sessionTitle", json!("t"), 0, 1),
        (
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash"}),
            "updatedMCPToolOutput",
            json!(1),
            0,
            1,
        ),
        (
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash"}),
            "classifierContext",
            json!(long),
            1,
            1,
        ),
        (
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash"}),
            "classifierContext",
            json!(long[2..]),
            1,
            0,
        ),
    ];
    for (payload, field, value, effects, remarks) in rows {
        let event = fired(payload.clone());
        let said = bench.exit(&event, 0, &own(&event.kind, json!({ field: value })), "");
        assert_eq!((said.answer.effects.len(), said.notes.len()), (effects, remarks), "{payload} {field}");
        assert_eq!(said.answer.updated_output, None, "{payload} {field}");
        for effect in &said.answer.effects {
            if let Effect::ClassifierContext { text } = effect {
                assert_eq!(text.chars().count(), 2_000);
            }
        }
    }
    let bad = json!({"systemMessage": "m", "terminalSequence": "\u{1b}]52;c;x\u{7}"}).to_string();
    let said = bench.exit(&of(EventKind::Notification), 0, &bad, "");
    assert_eq!((said.answer.effects.len(), said.notes.len()), (0, 2));

    for (source, contexts, notes) in [("slash_command", 1, 0), ("register_repo_root", 0, 1)] {
        let event = fired(json!({"hook_event_name": "DirectoryAdded", "source": source}));
        let said = bench.exit(&event, 0, r#"{"systemMessage":"m"}"#, "");
        assert_eq!((said.answer.contexts().count(), said.notes.len()), (contexts, notes), "{source}");
        assert_eq!(said.answer.messages().count(), 0);
        let reply = Claude.write_reply(Some(&event), Ok(&outcome(said.answer)), &ReplyPolicy::default());
        assert_eq!(reply.stdout.trim() == r#"{"systemMessage":"m"}"#, contexts == 1, "{source}");
    }
}

#[test]
fn a_failure_holds_back_where_the_reference_says_so_and_where_its_author_does() {
    // Exit 1, a timeout, and with `onFailure: "block"` exit 1.
    let rows = [
        ("SessionStart", false, false, false),
        ("Setup", false, false, false),
        ("InstructionsLoaded", false, false, false),
        ("UserPromptSubmit", false, false, true),
        ("UserPromptExpansion", false, false, true),
        ("MessageDisplay", false, false, false),
        ("PreToolUse", false, false, true),
        ("PermissionRequest", false, false, true),
        ("PermissionDenied", false, false, false),
        ("PostToolUse", false, false, false),
        ("PostToolUseFailure", false, false, false),
        ("PostToolBatch", false, false, true),
        ("Notification", false, false, false),
        ("SubagentStart", false, false, false),
        ("SubagentStop", false, false, false),
        ("TaskCreated", false, false, true),
        ("TaskCompleted", false, false, false),
        ("Stop", false, false, false),
        ("StopFailure", false, false, false),
        ("TeammateIdle", false, false, false),
        ("ConfigChange", false, false, true),
        ("CwdChanged", false, false, false),
        ("DirectoryAdded", false, false, false),
        ("FileChanged", false, false, false),
        ("WorktreeCreate", true, true, true),
        ("WorktreeRemove", true, false, true),
        ("PreCompact", false, false, true),
        ("PostCompact", false, false, false),
        ("PreModelSwitch", false, true, true),
        ("PostModelSwitch", false, false, false),
        ("SessionEnd", false, false, false),
        ("Elicitation", false, false, true),
        ("ElicitationResult", false, false, true),
    ];
    all_33(rows.iter().map(|row| row.0));
    let mild = Bench::new(&Claude);
    let mut strict = Bench::new(&Claude);
    strict.hook.on_failure = FailMode { default: Some(OnFailure::Block), by_kind: Vec::new() };
    for (name, exit, timeout, with_on_failure) in rows {
        let event = of(EventKind::from_name(name));
        let denies = |reading: hook_core::Reading| reading.answer.decision == Decision::Deny;
        assert_eq!(denies(mild.exit(&event, 1, "", "why")), exit, "{name}");
        let late = mild.fail(&event, FailureKind::Timeout);
        assert_eq!(late.status, Status::Timeout, "{name}");
        assert_eq!(denies(late), timeout, "{name}");
        assert_eq!(denies(strict.exit(&event, 1, "", "why")), with_on_failure, "{name}");
    }
}

#[test]
fn a_worktrees_path_is_the_last_line_without_colours_and_leads_straight_to_it() {
    let bench = Bench::new(&Claude);
    let event = of(EventKind::WorktreeCreate);
    for (stdout, path) in [
        ("Welcome\nwt/a\n\n", Some("wt/a")),
        ("\u{1b}[32m/wt/a\u{1b}[0m\r\n\u{1b}[0m\n", Some("/wt/a")),
        ("../wt", Some("../wt")),
        ("/repo/../wt", None),
        ("/repo/./wt", None),
        ("/repo/.wt/..b", Some("/repo/.wt/..b")),
        ("", None),
        ("\u{1b}[0m\n", None),
        (r#"{"path": "wt"}"#, None),
        (r#"{"hookSpecificOutput":{"hookEventName":"Stop","worktreePath":"wt"}}"#, None),
        (r#"{"hookSpecificOutput":{"hookEventName":"WorktreeCreate","worktreePath":"/a/../b"}}"#, None),
    ] {
        let said = bench.exit(&event, 0, stdout, "").answer;
        let expected = path.map(|path| Effect::WorktreePath { path: path.to_owned() });
        assert_eq!(said.effects, expected.into_iter().collect::<Vec<_>>(), "{stdout:?}");
        assert_eq!(said.decision == Decision::Deny, path.is_none(), "{stdout:?}");
    }
    let there = fired(json!({"hook_event_name": "WorktreeCreate", "cwd": "/w/sub"}));
    for (path, printed) in
        [("wt/a", "/w/sub/wt/a\n"), ("../wt", "/w/wt\n"), ("./wt", "/w/sub/wt\n"), ("/x", "/x\n")]
    {
        let answer = hook_core::Answer::default().with(Effect::WorktreePath { path: path.into() });
        let reply = Claude.write_reply(Some(&there), Ok(&outcome(answer)), &ReplyPolicy::default());
        assert_eq!((reply.exit_code, reply.stdout.as_str()), (0, printed));
    }
}

/// Effects that an answer of any dialect may hold, and the events on which this agent takes them.
fn effects() -> Vec<(Effect, Vec<&'static str>)> {
    use hook_core::{Audience, Level};
    let with = |letter: char| {
        OUTPUTS.iter().filter(|row| row.1.contains(letter)).map(|row| row.0).collect::<Vec<_>>()
    };
    let text = || "x".to_owned();
    let told = OUTPUTS.iter().filter(|row| row.1.contains(['c', 'm'])).map(|row| row.0).collect();
    vec![
        (Effect::Context { text: text() }, with('c')),
        (Effect::Feedback { text: text(), to: Audience::Model }, told),
        (Effect::Feedback { text: text(), to: Audience::User }, with('m')),
        (Effect::Message { text: text(), level: Level::Info }, with('m')),
        (Effect::TerminalSequence { text: "\u{7}".into() }, with('t')),
        (Effect::TerminalSequence { text: "\u{1b}[2J".into() }, vec![]),
        (Effect::SessionTitle { text: text() }, vec!["SessionStart", "UserPromptSubmit"]),
        (Effect::InitialPrompt { text: text() }, vec!["SessionStart"]),
        (Effect::ReloadSkills, vec!["SessionStart"]),
        (Effect::WatchPaths { paths: vec!["/a".into()] }, vec!["SessionStart", "CwdChanged", "FileChanged"]),
        (Effect::HidePrompt, vec!["UserPromptSubmit", "UserPromptExpansion"]),
        (Effect::Retry, vec!["PermissionDenied"]),
        // With a decision only.
        (Effect::Interrupt, vec![]),
        (Effect::Permissions { updates: json!([{"type": "setMode"}]) }, vec![]),
        (
            Effect::Elicitation { action: "cancel".into(), content: None },
            vec!["Elicitation", "ElicitationResult"],
        ),
        (Effect::WorktreePath { path: "/wt".into() }, vec!["WorktreeCreate"]),
        (Effect::DisplayContent { text: text() }, vec!["MessageDisplay"]),
        (Effect::ClassifierContext { text: text() }, vec!["PostToolUse"]),
    ]
}

#[test]
fn an_effect_reaches_the_agent_where_it_takes_it_and_is_reported_as_lost_elsewhere() {
    for (effect, events) in effects() {
        for (name, _, _) in OUTPUTS {
            let event = of(EventKind::from_name(name));
            let answer = hook_core::Answer::default().with(effect.clone());
            let reply = Claude.write_reply(Some(&event), Ok(&outcome(answer)), &ReplyPolicy::default());
            let lost: Vec<&String> =
                reply.degraded.iter().filter(|text| !text.contains("no hook gave a path")).collect();
            assert_eq!(lost.is_empty(), events.contains(name), "{name} {effect:?} {lost:?}");
            assert_eq!(reply.stdout.is_empty(), !events.contains(name), "{name} {effect:?}");
        }
    }
}

#[test]
fn rewrites_stops_and_decisions_reach_the_agent_where_it_takes_them() {
    let drops = ReplyPolicy {
        deny_unsupported_ask: false,
        deny_unsupported_rewrite: false,
        ..ReplyPolicy::default()
    };
    for (name, letters, _) in OUTPUTS {
        let event = of(EventKind::from_name(name));
        let lost = |answer: hook_core::Answer| {
            let reply = Claude.write_reply(Some(&event), Ok(&outcome(answer)), &drops);
            reply.degraded.iter().any(|text| !text.contains("no hook gave a path"))
        };
        let can = Claude.capabilities(&event);
        let stop = hook_core::Answer { stop: true, ..hook_core::Answer::default() };
        // Documented at the start of a session, and not done there.
        assert_eq!(lost(stop), !letters.contains('s') || *name == "SessionStart", "{name}");
        let input = hook_core::Answer::rewrite(json!({"a": 1}));
        assert_eq!(lost(input), *name != "PreToolUse", "{name}");
        let output = hook_core::Answer { updated_output: Some(json!(1)), ..hook_core::Answer::default() };
        assert_eq!(lost(output), *name != "PostToolUse", "{name}");
        assert_eq!(lost(hook_core::Answer::deny("no")), !can.block, "{name}");
        assert_eq!(lost(hook_core::Answer::ask("sure?")), !can.ask, "{name}");
        // Where nobody asks, silence lets the thing go on as an allow would.
        assert!(!lost(hook_core::Answer::allow()), "{name}");
    }
}
