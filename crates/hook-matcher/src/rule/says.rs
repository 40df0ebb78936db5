//! What a rule says about the input of a call.

use hook_core::Verdict;

use super::command::CommandPattern;
use super::grammar::{Content, Parsed};
use super::path::{PathPattern, Roots};
use super::powershell::PowerShellPattern;
use super::tools::{self, Takes};
use super::{RuleInput, domain};
use crate::problem::{Problem, ProblemKind};
use crate::shown::shown;
use crate::wild::Wild;

/// What a rule says about the input.
#[derive(Debug, Clone)]
pub(super) enum Says {
    /// Nothing.
    All,
    Command(CommandPattern),
    PowerShell(PowerShellPattern),
    Path(PathPattern),
    Search(Wild, PathPattern),
    Domain(Wild),
    Agent(Wild),
    Skill(Vec<Wild>),
    /// Something that no tool of this name is known to have.
    Unknown,
}

/// Reads what stands in the parentheses of a rule.
pub(super) fn says(parsed: &Parsed<'_>, problems: &mut Vec<Problem>) -> Result<Says, Problem> {
    let Some(content) = &parsed.content else { return Ok(Says::All) };
    let text = content.text.trim();
    if matches!(text, "" | "*") {
        return Ok(Says::All);
    }
    // Other agents write tools in other letters; what such a tool takes is the same.
    let says = match tools::find(parsed.tool).map(|(_, takes)| takes) {
        Some(Takes::Command) => {
            let pattern = CommandPattern::new(text);
            if pattern.is_all() { Says::All } else { Says::Command(pattern) }
        }
        Some(Takes::PowerShell) => Says::PowerShell(PowerShellPattern::new(text)),
        Some(Takes::Path) => {
            let pattern = path(content, text, problems)?;
            if pattern.is_all() { Says::All } else { Says::Path(pattern) }
        }
        Some(Takes::Search) => Says::Search(Wild::glob(text), PathPattern::new(text)),
        Some(Takes::Domain) => match text.strip_prefix("domain:") {
            Some(host) => {
                let pattern = domain::pattern(host);
                if pattern.is_all() { Says::All } else { Says::Domain(pattern) }
            }
            None => {
                let problem = trap(
                    content,
                    format!("a rule for {} says nothing but a host; it holds for every call", parsed.tool),
                );
                problems
                    .push(problem.help("write `domain:` before the host").suggest(format!("domain:{text}")));
                Says::Unknown
            }
        },
        Some(Takes::Agent) => Says::Agent(Wild::glob(text)),
        Some(Takes::Skill) => {
            let text = text.trim_start_matches('/');
            let stem = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
            Says::Skill(match stem {
                Some(stem) => vec![Wild::glob(stem), Wild::glob(&format!("{stem} *"))],
                None => vec![Wild::glob(text)],
            })
        }
        None if !parsed.mcp => Says::Unknown,
        Some(Takes::Nothing) | None => {
            let message =
                format!("nothing is known of {}'s input; the rule holds for every call of it", parsed.tool);
            problems.push(
                trap(content, message)
                    .help(format!("write `{}`, and let the hook look at the input", parsed.tool)),
            );
            Says::Unknown
        }
    };
    Ok(says)
}

fn trap(content: &Content, message: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::DialectTrap, content.span, message)
}

fn path(content: &Content, text: &str, problems: &mut Vec<Problem>) -> Result<PathPattern, Problem> {
    if text.starts_with('!') {
        let problem = Problem::new(ProblemKind::Unreadable, content.span, "a rule cannot leave files out");
        return Err(problem.help("write a rule for the files that are meant"));
    }
    if text.contains('{') && text.contains(',') {
        let message = "braces are plain characters in the path of a rule; it holds for no other file";
        problems.push(
            trap(content, message).help("write a handler for each path, or a rule that covers them all"),
        );
    }
    if text.replace('\\', "/").split('/').any(|name| name == "..") {
        let message = "a rule with `..` in its path never holds";
        problems
            .push(trap(content, message).help("write the whole path: `//path/from/the/root` or `~/path`"));
    }
    Ok(PathPattern::new(text))
}

impl Says {
    /// Tests the input of a call whose tool is the rule's.
    pub(super) fn test(&self, input: &RuleInput<'_>) -> Verdict {
        // Keys in the order of their worth.
        let text = |keys: &[&str]| keys.iter().find_map(|key| input.input?.get(key)?.as_str());
        let nothing = |what: &str| Verdict::holds(format!("the call names no {what}"));
        match self {
            Says::All => {
                Verdict::holds(format!("the tool is {}", input.tools.first().copied().unwrap_or_default()))
            }
            Says::Unknown => Verdict::holds("nothing is known of this tool's input"),
            Says::Command(pattern) => match text(&["command"]) {
                Some(command) => pattern.test(command),
                None => nothing("command"),
            },
            Says::PowerShell(pattern) => match text(&["command"]) {
                Some(command) => pattern.test(command),
                None => nothing("command"),
            },
            Says::Path(pattern) => match text(&["file_path", "notebook_path", "path"]) {
                Some(path) => on_path(pattern, path, input),
                None => nothing("file"),
            },
            Says::Search(wild, path) => match (text(&["pattern", "query"]), text(&["path"])) {
                (Some(pattern), _) if wild.matches(pattern) => {
                    Verdict::holds(format!("the pattern {} fits", shown(pattern)))
                }
                (_, Some(place)) => on_path(path, place, input),
                (Some(pattern), None) => Verdict::fails(format!("the pattern is {}", shown(pattern))),
                (None, None) => nothing("pattern"),
            },
            Says::Domain(wild) => match text(&["url"]) {
                Some(url) => match domain::host(url) {
                    Some(host) => on_name("host", wild.matches(&host), &host),
                    None => Verdict::holds(format!("the host of {} is not known", shown(url))),
                },
                None => nothing("URL"),
            },
            Says::Agent(wild) => match text(&["subagent_type", "agent_type", "agent"]) {
                Some(name) => on_name("subagent", wild.matches(name), name),
                None => nothing("subagent"),
            },
            Says::Skill(wilds) => match text(&["skill", "skill_name", "name", "command"]) {
                Some(name) => {
                    let name = name.trim_start_matches('/');
                    let with = text(&["args", "arguments"]).map(|args| format!("{name} {args}"));
                    let fits = |text: &str| wilds.iter().any(|wild| wild.matches(text));
                    on_name("skill", fits(name) || with.as_deref().is_some_and(fits), name)
                }
                None => nothing("skill"),
            },
        }
    }
}

fn on_name(what: &str, fits: bool, value: &str) -> Verdict {
    Verdict::of(fits, format!("the {what} is {}", shown(value)))
}

fn on_path(pattern: &PathPattern, path: &str, input: &RuleInput<'_>) -> Verdict {
    if pattern.needs_home() && input.home.is_none() {
        return Verdict::holds("the home directory is not known");
    }
    let roots =
        Roots { session: input.session, project: input.project, home: input.home, source: input.source };
    Verdict::of(pattern.matches(path, &roots), format!("the file is {}", shown(path)))
}
