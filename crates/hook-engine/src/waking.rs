//! What a woken hook gets to know, in every dialect the same: `rewake` on standard input, variables, and values of templates.

use std::ffi::OsString;

use hook_core::{Event, TemplateValues};
use serde_json::Value;

/// The document on standard input, with the member `rewake`.
pub(crate) fn told(document: String, event: &Event) -> String {
    let Some(wake) = &event.wake else { return document };
    match (serde_json::from_str(&document), serde_json::to_value(&**wake)) {
        (Ok(Value::Object(mut document)), Ok(wake)) => {
            document.insert("rewake".to_owned(), wake);
            Value::Object(document).to_string()
        }
        _ => document,
    }
}

/// The values of templates: `${context.rewake_reason}`, and every member of the payload in the same way.
pub(crate) fn values(mut values: TemplateValues, event: &Event) -> TemplateValues {
    values.context.extend(words(event).map(|(name, value)| (format!("rewake_{name}"), value.into())));
    values
}

/// The variables: `HOOK_REWAKE_REASON`, and every member of the payload in the same way, in capital letters.
pub(crate) fn variables(event: &Event) -> impl Iterator<Item = (OsString, OsString)> {
    words(event).filter_map(|(name, value)| {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        plain.then(|| (format!("HOOK_REWAKE_{}", name.to_ascii_uppercase()).into(), value.into()))
    })
}

fn words(event: &Event) -> impl Iterator<Item = (String, String)> {
    event.wake.iter().flat_map(|wake| wake.words())
}
