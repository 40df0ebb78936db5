//! A dispatch that a server answers, beside one that does its work itself.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Result, bail};
use serde_json::json;

use super::{Row, in_turns, project};

/// A server, ended when this is dropped.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        // Its worker ends when the pipe to it closes, which this process's end does.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(binary: &Path, place: &Path) -> Command {
    let mut command = Command::new(binary);
    command.current_dir(place.join("project")).env("HOME", place).env_remove("XDG_STATE_HOME");
    command
}

pub(super) fn measure(binary: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let directory = tempfile::tempdir()?;
    let payload = directory.path().join("payload.json");
    let event = json!({"event": "tool:pre", "data": {
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "bench",
    }});
    std::fs::write(&payload, event.to_string())?;
    for (matching, work) in [
        (None, "hook dispatch through a server, none of 100 matching, by cold"),
        (Some("true"), "the same with one matching hook, by cold"),
    ] {
        let place = directory.path().join(if matching.is_some() { "one" } else { "none" });
        project(&place, matching)?;
        let mut serve = command(binary, &place);
        serve.arg("serve").stdout(Stdio::piped());
        let mut child = serve.spawn()?;
        let said = child.stdout.take().map(BufReader::new);
        let _serving = Serving(child);
        if !said.into_iter().flat_map(BufRead::lines).any(|line| line.is_ok_and(|line| line == "ready")) {
            bail!("the server did not start");
        }
        let dispatch = |more: &[&str]| -> Result<()> {
            let mut command = command(binary, &place);
            command.args(["dispatch", "--agent", "amplifier"]).args(more);
            let output = command.stdin(std::fs::File::open(&payload)?).output()?;
            if !output.status.success() || !output.stderr.is_empty() {
                bail!("hook dispatch gave {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
            }
            Ok(())
        };
        let times = in_turns(150, &mut [&mut || dispatch(&["--cold"]), &mut || dispatch(&[])])?;
        let status = command(binary, &place).args(["serve", "--status", "--json"]).output()?;
        let status: serde_json::Value = serde_json::from_slice(&status.stdout)?;
        if status["declined"] != 0 {
            bail!("the server left events to those who asked: {status}");
        }
        let [cold, warm] = times[..] else { bail!("two measurements") };
        rows.push(Row { work, measured: warm / cold, budget: 0.8, unit: "x" });
    }
    Ok(())
}
