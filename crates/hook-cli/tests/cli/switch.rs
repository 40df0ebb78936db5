//! `hook disable` and `hook enable`: where they write, what they refuse, and that nothing else is lost.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::place::{Place, feed};

const USER: &str = ".config/hook/hooks.json";
const PROJECT: &str = ".hooks/hooks.json";
const LOCAL: &str = ".hooks/hooks.local.json";

/// A native file with hooks of these ids.
fn native(ids: &[&str]) -> String {
    let hooks: Vec<_> = ids.iter().map(|id| json!({ "id": id, "command": "echo no >&2; exit 2" })).collect();
    json!({ "hooks": { "PreToolUse": [{ "hooks": hooks }] } }).to_string()
}

fn blocks(place: &Place) -> bool {
    let said = place.hook(&["run", "PreToolUse", "--tool", "Bash", "--input", "{}"]);
    said.code == Some(3)
}

#[test]
fn a_hook_goes_off_and_on_and_the_users_file_is_as_it_was() {
    let texts: [Option<&str>; 6] = [
        None,
        Some("{}"),
        Some("{\n  // mine\n  \"hooks\": {}, // none yet\n}\n"),
        Some("{\r\n\t\"settings\": {\r\n\t\t\"failClosed\": true,\r\n\t},\r\n}\r\n"),
        Some("{\"settings\": {\"disabled\": [\"other\", /* why */ ]}}"),
        Some("\u{feff}{ \"hooks\": { \"Stop\": [] } }\n"),
    ];
    for text in texts {
        let mut place = Place::new().with(PROJECT, &native(&["guard"]));
        if let Some(text) = text {
            place = place.with_home(USER, text);
        }
        let file = place.home().join(USER);
        assert!(blocks(&place));
        let said = place.hook(&["disable", "guard"]);
        said.exits(0).shows(&["guard is off: ", USER]);
        assert!(!blocks(&place), "{text:?}");
        let written = fs::read_to_string(&file).unwrap();
        place.hook(&["disable", "guard"]).exits(0).shows(&["guard is off already: "]);
        assert_eq!(fs::read_to_string(&file).unwrap(), written, "twice is once");
        let at = format!("off: switched off at {}:", file.display());
        place.hook(&["list"]).exits(0).shows(&[&at]);
        place.hook(&["enable", "guard"]).exits(0).shows(&["guard is on; it stood at "]);
        assert!(blocks(&place));
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), text);
        place.hook(&["enable", "guard"]).exits(0).shows(&["guard is on already"]);
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), text);
    }
}

#[test]
fn the_local_file_is_for_hooks_of_the_project() {
    let place = Place::new().with(PROJECT, &native(&["p"])).with_home(USER, &native(&["u"]));
    place.hook(&["disable", "--local", "p"]).exits(0).shows(&[".hooks/hooks.local.json:2:31"]);
    place.hook(&["list"]).shows(&["off: switched off at "]);
    let said = place.hook(&["disable", "--local", "u"]);
    said.exits(1).tells(&["\"u\" is a hook of the user layer", "without --local"]);
    assert!(!fs::read_to_string(place.project().join(LOCAL)).unwrap().contains("\"u\""));
    // Without --local the user's own file is asked, which says nothing of this hook.
    place.hook(&["enable", "p"]).exits(1).shows(&["p is off all the same: switched off at "]);
    place.hook(&["enable", "--local", "p"]).exits(0);
    assert!(!place.project().join(LOCAL).exists(), "made for one hook, gone with it");
}

#[test]
fn a_list_that_somebody_else_wrote_into_the_project_leaves_the_users_hooks_alone() {
    let place =
        Place::new().with_home(USER, &native(&["u"])).with(LOCAL, r#"{"settings": {"disabled": ["u"]}}"#);
    assert!(blocks(&place));
    place.hook(&["check"]).shows(&["HK217", "\"u\" is a hook of the user layer", "hooks.local.json:1:28"]);
}

#[test]
fn what_is_not_known_is_told_with_what_is_near() {
    let place = Place::new().with(PROJECT, &native(&["guard", "guard-two", "other"]));
    let said = place.hook(&["disable", "gaurd"]);
    said.exits(64).tells(&[
        "no hook and no plugin is called \"gaurd\"",
        "guard  echo no",
        ".hooks/hooks.json:1:",
    ]);
    assert!(!said.stderr.contains("other  "));
    place.hook(&["disable", "GUARD"]).exits(64).tells(&["guard  ", "guard-two  "]);
    let said = place.hook(&["enable", "something else"]);
    said.exits(64).tells(&["`hook list` shows the ids"]);
    assert!(!said.stderr.contains("near to it"));
    assert!(!place.home().join(USER).exists());
}

#[test]
fn a_hook_of_a_broken_file_was_told_to_be_unknown_without_a_word_of_the_file() {
    let place = Place::new().with(PROJECT, r#"{"hooks": {"PreToolUse": ["#);
    place.hook(&["disable", "guard"]).exits(64).tells(&["hook files have errors", "`hook check` shows them"]);
}

#[test]
fn a_hook_that_is_off_was_told_not_to_fit() {
    let place = Place::new().with(PROJECT, &native(&["guard"]));
    place.hook(&["disable", "guard"]).exits(0);
    let said = place.hook(&["run", "PreToolUse", "--tool", "Bash"]);
    said.exits(0).shows(&["does not run (`hook explain` says why)"]);
    let said = place.hook(&["explain", "PreToolUse", "--tool", "Bash"]);
    said.exits(0).shows(&["switched off at "]);
}

#[test]
fn an_id_that_no_hook_has_any_more_can_leave_the_list() {
    let place = Place::new().with_home(USER, r#"{"settings": {"disabled": ["PreToolUse-000000000000"]}}"#);
    place.hook(&["enable", "PreToolUse-000000000000"]).exits(0).shows(&["it stood at"]);
    let text = fs::read_to_string(place.home().join(USER)).unwrap();
    assert_eq!(text, r#"{"settings": {"disabled": []}}"#);
}

#[test]
fn an_agent_does_not_switch_its_own_guards() {
    let place = Place::new().with(PROJECT, &native(&["guard"]));
    for marker in
        ["CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "AI_AGENT", "AMPLIFIER_SESSION_ID", "HOOK_EVENT"]
    {
        for verb in ["disable", "enable"] {
            let mut command = place.command();
            command.env(marker, "1").args([verb, "guard"]);
            feed(command, b"").exits(1).tells(&[marker, "an agent runs this", "let a person run it"]);
        }
        assert!(!place.home().join(USER).exists(), "{marker}");
    }
    let mut command = place.command();
    command.env("CLAUDECODE", "").args(["disable", "guard"]);
    feed(command, b"").exits(0);
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let table = [
        ("{\"hooks\": }", 65, ".config/hook/hooks.json:1:11"),
        ("[]", 65, "the top level is a list, not an object"),
        ("{\"settings\": {\"disabled\": \"guard\"}}", 65, "\"disabled\" is a string, not a list"),
        ("", 65, "the file is empty"),
    ];
    for (text, code, told) in table {
        let place = Place::new().with(PROJECT, &native(&["guard"])).with_home(USER, text);
        place.hook(&["disable", "guard"]).exits(code).tells(&[told, "left as it is"]);
        assert_eq!(fs::read_to_string(place.home().join(USER)).unwrap(), text);
    }
    let place = Place::new().with(PROJECT, &native(&["guard"])).with_home(USER, "");
    fs::write(place.home().join(USER), b"{\"\xff\": 1}").unwrap();
    place.hook(&["disable", "guard"]).exits(65).tells(&["is not UTF-8", "left as it is"]);
    let place = Place::new().with(PROJECT, &native(&["guard"]));
    fs::create_dir_all(place.home().join(USER)).unwrap();
    place.hook(&["disable", "guard"]).exits(74).tells(&["not a regular file"]);
}

#[test]
fn links_are_followed_and_the_mode_stays() {
    let place = Place::new().with(PROJECT, &native(&["guard"])).with_home("dotfiles/hooks.json", "{ }\n");
    let (real, link) = (place.home().join("dotfiles/hooks.json"), place.home().join(USER));
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink("../../dotfiles/hooks.json", &link).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    place.hook(&["disable", "guard"]).exits(0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("guard"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(real.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    place.hook(&["enable", "guard"]).exits(0);
    assert_eq!(fs::read_to_string(&real).unwrap(), "{ }\n");
    fs::remove_file(&real).unwrap();
    place.hook(&["disable", "guard"]).exits(74).tells(&["leads nowhere"]);
}

#[test]
fn a_hook_that_is_off_in_its_own_file_says_so() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"id": "s", "enabled": false, "command": "x"}]}]}}"#;
    let place = Place::new().with(PROJECT, text);
    let said = place.hook(&["enable", "s"]);
    said.exits(1).shows(&["s is off all the same: `enabled` is false at ", "hooks.json:1:44"]);
    let said = place.hook(&["enable", "s", "--json"]);
    assert_eq!(
        (said.json()["enabled"].clone(), said.json()["changed"].clone()),
        (json!(false), json!(false))
    );
}

#[test]
fn json_says_what_changed_and_where() {
    let place = Place::new().with(PROJECT, &native(&["guard"]));
    let said = place.hook(&["disable", "guard", "--json"]);
    let file = place.home().join(USER);
    let expected = json!({ "name": "guard", "kind": "hook", "enabled": false, "changed": true,
        "file": file, "line": 2, "column": 31, "off_because": null });
    assert_eq!(said.exits(0).json(), expected);
}

/// Plugins of an agent's own directory.
fn plugins(place: Place) -> Place {
    let hook = |word: &str| {
        json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "command": format!("echo {word} >&2; exit 2") }] }] } })
            .to_string()
    };
    place
        .with(".amplifier/hooks/hooks.json", r#"{"hooks": {}}"#)
        .with(".amplifier/hooks/guard/hooks.json", &hook("project"))
        .with(".amplifier/hooks/two/hooks.json", r#"{"hooks": {}}"#)
        .with_home(".amplifier/hooks/two/hooks.json", r#"{"hooks": {}}"#)
        .with_home(".amplifier/hooks/mine/hooks.json", r#"{"hooks": {}}"#)
}

#[test]
fn a_plugin_goes_off_by_its_name_without_its_files_being_touched() {
    let place = plugins(Place::new());
    let state = place.project().join(".amplifier/hooks/state.json");
    assert!(blocks(&place));
    place.hook(&["disable", "guard"]).exits(0).shows(&["guard is off: .amplifier/hooks/state.json:2:17"]);
    assert!(!blocks(&place));
    place.hook(&["list"]).shows(&["off: the plugin guard is switched off at ", "state.json:2:17"]);
    place.hook(&["disable", "guard"]).exits(0).shows(&["off already"]);
    place.hook(&["disable", "mine"]).exits(0);
    let user = place.home().join(".amplifier/hooks/state.json");
    assert_eq!(fs::read_to_string(&user).unwrap(), "{\n  \"disabled\": [ \"mine\" ]\n}\n");
    place.hook(&["enable", "guard"]).exits(0);
    assert!(blocks(&place) && !state.exists());
}

#[test]
fn a_plugin_that_is_there_twice_wants_its_level() {
    let place = plugins(Place::new());
    let said = place.hook(&["disable", "two"]);
    said.exits(64).tells(&[
        "is there twice",
        "plugin of the user level",
        "plugin of the project level",
        "--user",
    ]);
    place.hook(&["disable", "two", "--user"]).exits(0);
    assert!(place.home().join(".amplifier/hooks/state.json").exists());
    place.hook(&["disable", "two", "--local"]).exits(0).shows(&[".amplifier/hooks/state.json:2:"]);
    place.hook(&["disable", "guard", "--user"]).exits(64).tells(&["not there at this level"]);
    place.hook(&["disable", "two", "--user", "--local"]).exits(64);
}

#[test]
fn a_name_of_a_hook_and_of_a_plugin_wants_its_kind() {
    let place = plugins(Place::new()).with(PROJECT, &native(&["guard"]));
    place.hook(&["disable", "guard"]).exits(64).tells(&["a hook and a plugin", "--kind"]);
    place.hook(&["disable", "guard", "--kind", "plugin"]).exits(0).shows(&["state.json"]);
    place.hook(&["disable", "guard", "--kind", "hook"]).exits(0).shows(&[USER]);
    assert!(!blocks(&place));
}

#[test]
fn the_root_registry_has_no_name() {
    let place = plugins(Place::new());
    for name in ["root", "amplifier", ".amplifier/hooks/hooks.json", ".amplifier/hooks"] {
        let said = place.hook(&["disable", name]);
        said.exits(64).tells(&["root registry", r#"{"agents":{"amplifier":{"enabled":false}}}"#]);
    }
}

#[test]
fn hooks_of_other_agents_go_by_their_ids_too() {
    let settings = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}"#;
    let place = Place::new().with(".claude/settings.json", settings);
    let list = place.hook(&["list", "--from", "claude", "--json"]).json();
    let id = list[0]["id"].as_str().unwrap();
    place.hook(&["disable", id]).exits(64);
    place.hook(&["disable", id, "--from", "claude", "--local"]).exits(0);
    let list = place.hook(&["list", "--from", "claude", "--json"]).json();
    assert_eq!(list[0]["enabled"], false);
    assert_eq!(fs::read_to_string(place.project().join(".claude/settings.json")).unwrap(), settings);
}
