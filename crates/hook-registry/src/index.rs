//! Finding the entries of one event without trying them all.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::entries::Entry;

/// Subjects whose result is remembered; beyond that the memory starts anew.
const MEMORY: usize = 1024;

/// Bytes of a subject that is remembered. Names and paths are shorter; what is longer, a text perhaps, hardly comes twice.
const LONGEST: usize = 4096;

/// The entries of one kind of event.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// In dispatch order.
    entries: Vec<Entry>,
    /// Entries of exact lists, by name.
    by_name: HashMap<String, Vec<usize>>,
    /// Entries that have to be tried.
    others: Vec<usize>,
    /// Results by subject: matching depends on nothing else.
    known: RwLock<HashMap<Vec<String>, Arc<[usize]>>>,
}

impl Index {
    pub(crate) fn push(&mut self, entry: Entry) {
        let at = self.entries.len();
        match entry.matcher.exact_names() {
            Some(names) => {
                for name in names {
                    self.by_name.entry(name.clone()).or_default().push(at);
                }
            }
            None => self.others.push(at),
        }
        self.entries.push(entry);
    }

    /// The entries that match, in dispatch order.
    pub(crate) fn matching(&self, values: &[&str]) -> impl Iterator<Item = &Entry> {
        let found = self.known(values).unwrap_or_else(|| self.find(values));
        let count = found.len();
        (0..count).map(move |at| &self.entries[found[at]])
    }

    fn known(&self, values: &[&str]) -> Option<Arc<[usize]>> {
        if !is_worth_it(values) {
            return None;
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        // A key of borrowed parts cannot be looked up; one name is by far the most common subject.
        let key: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        known.get(&key).cloned()
    }

    fn find(&self, values: &[&str]) -> Arc<[usize]> {
        let mut found: Vec<usize> = if values.is_empty() {
            // Without a subject matchers are ignored.
            (0..self.entries.len()).filter(|&at| self.fits(at, values)).collect()
        } else {
            let named = values.iter().filter_map(|value| self.by_name.get(*value)).flatten().copied();
            named.chain(self.others.iter().copied().filter(|&at| self.fits(at, values))).collect()
        };
        found.sort_unstable();
        found.dedup();
        let found: Arc<[usize]> = found.into();
        if !is_worth_it(values) {
            return found;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MEMORY {
            known.clear();
        }
        known.insert(values.iter().map(|value| (*value).to_owned()).collect(), found.clone());
        found
    }

    fn fits(&self, at: usize, values: &[&str]) -> bool {
        let entry = &self.entries[at];
        entry.guard || entry.matcher.matches(values.iter().copied())
    }
}

fn is_worth_it(values: &[&str]) -> bool {
    values.iter().map(|value| value.len()).sum::<usize>() <= LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_bounded_in_number_and_length() {
        let index = Index::default();
        let remembered = || index.known.read().unwrap().len();
        for round in 0..3 * MEMORY {
            assert_eq!(index.matching(&[&round.to_string()]).count(), 0);
            assert!((1..=MEMORY).contains(&remembered()));
        }
        let before = remembered();
        assert_eq!(index.matching(&[&"x".repeat(LONGEST + 1)]).count(), 0);
        assert_eq!(remembered(), before);
        assert!(index.known(&[&(3 * MEMORY - 1).to_string()]).is_some());
    }
}
