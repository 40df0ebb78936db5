//! The README's own commands, as they stand there.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests: what fails here fails the test, and the tests look at real files"
)]

use std::path::Path;
use std::process::Command;

/// The root of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The first shell block below a heading.
fn block(heading: &str) -> String {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let section = readme.split_once(&format!("\n## {heading}\n")).unwrap().1;
    let code = section.split_once("```sh\n").unwrap().1;
    code.split_once("\n```").unwrap().0.to_owned()
}

#[test]
fn the_first_command_blocks_and_names_hook_reason_file_and_line() {
    let line = block("See it block something");
    let output = Command::new("sh").arg("-c").arg(&line).current_dir(root()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{shown}\n{}", String::from_utf8_lossy(&output.stderr));
    for part in ["deny", "bash-guard.sh", "removes everything", ".hooks/hooks.json:"] {
        assert!(shown.contains(part), "{part} is not in:\n{shown}");
    }
}

#[test]
fn the_second_command_is_what_ci_runs() {
    assert_eq!(block("Run the tests"), "cargo test --workspace");
    let script = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(script.contains("## Run the tests"), "CI takes the command from the README");
}

#[test]
fn the_hook_file_of_the_readme_is_the_one_that_init_writes() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let code = readme.split_once("```json\n").unwrap().1.split_once("\n```").unwrap().0;
    let shown: serde_json::Value = serde_json::from_str(code).unwrap();
    let project = tempfile::tempdir().unwrap();
    let hook = xtask::trials::build().unwrap();
    assert!(Command::new(hook).arg("init").current_dir(project.path()).status().unwrap().success());
    let written = std::fs::read_to_string(project.path().join(".hooks/hooks.json")).unwrap();
    let written: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(shown["hooks"], written["hooks"]);
}

#[test]
fn the_lines_and_the_events_of_the_module_are_true() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let section = readme.split_once("\n### Amplifier\n").unwrap().1.split_once("\n### ").unwrap().0;
    let project = tempfile::tempdir().unwrap();
    let hook = xtask::trials::build().unwrap();
    let path = format!("{}:{}", hook.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let sh = |line: &str| {
        let mut sh = Command::new("sh");
        sh.args(["-c", line]).current_dir(project.path()).env("PATH", &path).env("HOME", project.path());
        sh.output().unwrap()
    };
    let line = section.split_once("```sh\n").unwrap().1.split_once("\n```").unwrap().0;
    assert_eq!(sh(line).stdout, b"{\"action\":\"continue\"}\n");
    let (_, events) = section.split_once("Events are ").unwrap();
    let named: Vec<&str> = events.split('`').filter(|word| word.contains(':')).collect();
    assert_eq!(named.len(), 14, "{named:?}");
    for event in named {
        let output = sh(&format!(
            "echo '{{\"event\": \"{event}\", \"data\": {{\"skill_name\": \"s\"}}}}' | hook dispatch --agent amplifier"
        ));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{event} is known");
    }
}
