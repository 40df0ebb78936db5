//! Matchers that look at the input of a tool.

mod compile;
mod globs;
mod grammar;
mod value;

pub(crate) use compile::{tests_a_field, was_meant};

use std::sync::Arc;

use hook_core::{Condition, HookCx, ToolCall, Verdict};
use serde_json::Value;

use self::compile::Manner;
use self::globs::Glob;
use self::value::{Field, Seen};
use crate::matcher::Shape;
use crate::problem::Problem;
use crate::shown::shown;

/// The part of a matcher that looks at the input of a tool: alternatives of terms that all have to hold.
///
/// It is asked when the hook's turn comes, with the input as hooks before it have rewritten it. An event that nothing can be
/// matched with passes, as it does for matchers on names.
#[derive(Debug, Clone)]
pub struct Predicate {
    text: Arc<str>,
    alternatives: Vec<Vec<Leaf>>,
}

#[derive(Debug, Clone)]
struct Leaf {
    text: Arc<str>,
    test: Test,
}

#[derive(Debug, Clone)]
enum Test {
    Name(Shape),
    Call { tool: String, glob: Option<Glob>, field: Option<Field> },
    Input(Field),
}

/// What names decide, and the predicate where they do not decide everything.
pub(crate) type Split = (Shape, Option<Arc<Predicate>>);

/// The native flavour of a matcher; `None` where it is none that looks at an input.
pub(crate) fn native(text: &str, problems: &mut Vec<Problem>) -> Option<Result<Split, Problem>> {
    compile::read(text, Manner::Native, problems).map(|read| read.map(|read| split(text, read)))
}

/// The flavour of AIMON.
pub(crate) fn aimon(text: &str, strict: bool, problems: &mut Vec<Problem>) -> Result<Split, Problem> {
    match compile::read(text, Manner::Aimon { strict }, problems) {
        Some(read) => read.map(|read| split(text, read)),
        None => Ok((Shape::All, None)),
    }
}

fn split(text: &str, alternatives: Vec<Vec<Leaf>>) -> Split {
    let names = |leaf: &Leaf| match &leaf.test {
        Test::Name(shape) => Some(shape.clone()),
        Test::Call { tool, .. } => Some(Shape::Names(vec![tool.clone()])),
        Test::Input(_) => None,
    };
    let shapes = alternatives.iter().map(|terms| terms.iter().filter_map(names).collect()).collect();
    let decided = alternatives.iter().flatten().all(|leaf| matches!(leaf.test, Test::Name(_)));
    let predicate = Predicate { text: Arc::from(text), alternatives };
    (Shape::either(shapes), (!decided).then(|| Arc::new(predicate)))
}

impl Predicate {
    /// The matcher as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tests a call: the names of its tool, best first, and its inputs, the neutral one before the native one.
    pub fn judge(&self, names: &[&str], inputs: &[&Value]) -> Verdict {
        let mut against = Vec::new();
        for terms in &self.alternatives {
            let mut limits = Vec::new();
            let mut last = String::new();
            let mut failed = None;
            for leaf in terms {
                let seen = leaf.see(names, inputs);
                if !seen.holds {
                    failed = Some(format!("{}: {}", leaf.text, seen.saw));
                    break;
                }
                last = seen.saw;
                limits.extend(seen.limit);
            }
            match failed {
                Some(why) => against.push(why),
                None => {
                    let unsure = (!limits.is_empty()).then(|| limits.join("; "));
                    return Verdict { unsure, ..Verdict::holds(last) };
                }
            }
        }
        Verdict::fails(against.join("; "))
    }

    /// Every term, one line each, with what it says of the call and the value it saw. Terms that were not asked, because what was
    /// asked before them decided, say so.
    pub fn parts(&self, names: &[&str], inputs: &[&Value]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut decided = false;
        for (at, terms) in self.alternatives.iter().enumerate() {
            let mut fits = true;
            for (place, leaf) in terms.iter().enumerate() {
                let sign = match (at, place) {
                    (0, 0) => " ",
                    (_, 0) => "|",
                    _ => "&",
                };
                if decided || !fits {
                    lines.push(format!("{sign} {}: not asked", leaf.text));
                    continue;
                }
                let seen = leaf.see(names, inputs);
                fits = seen.holds;
                let word = if seen.holds { "true" } else { "false" };
                let limit = seen.limit.map(|limit| format!("; {limit}")).unwrap_or_default();
                lines.push(format!("{sign} {}: {word}, {}{limit}", leaf.text, seen.saw));
            }
            decided |= fits;
        }
        lines
    }
}

impl Leaf {
    fn see(&self, names: &[&str], inputs: &[&Value]) -> Seen {
        let tool = |holds| Seen::of(holds, named(names));
        match &self.test {
            Test::Name(shape) => tool(names.iter().any(|name| shape.matches_one(name))),
            Test::Call { tool: wanted, .. } if !names.contains(&wanted.as_str()) => tool(false),
            Test::Call { tool: wanted, glob, field } => {
                let own = field.as_ref().is_some_and(|field| field.is_of(wanted));
                let field = field.as_ref().map(|field| field.test(inputs));
                if field.as_ref().is_some_and(|seen| seen.holds && seen.limit.is_none()) {
                    return field.unwrap_or_else(|| tool(true));
                }
                // Either reading is enough. Where the test of a field is what was meant, the limits of the glob count for nothing.
                let glob =
                    glob.as_ref().map(|glob| glob.test(inputs)).filter(|seen| seen.limit.is_none() || !own);
                match (field, glob) {
                    (Some(field), Some(glob)) if glob.holds && !(field.holds && glob.limit.is_some()) => glob,
                    (Some(seen), _) | (None, Some(seen)) => seen,
                    (None, None) => tool(true),
                }
            }
            Test::Input(field) => field.test(inputs),
        }
    }
}

fn named(names: &[&str]) -> String {
    match names.first() {
        Some(name) => format!("the tool is {}", shown(name).trim_matches('"')),
        None => "the event names no tool".to_owned(),
    }
}

impl Condition for Predicate {
    fn test(&self, cx: &HookCx<'_>) -> Verdict {
        let names: Vec<&str> = cx.event.match_values().collect();
        match names.is_empty() {
            true => Verdict::holds("this event has nothing a matcher could see"),
            false => self.judge(&names, &inputs(cx.event.tool.as_ref())),
        }
    }

    fn parts(&self, cx: &HookCx<'_>) -> Vec<String> {
        let names: Vec<&str> = cx.event.match_values().collect();
        Predicate::parts(self, &names, &inputs(cx.event.tool.as_ref()))
    }
}

fn inputs(tool: Option<&ToolCall>) -> Vec<&Value> {
    tool.map(|tool| vec![&tool.input, &tool.native_input]).unwrap_or_default()
}
