//! Terms into what they test, flavour by flavour.

use hook_core::Span;

use super::globs::{self, Cut, Glob};
use super::grammar::{Alternatives, Slice, Term, What};
use super::value::Field;
use super::{Leaf, Test, grammar};
use crate::flavours::{self, names, whole};
use crate::matcher::Shape;
use crate::native;
use crate::pattern::{Cause, Language, Reach, Refused};
use crate::problem::{Problem, ProblemKind};
use crate::traps;
use crate::wild::Wild;

/// How the terms of a matcher are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Native,
    Aimon { strict: bool },
}

impl Manner {
    fn language(self) -> Language {
        match self {
            Manner::Native => Language::Common,
            Manner::Aimon { .. } => Language::Java,
        }
    }

    fn cut(self) -> Cut {
        match self {
            Manner::Aimon { strict: false } => Cut::Text,
            _ => Cut::Thorough,
        }
    }
}

/// Reads a matcher; `None` where the native flavour has another reading for it.
pub(super) fn read(
    text: &str,
    manner: Manner,
    problems: &mut Vec<Problem>,
) -> Option<Result<Vec<Vec<Leaf>>, Problem>> {
    let native = manner == Manner::Native;
    if native && !text.contains(['(', '&']) && !text.contains("input.") {
        return None;
    }
    let read = match grammar::parse(text) {
        Ok(read) => read,
        Err(_) if native && !looks_like_one(text) => return None,
        Err(problem) => return Some(Err(problem)),
    };
    if native && !read.iter().flatten().any(|term| is_test(term)) && !joined(text, &read) {
        return None;
    }
    let mut found = Vec::new();
    let mut alternatives = Vec::new();
    for terms in &read {
        let mut leaves = Vec::new();
        for term in terms {
            match leaf(term, manner, &mut found) {
                Ok(test) => leaves.push(Leaf { text: term.whole.text.into(), test }),
                Err(problem) => return Some(Err(problem)),
            }
        }
        alternatives.push(leaves);
    }
    problems.append(&mut found);
    problems.extend(misread(&read));
    Some(Ok(alternatives))
}

/// One tool and the test of one field, which no permission rule has.
pub(crate) fn tests_a_field(text: &str) -> bool {
    let Ok(read) = grammar::parse(text) else { return false };
    let [terms] = read.as_slice() else { return false };
    let [Term { what: What::Call { tool, argument }, .. }] = terms.as_slice() else { return false };
    grammar::field_test(*argument)
        .is_some_and(|(path, _)| globs::fields(tool).is_none_or(|own| own.contains(&path)))
}

/// The text can only have been meant as a predicate.
pub(crate) fn was_meant(text: &str) -> bool {
    text.contains(" & ") || text.split(['|', '&']).any(is_input)
}

/// The text begins like a predicate, so that what is wrong with it is told in words of this grammar.
fn looks_like_one(text: &str) -> bool {
    traps::permission_rule(text).is_some()
        || text.contains(" & ")
        || text.split('|').any(|part| starts_with_a_tool(part) || is_input(part))
}

fn is_input(text: &str) -> bool {
    text.trim_start().starts_with("input.") && text.contains('~')
}

/// An `&` between blanks joins; native expressions may hold others.
fn joined(text: &str, read: &Alternatives<'_>) -> bool {
    text.contains(" & ") && read.iter().any(|terms| terms.len() > 1)
}

/// A term that looks at the input. What else stands in parentheses is an expression of the native flavour.
fn is_test(term: &Term<'_>) -> bool {
    match term.what {
        What::Pattern => is_spoiled(term),
        What::Input { .. } => true,
        What::Call { tool, argument } => {
            globs::fields(tool).is_some()
                || grammar::field_test(argument).is_some()
                || traps::permission_rule(term.whole.text).is_some()
        }
    }
}

/// A call with something behind its parenthesis, which no tool's name would fit.
fn is_spoiled(term: &Term<'_>) -> bool {
    term.whole.text.contains(char::is_whitespace) && starts_with_a_tool(term.whole.text)
}

fn starts_with_a_tool(text: &str) -> bool {
    text.split_once('(').is_some_and(|(tool, _)| globs::fields(tool.trim()).is_some())
}

fn neither(slice: Slice<'_>) -> Problem {
    let message = "this is neither the name of a tool nor a test of its input";
    let help = "write `Tool(glob)` or `Tool(field=expression)`, and nothing behind the parenthesis";
    Problem::new(ProblemKind::Unreadable, slice.span(), message).help(help)
}

fn leaf(term: &Term<'_>, manner: Manner, problems: &mut Vec<Problem>) -> Result<Test, Problem> {
    match term.what {
        What::Pattern if is_spoiled(term) => Err(neither(term.whole)),
        What::Pattern => name(term.whole, manner, problems).map(Test::Name),
        What::Call { .. } if manner == Manner::Native && !is_test(term) => {
            name(term.whole, manner, problems).map(Test::Name)
        }
        What::Call { tool, argument } => call(term, tool, argument, manner, problems),
        What::Input { path, regex } => {
            let field = field(path, regex, manner, problems)?;
            Ok(Test::Input(field))
        }
    }
}

fn call(
    term: &Term<'_>,
    tool: &str,
    argument: Slice<'_>,
    manner: Manner,
    problems: &mut Vec<Problem>,
) -> Result<Test, Problem> {
    let unreadable = |span, message: String| Problem::new(ProblemKind::Unreadable, span, message);
    if argument.text.is_empty() {
        let message = "there is nothing in the parentheses".to_owned();
        let problem = unreadable(term.whole.span(), message);
        return Err(problem.help("remove them to match every call of the tool").suggest(tool));
    }
    let glob = Glob::new(tool, argument.text, manner.cut());
    let written = grammar::field_test(argument);
    let own = globs::fields(tool);
    let test = match written {
        // A glob may look like a test of a field that the tool does not have: `Bash(FOO=1 make*)`.
        Some((path, regex)) if own.is_some_and(|own| !own.contains(&path)) => {
            field(path, regex, manner, &mut Vec::new()).ok()
        }
        Some((path, regex)) => Some(field(path, regex, manner, problems)?),
        None => None,
    };
    if glob.is_none() && test.is_none() {
        let message = format!("a glob means nothing to the tool {tool}, whose input is not known here");
        let help = format!("name the field that is meant: `{tool}(field=expression)`");
        return Err(unreadable(argument.span(), message).help(help));
    }
    Ok(Test::Call { tool: tool.to_owned(), glob, field: test })
}

fn field(
    path: &str,
    regex: Slice<'_>,
    manner: Manner,
    problems: &mut Vec<Problem>,
) -> Result<Field, Problem> {
    let mut found = Vec::new();
    let ran = match flavours::pattern_on_values(regex.text, manner.language(), &mut found) {
        Err(refused) if refused.cause == Cause::Invalid && manner == Manner::Native => {
            native::raw(regex.text).map(|shape| (shape, regex.text.len()))
        }
        ran => ran.map(|ran| (ran.shape, ran.size)),
    };
    match ran {
        Ok((shape, size)) => {
            problems.extend(found.into_iter().map(|problem| shifted(problem, regex.start)));
            Ok(Field { path: path.split('.').map(str::to_owned).collect(), shape, size })
        }
        Err(refused) => Err(refusal(refused, regex, manner)),
    }
}

fn refusal(refused: Refused, slice: Slice<'_>, manner: Manner) -> Problem {
    let language = match manner {
        Manner::Native => "the native flavour",
        Manner::Aimon { .. } => "Java",
    };
    let mut problem = flavours::unreadable(refused, slice.text, language);
    let help = "characters that mean something in an expression have a backslash before them where they stand for themselves";
    problem.help.get_or_insert_with(|| help.to_owned());
    shifted(problem, slice.start)
}

fn shifted(problem: Problem, by: usize) -> Problem {
    Problem { span: Span::new(problem.span.start + by, problem.span.end + by), ..problem }
}

/// A name, a glob, or an expression.
fn name(slice: Slice<'_>, manner: Manner, problems: &mut Vec<Problem>) -> Result<Shape, Problem> {
    let mut found = Vec::new();
    let shape = match manner {
        Manner::Native => native::name(slice.text, &mut found),
        Manner::Aimon { strict } => aimon_name(slice.text, strict, &mut found),
    };
    let shape = shape.map_err(|problem| shifted(problem, slice.start))?;
    problems.extend(found.into_iter().map(|problem| shifted(problem, slice.start)));
    Ok(shape)
}

/// "AIMON hook configuration guide, Matcher syntax", and the tests of its code for names and globs.
fn aimon_name(text: &str, strict: bool, problems: &mut Vec<Problem>) -> Result<Shape, Problem> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
    if text == "*" {
        return Ok(Shape::All);
    }
    if text.chars().all(plain) {
        return Ok(Shape::Names(names(text, &[], problems)));
    }
    if text.chars().all(|c| plain(c) || c == '*') && !text.contains(".*") {
        return Ok(Shape::Wilds(vec![Wild::glob(text)]));
    }
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '*');
    if strict && let Some((at, c)) = text.char_indices().find(|(_, c)| !bare(*c)) {
        let span = Span::new(at, at + c.len_utf8());
        let message = format!("in strict mode the name of a tool holds no {c:?}");
        let problem = Problem::new(ProblemKind::Unreadable, span, message);
        return Err(problem.help("write names with `*`, separated by `|`, or `Tool(…)`"));
    }
    let open = text.contains('(');
    if open && text.contains(char::is_whitespace) {
        return Err(neither(Slice::new(text, 0)));
    }
    match flavours::pattern(text, Language::Java, Reach::Whole, problems) {
        Ok(ran) => {
            problems.extend(never(text));
            Ok(flavours::with_names(ran.shape))
        }
        Err(refused) => Err(refusal(refused, Slice::new(text, 0), Manner::Aimon { strict })),
    }
}

/// Expressions that no name fits, though somebody meant something by them.
fn never(text: &str) -> Option<Problem> {
    let trap = |message: &str| Problem::new(ProblemKind::DialectTrap, whole(text), message);
    if text.contains("&&") {
        return Some(trap("`&&` joins nothing here, and no tool's name fits").help("write one `&`"));
    }
    let simple = |c: char| c.is_ascii_alphanumeric() || " _-.,*".contains(c);
    if text.contains(',') && text.chars().all(simple) {
        let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        let problem =
            trap("the comma separates nothing here, and no tool's name fits").help("separate with `|`");
        return Some(problem.suggest(parts.join("|")));
    }
    (text.contains(' ') && text.chars().all(simple))
        .then(|| trap("no tool's name holds a blank").help("separate names with `|`"))
}

/// What a reader may take for something else.
fn misread(read: &Alternatives<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for pair in read.windows(2) {
        let [before, after] = pair else { continue };
        // `Edit|Write & test`: the test is not asked for `Edit`.
        if let ([alone], [first, _, ..]) = (before.as_slice(), after.as_slice())
            && alone.what == What::Pattern
            && first.what == What::Pattern
        {
            let (one, other) = (alone.whole, first.whole);
            let message =
                format!("`&` binds tighter than `|`: {} fits without what stands behind the `&`", one.text);
            let help = format!("write the test for either, or put {} last if that is meant", one.text);
            let span = Span::new(one.start, other.start + other.text.len());
            problems.push(Problem::new(ProblemKind::DialectTrap, span, message).help(help));
        }
        // `input.command~^npm|^yarn`: the second is a name.
        if let (Some(Term { what: What::Input { .. }, .. }), [alone]) = (before.last(), after.as_slice())
            && alone.what == What::Pattern
            && alone.whole.text.contains(['^', '$', '\\', ' '])
        {
            let message = "the `|` before this ends the expression; this is a matcher on names of its own";
            let help = "put alternatives of an expression in parentheses: `input.command~^(npm|yarn)`";
            problems.push(Problem::new(ProblemKind::DialectTrap, alone.whole.span(), message).help(help));
        }
    }
    problems
}
