//! From a host to its documents, in dispatch order.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{
    Code, Diagnostic, DialectId, Document, FileEntry, Files, Hook, HostContext, Layer, Severity, Source,
};
use hook_mapper::Dialects;
use serde_json::Value;

use crate::disabled::{self, Plugin};
use crate::formats::{self, FORMATS};
use crate::frontmatter;
use crate::ids;
use crate::module;
use crate::relative;
use crate::report::Report;
use crate::servers::{self, LoadedServers, load_servers};
use crate::settings::{self, Settings};
use crate::shape::Reader;
use crate::spec::DocumentSpec;
use crate::text;

/// What is to be loaded.
pub struct LoadRequest<'a> {
    /// The host: project, home, and the directories of user and managed files.
    pub host: &'a HostContext,
    /// The file system.
    pub files: &'a dyn Files,
    /// The dialects files may be written in.
    pub dialects: &'a Dialects,
    /// Agents whose own files are read, too.
    pub own_files_of: Vec<DialectId>,
    /// The agent that fires: where it runs its own files itself, they are left to it, unless it is in `own_files_of`.
    pub firing: Option<DialectId>,
    /// Plugins of the agents in `own_files_of`.
    pub plugin_roots: Vec<std::path::PathBuf>,
    /// The settings with which a host mounted the agent's hook module: a JSON object. They count for every agent that has
    /// such a module, as those of a user file do, and before them.
    pub module_config: Option<Source>,
    /// A settings file of the agents in `own_files_of` that was given for this run alone.
    pub extra_settings: Option<Source>,
    /// Skills whose hooks are in force at once: directories that hold a `SKILL.md`, or such files.
    pub skills: Vec<std::path::PathBuf>,
}

impl<'a> LoadRequest<'a> {
    /// The files that are read by default.
    pub fn new(host: &'a HostContext, files: &'a dyn Files, dialects: &'a Dialects) -> LoadRequest<'a> {
        LoadRequest {
            host,
            files,
            dialects,
            own_files_of: Vec::new(),
            firing: None,
            plugin_roots: Vec::new(),
            module_config: None,
            extra_settings: None,
            skills: Vec::new(),
        }
    }
}

/// What was loaded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// The documents in dispatch order: by layer, packs by name, else in the order of the formats.
    pub documents: Vec<Document>,
    /// Everything that was found, file by file.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that were read, for showing the places of findings.
    pub sources: Vec<Source>,
    /// The settings of all native files together.
    pub settings: Settings,
    /// What can be switched off by its name, in the order in which it was found.
    pub plugins: Vec<Plugin>,
}

impl Loaded {
    /// Every hook, in dispatch order.
    pub fn hooks(&self) -> impl Iterator<Item = &Arc<Hook>> {
        self.documents.iter().flat_map(|document| &document.bindings).flat_map(|binding| &binding.hooks)
    }

    /// The first finding that keeps a whole file from being used.
    pub fn broken_file(&self) -> Option<&Diagnostic> {
        const WHOLE_FILE: &[Code] = &[
            codes::UNREADABLE_FILE,
            codes::INVALID_JSON,
            codes::NOT_UTF8,
            codes::FILE_TOO_LARGE,
            codes::TOO_DEEP,
            codes::NOT_AN_OBJECT,
            codes::HOOKS_NOT_AN_OBJECT,
            codes::NONE_LOADED,
        ];
        let mut found = self.diagnostics.iter();
        found.find(|one| one.severity == Severity::Error && WHOLE_FILE.contains(&one.code))
    }

    /// True where a finding is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// One file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The document; `None` where the file as a whole is not usable.
    pub document: Option<Document>,
    /// What was found.
    pub diagnostics: Vec<Diagnostic>,
    /// The text.
    pub source: Source,
    /// The settings block of a native file.
    pub settings: Settings,
}

/// Loads every file that the request asks for. Missing files are fine; a broken one takes nothing with it but itself.
pub fn load(request: &LoadRequest<'_>) -> Loaded {
    let mut loader = Loader::new(request);
    loader.module_config();
    let mut wanted = request.own_files_of.clone();
    for format in FORMATS {
        let left_to_agent = request.firing == Some(format.id)
            && request.dialects.get(format.id).is_some_and(|dialect| dialect.profile().runs_own_files);
        let asked = wanted.contains(&format.id) || (format.always && !left_to_agent);
        if asked {
            (format.load)(&mut loader);
        }
        // Native files come first and may ask for those of other agents.
        let sources = std::mem::take(&mut loader.wanted_sources);
        for word in sources {
            match request.dialects.find(&word).map(|dialect| dialect.profile().id) {
                Some(id) if request.firing != Some(id) => wanted.push(id),
                Some(_) => {}
                None => {
                    let message = format!(
                        "the setting \"sources\" names {word:?}, which is no agent that is known here"
                    );
                    loader.diagnostics.push(Diagnostic::new(codes::UNKNOWN_DIALECT, message));
                }
            }
        }
    }
    loader.skills_asked_for();
    loader.finish()
}

/// Reads one file, with its dialect and layer told by its place where `dialect` says nothing; of `.mcp.json` the MCP servers.
pub fn check_file(path: &Path, dialect: Option<DialectId>, files: &dyn Files, dialects: &Dialects) -> Loaded {
    let host = HostContext::new(path.parent().unwrap_or(path));
    let request = LoadRequest::new(&host, files, dialects);
    if servers::is_server_file(path) {
        let LoadedServers { diagnostics, sources, .. } = load_servers(&request, &Settings::default());
        return Loaded { diagnostics, sources, ..Loaded::default() };
    }
    let mut loader = Loader::new(&request);
    let spec = guess(path, dialect);
    let format = FORMATS.iter().find(|format| format.id == spec.dialect);
    if !format.is_some_and(|format| (format.special)(&mut loader, &spec)) && !loader.optional(spec) {
        let finding = Diagnostic::new(codes::UNREADABLE_FILE, "the file does not exist").in_file(path);
        loader.diagnostics.push(finding);
    }
    loader.finish()
}

/// What a file is by its place. A skill that lies in no agent's place is a native one.
pub(crate) fn guess(path: &Path, dialect: Option<DialectId>) -> DocumentSpec {
    let mut guesses = FORMATS.iter().filter(|format| dialect.is_none_or(|id| id == format.id));
    let found = guesses.find_map(|format| (format.guess)(path));
    let dialect = dialect.unwrap_or(DialectId::NATIVE);
    found.unwrap_or_else(|| match frontmatter::is_markdown(path) {
        true => frontmatter::spec(path, dialect),
        false => DocumentSpec::new(path, dialect, Layer::Project),
    })
}

/// Reads one file's bytes: the frontmatter of a Markdown file (by its name, `*.md`), else a hook file. Ids are those the file
/// would have alone.
pub fn parse(bytes: &[u8], spec: &DocumentSpec, dialects: &Dialects) -> Parsed {
    alone(read_document(bytes, spec, dialects))
}

/// Reads a `hooks` value that came in memory (a message of an agent, for instance).
pub fn parse_value(hooks: &Value, spec: &DocumentSpec, dialects: &Dialects) -> Parsed {
    let text = serde_json::json!({ "hooks": hooks }).to_string();
    alone(read_hook_file(text.as_bytes(), spec, dialects))
}

fn alone(mut parsed: Parsed) -> Parsed {
    if let Some(document) = &mut parsed.document {
        parsed.diagnostics.extend(ids::assign(std::slice::from_mut(document)));
        relative::resolve(document);
    }
    parsed
}

fn read_document(bytes: &[u8], spec: &DocumentSpec, dialects: &Dialects) -> Parsed {
    match frontmatter::is_markdown(&spec.path) {
        true => frontmatter::read(bytes, spec, dialects),
        false => read_hook_file(bytes, spec, dialects),
    }
}

fn read_hook_file(bytes: &[u8], spec: &DocumentSpec, dialects: &Dialects) -> Parsed {
    let rules = formats::rules(spec.dialect, spec.layer);
    let opened = text::open(bytes, &spec.path, rules);
    let mut diagnostics = opened.diagnostics;
    let source = opened.source;
    let mut parsed =
        Parsed { document: None, diagnostics: Vec::new(), settings: Settings::default(), source };
    if let Some(tree) = opened.tree {
        let mut report = Report::new(&parsed.source);
        let mut spec = spec.clone();
        let native = spec.dialect == DialectId::NATIVE;
        if native && let Some(id) = other_dialect(&tree.root, dialects, &mut report) {
            spec.dialect = id;
        }
        let mut own = Settings::default();
        if native && let Some(member) = tree.root.get("settings") {
            own = settings::read(&member.value, spec.layer, dialects, &mut report);
        }
        let rules = formats::rules(spec.dialect, spec.layer);
        match dialects.get(spec.dialect) {
            Some(dialect) => {
                let mut reader = Reader::new(&spec, dialect.as_ref(), dialects, rules, report);
                reader.switched = native;
                parsed.document = reader.document(&tree.root);
                diagnostics.append(&mut reader.report.diagnostics);
            }
            None => {
                let message =
                    format!("the dialect {:?} is not known here; the file is left out", spec.dialect.0);
                report.push(Diagnostic::new(codes::UNKNOWN_DIALECT, message).in_file(spec.path.as_path()));
                diagnostics.append(&mut report.diagnostics);
            }
        }
        parsed.settings = own;
    }
    parsed.diagnostics = diagnostics;
    parsed
}

/// The dialect that a native file names.
fn other_dialect(
    root: &crate::json::Node,
    dialects: &Dialects,
    report: &mut Report<'_>,
) -> Option<DialectId> {
    let member = root.get("dialect")?;
    let Some(word) = member.value.as_str() else {
        report.wrong_type("/dialect", &member.value, "a string");
        return None;
    };
    if let Some(dialect) = dialects.find(word) {
        return Some(dialect.profile().id);
    }
    let names: Vec<&str> = dialects.iter().map(|dialect| dialect.profile().id.0).collect();
    let message = format!("{word:?} is no dialect; the file is read as a native one");
    let mut finding = report.at(codes::UNKNOWN_DIALECT, "/dialect", member.value.span, message);
    finding.help = Some(format!("the dialects are {}", names.join(", ")));
    finding.suggestion = report.nearest(word, names).map(str::to_owned);
    report.push(finding);
    None
}

/// Collects what the formats read.
pub(crate) struct Loader<'a> {
    pub(crate) request: &'a LoadRequest<'a>,
    pub(crate) documents: Vec<Document>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) sources: Vec<Source>,
    pub(crate) settings: Settings,
    pub(crate) plugins: Vec<Plugin>,
    /// Skills and subagents that were found: of those with one name, the first counts.
    pub(crate) named: HashSet<(Layer, Arc<str>)>,
    wanted_sources: Vec<String>,
}

impl<'a> Loader<'a> {
    fn new(request: &'a LoadRequest<'a>) -> Loader<'a> {
        Loader {
            request,
            documents: Vec::new(),
            diagnostics: Vec::new(),
            sources: Vec::new(),
            named: HashSet::new(),
            settings: Settings::default(),
            plugins: Vec::new(),
            wanted_sources: Vec::new(),
        }
    }

    /// Reads what the host handed over.
    fn module_config(&mut self) {
        let Some(source) = &self.request.module_config else { return };
        let mut report = Report::new(source);
        let said = module::read_source(source, &mut report);
        self.diagnostics.append(&mut report.diagnostics);
        self.sources.push(source.clone());
        for format in FORMATS.iter().filter(|format| format.module.is_some()) {
            self.settings.agents.entry(format.id).or_default().add(said.clone());
        }
    }

    /// Reads a file that may be missing; false where it is.
    pub(crate) fn optional(&mut self, spec: DocumentSpec) -> bool {
        let bytes = match text::read(self.request.files, &spec.path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return false,
            Err(finding) => {
                self.diagnostics.push(*finding);
                return true;
            }
        };
        self.take(&spec, &bytes);
        true
    }

    /// Reads a file that is in memory already.
    pub(crate) fn take(&mut self, spec: &DocumentSpec, bytes: &[u8]) {
        let parsed = read_document(bytes, spec, self.request.dialects);
        self.diagnostics.extend(parsed.diagnostics);
        self.sources.push(parsed.source);
        self.documents.extend(parsed.document);
        self.wanted_sources.extend(parsed.settings.sources.iter().cloned());
        self.settings.add(parsed.settings);
    }

    /// The entries of a directory, sorted by name; none where it is missing.
    pub(crate) fn entries(&mut self, directory: &Path) -> Vec<FileEntry> {
        match self.request.files.list(directory) {
            Ok(entries) => entries,
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                Vec::new()
            }
            Err(error) => {
                let message = format!("the directory cannot be read: {error}; none of its hooks run");
                self.diagnostics.push(Diagnostic::new(codes::UNREADABLE_FILE, message).in_file(directory));
                Vec::new()
            }
        }
    }

    /// Changes every hook of the documents from this one on.
    pub(crate) fn each_hook_from(&mut self, first: usize, mut change: impl FnMut(&mut Hook)) {
        let bindings = self.documents[first..].iter_mut().flat_map(|document| &mut document.bindings);
        for hook in bindings.flat_map(|binding| &mut binding.hooks) {
            change(Arc::make_mut(hook));
        }
    }

    fn finish(mut self) -> Loaded {
        // Stable: within a layer, files stay as they were read; packs go by name.
        self.documents.sort_by(|a, b| {
            let by_name = || match a.layer {
                Layer::Pack => a.source.cmp(&b.source),
                _ => std::cmp::Ordering::Equal,
            };
            a.layer.cmp(&b.layer).then_with(by_name)
        });
        self.diagnostics.extend(ids::assign(&mut self.documents));
        self.settings.govern(&mut self.documents);
        self.diagnostics.extend(self.settings.http.hold(&mut self.documents));
        self.diagnostics.extend(disabled::apply(&self.settings.disabled, &mut self.documents));
        self.documents.iter_mut().for_each(relative::resolve);
        Loaded {
            documents: self.documents,
            diagnostics: self.diagnostics,
            sources: self.sources,
            settings: self.settings,
            plugins: self.plugins,
        }
    }
}
