//! A look at the commands of hooks.

use hook_config::{lint, load};
use hook_core::{Diagnostic, MemoryFiles, Severity};
use hook_mapper::Dialects;
use serde_json::json;

use crate::common::*;

const HOOKS: &str = "/p/.hooks/hooks.json";

/// What is found about one handler of a native project file.
fn look(handler: &serde_json::Value, files: MemoryFiles) -> Vec<Diagnostic> {
    let text = json!({"hooks": {"Stop": [{"hooks": [handler]}]}}).to_string();
    let files = files.with(HOOKS, text);
    let (host, dialects) = (host(), Dialects::standard());
    let loaded = load(&hook_config::LoadRequest::new(&host, &files, &dialects));
    assert_eq!(found(&loaded), [""; 0], "{handler}");
    lint(&loaded, &files, &host, &dialects)
}

fn scripts() -> MemoryFiles {
    let script = "#!/bin/sh\necho ok\n";
    MemoryFiles::new()
        .with_mode("/p/.hooks/run.sh", script, 0o755)
        .with_mode("/p/guards/check.py", "#!/usr/bin/env python3\n", 0o755)
        .with_mode("/p/no-bit.sh", script, 0o644)
        .with_mode("/p/bare.sh", "echo ok\n", 0o755)
        .with_mode("/p/crlf.sh", "#!/bin/bash\r\necho ok\r\n", 0o755)
        .with_mode("/p/tool", b"\x7fELF\x00\x01".to_vec(), 0o755)
        .with_mode("/home/u/bin/x.sh", script, 0o755)
}

#[test]
fn commands_that_mend_can_be_copied() {
    let files = MemoryFiles::new().with_mode("/p/my dir/it's.sh", "#!/bin/sh\necho ok\n", 0o644);
    let found = look(&json!({"type": "command", "command": "\"$CLAUDE_PROJECT_DIR/my dir/it's.sh\""}), files);
    assert_eq!(found[0].help.as_deref(), Some(r"chmod +x '/p/my dir/it'\''s.sh'"));
}

#[test]
fn commands_are_looked_at_as_the_shell_would_read_them() {
    let table: &[(&str, &[&str])] = &[
        // Fine.
        (r#""$HOOK_ROOT/run.sh" one"#, &[]),
        (r#""${CLAUDE_PROJECT_DIR}"/guards/check.py"#, &[]),
        (r#"python3 "$CLAUDE_PROJECT_DIR/guards/check.py" --fast"#, &[]),
        ("./no-bit.sh.bak || true; true", &["missing-script"]),
        ("./tool && bash ./bare.sh", &[]),
        ("sh no-bit.sh", &[]),
        ("~/bin/x.sh", &[]),
        ("X=1 exec ./.hooks/run.sh", &[]),
        ("bash -c 'echo $CLAUDE_PROJECT_DIR'", &[]),
        ("D=$CLAUDE_PROJECT_DIR; cd \"$D\"", &[]),
        ("[ -x ./maybe.sh ] && ./maybe.sh", &[]),
        ("npx prettier --write $FILE", &[]),
        ("$(which python3) ./gone.py", &[]),
        ("cat > out.txt <<EOF\n$CLAUDE_PROJECT_DIR ~/x '$HOOK_ROOT'\nEOF", &[]),
        ("# $CLAUDE_PROJECT_DIR\ntrue", &[]),
        ("python3 -m guards.check", &[]),
        // Not.
        ("$HOOK_ROOT/run.sh one", &["unquoted-placeholder"]),
        ("echo \"$(cat $CLAUDE_PROJECT_DIR/x)\"", &["unquoted-placeholder"]),
        ("cat '$HOOK_ROOT/run.sh'", &["placeholder-in-single-quotes"]),
        ("\"$CLAUDE_PLUGIN_ROOTS/run.sh\"", &["unknown-placeholder"]),
        ("echo \"$HOOK_SESSION\" $TOOL_NAME", &["unknown-placeholder", "unknown-placeholder"]),
        ("\"$HOOK_ROOT/gone.sh\"", &["missing-script"]),
        ("python3 \"$CLAUDE_PROJECT_DIR/guards/nope.py\"", &["missing-script"]),
        ("python3.12 -u ./nope.py", &["missing-script"]),
        ("true; ./nope.sh", &["missing-script"]),
        ("./no-bit.sh", &["script-not-executable"]),
        ("./bare.sh", &["missing-shebang"]),
        ("./crlf.sh", &["crlf-script"]),
        ("bash -e ./crlf.sh", &["crlf-script"]),
        ("python3 ./crlf.sh", &[]),
        ("\"~/bin/x.sh\"", &["tilde-not-expanded", "missing-script"]),
    ];
    for (command, wanted) in table {
        let slugs: Vec<&str> =
            look(&json!({"command": command}), scripts()).iter().map(|finding| finding.code.slug()).collect();
        assert_eq!(slugs, *wanted, "{command}");
    }
}

#[test]
fn words_beside_args_are_looked_at_as_they_stand() {
    let table: &[(&str, &[&str], &[&str])] = &[
        ("${HOOK_ROOT}/run.sh", &["$X y"], &[]),
        ("node", &["-e", "./nope.js"], &[]),
        ("${HOOK_ROOT}/gone.sh", &[], &["missing-script /hooks/Stop/0/hooks/0/command"]),
        ("python3", &["-u", "${HOOK_PROJECT_DIR}/nope.py"], &["missing-script /hooks/Stop/0/hooks/0/args/1"]),
        ("echo", &["$HOOK_ROOT"], &["unknown-placeholder /hooks/Stop/0/hooks/0/args/0"]),
        ("~/bin/x.sh", &[], &["tilde-not-expanded /hooks/Stop/0/hooks/0/command"]),
        ("sh", &["~/bin/x.sh"], &["tilde-not-expanded /hooks/Stop/0/hooks/0/args/0"]),
    ];
    for (command, args, wanted) in table {
        let found: Vec<String> =
            look(&json!({"command": command, "args": args}), scripts()).iter().map(short).collect();
        assert_eq!(found, *wanted, "{command} {args:?}");
    }
}

#[test]
fn a_finding_names_its_place_and_what_would_be_right() {
    let findings = look(&json!({"command": "${HOOK_ROOT}/run.sh one"}), scripts());
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(finding.pointer.as_deref(), Some("/hooks/Stop/0/hooks/0/command"));
    assert_eq!(finding.suggestion.as_deref(), Some("\"${HOOK_ROOT}/run.sh\""));
    assert_eq!(finding.severity, Severity::Warning);
    let location = finding.location().unwrap();
    assert_eq!(location.span.end - location.span.start, "${HOOK_ROOT}".len());
    assert_eq!(location.file.as_ref(), std::path::Path::new(HOOKS));

    let findings = look(&json!({"command": "\"$CLAUDE_PLUGIN_ROOTS/x\""}), scripts());
    assert_eq!(findings[0].suggestion.as_deref(), Some("CLAUDE_PLUGIN_ROOT"));
}

#[test]
fn amplifiers_directories_are_known() {
    let text = |command: &str| json!({"hooks": {"Stop": [{"hooks": [{"command": command}]}]}}).to_string();
    let (host, dialects) = (host(), Dialects::standard());
    let files = scripts()
        .with(
            "/p/.amplifier/hooks/a/hooks.json",
            text("\"$AMPLIFIER_HOOKS_DIR/a/x.sh\" && \"${CLAUDE_PLUGIN_ROOT}/x.sh\""),
        )
        .with("/p/.amplifier/hooks/b/hooks.json", text("\"$AMPLIFIER_HOOKS_DIR/b/x.sh\""))
        .with_mode("/p/.amplifier/hooks/a/x.sh", "#!/bin/sh\n", 0o755);
    let loaded = load(&hook_config::LoadRequest::new(&host, &files, &dialects));
    let findings = lint(&loaded, &files, &host, &dialects);
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(finding.code.slug(), "missing-script");
    assert!(finding.message.ends_with("/p/.amplifier/hooks/b/x.sh"));
}

#[test]
fn a_program_has_to_stand_on_the_path_where_one_is_known() {
    let mut host = host();
    host.environment.insert("PATH".into(), "/nowhere:/usr/bin".into());
    let dialects = Dialects::standard();
    let table: &[(serde_json::Value, &[&str])] = &[
        (json!({"command": "jq . && cd x; X=1 jqq | echo"}), &["missing-program"]),
        (json!({"command": "command -v jqq || exit 0; jqq"}), &[]),
        (json!({"command": "f() { true; }; f"}), &[]),
        (json!({"command": "jq", "args": []}), &[]),
        (json!({"command": "jqq", "args": []}), &["missing-program"]),
    ];
    for (handler, wanted) in table {
        let text = json!({"hooks": {"Stop": [{"hooks": [handler]}]}}).to_string();
        let files = MemoryFiles::new().with(HOOKS, text).with_mode("/usr/bin/jq", "x", 0o755);
        let loaded = load(&hook_config::LoadRequest::new(&host, &files, &dialects));
        let slugs: Vec<&str> =
            lint(&loaded, &files, &host, &dialects).iter().map(|finding| finding.code.slug()).collect();
        assert_eq!(slugs, *wanted, "{handler}");
    }
}
