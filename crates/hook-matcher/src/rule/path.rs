//! Rules on paths: `Edit(src/**)`, by the conventions of gitignore.
//!
//! "Claude Code permissions reference, Read and Edit". Letter case is ignored, because file systems may ignore it.

use std::borrow::Cow;
use std::path::Path;

/// Where a pattern begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    /// Anywhere.
    Nowhere,
    /// At the session's directory, or at the project.
    Session,
    /// At the directory that the rule's file speaks for.
    Source,
    /// At the home directory.
    Home,
    /// At the root of the file system.
    Root,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    /// `**`
    Deep,
    Name(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    One(char),
    Any,
    Star,
    Class { not: bool, ranges: Vec<(char, char)> },
}

/// The directories that a rule's paths may mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roots<'a> {
    pub(super) session: Option<&'a Path>,
    pub(super) project: &'a Path,
    pub(super) home: Option<&'a Path>,
    /// The directory of the rule's source.
    pub(super) source: Option<&'a Path>,
}

#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    anchor: Anchor,
    segments: Vec<Segment>,
    /// It goes up, and nothing lies above its anchor.
    never: bool,
}

impl PathPattern {
    pub(super) fn new(text: &str) -> PathPattern {
        let text = slashes(text).to_lowercase();
        let (anchor, rest) = if let Some(rest) = text.strip_prefix("//") {
            (Anchor::Root, rest)
        } else if has_drive(&text) {
            (Anchor::Root, text.as_str())
        } else if text == "~" || text.starts_with("~/") {
            (Anchor::Home, text[1..].trim_start_matches('/'))
        } else if let Some(rest) = text.strip_prefix('/') {
            (Anchor::Source, rest)
        } else if text.trim_end_matches('/').contains('/') {
            (Anchor::Session, text.as_str())
        } else {
            (Anchor::Nowhere, text.as_str())
        };
        let rest = rest.trim_end_matches('/');
        // What lies in a directory fits as the directory does.
        let rest = rest.strip_suffix("/**").unwrap_or(rest);
        let rest = undriven(rest);
        let names = rest.split('/').filter(|name| !matches!(*name, "" | "."));
        let mut segments: Vec<Segment> = names.clone().map(segment).collect();
        if anchor == Anchor::Nowhere {
            segments.insert(0, Segment::Deep);
        }
        segments.push(Segment::Deep);
        segments.dedup_by(|next, last| (&*next, &*last) == (&Segment::Deep, &Segment::Deep));
        PathPattern { anchor, segments, never: names.clone().any(|name| name == "..") }
    }

    /// `**`, `*` and the like: every path fits.
    pub(super) fn is_all(&self) -> bool {
        self.anchor == Anchor::Nowhere
            && self.segments.iter().all(|segment| match segment {
                Segment::Deep => true,
                Segment::Name(tokens) => tokens.as_slice() == [Token::Star],
            })
    }

    /// It begins at the home directory, which may not be known.
    pub(super) fn needs_home(&self) -> bool {
        self.anchor == Anchor::Home
    }

    pub(super) fn matches(&self, path: &str, roots: &Roots<'_>) -> bool {
        if self.never {
            return false;
        }
        let file = absolute(path, roots);
        let fits = |root: Option<&Path>| {
            let root = root.map(parts)?;
            file.strip_prefix(root.as_slice()).map(|rest| self.fits(rest))
        };
        match self.anchor {
            Anchor::Root => self.fits(&file),
            Anchor::Home => fits(roots.home).unwrap_or(false),
            Anchor::Session => {
                [roots.session, Some(roots.project)].into_iter().any(|root| fits(root) == Some(true))
            }
            Anchor::Source => {
                // A file of the project speaks for the project.
                let own = roots.source.filter(|source| !source.starts_with(roots.project));
                let project = own.is_none().then_some(roots.project);
                [project, roots.source].into_iter().any(|root| fits(root) == Some(true))
            }
            Anchor::Nowhere => {
                let inside: Vec<bool> =
                    [roots.session, Some(roots.project)].into_iter().filter_map(fits).collect();
                if inside.is_empty() { self.fits(&file) } else { inside.contains(&true) }
            }
        }
    }

    /// A glob over segments: every `**` may be long, so the last one is tried again where the rest does not fit.
    fn fits(&self, parts: &[String]) -> bool {
        let (mut at, mut part, mut again) = (0, 0, None);
        loop {
            match self.segments.get(at) {
                Some(Segment::Deep) => {
                    again = Some((at, part));
                    at += 1;
                    continue;
                }
                Some(Segment::Name(tokens))
                    if parts.get(part).is_some_and(|name| name_fits(tokens, name)) =>
                {
                    at += 1;
                    part += 1;
                    continue;
                }
                None if part == parts.len() => return true,
                _ => {}
            }
            match again {
                Some((deep, from)) if from < parts.len() => {
                    again = Some((deep, from + 1));
                    at = deep + 1;
                    part = from + 1;
                }
                _ => return false,
            }
        }
    }
}

fn segment(name: &str) -> Segment {
    if name == "**" {
        return Segment::Deep;
    }
    let mut tokens = Vec::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let token = match c {
            '*' => Token::Star,
            '?' => Token::Any,
            '[' => match class(rest) {
                Some((token, behind)) => {
                    rest = behind;
                    token
                }
                None => Token::One('['),
            },
            c => Token::One(c),
        };
        if token != Token::Star || tokens.last() != Some(&Token::Star) {
            tokens.push(token);
        }
    }
    Segment::Name(tokens)
}

/// The class whose inside a text begins with, and what follows it.
fn class(text: &str) -> Option<(Token, &str)> {
    let (not, inner) = match text.strip_prefix(['!', '^']) {
        Some(inner) => (true, inner),
        None => (false, text),
    };
    // A bracket in the first place is one of the characters.
    let first = inner.chars().next()?;
    let end = first.len_utf8() + inner[first.len_utf8()..].find(']')?;
    let chars: Vec<char> = inner[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        match chars.get(at + 1..at + 3) {
            Some(&['-', last]) => {
                ranges.push((chars[at], last));
                at += 3;
            }
            _ => {
                ranges.push((chars[at], chars[at]));
                at += 1;
            }
        }
    }
    Some((Token::Class { not, ranges }, &inner[end + 1..]))
}

fn name_fits(tokens: &[Token], name: &str) -> bool {
    let (mut at, mut rest, mut again) = (0, name, None);
    loop {
        let next = rest.chars().next();
        let fits = match (tokens.get(at), next) {
            (Some(Token::Star), _) => {
                again = Some((at + 1, rest));
                at += 1;
                continue;
            }
            (None, None) => return true,
            (Some(Token::Any), Some(_)) => true,
            (Some(Token::One(one)), Some(c)) => *one == c,
            (Some(Token::Class { not, ranges }), Some(c)) => {
                ranges.iter().any(|&(from, to)| (from..=to).contains(&c)) != *not
            }
            _ => false,
        };
        if let Some(c) = next.filter(|_| fits) {
            at += 1;
            rest = &rest[c.len_utf8()..];
            continue;
        }
        // The last star takes one more character.
        match again.and_then(|(star, from): (usize, &str)| Some((star, from, from.chars().next()?))) {
            Some((star, from, c)) => {
                rest = &from[c.len_utf8()..];
                again = Some((star, rest));
                at = star;
            }
            None => return false,
        }
    }
}

/// The path of a call as names from the root of the file system, `.` and `..` resolved, in small letters.
fn absolute(path: &str, roots: &Roots<'_>) -> Vec<String> {
    let path = slashes(path);
    let base = match path.strip_prefix("~/") {
        Some(_) => roots.home,
        None if path.starts_with('/') || has_drive(&path) => None,
        None => roots.session.or(Some(roots.project)),
    };
    let mut all = base.map(parts).unwrap_or_default();
    put(path.strip_prefix("~/").filter(|_| base.is_some()).unwrap_or(&path), &mut all);
    all
}

fn parts(path: &Path) -> Vec<String> {
    let mut all = Vec::new();
    put(&slashes(&path.to_string_lossy()), &mut all);
    all
}

fn put(path: &str, all: &mut Vec<String>) {
    for name in undriven(path).split('/') {
        match name {
            "" | "." => {}
            ".." => drop(all.pop()),
            name => all.push(name.to_lowercase()),
        }
    }
}

fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1..3) == Some(b":/")
}

/// `C:/x` as `C/x`, which is what `//c/x` means.
fn undriven(path: &str) -> Cow<'_, str> {
    if has_drive(path) { Cow::Owned(path.replacen(':', "", 1)) } else { Cow::Borrowed(path) }
}

/// Paths of Windows are read with forward slashes ("Claude Code permissions reference, Read and Edit").
fn slashes(path: &str) -> String {
    path.replace('\\', "/")
}
