//! Http handlers: every member, every mistake in one, and the bounds that settings set.

use hook_config::Loaded;
use hook_core::{BodyTemplate, Handler, HttpHandler, HttpMethod, PrivateAddresses, Severity};
use serde_json::{Value, json};

use crate::common::*;

fn of(handler: &Value) -> Loaded {
    native(&json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}).to_string())
}

fn handlers(loaded: &Loaded) -> Vec<&HttpHandler> {
    let http = |hook: &hook_core::Hook| matches!(hook.handler, Handler::Http(_));
    let all = loaded.hooks().filter(|hook| http(hook));
    all.map(|hook| match &hook.handler {
        Handler::Http(http) => http,
        other => panic!("{other:?}"),
    })
    .collect()
}

#[test]
fn every_member_is_read() {
    let loaded = of(&json!({
        "type": "http", "url": "https://policy.test:8443/hooks?x=1", "method": "put",
        "headers": {"X-B": "${env.TOKEN}", "X-A": "a\tb é"}, "body": "${tool_input.command}",
        "allowedEnvVars": ["TOKEN"], "followRedirects": true,
    }));
    assert_eq!(found(&loaded), [""; 0]);
    let headers = [("X-B", "${env.TOKEN}"), ("X-A", "a\tb é")];
    let expected = HttpHandler {
        url: "https://policy.test:8443/hooks?x=1".into(),
        method: HttpMethod::Put,
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        body: Some(BodyTemplate::Text("${tool_input.command}".into())),
        allowed_env_vars: vec!["TOKEN".into()],
        follow_redirects: Some(true),
    };
    assert_eq!(handlers(&loaded), [&expected]);
    assert_eq!(hooks(&loaded), ["PreToolUse - PUT https://policy.test:8443/hooks?x=1"]);

    let plain = of(&json!({"url": "http://[::1]:8080"}));
    assert_eq!((found(&plain), handlers(&plain)), (vec![], vec![&HttpHandler::new("http://[::1]:8080")]));
    let document = of(&json!({"url": "http://localhost", "bodyJson": {"n": ["${tool_input.n}", 1]}}));
    let body = Some(BodyTemplate::Json(json!({"n": ["${tool_input.n}", 1]})));
    assert_eq!((found(&document), &handlers(&document)[0].body), (vec![], &body));
}

#[test]
fn a_mistake_keeps_the_handler_from_running_and_is_found_at_its_place() {
    let url = |url: &str| json!({"type": "http", "url": url});
    let with = |name: &str, value: Value| json!({"type": "http", "url": "http://a.test/", name: value});
    for (handler, finding) in [
        (json!({"type": "http"}), "missing-field "),
        (url(" "), "missing-field /url"),
        (url("a.test/x"), "invalid-url /url"),
        (url("ftp://a.test/"), "invalid-url /url"),
        (url("http://"), "invalid-url /url"),
        (url("http:///path"), "invalid-url /url"),
        (url("https://a.test/a b"), "invalid-url /url"),
        (url("https://a.test/\n"), "invalid-url /url"),
        (url("https://${HOST}/x"), "invalid-url /url"),
        (url("https://a.test:0/"), "invalid-url /url"),
        (url("https://a.test:99999/"), "invalid-url /url"),
        (url("https://[::g]/"), "invalid-url /url"),
        (url("https://a!b/"), "invalid-url /url"),
        (with("method", json!("HEAD")), "invalid-method /method"),
        (with("method", json!(1)), "invalid-method /method"),
        (with("headers", json!(["X"])), "invalid-header /headers"),
        (with("headers", json!({"X": null})), "invalid-header /headers/X"),
        (with("headers", json!({"X": 1})), "invalid-header /headers/X"),
        (with("headers", json!({"X Y": "v"})), "invalid-header /headers/X Y"),
        (with("headers", json!({"": "v"})), "invalid-header /headers/"),
        (with("headers", json!({"host": "v"})), "invalid-header /headers/host"),
        (with("headers", json!({"Content-Length": "1"})), "invalid-header /headers/Content-Length"),
        (with("headers", json!({"X": "a\r\nY: b"})), "invalid-header /headers/X"),
        (with("body", json!({"a": 1})), "wrong-type /body"),
    ] {
        let loaded = of(&handler);
        let pointer = finding.replace(" ", " /hooks/PreToolUse/0/hooks/0");
        assert_eq!(
            found(&loaded)[0],
            pointer.replacen("X /hooks/PreToolUse/0/hooks/0Y", "X Y", 1),
            "{handler}"
        );
        let first = &loaded.diagnostics[0];
        assert_eq!(first.severity, Severity::Error, "{handler}");
        assert!(first.help.is_some() && first.location().is_some(), "{handler}");
        assert!(first.message.ends_with("it never runs"), "{}", first.message);
        assert!(loaded.hooks().all(|hook| !hook.enabled && hook.disabled_because.is_some()), "{handler}");
    }
    // A guard that breaks stays in force, and blocks.
    let guard = of(&json!({"type": "http", "url": "nowhere", "onFailure": "block"}));
    assert!(guard.hooks().all(|hook| hook.enabled && matches!(hook.handler, Handler::Unknown { .. })));
}

#[test]
fn what_has_no_effect_is_said_and_the_handler_runs() {
    let with = |more: Value| {
        let mut handler = json!({"type": "http", "url": "http://a.test/"});
        handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        handler
    };
    for (handler, findings) in [
        (with(json!({"method": "GET", "body": "x"})), vec!["body-without-effect /body"]),
        (with(json!({"method": "delete", "bodyJson": 1})), vec!["body-without-effect /bodyJson"]),
        (with(json!({"body": "x", "bodyJson": 1})), vec!["body-without-effect /body"]),
        (with(json!({"headers": {"X": "${env.A}"}})), vec!["variable-not-allowed /headers/X"]),
        (with(json!({"body": "${env.A}", "allowedEnvVars": ["B"]})), vec!["variable-not-allowed /body"]),
        (with(json!({"bodyJson": [{"k": "${env.A}${env.A}"}]})), vec!["variable-not-allowed /bodyJson"; 2]),
        (with(json!({"headers": {"X": "$5 $A ${A}"}, "body": "$A ${A}"})), vec![]),
        (with(json!({"allowedEnvVars": "A"})), vec!["wrong-type /allowedEnvVars"]),
        (with(json!({"allowedEnvVars": ["A", 1]})), vec!["wrong-type /allowedEnvVars/1"]),
        (with(json!({"url": "https://u:p@a.test/"})), vec!["credentials-in-url /url"]),
        (with(json!({"url": "https://a.test/${tool_input.x}"})), vec!["template-not-filled /url"]),
        (with(json!({"followRedirects": "yes"})), vec!["wrong-type /followRedirects"]),
        (with(json!({"boddy": "x"})), vec!["unknown-field /boddy"]),
    ] {
        let loaded = of(&handler);
        let expected: Vec<String> =
            findings.iter().map(|finding| finding.replace(" ", " /hooks/PreToolUse/0/hooks/0")).collect();
        assert_eq!(found(&loaded), expected, "{handler}");
        assert!(loaded.hooks().all(|hook| hook.enabled), "{handler}");
    }
    let secret = of(&with(json!({"url": "https://u:p@a.test/x@y"})));
    assert_eq!(hooks(&secret), ["PreToolUse - POST https://a.test/x@y"]);
}

/// Claude Code has no method, no body and another spelling of variables.
#[test]
fn another_dialect_reads_its_own_members() {
    let handler = json!({"type": "http", "url": "http://a.test/", "method": "PUT", "body": "x",
        "headers": {"A": "$TOKEN ${OTHER} ${env.X}"}, "allowedEnvVars": ["TOKEN"]});
    let text = json!({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}).to_string();
    let loaded = load_from(&tree([(".claude/settings.json", text)]), &["claude"], Value::Null);
    let at = "/hooks/PreToolUse/0/hooks/0";
    let mut all = found(&loaded);
    all.sort();
    let fields = ["body", "method"].map(|name| format!("unknown-field {at}/{name}"));
    assert_eq!(all[..2], fields);
    assert_eq!(all[2..], [format!("variable-not-allowed {at}/headers/A")]);
    assert_eq!((handlers(&loaded)[0].method, &handlers(&loaded)[0].body), (HttpMethod::Post, &None));
}

#[test]
fn every_member_is_part_of_the_id() {
    let id = |more: Value| {
        let mut handler = json!({"type": "http", "url": "http://a.test/"});
        handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let loaded = of(&handler);
        loaded.hooks().map(|hook| hook.id.to_string()).collect::<String>()
    };
    let members = [
        json!({}),
        json!({"url": "http://b.test/"}),
        json!({"method": "PUT"}),
        json!({"headers": {"A": "b"}}),
        json!({"headers": {"A": "c"}}),
        json!({"body": "1"}),
        json!({"bodyJson": 1}),
        json!({"bodyJson": "1"}),
        json!({"allowedEnvVars": ["A"]}),
        json!({"followRedirects": true}),
        json!({"followRedirects": false}),
    ];
    let ids: std::collections::BTreeSet<String> = members.iter().cloned().map(id).collect();
    assert_eq!(ids.len(), members.len());
    assert_eq!(id(json!({"method": "POST", "headers": {}})), id(json!({})));
    assert_eq!(id(json!({"bodyJson": {"a": 1, "b": 2}})), id(json!({"bodyJson": {"b": 2, "a": 1}})));
}

fn bounded(user: Value, project: Value) -> Loaded {
    let hook = json!([{"hooks": [{"type": "http", "url": "https://a.test/x", "onFailure": "continue"}]}]);
    let files = tree([
        ("~/.config/hook/hooks.json", json!({"settings": {"http": user}}).to_string()),
        (".hooks/hooks.json", json!({"settings": {"http": project}, "hooks": {"Stop": hook}}).to_string()),
        (".claude/settings.json", json!({"hooks": {"Stop": hook}}).to_string()),
    ]);
    load_from(&files, &["claude"], Value::Null)
}

#[test]
fn lists_of_the_settings_only_tighten_and_count_for_every_dialect() {
    let urls = |urls: &[&str]| json!({ "allowedUrls": urls });
    for (user, project, runs) in [
        (json!({}), json!({}), true),
        (urls(&["https://A.test/*"]), json!({}), true),
        (urls(&["https://b.test/*"]), json!({}), false),
        (urls(&["https://b.test/*"]), urls(&["*"]), false),
        (urls(&["*"]), urls(&[]), false),
        (json!({}), urls(&["https://a.test/x"]), true),
        (json!({"allowed_urls": "https://a.test/*"}), json!({}), false),
    ] {
        let loaded = bounded(user.clone(), project.clone());
        let enabled: Vec<bool> = loaded.hooks().map(|hook| hook.enabled).collect();
        assert_eq!(enabled, [runs, runs], "{user} {project}");
        let refused = found(&loaded).iter().filter(|finding| finding.starts_with("url-not-allowed")).count();
        assert_eq!(refused, if runs { 0 } else { 2 }, "{user} {project}");
    }
    let loaded = bounded(json!({"allowedEnvVars": ["A", "B"]}), json!({"allowedEnvVars": ["B", "C"]}));
    for hook in loaded.hooks() {
        let policy = hook.grants.http.as_deref().unwrap();
        let allowed: Vec<&str> =
            ["A", "B", "C"].into_iter().filter(|name| policy.allows_variable(name)).collect();
        assert_eq!(allowed, ["B"]);
    }
}

#[test]
fn a_project_may_close_private_addresses_and_open_none() {
    let private = |word: &str| json!({ "privateAddresses": word });
    use PrivateAddresses::{Allow, Deny, Loopback, Written};
    for (user, project, expected, finding) in [
        (json!({}), json!({}), None, None),
        (private("allow"), json!({}), Some(Allow), None),
        (private("loopback"), json!({}), Some(Loopback), None),
        (private("written"), private("deny"), Some(Deny), None),
        (private("deny"), private("allow"), Some(Deny), Some("setting-not-allowed-here")),
        (json!({}), private("loopback"), None, Some("setting-not-allowed-here")),
        (private("never"), json!({}), None, Some("wrong-type")),
        (json!({"privateAdresses": "deny"}), private("deny"), Some(Deny), Some("unknown-field")),
    ] {
        let loaded = bounded(user.clone(), project.clone());
        let found = found(&loaded);
        assert_eq!(found.first().map(|found| found.split(' ').next().unwrap()), finding, "{user} {project}");
        for hook in loaded.hooks() {
            let policy = hook.grants.http.as_deref().map(|policy| policy.private);
            assert_eq!(policy, expected, "{user} {project}");
        }
    }
    assert_eq!(PrivateAddresses::default(), Written);
}
