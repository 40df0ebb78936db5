//! Tools that rules can name, and what a rule may say about their input.
//!
//! "Claude Code tools reference", and "Claude Code permissions reference, Tool-specific permission rules".

/// What stands in the parentheses of a rule for a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// A shell command.
    Command,
    /// A command of PowerShell.
    PowerShell,
    /// A path.
    Path,
    /// What is searched for, or where.
    Search,
    /// `domain:HOST`
    Domain,
    /// The name of a subagent.
    Agent,
    /// The name of a skill.
    Skill,
    /// Nothing that is known.
    Nothing,
}

/// Every tool that is known, in its neutral name.
const TOOLS: &[(&str, Takes)] = &[
    ("Agent", Takes::Agent),
    ("AskUserQuestion", Takes::Nothing),
    ("Bash", Takes::Command),
    ("CronCreate", Takes::Nothing),
    ("CronDelete", Takes::Nothing),
    ("CronList", Takes::Nothing),
    ("Edit", Takes::Path),
    ("EnterPlanMode", Takes::Nothing),
    ("EnterWorktree", Takes::Nothing),
    ("ExitPlanMode", Takes::Nothing),
    ("ExitWorktree", Takes::Nothing),
    ("Glob", Takes::Search),
    ("Grep", Takes::Search),
    ("LS", Takes::Path),
    ("ListMcpResourcesTool", Takes::Nothing),
    ("Monitor", Takes::Nothing),
    ("MultiEdit", Takes::Path),
    ("NotebookEdit", Takes::Path),
    ("PowerShell", Takes::PowerShell),
    ("Read", Takes::Path),
    ("ReadMcpResourceTool", Takes::Nothing),
    ("ScheduleWakeup", Takes::Nothing),
    ("SendMessage", Takes::Nothing),
    ("Skill", Takes::Skill),
    ("SubagentHandback", Takes::Nothing),
    ("Task", Takes::Agent),
    ("TaskCreate", Takes::Nothing),
    ("TaskGet", Takes::Nothing),
    ("TaskList", Takes::Nothing),
    ("TaskOutput", Takes::Nothing),
    ("TaskStop", Takes::Nothing),
    ("TaskUpdate", Takes::Nothing),
    ("TodoWrite", Takes::Nothing),
    ("ToolSearch", Takes::Nothing),
    ("WebFetch", Takes::Domain),
    ("WebSearch", Takes::Nothing),
    ("Workflow", Takes::Nothing),
    ("Write", Takes::Path),
];

/// The names of the tools that rules are written for, without those of MCP servers.
pub fn known_tools() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|(name, _)| *name)
}

/// The known tool of this name, or of this name in another letter case.
pub(super) fn find(tool: &str) -> Option<(&'static str, Takes)> {
    let same = |known: &&(&str, Takes)| known.0 == tool;
    let alike = |known: &&(&str, Takes)| known.0.eq_ignore_ascii_case(tool);
    TOOLS.iter().find(same).or_else(|| TOOLS.iter().find(alike)).copied()
}
