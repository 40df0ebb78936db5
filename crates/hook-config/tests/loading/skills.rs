//! Where skills, slash commands and subagents are found, and when their hooks are in force.

use hook_config::{LoadRequest, Loaded, check_file, lint, load};
use hook_core::{DialectId, Layer, Scope};
use hook_mapper::Dialects;
use serde_json::Value;

use crate::common::*;

/// A Markdown file with one hook.
fn file(name: &str, event: &str, command: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: d\nhooks:\n  {event}:\n    - hooks:\n        - type: command\n          command: {command}\n---\n"
    )
}

/// `scope: hook` of every hook.
fn scopes(loaded: &Loaded) -> Vec<String> {
    let scope = |scope: &Scope| match scope {
        Scope::Skill(name) => format!("skill {name}"),
        Scope::Agent(name) => format!("agent {name}"),
        _ => "always".to_owned(),
    };
    loaded.hooks().map(|hook| format!("{}: {}", scope(&hook.scope), line(hook))).collect()
}

fn with_skills(files: &hook_core::MemoryFiles, from: &[&'static str], skills: &[&str]) -> Loaded {
    let (host, dialects) = (host(), Dialects::standard());
    let mut request = LoadRequest::new(&host, files, &dialects);
    request.own_files_of = from.iter().map(|id| DialectId(id)).collect();
    request.skills = skills.iter().map(Into::into).collect();
    load(&request)
}

#[test]
fn skills_commands_and_subagents_wait_in_their_places() {
    let files = tree([
        ("~/.claude/skills/both/SKILL.md", file("both", "Stop", "user")),
        (".claude/skills/both/SKILL.md", file("both", "Stop", "project")),
        (".claude/skills/own/SKILL.md", file("renamed", "Stop", "own")),
        (".claude/skills/none/SKILL.md", "---\nname: none\ndescription: d\n---\n".to_owned()),
        (".claude/skills/not-a-skill.md", file("x", "Stop", "x")),
        (".claude/commands/own.md", file("own", "Stop", "shadowed")),
        (
            ".claude/commands/deep/er/fix.md",
            "---\nhooks: {Stop: [{hooks: [{type: command, command: fix}]}]}\n---\n".to_owned(),
        ),
        (".claude/commands/plain.md", "Just text.\n".to_owned()),
        (".claude/agents/reviewer.md", file("reviewer", "Stop", "stop")),
        ("~/.claude/agents/reviewer.md", file("reviewer", "Stop", "shadowed")),
        (".claude/agents/notes.txt", "x".to_owned()),
    ]);
    let loaded = load_from(&files, &["claude"], Value::Null);
    let wanted = [
        "skill both: Stop - user",
        "skill renamed: Stop - own",
        "skill fix: Stop - fix",
        "agent reviewer: SubagentStop - stop",
    ];
    assert_eq!((scopes(&loaded), found(&loaded)), (wanted.map(str::to_owned).to_vec(), Vec::new()));
    let layers: Vec<Layer> = loaded.documents.iter().map(|document| document.layer).collect();
    assert_eq!(layers, [Layer::Skill, Layer::Skill, Layer::Skill, Layer::Agent]);
    assert_eq!(
        loaded.hooks().next().unwrap().origin.to_string(),
        "/home/u/.claude/skills/both/SKILL.md:7:11"
    );
    assert_eq!(scopes(&load_from(&files, &[], Value::Null)), [""; 0]);
}

#[test]
fn skills_of_the_other_agent_are_listed_and_wait_for_its_message() {
    let files = tree([
        (".amplifier/skills/sec/SKILL.md", file("sec", "PreToolUse", "./check.sh")),
        ("~/.amplifier/skills/sec/SKILL.md", file("sec", "PreToolUse", "shadowed")),
        (
            ".amplifier/agents/zen.md",
            "---\nmeta:\n  name: zen\nhooks: {PreToolUse: [{hooks: [{command: zen}]}]}\n---\n".to_owned(),
        ),
        (".amplifier/hooks/hooks.json", r#"{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}"#.to_owned()),
    ]);
    let loaded = load_from(&files, &[], Value::Null);
    let wanted = [
        "always: Stop - x",
        "skill sec: PreToolUse - /p/.amplifier/skills/sec/check.sh",
        "agent zen: PreToolUse - zen",
    ];
    assert_eq!((scopes(&loaded), found(&loaded)), (wanted.map(str::to_owned).to_vec(), Vec::new()));
}

#[test]
fn plugins_bring_skills_and_commands_but_no_hooks_of_subagents() {
    let files = tree([
        (".claude-plugin/plugin.json", r#"{"name": "plug"}"#.to_owned()),
        ("skills/lint/SKILL.md", file("lint", "Stop", "\"$CLAUDE_PLUGIN_ROOT/x.sh\"")),
        ("commands/go.md", file("go", "Stop", "go")),
        ("agents/critic.md", file("critic", "Stop", "never")),
        ("agents/calm.md", "---\nname: calm\ndescription: d\n---\n".to_owned()),
        ("x.sh", "#!/bin/sh\n".to_owned()),
    ]);
    let loaded = load_from(&files, &["claude"], Value::Null);
    assert_eq!(
        (scopes(&loaded), found(&loaded)),
        (
            vec![
                "skill plug:lint: Stop - $CLAUDE_PLUGIN_ROOT/x.sh".to_owned(),
                "skill plug:go: Stop - go".to_owned()
            ],
            vec!["hooks-of-plugin-agent /hooks".to_owned()]
        )
    );
    let finding = loaded.diagnostics[0].location().unwrap();
    assert_eq!(finding.to_string(), "/p/agents/critic.md:7:11");
    // The placeholder means the plugin, not the skill.
    assert_eq!(loaded.documents[0].root.as_deref(), Some(std::path::Path::new("/p")));
}

#[test]
fn switches_of_the_settings_reach_frontmatter_too() {
    let managed = "/etc/claude-code/managed-settings.json";
    let table = [
        ("{}", ["x:y", "plug:y", "agent"]),
        (r#"{"disableAllHooks": true}"#, ["", "", ""]),
        (r#"{"allowManagedHooksOnly": true}"#, ["", "", ""]),
        (r#"{"strictPluginOnlyCustomization": ["hooks"]}"#, ["", "plug:y", ""]),
    ];
    for (settings, wanted) in table {
        let files = tree([
            (managed, settings.to_owned()),
            (".claude-plugin/plugin.json", r#"{"name": "plug"}"#.to_owned()),
            // A name that looks like one of a plugin opens nothing.
            (".claude/skills/y/SKILL.md", file("\"x:y\"", "Stop", "a")),
            ("skills/y/SKILL.md", file("y", "Stop", "a")),
            (".claude/agents/agent.md", file("agent", "Stop", "a")),
        ]);
        let loaded = load_from(&files, &["claude"], Value::Null);
        let on: Vec<&str> = loaded
            .documents
            .iter()
            .filter(|document| document.layer != Layer::Managed)
            .map(|document| match document.bindings[0].hooks[0].enabled {
                true => document.source.as_deref().unwrap_or_default(),
                false => "",
            })
            .collect();
        assert_eq!(on, wanted, "{settings}");
    }
}

#[test]
fn a_skill_that_was_asked_for_is_in_force_at_once_and_once() {
    let files = tree([
        ("skills/a/SKILL.md", file("a", "Stop", "./a.sh")),
        ("skills/b/SKILL.md", file("b", "Stop", "b")),
        (".claude/skills/c/SKILL.md", file("c", "Stop", "./c.sh")),
        ("empty/other.md", String::new()),
    ]);
    let asked = ["/p/skills/a", "/p/skills/a/SKILL.md", "/p/.claude/skills/c", "/p/empty", "/p/gone"];
    let loaded = with_skills(&files, &[], &asked);
    let wanted = ["always: Stop - /p/skills/a/a.sh", "always: Stop - ./c.sh"];
    assert_eq!(
        (scopes(&loaded), found(&loaded)),
        (wanted.map(str::to_owned).to_vec(), vec!["unreadable-file -".to_owned(); 2])
    );
    assert_eq!(loaded.documents[0].dialect, DialectId::NATIVE);
    assert_eq!(loaded.documents[1].dialect, DialectId("claude"));
    assert_eq!(loaded.diagnostics[0].file.as_deref(), Some(std::path::Path::new("/p/empty/SKILL.md")));

    let loaded = with_skills(&files, &["claude"], &["/p/.claude/skills/c"]);
    assert_eq!(scopes(&loaded), ["always: Stop - ./c.sh"]);
}

#[test]
fn a_markdown_file_can_be_checked_by_its_path() {
    let table: &[(&str, &str, Layer, &str)] = &[
        ("/p/skills/x/SKILL.md", "native", Layer::Skill, "Stop"),
        ("/p/.hooks/skills/x/SKILL.md", "native", Layer::Skill, "Stop"),
        ("/p/.amplifier/skills/x/SKILL.md", "amplifier", Layer::Skill, "Stop"),
        ("/p/.claude/skills/x/SKILL.md", "claude", Layer::Skill, "Stop"),
        ("/p/agents/.claude/commands/x.md", "claude", Layer::Skill, "Stop"),
        ("/p/.claude/agents/x/y.md", "claude", Layer::Agent, "SubagentStop"),
    ];
    for (path, dialect, layer, event) in table {
        let files = tree([(path, file("x", "Stop", "c"))]);
        let loaded = check_file(std::path::Path::new(path), None, &files, &Dialects::standard());
        let [document] = loaded.documents.as_slice() else { panic!("{path}") };
        assert_eq!((document.dialect.0, document.layer), (*dialect, *layer), "{path}");
        assert_eq!(hooks(&loaded), [format!("{event} - c")], "{path}");
    }
}

/// What is said of a command points into the Markdown file, whatever became of the command.
#[test]
fn commands_are_looked_at_where_they_were_written() {
    let block = "|\n            true\n            cat \"$CLAUDE_SKILL_DIR/x\" '$HOOK_ROOT'\n";
    let table: &[(&str, &[&str])] = &[
        ("./a.sh", &["missing-script 8:20"]),
        ("bash ./a.sh ", &["missing-script 8:25"]),
        ("\"bash $HOOK_ROOT/b.sh\"", &["unquoted-placeholder 8:26"]),
        ("bash \"$CLAUDE_SKILL_DIR/b.sh\"", &["unknown-placeholder 8:26"]),
        (block, &["unknown-placeholder 10:18", "placeholder-in-single-quotes 10:40"]),
    ];
    for (command, wanted) in table {
        let files =
            tree([("skills/x/SKILL.md", file("x", "Stop", command)), ("skills/x/b.sh", "true\n".to_owned())]);
        let (host, dialects) = (host(), Dialects::standard());
        let mut request = LoadRequest::new(&host, &files, &dialects);
        request.skills.push("/p/skills/x".into());
        let loaded = load(&request);
        assert_eq!(found(&loaded), [""; 0], "{command}");
        let seen: Vec<String> = lint(&loaded, &files, &host, &dialects)
            .iter()
            .map(|finding| {
                let place = finding.location().unwrap();
                format!("{} {}:{}", finding.code.slug(), place.line, place.column)
            })
            .collect();
        assert_eq!(seen, *wanted, "{command}");
    }
}

#[test]
fn a_directory_that_links_to_itself_is_read_once() {
    let place = tempfile::tempdir().unwrap();
    let agents = place.path().join(".claude/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(agents.join("a.md"), file("a", "Stop", "a")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&agents, agents.join("again")).unwrap();
    let (host, dialects) = (hook_core::HostContext::new(place.path()), Dialects::standard());
    let mut request = LoadRequest::new(&host, &hook_config::StdFiles, &dialects);
    request.own_files_of.push(DialectId("claude"));
    assert_eq!(scopes(&load(&request)), ["agent a: SubagentStop - a"]);
}
