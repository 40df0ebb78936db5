//! The tools that a rule means.

use super::grammar::Parsed;
use super::tools;
use crate::problem::{Problem, ProblemKind};
use crate::wild::Wild;

#[derive(Debug, Clone)]
pub(super) enum Names {
    One(String),
    /// Two names of one tool.
    Either(&'static [&'static str]),
    Like(Vec<Wild>),
}

impl Names {
    pub(super) fn contain(&self, tools: &[&str]) -> bool {
        tools.iter().any(|tool| match self {
            Names::One(name) => name == tool,
            Names::Either(names) => names.contains(tool),
            Names::Like(wilds) => wilds.iter().any(|wild| wild.matches(tool)),
        })
    }
}

/// Reads the name of a rule.
pub(super) fn names(parsed: &Parsed<'_>, problems: &mut Vec<Problem>) -> Names {
    let tool = parsed.tool;
    if parsed.mcp {
        let server = tool["mcp__".len()..].trim_end_matches("__");
        // `mcp__server` is all of the server, `mcp__server__tool` one tool of it.
        if !server.contains("__") && !server.contains('*') {
            return Names::Like(vec![
                Wild::glob(&format!("mcp__{server}__*")),
                Wild::glob(&format!("mcp__{server}")),
            ]);
        }
        return if tool.contains('*') {
            Names::Like(vec![Wild::glob(tool)])
        } else {
            Names::One(tool.to_owned())
        };
    }
    let known = tools::find(tool).map(|(name, _)| name);
    if known != Some(tool) {
        let message = format!("no tool is known as {tool}; the rule holds for a tool of exactly this name");
        let problem = Problem::new(ProblemKind::UnknownTool, parsed.tool_span, message);
        problems.push(match known {
            Some(known) => {
                problem.help(format!("the tool is called {known}; letter case counts")).suggest(known)
            }
            None => problem,
        });
    }
    match tool {
        // The tool was renamed, and rules of either name mean it.
        "Agent" | "Task" => Names::Either(&["Agent", "Task"]),
        tool => Names::One(tool.to_owned()),
    }
}
