//! `docs/diagnostics.md`, written from the catalogue of findings.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use hook_engine::core::diagnostic::codes;

use crate::root;

/// What each hundred of numbers is about, as the catalogue orders them.
const RANGES: &[(&str, &str)] = &[
    ("HK1", "Files and their syntax"),
    ("HK2", "Shape of hook files"),
    ("HK3", "Matchers"),
    ("HK4", "Handlers and timeouts"),
    ("HK5", "Commands and scripts"),
    ("HK6", "Payloads and runs"),
];

/// The page.
pub fn page() -> String {
    let mut page = String::from(
        "# Findings\n\n\
         Every finding has a number and a readable name. Once published, both keep their meaning.\n\
         `hook check` prints them with the place and with what to do; `--json` has the name as `slug`.\n\n\
         <!-- Written by `cargo xtask codes` from crates/hook-core/src/diagnostic/codes.rs. -->\n",
    );
    let mut heading = "";
    for code in codes::ALL {
        let range = RANGES.iter().find(|(start, _)| code.number().starts_with(start));
        let title = range.map_or("Others", |(_, title)| title);
        if title != heading {
            heading = title;
            let _ =
                write!(page, "\n## {title}\n\n| number | name | severity | meaning |\n|---|---|---|---|\n");
        }
        let (number, slug, severity, summary) =
            (code.number(), code.slug(), code.severity().name(), code.summary());
        let _ = writeln!(page, "| {number} | `{slug}` | {severity} | {summary} |");
    }
    page
}

fn path() -> PathBuf {
    root::workspace().join("docs/diagnostics.md")
}

/// Writes the page.
///
/// # Errors
/// It cannot be written.
pub fn write() -> Result<()> {
    let path = path();
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&path, page()).with_context(|| path.display().to_string())
}

/// Compares the page in the tree with what would be written.
///
/// # Errors
/// It is missing or old.
pub fn check() -> Result<()> {
    let path = path();
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    if there != page() {
        bail!("{} is not what the catalogue says; run `cargo xtask codes`", path.display());
    }
    Ok(())
}
