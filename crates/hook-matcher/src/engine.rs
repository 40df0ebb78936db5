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

#[derive(Debug, Clone)]
pub(crate) enum Regex {
    Lite(regex_lite::Regex),
    Linear(regex::Regex),
    Backtracking(Box<fancy_regex::Regex>),
}

impl Regex {
    /// Compiles.
    pub(crate) fn new(pattern: &str, needs: Needs) -> Result<Regex, Failure> {
        match needs {
            Needs { backtracking: true, .. } => {
                match fancy_regex::RegexBuilder::new(pattern).backtrack_limit(STEP_LIMIT).build() {
                    Ok(regex) => Ok(Regex::Backtracking(Box::new(regex))),
                    Err(error) => {
                        let syntax = matches!(error, fancy_regex::Error::ParseError(..));
                        Err(Failure::new(syntax, &error.to_string()))
                    }
                }
            }
            Needs { unicode: true, .. } => {
                match regex::RegexBuilder::new(pattern).nest_limit(NEST_LIMIT).build() {
                    Ok(regex) => Ok(Regex::Linear(regex)),
                    Err(error) => {
                        Err(Failure::new(matches!(error, regex::Error::Syntax(_)), &error.to_string()))
                    }
                }
            }
            _ => match regex_lite::RegexBuilder::new(pattern).nest_limit(NEST_LIMIT).build() {
                Ok(regex) => Ok(Regex::Lite(regex)),
                Err(error) => Err(Failure::new(true, &error.to_string())),
            },
        }
    }

    /// Searches. Reaching the step limit counts as a match: the hook is then asked, which is the safe side.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self {
            Regex::Lite(regex) => regex.is_match(text),
            Regex::Linear(regex) => regex.is_match(text),
            Regex::Backtracking(regex) => regex.is_match(text).unwrap_or(true),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Regex::Lite(_) => "regex-lite",
            Regex::Linear(_) => "regex",
            Regex::Backtracking(_) => "fancy-regex",
        }
    }
}
