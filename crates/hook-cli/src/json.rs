//! Outcomes, hooks and findings as JSON.

use hook_engine::core::{Diagnostic, Hook, Incoming, Outcome, Reply, Run};
use serde_json::{Value, json};

/// An outcome with the record of every run.
pub(crate) fn outcome(incoming: &Incoming, outcome: &Outcome, findings: &[Diagnostic]) -> Value {
    let answer = &outcome.answer;
    json!({
        "events": incoming.events.iter().map(|event| event.kind.name()).collect::<Vec<_>>(),
        "decision": answer.decision.name(),
        "reason": answer.reason,
        "contexts": answer.contexts().collect::<Vec<_>>(),
        "messages": answer.messages().map(|(text, level)| json!({ "text": text, "level": level })).collect::<Vec<_>>(),
        "effects": answer.effects,
        "updated_input": answer.updated_input,
        "updated_output": answer.updated_output,
        "stop": answer.stop,
        "stop_reason": answer.stop_reason,
        "decided_by": outcome.decided_by,
        "rule": outcome.decider().map(|run| run.reading.rule.as_str()),
        "runs": outcome.runs.iter().map(run).collect::<Vec<_>>(),
        "notes": outcome.notes,
        "diagnostics": findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

/// One run.
pub(crate) fn run(run: &Run) -> Value {
    let mut value = hook(&run.hook);
    let answer = &run.reading.answer;
    let more = json!({
        "generation": run.generation,
        "status": run.status().name(),
        "exit_code": run.exit_code,
        "duration_ms": run.duration.as_secs_f64() * 1000.0,
        "decision": answer.decision.name(),
        "reason": answer.reason,
        "answer": answer,
        "rule": run.reading.rule,
        "failure": run.reading.failure,
        "stdout": run.reading.stdout,
        "stderr": run.stderr,
        "notes": run.reading.notes,
    });
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

/// What the agent would be told.
pub(crate) fn reply(reply: &Reply) -> Value {
    json!({
        "exit_code": reply.exit_code,
        "stdout": reply.stdout,
        "stderr": reply.stderr,
        "degraded": reply.degraded,
    })
}

/// A hook and where it stands.
pub(crate) fn hook(hook: &Hook) -> Value {
    let location = hook.origin.location.as_ref();
    json!({
        "id": hook.id.as_str(),
        "label": hook.label(),
        "event": hook.event.name(),
        "dialect": hook.dialect.0,
        "layer": hook.origin.layer.name(),
        "source": hook.origin.source,
        "file": hook.origin.file.as_ref().map(|file| file.display().to_string()),
        "line": location.map(|location| location.line),
        "column": location.map(|location| location.column),
        "pointer": hook.origin.pointer,
        "matcher": hook.matcher.text,
        "type": hook.handler.kind().name(),
    })
}

/// A finding.
pub(crate) fn finding(finding: &Diagnostic) -> Value {
    let location = finding.location();
    json!({
        "code": finding.code.number(),
        "slug": finding.code.slug(),
        "severity": finding.severity.name(),
        "message": finding.message,
        "file": finding.file.as_ref().map(|file| file.display().to_string()),
        "line": location.map(|location| location.line),
        "column": location.map(|location| location.column),
        "pointer": finding.pointer,
        "help": finding.help,
        "suggestion": finding.suggestion,
    })
}
