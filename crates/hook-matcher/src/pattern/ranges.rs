//! Sets of characters as ranges, for classes that are computed while they are read.

use super::node::Item;

/// Characters, as ranges in order that neither touch nor overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u32, u32)>);

const LAST: u32 = 0x10_ffff;

impl Ranges {
    pub(super) fn of(ranges: &[(char, char)]) -> Ranges {
        let mut set = Ranges::default();
        ranges.iter().for_each(|(low, high)| set.add(*low, *high));
        set
    }

    pub(super) fn add(&mut self, low: char, high: char) {
        self.0.push((low as u32, high as u32));
        self.tidy();
    }

    pub(super) fn join(&mut self, other: &Ranges) {
        self.0.extend_from_slice(&other.0);
        self.tidy();
    }

    pub(super) fn meet(&self, other: &Ranges) -> Ranges {
        let mut both = Vec::new();
        for (low, high) in &self.0 {
            for (other_low, other_high) in &other.0 {
                let (low, high) = (*low.max(other_low), *high.min(other_high));
                if low <= high {
                    both.push((low, high));
                }
            }
        }
        let mut set = Ranges(both);
        set.tidy();
        set
    }

    pub(super) fn complement(&self) -> Ranges {
        let mut rest = Vec::new();
        let mut next = 0;
        for (low, high) in &self.0 {
            if *low > next {
                rest.push((next, low - 1));
            }
            next = high + 1;
        }
        if next <= LAST {
            rest.push((next, LAST));
        }
        Ranges(rest)
    }

    /// Adds the other case of ASCII letters.
    pub(super) fn fold_ascii(&mut self) {
        let letters = |first: char, last: char, shift: i64| {
            let within = self.meet(&Ranges::of(&[(first, last)]));
            let moved = within.0.iter().map(move |(low, high)| (moved(*low, shift), moved(*high, shift)));
            moved.collect::<Vec<_>>()
        };
        let mut more = letters('a', 'z', -32);
        more.extend(letters('A', 'Z', 32));
        self.0.extend(more);
        self.tidy();
    }

    /// True where all of it is ASCII.
    pub(super) fn is_ascii(&self) -> bool {
        self.0.iter().all(|(_, high)| *high < 128)
    }

    /// The items of a class. The numbers that are halves of other characters stand for none.
    pub(super) fn items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        for (low, high) in &self.0 {
            let parts = [(*low, (*high).min(0xd7ff)), ((*low).max(0xe000), *high)];
            for (low, high) in parts {
                if low <= high
                    && let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high))
                {
                    items.push(Item::Range(low, high));
                }
            }
        }
        items
    }

    fn tidy(&mut self) {
        self.0.sort_unstable();
        let mut tidy: Vec<(u32, u32)> = Vec::with_capacity(self.0.len());
        for (low, high) in self.0.drain(..) {
            match tidy.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => tidy.push((low, high)),
            }
        }
        self.0 = tidy;
    }
}

fn moved(code: u32, shift: i64) -> u32 {
    u32::try_from(i64::from(code) + shift).unwrap_or(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_computed_and_kept_in_order() {
        let mut set = Ranges::of(&[('m', 'p'), ('a', 'c'), ('d', 'd'), ('b', 'n')]);
        assert_eq!(set.items(), [Item::Range('a', 'p')]);
        let vowels = Ranges::of(&[('a', 'a'), ('e', 'e'), ('u', 'u')]);
        assert_eq!(set.meet(&vowels).items(), [Item::Range('a', 'a'), Item::Range('e', 'e')]);
        set.fold_ascii();
        assert_eq!(set.items(), [Item::Range('A', 'P'), Item::Range('a', 'p')]);
        let all = Ranges::default().complement();
        assert_eq!(all.items(), [Item::Range('\0', '\u{d7ff}'), Item::Range('\u{e000}', '\u{10ffff}')]);
        assert_eq!(all.complement(), Ranges::default());
        assert_eq!(set.complement().complement(), set);
    }
}
