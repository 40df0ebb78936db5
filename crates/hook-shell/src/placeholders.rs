//! Variables in a text that no shell splits.

use crate::line::Span;

/// `$NAME` or `${NAME}` in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholder<'a> {
    /// The name.
    pub name: &'a str,
    /// All of it.
    pub span: Span,
    /// It stands in braces.
    pub braces: bool,
}

/// The variables of a text, in order; a name in braces with anything else beside it is none.
pub fn placeholders(text: &str) -> Vec<Placeholder<'_>> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('$') {
        let rest = &text[at + 1..];
        let inner = rest.strip_prefix('{');
        let name = name_at(inner.unwrap_or(rest));
        let closed = inner.is_none_or(|inner| inner[name.len()..].starts_with('}'));
        if !name.is_empty() && closed {
            let length = 1 + name.len() + if inner.is_some() { 2 } else { 0 };
            found.push(Placeholder { name, span: Span::new(at, at + length), braces: inner.is_some() });
        }
    }
    found
}

pub(crate) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The name of a variable that a text begins with; empty where there is none.
pub(crate) fn name_at(text: &str) -> &str {
    let end = text.bytes().position(|byte| !is_name(byte)).unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_hold_a_name_and_nothing_else() {
        let found: Vec<_> = placeholders("${A}/x $B ${c d} $1 ${1} ${D")
            .into_iter()
            .map(|found| (found.name, found.braces))
            .collect();
        assert_eq!(found, [("A", true), ("B", false)]);
    }
}
