//! MCP servers that people wrote down: in `.mcp.json` of the project, in the settings of native files, in plugins
//! ("Claude Code MCP reference, Project scope, Environment variable expansion in .mcp.json").
//!
//! A name belongs to the file of the highest authority that has it: a project cannot put a server of its own behind a name that
//! a user's guard calls. They are read when somebody needs them and not with the hooks, since most events call no tool.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use hook_core::diagnostic::codes;
use hook_core::{Code, Diagnostic, Hook, Layer, McpServer, McpServers, McpTransport, Source, Span};

use crate::fields::warn_unknown;
use crate::formats;
use crate::json::{self, Kind, Member, Node};
use crate::load::LoadRequest;
use crate::report::{Report, step};
use crate::settings::Settings;
use crate::text::MAX_FILE;

/// The file of a project.
const PROJECT_FILE: &str = ".mcp.json";

/// The member that holds servers by name.
const MEMBER: &str = "mcpServers";

const FIELDS: &[&str] = &["type", "command", "args", "env", "url", "headers"];

/// The servers of a host, and what was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadedServers {
    /// The servers by name, those that cannot be used among them.
    pub servers: McpServers,
    /// What was found, file by file.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that were read, for showing the places of findings.
    pub sources: Vec<Source>,
}

/// Reads the servers that the settings name, those of the project and those of the plugins of the request, in this order. A
/// missing file is fine; a broken server takes nothing with it but itself. `settings` are those that were loaded with the hooks.
pub fn load_servers(request: &LoadRequest<'_>, settings: &Settings) -> LoadedServers {
    let mut reader = Reader { request, loaded: LoadedServers::default() };
    let mut files: Vec<_> = settings.server_files.iter().collect();
    files.sort_by_key(|(layer, _)| *layer);
    for (layer, source) in files {
        // What is wrong with the file itself was found when its hooks were read.
        let Ok(tree) = json::parse(&source.text) else { continue };
        let mut report = Report::new(source);
        if let Some(block) = tree.root.get("settings").and_then(|block| block.value.get(MEMBER)) {
            reader.block(&block.value, &format!("/settings/{MEMBER}"), &Kept::by(*layer), &mut report);
        }
        reader.loaded.diagnostics.append(&mut report.diagnostics);
    }
    reader.file(&request.host.project.join(PROJECT_FILE), &Kept::by(Layer::Project));
    formats::plugin_servers(&mut reader);
    reader.loaded
}

/// True for the file that holds a project's servers.
pub(crate) fn is_server_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == PROJECT_FILE)
}

/// Findings about hooks that call a server nobody wrote down.
pub fn unknown_servers<'h>(
    hooks: impl IntoIterator<Item = &'h Hook>,
    servers: &McpServers,
) -> Vec<Diagnostic> {
    let known: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    let mut findings = Vec::new();
    for hook in hooks.into_iter().filter(|hook| hook.enabled) {
        let hook_core::Handler::Mcp(call) = &hook.handler else { continue };
        if servers.get(&call.server).is_some() {
            continue;
        }
        let message =
            format!("the hook calls the MCP server {:?}, which nobody wrote down; it fails", call.server);
        let mut finding = Diagnostic::new(codes::MCP_SERVER_UNKNOWN, message);
        finding.help = Some(match known.is_empty() {
            true => {
                format!("write the server down in {PROJECT_FILE}, or under \"{MEMBER}\" in your settings")
            }
            false => format!("the servers are {}", known.join(", ")),
        });
        finding.suggestion = crate::suggest::nearest(&call.server, known.iter().copied()).map(str::to_owned);
        finding.pointer = Some(step(&hook.origin.pointer, "server"));
        findings.push(match &hook.origin.location {
            Some(location) => finding.at(location.clone(), ""),
            None => finding,
        });
    }
    findings
}

/// What is the same for all servers of one file.
pub(crate) struct Kept {
    layer: Layer,
    /// Stands before their names.
    prefix: String,
    /// Values of placeholders beside the environment's; started servers get them as variables, too.
    given: BTreeMap<String, String>,
}

impl Kept {
    fn by(layer: Layer) -> Kept {
        Kept { layer, prefix: String::new(), given: BTreeMap::new() }
    }

    /// Servers of a plugin.
    pub(crate) fn of_plugin(prefix: String, given: BTreeMap<String, String>) -> Kept {
        Kept { layer: Layer::Pack, prefix, given }
    }
}

/// Collects servers.
pub(crate) struct Reader<'a> {
    pub(crate) request: &'a LoadRequest<'a>,
    loaded: LoadedServers,
}

impl Reader<'_> {
    /// A file of servers; it may be missing.
    pub(crate) fn file(&mut self, path: &Path, kept: &Kept) {
        let Some(source) = self.open(path) else { return };
        let mut report = Report::new(&source);
        if let Some(root) = parse(&source, &mut report) {
            match root.get(MEMBER) {
                Some(member) => self.block(&member.value, &format!("/{MEMBER}"), kept, &mut report),
                // Plugins write their servers at the top level, too.
                None => self.block(&root, "", kept, &mut report),
            }
        }
        // The file of a project that is a plugin itself is read twice, under two names.
        if self.loaded.sources.iter().all(|known| *known.path != *path) {
            self.loaded.diagnostics.append(&mut report.diagnostics);
            self.loaded.sources.push(source);
        }
    }

    /// Servers or paths of files of servers in another file: the member of a plugin's manifest.
    pub(crate) fn manifest(&mut self, path: &Path, root: &Path, kept: &Kept) {
        let Some(source) = self.open(path) else { return };
        let mut report = Report::new(&source);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        let tree = json::parse(&source.text).ok();
        if let Some(member) = tree.as_ref().and_then(|tree| tree.root.get(MEMBER)) {
            match &member.value.kind {
                Kind::String(named) if !Path::new(named).components().all(plain) => {
                    let message = format!("{named:?} leads out of the plugin; it is not read");
                    let pointer = format!("/{MEMBER}");
                    let finding = report.at(codes::UNREADABLE_FILE, &pointer, member.value.span, message);
                    report.push(finding.help("write a path inside of the plugin that begins with `./`"));
                }
                Kind::String(named) => self.file(&root.join(named), kept),
                _ => self.block(&member.value, &format!("/{MEMBER}"), kept, &mut report),
            }
        }
        self.loaded.diagnostics.append(&mut report.diagnostics);
        self.loaded.sources.push(source);
    }

    fn open(&mut self, path: &Path) -> Option<Source> {
        use std::io::ErrorKind::{NotADirectory, NotFound};
        let finding = match self.request.files.read(path, MAX_FILE) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => return Some(Source::new(path, text)),
                Err(error) => {
                    let at = error.utf8_error().valid_up_to();
                    let message = format!("byte {at} is not UTF-8; {NOTHING}");
                    Diagnostic::new(codes::NOT_UTF8, message).help("save the file as UTF-8")
                }
            },
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return None,
            Err(error) => {
                Diagnostic::new(codes::UNREADABLE_FILE, format!("cannot be read: {error}; {NOTHING}"))
            }
        };
        self.loaded.diagnostics.push(finding.in_file(path));
        None
    }

    fn block(&mut self, node: &Node, pointer: &str, kept: &Kept, report: &mut Report<'_>) {
        let Kind::Object(members) = &node.kind else {
            report.wrong_type(pointer, node, "an object of servers by name");
            return;
        };
        for member in members {
            self.server(member, &step(pointer, &member.key), kept, report);
        }
    }

    fn server(&mut self, member: &Member, pointer: &str, kept: &Kept, report: &mut Report<'_>) {
        let name = format!("{}{}", kept.prefix, member.key);
        let host = self.request.host;
        let variable =
            |name: &str| kept.given.get(name).cloned().or_else(|| host.variable(name).map(str::to_owned));
        let mut entry = Entry { node: &member.value, pointer, variable: &variable, broken: None, report };
        let transport = entry.transport(member);
        let broken = entry.broken.take();
        let added = match (transport, broken) {
            (Some(mut transport), None) => {
                if let McpTransport::Stdio { environment, .. } = &mut transport {
                    environment.splice(0..0, kept.given.clone());
                }
                self.loaded.servers.add(McpServer {
                    name: name.clone(),
                    transport,
                    layer: kept.layer,
                    location: Some(report.locate(member.key_span)),
                    directory: host.project.clone(),
                })
            }
            (_, broken) => {
                let why = broken.unwrap_or_else(|| "it cannot be read".to_owned());
                let place = report.locate(member.key_span);
                self.loaded.servers.add_broken(name.clone(), format!("{why}, at {place}"))
            }
        };
        if !added {
            let message =
                format!("a file of more authority has an MCP server {name:?} already; this one is left out");
            let finding = report.at(codes::MCP_SERVER_SHADOWED, pointer, member.key_span, message);
            report.push(finding.help("give it another name"));
        }
    }
}

const NOTHING: &str = "none of its MCP servers can be used";

fn parse(source: &Source, report: &mut Report<'_>) -> Option<Node> {
    // The parser never sees the mark; blanks in its place keep every offset true.
    let text = match source.text.strip_prefix('\u{feff}') {
        Some(rest) => format!("   {rest}"),
        None => source.text.to_string(),
    };
    match json::parse(&text) {
        Ok(tree) => Some(tree.root),
        Err(error) => {
            let code = if error.too_deep { codes::TOO_DEEP } else { codes::INVALID_JSON };
            let mut finding = report.at(code, "", error.span, format!("{}; {NOTHING}", error.message));
            finding.help = error.help.map(str::to_owned);
            report.push(finding);
            None
        }
    }
}

/// One server as it is written.
struct Entry<'e, 'r, 's> {
    node: &'e Node,
    pointer: &'e str,
    variable: &'e dyn Fn(&str) -> Option<String>,
    /// The first reason why it cannot be used.
    broken: Option<String>,
    report: &'r mut Report<'s>,
}

impl Entry<'_, '_, '_> {
    fn transport(&mut self, member: &Member) -> Option<McpTransport> {
        let node = self.node;
        if !matches!(node.kind, Kind::Object(_)) {
            self.unusable(
                member.value.span,
                self.pointer.to_owned(),
                &format!("it is {}, not an object", node.what()),
            );
            return None;
        }
        for member in node.members() {
            if !FIELDS.contains(&member.key.as_str()) {
                warn_unknown(self.report, self.pointer, member, FIELDS);
            }
        }
        let kind = node.get("type").map(|member| &member.value);
        match (kind.map(|kind| (kind, kind.as_str())), node.get("url"), node.get("command")) {
            (Some((_, Some("stdio"))), ..) | (None, None, _) => self.stdio(member),
            (Some((_, Some("http" | "streamable-http" | "streamableHttp"))), ..) | (None, Some(_), _) => {
                self.http(member)
            }
            (Some((kind, _)), ..) => {
                let written =
                    kind.as_str().map_or_else(|| kind.what().to_owned(), |word| format!("{word:?}"));
                let why = format!("its type is {written}; \"stdio\" and \"http\" are spoken here");
                self.unusable(kind.span, step(self.pointer, "type"), &why);
                None
            }
        }
    }

    fn stdio(&mut self, member: &Member) -> Option<McpTransport> {
        let command = self.required("command", member)?;
        let args = self.list("args");
        let environment = self.table("env");
        Some(McpTransport::Stdio { command, args, environment })
    }

    fn http(&mut self, member: &Member) -> Option<McpTransport> {
        let url = self.required("url", member)?;
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let span = self.node.get("url").map_or(member.key_span, |member| member.value.span);
            self.unusable(
                span,
                step(self.pointer, "url"),
                "its URL begins with neither http:// nor https://",
            );
        }
        let headers = self.table("headers");
        Some(McpTransport::Http { url, headers })
    }

    fn required(&mut self, name: &str, member: &Member) -> Option<String> {
        match self.node.get(name) {
            None => {
                self.unusable(member.key_span, self.pointer.to_owned(), &format!("it has no {name:?}"));
                None
            }
            Some(found) => {
                let text = self.text(&found.value, &step(self.pointer, name))?;
                if text.trim().is_empty() {
                    self.unusable(
                        found.value.span,
                        step(self.pointer, name),
                        &format!("its {name:?} is empty"),
                    );
                }
                Some(text)
            }
        }
    }

    fn list(&mut self, name: &str) -> Vec<String> {
        let Some(member) = self.node.get(name) else { return Vec::new() };
        let pointer = step(self.pointer, name);
        match &member.value.kind {
            Kind::Array(items) => items
                .iter()
                .enumerate()
                .filter_map(|(at, item)| self.text(item, &step(&pointer, at)))
                .collect(),
            _ => {
                let why = format!("its {name:?} is {}, not a list of strings", member.value.what());
                self.unusable(member.value.span, pointer, &why);
                Vec::new()
            }
        }
    }

    fn table(&mut self, name: &str) -> Vec<(String, String)> {
        let Some(member) = self.node.get(name) else { return Vec::new() };
        let pointer = step(self.pointer, name);
        match &member.value.kind {
            Kind::Object(members) => {
                let texts = members.iter().filter_map(|member| {
                    let text = self.text(&member.value, &step(&pointer, &member.key))?;
                    Some((member.key.clone(), text))
                });
                texts.collect()
            }
            _ => {
                let why = format!("its {name:?} is {}, not an object of strings", member.value.what());
                self.unusable(member.value.span, pointer, &why);
                Vec::new()
            }
        }
    }

    /// A string with its variables filled in.
    fn text(&mut self, node: &Node, pointer: &str) -> Option<String> {
        let Some(text) = node.as_str() else {
            self.unusable(node.span, pointer.to_owned(), &format!("a text of it is {}", node.what()));
            return None;
        };
        match expand(text, self.variable) {
            Ok(text) => Some(text),
            Err(name) => {
                let why = format!("the variable {name} is not set");
                let help = format!("set it, or write ${{{name}:-a value to use instead}}");
                self.finding(codes::MCP_VARIABLE_UNSET, node.span, pointer.to_owned(), &why, Some(help));
                None
            }
        }
    }

    fn unusable(&mut self, span: Span, pointer: String, why: &str) {
        self.finding(codes::MCP_SERVER_UNUSABLE, span, pointer, why, None);
    }

    fn finding(&mut self, code: Code, span: Span, pointer: String, why: &str, help: Option<String>) {
        let mut finding =
            self.report.at(code, &pointer, span, format!("the MCP server cannot be used: {why}"));
        finding.help = help;
        self.report.push(finding);
        self.broken.get_or_insert_with(|| why.to_owned());
    }
}

/// `${NAME}` and `${NAME:-default}`; what is put in is not looked at again, and everything else stays. The name that has no value
/// is the error.
fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let named = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inside.len());
        let (name, after) = inside.split_at(named);
        let found = match (after.strip_prefix('}'), after.strip_prefix(":-")) {
            (Some(next), _) => Some((None, next)),
            (None, Some(default)) => default.split_once('}').map(|(default, next)| (Some(default), next)),
            (None, None) => None,
        };
        let Some((default, next)) =
            found.filter(|_| !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()))
        else {
            out.push_str("${");
            rest = inside;
            continue;
        };
        match variable(name).or_else(|| default.map(str::to_owned)) {
            Some(value) => out.push_str(&value),
            None => return Err(name.to_owned()),
        }
        rest = next;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn variables_are_filled_in_once_and_the_rest_stays() {
        let variable = |name: &str| match name {
            "HOME" => Some("/home/me".to_owned()),
            "EMPTY" => Some(String::new()),
            "LOOP" => Some("${HOME}".to_owned()),
            _ => None,
        };
        for (text, expected) in [
            ("${HOME}/bin", Ok("/home/me/bin")),
            ("${NONE:-x y}z", Ok("x yz")),
            ("${NONE:-}", Ok("")),
            ("${EMPTY:-x}", Ok("")),
            ("${LOOP}", Ok("${HOME}")),
            ("$HOME ${ HOME} ${1} ${HOME ${a.b} ${", Ok("$HOME ${ HOME} ${1} ${HOME ${a.b} ${")),
            ("${HOME}${NONE}", Err("NONE")),
        ] {
            let found = expand(text, &variable);
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
        }
    }
}
