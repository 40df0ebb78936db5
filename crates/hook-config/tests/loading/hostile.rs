//! Files nobody wrote with care: huge, deep, in the wrong encoding, or no files at all.

use hook_config::{DocumentSpec, LoadRequest, StdFiles, load, parse};
use hook_core::{DialectId, HostContext, Layer};
use hook_mapper::Dialects;
use proptest::prelude::*;

use crate::common::*;

fn spec(dialect: &'static str) -> DocumentSpec {
    DocumentSpec::new("/p/x.json", DialectId(dialect), Layer::Project)
}

#[test]
fn syntax_errors_say_where_and_what_to_do() {
    let loaded = native("{\n  \"hooks\": {\n    \"Stop\": [\n  }\n}");
    assert_eq!(found(&loaded), ["invalid-json "]);
    assert_eq!(loaded.diagnostics[0].location().unwrap().to_string(), "/p/.hooks/hooks.json:4:3");
    assert!(loaded.diagnostics[0].message.contains("none of the file's hooks run"));
}

#[test]
fn depth_and_size_are_bounded() {
    let deep = format!("{{\"hooks\": {}", "[".repeat(1 << 20));
    assert_eq!(found(&native(&deep)), ["too-deep "]);
    let huge = " ".repeat((8 << 20) + 1);
    assert_eq!(found(&native(&huge)), ["file-too-large -"]);
}

#[test]
fn many_findings_in_one_endless_line_cost_no_more_than_their_number() {
    let started = std::time::Instant::now();
    let events: String = (0..40_000).map(|n| format!("\"PreToolUses{n}\": [1], ")).collect();
    let hooks = r#"{"command": "a", "x": 1}, "#.repeat(20_000);
    let text = format!("{{\"hooks\": {{{events} \"Stop\": [{{\"hooks\": [{hooks}]}}]}}}}");
    let loaded = native(&text);
    assert_eq!(loaded.diagnostics.len(), 60_000);
    // Quadratic work would take minutes.
    assert!(started.elapsed() < std::time::Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn a_native_file_may_begin_with_a_byte_order_mark() {
    let loaded = native("\u{feff}{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"a\"}]}]}}");
    assert_eq!(found(&loaded), ["bom "]);
    assert_eq!(hooks(&loaded), ["Stop - a"]);
    let pointer = &loaded.hooks().next().unwrap().origin;
    assert_eq!(pointer.location.as_ref().unwrap().span.start, 34, "offsets count the mark's bytes");
}

#[test]
fn what_is_no_regular_file_is_named_and_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let hooks_dir = dir.path().join(".hooks");
    std::fs::create_dir_all(hooks_dir.join("hooks.json")).unwrap();
    std::fs::File::create(hooks_dir.join("hooks.local.json")).unwrap().set_len(64 << 20).unwrap();
    let (host, dialects) = (HostContext::new(dir.path()), Dialects::standard());
    let loaded = load(&LoadRequest::new(&host, &StdFiles, &dialects));
    assert_eq!(found(&loaded), ["unreadable-file -", "file-too-large -"]);
    assert_eq!(loaded.diagnostics[0].file.as_deref(), Some(hooks_dir.join("hooks.json").as_path()));
}

#[test]
fn a_file_in_the_place_of_a_directory_is_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(".hooks"), "x").unwrap();
    std::fs::write(dir.path().join(".amplifier"), "x").unwrap();
    let (host, dialects) = (HostContext::new(dir.path()), Dialects::standard());
    let loaded = load(&LoadRequest::new(&host, &StdFiles, &dialects));
    assert_eq!(found(&loaded), [""; 0]);
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Value, json};
    let key = prop::sample::select(vec![
        "hooks",
        "PreToolUse",
        "Stop",
        "matcher",
        "type",
        "command",
        "args",
        "timeout",
        "if",
        "once",
        "onFailure",
        "settings",
        "dialect",
        "enabled",
        "id",
        "parallel",
        "prompt",
        "url",
        "x",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(|n| json!(n)),
        prop::sample::select(vec!["command", "a", "", "*", "(", "amplifier", "block", "${user_config.x}"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|members| {
                Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for dialect in ["native", "amplifier", "claude"] {
            let _ = parse(&bytes, &spec(dialect), &Dialects::standard());
        }
    }

    #[test]
    fn any_json_is_read_or_refused(value in any_json()) {
        for dialect in ["native", "amplifier", "claude"] {
            let parsed = parse(value.to_string().as_bytes(), &spec(dialect), &Dialects::standard());
            let Some(document) = parsed.document else { continue };
            for hook in document.bindings.iter().flat_map(|binding| &binding.hooks) {
                // A broken handler whose failure blocks stays in force, so that it fails and blocks.
                let blocks = matches!(hook.handler, hook_core::Handler::Unknown { .. });
                prop_assert!(hook.enabled == hook.disabled_because.is_none() || (hook.enabled && blocks));
                prop_assert!(!hook.id.as_str().is_empty());
                prop_assert!(hook.limits.timeout.is_none_or(|timeout| !timeout.is_zero()));
            }
        }
    }
}
