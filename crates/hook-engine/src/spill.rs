//! Long texts of hooks go into files ("Claude Code hooks reference, JSON output").

use hook_core::{Effect, Note, Reading, SessionStore, TextCap};

/// Puts a file and a preview in the place of every text that is longer than its dialect passes on.
pub(crate) fn long_texts(reading: &mut Reading, cap: TextCap, sessions: &dyn SessionStore, session: &str) {
    let mut notes = Vec::new();
    for effect in &mut reading.answer.effects {
        let (Effect::Context { text } | Effect::Message { text, .. } | Effect::InitialPrompt { text }) =
            effect
        else {
            continue;
        };
        // A text has no more characters than bytes.
        if text.len() <= cap.characters {
            continue;
        }
        let count = text.chars().count();
        if count <= cap.characters {
            continue;
        }
        let preview: String = text.chars().take(cap.preview).collect();
        let place = match sessions.spill(session, text) {
            Ok(path) => format!("the whole text stands in {}", path.display()),
            Err(error) => {
                notes.push(Note::warning(format!("a text of {count} characters was cut: {error}")));
                "the rest could not be kept".to_owned()
            }
        };
        *text = format!("[{count} characters; {place}. The first {}:]\n{preview}", cap.preview);
        notes.push(Note::info(format!("a text of {count} characters went into a file")));
    }
    reading.notes.append(&mut notes);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test reads what was spilled")]

    use hook_core::{Answer, Status};
    use hook_state::MemorySessions;

    use super::*;

    #[test]
    fn a_text_is_spilled_from_the_first_character_too_many() {
        let cap = TextCap { characters: 10, preview: 4 };
        let sessions = MemorySessions::new();
        let after = |text: &str| {
            let mut reading = Reading::new(Status::Ok, Answer::context(text), "test");
            long_texts(&mut reading, cap, &sessions, "s");
            reading.answer.contexts().next().unwrap().to_owned()
        };
        assert_eq!(after("éééééééééé"), "éééééééééé");
        let long = after("éééééééééé!");
        let (head, preview) = long.split_once('\n').unwrap();
        assert_eq!(preview, "éééé");
        let path = head.split("stands in ").nth(1).and_then(|rest| rest.split(". The first").next()).unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "éééééééééé!");
    }
}
