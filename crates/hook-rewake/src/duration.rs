//! Durations of rewake blocks ("Hook Configuration Guide, Duration notation"): `1h30m` or ISO-8601 (`PT1H30M`), in any letter case.

use std::time::Duration;

/// Why a text is no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DurationError {
    /// Nothing, or blanks.
    #[error("a duration is missing")]
    Blank,
    /// Another notation.
    #[error("this is no duration: write it like 30s, 5m, 1h30m or PT5M")]
    Syntax,
    /// Zero or less.
    #[error("a duration has to be longer than nothing")]
    NotPositive,
    /// More than can be counted.
    #[error("this duration is longer than can be counted")]
    TooLong,
}

const NANOS: i128 = 1_000_000_000;

/// Reads a duration longer than zero. Blanks around it do not count.
///
/// ```
/// use std::time::Duration;
/// use hook_rewake::duration::parse;
///
/// assert_eq!(parse("1h30m"), Ok(Duration::from_secs(5400)));
/// assert_eq!(parse("pt0.5s"), Ok(Duration::from_millis(500)));
/// assert!(parse("30m1h").is_err());
/// ```
///
/// # Errors
/// The text is blank, in another notation, not above zero, or too long to be counted.
pub fn parse(text: &str) -> Result<Duration, DurationError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(DurationError::Blank);
    }
    let nanos = if text.starts_with(['P', 'p']) { iso(&text[1..])? } else { shorthand(text)? };
    if nanos <= 0 {
        return Err(DurationError::NotPositive);
    }
    let seconds = u64::try_from(nanos / NANOS).ok().filter(|seconds| i64::try_from(*seconds).is_ok());
    let rest = u32::try_from(nanos % NANOS).unwrap_or_default();
    seconds.map(|seconds| Duration::new(seconds, rest)).ok_or(DurationError::TooLong)
}

/// `1h2m3s`: whole numbers, in this order, at least one.
fn shorthand(text: &str) -> Result<i128, DurationError> {
    let mut rest = text;
    let mut nanos: i128 = 0;
    for (unit, seconds) in [('h', 3600), ('m', 60), ('s', 1)] {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let mut after = rest[digits..].chars();
        if digits > 0 && after.next().is_some_and(|c| c.eq_ignore_ascii_case(&unit)) {
            nanos += whole(&rest[..digits])? * seconds * NANOS;
            rest = after.as_str();
        }
    }
    if rest.is_empty() { Ok(nanos) } else { Err(DurationError::Syntax) }
}

/// What stands after the `P`: days, then after a `T` hours, minutes and seconds, each with a sign of its own.
fn iso(text: &str) -> Result<i128, DurationError> {
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    // A `T` with nothing after it, and a `P` with nothing at all, say nothing.
    if time.unwrap_or(date).is_empty() {
        return Err(DurationError::Syntax);
    }
    let days = units(date, &[('d', 86_400)])?;
    let time = units(time.unwrap_or_default(), &[('h', 3600), ('m', 60), ('s', 1)])?;
    Ok(days + time)
}

fn units(text: &str, units: &[(char, i128)]) -> Result<i128, DurationError> {
    let mut rest = text;
    let mut nanos: i128 = 0;
    for &(unit, seconds) in units {
        let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic()) else { break };
        if !rest[end..].starts_with(|c: char| c.eq_ignore_ascii_case(&unit)) {
            continue;
        }
        nanos += number(&rest[..end], unit == 's')? * seconds;
        rest = &rest[end + 1..];
    }
    if rest.is_empty() { Ok(nanos) } else { Err(DurationError::Syntax) }
}

/// A number with a sign, in billionths; seconds may have a fraction of up to nine digits.
fn number(text: &str, fraction: bool) -> Result<i128, DurationError> {
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (before, after) = match digits.split_once(['.', ',']) {
        Some((before, after)) if fraction => (before, after),
        Some(_) => return Err(DurationError::Syntax),
        None => (digits, ""),
    };
    if after.len() > 9 || !after.bytes().all(|b| b.is_ascii_digit()) {
        return Err(DurationError::Syntax);
    }
    let part: i128 = format!("{after:0<9}").parse().map_err(|_| DurationError::Syntax)?;
    let nanos = whole(before)? * NANOS + part;
    Ok(if negative { -nanos } else { nanos })
}

fn whole(digits: &str) -> Result<i128, DurationError> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(DurationError::Syntax);
    }
    // Beyond 64 bits nothing is counted; with them no sum leaves 128.
    digits.parse::<u64>().map(i128::from).map_err(|_| DurationError::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use DurationError::{Blank, NotPositive, Syntax, TooLong};

    #[test]
    fn both_notations() {
        let table: &[(&str, Result<u64, DurationError>)] = &[
            ("30s", Ok(30_000)),
            (" 5m ", Ok(300_000)),
            ("1h30m", Ok(5_400_000)),
            ("1h2m3s", Ok(3_723_000)),
            ("1h3s", Ok(3_603_000)),
            ("90m", Ok(5_400_000)),
            ("5M", Ok(300_000)),
            ("1H2m3S", Ok(3_723_000)),
            ("0h5m", Ok(300_000)),
            ("PT5M", Ok(300_000)),
            ("pt5m", Ok(300_000)),
            ("PT0.5S", Ok(500)),
            ("PT0,5S", Ok(500)),
            ("PT1H30M", Ok(5_400_000)),
            ("P1D", Ok(86_400_000)),
            ("P1DT1S", Ok(86_401_000)),
            ("PT1H-30M", Ok(1_800_000)),
            ("PT+5M", Ok(300_000)),
            ("", Err(Blank)),
            ("  ", Err(Blank)),
            ("0s", Err(NotPositive)),
            ("0h0m0s", Err(NotPositive)),
            ("PT0S", Err(NotPositive)),
            ("PT-5M", Err(NotPositive)),
            ("P-1D", Err(NotPositive)),
            ("five-minutes", Err(Syntax)),
            ("PNOPE", Err(Syntax)),
            ("P", Err(Syntax)),
            ("PT", Err(Syntax)),
            ("P1DT", Err(Syntax)),
            ("P1W", Err(Syntax)),
            ("P1M", Err(Syntax)),
            ("P1Y", Err(Syntax)),
            ("PT1.5H", Err(Syntax)),
            ("PT1S1M", Err(Syntax)),
            ("PT.5S", Err(Syntax)),
            ("PT0.1234567891S", Err(Syntax)),
            ("30m1h", Err(Syntax)),
            ("1m1m", Err(Syntax)),
            ("1d", Err(Syntax)),
            ("500ms", Err(Syntax)),
            ("1.5h", Err(Syntax)),
            ("-5m", Err(Syntax)),
            ("1h 30m", Err(Syntax)),
            ("60", Err(Syntax)),
            ("h", Err(Syntax)),
            ("99999999999999999999h", Err(TooLong)),
            ("18446744073709551615h", Err(TooLong)),
            ("٣m", Err(Syntax)),
        ];
        for (text, expected) in table {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_strange(text in ".{0,24}") {
            let _ = parse(&text);
        }

        #[test]
        fn what_is_written_is_read(h in 0u64..1000, m in 0u64..1000, s in 1u64..1000) {
            let wanted = Duration::from_secs(h * 3600 + m * 60 + s);
            proptest::prop_assert_eq!(parse(&format!("{h}h{m}m{s}s")), Ok(wanted));
            proptest::prop_assert_eq!(parse(&format!("PT{h}H{m}M{s}S")), Ok(wanted));
        }
    }
}
