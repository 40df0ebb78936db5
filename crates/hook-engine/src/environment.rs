//! The environment of a hook's process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use hook_core::{Dialect, HookCx};

use crate::waking;

/// The host's environment, then the variables that hooks left for the session, then the dialect's own.
///
/// A variable that belongs to the dialect is never inherited: an agent that runs inside another agent would else point its
/// hooks at the outer one's project.
pub(crate) fn environment(dialect: &dyn Dialect, cx: &HookCx<'_>) -> Vec<(OsString, OsString)> {
    let protected = dialect.profile().protected_variables;
    let mut all: BTreeMap<OsString, OsString> = BTreeMap::new();
    for (name, value) in cx.host.inherited() {
        let owned_by_dialect = protected.iter().any(|own| OsStr::new(own) == name);
        if !owned_by_dialect {
            all.insert(name.clone(), value.clone());
        }
    }
    let state = &cx.session.state;
    for (name, value) in state.variables.iter().chain(&state.passing) {
        if !protected.contains(&name.as_str()) {
            all.insert(name.into(), value.into());
        }
    }
    all.extend(waking::variables(cx.event));
    for (name, value) in dialect.variables(cx) {
        all.insert(name.into(), value);
    }
    // A system refuses to start a process with a NUL byte in a variable, and an id of the payload may hold one: no guard is to
    // fall for it.
    all.into_iter().map(|(name, value)| (name, without_nul(value))).collect()
}

fn without_nul(value: OsString) -> OsString {
    match value.as_encoded_bytes().contains(&0) {
        true => value.to_string_lossy().replace('\0', "").into(),
        false => value,
    }
}

/// The values of the placeholders a command may use: those of the dialect's own variables that its profile names, and more
/// that it gives for this hook.
pub(crate) fn placeholders(
    dialect: &dyn Dialect,
    cx: &HookCx<'_>,
    environment: &[(OsString, OsString)],
) -> Vec<(String, String)> {
    let names = dialect.profile().placeholders;
    let variables = environment.iter().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| names.contains(name))?;
        Some((name.to_owned(), value.to_string_lossy().into_owned()))
    });
    variables.chain(dialect.placeholders(cx)).collect()
}
