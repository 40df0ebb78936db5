//! Checking hook files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hook_engine::config::{Loaded, Settings, StdFiles, check_file, lint, unknown_servers};
use hook_engine::core::diagnostic::codes;
use hook_engine::core::{Diagnostic, DialectId, HandlerKind, Hook, HostContext, Severity, Source};
use hook_engine::mapper::Dialects;
use hook_engine::registry::Generation;
use serde_json::Value;

use crate::args::{CheckArgs, SourceArgs};
use crate::error::CliError;
use crate::findings::{self, Count, plural};
use crate::world::World;
use crate::{exit, json, output, session, world};

/// What to do about agent hooks.
const AGENTS: &str = "write a prompt hook; only programs that embed the engine bring an agent";

pub(crate) fn check(args: &CheckArgs) -> Result<u8, CliError> {
    let dialects = Dialects::standard();
    let host = world::host(session::dialect(&dialects, "native")?.profile(), None);
    let mut loaded = if args.paths.is_empty() {
        let mut loaded = session::load_files(&host, &dialects, &args.sources, None)?;
        add_servers(&mut loaded, &host, &dialects, &args.sources)?;
        add_unserved(&mut loaded, |hook, settings| session::unserved(hook, settings, &host));
        loaded
    } else {
        let mut loaded = named_files(args, &dialects)?;
        // Of files that are named, nobody knows which model their user has.
        let agents = |hook: &Hook| hook.handler.kind() == HandlerKind::Agent;
        add_unserved(&mut loaded, |hook, settings| {
            session::unserved(hook, settings, &host).filter(|_| agents(hook))
        });
        loaded
    };
    let scripts = lint(&loaded, &StdFiles, &host, &dialects);
    loaded.diagnostics.extend(scripts);
    let (_, whole) = Generation::build(1, &loaded.documents, Some(&[]), &|_| false);
    loaded.diagnostics.extend(whole);
    let found = &loaded.diagnostics;
    let count = Count::of(found);
    if args.json {
        let list: Value = found.iter().map(json::finding).collect();
        output::data(&format!("{list:#}\n"))?;
    } else {
        let coloured = output::coloured(&std::io::stdout());
        output::data(&findings::render(found, &loaded.sources, coloured))?;
        let files = plural(loaded.sources.len(), "file");
        let hooks = plural(loaded.hooks().count(), "hook");
        output::words(&format!("{files}, {hooks}: {count}\n"));
    }
    Ok(if count.errors > 0 { exit::FINDINGS } else { exit::OK })
}

/// Adds what is wrong with the MCP servers, where a hook calls one.
fn add_servers(
    loaded: &mut Loaded,
    host: &HostContext,
    dialects: &Dialects,
    sources: &SourceArgs,
) -> Result<(), CliError> {
    if !loaded.hooks().any(|hook| hook.enabled && hook.handler.kind() == HandlerKind::Mcp) {
        return Ok(());
    }
    let servers = session::load_servers(&StdFiles, host, dialects, sources, &loaded.settings)?;
    let unknown = unknown_servers(loaded.hooks().map(AsRef::as_ref), &servers.servers);
    loaded.diagnostics.extend(servers.diagnostics.into_iter().chain(unknown));
    loaded.sources.extend(servers.sources);
    Ok(())
}

/// Adds the hooks that nobody runs.
fn add_unserved(loaded: &mut Loaded, unserved: impl Fn(&Hook, &Settings) -> Option<String>) {
    let finding = |hook: &Arc<Hook>| {
        let why = unserved(hook, &loaded.settings)?;
        let mut finding = Diagnostic::new(codes::NOBODY_RUNS, format!("nobody runs this hook: {why}"));
        finding.pointer = Some(hook.origin.pointer.clone());
        if hook.handler.kind() == HandlerKind::Agent {
            finding = finding.help(AGENTS);
        }
        Some(match &hook.origin.location {
            Some(location) => finding.at(location.clone(), ""),
            None => finding,
        })
    };
    let found: Vec<_> = loaded.hooks().filter(|hook| hook.enabled).filter_map(finding).collect();
    loaded.diagnostics.extend(found);
}

fn named_files(args: &CheckArgs, dialects: &Dialects) -> Result<Loaded, CliError> {
    let dialect: Option<DialectId> = match &args.dialect {
        Some(word) => Some(session::dialect(dialects, word)?.profile().id),
        None => None,
    };
    let mut all = Loaded::default();
    let mut add = |one: Loaded| {
        all.documents.extend(one.documents);
        all.diagnostics.extend(one.diagnostics);
        all.sources.extend(one.sources);
    };
    for path in &args.paths {
        let path = std::path::absolute(path).map_err(|error| CliError::io(path.display(), error))?;
        if !path.exists() {
            return Err(CliError::io(path.display(), std::io::ErrorKind::NotFound.into()));
        }
        if !path.is_dir() {
            add(check_file(&path, dialect, &StdFiles, dialects));
            continue;
        }
        // Of a project that is named, the files of the user and of the machine are no part.
        let mut host = World::of_process().host_at(path.clone());
        (host.home, host.config, host.managed) = (None, None, None);
        let mut project = session::load_files(&host, dialects, &args.sources, None)?;
        add_servers(&mut project, &host, dialects, &args.sources)?;
        if !project.sources.is_empty() || !project.diagnostics.is_empty() {
            add(project);
            continue;
        }
        let files = hook_files(&path).map_err(|error| CliError::io(path.display(), error))?;
        if files.is_empty() {
            return Err(CliError::usage(format!("{}: no hook files in this directory", path.display())));
        }
        for file in files {
            add(check_file(&file, dialect, &StdFiles, dialects));
        }
    }
    Ok(all)
}

/// The hook files of a directory, and of the directories in it.
fn hook_files(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut folders = vec![directory.to_owned()];
    for entry in std::fs::read_dir(directory)? {
        folders.push(entry?.path());
    }
    folders[1..].sort();
    let names = ["hooks.json", "hooks.local.json", "SKILL.md"];
    let files = folders.iter().flat_map(|folder| names.map(|name| folder.join(name)));
    Ok(files.filter(|path| path.is_file()).collect())
}

/// Shows the errors among findings, for verbs that go on all the same.
pub(crate) fn print_errors(findings: &[Diagnostic], sources: &[Source]) {
    let errors: Vec<_> =
        findings.iter().filter(|finding| finding.severity == Severity::Error).cloned().collect();
    output::words(&findings::render(&errors, sources, output::coloured(&std::io::stderr())));
}
