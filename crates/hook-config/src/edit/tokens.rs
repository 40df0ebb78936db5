//! A JSON text cut into its smallest pieces, blanks and comments among them.

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Blank,
    LineComment,
    BlockComment,
    /// A bracket, a brace, a comma, a colon.
    Mark(u8),
    /// A string, a number, a word.
    Scalar,
}

/// A piece and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) piece: Piece,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    pub(super) fn is_comment(self) -> bool {
        matches!(self.piece, Piece::LineComment | Piece::BlockComment)
    }

    /// True for what the value is made of: neither blank nor comment.
    pub(super) fn counts(self) -> bool {
        self.piece != Piece::Blank && !self.is_comment()
    }
}

/// Cuts a text that is known to be JSON with comments.
pub(super) fn cut(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(&first) = bytes.get(start) {
        let rest = &bytes[start..];
        let (piece, length) = match first {
            b' ' | b'\t' | b'\n' | b'\r' => {
                (Piece::Blank, run(rest, |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')))
            }
            b'/' if rest.get(1) == Some(&b'*') => {
                (Piece::BlockComment, text[start..].find("*/").map_or(rest.len(), |end| end + 2))
            }
            b'/' => {
                let line = run(rest, |byte| byte != b'\n');
                // The carriage return belongs to the end of the line.
                (Piece::LineComment, line - usize::from(rest[..line].ends_with(b"\r") && line < rest.len()))
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' => (Piece::Mark(first), 1),
            b'"' => (Piece::Scalar, string(rest)),
            _ => (
                Piece::Scalar,
                run(rest, |byte| {
                    !matches!(
                        byte,
                        b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' | b'{' | b'}' | b'[' | b']' | b'/' | b'"'
                    )
                }),
            ),
        };
        let end = start + length.max(1);
        tokens.push(Token { piece, start, end });
        start = end;
    }
    tokens
}

fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !belongs(byte)).unwrap_or(bytes.len())
}

fn string(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_text_and_keep_strings_and_comments_whole() {
        let text = "{ \"a\\\"//\": [1,true], // c\r\n /* , */ \"b\":null}";
        let tokens = cut(text);
        let mut at = 0;
        for token in &tokens {
            assert_eq!(token.start, at);
            at = token.end;
        }
        assert_eq!(at, text.len());
        let words: Vec<&str> = tokens
            .iter()
            .filter(|token| token.piece != Piece::Blank)
            .map(|t| &text[t.start..t.end])
            .collect();
        assert_eq!(
            words,
            [
                "{",
                "\"a\\\"//\"",
                ":",
                "[",
                "1",
                ",",
                "true",
                "]",
                ",",
                "// c",
                "/* , */",
                "\"b\"",
                ":",
                "null",
                "}"
            ]
        );
    }
}
