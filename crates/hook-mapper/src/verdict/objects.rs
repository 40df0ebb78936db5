//! Finding a JSON object in a text.

use serde_json::{Deserializer, Map, Value};

type Object = Map<String, Value>;
/// True where an object will do.
type Wanted<'a> = &'a dyn Fn(&Object) -> bool;

/// Bytes that may be read in vain beside the text's own length: plenty for any answer that somebody meant.
const SPARE: usize = 64 * 1024;

/// The object that fits the earliest of `ranks`, among equals the first one; the first object of all where none fits.
///
/// Objects are looked for in this order: the whole text, the fenced blocks, every object in the text. Objects inside of others
/// count only where no outer one fits.
pub(super) fn best(text: &str, ranks: &[Wanted<'_>]) -> Option<Object> {
    let text = text.trim();
    let budget = text.len().saturating_add(SPARE);
    let mut search = Search { ranks, best: None, first: None, budget };
    if let Ok(object) = serde_json::from_str::<Object>(text) {
        search.offer(object);
    } else {
        // What stands between two fences is every second piece.
        let _done = text.split("```").skip(1).step_by(2).any(|block| search.scan(block)) || search.scan(text);
    }
    search.best.map(|(_, object)| object).or(search.first)
}

struct Search<'a> {
    ranks: &'a [Wanted<'a>],
    best: Option<(usize, Object)>,
    first: Option<Object>,
    /// Bytes that may still be read in vain: braces within braces that never close would cost their square.
    budget: usize,
}

impl Search<'_> {
    /// Every object of a piece that stands outside of other objects; true where there can be no better one.
    fn scan(&mut self, text: &str) -> bool {
        let mut at = 0;
        while let Some(brace) = text[at..].find('{') {
            let start = at + brace;
            let mut stream = Deserializer::from_str(&text[start..]).into_iter::<Object>();
            match stream.next() {
                Some(Ok(object)) => {
                    at = start + stream.byte_offset();
                    if self.offer(object) {
                        return true;
                    }
                }
                Some(Err(error)) => {
                    self.budget = self.budget.saturating_sub(offset(&text[start..], &error).max(1));
                    if self.budget == 0 {
                        return false;
                    }
                    at = start + 1;
                }
                None => return false,
            }
        }
        false
    }

    /// Keeps the object where it is better; true where it is the best there can be.
    fn offer(&mut self, object: Object) -> bool {
        let outer = self.rank(&object);
        let found = match outer {
            Some(rank) => Some((rank, None)),
            None => self
                .inside(&mut object.values())
                .map(|(rank, inner)| (rank + self.ranks.len(), Some(inner.clone()))),
        };
        match found {
            Some((rank, inner)) if self.best.as_ref().is_none_or(|(known, _)| rank < *known) => {
                self.best = Some((rank, inner.unwrap_or(object)));
            }
            _ => {
                self.first.get_or_insert(object);
            }
        }
        outer == Some(0)
    }

    fn rank(&self, object: &Object) -> Option<usize> {
        self.ranks.iter().position(|wanted| wanted(object))
    }

    /// The best object among these values and inside of them. The parser bounds how deep that can go.
    fn inside<'v>(&self, values: &mut dyn Iterator<Item = &'v Value>) -> Option<(usize, &'v Object)> {
        let mut best: Option<(usize, &Object)> = None;
        for value in values {
            let found = match value {
                Value::Object(object) => match self.rank(object) {
                    Some(rank) => Some((rank, object)),
                    None => self.inside(&mut object.values()),
                },
                Value::Array(items) => self.inside(&mut items.iter()),
                _ => None,
            };
            if let Some((rank, object)) = found
                && best.is_none_or(|(known, _)| rank < known)
            {
                best = Some((rank, object));
            }
        }
        best
    }
}

/// How far the parser got.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}
