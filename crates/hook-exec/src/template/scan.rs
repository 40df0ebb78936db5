//! A template into pieces: text, and placeholders with what they mean.

/// Which placeholders a template may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Syntax {
    /// `${tool_input.a.b}`, `${context.x}` and `${env.X}`.
    Dotted,
    /// `$X` and `${X}`.
    Shell,
    /// The dotted ones, and of the short ones those whose variable the author allows.
    Both,
    /// `${a.b}`: a path into a document.
    Path,
    /// The dotted ones, and paths for all others in braces.
    DottedOrPath,
}

/// What a placeholder means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference<'t> {
    /// A path into the input of the tool, its keys joined by dots.
    Input(&'t str),
    /// What is known of the event under this name.
    Context(&'t str),
    /// A variable of the environment.
    Variable(&'t str),
    /// A variable in the short form, which stays as it is where nobody allows it.
    ShortVariable(&'t str),
    /// A path into the whole document.
    Path(&'t str),
}

/// A part of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Text that stands for itself.
    Text(&'t str),
    /// A placeholder: as written, and what it means.
    Placeholder(&'t str, Reference<'t>),
}

/// The pieces of a template, in order; put together as written they are the template. One pass.
pub fn pieces(template: &str, syntax: Syntax) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((length, reference)) = placeholder(rest, syntax) {
            let (written, after) = rest.split_at(length);
            rest = after;
            return Some(Piece::Placeholder(written, reference));
        }
        // The dollar that is no placeholder belongs to the text before the next one.
        let mut end = rest.len();
        let mut from = usize::from(rest.starts_with('$'));
        while let Some(at) = rest[from..].find('$') {
            if placeholder(&rest[from + at..], syntax).is_some() {
                end = from + at;
                break;
            }
            from += at + 1;
        }
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(text))
    })
}

/// The placeholder that the text begins with, and its length.
fn placeholder(text: &str, syntax: Syntax) -> Option<(usize, Reference<'_>)> {
    let after = text.strip_prefix('$')?;
    let Some(inner) = after.strip_prefix('{') else {
        if !matches!(syntax, Syntax::Shell | Syntax::Both) {
            return None;
        }
        let name = name_at(after, is_letter, is_word)?;
        return Some((1 + name.len(), variable(name, syntax)));
    };
    // The longest name, which a brace has to close: nothing is searched for, so that a text of `${` alone stays cheap.
    let name = name_at(inner, is_letter, is_dotted)?;
    if !inner[name.len()..].starts_with('}') {
        return None;
    }
    let length = "${}".len() + name.len();
    let short = || name.chars().all(is_word).then(|| variable(name, syntax));
    let reference = match syntax {
        Syntax::Path => Some(Reference::Path(name)),
        Syntax::Shell => short(),
        Syntax::Dotted => dotted(name),
        Syntax::DottedOrPath => dotted(name).or(Some(Reference::Path(name))),
        Syntax::Both => dotted(name).or_else(short),
    };
    reference.map(|reference| (length, reference))
}

fn variable(name: &str, syntax: Syntax) -> Reference<'_> {
    if syntax == Syntax::Shell { Reference::Variable(name) } else { Reference::ShortVariable(name) }
}

fn dotted(name: &str) -> Option<Reference<'_>> {
    let (prefix, name) = name.split_once('.')?;
    if !name.starts_with(is_letter) {
        return None;
    }
    match prefix {
        "tool_input" => Some(Reference::Input(name)),
        "context" => Some(Reference::Context(name)),
        "env" => Some(Reference::Variable(name)),
        _ => None,
    }
}

fn name_at(text: &str, first: fn(char) -> bool, next: fn(char) -> bool) -> Option<&str> {
    if !text.starts_with(first) {
        return None;
    }
    let end = text.find(|c| !next(c)).unwrap_or(text.len());
    Some(&text[..end])
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_dotted(c: char) -> bool {
    is_word(c) || c == '.' || c == '-'
}
