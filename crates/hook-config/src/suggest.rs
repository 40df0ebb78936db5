//! The word that was probably meant.

/// The candidate nearest to `word`: the same letters in another case, else the fewest edits, at most a third of the word.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = fold(word);
    let limit = plain.len().div_ceil(3).min(3);
    let measured = candidates.into_iter().map(|candidate| (distance(&plain, &fold(candidate)), candidate));
    measured
        .filter(|(edits, _)| *edits <= limit)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

fn fold(word: &str) -> Vec<char> {
    // Words longer than any name are cut: the measure below is quadratic.
    let letters = word.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).take(64).collect()
}

/// Insertions, removals, replacements and swaps of neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut best = (last[j + 1] + 1).min(row[j] + 1).min(last[j] + usize::from(a[i] != b[j]));
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_spellings_are_found_and_others_are_not() {
        let names = ["PreToolUse", "PostToolUse", "Stop", "command", "timeout"];
        let table = [
            ("PreToolUsed", Some("PreToolUse")),
            ("pre_tool_use", Some("PreToolUse")),
            ("PostToolUes", Some("PostToolUse")),
            ("Command", Some("command")),
            ("Stpo", Some("Stop")),
            ("AfterLunch", None),
            ("timeout_ms", Some("timeout")),
            ("", None),
        ];
        for (word, wanted) in table {
            assert_eq!(nearest(word, names), wanted, "{word}");
        }
    }
}
