//! The block `asyncRewake` of a hook ("Hook Configuration Guide, Async Rewake").

use std::collections::BTreeMap;

use hook_core::dialect::type_name;
use hook_core::{RewakeMissed, RewakeSpec, RewakeTrigger};
use serde_json::{Map, Value};

use crate::cron::Cron;
use crate::duration;
use crate::zone::Zone;

/// The zone of a cron trigger that names none.
const UTC: &str = "UTC";

/// Why a block cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SpecError {
    /// The members that lead to the fault, from the block inwards; empty for the block itself.
    pub path: Vec<String>,
    /// What is wrong.
    pub message: String,
}

fn fault<T>(path: &[&str], message: impl Into<String>) -> Result<T, SpecError> {
    let path = path.iter().map(|part| (*part).to_owned()).collect();
    Err(SpecError { path, message: message.into() })
}

/// Reads a block. Members that it does not know are none of its business.
///
/// # Errors
/// A member is missing, blank, of another type, or out of range; or there is not exactly one trigger.
pub fn parse(block: &Value) -> Result<RewakeSpec, SpecError> {
    let Value::Object(block) = block else {
        return fault(&[], format!("\"asyncRewake\" is {}, not an object", type_name(block)));
    };
    let trigger = trigger(block)?;
    let timeout = match text(block, &[], "timeout")? {
        Some(text) => time(&["timeout"], text)?,
        None => RewakeSpec::DEFAULT_TIMEOUT,
    };
    let max_attempts = match some(block, "maxAttempts") {
        None => RewakeSpec::DEFAULT_ATTEMPTS,
        Some(value) => match value.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0) {
            Some(attempts) => attempts,
            None => return fault(&["maxAttempts"], "\"maxAttempts\" has to be a whole number, 1 or more"),
        },
    };
    let payload = payload(block)?;
    let reason = match text(block, &[], "reason")? {
        Some(reason) if !reason.trim().is_empty() => reason.to_owned(),
        Some(_) => return fault(&["reason"], "\"reason\" is empty; say why the hook is woken"),
        None => return fault(&[], "there is no \"reason\"; say why the hook is woken"),
    };
    let missed = missed(block)?;
    let hold = match some(block, "hold") {
        None => false,
        Some(Value::Bool(hold)) => *hold,
        Some(other) => {
            return fault(&["hold"], format!("\"hold\" is {}, not true or false", type_name(other)));
        }
    };
    Ok(RewakeSpec { trigger, timeout, max_attempts, payload, reason, missed, hold })
}

fn trigger(block: &Map<String, Value>) -> Result<RewakeTrigger, SpecError> {
    const ONE: &str = "name exactly one of \"delay\", \"cron\" and \"event\"";
    let trigger = match some(block, "trigger") {
        Some(Value::Object(trigger)) => trigger,
        Some(other) => {
            return fault(&["trigger"], format!("\"trigger\" is {}, not an object", type_name(other)));
        }
        None => return fault(&[], format!("there is no \"trigger\"; {ONE}")),
    };
    let named: Vec<&str> =
        ["delay", "cron", "event"].into_iter().filter(|name| some(trigger, name).is_some()).collect();
    let [name] = named[..] else {
        let found = if named.is_empty() { "none".to_owned() } else { named.join(" and ") };
        return fault(&["trigger"], format!("the trigger has {found}; {ONE}"));
    };
    if name != "cron" && some(trigger, "zone").is_some() {
        return fault(&["trigger", "zone"], "\"zone\" goes with \"cron\" only");
    }
    match name {
        "delay" => {
            let delay = text(trigger, &["trigger"], "delay")?.unwrap_or_default();
            Ok(RewakeTrigger::Delay(time(&["trigger", "delay"], delay)?))
        }
        "cron" => {
            let expression = text(trigger, &["trigger"], "cron")?.unwrap_or_default().trim().to_owned();
            Cron::parse(&expression).or_else(|error| fault(&["trigger", "cron"], error.to_string()))?;
            let zone = text(trigger, &["trigger"], "zone")?.map(str::trim).filter(|zone| !zone.is_empty());
            let zone = zone.unwrap_or(UTC).to_owned();
            if Zone::find(&zone).is_none() {
                return fault(
                    &["trigger", "zone"],
                    format!("{zone:?} is no time zone; write one like Europe/Berlin"),
                );
            }
            Ok(RewakeTrigger::Cron { expression, zone })
        }
        _ => event(trigger),
    }
}

fn event(trigger: &Map<String, Value>) -> Result<RewakeTrigger, SpecError> {
    let event = match some(trigger, "event") {
        Some(Value::Object(event)) => event,
        _ => return fault(&["trigger", "event"], "\"event\" wants an object with \"type\" and \"key\""),
    };
    let word = |name: &'static str| match text(event, &["trigger", "event"], name)? {
        Some(word) if !word.trim().is_empty() => Ok(word.to_owned()),
        _ => fault(&["trigger", "event"], format!("the event has no {name:?}")),
    };
    Ok(RewakeTrigger::Event { kind: word("type")?, key: word("key")? })
}

/// A word, or `{"all": DURATION}`.
fn missed(block: &Map<String, Value>) -> Result<RewakeMissed, SpecError> {
    const WAYS: &str = "say \"skip\", \"once\" or {\"all\": \"1h\"}";
    match some(block, "missed") {
        None => Ok(RewakeMissed::default()),
        Some(Value::String(word)) if word == "skip" => Ok(RewakeMissed::Skip),
        Some(Value::String(word)) if word == "once" => Ok(RewakeMissed::Once),
        Some(Value::Object(all)) if all.len() == 1 && all.contains_key("all") => {
            let window = text(all, &["missed"], "all")?.unwrap_or_default();
            Ok(RewakeMissed::All { window: time(&["missed", "all"], window)? })
        }
        Some(_) => fault(&["missed"], format!("what becomes of missed times cannot be read; {WAYS}")),
    }
}

fn payload(block: &Map<String, Value>) -> Result<BTreeMap<String, String>, SpecError> {
    let members = match some(block, "payload") {
        None => return Ok(BTreeMap::new()),
        Some(Value::Object(members)) => members,
        Some(other) => {
            return fault(&["payload"], format!("\"payload\" is {}, not an object", type_name(other)));
        }
    };
    let text = |(name, value): (&String, &Value)| match value {
        Value::String(text) => Ok((name.clone(), text.clone())),
        other => fault(&["payload", name], format!("{name:?} is {}, not a string", type_name(other))),
    };
    members.iter().map(text).collect()
}

fn time(path: &[&str], text: &str) -> Result<std::time::Duration, SpecError> {
    duration::parse(text).or_else(|error| fault(path, format!("{text:?}: {error}")))
}

/// The member, where it is there and not null.
fn some<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    map.get(name).filter(|value| !value.is_null())
}

fn text<'a>(map: &'a Map<String, Value>, path: &[&str], name: &str) -> Result<Option<&'a str>, SpecError> {
    match some(map, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => {
            let path: Vec<&str> = path.iter().copied().chain([name]).collect();
            fault(&path, format!("{name:?} is {}, not a string", type_name(other)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use serde_json::json;

    #[test]
    fn a_block_has_defaults() {
        let spec = parse(&json!({"trigger": {"delay": "5m"}, "reason": "r", "later": 1})).unwrap();
        assert_eq!(spec.trigger, RewakeTrigger::Delay(Duration::from_secs(300)));
        assert_eq!((spec.timeout.as_secs(), spec.max_attempts, spec.payload.len()), (3600, 3, 0));

        let block = json!({
            "trigger": {"cron": " 0 * * * * ", "zone": " "}, "timeout": "PT2H", "maxAttempts": 1,
            "payload": {"ticket": "T-1"}, "reason": "wait", "delay": null,
        });
        let spec = parse(&block).unwrap();
        assert_eq!(spec.trigger, RewakeTrigger::Cron { expression: "0 * * * *".into(), zone: "UTC".into() });
        assert_eq!(spec.payload.get("ticket").map(String::as_str), Some("T-1"));

        let block =
            json!({"trigger": {"event": {"type": "approval", "key": "${tool_input.x}"}}, "reason": "r"});
        let key = "${tool_input.x}".to_owned();
        assert_eq!(parse(&block).unwrap().trigger, RewakeTrigger::Event { kind: "approval".into(), key });
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let delay = json!({"delay": "5m"});
        for (block, path, part) in [
            (json!(true), "", "not an object"),
            (json!({"reason": "r"}), "", "no \"trigger\""),
            (json!({"trigger": 1, "reason": "r"}), "trigger", "not an object"),
            (json!({"trigger": {}, "reason": "r"}), "trigger", "has none"),
            (
                json!({"trigger": {"delay": "5m", "cron": "0 * * * *"}, "reason": "r"}),
                "trigger",
                "delay and cron",
            ),
            (json!({"trigger": {"delay": "0s"}, "reason": "r"}), "trigger/delay", "longer than nothing"),
            (json!({"trigger": {"delay": 5}, "reason": "r"}), "trigger/delay", "not a string"),
            (json!({"trigger": {"delay": "5m", "zone": "UTC"}, "reason": "r"}), "trigger/zone", "goes with"),
            (json!({"trigger": {"cron": "0 0 * * * ?"}, "reason": "r"}), "trigger/cron", "seconds"),
            (json!({"trigger": {"cron": " "}, "reason": "r"}), "trigger/cron", "five fields"),
            (
                json!({"trigger": {"cron": "0 * * * *", "zone": "no zone"}, "reason": "r"}),
                "trigger/zone",
                "no time zone",
            ),
            (
                json!({"trigger": {"event": {"type": " ", "key": "k"}}, "reason": "r"}),
                "trigger/event",
                "\"type\"",
            ),
            (json!({"trigger": {"event": {"type": "t"}}, "reason": "r"}), "trigger/event", "\"key\""),
            (json!({"trigger": {"event": "x"}, "reason": "r"}), "trigger/event", "wants an object"),
            (json!({"trigger": delay, "reason": " "}), "reason", "is empty"),
            (json!({"trigger": delay}), "", "no \"reason\""),
            (json!({"trigger": delay, "reason": "r", "timeout": "1d"}), "timeout", "no duration"),
            (json!({"trigger": delay, "reason": "r", "maxAttempts": 0}), "maxAttempts", "1 or more"),
            (json!({"trigger": delay, "reason": "r", "maxAttempts": "3"}), "maxAttempts", "1 or more"),
            (json!({"trigger": delay, "reason": "r", "payload": {"a": null}}), "payload/a", "null"),
            (json!({"trigger": delay, "reason": "r", "payload": []}), "payload", "not an object"),
        ] {
            let error = parse(&block).expect_err(&block.to_string());
            assert_eq!(error.path.join("/"), path, "{block}");
            assert!(error.message.contains(part), "{block}: {}", error.message);
        }
    }
}
