//! The `if` of a hook: a permission rule, in native files also a predicate.

use std::sync::Arc;

use hook_core::{Condition, Flavour, HookCx, Verdict};

use crate::matcher::{Compiled, Matcher};
use crate::predicate::{self, Predicate};
use crate::problem::Problem;
use crate::rule::Rule;

/// An `if`, compiled, and what its author should know about it.
///
/// In native files a text is a predicate where it tests a field (`Bash(command=^git)`, `input.command~^git`) or joins terms with
/// `|` and `&`. Everything else is a permission rule, `Bash(git *)` among it: what [`Rule`] says of it counts.
///
/// ```
/// use hook_matcher::CompiledIf;
///
/// assert!(!CompiledIf::compile("Bash(git *)", true).is_predicate());
/// assert!(CompiledIf::compile("Bash(command=^git)", true).is_predicate());
/// assert!(CompiledIf::compile("Bash(git *) | Edit(*.ts)", true).is_predicate());
/// assert!(CompiledIf::compile("Bash(git *) | Edit(*.ts)", false).is_unreadable(), "other agents have rules only");
/// ```
#[derive(Debug, Clone)]
pub struct CompiledIf {
    shape: Shape,
    /// Problems, in the order of the text.
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone)]
enum Shape {
    Rule(Rule),
    Predicate(Arc<Predicate>),
    /// It was meant as a predicate.
    Unreadable(Arc<str>),
}

impl CompiledIf {
    /// Compiles the text of an `if`; predicates are read in `native` files alone.
    pub fn compile(text: &str, native: bool) -> CompiledIf {
        let rule = Rule::compile(text);
        let tests = native && predicate::tests_a_field(text);
        let as_rule = CompiledIf { shape: Shape::Rule(rule.rule), problems: rule.problems };
        if !native || (!as_rule.is_unreadable() && !tests) {
            return as_rule;
        }
        let Compiled { matcher, problems } = Matcher::compile(Some(text), Flavour::Native);
        match matcher.predicate() {
            Some(predicate) => CompiledIf { shape: Shape::Predicate(predicate.clone()), problems },
            // What was meant as a predicate is mended as one.
            None if matcher.is_unreadable() && (tests || predicate::was_meant(text)) => {
                let why = problems.first().map_or("", |problem| problem.message.as_str());
                CompiledIf { shape: Shape::Unreadable(Arc::from(why)), problems }
            }
            None => as_rule,
        }
    }

    /// True where it is a predicate.
    pub fn is_predicate(&self) -> bool {
        matches!(self.shape, Shape::Predicate(_))
    }

    /// True where the text could not be read.
    pub fn is_unreadable(&self) -> bool {
        match &self.shape {
            Shape::Rule(rule) => rule.is_unreadable(),
            Shape::Predicate(_) => false,
            Shape::Unreadable(_) => true,
        }
    }

    /// What is asked when the hook's turn comes. An unreadable text holds where the hook `guards` something, and never elsewhere.
    pub fn condition(&self, guards: bool) -> Arc<dyn Condition> {
        match &self.shape {
            Shape::Rule(rule) => Arc::new(rule.clone().guarding(guards)),
            Shape::Predicate(predicate) => predicate.clone(),
            Shape::Unreadable(why) => Arc::new(Unread { why: why.clone(), guards }),
        }
    }
}

/// A predicate that cannot be read.
#[derive(Debug)]
struct Unread {
    why: Arc<str>,
    guards: bool,
}

impl Condition for Unread {
    fn test(&self, _cx: &HookCx<'_>) -> Verdict {
        let why = &self.why;
        match self.guards {
            true => Verdict::holds(format!("the `if` cannot be read ({why}), and the hook guards something")),
            false => Verdict::fails(format!("the `if` cannot be read: {why}")),
        }
    }
}
