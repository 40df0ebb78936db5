//! Commands of skills that name their program relative to the skill.
//!
//! "Shell hooks module for Amplifier, Skill-embedded hooks": a command that begins with `./` or `../` means the skill's
//! directory, though it runs in the project's. Only the program word is replaced; its arguments, and programs further along in
//! the line, stay as they were written.

use std::path::Path;
use std::sync::Arc;

use hook_core::{CommandHandler, Document, Handler, Layer, Shell};

use crate::formats;

/// Resolves the commands of a skill's or subagent's document. Called once, after the hooks have their ids: those do not
/// depend on where the skill lies.
pub(crate) fn resolve(document: &mut Document) {
    let of_skill = matches!(document.layer, Layer::Skill | Layer::Agent);
    if !of_skill || !formats::rules(document.dialect, document.layer).skill_relative {
        return;
    }
    let Some(root) = document.root.clone().filter(|root| root.is_absolute()) else { return };
    for hook in document.bindings.iter_mut().flat_map(|binding| &mut binding.hooks) {
        let Handler::Command(command) = &hook.handler else { continue };
        if let Some(resolved) = resolved(command, &root)
            && let Handler::Command(command) = &mut Arc::make_mut(hook).handler
        {
            command.command = resolved;
        }
    }
}

/// The command with its program found; `None` where it does not begin with `./` or `../`.
fn resolved(command: &CommandHandler, root: &Path) -> Option<String> {
    let line = command.command.trim_start();
    let rest = match line.strip_prefix("./") {
        Some(rest) => rest,
        None => Some(line).filter(|line| line.starts_with("../"))?,
    };
    let root = root.to_str()?.trim_end_matches('/');
    let root = match (&command.args, command.shell) {
        // A program's name is no shell word.
        (Some(_), _) => root.to_owned(),
        (None, Shell::Sh | Shell::Bash) => quoted(root),
        _ => return None,
    };
    Some(format!("{root}/{rest}"))
}

/// A path as a word of `sh`, or as the beginning of one.
pub(crate) fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_word_is_replaced() {
        let table = [
            ("./x.sh", "/s k", Some("'/s k'/x.sh")),
            ("  ./x.sh", "/s", Some("/s/x.sh")),
            ("./x.sh https://a.b/c ./y a/../b", "/s", Some("/s/x.sh https://a.b/c ./y a/../b")),
            ("../x.sh", "/s", Some("/s/../x.sh")),
            ("./\"my dir\"/x.sh; ./y.sh", "/s", Some("/s/\"my dir\"/x.sh; ./y.sh")),
            ("./$NAME.sh", "/it's", Some(r"'/it'\''s'/$NAME.sh")),
            ("./x", "/", Some("/x")),
            ("bash ./x.sh", "/s", None),
            ("scripts/x.sh", "/s", None),
            ("X=1 ./x.sh", "/s", None),
            (".hidden/x", "/s", None),
            ("/bin/true", "/s", None),
        ];
        for (line, root, wanted) in table {
            let command = CommandHandler { command: line.into(), args: None, shell: Shell::Sh };
            assert_eq!(resolved(&command, Path::new(root)).as_deref(), wanted, "{line}");
        }
        let exec = CommandHandler { command: "./x y".into(), args: Some(Vec::new()), shell: Shell::Sh };
        assert_eq!(resolved(&exec, Path::new("/s k")).as_deref(), Some("/s k/x y"));
        let power = CommandHandler { command: "./x.ps1".into(), args: None, shell: Shell::PowerShell };
        assert_eq!(resolved(&power, Path::new("/s")), None);
    }
}
