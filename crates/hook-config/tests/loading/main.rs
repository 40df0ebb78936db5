//! Every test of loading, in one binary.

mod common;

mod aimon;
mod amplifier;
mod claude;
mod claude_policy;
mod claude_rules;
mod frontmatter;
mod hostile;
mod http;
mod identity;
mod model;
mod native;
mod rules;
mod scripts;
mod servers;
mod skills;
mod switches;
