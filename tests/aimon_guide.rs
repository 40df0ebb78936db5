//! The examples of AIMON's guide ("Hook Configuration Guide, Examples"), each through the built command against real parts.
//!
//! Their files stand here as the guide has them, but for addresses of servers.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests: what fails here fails the test, and the tests look at real files"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};

/// The binary, built once for all tests of this file.
fn binary() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| xtask::trials::build().unwrap())
}

/// A host as a real one is: a project and a home on disk, one process per event, and a `logger` that writes to a file.
struct Host {
    root: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

const PROJECT: &str = "a project";

impl Host {
    fn new(files: &[(&str, &str)]) -> Host {
        let host = Host { root: tempfile::tempdir().unwrap(), variables: Vec::new() };
        let log = host.path("log");
        let logger = format!(
            "#!/bin/sh\nif [ $# -gt 2 ]; then shift 2; echo \"$*\"; else cat; fi >>'{}'\n",
            log.display()
        );
        host.write("bin/logger", &logger);
        fs::set_permissions(host.path("bin/logger"), fs::Permissions::from_mode(0o755)).unwrap();
        for (name, content) in files {
            host.write(&name.replace("~/", "home/").replace("<project>/", &format!("{PROJECT}/")), content);
        }
        fs::create_dir_all(host.path(PROJECT)).unwrap();
        fs::create_dir_all(host.path("home")).unwrap();
        host
    }

    fn with_variable(mut self, name: &str, value: &str) -> Host {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// What `logger` was told.
    fn logged(&self) -> Vec<String> {
        fs::read_to_string(self.path("log")).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// The command, in the project.
    fn command(&self, arguments: &[&str]) -> Command {
        let path = std::env::join_paths(
            std::iter::once(self.path("bin"))
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        let mut command = Command::new(binary());
        command
            .args(arguments)
            .current_dir(self.path(PROJECT))
            .env_clear()
            .env("PATH", path.unwrap())
            .env("HOME", self.path("home"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn hook(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// The reply to an event, and what stood on standard error.
    fn fire(&self, event: &str, data: Value) -> (Value, String) {
        let payload = json!({"event": event, "session_id": "one", "data": data});
        let output = self.hook(&["dispatch", "--agent", "aimon"], &payload.to_string());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        (serde_json::from_slice(&output.stdout).unwrap(), stderr)
    }

    fn call(&self, tool: &str, input: Value) -> Value {
        self.fire(
            "preTool",
            json!({"tool_name": tool, "tool_input": input, "invoker_name": "main", "iteration": 3}),
        )
        .0
    }
}

/// A server on loopback that answers every request with one document and keeps what it was asked: head and body.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Server {
    fn answering(body: &'static str) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut head, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                        break;
                    }
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    head.push_str(&line);
                }
                let mut sent = vec![0; length];
                reader.read_exact(&mut sent).unwrap();
                kept.lock().unwrap().push((head, String::from_utf8(sent).unwrap()));
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Server { address, asked }
    }
}

const AUDIT: &str = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "http",
            "url": "SERVER/aimon/pre-bash",
            "headers": { "X-Auth": "${env.AUDIT_TOKEN}" },
            "body": "{\"cmd\":\"${tool_input.command}\",\"invoker\":\"${context.invoker_name}\",\"iteration\":\"${context.iteration}\"}",
            "allowedEnvVars": ["AUDIT_TOKEN"],
            "timeout": 2
          }
        ]
      }
    ]
  }
}"#;

#[test]
fn example_1_every_bash_call_goes_to_an_audit_server() {
    let server = Server::answering(r#"{"decision": "deny", "reason": "audited and refused"}"#);
    let file = AUDIT.replace("SERVER", &server.address);
    let host = Host::new(&[("<project>/.aimon/hooks.json", &file)]).with_variable("AUDIT_TOKEN", "secret");
    let reply = host.call("Bash", json!({"command": "ls"}));
    assert_eq!(reply, json!({"decision": "deny", "reason": "audited and refused"}));
    assert_eq!(host.call("Read", json!({"file_path": "/a"})), json!({"decision": "allow"}));
    let asked = server.asked.lock().unwrap();
    let [(head, body)] = &asked[..] else { panic!("{asked:?}") };
    assert!(head.starts_with("POST /aimon/pre-bash "), "{head}");
    assert!(head.to_ascii_lowercase().contains("x-auth: secret"), "{head}");
    assert_eq!(body, r#"{"cmd":"ls","invoker":"main","iteration":"3"}"#);
}

#[test]
fn example_1_a_server_that_is_not_there_holds_nothing_up() {
    let file = AUDIT.replace("SERVER", "http://127.0.0.1:9");
    let host = Host::new(&[("<project>/.aimon/hooks.json", &file)]);
    assert_eq!(host.call("Bash", json!({"command": "ls"}))["decision"], "allow");
}

const DANGEROUS: &str = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash(command=^rm\\s+-rf\\s+/)",
        "hooks": [
          { "type": "deny", "reason": "Dangerous rm -rf commands are blocked." }
        ]
      }
    ]
  }
}"#;

#[test]
fn example_2_a_dangerous_command_is_blocked_outright() {
    let host = Host::new(&[("<project>/.aimon/hooks.json", DANGEROUS)]);
    for (command, denied) in [
        ("rm -rf /", true),
        ("rm  -rf /var/lib", true),
        ("rm -rf build", false),
        ("sudo rm -rf /", false),
        ("ls", false),
    ] {
        let reply = host.call("Bash", json!({"command": command}));
        assert_eq!(reply["decision"] == "deny", denied, "{command}: {reply}");
        if denied {
            assert_eq!(reply["reason"], "Dangerous rm -rf commands are blocked.");
        }
    }
    assert_eq!(host.call("Read", json!({"file_path": "/"}))["decision"], "allow");
}

const METRICS: &str = r#"{
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "*",
        "hooks": [
          {
            "type": "command",
            "command": "logger -t aimon \"tool=$AIMON_TOOL_NAME status=$AIMON_TOOL_RESULT_STATUS\"",
            "timeout": 1
          }
        ]
      }
    ]
  }
}"#;

#[test]
fn example_3_metrics_of_every_call() {
    let host = Host::new(&[("<project>/.aimon/hooks.json", METRICS)]);
    for status in ["success", "error"] {
        let data =
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_result_status": status});
        assert_eq!(host.fire("postTool", data).0, json!({"decision": "allow"}));
    }
    assert_eq!(host.logged(), ["tool=Bash status=success", "tool=Bash status=error"]);
}

#[test]
fn example_3_the_same_values_from_standard_input() {
    let command = r#"payload=$(cat)
        for field in tool_name tool_result_status tool_input.file_path; do
            echo "$payload" | "$HOOK" get .$field
        done | logger -t aimon"#;
    let file = json!({"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": command}]}]}});
    let host = Host::new(&[("<project>/.aimon/hooks.json", &file.to_string())]);
    let data =
        json!({"tool_name": "Edit", "tool_input": {"file_path": "/a b"}, "tool_result_status": "success"});
    assert_eq!(host.fire("postTool", data).0["decision"], "allow");
    assert_eq!(host.logged(), ["Edit", "success", "/a b"]);
}

const POLICY: &str = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Edit|Write",
        "hooks": [
          {
            "type": "mcp",
            "server": "policy-server",
            "tool": "evaluate_write",
            "args": {
              "path": "${tool_input.file_path}",
              "invoker": "${context.invoker_name}"
            }
          }
        ]
      }
    ]
  }
}"#;

#[test]
fn example_4_a_policy_server_judges_what_is_written() {
    let server = env!("CARGO_BIN_EXE_mcp-server");
    let servers = json!({"mcpServers": {"policy-server": {"command": server}}}).to_string();
    let host = Host::new(&[("<project>/.aimon/hooks.json", POLICY), ("<project>/.mcp.json", &servers)]);
    let write = |path: &str| host.call("Write", json!({"file_path": path, "content": "x"}));
    assert_eq!(write("/work/a"), json!({"decision": "allow"}));
    assert_eq!(write("/etc/passwd"), json!({"decision": "deny", "reason": "main may not write there"}));
    assert_eq!(host.call("Bash", json!({"command": "ls"})), json!({"decision": "allow"}));
}

#[test]
fn example_4_a_server_that_nobody_wrote_down_holds_nothing_up() {
    let host = Host::new(&[("<project>/.aimon/hooks.json", POLICY)]);
    assert_eq!(host.call("Write", json!({"file_path": "/etc/passwd"}))["decision"], "allow");
}

const USER: &str = r#"{ "hooks": { "PostToolUse": [{ "matcher": "*", "hooks": [{ "type": "command", "command": "logger -t aimon-user \"$AIMON_TOOL_NAME\"" }] }] } }"#;
const TEAM: &str = r#"{ "hooks": { "PreToolUse": [{ "matcher": "Bash(command=^git\\s+push.*--force)", "hooks": [{ "type": "deny", "reason": "force push is not allowed" }] }] } }"#;
const OWN: &str = r#"{ "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [{ "type": "command", "command": "echo PRE \"$AIMON_TOOL_NAME\" >&2" }] }] } }"#;

#[test]
fn example_5_the_layers_are_one_chain() {
    let host = Host::new(&[
        ("~/.aimon/hooks.json", USER),
        ("<project>/.aimon/hooks.json", TEAM),
        ("<project>/.aimon/hooks.local.json", OWN),
    ]);
    let run = |command: &str| {
        let input = json!({ "command": command }).to_string();
        let output = host
            .hook(&["run", "preTool", "--agent", "aimon", "--tool", "Bash", "--input", &input, "--json"], "");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), document)
    };
    // The team's rule does not fit, so the person's hook runs.
    let (code, document) = run("git push");
    assert_eq!(code, Some(0), "{document:#}");
    assert_eq!(document["reply"]["stdout"], "{\"decision\":\"allow\"}\n", "{document:#}");
    assert!(document.to_string().contains("PRE Bash"), "{document:#}");
    // It fits, so the chain ends there.
    let (code, document) = run("git push --force");
    assert_eq!(code, Some(3), "{document:#}");
    assert!(!document.to_string().contains("PRE Bash"), "{document:#}");
    assert_eq!(
        host.call("Bash", json!({"command": "git push origin --force"}))["reason"],
        "force push is not allowed"
    );
    host.fire("postTool", json!({"tool_name": "Bash", "tool_input": {}, "tool_result_status": "success"}));
    assert_eq!(host.logged(), ["Bash"]);
}

const APPROVAL: &str = r#"{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash(command=^kubectl\\s+apply.*-prod)",
        "hooks": [
          {
            "type": "mcp",
            "server": "approval-gateway",
            "tool": "request_human_approval",
            "args": { "command": "${tool_input.command}", "invoker": "${context.invoker_name}" },
            "asyncRewake": {
              "trigger": { "event": { "type": "approval", "key": "prod-kubectl-apply" } },
              "timeout": "1h",
              "maxAttempts": 1,
              "reason": "awaiting human approval for prod kubectl apply"
            }
          }
        ]
      }
    ]
  }
}"#;

#[test]
fn example_6_an_approval_from_outside_wakes_the_hook() {
    const LINE: &str = "kubectl apply -f site.yaml --context eu-prod";
    for (decision, told) in
        [("approved", "has no objection to it"), ("too late today", "refused: too late today")]
    {
        let host = approval_gateway(APPROVAL);
        let held = host.call("Bash", json!({"command": LINE}));
        assert_eq!(held, json!({"decision": "deny", "reason": "awaiting approval"}));
        assert_eq!(
            host.call("Bash", json!({"command": "kubectl get pods -n x-prod"})),
            json!({"decision": "allow"})
        );

        host.write("decision", decision);
        let resolve =
            ["rewake", "resolve", "approval", "prod-kubectl-apply", "--payload", r#"{"decision": "given"}"#];
        let output = host.hook(&resolve, "");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("1 matched") && said.contains("1 woken, 0 dropped"), "{output:?}");

        let next = host.call("Bash", json!({"command": "ls"}));
        let feedback = next["feedback"].as_str().unwrap_or_default();
        let parts = [told, LINE, "awaiting human approval for prod kubectl apply", "no approval by the user"];
        assert!(parts.iter().all(|part| feedback.contains(part)), "{next}");
        assert_eq!(host.call("Bash", json!({"command": "ls"})), json!({"decision": "allow"}), "told twice");
        assert_eq!(host.hook(&resolve, "").stdout, b"0 matched\n", "one attempt was all it had");
    }
}

/// A server of the host's user, until it is dropped.
struct Serving {
    child: std::process::Child,
    address: String,
    token: String,
}

impl Serving {
    fn start(host: &Host) -> Serving {
        let mut command = host.command(&["serve", "--http", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = lines.by_ref().map(Result::unwrap).take_while(|line| line != "ready");
        let said: Vec<String> = said.collect();
        let address = said.iter().find_map(|line| line.split_once("http://")).unwrap().1;
        let address = address.split(',').next().unwrap().to_owned();
        let token = fs::read_to_string(host.path("home/.local/state/hook/serve/token")).unwrap();
        Serving { child, address, token: token.trim().to_owned() }
    }

    /// The body of the reply to a request.
    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let mut stream = std::net::TcpStream::connect(&self.address).unwrap();
        let (token, long) = (&self.token, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {long}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        serde_json::from_str(reply.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// The approval comes in, and the hook has been woken.
    fn resolve(&self) {
        let event =
            json!({"type": "approval", "key": "prod-kubectl-apply", "payload": {"decision": "given"}});
        assert_eq!(self.ask("POST", "/v1/rewake/resolve", &event.to_string()), json!({"matched": 1}));
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while self.ask("GET", "/v1/rewake", "")["pending"] != json!([]) {
            assert!(std::time::Instant::now() < until, "nobody was woken");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        let _ = self.child.wait();
    }
}

fn approval_gateway(file: &str) -> Host {
    let host = Host::new(&[("<project>/.aimon/hooks.json", file)]);
    let decision = host.path("decision");
    let server = json!({"command": env!("CARGO_BIN_EXE_mcp-server"), "env": {"DECISION_FILE": decision}});
    let servers = json!({"mcpServers": {"approval-gateway": server}}).to_string();
    host.write(&format!("{PROJECT}/.mcp.json"), &servers);
    host
}

#[test]
fn example_6_through_a_server_that_is_asked_over_http() {
    const LINE: &str = "kubectl apply -f site.yaml --context eu-prod";
    for (decision, told) in
        [("approved", "has no objection to it"), ("too late today", "refused: too late today")]
    {
        let host = approval_gateway(APPROVAL);
        let serving = Serving::start(&host);
        let held = host.call("Bash", json!({"command": LINE}));
        assert_eq!(held, json!({"decision": "deny", "reason": "awaiting approval"}));
        host.write("decision", decision);
        serving.resolve();
        let next = host.call("Bash", json!({"command": "ls"}));
        let feedback = next["feedback"].as_str().unwrap_or_default();
        let parts = [told, LINE, "awaiting human approval for prod kubectl apply", "no approval by the user"];
        assert!(parts.iter().all(|part| feedback.contains(part)), "{next}");
        assert_eq!(host.call("Bash", json!({"command": "ls"})), json!({"decision": "allow"}), "told twice");
        let ended = serving.ask("GET", "/v1/rewake?ended=true", "");
        let fired = ended["ended"].as_array().unwrap().iter().filter(|one| one["end"] == "fired").count();
        assert_eq!(fired, 1, "{ended}");
    }
}

#[test]
fn example_6_holds_the_call_until_the_approval_is_there() {
    const LINE: &str = "kubectl apply -f site.yaml --context eu-prod";
    let holding = APPROVAL.replace(r#""maxAttempts": 1,"#, r#""maxAttempts": 1, "hold": true,"#);
    for (decision, then) in [
        ("approved", json!({"decision": "allow"})),
        ("too late today", json!({"decision": "deny", "reason": "refused: too late today"})),
    ] {
        let host = approval_gateway(&holding);
        let serving = Serving::start(&host);
        let call = || host.call("Bash", json!({"command": LINE}));
        assert_eq!(call()["decision"], "deny");
        let again = call();
        let reason = again["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("awaiting human approval for prod kubectl apply"), "{again}");
        host.write("decision", decision);
        assert_eq!(call()["decision"], "deny", "nobody has said that it is decided");
        serving.resolve();
        let decided = call();
        assert_eq!(
            (&decided["decision"], &decided["reason"]),
            (&then["decision"], &then["reason"]),
            "{decided}"
        );
        let status = host.hook(&["serve", "--status", "--json"], "");
        let status: Value = serde_json::from_slice(&status.stdout).unwrap();
        assert_eq!((&status["answered"], &status["declined"]), (&json!(4), &json!(0)));
    }
}

const SKILL: &str = r#"---
name: my-skill
description: ...
hooks:
  preTool:
    - matcher: "Read"
      action: { type: shell, command: "echo skill-pre-read >&2", timeoutMs: 5000 }
    - matcher: "Bash"
      action: { type: deny, reason: "This skill does not use Bash" }
  postTool:
    - matcher: "*"
      action: { type: shell, command: "echo skill-post >&2" }
  onStart:
    - action: { type: shell, command: "echo skill-started >&2" }
---
"#;

#[test]
fn example_7_a_skill_brings_its_hooks_and_takes_them_with_it() {
    let host = Host::new(&[("<project>/.aimon/skills/my-skill/SKILL.md", SKILL)]);
    let bash = || host.call("Bash", json!({"command": "ls"}));
    assert_eq!(bash()["decision"], "allow");
    host.fire("skillActivated", json!({"skill_name": "my-skill"}));
    assert_eq!(bash(), json!({"decision": "deny", "reason": "This skill does not use Bash"}));
    host.fire("skillDeactivated", json!({"skill_name": "my-skill"}));
    assert_eq!(bash()["decision"], "allow");
}

#[test]
fn example_7_a_host_may_send_the_hooks_of_a_skill_along() {
    let host = Host::new(&[]);
    let hooks = json!({"preTool": [{"matcher": "Bash", "action": {"type": "deny", "reason": "not here"}}]});
    host.fire("skillActivated", json!({"skill_name": "sent", "hooks": hooks}));
    assert_eq!(host.call("Bash", json!({"command": "ls"}))["reason"], "not here");
    // A mistake costs all hooks of the skill, and the user is told.
    let broken = json!({"preTool": [{"matcher": "Bash", "hooks": []}]});
    let (reply, _) = host.fire("skillActivated", json!({"skill_name": "broken", "hooks": broken}));
    assert!(reply["messages"].to_string().contains("action"), "{reply}");
}

// --- what the guide says elsewhere ---

#[test]
fn a_guard_written_for_this_agent_holds_under_another() {
    let host = Host::new(&[("<project>/.aimon/hooks.json", DANGEROUS)]);
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "c", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"},
    });
    let output = host.hook(&["dispatch", "--agent", "claude"], &payload.to_string());
    let reply = String::from_utf8_lossy(&output.stdout);
    assert!(reply.contains("deny") && reply.contains("Dangerous rm -rf"), "{reply}");
}

#[test]
fn the_narrower_layer_sees_and_judges_what_the_wider_one_rewrote() {
    let server = Server::answering(r#"{"decision": "allow", "updatedInput": {"command": "rm -rf /"}}"#);
    let rewrite = AUDIT.replace("SERVER", &server.address);
    let host = Host::new(&[("~/.aimon/hooks.json", &rewrite), ("<project>/.aimon/hooks.json", DANGEROUS)]);
    assert_eq!(
        host.call("Bash", json!({"command": "ls"}))["reason"],
        "Dangerous rm -rf commands are blocked."
    );

    let log = r#"{"hooks": {"preTool": [{"hooks": [{"type": "command", "command": "\"$HOOK\" get .tool_input.command | logger -t x"}]}]}}"#;
    let host = Host::new(&[("~/.aimon/hooks.json", &rewrite), ("<project>/.aimon/hooks.json", log)]);
    let reply = host.call("Bash", json!({"command": "ls"}));
    assert_eq!(reply, json!({"decision": "allow", "updatedInput": {"command": "rm -rf /"}}));
    assert_eq!(host.logged(), ["rm -rf /"]);
}

#[test]
fn exit_two_is_a_veto_where_a_refusal_is_consumed() {
    let gate = json!({"type": "command", "command": "echo no >&2; exit 2"});
    let events = ["preTool", "onStart", "preCompact", "permissionRequest", "onStop", "postTool"];
    let hooks: serde_json::Map<String, Value> =
        events.iter().map(|event| ((*event).to_owned(), json!([{"hooks": [gate]}]))).collect();
    let file = json!({ "hooks": hooks }).to_string();
    let host = Host::new(&[("<project>/.aimon/hooks.json", &file)]);
    for event in events {
        let (reply, stderr) = host.fire(event, json!({"tool_name": "Bash", "tool_input": {}}));
        let vetoes = !matches!(event, "onStop" | "postTool");
        assert_eq!(reply["decision"] == "deny", vetoes, "{event}: {reply}");
        assert_eq!(stderr.contains("no effect"), !vetoes, "{event}: {stderr}");
    }
}

#[test]
fn a_command_is_never_filled_in() {
    let file = r#"{"hooks": {"preTool": [{"hooks": [{"type": "command", "command": "logger -t x \"[${tool_input.x:-}]\" || echo broken"}]}]}}"#;
    let host = Host::new(&[("<project>/.aimon/hooks.json", file)]);
    let marker = host.path("pwned");
    let input = json!({"x": format!("$(touch '{}')", marker.display())});
    assert_eq!(host.call("Bash", input)["decision"], "allow");
    assert!(!marker.exists());
}

#[test]
fn strict_mode_refuses_where_a_guard_cannot_decide() {
    let slow = r#"{"hooks": {"preTool": [{"hooks": [{"type": "command", "command": "sleep 5", "timeoutMs": 50}]}]}}"#;
    let strict = r#"{"settings": {"agents": {"aimon": {"mode": "strict"}}}}"#;
    let by_guide = Host::new(&[("<project>/.aimon/hooks.json", slow)]);
    assert_eq!(by_guide.call("Bash", json!({}))["decision"], "allow");
    let host = Host::new(&[("<project>/.aimon/hooks.json", slow), ("<project>/.hooks/hooks.json", strict)]);
    let reply = host.call("Bash", json!({}));
    assert_eq!(reply["decision"], "deny");
    assert!(!reply.to_string().contains("sleep"), "{reply}");
    let host =
        Host::new(&[("<project>/.aimon/hooks.json", "{broken"), ("<project>/.hooks/hooks.json", strict)]);
    assert_eq!(host.call("Bash", json!({}))["decision"], "deny");
    assert_eq!(host.fire("onStop", json!({})).0["decision"], "allow");
}

#[test]
fn a_turn_of_the_main_agent_runs_each_hook_once() {
    let aimon = r#"{"hooks": {"onStart": [{"hooks": [{"type": "command", "command": "logger -t x \"own $AIMON_USER_MESSAGE_LENGTH\""}]}]}}"#;
    let native = r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "logger -t x native"}]}]}}"#;
    let host = Host::new(&[("<project>/.aimon/hooks.json", aimon), ("<project>/.hooks/hooks.json", native)]);
    host.fire("onStart", json!({"user_message": "hello"}));
    let mut logged = host.logged();
    logged.sort();
    assert_eq!(logged, ["native", "own 5"]);
}
