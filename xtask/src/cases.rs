//! Conformance cases as files: `<dialect>/<area>.json`, each an array of `{id, what, given, expect, source}`.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its id, unique in its directory.
    pub id: String,
    /// What is given.
    pub given: Map<String, Value>,
    /// What is asserted.
    pub expect: Map<String, Value>,
    /// What the runner does not understand of it.
    pub faults: Vec<String>,
}

/// All cases of one file.
#[derive(Debug, Clone)]
pub struct Area {
    /// `<dialect>/<area>`.
    pub name: String,
    /// The cases, in file order.
    pub cases: Vec<Case>,
}

/// Reads every area of a directory, sorted by name. Folders that hold other kinds of cases (`trials`) are left out.
///
/// # Errors
/// A file cannot be read, is no JSON, or holds something that is no case.
pub fn read(directory: &Path) -> Result<Vec<Area>> {
    let mut areas = Vec::new();
    for dialect in sorted(directory)? {
        let path = directory.join(&dialect);
        if !path.is_dir() || dialect == "trials" {
            continue;
        }
        for file in sorted(&path)? {
            let Some(area) = file.strip_suffix(".json") else { continue };
            let name = format!("{dialect}/{area}");
            let text = std::fs::read_to_string(path.join(&file)).with_context(|| name.clone())?;
            let value: Value = serde_json::from_str(&text).with_context(|| name.clone())?;
            let Value::Array(items) = value else { bail!("{name}: not an array") };
            let cases = items.into_iter().map(|item| case(item, &name)).collect::<Result<_>>()?;
            areas.push(Area { name, cases });
        }
    }
    Ok(areas)
}

/// The names in a directory, sorted.
///
/// # Errors
/// The directory cannot be read.
pub fn sorted(directory: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(|| directory.display().to_string())? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The members of a case that say nothing to the runner.
const WORDS: &[&str] = &["what", "source"];

/// One case. What is wrong with it is a fault of this case and of no other.
fn case(item: Value, area: &str) -> Result<Case> {
    let Value::Object(mut item) = item else { bail!("{area}: a case is no object") };
    let Some(Value::String(id)) = item.remove("id") else { bail!("{area}: a case without id") };
    let mut faults = Vec::new();
    let mut object = |key: &str| match item.remove(key) {
        Some(Value::Object(map)) => map,
        _ => {
            faults.push(format!("{key:?} is no object"));
            Map::new()
        }
    };
    let (given, expect) = (object("given"), object("expect"));
    for key in item.keys().filter(|key| !WORDS.contains(&key.as_str())) {
        faults.push(format!("{key}: the runner does not know this member"));
    }
    Ok(Case { id, given, expect, faults })
}
