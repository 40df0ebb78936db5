//! Hooks in the frontmatter of one file: what is read, what is found, and where.

use hook_config::{DocumentSpec, Parsed, parse, skill_document};
use hook_core::{DialectId, Layer, Scope};
use hook_mapper::Dialects;
use serde_json::json;

use crate::common::*;

const HEAD: &str = "name: x\ndescription: d\n";

/// A skill of this dialect, read alone.
fn skill(dialect: &'static str, bytes: impl AsRef<[u8]>) -> Parsed {
    let spec = DocumentSpec::new("/p/skills/x/SKILL.md", DialectId(dialect), Layer::Skill);
    parse(bytes.as_ref(), &spec.of_source("/p/skills/x", "x"), &Dialects::standard())
}

fn lines(parsed: &Parsed) -> Vec<String> {
    let bindings = parsed.document.iter().flat_map(|document| &document.bindings);
    bindings.flat_map(|binding| &binding.hooks).map(|hook| line(hook)).collect()
}

/// `slug severity line:column`
fn findings(parsed: &Parsed) -> Vec<String> {
    let place = |finding: &hook_core::Diagnostic| {
        finding.location().map(|place| format!("{}:{}", place.line, place.column)).unwrap_or_default()
    };
    let all = parsed.diagnostics.iter();
    all.map(|finding| format!("{} {} {}", finding.code.slug(), finding.severity.name(), place(finding)))
        .collect()
}

/// What follows name and description in the frontmatter, the hooks, and what is found.
#[test]
fn hooks_are_read_as_in_a_hook_file() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("", &[], &[]),
        (
            "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: a b\n",
            &["PreToolUse Bash a b"],
            &[],
        ),
        ("hooks: {Stop: [{hooks: [{type: command, command: 'a'}]}]}\n", &["Stop - a"], &[]),
        (
            "\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"a\"}]}]}\n",
            &["Stop - a"],
            &[],
        ),
        (
            "hooks:\n  Stop:\n  - hooks:\n    - command: |\n        one\n        two\n      # why\n      timeout: 5 # s\n",
            &["Stop - one\ntwo\n"],
            &[],
        ),
        (
            "hooks:\n  PreToolUse:\n    - matcher: no\n      hooks: [{command: a}]\n",
            &["PreToolUse no a"],
            &[],
        ),
        ("x: &h {command: a}\nhooks:\n  Stop: [{hooks: [*h, *h]}]\n", &["Stop - a", "Stop - a"], &[]),
        ("hooks: {}\n", &[], &[]),
        ("hooks:\n", &[], &["hooks-not-an-object warning 4:1"]),
        ("hooks: yes\n", &[], &["hooks-not-an-object error 4:8"]),
        (
            "hooks:\n  Stop: [{hooks: [{command: a, once: yes}]}]\n",
            &["Stop - a"],
            &["wrong-type warning 5:38"],
        ),
        (
            "hooks:\n  Stop:\n    - hooks:\n        - command: a\n          command: b\n",
            &["Stop - b"],
            &["duplicate-key warning 8:11"],
        ),
        (
            "hooks:\n  PreToolUse:\n    - matcher: 5\n      hooks: [{command: a}]\n  Stop: [{hooks: [{command: b}]}]\n",
            &["Stop - b"],
            &["matcher-not-a-string error 6:16"],
        ),
        (
            "hooks:\n  PreToolUsed: [{hooks: [{command: a}]}]\n  Stop: [{hooks: [{command: b}, 5]}]\n",
            &["Stop - b"],
            &["unknown-event warning 5:3", "entry-not-an-object error 6:33"],
        ),
        (
            "hooks:\n  Stop: [{hooks: [{type: command}]}]\n",
            &["!Stop - "],
            &["missing-field error 5:19", "none-loaded error 4:1"],
        ),
        // A mistake elsewhere costs no hooks, one in them does.
        (
            "when: use it: now\nhooks:\n  Stop: [{hooks: [{command: a}]}]\n",
            &["Stop - a"],
            &["invalid-yaml warning 4:13"],
        ),
        (
            "hooks:\n  Stop: [{hooks: [{command: a}]}]\ntools: *\n",
            &["Stop - a"],
            &["invalid-yaml warning 6:8"],
        ),
        (
            "hooks:\n  PreToolUse:\n    - matcher: *\n      hooks: [{command: a}]\n",
            &[],
            &["invalid-yaml error 6:16"],
        ),
        ("hooks:\n  Stop:\n\t- hooks: []\n", &[], &["invalid-yaml error 6:1"]),
        ("a: `b`\nhooks:\n  Stop: *\n", &[], &["invalid-yaml warning 4:4", "invalid-yaml error 6:9"]),
    ];
    for (yaml, wanted, found) in table {
        for ends in ["\n", "\r\n"] {
            let text = format!("---\n{HEAD}{yaml}---\nbody\n").replace('\n', ends);
            for dialect in ["native", "amplifier"] {
                let parsed = skill(dialect, &text);
                assert_eq!(
                    (lines(&parsed), findings(&parsed)),
                    (owned(wanted), owned(found)),
                    "{dialect} {text:?}"
                );
            }
        }
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn the_frontmatter_is_what_stands_between_two_rules_at_the_top() {
    let hooks = "hooks: {Stop: [{hooks: [{command: a}]}]}";
    let table: &[(String, &[&str], &[&str])] = &[
        (format!("---\n{HEAD}{hooks}\n---"), &["Stop - a"], &[]),
        (format!("---  \n{HEAD}{hooks}\n--- \nbody\n---\nmore: [\n"), &["Stop - a"], &[]),
        (format!("\u{feff}---\n{HEAD}{hooks}\n---\n"), &["Stop - a"], &["bom warning 1:1"]),
        (format!("---\n{HEAD}{hooks}\n...\n---\n"), &["Stop - a"], &[]),
        (format!("---\n{HEAD}{hooks}\n"), &[], &["frontmatter-not-closed error 1:1"]),
        (format!("---\n{HEAD}{hooks}\n----\n"), &[], &["frontmatter-not-closed error 1:1"]),
        ("---\nA line above a text.\n".to_owned(), &[], &["frontmatter-not-closed warning 1:1"]),
        ("---".to_owned(), &[], &["frontmatter-not-closed warning 1:1"]),
        (
            format!("\n---\n{HEAD}{hooks}\n---\n"),
            &[],
            &["skill-field-missing warning 1:1", "skill-field-missing warning 1:1"],
        ),
        (String::new(), &[], &["skill-field-missing warning 1:1", "skill-field-missing warning 1:1"]),
        (
            "---\n---\n".to_owned(),
            &[],
            &["skill-field-missing warning 1:1", "skill-field-missing warning 1:1"],
        ),
        (format!("---\ndescription: d\n{hooks}\n---\n"), &["Stop - a"], &["skill-field-missing warning 1:1"]),
        (
            format!("---\nname: ''\ndescription: d\n{hooks}\n---\n"),
            &["Stop - a"],
            &["skill-field-missing warning 1:1"],
        ),
        ("---\nname: x\n---\n".to_owned(), &[], &["skill-field-missing warning 1:1"]),
        (
            "---\n- hooks\n---\n".to_owned(),
            &[],
            &[
                "not-an-object warning 2:1",
                "skill-field-missing warning 1:1",
                "skill-field-missing warning 1:1",
            ],
        ),
    ];
    for (text, wanted, found) in table {
        let parsed = skill("native", text);
        assert_eq!((lines(&parsed), findings(&parsed)), (owned(wanted), owned(found)), "{text:?}");
    }
}

#[test]
fn the_body_may_be_anything_and_the_frontmatter_not() {
    let mut bytes = format!("---\n{HEAD}hooks: {{Stop: [{{hooks: [{{command: a}}]}}]}}\n---\n").into_bytes();
    let whole = bytes.len();
    bytes.extend(b"caf\xe9\n".repeat(1 << 18));
    let parsed = skill("native", &bytes);
    assert_eq!((lines(&parsed), findings(&parsed)), (owned(&["Stop - a"]), Vec::new()));
    assert!(parsed.source.text.len() <= whole);

    let parsed = skill("native", b"---\nname: caf\xe9\nhooks: {}\n---\n");
    assert_eq!((lines(&parsed).len(), findings(&parsed)), (0, owned(&["not-utf8 error 2:10"])));

    let long = format!(
        "---\n{HEAD}# {}\nhooks: {{Stop: [{{hooks: [{{command: a}}]}}]}}\n---\n",
        "x".repeat(1 << 20)
    );
    assert_eq!(lines(&skill("native", long)), ["Stop - a"]);
}

#[test]
fn a_list_of_hooks_is_refused_with_the_right_form() {
    let yaml =
        "hooks:\n  - event: PreToolUse\n    matcher: Bash\n    command: ./check.sh \"a\"\n  - event: Stop\n";
    let parsed = skill("amplifier", format!("---\n{HEAD}{yaml}---\n"));
    assert_eq!((lines(&parsed).len(), findings(&parsed)), (0, owned(&["hooks-not-an-object error 5:3"])));
    let help = parsed.diagnostics[0].help.as_deref().unwrap();
    let right = help.strip_prefix("write\n").unwrap();
    let again = skill("amplifier", format!("---\n{HEAD}{right}\n---\n"));
    assert_eq!(
        (lines(&again), findings(&again)),
        (owned(&["PreToolUse Bash /p/skills/x/check.sh \"a\""]), Vec::new()),
        "{right}"
    );
}

#[test]
fn relative_commands_mean_the_skill_where_its_dialect_says_so() {
    let yaml = "hooks:\n  Stop:\n    - hooks:\n        - command: ./a.sh ./b\n        - {type: command, command: ../a.sh}\n        - command: bash ./a.sh\n";
    let text = format!("---\n{HEAD}{yaml}---\n");
    for dialect in ["native", "amplifier"] {
        let parsed = skill(dialect, &text);
        assert_eq!(
            lines(&parsed),
            ["Stop - /p/skills/x/a.sh ./b", "Stop - /p/skills/x/../a.sh", "Stop - bash ./a.sh"]
        );
        // The id is that of what was written, wherever the skill lies.
        let ids = |parsed: &Parsed| -> Vec<String> {
            let hooks = &parsed.document.as_ref().unwrap().bindings[0].hooks;
            hooks.iter().map(|hook| hook.id.as_str().to_owned()).collect()
        };
        let spec = DocumentSpec::new("/q/SKILL.md", DialectId(dialect), Layer::Skill).of_source("/q", "x");
        assert_eq!(ids(&parse(text.as_bytes(), &spec, &Dialects::standard())), ids(&parsed));
    }
    let parsed = skill("claude", text.replace("- command", "- type: command\n          command"));
    assert_eq!(lines(&parsed), ["Stop - ./a.sh ./b", "Stop - ../a.sh", "Stop - bash ./a.sh"]);
}

#[test]
fn a_message_with_the_hooks_of_a_skill_is_the_skill() {
    let hooks = json!({"PreToolUse": [{"matcher": "(", "hooks": [{"command": "./a.sh", "once": true}]}]});
    let directory = std::path::Path::new("/p/skills/x y");
    let dialects = Dialects::standard();
    let parsed = skill_document("sec", Some(directory), &hooks, DialectId("amplifier"), &dialects);
    assert_eq!(lines(&parsed), ["PreToolUse ( '/p/skills/x y'/a.sh"]);
    let document = parsed.document.unwrap();
    assert_eq!((document.source.as_deref(), document.root.as_deref()), (Some("sec"), Some(directory)));
    let hook = &document.bindings[0].hooks[0];
    assert!(hook.once && hook.scope == Scope::Skill("sec".into()) && hook.origin.layer == Layer::Skill);
    // No line of the file is named, since it was not read.
    assert_eq!(hook.origin.to_string(), "/p/skills/x y/SKILL.md");
    assert!(parsed.diagnostics.iter().all(|finding| finding.labels.is_empty() && finding.file.is_some()));
    assert!(!parsed.diagnostics.is_empty());

    let nowhere = skill_document("sec", None, &hooks, DialectId("amplifier"), &dialects);
    assert_eq!(lines(&nowhere), ["PreToolUse ( ./a.sh"]);
    for odd in [json!(null), json!([]), json!("x"), json!({"PreToolUse": 5})] {
        let parsed = skill_document("sec", Some(directory), &odd, DialectId("amplifier"), &dialects);
        assert!(!parsed.diagnostics.is_empty() && lines_of(parsed.document.as_ref()) == 0, "{odd}");
    }
}

fn lines_of(document: Option<&hook_core::Document>) -> usize {
    document.map_or(0, |document| document.bindings.len())
}
