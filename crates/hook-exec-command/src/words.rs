//! The words of a plain shell line, and what shells say when they cannot run one. Only for hints: nothing is run from here.

use std::ffi::OsStr;

use hook_core::Call;

/// Reasons that shells and `env` give, as the last part of a line.
const REASONS: &[&str] = &[
    ": command not found",
    ": not found",
    ": No such file or directory",
    ": cannot execute: required file not found",
    ": Permission denied",
    ": Is a directory",
];

/// The words of the first command of a line, with plain variables filled in, up to the first one that cannot be known
/// without a shell.
pub(crate) fn words(line: &str, call: &Call) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.trim_start().chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some('\''), _) => word.get_or_insert_default().push(c),
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (_, '$') => {
                let braced = chars.next_if_eq(&'{').is_some();
                let mut name = String::new();
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                if name.is_empty() || (braced && chars.next() != Some('}')) {
                    return words;
                }
                let value = variable(&name, call).unwrap_or_default();
                if quote.is_none() && value.contains(char::is_whitespace) {
                    // The shell splits here; the first part is what it tried to run.
                    let first = value.split_whitespace().next().unwrap_or_default();
                    words.push(word.unwrap_or_default() + first);
                    return words;
                }
                word.get_or_insert_default().push_str(&value);
            }
            (_, '`') | (None, '(' | ')') => return words,
            (None, ';' | '&' | '|' | '<' | '>' | '\n') => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_none() {
        words.extend(word);
    }
    words
}

/// What somebody could not run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Blamed {
    pub(crate) name: String,
    /// It was looked for on the `PATH`, if it has no slash; else it is a file that a shell was given to read.
    pub(crate) searched: bool,
}

/// What a shell (or `env`) says that it could not run, from the last such line of standard error.
pub(crate) fn blamed(stderr: &str) -> Option<Blamed> {
    stderr.lines().rev().find_map(|line| {
        let line = line.trim_end();
        // `NAME: INTERPRETER: bad interpreter: REASON` has the name in front of the interpreter.
        let (said, reason) = match line.find(": bad interpreter") {
            Some(at) => (line[..at].rsplit_once(": ")?.0, ""),
            None => REASONS.iter().find_map(|reason| Some((line.strip_suffix(reason)?, *reason)))?,
        };
        let (who, name) = after_place(said)?;
        let name = name.trim_matches(['\'', '"', '‘', '’']);
        let searched = reason.ends_with("not found") || who.ends_with("env");
        (!name.is_empty()).then(|| Blamed { name: name.to_owned(), searched })
    })
}

/// Who speaks and what follows: `sh: 1: REST`, `sh: line 1: REST` or `env: REST`.
fn after_place(line: &str) -> Option<(&str, &str)> {
    let (who, rest) = line.split_once(": ")?;
    let Some((place, tail)) = rest.split_once(": ") else { return Some((who, rest)) };
    let number = place.strip_prefix("line ").unwrap_or(place);
    let is_place = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((who, if is_place { tail } else { rest }))
}

/// A variable of the hook's environment.
pub(crate) fn variable(name: &str, call: &Call) -> Option<String> {
    let value = call.environment.iter().find(|(n, _)| n == OsStr::new(name)).map(|(_, value)| value);
    value.map(|value| value.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::time::Duration;

    #[test]
    fn a_plain_line_is_split_as_a_shell_would() {
        let call = Call {
            input: Vec::new(),
            asking: hook_core::Asking::default(),
            http: hook_core::HttpRules::NATIVE,
            arguments: hook_core::ArgumentRule::Native,
            template: hook_core::TemplateValues::default(),
            environment: vec![("ROOT".into(), "/a b".into()), ("P".into(), "/x".into())],
            placeholders: Vec::new(),
            shell_prefix: None,
            directory: PathBuf::from("/"),
            timeout: Duration::from_secs(1),
        };
        let table: [(&str, &[&str]); 13] = [
            ("./x.sh one", &["./x.sh", "one"]),
            ("\"$ROOT/x.sh\"  one", &["/a b/x.sh", "one"]),
            ("${ROOT}/x.sh", &["/a"]),
            ("pre$ROOT/x.sh y", &["pre/a"]),
            ("$P/x.sh;true", &["/x/x.sh"]),
            ("'$P'/y \"\"", &["$P/y", ""]),
            ("a\\ b c", &["a b", "c"]),
            ("python3 \"/a(1)/x.py\" | cat", &["python3", "/a(1)/x.py"]),
            ("$(which x)", &[]),
            ("run `x`", &["run"]),
            ("run \"open", &["run"]),
            ("${P:-x}", &[]),
            ("", &[]),
        ];
        for (line, expected) in table {
            assert_eq!(words(line, &call), expected, "{line}");
        }
    }

    #[test]
    fn the_blamed_name_is_found_in_what_shells_say() {
        let table = [
            ("/bin/sh: 1: ./x.sh: not found", Some(("./x.sh", true))),
            ("/bin/sh: 1: /a b/x.sh: Permission denied\n", Some(("/a b/x.sh", false))),
            ("sh: line 1: nope: command not found", Some(("nope", true))),
            ("bash: gone.sh: No such file or directory", Some(("gone.sh", false))),
            (
                "bash: ./x.sh: /bin/bash^M: bad interpreter: No such file or directory",
                Some(("./x.sh", false)),
            ),
            ("/bin/sh: ./x.sh: cannot execute: required file not found", Some(("./x.sh", true))),
            ("/usr/bin/env: ‘python3\\r’: No such file or directory", Some(("python3\\r", true))),
            ("said before\n/bin/sh: 2: gone: not found\nsaid after", Some(("gone", true))),
            ("all is well", None),
            (": not found", None),
            ("", None),
        ];
        for (stderr, expected) in table {
            let expected = expected.map(|(name, searched)| Blamed { name: name.to_owned(), searched });
            assert_eq!(blamed(stderr), expected, "{stderr}");
        }
    }
}
