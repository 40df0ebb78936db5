//! Literal text with gaps: names, prefixes, suffixes and globs, matched without an engine.

/// Pieces of literal text with gaps between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Wild {
    /// At least one piece.
    pub(crate) pieces: Vec<String>,
    /// The first piece begins the value.
    pub(crate) start: bool,
    /// The last piece ends the value.
    pub(crate) end: bool,
    /// Characters that no gap covers.
    pub(crate) stops: &'static [char],
    /// The case of ASCII letters is ignored.
    pub(crate) fold: bool,
}

impl Wild {
    /// A glob over the whole name, in which `*` covers everything.
    pub(crate) fn glob(text: &str) -> Wild {
        Wild {
            pieces: text.split('*').map(String::from).collect(),
            start: true,
            end: true,
            ..Wild::default()
        }
    }

    /// True where every value matches.
    pub(crate) fn is_all(&self) -> bool {
        match self.pieces.as_slice() {
            [only] => only.is_empty() && !(self.start && self.end),
            pieces => pieces.iter().all(String::is_empty) && self.stops.is_empty(),
        }
    }

    /// The one name it matches, where letter case counts.
    pub(crate) fn exact(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [only] if self.start && self.end && !self.fold => Some(only),
            _ => None,
        }
    }

    /// Time grows with the product of value and pieces at most.
    pub(crate) fn matches(&self, value: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self
                .pieces
                .first()
                .is_none_or(|only| self.matches_one(value.as_bytes(), only.as_bytes()));
        };
        if value.contains(self.stops) {
            return self.matches_by_places(value);
        }
        let mut rest = value.as_bytes();
        let pieces = std::iter::once((first, self.start)).chain(middle.iter().map(|piece| (piece, false)));
        for (piece, here) in pieces {
            let piece = piece.as_bytes();
            let at = if here { self.begins(rest, piece).then_some(0) } else { self.find(rest, piece) };
            match at {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        let last = last.as_bytes();
        if self.end { self.ends(rest, last) } else { self.find(rest, last).is_some() }
    }

    fn matches_one(&self, value: &[u8], piece: &[u8]) -> bool {
        match (self.start, self.end) {
            (true, true) => value.len() == piece.len() && self.begins(value, piece),
            (true, false) => self.begins(value, piece),
            (false, true) => self.ends(value, piece),
            (false, false) => self.find(value, piece).is_some(),
        }
    }

    /// For values in which a gap may have to stop: all places where the pieces so far can end.
    fn matches_by_places(&self, value: &str) -> bool {
        let bytes = value.as_bytes();
        let mut places = vec![!self.start; bytes.len() + 1];
        places[0] = true;
        for (index, piece) in self.pieces.iter().enumerate() {
            if index > 0 {
                for (at, c) in value.char_indices() {
                    if places[at] && !self.stops.contains(&c) {
                        places[at + c.len_utf8()] = true;
                    }
                }
            }
            let piece = piece.as_bytes();
            let mut next = vec![false; places.len()];
            for at in 0..places.len() {
                if places[at] && self.begins(&bytes[at..], piece) {
                    next[at + piece.len()] = true;
                }
            }
            places = next;
        }
        if self.end { places[bytes.len()] } else { places.contains(&true) }
    }

    fn begins(&self, value: &[u8], piece: &[u8]) -> bool {
        value.get(..piece.len()).is_some_and(|start| self.same(start, piece))
    }

    fn ends(&self, value: &[u8], piece: &[u8]) -> bool {
        value.len().checked_sub(piece.len()).is_some_and(|at| self.same(&value[at..], piece))
    }

    fn same(&self, value: &[u8], piece: &[u8]) -> bool {
        if self.fold { value.eq_ignore_ascii_case(piece) } else { value == piece }
    }

    fn find(&self, value: &[u8], piece: &[u8]) -> Option<usize> {
        if piece.is_empty() {
            return Some(0);
        }
        value.windows(piece.len()).position(|window| self.same(window, piece))
    }
}

impl std::fmt::Display for Wild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.pieces.join("*");
        match (self.start, self.end, self.pieces.as_slice()) {
            (true, true, [_]) => write!(f, "exactly {text}"),
            (true, true, [first, last]) if last.is_empty() => write!(f, "starts with {first}"),
            (true, true, [first, last]) if first.is_empty() => write!(f, "ends with {last}"),
            (true, true, _) => write!(f, "is like {text}"),
            (true, false, [_]) => write!(f, "starts with {text}"),
            (true, false, _) => write!(f, "is like {text}*"),
            (false, true, [_]) => write!(f, "ends with {text}"),
            (false, true, _) => write!(f, "is like *{text}"),
            (false, false, [_]) => write!(f, "contains {text}"),
            (false, false, _) => write!(f, "is like *{text}*"),
        }
    }
}
