//! What is known of programs by their names.

/// Words that begin a command without being its program.
const PREFIXES: &[&str] = &[
    "!", "{", "}", "builtin", "command", "do", "done", "elif", "else", "env", "exec", "fi", "if", "nice",
    "nohup", "sudo", "then", "time", "until", "while",
];

const SHELLS: &[&str] = &["ash", "bash", "dash", "ksh", "sh", "zsh"];

const INTERPRETERS: &[&str] = &[
    "bun", "deno", "lua", "node", "perl", "php", "pwsh", "python", "python3", "Rscript", "ruby", "ts-node",
    "tsx",
];

const SCRIPT_ENDS: &[&str] =
    &[".bash", ".cjs", ".js", ".lua", ".mjs", ".php", ".pl", ".ps1", ".py", ".rb", ".sh", ".ts", ".zsh"];

/// Names that hook scripts are written with and that no agent sets.
pub(super) const NEVER_SET: &[&str] = &[
    "PLUGIN_ROOT",
    "TOOL_NAME",
    "TOOL_INPUT",
    "TOOL_OUTPUT",
    "FILE_PATH",
    "extensionPath",
    "workspaceFolder",
];

/// Commands that a shell has in itself, and words of its language.
const OF_THE_SHELL: &[&str] = &[
    ".", ":", "[", "[[", "alias", "bg", "break", "case", "cd", "continue", "declare", "disown", "echo",
    "esac", "eval", "exit", "export", "false", "fg", "for", "function", "getopts", "hash", "in", "jobs",
    "kill", "let", "local", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readonly", "return",
    "select", "set", "shift", "shopt", "source", "test", "times", "trap", "true", "type", "typeset",
    "ulimit", "umask", "unalias", "unset", "wait",
];

/// True for a name that a shell would look up along the PATH.
pub(super) fn is_looked_up(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
    !name.is_empty() && name.chars().all(plain) && !OF_THE_SHELL.contains(&name) && !is_prefix(name)
}

/// True where the word may stand before a command's program.
pub(super) fn is_prefix(word: &str) -> bool {
    PREFIXES.contains(&word)
}

/// `Some(true)` for a shell, `Some(false)` for another interpreter, by the last part of the path.
pub(super) fn interpreter(program: &str) -> Option<bool> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if SHELLS.contains(&name) {
        Some(true)
    } else if INTERPRETERS.contains(&name) || plain == "python" {
        Some(false)
    } else {
        None
    }
}

/// True for the options after which a program reads no script: `-c`, `-lc` of shells, `-e`, `-m` of the others.
pub(super) fn takes_code(option: &str, shell: bool) -> bool {
    let ends: &[char] = if shell { &['c', 's'] } else { &['c', 'e', 'm', 'p'] };
    matches!(option, "--eval" | "--print" | "-") || (!option.starts_with("--") && option.ends_with(ends))
}

/// True for a name that ends as scripts do.
pub(super) fn looks_like_a_script(name: &str) -> bool {
    SCRIPT_ENDS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
}
