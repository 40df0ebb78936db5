//! What a model answered to a hook's question: `{"ok": …, "reason": …}`, in whatever text it stands.
//!
//! [`lenient`] reads any text and is in doubt for going on ("Shell hooks module for Amplifier, Prompt-based hooks"); [`strict`]
//! wants a verdict and says why there is none ("Claude Code hooks reference, Prompt-based hooks"). Both take time in proportion
//! to the text's length.

mod objects;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::values;

/// A model's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The thing may go on.
    pub ok: bool,
    /// Why; empty where the model said nothing.
    pub reason: String,
    /// What is asked for cannot be done, so that there is no use in going on with it.
    pub impossible: bool,
    /// What in the answer decided.
    pub basis: Basis,
}

/// What in an answer decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// A JSON object.
    Object,
    /// Words in plain text.
    Words,
    /// Nothing: going on is the default.
    Nothing,
}

/// The reason where nothing in the answer says yes or no.
pub const UNCLEAR: &str = "Could not parse response";

/// Words that say no, looked for first since some of them hold a word that says yes.
const NO: &[&str] = &["not complete", "incomplete", "not done", "not yet", "more work", "needs more"];
const YES: &[&str] = &["yes", "complete", "done", "finished", "fully addressed"];

/// Characters of a plain answer that become its reason.
const REASON_LENGTH: usize = 200;

/// Reads any answer. An object with `ok` counts before one with `decision`, and that before any other; without an object the
/// words count; without those the answer is yes.
pub fn lenient(reply: &str) -> Judgement {
    let has_ok = |object: &Map<String, Value>| object.contains_key("ok");
    let has_decision = |object: &Map<String, Value>| object.contains_key("decision");
    match objects::best(reply, &[&has_ok, &has_decision]) {
        Some(object) => {
            let ok = match (object.get("ok"), object.get("decision")) {
                (Some(ok), _) => truth(ok),
                (None, Some(decision)) => !is_block(decision),
                (None, None) => true,
            };
            judgement(ok, &object)
        }
        None => words(reply.trim()),
    }
}

/// Reads an answer that has to be a verdict: an object whose `ok` is true or false, alone, in a fence or in other text.
///
/// # Errors
/// There is none; what there is instead, for people.
pub fn strict(reply: &str) -> Result<Judgement, String> {
    let fits = |object: &Map<String, Value>| object.get("ok").and_then(plain_truth).is_some();
    let object = objects::best(reply, &[&fits]);
    let found = object.as_ref().and_then(|object| Some((object, plain_truth(object.get("ok")?)?)));
    match found {
        Some((object, ok)) => Ok(judgement(ok, object)),
        None => {
            let shown: String = reply.trim().chars().take(REASON_LENGTH).collect();
            Err(format!("the reply holds no JSON object whose \"ok\" is true or false: {shown:?}"))
        }
    }
}

fn judgement(ok: bool, object: &Map<String, Value>) -> Judgement {
    Judgement {
        ok,
        reason: values::text(object.get("reason")).unwrap_or_default(),
        impossible: object.get("impossible") == Some(&Value::Bool(true)),
        basis: Basis::Object,
    }
}

/// A value taken for a yes or no, whatever it is: of texts only those that say yes are yes.
fn truth(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => {
            let text = text.trim();
            ["true", "yes", "1", "ok"].iter().any(|word| text.eq_ignore_ascii_case(word))
        }
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// True or false, also as a text, or neither.
fn plain_truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn is_block(decision: &Value) -> bool {
    let word = decision.as_str().unwrap_or_default().trim();
    ["block", "deny"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn words(reply: &str) -> Judgement {
    let lower = reply.to_lowercase();
    // Models like to set the one word that counts in bold or in quotes.
    let start = lower.trim_start_matches(['*', '_', '"', '\'', '`']);
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let (ok, basis) = if says(NO) || starts_with_word(start, "no") || starts_with_word(start, "false") {
        (false, Basis::Words)
    } else if says(YES) {
        (true, Basis::Words)
    } else {
        (true, Basis::Nothing)
    };
    let reason = match basis {
        Basis::Nothing => UNCLEAR.to_owned(),
        _ => reply.chars().take(REASON_LENGTH).collect(),
    };
    Judgement { ok, reason, impossible: false, basis }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    let ends = |rest: &str| rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
    text.strip_prefix(word).is_some_and(ends)
}
