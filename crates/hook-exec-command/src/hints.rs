//! Why a command did not run, in words.

use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hook_core::{Call, Exit, Note, ProcessOutput};
use hook_process::is_executable;

use crate::command::{SH, resolve};
use crate::runner::Program;
use crate::words::{Blamed, blamed, variable, words};

/// How a shell says that a file cannot be executed, and that there is none.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// What shells exit with after a syntax error or an unknown option, which CRLF line ends make of good scripts.
const SHELL_ERROR: i32 = 2;

/// What the system's library calls a program file that is open for writing.
const BUSY: &str = "Text file busy";

const SHELLS: &[&str] = &["sh", "bash", "dash", "ksh", "zsh"];

/// The permission bits of a regular file; `None` for anything else.
fn mode(path: &Path) -> Option<u32> {
    let data = std::fs::metadata(path).ok()?;
    data.is_file().then(|| data.permissions().mode())
}

/// A file that no shell should read: its first line holds a zero byte. Shells look at the same.
pub(crate) fn is_binary(path: &Path) -> bool {
    first_line(path).contains(&0)
}

/// Hints for a program that could not be started.
pub(crate) fn for_start_error(program: &Program, error: &io::Error, call: &Call) -> Option<Note> {
    let directory = &call.directory;
    if !directory.is_dir() {
        return Some(Note::warning(format!("the working directory {} does not exist", directory.display())));
    }
    let file = resolve(&program.file, call);
    let name = file.display();
    let text = match error.kind() {
        io::ErrorKind::ArgumentListTooLong => {
            "the command, an argument or a variable is longer than the system takes".to_owned()
        }
        io::ErrorKind::ExecutableFileBusy => format!("somebody still has {name} open for writing"),
        kind => {
            let text = match diagnose(&file, &name.to_string(), call) {
                Some(text) => text,
                None if kind == io::ErrorKind::NotFound => not_on_path(&name.to_string()),
                None => return None,
            };
            let is_line = program.file.to_string_lossy().contains(char::is_whitespace) && !file.exists();
            let line = " (beside args, command is one program: what follows a blank belongs into args)";
            text + if is_line { line } else { "" }
        }
    };
    Some(Note::warning(text))
}

/// Hints for a program that ran and exited as if its script could not be run: `#!/usr/bin/env nothing` ends so.
pub(crate) fn for_program_exit(program: &Program, output: &ProcessOutput, call: &Call) -> Option<Note> {
    let file = resolve(&program.file, call);
    let name = file.display().to_string();
    let text = match output.exit {
        Exit::Code(NOT_EXECUTABLE | NOT_FOUND) => diagnose(&file, &name, call)?,
        Exit::Code(SHELL_ERROR) => crlf(&file, &name)?,
        _ => return None,
    };
    Some(Note::warning(text))
}

/// Hints for a shell line that ended with 126 (not executable), 127 (not found), or 2 because of CRLF line ends.
pub(crate) fn for_shell_exit(line: &str, output: &ProcessOutput, call: &Call) -> Option<Note> {
    let Exit::Code(code @ (NOT_EXECUTABLE | NOT_FOUND | SHELL_ERROR)) = output.exit else { return None };
    let script = script(line, call);
    let text = if let Some(text) =
        script.as_ref().and_then(|script| crlf(&call.directory.join(&script.name), &script.name))
    {
        text
    } else if code == SHELL_ERROR {
        return None;
    } else if output.stderr.text.contains(BUSY) {
        "the script was still open for writing when it was started".to_owned()
    } else if let Some(blamed) = blamed(&output.stderr.text) {
        not_run(&blamed, code, line, call)?
    } else {
        // Standard error went elsewhere. A path in the line itself is certain enough to look at.
        let script = script.filter(|script| script.direct)?;
        diagnose_named(&script.name, call)?
    };
    Some(Note::warning(text))
}

/// The shell could not run the one command of the line, because its file was open for writing: the line did nothing so far and may
/// be run again.
pub(crate) fn nothing_ran_yet(line: &str, output: &ProcessOutput) -> bool {
    let said = output.stderr.text.trim_end();
    output.exit == Exit::Code(NOT_EXECUTABLE)
        // A script that says so itself begins with its own name.
        && said.strip_prefix(SH).is_some_and(|said| said.starts_with(": ") && said.ends_with(BUSY))
        && !said.contains('\n')
        && output.stdout.text.is_empty()
        && !line.trim().contains([';', '&', '|', '<', '>', '(', ')', '`', '\n'])
}

/// Why the shell could not run what it blames.
fn not_run(blamed: &Blamed, code: i32, line: &str, call: &Call) -> Option<String> {
    let name = blamed.name.as_str();
    if !name.contains('/') {
        let file = resolve(Path::new(name), call);
        return match diagnose(&file, &file.display().to_string(), call) {
            Some(text) if file.is_absolute() => Some(text),
            _ if code != NOT_FOUND => None,
            _ if blamed.searched => Some(not_on_path(name)),
            _ => diagnose_named(name, call),
        };
    }
    let text = diagnose_named(name, call)?;
    let split = call.environment.iter().any(|(variable, value)| {
        let (variable, value) = (variable.to_string_lossy(), value.to_string_lossy());
        let rest = value.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(char::is_whitespace))
            && (line.contains(&format!("${variable}")) || line.contains(&format!("${{{variable}}}")))
    });
    Some(if split { format!("{text} (is the path in double quotes?)") } else { text })
}

fn diagnose_named(name: &str, call: &Call) -> Option<String> {
    diagnose(&call.directory.join(name), name, call)
}

fn not_on_path(name: &str) -> String {
    format!("{name} is not on the PATH of the hook")
}

/// A script whose path is written in a line.
struct Script {
    name: String,
    /// It is run by itself, not handed to a shell.
    direct: bool,
}

/// The script that the first command of a line runs.
fn script(line: &str, call: &Call) -> Option<Script> {
    let mut words = words(line, call).into_iter().peekable();
    while words.next_if(|word| word == "exec" || is_assignment(word)).is_some() {}
    let first = words.next()?;
    let shell = Path::new(&first).file_name().is_some_and(|name| SHELLS.iter().any(|shell| name == *shell));
    if shell {
        // An option may take the next word for itself (`-c`); then there is no script to know.
        let name = words.next().filter(|word| !word.starts_with('-'))?;
        return Some(Script { name, direct: false });
    }
    first.contains('/').then_some(Script { name: first, direct: true })
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// What is wrong with a script that should have started. `name` is what people know it by.
fn diagnose(path: &Path, name: &str, call: &Call) -> Option<String> {
    if path.is_dir() {
        return Some(format!("{name} is a directory"));
    }
    let Some(mode) = mode(path) else {
        return path.is_absolute().then(|| format!("the script does not exist: {name}"));
    };
    if mode & 0o111 == 0 {
        return Some(format!("the script is not executable: chmod +x '{name}'"));
    }
    if let Some(text) = crlf(path, name) {
        return Some(text);
    }
    let line = first_line(path);
    let line = String::from_utf8_lossy(line.strip_prefix(b"#!")?).into_owned();
    let mut parts = line.split_whitespace();
    let interpreter = parts.next()?;
    if !Path::new(interpreter).exists() {
        return Some(format!("the interpreter {interpreter} of the script does not exist: {name}"));
    }
    let wanted = parts.next().filter(|word| interpreter.ends_with("/env") && !word.starts_with('-'))?;
    let path = variable("PATH", call).unwrap_or_default();
    let found =
        std::env::split_paths(&path).any(|folder| is_executable(&call.directory.join(folder).join(wanted)));
    (!found).then(|| format!("the interpreter {wanted} of the script is not on the PATH of the hook: {name}"))
}

fn crlf(path: &Path, name: &str) -> Option<String> {
    let text =
        || format!("the script has CRLF line ends; the carriage return counts as part of the word: {name}");
    first_line(path).ends_with(b"\r").then(text)
}

/// The first line of a file, without its line feed; empty where it cannot be read.
fn first_line(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if mode(path).is_some()
        && let Ok(file) = std::fs::File::open(path)
    {
        // What was read before an error is good enough for a hint.
        let _ = file.take(512).read_to_end(&mut bytes);
    }
    if let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
        bytes.truncate(end);
    }
    bytes
}
