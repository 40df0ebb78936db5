//! The members of a handler: each read with its type, what is not known kept aside.

use std::time::Duration;

use hook_core::diagnostic::codes;
use hook_core::{FailMode, FailureKind, OnFailure, Severity};
use serde_json::{Map, Value};

use crate::json::{Kind, Node};
use crate::report::{Report, step};

/// Longer timeouts are cut: about 24 days, the most that a timer of 31 bits of milliseconds can hold.
const LONGEST_SECONDS: f64 = 2_147_483.0;

/// Numbers of seconds from here on look like milliseconds …
const LOOKS_LIKE_MILLISECONDS: f64 = 1_000.0;

/// … but for these, which people write for parts of an hour and for hours.
const ROUND_TIMES: &[f64] = &[1_200.0, 1_800.0, 2_400.0, 2_700.0, 3_600.0, 5_400.0, 7_200.0];

/// No timeout of whole milliseconds that a 64-bit number holds is longer; the same bound serves those in seconds.
const TOO_LONG_SECONDS: f64 = 9.2e15;

/// One object, its pointer and the members its rule knows.
pub(crate) struct Fields<'n, 'r, 's> {
    pub(crate) node: &'n Node,
    pub(crate) pointer: &'n str,
    pub(crate) known: &'static [&'static str],
    pub(crate) report: &'r mut Report<'s>,
    taken: Vec<&'static str>,
}

impl<'n, 'r, 's> Fields<'n, 'r, 's> {
    pub(crate) fn new(
        node: &'n Node,
        pointer: &'n str,
        known: &'static [&'static str],
        report: &'r mut Report<'s>,
    ) -> Fields<'n, 'r, 's> {
        Fields { node, pointer, known, report, taken: Vec::new() }
    }

    /// The member, where the rule knows it.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<&'n Node> {
        if !self.known.contains(&name) {
            return None;
        }
        self.taken.push(name);
        self.node.get(name).map(|member| &member.value)
    }

    pub(crate) fn string(&mut self, name: &'static str) -> Option<String> {
        let node = self.take(name)?;
        match node.as_str() {
            Some(text) => Some(text.to_owned()),
            None => self.wrong(name, node, "a string"),
        }
    }

    /// The rule in `if`. One of another type is no rule at all, so the hook runs on more than its author meant: an error, as
    /// for a rule that cannot be read.
    pub(crate) fn condition(&mut self) -> Option<String> {
        let node = self.take("if")?;
        if let Some(text) = node.as_str() {
            return Some(text.to_owned());
        }
        let pointer = step(self.pointer, "if");
        let message = format!("\"if\" is {}, not a string; the hook runs without a rule", node.what());
        let finding = self.report.at(codes::CONDITION_UNREADABLE, &pointer, node.span, message);
        self.report.push(finding.help("write one rule as a string, or remove it"));
        None
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Option<bool> {
        let node = self.take(name)?;
        match node.as_bool() {
            Some(value) => Some(value),
            None => self.wrong(name, node, "a boolean"),
        }
    }

    pub(crate) fn integer(&mut self, name: &'static str) -> Option<i64> {
        let node = self.take(name)?;
        match node.kind {
            // Beyond 2^53 a number in JSON is no whole number any more.
            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
            Kind::Number(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(value as i64),
            _ => self.wrong(name, node, "a whole number"),
        }
    }

    /// A list of strings; empty where it is missing or none, items that are none left out.
    pub(crate) fn words(&mut self, name: &'static str) -> Vec<String> {
        let Some(node) = self.take(name) else { return Vec::new() };
        let Kind::Array(items) = &node.kind else {
            return self.wrong(name, node, "a list of strings").unwrap_or_default();
        };
        let mut words = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(word) => words.push(word.to_owned()),
                None => self.report.wrong_type(&step(&step(self.pointer, name), index), item, "a string"),
            }
        }
        words
    }

    fn wrong<T>(&mut self, name: &str, node: &Node, wanted: &str) -> Option<T> {
        self.report.wrong_type(&step(self.pointer, name), node, wanted);
        None
    }

    /// A string the handler cannot work without, or why it does not work.
    pub(crate) fn required(&mut self, name: &'static str) -> Result<String, String> {
        let node = self.take(name);
        let (span, pointer, message) = match node.map(|node| (node, node.as_str())) {
            Some((_, Some(text))) if !text.trim().is_empty() => return Ok(text.to_owned()),
            Some((node, Some(_))) => (node.span, step(self.pointer, name), format!("{name:?} is empty")),
            Some((node, None)) => {
                (node.span, step(self.pointer, name), format!("{name:?} is {}, not a string", node.what()))
            }
            None => (self.node.span, self.pointer.to_owned(), format!("the handler has no {name:?}")),
        };
        let finding =
            self.report.costly(codes::MISSING_FIELD, &pointer, span, format!("{message}; it never runs"));
        self.report.push(finding.help(format!("give it a {name:?}, or remove it")));
        Err(message)
    }

    /// `args`: a list of strings. The outer `Some` says that the member stands there.
    pub(crate) fn arguments(&mut self) -> Option<Result<Vec<String>, String>> {
        let node = self.take("args")?;
        if let Kind::Array(items) = &node.kind {
            let words: Option<Vec<String>> =
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
            if let Some(words) = words {
                return Some(Ok(words));
            }
        }
        // Run without its arguments, or as a shell line, it would be another command.
        let pointer = step(self.pointer, "args");
        let message = format!(
            "\"args\" is {}; it wants a list of strings, and without it the handler never runs",
            node.what()
        );
        let finding = self.report.at(codes::WRONG_TYPE, &pointer, node.span, message);
        self.report.push(finding.severity(Severity::Error).help("write every argument as a string"));
        Some(Err("\"args\" is no list of strings".to_owned()))
    }

    /// An object whose members stay as they are written. The outer `Some` says that the member stands there.
    pub(crate) fn object(&mut self, name: &'static str) -> Option<Result<Map<String, Value>, String>> {
        let node = self.take(name)?;
        if let Value::Object(members) = node.to_value(&self.report.source.text) {
            return Some(Ok(members));
        }
        // Called without its arguments it would be another call.
        let pointer = step(self.pointer, name);
        let message =
            format!("{name:?} is {}; it wants an object, and without it the handler never runs", node.what());
        let finding = self.report.at(codes::WRONG_TYPE, &pointer, node.span, message);
        self.report.push(finding.severity(Severity::Error).help("write the arguments of the tool by name"));
        Some(Err(format!("{name:?} is no object")))
    }

    /// A timeout in units of `unit` seconds.
    pub(crate) fn timeout(
        &mut self,
        name: &'static str,
        unit: f64,
        most: Option<Duration>,
    ) -> Option<Duration> {
        let node = self.take(name)?;
        let pointer = step(self.pointer, name);
        let Kind::Number(number) = node.kind else {
            let message = format!("{name:?} is {}, not a number; the default is used", node.what());
            let mut finding = self.report.at(codes::TIMEOUT_NOT_A_NUMBER, &pointer, node.span, message);
            finding.help = Some("write a plain number without quotes".to_owned());
            finding.suggestion =
                node.as_str().map(str::trim).filter(|t| t.parse::<u32>().is_ok()).map(str::to_owned);
            self.report.push(finding);
            return None;
        };
        if number <= 0.0 {
            let what = if number < 0.0 { "negative" } else { "zero" };
            let message = format!("{name:?} is {what}; the default is used");
            let severity = if number < 0.0 { Severity::Error } else { Severity::Warning };
            let finding = self.report.at(codes::TIMEOUT_OUT_OF_RANGE, &pointer, node.span, message);
            self.report
                .push(finding.severity(severity).help("write a number greater than zero, or remove it"));
            return None;
        }
        let seconds = number * unit;
        let most_seconds = most.map_or(LONGEST_SECONDS, |most| most.as_secs_f64());
        if unit >= 1.0
            && (LOOKS_LIKE_MILLISECONDS..=LONGEST_SECONDS).contains(&number)
            && !ROUND_TIMES.contains(&number)
        {
            let message = format!("{name:?} counts seconds: {number} of them are {}", long_time(seconds));
            let finding =
                self.report.at(codes::TIMEOUT_LOOKS_LIKE_MILLISECONDS, &pointer, node.span, message);
            let meant = number / 1_000.0;
            self.report
                .push(finding.help(format!("{meant} if milliseconds were meant")).suggest(meant.to_string()));
        } else if seconds > most_seconds {
            let message =
                format!("{name:?} is beyond the limit of {most_seconds} seconds, which is used instead");
            self.report.push(self.report.at(codes::TIMEOUT_OUT_OF_RANGE, &pointer, node.span, message));
        }
        // A timeout of nothing would be an answer before the question.
        let duration = Duration::try_from_secs_f64(seconds.min(LONGEST_SECONDS))
            .unwrap_or(Duration::from_secs(2_147_483));
        Some(duration.max(Duration::from_millis(1)))
    }

    /// A whole number of units of so many milliseconds, or why it is none; null is nothing.
    pub(crate) fn whole_timeout(
        &mut self,
        name: &'static str,
        unit: u64,
        most: Option<Duration>,
    ) -> Result<Option<Duration>, String> {
        let Some(node) = self.take(name).filter(|node| node.kind != Kind::Null) else { return Ok(None) };
        let pointer = step(self.pointer, name);
        let digits = self.report.source.text.get(node.span.start..node.span.end).unwrap_or_default();
        let (code, problem) = match node.kind {
            Kind::Number(number) if number < 1.0 => {
                (codes::TIMEOUT_OUT_OF_RANGE, format!("{name:?} is {digits}, which is less than one"))
            }
            Kind::Number(number) if number.fract() != 0.0 => {
                (codes::TIMEOUT_OUT_OF_RANGE, format!("{name:?} is {digits}, which is no whole number"))
            }
            Kind::Number(count) => {
                let seconds = count * Duration::from_millis(unit).as_secs_f64();
                if seconds <= TOO_LONG_SECONDS {
                    let timeout = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                    self.long(name, count, unit, timeout, most, node, &pointer);
                    return Ok(Some(timeout));
                }
                (codes::TIMEOUT_OUT_OF_RANGE, format!("{name:?} is longer than can be counted"))
            }
            _ => (codes::TIMEOUT_NOT_A_NUMBER, format!("{name:?} is {}, not a number", node.what())),
        };
        let message = format!("{problem}; the handler never runs");
        let finding = self.report.at(code, &pointer, node.span, message).severity(Severity::Error);
        let help = format!(
            "write a whole number of {} above zero",
            if unit == 1 { "milliseconds" } else { "seconds" }
        );
        self.report.push(finding.help(help));
        Err(problem)
    }

    /// Warns about a timeout that is cut, or that was meant in milliseconds.
    #[expect(clippy::too_many_arguments, reason = "one finding, and all of it stands in it")]
    fn long(
        &mut self,
        name: &str,
        count: f64,
        unit: u64,
        timeout: Duration,
        most: Option<Duration>,
        node: &Node,
        pointer: &str,
    ) {
        if unit > 1 && count >= LOOKS_LIKE_MILLISECONDS && !ROUND_TIMES.contains(&count) {
            let message = format!("{name:?} counts seconds: {count} of them are {}", long_time(count));
            let finding = self.report.at(codes::TIMEOUT_LOOKS_LIKE_MILLISECONDS, pointer, node.span, message);
            let meant = format!("\"timeoutMs\": {count}, if milliseconds were meant");
            self.report.push(finding.help(format!("write {meant}")));
        } else if let Some(most) = most.filter(|most| timeout > *most) {
            let message =
                format!("{name:?} is beyond the limit of {} seconds, which is used instead", most.as_secs());
            self.report.push(self.report.at(codes::TIMEOUT_OUT_OF_RANGE, pointer, node.span, message));
        }
    }

    /// `onFailure`: a word, or with `tables` a table per kind of failure.
    pub(crate) fn on_failure(&mut self, tables: bool) -> FailMode {
        let Some(node) = self.take("onFailure") else { return FailMode::default() };
        let pointer = step(self.pointer, "onFailure");
        match &node.kind {
            Kind::Object(members) if tables => {
                let mut mode = FailMode::default();
                for member in members {
                    let pointer = step(&pointer, &member.key);
                    let word = self.fail_word(&member.value, &pointer);
                    match (FailureKind::from_name(&member.key), word) {
                        (Some(kind), Some(word)) => mode.by_kind.push((kind, word)),
                        (None, word) if member.key == "default" => mode.default = word,
                        (None, _) => {
                            let names = FailureKind::ALL.iter().map(|kind| kind.name()).chain(["default"]);
                            let near = self.report.nearest(&member.key, names.clone());
                            let message = format!("{:?} is no kind of failure; it is left out", member.key);
                            let mut finding =
                                self.report.at(codes::UNKNOWN_FIELD, &pointer, member.key_span, message);
                            finding.help =
                                Some(format!("the kinds are {}", names.collect::<Vec<_>>().join(", ")));
                            finding.suggestion = near.map(str::to_owned);
                            self.report.push(finding);
                        }
                        (Some(_), None) => {}
                    }
                }
                mode
            }
            _ => FailMode { default: self.fail_word(node, &pointer), by_kind: Vec::new() },
        }
    }

    fn fail_word(&mut self, node: &Node, pointer: &str) -> Option<OnFailure> {
        match node.as_str() {
            Some("continue") => Some(OnFailure::Continue),
            Some("block") => Some(OnFailure::Block),
            _ => {
                // A guard with a mistyped mode must not become one that lets everything through.
                let found = node.as_str().map_or_else(|| node.what().to_owned(), |word| format!("{word:?}"));
                let message =
                    format!("{found} is neither \"continue\" nor \"block\"; failures of this hook block");
                let finding = self.report.at(codes::WRONG_TYPE, pointer, node.span, message);
                self.report.push(finding.severity(Severity::Error).help("write \"continue\" or \"block\""));
                Some(OnFailure::Block)
            }
        }
    }

    /// What no rule read. Members that are not known are warned about.
    pub(crate) fn rest(self) -> Map<String, Value> {
        let mut extra = Map::new();
        for member in self.node.members() {
            if self.taken.contains(&member.key.as_str()) {
                continue;
            }
            if !self.known.contains(&member.key.as_str()) {
                warn_unknown(self.report, self.pointer, member, self.known);
            }
            extra.insert(member.key.clone(), member.value.to_value(&self.report.source.text));
        }
        extra
    }
}

/// Warns about a member that no rule reads; notes of people (`$schema`, `_comment`, `//`) are left alone.
pub(crate) fn warn_unknown(
    report: &mut Report<'_>,
    pointer: &str,
    member: &crate::json::Member,
    known: &'static [&'static str],
) {
    let key = member.key.as_str();
    let is_note = key.starts_with(['$', '_']) || key.starts_with("//") || key == "comment";
    if is_note && report.notes_are_fine {
        return;
    }
    let message = format!("{key:?} is no member that is read here; it has no effect");
    let mut finding = report.at(codes::UNKNOWN_FIELD, &step(pointer, key), member.key_span, message);
    finding = match report.nearest(key, known.iter().copied()) {
        Some(near) => finding.help(format!("did you mean {near:?}?")).suggest(near),
        None => finding.help("remove it, or look for its name in the agent's reference"),
    };
    report.push(finding);
}

fn long_time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s >= 172_800.0 => (s / 86_400.0, "days"),
        s if s >= 7_200.0 => (s / 3_600.0, "hours"),
        s => (s / 60.0, "minutes"),
    };
    format!("about {value:.0} {unit}")
}
