//! A look at what hooks would start: placeholders, quotes, scripts and their first lines.
//!
//! Nothing is run. What only a shell can tell (substitutions, patterns, variables of the session) is left alone, so that
//! every finding is about something that stands there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{
    Code, CommandHandler, Diagnostic, Dialect, EntryKind, Event, Files, Handler, Hook, HookCx, HostContext,
    Layer, Location, Payload, SessionView, Shell, Source, Span,
};
use hook_mapper::Dialects;
use hook_shell::{Line, Quoting, Word, placeholders};

use crate::frontmatter;
use crate::json::{self, Node};
use crate::load::Loaded;
use crate::relative;
use crate::suggest::nearest;

mod head;
mod programs;

/// Looks at every command of what was loaded.
pub fn lint(loaded: &Loaded, files: &dyn Files, host: &HostContext, dialects: &Dialects) -> Vec<Diagnostic> {
    let mut trees = Trees { sources: &loaded.sources, read: HashMap::new() };
    let mut seen = HashSet::new();
    let mut findings = Vec::new();
    for hook in loaded.hooks() {
        let Handler::Command(command) = &hook.handler else { continue };
        let Some(dialect) = dialects.get(hook.dialect) else { continue };
        if command.command.trim().is_empty()
            || !seen.insert((hook.origin.file.clone(), hook.origin.pointer.clone()))
        {
            continue;
        }
        let variables = variables(hook, dialect.as_ref(), host);
        let look =
            Look { hook, host, files, dialects, dialect: dialect.as_ref(), variables, found: Vec::new() };
        for (member, part, finding) in look.command(command) {
            let pointer = format!("{}/{member}", hook.origin.pointer);
            let place = trees.place(hook, &pointer, part, read_as(command, &member));
            let mut finding = finding.pointer(pointer);
            if let Some(place) = place.or_else(|| hook.origin.location.clone()) {
                finding = finding.at(place, "");
            }
            findings.push(finding);
        }
    }
    findings
}

/// The variables a hook would have, by the dialect that would give them to it.
fn variables(hook: &Hook, dialect: &dyn Dialect, host: &HostContext) -> BTreeMap<String, OsString> {
    let payload = Arc::new(Payload::from_value(serde_json::Value::Object(serde_json::Map::new())));
    let event = Event::new(hook.event.clone(), hook.dialect, hook.event_name.clone(), payload);
    let session = SessionView { env_file: Some(PathBuf::from("/dev/null")), ..SessionView::default() };
    let cx = HookCx { event: &event, hook, session: &session, host };
    dialect.variables(&cx).into_iter().collect()
}

/// The text of a member as it was looked at.
fn read_as<'c>(command: &'c CommandHandler, member: &str) -> &'c str {
    let index = member.strip_prefix("args/").and_then(|index| index.parse::<usize>().ok());
    index.and_then(|index| command.args.as_ref()?.get(index)).unwrap_or(&command.command)
}

/// The trees of the files that were read, for the places of findings.
struct Trees<'a> {
    sources: &'a [Source],
    read: HashMap<Arc<Path>, Option<(&'a Source, Node)>>,
}

impl Trees<'_> {
    /// The place of a part of a member's text. The whole member where it was written in other words, as `./` of a skill is.
    fn place(&mut self, hook: &Hook, pointer: &str, part: Span, read_as: &str) -> Option<Location> {
        let file = hook.origin.file.clone()?;
        let sources = self.sources;
        let entry = self.read.entry(file.clone()).or_insert_with(|| {
            let source = sources.iter().find(|source| source.path == file)?;
            if frontmatter::is_markdown(&file) {
                return Some((source, frontmatter::root(&source.text)?));
            }
            // A mark at the beginning would stop the parser; blanks keep the offsets.
            let text =
                source.text.replacen('\u{feff}', "   ", usize::from(source.text.starts_with('\u{feff}')));
            Some((source, json::parse(&text).ok()?.root))
        });
        let (source, root) = entry.as_ref()?;
        let mut node = root;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            node = match &node.kind {
                json::Kind::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                _ => &node.get(&step)?.value,
            };
        }
        let span = match node.as_str() == Some(read_as) {
            true => node.span_within(&source.text, part),
            false => node.span,
        };
        Some(source.locate(span))
    }
}

fn span(span: hook_shell::Span) -> Span {
    Span::new(span.start, span.end)
}

/// A finding with the member it is about and the part of that member's text.
type Found = (String, Span, Diagnostic);

/// One command under the glass.
struct Look<'a> {
    hook: &'a Hook,
    host: &'a HostContext,
    files: &'a dyn Files,
    dialects: &'a Dialects,
    dialect: &'a dyn Dialect,
    variables: BTreeMap<String, OsString>,
    found: Vec<Found>,
}

/// How a script is started.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// By itself: it needs a run bit and an interpreter.
    Alone,
    /// By a shell that is named before it.
    ByShell,
    /// By another program.
    ByOther,
}

impl Look<'_> {
    fn command(mut self, command: &CommandHandler) -> Vec<Found> {
        match &command.args {
            Some(args) => self.exec_form(&command.command, args),
            // The words of PowerShell follow other rules.
            None if command.shell == Shell::PowerShell => {}
            None => self.shell_form(&command.command),
        }
        self.found
    }

    fn add(&mut self, member: &str, part: Span, code: Code, message: impl Into<String>) -> &mut Diagnostic {
        self.found.push((member.to_owned(), part, Diagnostic::new(code, message)));
        // Pushed a line ago.
        let last = self.found.len() - 1;
        &mut self.found[last].2
    }

    // --- the shell form ---

    fn shell_form(&mut self, text: &str) {
        let line = Line::read(text);
        let assigned: HashSet<&str> = line.words().filter_map(|word| word.assigns()).collect();
        let mut before = None;
        for word in line.words() {
            self.quoting(word, before.replace(word));
            for variable in word.variables() {
                if !variable.has_default
                    && variable.quoting != Quoting::Single
                    && !assigned.contains(variable.name)
                {
                    self.known("command", variable.name, span(variable.span));
                }
            }
            self.tilde(word);
        }
        // A line that looks first knows that something may be missing.
        let asks = ["[", "[[", "test", "which", "type", "command", "hash", "function"];
        let careful = text.contains("()") || line.words().any(|word| asks.contains(&word.written()));
        for command in line.commands() {
            let words: Vec<Word<'_>> = command.arguments().collect();
            self.simple_command(&words, careful);
        }
    }

    /// A placeholder outside of quotes breaks at blanks; one in single quotes is never replaced.
    fn quoting(&mut self, word: Word<'_>, before: Option<Word<'_>>) {
        let placeholders = self.dialect.profile().placeholders;
        // The program text of an interpreter expands its variables itself.
        let code = before.is_some_and(|before| {
            let flag = before.written();
            flag.starts_with('-') && flag.ends_with(['c', 'e'])
        });
        let first = word.variables().into_iter().find(|variable| {
            let hit = variable.quoting == Quoting::Single && !code
                || variable.quoting == Quoting::None && word.assigns().is_none();
            hit && placeholders.contains(&variable.name)
        });
        let Some(variable) = first else { return };
        let (name, span) = (variable.name, span(variable.span));
        if variable.quoting == Quoting::Single {
            let finding = self.add(
                "command",
                span,
                codes::PLACEHOLDER_IN_SINGLE_QUOTES,
                format!("${{{name}}} stands in single quotes, where the shell does not replace it"),
            );
            finding.help = Some("use double quotes".to_owned());
            return;
        }
        let message =
            format!("${{{name}}} stands outside of quotes: where its path holds a blank, the command breaks");
        let suggestion = (!word.quoted()).then(|| format!("\"{}\"", word.written()));
        let finding = self.add("command", span, codes::UNQUOTED_PLACEHOLDER, message);
        finding.help = Some("put the whole word into double quotes".to_owned());
        finding.suggestion = suggestion;
    }

    fn tilde(&mut self, word: Word<'_>) {
        let written = word.written();
        if written.starts_with("\"~/") || written.starts_with("'~/") {
            let message = "a tilde in quotes is not replaced by the home directory";
            let span = Span::new(word.span().start + 1, word.span().start + 2);
            let finding = self.add("command", span, codes::TILDE_NOT_EXPANDED, message);
            finding.help = Some("write \"$HOME/…\", or leave the tilde outside of the quotes".to_owned());
        }
    }

    /// Finds the script of one simple command and looks at it.
    fn simple_command(&mut self, words: &[Word<'_>], careful: bool) {
        let mut rest = words
            .iter()
            .copied()
            .skip_while(|word| word.assigns().is_some() || programs::is_prefix(word.written()));
        let Some(program) = rest.next() else { return };
        let Some(name) = self.text(program) else { return };
        if !careful && !program.quoted() {
            self.program(span(program.span()), &name);
        }
        let interpreter = programs::interpreter(&name);
        if name.contains('/') || (interpreter.is_none() && programs::looks_like_a_script(&name)) {
            if interpreter.is_none() {
                // Without a slash the shell would look along the PATH.
                if name.contains('/') {
                    self.script("command", span(program.span()), &name, Start::Alone, careful);
                }
                return;
            }
        } else if interpreter.is_none() {
            return;
        }
        let start = if interpreter == Some(true) { Start::ByShell } else { Start::ByOther };
        for word in rest {
            let written = word.written();
            if written.starts_with('-') {
                if programs::takes_code(written, start == Start::ByShell) {
                    return;
                }
                continue;
            }
            if let Some(path) = self.text(word)
                && (path.contains('/') || programs::looks_like_a_script(&path))
            {
                self.script("command", span(word.span()), &path, start, careful);
            }
            return;
        }
    }

    fn text(&self, word: Word<'_>) -> Option<String> {
        // Single quotes around a placeholder have a finding of their own.
        if word.variables().iter().any(|variable| variable.quoting == Quoting::Single) {
            return None;
        }
        let home = || self.host.home.as_ref().and_then(|home| home.to_str()).map(str::to_owned);
        let text = word.text(&|name| match self.variables.get(name) {
            Some(value) => value.to_str().map(str::to_owned),
            None if name == "HOME" => home(),
            None => None,
        })?;
        match text.strip_prefix("~/") {
            Some(rest) if !word.quoted() => Some(format!("{}/{rest}", home()?)),
            _ => Some(text),
        }
    }

    // --- the exec form ---

    fn exec_form(&mut self, command: &str, args: &[String]) {
        let members = std::iter::once(("command".to_owned(), command))
            .chain(args.iter().enumerate().map(|(index, arg)| (format!("args/{index}"), arg.as_str())));
        for (member, text) in members {
            for found in placeholders(text) {
                let (name, span) = (found.name, span(found.span));
                if found.braces {
                    self.known(&member, name, span);
                } else if self.dialect.profile().placeholders.contains(&name) {
                    let message =
                        format!("${name} is not replaced here: beside \"args\" no shell reads the words");
                    let finding = self.add(&member, span, codes::UNKNOWN_PLACEHOLDER, message);
                    finding.suggestion = Some(format!("${{{name}}}"));
                }
            }
            if text.starts_with("~/") {
                let message = "a tilde is not replaced here: beside \"args\" no shell reads the words";
                let finding = self.add(&member, Span::new(0, 1), codes::TILDE_NOT_EXPANDED, message);
                finding.help = Some("write the whole path".to_owned());
            }
        }
        let Some(program) = self.substituted(command) else { return };
        self.program(Span::new(0, command.len()), &program);
        match programs::interpreter(&program) {
            None if program.contains('/') && !program.starts_with("~/") => {
                self.script("command", Span::new(0, command.len()), &program, Start::Alone, false);
            }
            None => {}
            Some(shell) => {
                let start = if shell { Start::ByShell } else { Start::ByOther };
                for (index, arg) in args.iter().enumerate() {
                    if arg.starts_with('-') {
                        if programs::takes_code(arg, shell) {
                            return;
                        }
                        continue;
                    }
                    if let Some(path) = self.substituted(arg)
                        && !path.starts_with("~/")
                        && (path.contains('/') || programs::looks_like_a_script(&path))
                    {
                        self.script(&format!("args/{index}"), Span::new(0, arg.len()), &path, start, false);
                    }
                    return;
                }
            }
        }
    }

    fn substituted(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        for found in placeholders(text).into_iter().filter(|found| found.braces) {
            out.push_str(&text[done..found.span.start]);
            out.push_str(self.variables.get(found.name)?.to_str()?);
            done = found.span.end;
        }
        out.push_str(&text[done..]);
        Some(out)
    }

    // --- placeholders ---

    /// Warns about a placeholder of some agent's family that nobody sets for this hook.
    fn known(&mut self, member: &str, name: &str, span: Span) {
        let profile = self.dialect.profile();
        let has_source = matches!(self.hook.origin.layer, Layer::Pack | Layer::Skill | Layer::Agent);
        let placeholder = profile.placeholders.contains(&name);
        if profile.own_variables.contains(&name) && self.variables.contains_key(name) {
            let message =
                format!("only here {name} is set: an agent that runs this hook itself leaves it empty");
            let instead = profile.placeholders.iter().find(|other| self.variables.contains_key(**other));
            let help = instead.map(|other| format!("write the path with ${{{other}}}"));
            self.add(member, span, codes::UNKNOWN_PLACEHOLDER, message).help = help;
            return;
        }
        let set = self.variables.contains_key(name)
            || (placeholder && has_source)
            || (!placeholder && profile.protected_variables.contains(&name))
            || self.host.variable(name).is_some();
        if set {
            return;
        }
        let family = |known: &str| {
            known.split_once('_').is_some_and(|(agent, _)| name.starts_with(&format!("{agent}_")))
        };
        let of_some_agent = programs::NEVER_SET.contains(&name)
            || self
                .dialects
                .iter()
                .any(|dialect| dialect.profile().placeholders.iter().any(|known| family(known)));
        // Options of a plugin have names that only its user knows.
        if !of_some_agent || (has_source && name.contains("_OPTION_")) {
            return;
        }
        let message = match placeholder {
            true => format!("{name} is set for plugins and skills only; here it is empty"),
            false => format!("nobody sets {name}; it is empty when the hook runs"),
        };
        let near = nearest(
            name,
            self.variables.keys().map(String::as_str).filter(|known| profile.placeholders.contains(known)),
        );
        let near = near.map(str::to_owned);
        let finding = self.add(member, span, codes::UNKNOWN_PLACEHOLDER, message);
        finding.help = near.as_ref().map(|near| format!("did you mean {near}?"));
        finding.suggestion = near;
    }

    // --- scripts ---

    /// A bare name has to stand on the PATH.
    fn program(&mut self, span: Span, name: &str) {
        let Some(path) = self.host.variable("PATH").filter(|_| programs::is_looked_up(name)) else { return };
        let there = path.split(':').any(|dir| self.files.kind(&Path::new(dir).join(name)).is_ok());
        if !there {
            let finding =
                self.add("command", span, codes::MISSING_PROGRAM, format!("{name} is not on the PATH"));
            finding.help = Some("install it, or name its whole path".to_owned());
        }
    }

    fn script(&mut self, member: &str, span: Span, path: &str, start: Start, careful: bool) {
        let relative = Path::new(path);
        // A relative path means the directory the hook runs in, which is the project's or lies below it.
        let full = self.host.project.join(relative);
        let in_root = self.hook.origin.root.as_ref().map(|root| root.join(relative));
        let found =
            [Some(&full), in_root.as_ref()].into_iter().flatten().find(|path| self.files.kind(path).is_ok());
        let Some(found) = found else {
            if !careful
                && matches!(self.files.kind(&full), Err(error) if error.kind() == io::ErrorKind::NotFound)
            {
                let message = format!("the script does not exist: {}", full.display());
                let finding = self.add(member, span, codes::MISSING_SCRIPT, message);
                finding.help = Some("correct the path, or put the script there".to_owned());
            }
            return;
        };
        if !matches!(self.files.kind(found), Ok(EntryKind::File)) {
            return;
        }
        let shown = found.display().to_string();
        // Commands are there to be copied.
        let word = relative::quoted(&shown);
        let head = head::read(self.files, found);
        let binary = head.as_ref().is_some_and(|head| head.binary);
        if start == Start::Alone && matches!(self.files.mode(found), Ok(Some(mode)) if mode & 0o111 == 0) {
            let finding =
                self.add(member, span, codes::SCRIPT_NOT_EXECUTABLE, format!("{shown} has no run bit"));
            finding.help = Some(format!("chmod +x {word}"));
        }
        let Some(head) = head.filter(|_| !binary) else { return };
        if start == Start::Alone && !head.shebang {
            let message = format!("{shown} does not begin with `#!`: who runs it depends on who starts it");
            let finding = self.add(member, span, codes::MISSING_SHEBANG, message);
            finding.help =
                Some("begin it with `#!/bin/sh`, or with the interpreter it is written for".to_owned());
        }
        if head.crlf && (start == Start::ByShell || (start == Start::Alone && head.shebang)) {
            let message = match start {
                Start::Alone => format!(
                    "{shown} has CRLF line ends: the system looks for an interpreter with a carriage return in its name"
                ),
                _ => format!("{shown} has CRLF line ends, which the shell takes for a part of every line"),
            };
            let finding = self.add(member, span, codes::CRLF_SCRIPT, message);
            finding.help = Some(format!(
                "sed -i 's/\\r$//' {word}, and keep it so with `*.sh text eol=lf` in .gitattributes"
            ));
        }
    }
}
