//! A line cut at its operators, as text: what a glob over sub-commands is compared with.
//!
//! "AIMON hook configuration guide, Matcher syntax" and the tests of its code: operators end a piece; quotes, backticks and `$( )`
//! stay in theirs, and what is in them is cut as well. No word is read, so that other spacing makes another piece.

/// Nesting is looked into up to here.
const MAX_NESTING: usize = 64;

/// The pieces of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces<'a> {
    /// The pieces as written, what stands in quotes and substitutions before the piece around it. Blanks around them are left out,
    /// and so are empty ones.
    pub pieces: Vec<&'a str>,
    /// A quote or a substitution never ends, so that the whole line is one piece.
    pub unterminated: bool,
    /// Something is nested deeper than is looked into; there may be more pieces.
    pub too_deep: bool,
    /// Bytes that were looked at: at most the length of the line, times the levels of its nesting.
    pub steps: usize,
}

/// Cuts a line. It takes time in proportion to the line and its nesting, which is looked into up to 64 levels.
///
/// ```
/// use hook_shell::pieces;
///
/// assert_eq!(pieces("ls && git status; x").pieces, ["ls", "git status", "x"]);
/// assert_eq!(pieces("echo $(git log | head)").pieces, ["git log", "head", "echo $(git log | head)"]);
/// assert_eq!(pieces("echo 'a && b'").pieces, ["echo 'a && b'"]);
/// assert!(pieces("echo \"open && rm x").unterminated);
/// ```
pub fn pieces(text: &str) -> Pieces<'_> {
    let mut cutter = Cutter { found: Vec::new(), too_deep: false, steps: 0 };
    let whole = cutter.cut(text, 0).is_none();
    if whole {
        cutter.found.clear();
        cutter.keep(text);
    }
    Pieces { pieces: cutter.found, unterminated: whole, too_deep: cutter.too_deep, steps: cutter.steps }
}

/// The pieces that quotes cannot hide: cut at every operator, quote, backtick and parenthesis, wherever it stands.
///
/// ```
/// assert_eq!(hook_shell::bare_pieces("echo \"open && rm x"), ["echo", "open", "rm x"]);
/// ```
pub fn bare_pieces(text: &str) -> Vec<&str> {
    let parts = text.split([';', '|', '&', '\n', '"', '\'', '`', '(', ')']).map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}

struct Cutter<'a> {
    found: Vec<&'a str>,
    too_deep: bool,
    steps: usize,
}

impl<'a> Cutter<'a> {
    fn keep(&mut self, piece: &'a str) {
        let piece = piece.trim();
        if !piece.is_empty() {
            self.found.push(piece);
        }
    }

    /// Cuts a text; nothing where something in it never ends.
    fn cut(&mut self, text: &'a str, depth: usize) -> Option<()> {
        if depth > MAX_NESTING {
            self.too_deep = true;
            return Some(());
        }
        let bytes = text.as_bytes();
        self.steps += bytes.len();
        let (mut at, mut start) = (0, 0);
        while at < bytes.len() {
            let next = bytes.get(at + 1).copied();
            let (body, end) = match bytes[at] {
                b'\\' => {
                    at += 2;
                    continue;
                }
                b'\'' => {
                    at = find(bytes, at + 1, b'\'')? + 1;
                    continue;
                }
                b'"' => (at + 1, end_of_quotes(bytes, at + 1)?),
                b'`' => (at + 1, find(bytes, at + 1, b'`')?),
                b'$' if next == Some(b'(') => (at + 2, end_of_substitution(bytes, at + 2)?),
                byte @ (b'&' | b'|' | b';' | b'\n') => {
                    let double = next == Some(byte) && matches!(byte, b'&' | b'|');
                    // A single `&` is text.
                    if double || byte != b'&' {
                        self.keep(&text[start..at]);
                        start = at + 1 + usize::from(double);
                    }
                    at += 1 + usize::from(double);
                    continue;
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            self.cut(&text[body..end], depth + 1)?;
            at = end + 1;
        }
        self.keep(&text[start..]);
        Some(())
    }
}

fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    bytes[from..].iter().position(|byte| *byte == wanted).map(|at| from + at)
}

fn end_of_quotes(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

fn end_of_substitution(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut open = 1usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\'' => at = find(bytes, at + 1, b'\'')?,
            b'"' => at = end_of_quotes(bytes, at + 1)?,
            b'(' => open += 1,
            b')' => {
                open -= 1;
                if open == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_end_pieces_and_quotes_keep_them() {
        let rows: &[(&str, &[&str])] = &[
            ("a && b || c ; d | e\nf", &["a", "b", "c", "d", "e", "f"]),
            ("a & b", &["a & b"]),
            ("a &&& b", &["a", "& b"]),
            ("echo 'a && b' && c", &["echo 'a && b'", "c"]),
            ("bash -c \"echo hi && git push\"", &["echo hi", "git push", "bash -c \"echo hi && git push\""]),
            ("echo `git status`", &["git status", "echo `git status`"]),
            ("echo $(echo $(git log))", &["git log", "echo $(git log)", "echo $(echo $(git log))"]),
            ("echo $(f (a) ')' \")\")", &[")", "f (a) ')' \")\"", "echo $(f (a) ')' \")\")"]),
            ("a\\; b; c\\", &["a\\; b", "c\\"]),
            ("é\\é; ü", &["é\\é", "ü"]),
            (" ;; ", &[]),
            ("", &[]),
        ];
        for (line, expected) in rows {
            let cut = pieces(line);
            assert_eq!(cut.pieces, *expected, "{line}");
            assert!(!cut.unterminated && !cut.too_deep, "{line}");
        }
    }

    #[test]
    fn what_never_ends_makes_one_piece() {
        for line in ["echo \"git push", "a; echo 'b", "a | `b", "a; $(b", "a; $('b)", "a; \"$(b\""] {
            let cut = pieces(line);
            assert!(cut.unterminated, "{line}");
            assert_eq!(cut.pieces, [line], "{line}");
        }
    }

    #[test]
    fn the_work_is_bounded_by_length_and_nesting() {
        let nested = |levels: usize| format!("{}rm x{}", "echo $(".repeat(levels), ")".repeat(levels));
        let most = nested(64);
        let cut = pieces(&most);
        assert_eq!((cut.pieces.first(), cut.too_deep), (Some(&"rm x"), false));
        let deep = nested(5_000);
        let cut = pieces(&deep);
        assert!(cut.too_deep && cut.pieces.len() == 65);
        assert!(cut.steps <= deep.len() * 65, "{}", cut.steps);
        let flat = "echo \"a b\" && ".repeat(80_000);
        assert!(flat.len() > 1 << 20);
        assert!(pieces(&flat).steps <= 2 * flat.len());
    }
}
