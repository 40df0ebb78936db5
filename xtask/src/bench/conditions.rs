//! `if` rules on a long command line.

use std::sync::Arc;

use anyhow::{Result, bail};
use hook_engine::core::{
    Condition, DialectId, Event, EventKind, Handler, Hook, HookCx, HostContext, Payload, SessionView,
    ToolCall,
};
use hook_engine::matcher::Rule;
use serde_json::{Value, json};

use super::{Row, in_turns};

/// 2,000 sub-commands in 64 kB, none of which is the rule's.
fn long_line() -> String {
    let commands: Vec<String> = (0..2_000).map(|n| format!("npm run \"part {n:04}\" --quiet")).collect();
    commands.join(" && ")
}

pub(super) fn measure(rows: &mut Vec<Row>) -> Result<()> {
    let line = long_line();
    let input = json!({"command": line});
    let mut event = Event::new(
        EventKind::PreToolUse,
        DialectId::NATIVE,
        "PreToolUse",
        Arc::new(Payload::from_value(Value::Null)),
    );
    event.match_names = vec!["Bash".to_owned()];
    event.tool = Some(ToolCall {
        native_name: "Bash".into(),
        name: "Bash".into(),
        native_input: input.clone(),
        input,
        use_id: None,
        response: None,
    });
    let hook =
        Hook::new("bench", DialectId::NATIVE, EventKind::PreToolUse, Handler::Code { name: "bench".into() });
    let (session, host) = (SessionView::default(), HostContext::new("/bench/project"));
    let cx = HookCx { event: &event, hook: &hook, session: &session, host: &host };
    let (on_line, on_tool) = (Rule::compile("Bash(git push *)").rule, Rule::compile("Bash").rule);
    let times = in_turns(
        200,
        &mut [
            &mut || {
                // One look at every byte that the compiler cannot shorten.
                let hash = line
                    .bytes()
                    .fold(0u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
                std::hint::black_box(hash);
                Ok(())
            },
            &mut || if on_line.test(&cx).holds { bail!("the rule holds") } else { Ok(()) },
            &mut || if on_tool.test(&cx).holds { Ok(()) } else { bail!("the rule does not hold") },
        ],
    )?;
    let [pass, on_line, on_tool] = times[..] else { bail!("three measurements") };
    rows.push(Row {
        work: "if Bash(git push *) on 2,000 sub-commands in 64 kB, by a pass over it",
        measured: on_line / pass,
        budget: 25.0,
        unit: "x",
    });
    rows.push(Row {
        work: "if Bash on the same line, by that pass",
        measured: on_tool / pass,
        budget: 0.05,
        unit: "x",
    });
    Ok(())
}
