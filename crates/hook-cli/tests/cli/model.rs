//! Prompt hooks of the built command, which asks the model of the settings.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::http::server;
use crate::place::{Place, Said, feed};

const KEY: &str = "sk-s3cret-1";
const RUN: &[&str] = &["run", "PreToolUse", "--tool", "Bash", "--input", r#"{"command": "rm -rf /"}"#];

fn place(handler: Value, model: Value) -> Place {
    let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}});
    let settings = json!({"settings": {"model": model}});
    Place::new()
        .with(".hooks/hooks.json", &format!("{hooks:#}"))
        .with_home(".config/hook/hooks.json", &format!("{settings:#}"))
}

fn anthropic(url: &str) -> Value {
    json!({"provider": "anthropic", "model": "m-1", "baseUrl": url, "apiKeyEnv": "MODEL_KEY"})
}

fn prompt(more: Value) -> Value {
    let mut handler = json!({"type": "prompt", "prompt": "Is this safe? $ARGUMENTS"});
    handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    handler
}

/// The command with the key in its environment; the key is nowhere in what it says.
fn hook(place: &Place, arguments: &[&str], input: &str) -> Said {
    let mut command = place.command();
    command.args(arguments).env("MODEL_KEY", KEY);
    let said = feed(command, input.as_bytes());
    assert!(!format!("{said:?}").contains(KEY), "{said:#?}");
    said
}

fn verdict() -> String {
    json!({"content": [{"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "text", "text": r#"{"ok": false, "reason": "it deletes everything"}"#}]})
    .to_string()
}

#[test]
fn a_model_denies_a_call_and_the_command_says_where_and_why() {
    let (url, got) = server(200, &verdict());
    let place = place(prompt(json!({})), anthropic(&url));
    hook(&place, RUN, "").exits(3).shows(&["deny: it deletes everything", ".hooks/hooks.json:7:11"]);
    let (head, body) = got.recv().unwrap();
    assert!(head.starts_with("POST /v1/messages ") && head.contains(KEY), "{head}");
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["model"], "m-1");
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("rm -rf /"), "{body}");
    for arguments in [
        &["run", "--json", "PreToolUse", "--tool", "Bash"][..],
        &["explain", "--run", "--json", "PreToolUse", "--tool", "Bash"],
        &["list", "--json"],
        &["check"],
    ] {
        hook(&place, arguments, "");
    }
}

#[test]
fn an_agent_gets_the_verdict_of_a_local_server_in_its_own_words() {
    let reply = json!({"choices": [{"message": {"content": r#"{"ok": false, "reason": "no"}"#}}]});
    let (url, got) = server(200, &reply.to_string());
    let local = json!({"provider": "openai-compatible", "model": "m-1", "baseUrl": format!("{url}/v1")});
    let place = place(prompt(json!({})), local);
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": place.project(),
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let said = hook(&place, &["dispatch", "--agent", "claude"], &payload.to_string());
    assert_eq!(said.exits(0).json()["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(got.recv().unwrap().0.starts_with("POST /v1/chat/completions "));
}

#[test]
fn troubles_are_told_and_hold_back_where_the_author_said_so() {
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let refused =
        json!({"error": {"type": "authentication_error", "message": format!("invalid x-api-key {KEY}")}});
    for (url, told) in [
        (server(401, &refused.to_string()).0, "status 401: invalid x-api-key [key]"),
        (server(500, "oops").0, "status 500"),
        (server(200, "<html>").0, "is no JSON"),
        (server(200, r#"{"content": []}"#).0, "Empty provider response"),
        (format!("http://{}", slow.local_addr().unwrap()), "did not answer within 1s"),
    ] {
        let open = place(prompt(json!({"timeout": 1})), anthropic(&url));
        hook(&open, RUN, "").exits(0).shows(&[told, ".hooks/hooks.json:7:11"]);
        let closed = place(prompt(json!({"timeout": 1, "onFailure": "block"})), anthropic(&url));
        hook(&closed, RUN, "").exits(3).shows(&[told, "deny"]);
    }
    let without = place(prompt(json!({})), anthropic("http://127.0.0.1:9"));
    without.hook(RUN).exits(0).shows(&["the variable MODEL_KEY", "is not set"]);
}

#[test]
fn without_a_model_the_command_says_how_to_name_one() {
    let hooks = json!({"hooks": {"PreToolUse": [{"hooks": [prompt(json!({}))]}]}}).to_string();
    let said = Place::new().with(".hooks/hooks.json", &hooks).hook(RUN);
    said.exits(0).shows(&["no model is configured", "`settings.model`", ".config/hook/hooks.json"]);
    let place = Place::new().with(".hooks/hooks.json", &hooks);
    let mut command = place.command();
    command.args(RUN).env("XDG_CONFIG_HOME", "/elsewhere");
    feed(command, b"").exits(0).shows(&["/elsewhere/hook/hooks.json"]);
}

#[test]
fn a_model_that_cannot_be_used_fails_its_hooks() {
    let broken = json!({"provider": "anthropic", "model": "m-1"});
    let open = place(prompt(json!({})), broken.clone());
    let said = hook(&open, RUN, "");
    said.exits(0).shows(&["the model of the settings cannot be used"]);
    assert_eq!(said.stdout.matches("cannot be used").count(), 1, "said twice: {}", said.stdout);
    let closed = place(prompt(json!({"onFailure": "block"})), broken);
    hook(&closed, RUN, "").exits(3).shows(&["the model of the settings cannot be used"]);
}

/// People paste the key where the name of its variable belongs; the excerpt of a finding would print it.
#[test]
fn a_key_in_the_settings_is_found_and_not_shown() {
    let mut wrong = anthropic("http://127.0.0.1:9");
    wrong["apiKeyEnv"] = KEY.into();
    let mut extra = anthropic("http://127.0.0.1:9");
    extra["apiKey"] = KEY.into();
    for (model, told) in [(wrong, "model-unusable"), (extra, "unknown-field")] {
        let place = place(prompt(json!({})), model);
        for arguments in [&["check"][..], &["check", "--json"]] {
            let said = hook(&place, arguments, "");
            assert!(format!("{said:?}").contains(told), "{said:#?}");
        }
        hook(&place, RUN, "");
    }
}

#[test]
fn hooks_that_nobody_runs_looked_like_any_other_in_lists_and_checks() {
    let agent = json!({"type": "agent", "prompt": "Look"});
    let off = json!({"type": "agent", "prompt": "Off", "enabled": false});
    let hooks = json!({"hooks": {"PreToolUse": [{"hooks": [prompt(json!({})), agent, off]}]}});
    let bare = Place::new().with(".hooks/hooks.json", &hooks.to_string());
    let (no_model, no_agent) = ("no model is configured", "nothing here runs handlers of type agent");

    let told = |said: &Said| said.stdout.matches("nobody-runs").count();
    assert_eq!(told(bare.hook(&["check"]).exits(0).shows(&[no_model, no_agent])), 2);
    bare.hook(&["list"]).exits(0).shows(&[no_model, no_agent]);
    let listed = bare.hook(&["list", "--json"]).exits(0).json();
    assert!(listed[0]["nobody_runs"].as_str().unwrap().contains(no_model), "{listed}");
    for verb in ["explain", "run"] {
        bare.hook(&[verb, "PreToolUse", "--tool", "Bash"]).exits(0).shows(&[no_model, no_agent]);
    }
    // Which model the users of a file have, its path does not tell.
    assert_eq!(told(bare.hook(&["check", ".hooks/hooks.json"]).exits(0).shows(&[no_agent])), 1);

    let served = place(prompt(json!({})), anthropic("http://127.0.0.1:9"));
    assert_eq!(told(hook(&served, &["check"], "").exits(0)), 0);
    let listed = hook(&served, &["list", "--json"], "").exits(0).json();
    assert_eq!(listed[0]["nobody_runs"], Value::Null);
}
