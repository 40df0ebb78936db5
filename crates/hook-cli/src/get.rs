//! `hook get`: a field of the JSON on standard input, so that a hook script needs no other tool.

use std::collections::HashMap;
use std::io::Read;

use serde_json::value::RawValue;

use crate::args::GetArgs;
use crate::error::CliError;
use crate::{exit, output};

pub(crate) fn get(args: &GetArgs) -> Result<u8, CliError> {
    let paths: Vec<Vec<Step>> = args.paths.iter().map(|path| parse(path)).collect::<Result<_, _>>()?;
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| CliError::io("standard input", error))?;
    let text = String::from_utf8(bytes).map_err(|_| CliError::data("standard input is not UTF-8"))?;
    match find(&text, &paths, args.json)? {
        Some(found) => output::data(&format!("{found}\n"))?,
        None => match &args.default {
            Some(default) => output::data(&format!("{default}\n"))?,
            None => return Ok(exit::FINDINGS),
        },
    }
    Ok(exit::OK)
}

/// One step of a path.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    /// From the end where negative.
    Index(i64),
}

/// `.a.b[0]."odd key"["another"][-1]`; `.` alone is the whole document.
fn parse(path: &str) -> Result<Vec<Step>, CliError> {
    let wrong = |why: &str| {
        CliError::usage(format!("{path:?} is no path: {why}"))
            .help("for instance .tool_input.command or .items[0]")
    };
    let mut rest = path.strip_prefix('.').ok_or_else(|| wrong("it does not begin with a dot"))?;
    let mut steps = Vec::new();
    // After the first dot a name or a bracket may follow; later, a name needs a dot of its own.
    let mut dot = true;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (step, after) = if inner.starts_with('"') {
                let (key, after) = quoted(inner).ok_or_else(|| wrong("a quote is not closed"))?;
                (Step::Key(key), after)
            } else {
                let end = inner.find(']').ok_or_else(|| wrong("a bracket is not closed"))?;
                let index = inner[..end].parse().map_err(|_| wrong("an index is no number"))?;
                (Step::Index(index), &inner[end..])
            };
            steps.push(step);
            rest = after.strip_prefix(']').ok_or_else(|| wrong("a bracket is not closed"))?;
            dot = false;
            continue;
        }
        if !dot {
            rest = rest.strip_prefix('.').ok_or_else(|| wrong("a dot is missing"))?;
        }
        if rest.starts_with('"') {
            let (key, after) = quoted(rest).ok_or_else(|| wrong("a quote is not closed"))?;
            steps.push(Step::Key(key));
            rest = after;
        } else if !rest.starts_with('[') || dot {
            let end = rest.find(['.', '[', '"']).unwrap_or(rest.len());
            if end == 0 {
                return Err(wrong("a name is empty"));
            }
            steps.push(Step::Key(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        dot = false;
    }
    if path.len() > 1 && path.ends_with('.') {
        return Err(wrong("it ends with a dot"));
    }
    Ok(steps)
}

/// A JSON string at the start of the text, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let key = values.next()?.ok()?;
    let after = &text[values.byte_offset()..];
    Some((key, after))
}

/// The first field that is there. Numbers and objects stay exactly as they stand in the input.
fn find(text: &str, paths: &[Vec<Step>], as_json: bool) -> Result<Option<String>, CliError> {
    let text = text.trim_start_matches('\u{feff}');
    let bad = |error: serde_json::Error| CliError::data(format!("standard input is no JSON: {error}"));
    let whole: &RawValue = serde_json::from_str(text).map_err(bad)?;
    for path in paths {
        let mut at = Some(whole);
        for step in path {
            at = match at {
                Some(value) => walk(value, step).map_err(bad)?,
                None => break,
            };
        }
        match at.map(RawValue::get) {
            None | Some("null") => {}
            Some(found) if found.starts_with('"') && !as_json => {
                return serde_json::from_str(found).map(Some).map_err(bad);
            }
            Some(found) => return Ok(Some(found.to_owned())),
        }
    }
    Ok(None)
}

/// One step down; `None` where there is nothing. What cannot be decoded is an error and not an absence: a guard would take
/// the one for the other.
fn walk<'a>(value: &'a RawValue, step: &Step) -> Result<Option<&'a RawValue>, serde_json::Error> {
    match step {
        Step::Key(key) if value.get().starts_with('{') => {
            let mut members: HashMap<String, &RawValue> = serde_json::from_str(value.get())?;
            Ok(members.remove(key))
        }
        Step::Index(index) if value.get().starts_with('[') => {
            let items: Vec<&RawValue> = serde_json::from_str(value.get())?;
            let from_start = if *index < 0 { index + items.len() as i64 } else { *index };
            Ok(usize::try_from(from_start).ok().and_then(|index| items.get(index).copied()))
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: &str = r#"{"tool_input": {"command": "a\n\"b\"", "big": 12345678901234567890123, "none": null},
        "items": [{"x": 1}, [true, "two"]], "odd key": {"a.b": ""}, "twice": 1, "twice": 2}"#;

    fn get(path: &str) -> Option<String> {
        find(INPUT, &[parse(path).unwrap()], false).unwrap()
    }

    #[test]
    fn fields_are_found_by_path() {
        let table = [
            (".tool_input.command", Some("a\n\"b\"")),
            (".tool_input.big", Some("12345678901234567890123")),
            (".tool_input.none", None),
            (".tool_input.missing", None),
            (".tool_input.command.deeper", None),
            (".items[0].x", Some("1")),
            (".items[0]", Some(r#"{"x": 1}"#)),
            (".items[1][1]", Some("two")),
            (".items[-1][0]", Some("true")),
            (".items[2]", None),
            (".items[-3]", None),
            (".items.x", None),
            (".\"odd key\".\"a.b\"", Some("")),
            (".[\"odd key\"][\"a.b\"]", Some("")),
            (".twice", Some("2")),
            (".tool_input[0]", None),
        ];
        for (path, expected) in table {
            assert_eq!(get(path).as_deref(), expected, "{path}");
        }
        assert_eq!(get(".").as_deref(), Some(INPUT));
    }

    #[test]
    fn the_first_path_that_is_there_counts() {
        let paths = [parse(".no").unwrap(), parse(".tool_input.none").unwrap(), parse(".twice").unwrap()];
        assert_eq!(find(INPUT, &paths, false).unwrap().as_deref(), Some("2"));
        let text = [parse(".items[1][1]").unwrap()];
        assert_eq!(find(INPUT, &text, true).unwrap().as_deref(), Some("\"two\""));
    }

    #[test]
    fn bad_paths_are_refused() {
        for path in ["", "a", ".a..b", "..a", ".a.", ".a[", ".a[x]", ".a[0", ".\"a", ".a[0]b", ".a\"b\""] {
            assert_eq!(parse(path).unwrap_err().code, exit::USAGE, "{path}");
        }
    }

    #[test]
    fn input_that_cannot_be_decoded_is_an_error_and_not_an_absence() {
        let path = [parse(".a").unwrap()];
        for text in ["", "{", "{} {}", r#"{"\ud800": 1}"#, r#"{"a": "\ud800"}"#] {
            assert_eq!(find(text, &path, false).unwrap_err().code, exit::DATA, "{text}");
        }
    }
}
