//! What it costs to look at the skills of a project.

use anyhow::{Result, bail};
use hook_engine::config::{LoadRequest, load};
use hook_engine::core::{DialectId, HostContext, MemoryFiles};
use hook_engine::mapper::Dialects;

use super::{Row, in_turns};

const SKILLS: usize = 100;

/// A hundred skills of a page each. With `hooks`, every one of them guards two tools.
fn skills(hooks: bool) -> MemoryFiles {
    let mut files = MemoryFiles::new();
    for skill in 0..SKILLS {
        let mut text =
            format!("---\nname: skill{skill}\ndescription: >\n  Says in two lines\n  what it is for.\n");
        if hooks {
            text.push_str("hooks:\n  PreToolUse:\n");
            for tool in ["Bash", "Edit|Write"] {
                text.push_str(&format!(
                    "    - matcher: \"{tool}\"\n      hooks:\n        - type: command\n          command: \"./guard.sh {skill}\" # a note\n          timeout: 5\n"
                ));
            }
        }
        text.push_str("---\n");
        text.push_str(&"A line of what the model is to know.\n".repeat(100));
        files = files.with(format!("/bench/project/.claude/skills/skill{skill}/SKILL.md"), text);
    }
    files
}

pub(super) fn loading(rows: &mut Vec<Row>) -> Result<()> {
    let (host, dialects) = (HostContext::new("/bench/project"), Dialects::standard());
    let read = |files: &MemoryFiles, hooks: usize| {
        let mut request = LoadRequest::new(&host, files, &dialects);
        request.own_files_of.push(DialectId("claude"));
        match load(&request).hooks().count() {
            found if found == hooks => Ok(()),
            found => bail!("{found} hooks"),
        }
    };
    let (with, without) = (skills(true), skills(false));
    let times = in_turns(30, &mut [&mut || read(&with, 2 * SKILLS), &mut || read(&without, 0)])?;
    let [with, without] = times[..] else { bail!("two measurements") };
    let row = |work, seconds: f64, budget| Row { work, measured: seconds * 1e3, budget, unit: "ms" };
    rows.push(row("load 100 skills of two hooks each", with, 15.0));
    rows.push(row("load 100 skills without hooks", without, 3.0));
    Ok(())
}
