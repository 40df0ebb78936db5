//! A field of the JSON on standard input.

use std::io::Read;

use serde_json::Value;

use crate::args::GetArgs;
use crate::error::CliError;
use crate::{exit, output};

pub(crate) fn get(args: &GetArgs) -> Result<u8, CliError> {
    let steps = parse(&args.path)?;
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => CliError::data("standard input is not UTF-8"),
        _ => CliError::io("standard input", error),
    })?;
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| CliError::data(format!("standard input is no JSON: {error}")))?;
    let found = steps.iter().try_fold(&value, |value, step| match step {
        Step::Member(name) => value.get(name),
        Step::Item(index) => value.get(index),
    });
    match (found.filter(|value| !value.is_null()), &args.default) {
        (Some(Value::String(text)), _) if !args.json => output::data(&format!("{text}\n"))?,
        (Some(value), _) => output::data(&format!("{value}\n"))?,
        (None, Some(default)) => output::data(&format!("{default}\n"))?,
        (None, None) => return Ok(exit::FINDINGS),
    }
    Ok(exit::OK)
}

#[derive(Debug, PartialEq)]
enum Step {
    Member(String),
    Item(usize),
}

/// `.a.b[0]."odd key"`; a lone `.` is the whole document.
fn parse(path: &str) -> Result<Vec<Step>, CliError> {
    let wrong = |at: usize, why: &str| {
        CliError::usage(format!("path {path:?}, character {}: {why}", at + 1))
            .help("for instance .tool_input.command or .list[0]")
    };
    let mut steps = Vec::new();
    let mut chars = path.char_indices().peekable();
    if path == "." {
        return Ok(steps);
    }
    while let Some((at, c)) = chars.next() {
        match c {
            '.' if chars.next_if(|(_, c)| *c == '"').is_some() => {
                let mut name = String::new();
                loop {
                    match chars.next() {
                        Some((_, '"')) => break,
                        Some((_, '\\')) => name.extend(chars.next().map(|(_, c)| c)),
                        Some((_, c)) => name.push(c),
                        None => return Err(wrong(at, "the quote is not closed")),
                    }
                }
                steps.push(Step::Member(name));
            }
            '.' => {
                let mut name = String::new();
                while let Some((_, c)) = chars.next_if(|(_, c)| !matches!(c, '.' | '[' | ']' | '"')) {
                    name.push(c);
                }
                if name.is_empty() {
                    return Err(wrong(at, "a name is missing"));
                }
                steps.push(Step::Member(name));
            }
            '[' => {
                let mut digits = String::new();
                while let Some((_, c)) = chars.next_if(|(_, c)| c.is_ascii_digit()) {
                    digits.push(c);
                }
                match (digits.parse(), chars.next()) {
                    (Ok(index), Some((_, ']'))) => steps.push(Step::Item(index)),
                    _ => return Err(wrong(at, "an index is a number in brackets")),
                }
            }
            _ => return Err(wrong(at, "a path begins with a dot")),
        }
    }
    if steps.is_empty() { Err(wrong(0, "the path is empty")) } else { Ok(steps) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_written() {
        let member = |name: &str| Step::Member(name.to_owned());
        assert_eq!(parse(".a.b[0]").unwrap(), [member("a"), member("b"), Step::Item(0)]);
        assert_eq!(parse(".\"odd key\".-i").unwrap(), [member("odd key"), member("-i")]);
        assert_eq!(parse(".").unwrap(), []);
        for bad in ["", "a", ".a..b", ".a[x]", ".a[1", ".\"a", "..", "[99999999999999999999]"] {
            assert_eq!(parse(bad).unwrap_err().code, exit::USAGE, "{bad}");
        }
    }
}
