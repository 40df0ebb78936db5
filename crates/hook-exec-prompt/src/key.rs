//! A key that nobody gets to see but the server it is for.

use std::fmt;

/// Keys shorter than this are words that servers without keys are given (`x`, `none`, `EMPTY`), and occur in answers by chance.
const SHORTEST_SECRET: usize = 8;

/// The secret of a service.
#[derive(Clone)]
pub(crate) struct Key(String);

impl Key {
    /// A key; `None` where there is nothing but blanks.
    pub(crate) fn new(text: &str) -> Option<Key> {
        Some(text.trim()).filter(|text| !text.is_empty()).map(|text| Key(text.to_owned()))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// A text of the server without the key: some services repeat it in their errors.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }

    /// An answer without the key. What is no secret stays, since words in its place would change a verdict.
    pub(crate) fn hide_in_answer(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_SECRET { text.to_owned() } else { self.hide(text) }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}
