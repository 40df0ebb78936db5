//! Hints on exit code 2 that nobody meant.
//!
//! Code 2 blocks, and shells, interpreters and small tools use it for errors of their own. The verdict stays; the author
//! of the hook is told what happened.

use hook_core::Note;

/// A hint where the standard error of a hook that ended with code 2 looks like an accident.
pub(crate) fn accidental_block(stderr: &str) -> Option<Note> {
    let text = stderr.to_ascii_lowercase();
    let lines = || text.lines().map(str::trim);
    let contains = |parts: &[&str]| parts.iter().any(|part| text.contains(part));

    let missing = contains(&["cannot open", "can't open", "no such file", "not found"]);
    let shell = lines().any(|line| {
        ["sh: ", "bash: ", "dash: ", "/bin/sh: ", "python", "/usr/bin/"].iter().any(|p| line.starts_with(p))
    });
    if contains(&["syntax error", "unexpected end of file", "unexpected eof", "unterminated quoted string"]) {
        return Some(warning(
            "a syntax error ended the hook, and the shell's exit code 2 for it blocks; mend the script",
        ));
    }
    if missing && (shell || contains(&["[errno 2]", "can't open perl script"])) {
        return Some(warning(
            "the script does not exist, and its interpreter's exit code 2 for that blocks; check the path",
        ));
    }
    for tool in ["grep", "rg", "jq", "diff", "ls", "make"] {
        if lines().any(|line| line.strip_prefix(tool).is_some_and(|rest| rest.starts_with(':'))) {
            return Some(warning(format!(
                "exit code 2 came from {tool}, which uses it for errors of its own; it blocks all the same"
            )));
        }
    }
    if lines().any(|line| line.starts_with("usage:")) {
        return Some(warning(
            "a program refused its arguments, and its exit code 2 for that blocks; check the command line",
        ));
    }
    None
}

fn warning(text: impl Into<String>) -> Note {
    Note::warning(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accidents_are_told_from_verdicts() {
        for (stderr, expected) in [
            ("sh: 1: Syntax error: end of file unexpected (expecting \"fi\")", Some("syntax error")),
            ("sh: -c: line 1: unexpected EOF while looking for matching `\"'", Some("syntax error")),
            ("sh: 0: cannot open ./guard.sh: No such file", Some("the script does not exist")),
            (
                "python3: can't open file '/x/guard.py': [Errno 2] No such file or directory",
                Some("the script does not exist"),
            ),
            ("grep: (standard input): binary file matches", Some("from grep")),
            ("grep: Unmatched [ in regular expression", Some("from grep")),
            (
                "Can't open perl script \"guard.pl\": No such file or directory",
                Some("the script does not exist"),
            ),
            ("make: *** [Makefile:2: lint] Error 1", Some("from make")),
            ("rg: regex parse error:", Some("from rg")),
            ("jq: error: Could not open file x: No such file or directory", Some("from jq")),
            (
                "usage: guard.py [-h] file\nguard.py: error: unrecognized arguments: --x",
                Some("refused its arguments"),
            ),
            ("rm -rf is not allowed here", None),
            ("the file config.yml was not found in the allow-list", None),
            ("", None),
        ] {
            let hint = accidental_block(stderr).map(|note| note.text);
            match expected {
                Some(part) => {
                    assert!(hint.as_deref().is_some_and(|hint| hint.contains(part)), "{stderr:?}: {hint:?}")
                }
                None => assert_eq!(hint, None, "{stderr:?}"),
            }
        }
    }
}
