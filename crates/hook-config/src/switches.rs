//! Members of a settings file that switch hooks, read by their types.

use hook_core::Severity;
use hook_core::diagnostic::codes;
use serde_json::{Map, Value};

use crate::formats::Rules;
use crate::json::{Kind, Node};
use crate::report::{Report, step};

/// What a switch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    /// True or false.
    Flag,
    /// A list of words, or true for all of them.
    Areas,
    /// A list of what is allowed. A mistake in it allows nothing: it must not open what somebody meant to close.
    AllowList,
    /// An object, read by the dialect's own rules.
    Table,
}

/// The switches of a file, as written; those of a wrong type are left out with a finding.
pub(crate) fn read(rules: &Rules, root: &Node, report: &mut Report<'_>) -> Map<String, Value> {
    let mut switches = Map::new();
    for (name, switch) in rules.switches {
        let Some(member) = root.get(name) else { continue };
        let pointer = step("", name);
        let value = member.value.to_value(&report.source.text);
        let (fits, wanted) = match switch {
            Switch::Flag => (value.is_boolean(), "true or false"),
            Switch::Areas => (value.is_array() || value.is_boolean(), "a list of strings"),
            Switch::Table => (value.is_object(), "an object"),
            Switch::AllowList => {
                switches.insert((*name).to_owned(), allow_list(name, &member.value, &pointer, report));
                continue;
            }
        };
        if fits {
            switches.insert((*name).to_owned(), value);
        } else {
            report.wrong_type(&pointer, &member.value, wanted);
        }
    }
    switches
}

fn allow_list(name: &str, node: &Node, pointer: &str, report: &mut Report<'_>) -> Value {
    let Kind::Array(items) = &node.kind else {
        let message = format!("{name:?} is {}, not a list of strings; it allows nothing", node.what());
        report.push(report.at(codes::WRONG_TYPE, pointer, node.span, message).severity(Severity::Error));
        return Value::Array(Vec::new());
    };
    let mut words = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match item.as_str() {
            Some(word) => words.push(Value::from(word)),
            None => report.wrong_type(&step(pointer, index), item, "a string"),
        }
    }
    Value::Array(words)
}
