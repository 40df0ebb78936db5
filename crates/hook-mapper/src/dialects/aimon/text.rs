//! Texts as AIMON counts and cuts them: in UTF-16 units.

/// The length in UTF-16 units.
pub(super) fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The first `most` units and how many there were; a shorter text as it is. A character of two units is never cut through.
pub(super) fn cut(text: &str, most: usize) -> String {
    let total = units(text);
    if total <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for letter in text.chars() {
        used += letter.len_utf16();
        if used > most {
            break;
        }
        kept.push(letter);
    }
    format!("{kept}... [truncated, {total} chars total]")
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn texts_are_cut_between_characters() {
        for (text, most, expected) in [
            ("abcd", 4, "abcd"),
            ("abcde", 4, "abcd... [truncated, 5 chars total]"),
            ("abc𝄞", 5, "abc𝄞"),
            ("abc𝄞e", 4, "abc... [truncated, 6 chars total]"),
            ("äöüß", 3, "äöü... [truncated, 4 chars total]"),
        ] {
            assert_eq!(cut(text, most), expected, "{text}");
        }
    }
}
