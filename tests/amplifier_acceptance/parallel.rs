//! Phase 3, parallel execution: `"parallel": true` in a group.

use serde_json::{Value, json};

use crate::host::{Host, command, expect, note, says, when};

/// A group whose hooks run at the same time.
fn group(hooks: &[Value]) -> Value {
    json!({ "matcher": "Bash", "parallel": true, "hooks": hooks })
}

/// A script that goes on when all three of them have begun, and fails where it stays alone.
const MEET: &str = "#!/bin/sh
: > \"begun.$1\"
waited=0
while [ ! -f begun.1 ] || [ ! -f begun.2 ] || [ ! -f begun.3 ]; do
    waited=$((waited + 1))
    [ $waited -lt 1000 ] || { echo \"$1 is alone\" >&2; exit 2; }
    sleep 0.02
done
echo \"$1\" >> met
";

#[test]
fn hooks_of_a_parallel_group_run_concurrently() {
    let checks: Vec<Value> = (1..=3).map(|n| command(&format!("./check.sh {n}"))).collect();
    let host = Host::with_hooks(&json!({ "PreToolUse": [group(&checks)] })).with("check.sh", MEET);
    expect(&host.bash("ls"), &json!({ "action": "continue", "reason": null, "user_message": null }));
    let mut met = host.take("met");
    met.sort();
    assert_eq!(met, ["1", "2", "3"]);
}

#[test]
fn short_circuit_on_first_blocking_result() {
    // All are waited for; the first deny in the order of the file counts, though another one answers sooner.
    let slow = "while [ ! -f done ]; do sleep 0.02; done; echo first >&2; echo slow >> log; exit 2";
    let fast = "echo fast >> log; : > done; echo second >&2; exit 2";
    let host = Host::with_hooks(&json!({ "PreToolUse": [
        group(&[command("true"), command(slow), command(fast)]), when("Bash", &note("later group"))] }));
    expect(&host.bash("ls"), &json!({ "action": "deny", "reason": "first" }));
    assert_eq!(host.take("log"), ["fast", "slow"], "later groups are skipped");
}

#[test]
fn a_deny_counts_beside_an_injection_that_is_listed_before_it() {
    let inject = command(&says(&json!({ "contextInjection": "c" })));
    let host = Host::with_hooks(
        &json!({ "PreToolUse": [group(&[inject.clone(), command("echo no >&2; exit 2")])] }),
    );
    expect(&host.bash("ls"), &json!({ "action": "deny", "reason": "no", "context_injection": null }));
    let host = Host::with_hooks(&json!({ "PreToolUse": [group(&[command("true"), inject])] }));
    expect(&host.bash("ls"), &json!({ "action": "inject_context", "context_injection": "c" }));
}

#[test]
fn a_hook_that_fails_leaves_the_others_of_its_group_alone() {
    let host = Host::with_hooks(&json!({ "PreToolUse": [
        group(&[command("exit 1"), command("not-there"), command("kill -9 $$"), command(&note("well"))]),
        when("Bash", &note("later group")),
    ] }));
    expect(&host.bash("ls"), &json!({ "action": "continue", "user_message_level": "warning" }));
    assert_eq!(host.take("log"), ["well", "later group"]);
}

#[test]
fn sequential_by_default() {
    let slow =
        |word: &str| command(&format!("echo {word} begins >> log; sleep 0.1; echo {word} ends >> log"));
    let hooks = [slow("one"), slow("two")];
    for parallel in [None, Some(false)] {
        let mut group = json!({ "hooks": hooks });
        if let Some(parallel) = parallel {
            group["parallel"] = json!(parallel);
        }
        let host = Host::with_hooks(&json!({ "PreToolUse": [group] }));
        host.bash("ls");
        assert_eq!(host.take("log"), ["one begins", "one ends", "two begins", "two ends"], "{parallel:?}");
    }
}

#[test]
fn a_parallel_group_and_a_sequential_one_in_a_row() {
    let host = Host::with_hooks(&json!({ "PreToolUse": [
        when("Bash", &note("before")), group(&[command(&note("beside")), command("sleep 0.2")]), when("Bash", &note("after"))] }));
    host.bash("ls");
    assert_eq!(host.take("log"), ["before", "beside", "after"]);
}

#[test]
fn a_timeout_in_a_parallel_group_stops_that_hook_only() {
    let slow = json!({ "type": "command", "command": "sleep 60", "timeout": 0.3 });
    let host =
        Host::with_hooks(&json!({ "PreToolUse": [group(&[slow, command("sleep 0.6; echo well >> log")])] }));
    expect(
        &host.bash("ls"),
        &json!({
        "action": "continue", "user_message": "Hook timed out after 0.3s", "user_message_level": "warning" }),
    );
    assert_eq!(host.take("log"), ["well"]);
}
