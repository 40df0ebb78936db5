//! Time zones of cron triggers.
//!
//! Their rules come from the system's database where there is one, else from the copy that is built in: a static binary on a bare
//! machine knows the same names.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// A time zone of the IANA database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone of this name; `None` where there is none.
    pub fn find(name: &str) -> Option<Zone> {
        TimeZone::get(name).ok().map(Zone)
    }

    /// The local time of a moment.
    pub(crate) fn local(&self, millis: i64) -> Option<DateTime> {
        Some(self.0.to_datetime(Timestamp::from_millisecond(millis).ok()?))
    }

    /// True where the clocks changed in the day before this moment.
    pub(crate) fn changes_before(&self, millis: i64) -> bool {
        let Ok(now) = Timestamp::from_millisecond(millis) else { return false };
        let Ok(before) = now.checked_sub(SignedDuration::from_hours(26)) else { return false };
        self.0.to_offset(now) != self.0.to_offset(before)
    }

    /// The moment of a local time, in milliseconds: the first one of two, and the first after a gap.
    pub(crate) fn instant(&self, local: DateTime) -> Option<i64> {
        let at = match self.0.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(local).ok()?,
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(local).ok()?,
            AmbiguousOffset::Gap { before, .. } => {
                // The change is the last one that is not after what the clocks would have shown without it.
                let without = before.to_timestamp(local).ok()?;
                let after = without.checked_add(SignedDuration::from_secs(1)).ok()?;
                self.0.preceding(after).next()?.timestamp()
            }
        };
        Some(at.as_millisecond())
    }
}

/// A moment in UTC as text (RFC 3339), in whole milliseconds; empty for one that no calendar knows.
pub fn rfc3339(millis: i64) -> String {
    Timestamp::from_millisecond(millis).map(|at| at.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_database_are_zones_and_others_are_not() {
        for name in ["UTC", "Europe/Berlin", "america/new_york", "Etc/GMT+5"] {
            assert!(Zone::find(name).is_some(), "{name}");
        }
        for name in ["", "Mars/Olympus", "UTC+1", "Europe/", "../etc/passwd"] {
            assert_eq!(Zone::find(name), None, "{name}");
        }
    }
}
