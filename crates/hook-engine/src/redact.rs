//! What is not kept of an event: secrets that a tool was called with.
//!
//! An envelope waits on a disk, perhaps for days, and is shown to people. So what looks like a secret goes before it is stored, and the
//! woken hook finds `[redacted]` in its place. The rule: values of members whose names end in the name of a secret
//! (`password`, `apiKey`, `auth-token`), and in texts the well-known forms of keys and tokens, private keys, passwords in URLs, and
//! what follows `password=` and its like.

use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::Value;

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Ends of names, without what separates their words, in small letters.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secretkey",
    "accesskey",
    "apikey",
    "privatekey",
    "token",
    "authorization",
    "credential",
    "credentials",
    "cookie",
];

/// Forms of secrets in texts. What a first group holds stays.
const FORMS: &[&str] = &[
    r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bsk-[A-Za-z0-9_-]{20,}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bAIza[A-Za-z0-9_-]{35}",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    r"(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/-]{12,}=*",
    r"(?i)([a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@",
    r#"(?i)((?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key)["']?\s*[=:]\s*["']?)[^\s"'&;,|]{3,}"#,
    r#"(?i)(--?(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key)\s+["']?)[^\s"'&;|]{3,}"#,
];

static COMPILED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| FORMS.iter().filter_map(|form| Regex::new(form).ok()).collect());

/// Takes out of a payload what looks like a secret; true where something did. It is the rule of engines whose host brings none
/// ([`EngineBuilder::rewake_redact`](crate::EngineBuilder::rewake_redact)).
pub fn secrets(payload: &mut Value) -> bool {
    match payload {
        Value::Object(members) => {
            let mut found = false;
            for (name, value) in members.iter_mut() {
                let scalar = matches!(value, Value::String(_) | Value::Number(_));
                if scalar && names_secret(name) {
                    *value = REDACTED.into();
                    found = true;
                } else {
                    found |= secrets(value);
                }
            }
            found
        }
        Value::Array(items) => {
            let found: Vec<bool> = items.iter_mut().map(secrets).collect();
            found.contains(&true)
        }
        Value::String(text) => match without(text) {
            Some(clean) => {
                *text = clean;
                true
            }
            None => false,
        },
        _ => false,
    }
}

fn names_secret(name: &str) -> bool {
    let bare: String = name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ')).collect();
    let bare = bare.to_ascii_lowercase();
    NAMES.iter().any(|end| bare.ends_with(end))
}

/// The text without its secrets; `None` where it has none.
fn without(text: &str) -> Option<String> {
    let mut clean: Option<String> = None;
    for form in COMPILED.iter() {
        let now = clean.as_deref().unwrap_or(text);
        if form.is_match(now) {
            let replaced = form.replace_all(now, |found: &regex_lite::Captures<'_>| {
                let kept = found.get(1).map_or("", |kept| kept.as_str());
                let end = if found[0].ends_with('@') { "@" } else { "" };
                format!("{kept}{REDACTED}{end}")
            });
            clean = Some(replaced.into_owned());
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_compiles() {
        assert_eq!(COMPILED.len(), FORMS.len());
    }

    #[test]
    fn secrets_go_and_everything_else_stays() {
        let table = [
            (json!({"api_key": "abc", "n": 1}), json!({"api_key": "[redacted]", "n": 1})),
            (json!({"AuthToken": 7, "max_tokens": 9}), json!({"AuthToken": "[redacted]", "max_tokens": 9})),
            (json!({"password": {"hint": "dog"}}), json!({"password": {"hint": "dog"}})),
            (json!(["a", {"deep": {"x-api-key": "k"}}]), json!(["a", {"deep": {"x-api-key": "[redacted]"}}])),
            (
                json!({"command": "curl -H 'Authorization: Bearer abcdefghijklmnop' https://x.org"}),
                json!({"command": "curl -H 'Authorization: Bearer [redacted]' https://x.org"}),
            ),
            (json!("git clone https://me:pa55@host/x"), json!("git clone https://me:[redacted]@host/x")),
            (json!("deploy --token abcdef prod"), json!("deploy --token [redacted] prod")),
            (json!("PASSWORD=hunter2 run; x"), json!("PASSWORD=[redacted] run; x")),
            (json!("export T=ghp_0123456789abcdefghij0123"), json!("export T=[redacted]")),
            (json!("key AKIAABCDEFGHIJKLMNOP!"), json!("key [redacted]!")),
            (
                json!("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest"),
                json!("[redacted]\nrest"),
            ),
        ];
        for (mut payload, expected) in table {
            let changed = payload != expected;
            assert_eq!(secrets(&mut payload), changed, "{expected}");
            assert_eq!(payload, expected);
        }
        for harmless in
            ["git push origin main", "tokenize the input", "ssh user@host", "a: b", "secretary", "sk-1"]
        {
            assert!(!secrets(&mut json!(harmless)), "{harmless}");
        }
    }
}
