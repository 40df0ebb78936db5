//! Which control sequences may go to the user's terminal ("JSON output", `terminalSequence`).

/// Operating system commands that are let through: titles, working directory of tabs, notifications.
const COMMANDS: &[&str] = &["0", "1", "2", "9", "99", "777"];

/// True where the text is bells and allowed commands and nothing else; one foreign character voids all of it, so that no hook
/// can write to the screen or to the clipboard.
pub(super) fn is_allowed(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        rest = match rest.strip_prefix('\u{7}').or_else(|| command(rest)) {
            Some(rest) => rest,
            None => return false,
        };
    }
    true
}

/// What follows one allowed command, ended by a bell or by `ESC \`.
fn command(text: &str) -> Option<&str> {
    let body = text.strip_prefix("\u{1b}]")?;
    let (number, body) = body.split_once(';')?;
    let end = body.find(|c: char| c.is_control())?;
    let rest = body[end..].strip_prefix('\u{7}').or_else(|| body[end..].strip_prefix("\u{1b}\\"))?;
    COMMANDS.contains(&number).then_some(rest)
}

/// The text without escape sequences: colours and the like that a tool prints even where nobody looks.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            // A control sequence ends with the first character from `@` on.
            Some('[') => while letters.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            // A command ends with a bell or with `ESC \`.
            Some(']') => {
                while let Some(c) = letters.next() {
                    if c == '\u{7}' || (c == '\u{1b}' && letters.next_if_eq(&'\\').is_some()) {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{is_allowed, plain};

    #[test]
    fn bells_and_the_listed_commands_pass_and_one_foreign_character_voids_all() {
        for (text, allowed) in [
            ("", true),
            ("\u{7}", true),
            ("\u{1b}]0;title\u{7}", true),
            ("\u{1b}]2;title\u{1b}\\\u{7}\u{1b}]9;done\u{7}", true),
            ("\u{1b}]99;i=1;body\u{1b}\\", true),
            ("\u{1b}]777;notify;a;b ü\u{7}", true),
            ("\u{1b}]1;\u{7}", true),
            ("\u{1b}]52;c;aGk=\u{7}", false),
            ("\u{1b}]8;;http://x\u{7}", false),
            ("\u{1b}]01;x\u{7}", false),
            ("\u{1b}]0\u{7}", false),
            ("\u{1b}]0;open", false),
            ("\u{1b}]0;a\u{1b}[2J\u{7}", false),
            ("\u{1b}]0;a\nb\u{7}", false),
            ("\u{1b}]0;a\u{9d}52;c;x\u{7}", false),
            ("\u{1b}[31m", false),
            ("\u{7}text", false),
            ("\u{1b}]0;a\u{7}\u{1b}]52;c;x\u{7}", false),
        ] {
            assert_eq!(is_allowed(text), allowed, "{text:?}");
        }
    }

    #[test]
    fn escape_sequences_are_left_out_of_a_text() {
        for (text, expected) in [
            ("wt/a", "wt/a"),
            ("\u{1b}[32mwt/a\u{1b}[0m", "wt/a"),
            ("\u{1b}[1;38;5;2mwt\u{1b}[K/a", "wt/a"),
            ("\u{1b}]8;;file:///x\u{7}wt/a\u{1b}]8;;\u{1b}\\", "wt/a"),
            ("\u{1b}(wt", "wt"),
            ("wt\u{1b}", "wt"),
            ("wt\u{1b}[", "wt"),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }
}
