//! Values in sentences for people.

/// A value in quotes, short enough for one line.
pub(crate) fn shown(value: &str) -> String {
    const MOST: usize = 80;
    let mut chars = value.chars();
    let mut start: String = chars.by_ref().take(MOST).collect();
    if chars.next().is_some() {
        start.push('…');
    }
    format!("{start:?}")
}
