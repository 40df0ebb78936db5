//! Permission rules: the `if` of a hook.
//!
//! "Claude Code hooks reference, Common fields: `if`" and "Claude Code permissions reference". A rule names one tool and may say
//! what its input looks like. It is a filter and no gate: in doubt it holds. Where the client never runs a handler although the
//! documentation says that it does (rules on domains, servers, subagents, skills), the documentation counts.

mod command;
mod domain;
mod grammar;
mod names;
mod path;
mod powershell;
mod says;
mod tools;

use std::path::Path;
use std::sync::Arc;

use hook_core::{Condition, EventKind, HookCx, Verdict};
use serde_json::Value;

pub use tools::known_tools;

use self::names::{Names, names};
use self::says::{Says, says};
use crate::problem::Problem;
use crate::shown::shown;

/// A rule and what its author should know about it.
#[derive(Debug, Clone)]
pub struct CompiledRule {
    /// The rule.
    pub rule: Rule,
    /// Problems, in the order of the text.
    pub problems: Vec<Problem>,
}

/// One permission rule, compiled. Testing it never fails and never compiles anything.
///
/// ```
/// use std::path::Path;
/// use hook_core::EventKind;
/// use hook_matcher::{Rule, RuleInput};
/// use serde_json::json;
///
/// let rule = Rule::compile("Bash(git push *)").rule;
/// let command = json!({"command": "npm test"});
/// let input = RuleInput {
///     event: &EventKind::PreToolUse,
///     tools: &["Bash"],
///     input: Some(&command),
///     session: None,
///     project: Path::new("/project"),
///     home: None,
///     source: None,
/// };
/// let verdict = rule.judge(&input);
/// assert!(!verdict.holds);
/// assert_eq!(verdict.why, "Bash(git push *): no sub-command of \"npm test\" fits");
/// ```
#[derive(Debug, Clone)]
pub struct Rule {
    text: Arc<str>,
    shape: Shape,
    /// It guards something, so that it holds where it cannot be read.
    guards: bool,
}

#[derive(Debug, Clone)]
enum Shape {
    /// No rule was written.
    Absent,
    Unreadable(String),
    Tool(Names, Says),
}

/// What a rule is tested against.
#[derive(Debug, Clone, Copy)]
pub struct RuleInput<'a> {
    /// The event.
    pub event: &'a EventKind,
    /// Every name of the tool; none on events without one.
    pub tools: &'a [&'a str],
    /// The tool's input, with neutral key names.
    pub input: Option<&'a Value>,
    /// The session's directory.
    pub session: Option<&'a Path>,
    /// The project.
    pub project: &'a Path,
    /// The home directory, where it is known.
    pub home: Option<&'a Path>,
    /// The directory of the settings the rule stands in, which `/x` in a path means; none for rules in code.
    pub source: Option<&'a Path>,
}

impl Rule {
    /// The events on which rules are asked; elsewhere they never hold ("Claude Code hooks reference, Common fields: `if`").
    pub const EVENTS: [EventKind; 5] = [
        EventKind::PreToolUse,
        EventKind::PostToolUse,
        EventKind::PostToolUseFailure,
        EventKind::PermissionRequest,
        EventKind::PermissionDenied,
    ];

    /// Compiles a rule; an empty text is no rule and always holds.
    pub fn compile(text: &str) -> CompiledRule {
        let mut problems = Vec::new();
        let shape = if text.trim().is_empty() {
            Shape::Absent
        } else {
            match grammar::parse(text) {
                Ok(parsed) => {
                    let names = names(&parsed, &mut problems);
                    match says(&parsed, &mut problems) {
                        Ok(says) => Shape::Tool(names, says),
                        Err(problem) => unreadable(problem, &mut problems),
                    }
                }
                Err(problem) => unreadable(problem, &mut problems),
            }
        };
        CompiledRule { rule: Rule { text: Arc::from(text), shape, guards: false }, problems }
    }

    /// The rule as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same rule for a hook that guards something: where it cannot be read it holds, so that a typing mistake does not switch
    /// the guard off.
    #[must_use]
    pub fn guarding(self, guards: bool) -> Rule {
        Rule { guards, ..self }
    }

    /// True where the text could not be read. Such a rule never holds, unless it is [`guarding`](Rule::guarding).
    pub fn is_unreadable(&self) -> bool {
        matches!(self.shape, Shape::Unreadable(_))
    }

    /// Tests the rule. The reason shows the value that decided.
    pub fn judge(&self, input: &RuleInput<'_>) -> Verdict {
        let verdict = self.verdict(input);
        Verdict { why: format!("{}: {}", self.text.trim(), verdict.why), ..verdict }
    }

    fn verdict(&self, input: &RuleInput<'_>) -> Verdict {
        let (names, says) = match &self.shape {
            Shape::Absent => return Verdict::holds("there is no rule"),
            _ if !Rule::EVENTS.contains(input.event) => {
                return Verdict::fails(format!("no rule holds on {}", input.event));
            }
            Shape::Unreadable(why) if self.guards => {
                return Verdict::holds(format!(
                    "the rule cannot be read ({why}), and the hook guards something"
                ));
            }
            Shape::Unreadable(why) => return Verdict::fails(format!("the rule cannot be read: {why}")),
            Shape::Tool(names, says) => (names, says),
        };
        if !names.contain(input.tools) {
            return Verdict::fails(match input.tools.first() {
                Some(tool) => format!("the tool is {}", shown(tool)),
                None => "the event names no tool".to_owned(),
            });
        }
        says.test(input)
    }
}

impl Condition for Rule {
    fn test(&self, cx: &HookCx<'_>) -> Verdict {
        let tools: Vec<&str> = cx.event.match_names.iter().map(String::as_str).collect();
        let origin = &cx.hook.origin;
        let beside = origin.file.as_deref().and_then(Path::parent);
        self.judge(&RuleInput {
            event: &cx.event.kind,
            tools: &tools,
            input: cx.event.tool.as_ref().map(|tool| &tool.input),
            session: cx.event.session.cwd.as_deref(),
            project: &cx.host.project,
            home: cx.host.home.as_deref(),
            source: origin.root.as_deref().or(beside),
        })
    }
}

fn unreadable(problem: Problem, problems: &mut Vec<Problem>) -> Shape {
    let why = problem.message.clone();
    problems.push(problem);
    Shape::Unreadable(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hook_core::Span;

    #[test]
    fn problems_point_at_what_is_wrong() {
        for (text, expected, suggestion) in [
            ("Bash(git ", "(git", Some("(git)")),
            ("Bash(git *) || Bash(rm *)", "|| Bash(rm *)", None),
            ("X || Y", "|| Y", None),
            ("Bash, Edit", ", Edit", None),
            ("Bash(git *) x", "x", None),
            ("*", "*", None),
            ("(git)", "(git)", None),
            ("mcp__*", "*", None),
            ("mcp__", "_", None),
            ("bash(git *)", "bash", Some("Bash")),
            ("Write(!a)", "!a", None),
            ("Write(src/{a,b})", "src/{a,b}", None),
            ("Write(../**)", "../**", None),
            ("WebFetch(example.com)", "example.com", Some("domain:example.com")),
            ("WebSearch(rust)", "rust", None),
        ] {
            let problems = Rule::compile(text).problems;
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
            let Span { start, end } = problems[0].span;
            assert_eq!(&text[start..end], expected, "{text}: {}", problems[0].message);
            assert_eq!(problems[0].suggestion.as_deref(), suggestion, "{text}");
        }
    }
}
