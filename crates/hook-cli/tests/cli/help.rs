//! Help, usage errors, completions, and readers that go away.

use std::path::Path;
use std::process::Stdio;

use crate::place::Place;

/// Help is compared with the files in `tests/help`. `UPDATE_SNAPSHOTS=1` writes them anew.
#[test]
fn help_reads_as_it_should() {
    let place = Place::new();
    let verbs = [
        "",
        "init",
        "run",
        "dispatch",
        "explain",
        "list",
        "enable",
        "disable",
        "check",
        "rewake",
        "serve",
        "get",
        "completions",
    ];
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    for verb in verbs {
        let arguments: Vec<&str> = [verb, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let said = place.hook(&arguments);
        said.exits(0);
        let name = if verb.is_empty() { "hook" } else { verb };
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/help/{name}.txt"));
        if update {
            std::fs::write(&file, &said.stdout).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(
            said.stdout,
            expected,
            "{}: run with UPDATE_SNAPSHOTS=1 where this is meant",
            file.display()
        );
    }
}

#[test]
fn wrong_calls_are_usage_errors() {
    let place = Place::new();
    let calls: [&[&str]; 12] = [
        &[],
        &["bogus"],
        &["run"],
        &["run", "PreToolUse", "--tool"],
        &["run", "PreToolUse", "--input", "{"],
        &["run", "PreToolUse", "--tool", "Bash", "--input", "[]"],
        &["run", "PreToolUse", "--agent", "nobody"],
        &["run", "--payload", "x", "--tool", "Bash"],
        &["dispatch", "--agent"],
        &["dispatch", "extra"],
        &["list", "--from", "nobody"],
        &["get"],
    ];
    for call in calls {
        let said = place.hook(call);
        said.exits(64);
        assert!(!said.stderr.is_empty(), "{call:?} without a word");
        assert_eq!(said.stdout, "", "{call:?}");
    }
}

#[test]
fn completions_know_the_verbs() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        place.hook(&["completions", shell]).exits(0).shows(&["dispatch", "check"]);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = Place::example("quickstart");
    for arguments in [&["list"][..], &["check", "--json"], &["completions", "bash"]] {
        let mut command = place.command();
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{arguments:?}");
    }
}
