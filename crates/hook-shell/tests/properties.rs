//! Whatever stands in a line, it is read, in time, and every place is one.

use hook_shell::{Line, Span, placeholders};
use proptest::prelude::*;

fn places(text: &str) -> Result<(), TestCaseError> {
    let line = Line::read(text);
    let inside = |span: Span| text.get(span.start..span.end).is_some();
    let mut words = 0;
    for command in line.commands() {
        prop_assert!(text.contains(command.written()));
        prop_assert!(command.words().next().is_some());
        words += command.words().count();
        let mut end = 0;
        for word in command.words() {
            prop_assert!(inside(word.span()) && word.span().start >= end && !word.written().is_empty());
            end = word.span().end;
            for piece in word.pieces() {
                prop_assert!(inside(piece.span));
            }
            for variable in word.variables() {
                prop_assert!(text[variable.span.start..variable.span.end].starts_with('$'));
            }
        }
    }
    prop_assert_eq!(words, line.words().count());
    for span in
        [line.variable(), line.substitution(), line.doubt().map(|(_, span)| span)].into_iter().flatten()
    {
        prop_assert!(inside(span));
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_line_is_read(text in "[ab$(){}`'\"\\\\é;&|<>#~*?=\\[\\],.1\r\n ]{0,60}") {
        places(&text)?;
    }

    #[test]
    fn any_text_is_read(text in "\\PC{0,80}") {
        places(&text)?;
        for found in placeholders(&text) {
            prop_assert!(text[found.span.start..found.span.end].starts_with('$'));
        }
    }

    /// Plain words between any separators come out as they went in.
    #[test]
    fn plain_commands_come_out_as_they_went_in(
        commands in prop::collection::vec(prop::collection::vec("x[a-z0-9./:@%+-]{0,8}", 1..5), 1..6),
        separator in prop::sample::select(vec![" && ", " || ", "; ", " | ", "\n", " & ", " |& "]),
    ) {
        let written: Vec<String> = commands.iter().map(|words| words.join(" ")).collect();
        let text = written.join(separator);
        let line = Line::read(&text);
        prop_assert_eq!(line.doubt(), None);
        let read: Vec<String> = line.commands().map(|command| command.plain_text()).collect();
        prop_assert_eq!(read, written);
    }

    /// A quoted text is one word, whatever stands in it, but that no shell keeps a NUL byte.
    #[test]
    fn single_quotes_hide_everything(text in "[^'\0]{0,40}") {
        let quoted = format!("a '{text}' b");
        let line = Line::read(&quoted);
        prop_assert_eq!(line.doubt(), None);
        prop_assert_eq!(line.commands().map(|command| command.plain_text()).collect::<Vec<_>>(), [format!("a {text} b")]);
    }
}

/// Time that grows with the square of the line would be noticed here by everybody.
#[test]
fn hostile_lines_are_read() {
    const SIZE: usize = 1 << 18;
    for part in [
        "(", "$(", "`", "\"$(", "$((", "$((1+", "${", "${a", "'", "\"", "\\", "{", "{a,", "{a..", "A=1 ",
        "<", ">", "> a ", "a ", "a;", "&", "|", "!", "! ", "# ", "#\n", "if ", "a`b` ", "a$(b)", "$a",
        "\"$a\"", "[", "]=", "a[", "a(", "<(", "$'", "$[", "é", "\n", "$((a)b", "$(( a ) ",
    ] {
        let text = part.repeat(SIZE / part.len());
        let line = Line::read(&text);
        let read: usize = line.commands().map(|command| command.plain_text().len()).sum();
        // A command stands in the text of those around it as well, as deep as nesting is followed.
        assert!(read <= 65 * text.len(), "{part:?}: {read} bytes of plain text");
    }
}
