//! Regular expressions, each in the smallest engine that can run it.

/// Steps `fancy-regex` may take on one name before it gives up.
const STEP_LIMIT: usize = 100_000;

/// Levels of groups in what the translation puts out: those of the source, and its own around each.
const NEST_LIMIT: u32 = 400;

/// What a pattern needs beyond the smallest engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Unicode classes or letter case beyond ASCII.
    pub(crate) unicode: bool,
    /// Look-around, back-references, atomic groups.
    pub(crate) backtracking: bool,
    /// Values may be long: the smallest engine is slow on them.
    pub(crate) long: bool,
}

/// Why an engine did not take a pattern.
#[derive(Debug)]
pub(crate) struct Failure {
    /// It is no pattern at all; else it is too much for the engine.
    pub(crate) syntax: bool,
    /// A sentence without a full stop.
    pub(crate) why: String,
}

impl Failure {
    fn new(syntax: bool, error: &str) -> Failure {
        // Engines print the pattern with a caret over several lines; the last line says what is wrong.
        let last = error.lines().rfind(|line| !line.trim().is_empty()).unwrap_or(error);
        let why = last.trim().trim_start_matches("error: ").trim_end_matches('.').to_owned();
        Failure { syntax, why }
    }
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Regex {
    /// What every match begins with; most names fail here, without an engine.
    prefix: String,
    engine: Engine,
}

#[derive(Debug, Clone)]
enum Engine {
    Lite(regex_lite::Regex),
    Linear(regex::Regex),
    Backtracking(Box<fancy_regex::Regex>),
}

impl Regex {
    /// Compiles.
    pub(crate) fn new(pattern: &str, needs: Needs) -> Result<Regex, Failure> {
        Ok(Regex { engine: Engine::new(pattern, needs)?, prefix: String::new() })
    }
    /// Takes the shortcut that the source text offers. Only for texts that are searched and in which letter case counts.
    pub(crate) fn of_source(mut self, text: &str) -> Regex {
        prefix(text).clone_into(&mut self.prefix);
        self
    }

    /// Searches. Reaching the step limit counts as a match: the hook is then asked, which is the safe side.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.search(text).unwrap_or(true)
    }

    /// Searches; `None` where the step limit was reached.
    pub(crate) fn search(&self, text: &str) -> Option<bool> {
        if !text.starts_with(self.prefix.as_str()) {
            return Some(false);
        }
        match &self.engine {
            Engine::Lite(regex) => Some(regex.is_match(text)),
            Engine::Linear(regex) => Some(regex.is_match(text)),
            Engine::Backtracking(regex) => regex.is_match(text).ok(),
        }
    }

    /// True where the time of a search may grow faster than the text.
    pub(crate) fn backtracks(&self) -> bool {
        matches!(self.engine, Engine::Backtracking(_))
    }

    pub(crate) fn name(&self) -> &'static str {
        match &self.engine {
            Engine::Lite(_) => "regex-lite",
            Engine::Linear(_) => "regex",
            Engine::Backtracking(_) => "fancy-regex",
        }
    }
}

impl Engine {
    fn new(pattern: &str, needs: Needs) -> Result<Engine, Failure> {
        match needs {
            Needs { backtracking: true, .. } => {
                match fancy_regex::RegexBuilder::new(pattern).backtrack_limit(STEP_LIMIT).build() {
                    Ok(regex) => Ok(Engine::Backtracking(Box::new(regex))),
                    Err(error) => {
                        let syntax = matches!(error, fancy_regex::Error::ParseError(..));
                        Err(Failure::new(syntax, &error.to_string()))
                    }
                }
            }
            Needs { unicode: true, .. } | Needs { long: true, .. } => {
                match regex::RegexBuilder::new(pattern).nest_limit(NEST_LIMIT).build() {
                    Ok(regex) => Ok(Engine::Linear(regex)),
                    Err(error) => {
                        Err(Failure::new(matches!(error, regex::Error::Syntax(_)), &error.to_string()))
                    }
                }
            }
            _ => match regex_lite::RegexBuilder::new(pattern).nest_limit(NEST_LIMIT).build() {
                Ok(regex) => Ok(Engine::Lite(regex)),
                Err(error) => Err(Failure::new(true, &error.to_string())),
            },
        }
    }
}

/// The plain text after a leading `^`, which every match of the pattern begins with.
fn prefix(pattern: &str) -> &str {
    let Some(rest) = pattern.strip_prefix('^') else { return "" };
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    // A quantifier takes the character before it, and an alternative on the outside need not begin like this.
    let quantified = rest[end..].starts_with(['*', '+', '?', '{']);
    if has_outer_alternative(rest) { "" } else { &rest[..end - usize::from(quantified && end > 0)] }
}

fn has_outer_alternative(pattern: &str) -> bool {
    let (mut depth, mut class) = (0usize, false);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => class = true,
            ']' => class = false,
            '(' if !class => depth += 1,
            ')' if !class => depth = depth.saturating_sub(1),
            // Within a class a bar is plain; counting it all the same costs only the shortcut.
            '|' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_is_what_every_match_begins_with() {
        for (pattern, expected) in [
            ("^mcp__a__(get|list)_[a-z]+$", "mcp__a__"),
            ("^abc*", "ab"),
            ("^a?", ""),
            ("^abc|x", ""),
            ("^(a|b)", ""),
            ("^Bash$", "Bash"),
            ("Bash", ""),
            ("^", ""),
            ("^a{2}", ""),
            ("^ab[(|]|c", ""),
            ("^ab\\|c", "ab"),
        ] {
            assert_eq!(prefix(pattern), expected, "{pattern}");
        }
    }
}
