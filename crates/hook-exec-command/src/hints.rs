//! Why a command did not start, in words.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hook_core::{Call, Exit, Note, ProcessOutput};

use crate::command::resolve;
use crate::runner::Program;

/// The permission bits of a regular file; `None` for anything else.
pub(crate) fn mode(path: &Path) -> Option<u32> {
    let data = std::fs::metadata(path).ok()?;
    data.is_file().then(|| data.permissions().mode())
}

/// Hints for a program that could not be started.
pub(crate) fn for_start_error(program: &Program, error: &io::Error, call: &Call) -> Vec<Note> {
    if !call.directory.is_dir() {
        return vec![Note::warning(format!(
            "the working directory {} does not exist",
            call.directory.display()
        ))];
    }
    let file = resolve(&program.file, call);
    let found = diagnose(&file);
    match (found, error.kind()) {
        (Some(text), _) => vec![Note::warning(text)],
        (None, io::ErrorKind::NotFound) => {
            vec![Note::warning(format!("{} is not on the PATH of the hook", file.display()))]
        }
        _ => Vec::new(),
    }
}

/// Hints for a shell line that ended with 126 (not executable) or 127 (not found).
pub(crate) fn for_shell_exit(line: &str, output: &ProcessOutput, call: &Call) -> Vec<Note> {
    if !matches!(output.exit, Exit::Code(126 | 127)) {
        return Vec::new();
    }
    if output.stderr.text.contains("Text file busy") {
        return vec![Note::warning("the script was being written while it was started")];
    }
    let Some(word) = first_word(line, call) else { return Vec::new() };
    if !word.contains('/') {
        return vec![Note::warning(format!("{word} is not on the PATH of the hook"))];
    }
    let path = call.directory.join(&word);
    match diagnose(&path) {
        Some(text)
            if mode(&path).is_none() && line.contains('$') && !line.trim_start().starts_with(['"', '\'']) =>
        {
            vec![Note::warning(format!("{text} (is the path in double quotes?)"))]
        }
        Some(text) => vec![Note::warning(text)],
        None => Vec::new(),
    }
}

/// What is wrong with a script that should have started.
fn diagnose(path: &Path) -> Option<String> {
    let name = path.display();
    let Some(mode) = mode(path) else {
        return path.is_absolute().then(|| format!("the script does not exist: {name}"));
    };
    let head = head(path).unwrap_or_default();
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if mode & 0o111 == 0 {
        return Some(format!("the script is not executable: chmod +x '{name}'"));
    }
    let line = first.strip_prefix(b"#!")?;
    if line.ends_with(b"\r") {
        return Some(format!("the script has CRLF line ends, so its interpreter is not found: {name}"));
    }
    let line = String::from_utf8_lossy(line);
    let interpreter = line.split_whitespace().next()?;
    (!Path::new(interpreter).exists())
        .then(|| format!("the interpreter {interpreter} of the script does not exist: {name}"))
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(256).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The program word of a simple shell line, with plain variables filled in. `None` where it cannot be known without a shell.
fn first_word(line: &str, call: &Call) -> Option<String> {
    let mut word = String::new();
    let mut chars = line.trim_start().chars().peekable();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (Some('\''), _) => word.push(c),
            (_, '\\') => word.extend(chars.next()),
            (_, '$') => {
                let braced = chars.next_if_eq(&'{').is_some();
                let mut name = String::new();
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                if name.is_empty() || (braced && chars.next() != Some('}')) {
                    return None;
                }
                let value = variable(&name, call).unwrap_or_default();
                if quote.is_none() && value.contains(char::is_whitespace) {
                    // The shell splits here; the first part is what it tried to run.
                    word.extend(value.split_whitespace().next());
                    return Some(word);
                }
                word.push_str(&value);
            }
            (_, '`' | '(' | ')') => return None,
            (None, c) if c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>') => break,
            _ => word.push(c),
        }
    }
    (!word.is_empty()).then_some(word)
}

fn variable(name: &str, call: &Call) -> Option<String> {
    let value = call.environment.iter().find(|(n, _)| n == OsStr::new(name)).map(|(_, value)| value);
    value.map(|value| value.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::time::Duration;

    #[test]
    fn the_program_word_of_a_line_is_found_as_a_shell_would() {
        let call = Call {
            input: Vec::new(),
            environment: vec![("ROOT".into(), "/a b".into()), ("P".into(), "/x".into())],
            placeholders: Vec::new(),
            directory: PathBuf::from("/"),
            timeout: Duration::from_secs(1),
        };
        let table = [
            ("./x.sh one", Some("./x.sh")),
            ("\"$ROOT/x.sh\" one", Some("/a b/x.sh")),
            ("${ROOT}/x.sh", Some("/a")),
            ("$P/x.sh;true", Some("/x/x.sh")),
            ("'$P'/y", Some("$P/y")),
            ("$(which x)", None),
            ("", None),
        ];
        for (line, expected) in table {
            assert_eq!(first_word(line, &call).as_deref(), expected, "{line}");
        }
    }
}
