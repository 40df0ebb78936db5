//! MCP servers: where they stand, whose name counts, and what is wrong with them.

use hook_config::{LoadRequest, LoadedServers, Settings, load, load_servers, unknown_servers};
use hook_core::{DialectId, HostContext, Layer, McpTransport, MemoryFiles};
use hook_mapper::Dialects;
use serde_json::{Value, json};

use crate::common::*;

fn servers_with(files: &MemoryFiles, plugins: &[&str]) -> (Vec<String>, LoadedServers) {
    let (mut host, dialects): (HostContext, _) = (host(), Dialects::standard());
    host.environment.extend([("KEY".into(), "k1".into()), ("BIN".into(), "/opt/bin".into())]);
    let mut request = LoadRequest::new(&host, files, &dialects);
    request.own_files_of = vec![DialectId("claude")];
    request.plugin_roots = plugins.iter().map(Into::into).collect();
    let loaded = load(&request);
    let servers = load_servers(&request, &loaded.settings);
    (found(&loaded), servers)
}

fn servers(file: &Value) -> LoadedServers {
    servers_with(&tree([(".mcp.json", file.to_string())]), &[]).1
}

/// `slug pointer` of every finding.
fn findings(loaded: &LoadedServers) -> Vec<String> {
    loaded.diagnostics.iter().map(short).collect()
}

#[test]
fn both_kinds_are_read_with_their_variables() {
    let loaded = servers(&json!({"mcpServers": {
        "a": {"command": "${BIN}/run", "args": ["--key=${KEY}", "${NONE:-x}"], "env": {"K": "${KEY}"}},
        "b": {"type": "stdio", "command": "./b"},
        "c": {"type": "http", "url": "https://a.test/mcp?k=${KEY}", "headers": {"Authorization": "Bearer ${KEY}"}},
        "d": {"type": "streamable-http", "url": "http://127.0.0.1:1/"},
        "e": {"url": "http://127.0.0.1:2/"},
    }}));
    assert_eq!(findings(&loaded), [""; 0]);
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let stdio = |command: &str, args: &[&str], own: &[(&str, &str)]| McpTransport::Stdio {
        command: command.into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        environment: pairs(own),
    };
    let http =
        |url: &str, headers: &[(&str, &str)]| McpTransport::Http { url: url.into(), headers: pairs(headers) };
    let expected = [
        stdio("/opt/bin/run", &["--key=k1", "x"], &[("K", "k1")]),
        stdio("./b", &[], &[]),
        http("https://a.test/mcp?k=k1", &[("Authorization", "Bearer k1")]),
        http("http://127.0.0.1:1/", &[]),
        http("http://127.0.0.1:2/", &[]),
    ];
    let read: Vec<&McpTransport> = loaded.servers.iter().map(|server| &server.transport).collect();
    assert_eq!(read, expected.iter().collect::<Vec<_>>());
    let a = loaded.servers.get("a").unwrap().unwrap();
    assert_eq!((a.layer, a.directory.to_str()), (Layer::Project, Some(PROJECT)));
    assert!(a.location.as_ref().unwrap().to_string().starts_with("/p/.mcp.json:1:"));
}

#[test]
fn a_broken_server_takes_nothing_with_it_and_keeps_its_reason() {
    for (entry, finding, why) in [
        (json!(7), "mcp-server-unusable /mcpServers/x", "it is a number, not an object"),
        (json!({}), "mcp-server-unusable /mcpServers/x", "it has no \"command\""),
        (json!({"command": " "}), "mcp-server-unusable /mcpServers/x/command", "its \"command\" is empty"),
        (json!({"command": 1}), "mcp-server-unusable /mcpServers/x/command", "a text of it is a number"),
        (
            json!({"command": "c", "args": "a"}),
            "mcp-server-unusable /mcpServers/x/args",
            "its \"args\" is a string, not a list of strings",
        ),
        (
            json!({"command": "c", "args": ["a", 1]}),
            "mcp-server-unusable /mcpServers/x/args/1",
            "a text of it is a number",
        ),
        (
            json!({"command": "c", "env": []}),
            "mcp-server-unusable /mcpServers/x/env",
            "its \"env\" is a list, not an object of strings",
        ),
        (
            json!({"command": "c", "env": {"A": null}}),
            "mcp-server-unusable /mcpServers/x/env/A",
            "a text of it is null",
        ),
        (
            json!({"command": "${NONE}"}),
            "mcp-variable-unset /mcpServers/x/command",
            "the variable NONE is not set",
        ),
        (
            json!({"url": "http://a.test", "headers": {"K": "${NONE}"}}),
            "mcp-variable-unset /mcpServers/x/headers/K",
            "the variable NONE is not set",
        ),
        (json!({"type": "http"}), "mcp-server-unusable /mcpServers/x", "it has no \"url\""),
        (
            json!({"type": "http", "url": "a.test"}),
            "mcp-server-unusable /mcpServers/x/url",
            "its URL begins with neither http:// nor https://",
        ),
        (
            json!({"type": "sse", "url": "http://a.test"}),
            "mcp-server-unusable /mcpServers/x/type",
            "its type is \"sse\"; \"stdio\" and \"http\" are spoken here",
        ),
        (
            json!({"type": 1, "url": "u"}),
            "mcp-server-unusable /mcpServers/x/type",
            "its type is a number; \"stdio\" and \"http\" are spoken here",
        ),
    ] {
        let loaded = servers(
            &json!({"mcpServers": {"first": {"command": "a"}, "x": entry, "last": {"command": "b"}}}),
        );
        assert_eq!(findings(&loaded), [finding], "{entry}");
        assert!(loaded.diagnostics[0].location().is_some(), "{entry}");
        let told = loaded.servers.get("x").unwrap().unwrap_err();
        assert!(told.starts_with(&format!("{why}, at /p/.mcp.json:1:")), "{told}");
        assert_eq!(loaded.servers.iter().count(), 2, "{entry}");
    }
    let odd = servers(&json!({"mcpServers": {"x": {"command": "c", "arg": []}}}));
    assert_eq!(
        (findings(&odd), odd.servers.iter().count()),
        (vec!["unknown-field /mcpServers/x/arg".into()], 1)
    );
}

#[test]
fn a_broken_file_costs_its_own_servers_only() {
    let user = r#"{"settings": {"mcpServers": {"mine": {"command": "c"}}}}"#;
    for (file, finding) in [
        ("{", "invalid-json "),
        ("[]", "wrong-type "),
        (r#"{"mcpServers": []}"#, "wrong-type /mcpServers"),
        ("\u{feff}{\"mcpServers\": {\"x\": 1}}", "mcp-server-unusable /mcpServers/x"),
    ] {
        let (_, loaded) =
            servers_with(&tree([(".mcp.json", file), ("~/.config/hook/hooks.json", user)]), &[]);
        assert_eq!(findings(&loaded), [finding], "{file}");
        assert!(loaded.servers.get("mine").unwrap().is_ok(), "{file}");
    }
    let (_, latin) = servers_with(&MemoryFiles::new().with("/p/.mcp.json", [b'{', 0xff]), &[]);
    assert_eq!(findings(&latin), ["not-utf8 -"]);
}

#[test]
fn a_name_belongs_to_the_file_of_the_highest_authority() {
    let block =
        |command: &str| json!({"settings": {"mcpServers": {"guard": {"command": command}}}}).to_string();
    let project =
        json!({"mcpServers": {"guard": {"command": "theirs"}, "own": {"command": "o"}}}).to_string();
    let files = tree([
        ("/etc/hook/hooks.json", block("managed")),
        ("~/.config/hook/hooks.json", block("user")),
        (".mcp.json", project),
    ]);
    let (_, loaded) = servers_with(&files, &[]);
    let guard = loaded.servers.get("guard").unwrap().unwrap();
    let McpTransport::Stdio { command, .. } = &guard.transport else { panic!("{guard:?}") };
    assert_eq!((command.as_str(), guard.layer), ("managed", Layer::Managed));
    assert_eq!(
        findings(&loaded),
        ["mcp-server-shadowed /settings/mcpServers/guard", "mcp-server-shadowed /mcpServers/guard"]
    );
    assert!(loaded.servers.get("own").unwrap().is_ok());
}

#[test]
fn settings_of_a_repository_add_no_servers() {
    let block = r#"{"settings": {"mcpServers": {"x": {"command": "c"}}}}"#;
    for file in [".hooks/hooks.json", ".hooks/hooks.local.json"] {
        let (found, loaded) = servers_with(&tree([(file, block)]), &[]);
        assert_eq!(found, ["setting-not-allowed-here /settings/mcpServers"], "{file}");
        assert_eq!(loaded.servers.get("x"), None);
    }
}

#[test]
fn servers_of_plugins_bear_the_plugin_s_name() {
    let files = tree([
        ("/plug/.claude-plugin/plugin.json", r#"{"name": "tools", "mcpServers": {"in": {"command": "i"}}}"#),
        ("/plug/.mcp.json", r#"{"db": {"command": "${CLAUDE_PLUGIN_ROOT}/db"}}"#),
        ("/other/.claude-plugin/plugin.json", r#"{"mcpServers": "./more/servers.json"}"#),
        ("/other/more/servers.json", r#"{"mcpServers": {"far": {"url": "http://a.test/"}}}"#),
        ("/bad/.claude-plugin/plugin.json", r#"{"mcpServers": "../../etc/servers.json"}"#),
        (".claude-plugin/plugin.json", r#"{"name": "self"}"#),
        (".mcp.json", r#"{"mcpServers": {"twice": {"command": "t", "arg": 1}}}"#),
    ]);
    let (_, loaded) = servers_with(&files, &["/plug", "/other", "/bad"]);
    let names: Vec<&str> = loaded.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(
        names,
        ["plugin:other:far", "plugin:self:twice", "plugin:tools:db", "plugin:tools:in", "twice"]
    );
    assert_eq!(findings(&loaded), ["unknown-field /mcpServers/twice/arg", "unreadable-file /mcpServers"]);
    let db = loaded.servers.get("plugin:tools:db").unwrap().unwrap();
    let McpTransport::Stdio { command, environment, .. } = &db.transport else { panic!("{db:?}") };
    assert_eq!(command, "/plug/db");
    assert_eq!(environment[..], [("CLAUDE_PLUGIN_ROOT".to_owned(), "/plug".to_owned())]);
}

#[test]
fn a_hook_that_calls_nobody_is_found() {
    let hook = |server: &str, enabled: bool| json!({"type": "mcp", "server": server, "tool": "t", "enabled": enabled});
    let hooks = json!({"hooks": {"Stop": [{"hooks": [hook("guard", true), hook("gaurd", true), hook("off", false)]}]}});
    let (host, dialects) = (host(), Dialects::standard());
    let files = tree([
        (".hooks/hooks.json", hooks.to_string()),
        (".mcp.json", json!({"mcpServers": {"guard": {"command": "c"}}}).to_string()),
    ]);
    let request = LoadRequest::new(&host, &files, &dialects);
    let loaded = load(&request);
    let servers = load_servers(&request, &Settings::default());
    let unknown = unknown_servers(loaded.hooks().map(AsRef::as_ref), &servers.servers);
    let [finding] = &unknown[..] else { panic!("{unknown:?}") };
    assert_eq!(short(finding), "mcp-server-unknown /hooks/Stop/0/hooks/1/server");
    assert_eq!(finding.suggestion.as_deref(), Some("guard"));
    assert!(finding.location().is_some());
}
