//! Ids: stable under everything but a change of the hook itself.

use std::collections::BTreeSet;

use hook_config::Loaded;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::*;

fn ids(loaded: &Loaded) -> Vec<String> {
    loaded.hooks().map(|hook| hook.id.to_string()).collect()
}

fn of(groups: &Value) -> Vec<String> {
    ids(&native(&json!({"hooks": {"PreToolUse": groups}}).to_string()))
}

#[test]
fn an_id_says_the_event_and_does_not_depend_on_writing() {
    let id = of(&json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": "a", "timeout": 5}]}]));
    assert_eq!(id.len(), 1);
    assert!(id[0].starts_with("PreToolUse-") && id[0].len() == "PreToolUse-".len() + 12, "{id:?}");
    let same = [
        json!([{"hooks": [{"timeout": 5.0, "command": "a", "type": "command"}], "matcher": "Bash"}]),
        json!([{"matcher": "Bash", "hooks": [{"command": "a", "timeout": 5, "enabled": false, "priority": 9}]}]),
        json!([{"matcher": "Bash", "command": "a", "timeoutMs": 5000}]),
    ];
    for groups in same {
        assert_eq!(of(&groups), id, "{groups}");
    }
    let other = [
        json!([{"matcher": "Edit", "hooks": [{"command": "a", "timeout": 5}]}]),
        json!([{"matcher": "Bash", "hooks": [{"command": "b", "timeout": 5}]}]),
        json!([{"matcher": "Bash", "hooks": [{"command": "a", "timeout": 6}]}]),
        json!([{"matcher": "Bash", "hooks": [{"command": "a", "timeout": 5, "args": []}]}]),
        json!([{"matcher": "Bash", "hooks": [{"command": "a", "timeout": 5, "onFailure": "block"}]}]),
    ];
    for groups in other {
        assert_ne!(of(&groups), id, "{groups}");
    }
}

#[test]
fn copies_and_layers_have_ids_of_their_own() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "a"}, {"command": "a"}]}, {"hooks": [{"command": "a"}]}]}}"#;
    let loaded =
        load_from(&tree([(".hooks/hooks.json", text), (".hooks/hooks.local.json", text)]), &[], Value::Null);
    let unique: BTreeSet<String> = ids(&loaded).into_iter().collect();
    assert_eq!(unique.len(), 6);
}

#[test]
fn of_two_equal_explicit_ids_the_first_keeps_it() {
    let loaded = native(
        r#"{"hooks": {"Stop": [{"hooks": [{"id": "x", "command": "a"}, {"id": "x", "command": "b"}]}]}}"#,
    );
    assert_eq!(found(&loaded), ["duplicate-id /hooks/Stop/0/hooks/1/id"]);
    let ids = ids(&loaded);
    assert_eq!(ids[0], "x");
    assert!(ids[1].starts_with("Stop-"));
    assert_eq!(loaded.diagnostics[0].labels.len(), 2);
}

proptest! {
    #[test]
    fn inserting_a_hook_never_changes_another_id(
        commands in prop::collection::vec("[a-c]", 1..6), new in "[a-d]", at in 0usize..6,
    ) {
        let groups = |commands: &[String]| {
            json!(commands.iter().map(|command| json!({"hooks": [{"command": command}]})).collect::<Vec<_>>())
        };
        let before: BTreeSet<String> = of(&groups(&commands)).into_iter().collect();
        let mut more = commands.clone();
        more.insert(at.min(commands.len()), new);
        let after: BTreeSet<String> = of(&groups(&more)).into_iter().collect();
        prop_assert_eq!(before.len(), commands.len());
        prop_assert!(after.is_superset(&before));
    }
}
