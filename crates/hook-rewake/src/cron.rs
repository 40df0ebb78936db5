//! Five-field cron expressions ("Hook Configuration Guide, Cautions with the cron trigger"): minute, hour, day of month, month,
//! day of week, with Sunday as 0 and 7. Where both fields of days leave days out, either one is enough.

use jiff::civil::Date;

use crate::zone::Zone;

/// Why a text is no cron expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CronError {
    /// Another number of fields.
    #[error("a cron expression has five fields (minute hour day month weekday), this one has {0}{hint}", hint = six(*.0))]
    Fields(usize),
    /// A field that cannot be read.
    #[error("the field {field} ({text:?}): {problem}")]
    Field {
        /// Its name.
        field: &'static str,
        /// Its text.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
}

fn six(fields: usize) -> &'static str {
    if fields == 6 { "; leave the seconds out, and write * for ?" } else { "" }
}

struct Field {
    name: &'static str,
    least: u32,
    most: u32,
    /// Names of values, the first one of `least`.
    names: &'static [&'static str],
}

const MONTHS: &[&str] = &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const MINUTE: Field = Field { name: "minute", least: 0, most: 59, names: &[] };
const HOUR: Field = Field { name: "hour", least: 0, most: 23, names: &[] };
const DAY: Field = Field { name: "day of month", least: 1, most: 31, names: &[] };
const MONTH: Field = Field { name: "month", least: 1, most: 12, names: MONTHS };
const WEEKDAY: Field = Field { name: "day of week", least: 0, most: 7, names: DAYS };

/// A cron expression that was read: the minutes, hours and days it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// A field of days that leaves none out is no restriction: then the other one counts alone.
    days_restricted: bool,
    weekdays_restricted: bool,
}

impl Cron {
    /// Reads an expression. Blanks around it do not count.
    ///
    /// # Errors
    /// There are not five fields, or one of them is not of the form `*`, `a`, `a-b`, `x/step` or a list of these with values in
    /// range.
    pub fn parse(expression: &str) -> Result<Cron, CronError> {
        let parts: Vec<&str> = expression.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = parts[..] else {
            return Err(CronError::Fields(parts.len()));
        };
        let weekdays = WEEKDAY.read(weekdays)?;
        // 0 and 7 are both Sunday.
        let weekdays = (weekdays | weekdays >> 7) & 0x7f;
        let days = DAY.read(days)?;
        Ok(Cron {
            minutes: MINUTE.read(minutes)?,
            hours: HOUR.read(hours)?,
            days,
            months: MONTH.read(months)?,
            weekdays,
            days_restricted: days != DAY.all(),
            weekdays_restricted: weekdays != 0x7f,
        })
    }

    /// The first fire time after `after`, both in milliseconds since 1970 in UTC; `None` where there is none any more (30 February).
    ///
    /// A local time that the clocks skip counts as the first moment after the gap, one that comes twice counts once, the first
    /// time.
    pub fn next(&self, zone: &Zone, after: i64) -> Option<i64> {
        let first = zone.local(after)?;
        // Local time runs on but where the clocks change: then the times before the change have to be looked at, too.
        let mut date = if zone.changes_before(after) { first.date().yesterday().ok()? } else { first.date() };
        for _ in 0..MOST_DAYS {
            if self.on(date) {
                for hour in (0..24).filter(|hour| self.hours >> hour & 1 == 1) {
                    // Whole hours that are over need no look at their minutes.
                    let last = zone.instant(date.at(hour, 59, 0, 0))?;
                    if last <= after {
                        continue;
                    }
                    for minute in (0..60).filter(|minute| self.minutes >> minute & 1 == 1) {
                        let at = zone.instant(date.at(hour, minute, 0, 0))?;
                        if at > after {
                            return Some(at);
                        }
                    }
                }
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn on(&self, date: Date) -> bool {
        let has = |set: u64, value: i8| set >> value & 1 == 1;
        if !has(self.months, date.month()) {
            return false;
        }
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset());
        match (self.days_restricted, self.weekdays_restricted) {
            (true, true) => day || weekday,
            (true, false) => day,
            (false, _) => weekday,
        }
    }
}

/// As far as is looked ahead: a 29 February can be eight years away.
const MOST_DAYS: usize = 366 * 9;

impl Field {
    /// Every value of the field, as bits.
    const fn all(&self) -> u64 {
        (u64::MAX >> (63 - self.most)) & (u64::MAX << self.least)
    }

    fn read(&self, text: &str) -> Result<u64, CronError> {
        let mut set = 0;
        for item in text.split(',') {
            set |= self.item(item).map_err(|problem| CronError::Field {
                field: self.name,
                text: text.to_owned(),
                problem,
            })?;
        }
        Ok(set)
    }

    fn item(&self, item: &str) -> Result<u64, String> {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (item, None),
        };
        let by = match step {
            None => 1,
            Some(step) => {
                let whole = step.parse::<u32>().ok().filter(|step| *step > 0 && plain(item, '/'));
                whole.ok_or_else(|| format!("{step:?} is no step; a step is a number above zero"))?
            }
        };
        let (from, to) = match (range, range.split_once('-')) {
            ("*", _) => (self.least, self.most),
            (_, Some((from, to))) => (self.value(from)?, self.value(to)?),
            // `v/step` goes from `v` to the end of the field.
            (_, None) => {
                let value = self.value(range)?;
                (value, if step.is_some() { self.most } else { value })
            }
        };
        if from > to {
            return Err(format!("{range} runs backwards; write two ranges"));
        }
        Ok((from..=to).step_by(by as usize).fold(0, |set, value| set | 1 << value))
    }

    fn value(&self, text: &str) -> Result<u32, String> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        if let Some(value) = named.and_then(|at| u32::try_from(at).ok()) {
            return Ok(value + self.least);
        }
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let value = text.parse::<u32>().ok().filter(|_| digits);
        match value {
            Some(value) if (self.least..=self.most).contains(&value) => Ok(value),
            Some(value) => Err(format!("{value} is not between {} and {}", self.least, self.most)),
            None if text.contains(['?', 'L', 'W', '#']) => {
                Err(format!("{text:?} is not part of five-field cron expressions"))
            }
            None => Err(format!("{text:?} is no value")),
        }
    }
}

/// Only digits and one such sign around them.
fn plain(item: &str, sign: char) -> bool {
    item.rsplit(sign).next().is_some_and(|step| step.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_fields_of_values_ranges_steps_and_lists() {
        for good in [
            "0 * * * *",
            "*/30 * * * *",
            " 5/15 0-6 1,15 jan-MAR 0-7 ",
            "0 9 * * MON-FRI",
            "0 0 1 * 1",
            "0 0 * * 7",
            "0-59/2 * * * *",
        ] {
            assert!(Cron::parse(good).is_ok(), "{good}");
        }
        for (bad, part) in [
            ("0 0 * * * ?", "leave the seconds out"),
            ("* * * *", "has 4"),
            ("", "has 0"),
            ("@daily", "has 1"),
            ("60 * * * *", "60 is not between 0 and 59"),
            ("0 0 0 * *", "0 is not between 1 and 31"),
            ("0 0 * 13 *", "13 is not between"),
            ("0 0 * * 8", "8 is not between"),
            ("0 0 ? * *", "not part of five-field"),
            ("0 0 L * *", "not part of five-field"),
            ("0 0 15W * *", "not part of five-field"),
            ("0 0 * * MON#2", "not part of five-field"),
            ("0 0 * * FRI-MON", "runs backwards"),
            ("*/0 * * * *", "is no step"),
            ("*/x * * * *", "is no step"),
            ("*/+5 * * * *", "is no step"),
            ("1,,2 * * * *", "is no value"),
            ("+1 * * * *", "is no value"),
            ("-1 * * * *", "is no value"),
            ("1-2-3 * * * *", "is no value"),
            ("1/2/3 * * * *", "is no step"),
        ] {
            let error = Cron::parse(bad).expect_err(bad).to_string();
            assert!(error.contains(part), "{bad}: {error}");
        }
    }

    fn times(expression: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
        let (cron, zone) = (Cron::parse(expression).unwrap(), Zone::find(zone).unwrap());
        let mut at = after.parse::<jiff::Timestamp>().unwrap().as_millisecond();
        let next = || {
            at = cron.next(&zone, at)?;
            Some(jiff::Timestamp::from_millisecond(at).unwrap().to_string())
        };
        std::iter::from_fn(next).take(count).collect()
    }

    #[test]
    fn fire_times_through_months_leap_days_and_changes_of_the_clocks() {
        for (expression, zone, after, expected) in [
            // The end of a month, and one that has no such day.
            (
                "0 0 31 * *",
                "UTC",
                "2026-01-31T00:00:00Z",
                &["2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"][..],
            ),
            ("0 0 29 2 *", "UTC", "2026-03-01T00:00:00Z", &["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"]),
            ("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", &["2104-02-29T00:00:00Z"]),
            ("0 0 30 2 *", "UTC", "2026-03-01T00:00:00Z", &[]),
            // Either day, but a field that leaves none out is no restriction.
            (
                "0 0 13 * FRI",
                "UTC",
                "2026-03-01T00:00:00Z",
                &["2026-03-06T00:00:00Z", "2026-03-13T00:00:00Z"],
            ),
            (
                "0 0 13 * 0-6",
                "UTC",
                "2026-03-01T00:00:00Z",
                &["2026-03-13T00:00:00Z", "2026-04-13T00:00:00Z"],
            ),
            (
                "0 0 1/1 * MON",
                "UTC",
                "2026-03-01T00:00:00Z",
                &["2026-03-02T00:00:00Z", "2026-03-09T00:00:00Z"],
            ),
            (
                "0 0 */2 * MON",
                "UTC",
                "2026-03-01T00:00:00Z",
                &["2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z"],
            ),
            ("0 0 * * 7", "UTC", "2026-03-02T00:00:00Z", &["2026-03-08T00:00:00Z"]),
            // Strictly after, and from the middle of a minute.
            ("*/5 * * * *", "UTC", "2026-03-02T00:05:00Z", &["2026-03-02T00:10:00Z"]),
            ("*/5 * * * *", "UTC", "2026-03-02T00:04:59.999Z", &["2026-03-02T00:05:00Z"]),
            // New York skips 02:00-03:00 on 8 March: what lies in the gap fires once, when it is over.
            (
                "30 2 * * *",
                "America/New_York",
                "2026-03-07T12:00:00Z",
                &["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"],
            ),
            (
                "*/20 2 * * *",
                "America/New_York",
                "2026-03-08T00:00:00Z",
                &["2026-03-08T07:00:00Z", "2026-03-09T06:00:00Z"],
            ),
            (
                "0 * * * *",
                "America/New_York",
                "2026-03-08T06:00:00Z",
                &["2026-03-08T07:00:00Z", "2026-03-08T08:00:00Z"],
            ),
            // It has 01:00-02:00 twice on 1 November: the first one counts.
            (
                "30 1 * * *",
                "America/New_York",
                "2026-10-31T12:00:00Z",
                &["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"],
            ),
            ("30 1 * * *", "America/New_York", "2026-11-01T05:45:00Z", &["2026-11-02T06:30:00Z"]),
            ("0 2 * * *", "America/New_York", "2026-11-01T05:45:00Z", &["2026-11-01T07:00:00Z"]),
            // Half an hour only, and a whole day that never was.
            (
                "15 2 * * *",
                "Australia/Lord_Howe",
                "2026-10-02T20:00:00Z",
                &["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"],
            ),
            (
                "0 12 30 12 *",
                "Pacific/Apia",
                "2011-12-29T00:00:00Z",
                &["2011-12-30T10:00:00Z", "2012-12-29T22:00:00Z"],
            ),
        ] {
            assert_eq!(
                times(expression, zone, after, expected.len().max(1)),
                expected,
                "{expression} {zone} {after}"
            );
        }
    }

    #[test]
    fn a_clock_that_goes_back_repeats_nothing_that_was_asked_after_it() {
        // The same answer from every moment between two fire times, whatever local time says.
        let (cron, zone) = (Cron::parse("30 * * * *").unwrap(), Zone::find("America/New_York").unwrap());
        let start = "2026-11-01T03:00:00Z".parse::<jiff::Timestamp>().unwrap().as_millisecond();
        let mut last = start;
        for minute in 0..600 {
            let next = cron.next(&zone, start + minute * 60_000).unwrap();
            assert!(next > start + minute * 60_000 && next >= last, "{minute}");
            last = next;
        }
    }
}
