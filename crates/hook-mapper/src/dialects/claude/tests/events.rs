//! The input of each of the 33 events: read, and written again.

use std::path::PathBuf;

use hook_core::{DialectId, EventKind};
use serde_json::{Value, json};

use super::{Bench, Claude, all_33, fired};
use crate::dialects::testing::holds;

/// Event, its own input, what matchers see, the sub-kind, the files.
type Input = (&'static str, Value, Option<&'static str>, Option<&'static str>, &'static [&'static str]);

fn inputs() -> Vec<Input> {
    let tool = |mut more: Value| {
        for (key, value) in [("tool_name", json!("Write")), ("tool_input", json!({"file_path": "/a"}))] {
            more[key] = value;
        }
        more
    };
    let start = json!({"source": "resume", "model": "m", "agent_type": "reviewer", "session_title": "t",
        "seconds_since_last_response": 5, "context_tokens": 9, "prompt_cache_likely_expired": true,
        "estimated_cache_write_usd": 0.5});
    let loaded = json!({"file_path": "/p/CLAUDE.md", "memory_type": "Project", "load_reason": "include",
        "globs": ["*.ts"], "trigger_file_path": "/p/a.ts", "parent_file_path": "/p/x.md"});
    let typed = json!({"expansion_type": "slash_command", "command_name": "deploy", "command_args": "prod",
        "command_source": "projectSettings", "prompt": "/deploy prod"});
    let request = json!({"permission_suggestions": [{"type": "setMode"}], "mcp_server": {"name": "s"}});
    let batch = json!({"tool_calls": [{"tool_name": "Read", "tool_input": {"file_path": "b"}, "tool_use_id": "u",
        "tool_response": "text"}]});
    let subagent = json!({"agent_id": "a1", "agent_type": "kit:reviewer"});
    let stopped = json!({"agent_id": "a1", "agent_type": "Explore", "stop_hook_active": true,
        "agent_transcript_path": "/t2", "last_assistant_message": "done", "background_tasks": [], "session_crons": []});
    let task = json!({"task_id": "1", "task_subject": "s", "task_description": "d", "teammate_name": "n",
        "team_name": "x", "agent_id": "a1"});
    let switch = |source: &str| {
        json!({"from_model": "claude-haiku-4-5", "to_model": "claude-opus-4-6[1m]", "requested_model": "opus",
            "source": source, "context_tokens": 10, "prompt_cache_warm": true, "cache_ttl": "5m",
            "estimated_cache_write_usd": 0.1, "pricing": "catalog"})
    };
    vec![
        ("SessionStart", start, Some("resume"), Some("resume"), &[]),
        ("Setup", json!({"trigger": "init"}), Some("init"), Some("init"), &[]),
        ("InstructionsLoaded", loaded, Some("include"), Some("include"), &["/p/CLAUDE.md"]),
        ("UserPromptSubmit", json!({"prompt": "hi", "session_title": "t"}), None, None, &[]),
        ("UserPromptExpansion", typed, Some("deploy"), Some("slash_command"), &[]),
        (
            "MessageDisplay",
            json!({"turn_id": "t", "message_id": "m", "index": 0, "final": true, "delta": "x"}),
            None,
            None,
            &[],
        ),
        ("PreToolUse", tool(json!({"tool_use_id": "u", "mcp_server": {"name": "s"}})), None, None, &["/a"]),
        ("PermissionRequest", tool(request), None, None, &["/a"]),
        ("PermissionDenied", tool(json!({"tool_use_id": "u", "reason": "no"})), None, None, &["/a"]),
        (
            "PostToolUse",
            tool(json!({"tool_use_id": "u", "tool_response": {"type": "create"}, "duration_ms": 7})),
            None,
            None,
            &["/a"],
        ),
        (
            "PostToolUseFailure",
            tool(
                json!({"tool_use_id": "u", "error": "Exit code 3", "is_interrupt": false, "duration_ms": 7}),
            ),
            None,
            None,
            &["/a"],
        ),
        ("PostToolBatch", batch, None, None, &["b"]),
        (
            "Notification",
            json!({"message": "m", "title": "t", "notification_type": "idle_prompt"}),
            Some("idle_prompt"),
            Some("idle_prompt"),
            &[],
        ),
        ("SubagentStart", subagent, Some("kit:reviewer"), Some("kit:reviewer"), &[]),
        ("SubagentStop", stopped, Some("Explore"), Some("Explore"), &[]),
        ("TaskCreated", task.clone(), None, None, &[]),
        ("TaskCompleted", task, None, None, &[]),
        (
            "Stop",
            json!({"stop_hook_active": false, "last_assistant_message": "done", "background_tasks": [], "session_crons": []}),
            None,
            None,
            &[],
        ),
        (
            "StopFailure",
            json!({"error": "rate_limit", "error_details": "429", "last_assistant_message": "e"}),
            Some("rate_limit"),
            Some("rate_limit"),
            &[],
        ),
        ("TeammateIdle", json!({"teammate_name": "n", "team_name": "x", "agent_id": "a1"}), None, None, &[]),
        (
            "ConfigChange",
            json!({"source": "project_settings", "file_path": "/p/s.json"}),
            Some("project_settings"),
            Some("project_settings"),
            &["/p/s.json"],
        ),
        ("CwdChanged", json!({"old_cwd": "/a", "new_cwd": "/b"}), None, None, &["/b"]),
        (
            "DirectoryAdded",
            json!({"directory": "/d", "source": "slash_command"}),
            Some("slash_command"),
            Some("slash_command"),
            &["/d"],
        ),
        (
            "FileChanged",
            json!({"file_path": "/p/.env", "event": "add"}),
            Some(".env"),
            Some("add"),
            &["/p/.env"],
        ),
        ("WorktreeCreate", json!({"name": "wt"}), None, None, &[]),
        ("WorktreeRemove", json!({"worktree_path": "/wt"}), None, None, &["/wt"]),
        (
            "PreCompact",
            json!({"trigger": "manual", "custom_instructions": "short"}),
            Some("manual"),
            Some("manual"),
            &[],
        ),
        ("PostCompact", json!({"trigger": "auto", "compact_summary": "s"}), Some("auto"), Some("auto"), &[]),
        ("PreModelSwitch", switch("picker"), Some("claude-opus-4-6"), Some("picker"), &[]),
        ("PostModelSwitch", switch("auto"), Some("claude-opus-4-6"), Some("auto"), &[]),
        ("SessionEnd", json!({"reason": "other"}), Some("other"), Some("other"), &[]),
        (
            "Elicitation",
            json!({"mcp_server_name": "s", "message": "m", "mode": "form", "url": "u", "elicitation_id": "e",
                "requested_schema": {}}),
            Some("s"),
            Some("form"),
            &[],
        ),
        (
            "ElicitationResult",
            json!({"mcp_server_name": "s", "action": "accept", "content": {"a": 1}, "mode": "form", "elicitation_id": "e"}),
            Some("s"),
            Some("accept"),
            &[],
        ),
    ]
}

#[test]
fn every_input_is_read_and_written_again_for_hooks_of_this_dialect_under_another_agent() {
    all_33(inputs().iter().map(|row| row.0));
    for (name, mut payload, subject, variant, paths) in inputs() {
        let common = json!({
            "hook_event_name": name, "session_id": "s", "transcript_path": "/t", "cwd": "/w", "permission_mode": "plan",
            "prompt_id": "p", "effort": {"level": "high"}, "scratchpad_dir": "/scratch"
        });
        for (key, value) in common.as_object().unwrap() {
            payload[key] = value.clone();
        }
        let mut event = fired(payload.clone());
        assert_eq!(event.subject.as_deref(), subject, "{name}");
        assert_eq!(event.variant.as_deref(), variant, "{name}");
        assert_eq!(event.paths, paths.iter().map(PathBuf::from).collect::<Vec<_>>(), "{name}");
        let session = &event.session;
        assert_eq!(
            (session.id.as_deref(), session.transcript.as_deref(), session.permission_mode.as_deref()),
            (Some("s"), Some("/t"), Some("plan"))
        );
        assert_eq!((session.prompt_id.as_deref(), session.effort.as_deref()), (Some("p"), Some("high")));
        assert_eq!(session.scratchpad, Some("/scratch".into()));
        assert_eq!(event.tool.is_some(), payload.get("tool_name").is_some(), "{name}");

        event.dialect = DialectId("elsewhere");
        assert_eq!(Bench::new(&Claude).stdin(&event), payload, "{name}");
        // A host that knows the parts only says as much.
        let known = event.variant.clone();
        event.fields.clear();
        if let (Some(field), Some(known)) = (super::super::profile::variant_field(&event.kind), known)
            && event.kind != EventKind::FileChanged
        {
            holds(name, &Bench::new(&Claude).stdin(&event), &json!({"prompt_id": "p", field: known}));
        }
    }
}

#[test]
fn what_a_model_is_called_for_matchers() {
    for (model, subject) in [
        ("claude-opus-4-6", Some("claude-opus-4-6")),
        ("claude-opus-4-6[1m]", Some("claude-opus-4-6")),
        ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
        ("claude-sonnet-4-5-20250929[1m]", Some("claude-sonnet-4-5")),
        ("opus", None),
        ("us.anthropic.claude-opus-4-6-v1:0", None),
        ("claude-opus-4-6@20260101", None),
        ("my-deployment", None),
        ("", None),
    ] {
        for name in ["PreModelSwitch", "PostModelSwitch"] {
            let event = fired(json!({"hook_event_name": name, "to_model": model}));
            assert_eq!(event.subject.as_deref(), subject, "{name} {model}");
            assert_eq!(event.match_values().count(), usize::from(subject.is_some()), "{name} {model}");
        }
    }
}
