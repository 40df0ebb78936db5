//! `docs/matchers.md`, written from the documentation of the matcher crate.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::root;

const SOURCE: &str = "crates/hook-matcher/src/reference.rs";

fn page() -> Result<String> {
    let source = root::workspace().join(SOURCE);
    let source = std::fs::read_to_string(&source).with_context(|| source.display().to_string())?;
    let mut page = String::from("# Matchers\n\n<!-- Written by `cargo xtask matchers` from ");
    page.push_str(SOURCE);
    page.push_str(". -->\n\n");
    let mut in_code = false;
    for line in source.lines().filter_map(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        match line.strip_prefix("```") {
            // Code without a language is Rust in the documentation of a crate.
            Some("") if !in_code => page.push_str("```rust"),
            // The title of the page stands above them.
            None if !in_code && line.starts_with('#') => {
                page.push('#');
                page.push_str(line);
            }
            _ => page.push_str(line),
        }
        in_code ^= line.starts_with("```");
        page.push('\n');
    }
    Ok(page)
}

fn path() -> PathBuf {
    root::workspace().join("docs/matchers.md")
}

/// Writes the page.
///
/// # Errors
/// It cannot be written, or its source cannot be read.
pub fn write() -> Result<()> {
    let path = path();
    std::fs::write(&path, page()?).with_context(|| path.display().to_string())
}

/// Compares the page in the tree with what would be written.
///
/// # Errors
/// It is missing or old, or its source cannot be read.
pub fn check() -> Result<()> {
    let path = path();
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    if there != page()? {
        bail!("{} is not what {SOURCE} says; run `cargo xtask matchers`", path.display());
    }
    Ok(())
}
