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

#[derive(Debug, Clone)]
pub(crate) enum Regex {
    Lite(regex_lite::Regex),
    Linear(regex::Regex),
    Backtracking(Box<fancy_regex::Regex>),
}

impl Regex {
    /// Compiles; the error is a sentence without a full stop.
    pub(crate) fn new(pattern: &str, needs: Needs) -> Result<Regex, String> {
        let error = match needs {
            Needs { backtracking: true, .. } => {
                match fancy_regex::RegexBuilder::new(pattern).backtrack_limit(STEP_LIMIT).build() {
                    Ok(regex) => return Ok(Regex::Backtracking(Box::new(regex))),
                    Err(error) => error.to_string(),
                }
            }
            Needs { unicode: true, .. } => {
                match regex::RegexBuilder::new(pattern).nest_limit(NEST_LIMIT).build() {
                    Ok(regex) => return Ok(Regex::Linear(regex)),
                    Err(error) => error.to_string(),
                }
            }
            _ => match regex_lite::RegexBuilder::new(pattern).nest_limit(NEST_LIMIT).build() {
                Ok(regex) => return Ok(Regex::Lite(regex)),
                Err(error) => error.to_string(),
            },
        };
        Err(one_line(&error))
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

/// Engines print the pattern with a caret over several lines; the last line says what is wrong.
fn one_line(error: &str) -> String {
    let last = error.lines().rfind(|line| !line.trim().is_empty()).unwrap_or(error);
    last.trim().trim_start_matches("error: ").trim_end_matches('.').to_owned()
}
