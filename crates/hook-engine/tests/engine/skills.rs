//! Hooks of skills and subagents.

use std::sync::Arc;

use hook_engine::Hurdle;
use hook_engine::core::{Layer, Scope};
use serde_json::{Value, json};

use crate::world::{World, commands, document};

fn skill_loaded(name: &str, hooks: Value) -> Value {
    json!({"event": "skill:loaded", "data": {"skill_name": name, "skill_directory": "/skills/x", "hooks": hooks}})
}

fn amplifier_bash() -> Value {
    json!({"event": "tool:pre", "data": {"tool_name": "bash", "tool_input": {}}})
}

#[tokio::test]
async fn hooks_of_skills_run_after_files_in_the_order_of_the_first_load() {
    let world =
        World::new("amplifier", Layer::Project, json!({"PreToolUse": [{"hooks": commands(&["pass file"])}]}));
    let hooks = |line: &str| json!({"PreToolUse": [{"hooks": commands(&[line])}]});
    for (name, line) in [("one", "pass one"), ("two", "pass two"), ("one", "pass one again")] {
        world.fire("amplifier", skill_loaded(name, hooks(line))).await;
    }
    world.fire("amplifier", amplifier_bash()).await;
    assert_eq!(world.commands(), ["pass file", "pass one again", "pass two"]);
    world.fire("amplifier", json!({"event": "skill:unloaded", "data": {"skill_name": "one"}})).await;
    world.fire("amplifier", amplifier_bash()).await;
    assert_eq!(world.commands()[3..], ["pass file", "pass two"]);
    world.fire("amplifier", json!({"event": "session:end", "data": {}})).await;
    world.fire("amplifier", amplifier_bash()).await;
    assert_eq!(world.commands()[5..], ["pass file"]);
}

#[tokio::test]
async fn a_once_hook_of_an_amplifier_skill_is_spent_when_it_is_started_and_stays_so() {
    let world = World::with(Vec::new(), |builder| builder);
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "fail 1", "once": true}]}]});
    for _ in 0..2 {
        world.fire("amplifier", skill_loaded("one", hooks.clone())).await;
        world.fire("amplifier", amplifier_bash()).await;
        world.fire("amplifier", json!({"event": "skill:unloaded", "data": {"skill_name": "one"}})).await;
    }
    assert_eq!(world.commands(), ["fail 1"]);
}

#[tokio::test]
async fn what_is_wrong_with_a_loaded_skill_is_said() {
    let world = World::with(Vec::new(), |builder| builder);
    let outcome = world
        .fire("amplifier", skill_loaded("one", json!({"PreToolUse": [{"hooks": [{"type": "comand"}]}]})))
        .await;
    let notes: Vec<&str> = outcome.notes.iter().map(|note| note.text.as_str()).collect();
    assert!(notes.iter().any(|note| note.contains("SKILL.md") && note.contains("comand")), "{notes:?}");
}

#[tokio::test]
async fn hooks_of_a_subagent_run_while_it_runs() {
    let mut document =
        document("claude", Layer::Agent, json!({"PreToolUse": [{"hooks": commands(&["pass"])}]}));
    for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
        Arc::make_mut(hook).scope = Scope::Agent("reviewer".into());
    }
    let world = World::with(vec![document], |builder| builder);
    let payload = |agent: Option<&str>| json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {}, "agent_type": agent});
    for (agent, runs) in [(None, 0), (Some("planner"), 0), (Some("reviewer"), 1)] {
        let outcome = world.fire("claude", payload(agent)).await;
        assert_eq!(outcome.runs.len(), runs, "{agent:?}");
    }
}

#[tokio::test]
async fn the_hooks_of_a_claude_skill_come_into_force_when_it_is_called_or_typed() {
    let mut document =
        document("claude", Layer::Skill, json!({"PreToolUse": [{"hooks": commands(&["pass"])}]}));
    for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
        Arc::make_mut(hook).scope = Scope::Skill("review".into());
    }
    let world = World::with(vec![document], |builder| builder);
    let tool = |session: &str, event: &str, name: &str, input: Value| json!({"hook_event_name": event, "session_id": session, "tool_name": name, "tool_input": input});
    let typed = |session: &str, name: &str| json!({"hook_event_name": "UserPromptExpansion", "session_id": session, "command_name": name, "expansion_type": "slash_command"});
    let calls = [
        (tool("a", "PostToolUse", "Skill", json!({"skill": "review"})), "a", 1),
        (tool("b", "PostToolUse", "Skill", json!({"skill": "other"})), "b", 0),
        (tool("c", "PreToolUse", "Skill", json!({"skill": "review"})), "c", 0),
        (typed("d", "review"), "d", 1),
        (typed("e", "/tools:review"), "e", 1),
    ];
    for (call, session, runs) in calls {
        world.fire("claude", call).await;
        let outcome = world.fire("claude", tool(session, "PreToolUse", "Bash", json!({}))).await;
        assert_eq!(outcome.runs.len(), runs, "{session}");
    }
}

#[tokio::test]
async fn a_skill_whose_hooks_the_agent_sends_along_does_not_run_those_of_its_file_as_well() {
    let mut document =
        document("amplifier", Layer::Skill, json!({"PreToolUse": [{"hooks": commands(&["pass file"])}]}));
    for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
        Arc::make_mut(hook).scope = Scope::Skill("one".into());
    }
    let world = World::with(vec![document], |builder| builder);
    world
        .fire("amplifier", skill_loaded("one", json!({"PreToolUse": [{"hooks": commands(&["pass sent"])}]})))
        .await;
    world.fire("amplifier", amplifier_bash()).await;
    assert_eq!(world.commands(), ["pass sent"]);
    let incoming = world.read("amplifier", amplifier_bash());
    let explained = world.engine.explain(&incoming.events[0]);
    let hurdles: Vec<_> = explained.iter().map(|one| (one.hook.handler.summary(), one.hurdle)).collect();
    assert_eq!(hurdles, [("pass file".to_owned(), Some(Hurdle::Scope)), ("pass sent".to_owned(), None)]);
}
