//! Five-field cron expressions ("Hook Configuration Guide, Cautions with the cron trigger"): minute, hour, day of month, month,
//! day of week, with Sunday as 0 and 7.

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

const FIELDS: &[Field] = &[
    Field { name: "minute", least: 0, most: 59, names: &[] },
    Field { name: "hour", least: 0, most: 23, names: &[] },
    Field { name: "day of month", least: 1, most: 31, names: &[] },
    Field { name: "month", least: 1, most: 12, names: MONTHS },
    Field { name: "day of week", least: 0, most: 7, names: DAYS },
];

/// Checks an expression. Blanks around it do not count.
///
/// # Errors
/// There are not five fields, or one of them is not of the form `*`, `a`, `a-b`, `x/step` or a list of these with values in range.
pub fn check(expression: &str) -> Result<(), CronError> {
    let parts: Vec<&str> = expression.split_whitespace().collect();
    if parts.len() != FIELDS.len() {
        return Err(CronError::Fields(parts.len()));
    }
    for (field, text) in FIELDS.iter().zip(parts) {
        for item in text.split(',') {
            field.check(item).map_err(|problem| CronError::Field {
                field: field.name,
                text: text.to_owned(),
                problem,
            })?;
        }
    }
    Ok(())
}

impl Field {
    fn check(&self, item: &str) -> Result<(), String> {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (item, None),
        };
        if let Some(step) = step {
            let whole = step.parse::<u32>().ok().filter(|step| *step > 0 && plain(item, '/'));
            whole.ok_or_else(|| format!("{step:?} is no step; a step is a number above zero"))?;
        }
        if range == "*" {
            return Ok(());
        }
        match range.split_once('-') {
            None => self.value(range).map(drop),
            Some((from, to)) => {
                let (from, to) = (self.value(from)?, self.value(to)?);
                if from > to {
                    return Err(format!("{range} runs backwards; write two ranges"));
                }
                Ok(())
            }
        }
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
            assert_eq!(check(good), Ok(()), "{good}");
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
            let error = check(bad).expect_err(bad).to_string();
            assert!(error.contains(part), "{bad}: {error}");
        }
    }
}
