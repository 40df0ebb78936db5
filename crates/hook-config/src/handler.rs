//! One handler of a group.

use std::sync::Arc;
use std::time::Duration;

use hook_core::diagnostic::codes;
use hook_core::{
    CommandHandler, ConditionSpec, EventKind, FailureKind, Grants, Handler, HandlerKind, Hook, HookId, Layer,
    Limits, McpHandler, OnFailure, Origin, PromptHandler, Shell,
};
use hook_matcher::Rule;
use serde_json::Map;

use crate::fields::Fields;
use crate::formats::{Rewakes, Untyped};
use crate::http;
use crate::json::{Kind, Member, Node};
use crate::report::{Report, step};
use crate::rules;
use crate::shape::{Place, Reader, kind_of};

/// Why a hook never runs; the first reason is kept.
#[derive(Default)]
pub(crate) struct Defect(Option<String>);

impl Defect {
    pub(crate) fn add(&mut self, why: impl Into<String>) {
        self.0.get_or_insert_with(|| why.into());
    }
}

impl Reader<'_, '_> {
    /// Reads a handler. One that cannot run is kept disabled, so that it can be listed; `None` for what is no object.
    pub(crate) fn handler(&mut self, node: &Node, place: &Place<'_>, pointer: &str) -> Option<Hook> {
        self.written += 1;
        if !matches!(node.kind, Kind::Object(_)) {
            let message = format!("a handler is {}, not an object; it is left out", node.what());
            let finding = self.report.at(codes::ENTRY_NOT_AN_OBJECT, pointer, node.span, message);
            self.report.push(finding.help("write an object with a \"type\""));
            return None;
        }
        let mut defect = Defect::default();
        let kind = self.kind(node, pointer, &mut defect);
        let profile = self.dialect.profile();
        let (rules, layer) = (self.rules, self.spec.layer);
        let mut fields = Fields::new(node, pointer, (rules.fields)(kind), &mut self.report);
        let word = fields.take("type").and_then(Node::as_str).unwrap_or_default();
        let handler = match kind {
            HandlerKind::Command => command(&mut fields, rules.ways.shell, &mut defect),
            HandlerKind::Http => Handler::Http(http::read(&mut fields, profile.http.headers, &mut defect)),
            HandlerKind::Mcp => Handler::Mcp(mcp(&mut fields, &mut defect)),
            HandlerKind::Prompt => Handler::Prompt(prompt(&mut fields, &mut defect)),
            HandlerKind::Agent => Handler::Agent(prompt(&mut fields, &mut defect)),
            HandlerKind::Deny => Handler::Deny { reason: needed(&mut fields, "reason", &mut defect) },
            _ => Handler::Unknown { kind: word.to_owned() },
        };
        let id = fields.string("id").filter(|id| !id.trim().is_empty());
        let enabled = fields.flag("enabled").unwrap_or(true);
        // An empty rule is none.
        let condition = fields.condition().filter(|text| !text.trim().is_empty());
        let timeout = if rules.ways.whole_timeouts {
            whole_timeout(&mut fields, profile.max_timeout, &mut defect)
        } else {
            let own = fields.timeout("timeout", 1.0, profile.max_timeout);
            own.or(fields.timeout("timeoutMs", 0.001, profile.max_timeout))
        };
        let once = fields.flag("once").unwrap_or(false);
        let background = fields.flag("async").unwrap_or(false);
        let mut on_failure = fields.on_failure(rules.failure_tables);
        if fail_open(&mut fields) && kind != HandlerKind::Deny {
            on_failure.default = Some(OnFailure::Continue);
        }
        let priority = fields.integer("priority").unwrap_or(0);
        let status_message = fields.string("statusMessage");
        // A rewake of the model is a background run; what it wakes with stays for the one who wakes.
        let wakes = node.get("asyncRewake").is_some_and(|member| member.value.as_bool() == Some(true));
        let background = background || (wakes && fields.known.contains(&"asyncRewake"));
        // A flag is the other thing of this name: a background run that wakes the model.
        let is_block = |member: &&Member| {
            rules.ways.rewakes != Rewakes::None
                && (member.value.as_bool().is_none() || !fields.known.contains(&"async"))
        };
        let block = node.get("asyncRewake").filter(is_block);
        let block = block.filter(|_| fields.take("asyncRewake").is_some());
        let extra = fields.rest();
        let rewake = block.and_then(|member| self.rewake(member, place, pointer));

        let once = self.once(once, node, pointer);
        self.supported(kind, node, place, pointer, &mut defect);
        if let Handler::Command(command) = &handler {
            self.user_config(command, layer, node, pointer, &mut defect);
        }
        if condition.is_some() {
            self.condition(node, place, pointer, &mut defect);
        }
        let condition = condition.map(|text| ConditionSpec {
            text,
            location: node.get("if").map(|member| self.report.locate(member.value.span)),
        });
        let defect = defect.0;
        // A broken handler never runs. Where its author wants a failure to block it stays in force, so that it fails and blocks.
        let blocks = defect.is_some()
            && enabled
            && on_failure.for_kind(FailureKind::Spawn, OnFailure::Continue) == OnFailure::Block;
        let handler = match &defect {
            Some(why) if blocks => Handler::Unknown { kind: why.clone() },
            _ => handler,
        };
        self.sound += usize::from(defect.is_none());
        let disabled_because = defect.or_else(|| (!enabled).then(|| self.switched_off(node)));
        let explicit = id.map_or_else(|| Arc::from(""), |id| Arc::from(id.trim()));
        Some(Hook {
            id: HookId(explicit),
            dialect: profile.id,
            event: EventKind::Other(Arc::from("")),
            event_name: place.heard.name.clone(),
            matcher: place.matcher.clone(),
            handler,
            limits: Limits { timeout, ceiling: None },
            once,
            background,
            enabled: disabled_because.is_none() || blocks,
            disabled_because,
            condition,
            scope: self.spec.scope.clone(),
            on_failure,
            strict: false,
            rewake,
            may_block: true,
            priority,
            status_message,
            grants: Grants::default(),
            origin: Origin {
                layer,
                file: Some(self.file.clone()),
                root: self.root.clone(),
                source: self.spec.source.clone(),
                entry: place.entry,
                handler: place.handler,
                location: Some(self.report.locate(node.span)),
                pointer: pointer.to_owned(),
            },
            extra,
        })
    }

    fn switched_off(&self, node: &Node) -> String {
        let span = node.get("enabled").map_or(node.span, |member| member.key_span);
        format!("`enabled` is false at {}", self.report.locate(span))
    }

    fn kind(&mut self, node: &Node, pointer: &str, defect: &mut Defect) -> HandlerKind {
        let has = |key: &str| node.get(key).is_some();
        let Some(member) = node.get("type") else {
            return match self.rules.untyped {
                Untyped::Command => HandlerKind::Command,
                Untyped::Infer if has("url") => HandlerKind::Http,
                Untyped::Infer if has("prompt") => HandlerKind::Prompt,
                Untyped::Infer if has("reason") && !has("command") => HandlerKind::Deny,
                Untyped::Infer if has("server") || has("tool") => HandlerKind::Mcp,
                Untyped::Infer => HandlerKind::Command,
                Untyped::Refuse => {
                    let finding = self.report.at(
                        codes::MISSING_FIELD,
                        pointer,
                        node.span,
                        "the handler has no \"type\"; it never runs",
                    );
                    self.report.push(finding.help("write `\"type\": \"command\"`"));
                    defect.add("the handler has no \"type\"");
                    if has("command") { HandlerKind::Command } else { HandlerKind::Unknown }
                }
            };
        };
        let word = member.value.as_str();
        if let Some(kind) = word.and_then(|word| kind_of(self.rules, word)) {
            return kind;
        }
        let names = self.rules.types.iter().map(|(name, _)| *name);
        let written = word.map_or_else(|| member.value.what().to_owned(), |word| format!("{word:?}"));
        let message =
            format!("{written} is no handler type of {}; it never runs", self.dialect.profile().title);
        let mut finding =
            self.report.at(codes::UNKNOWN_HANDLER_TYPE, &step(pointer, "type"), member.value.span, message);
        finding.help = Some(format!("the types are {}", names.clone().collect::<Vec<_>>().join(", ")));
        finding.suggestion = word.and_then(|word| self.report.nearest(word, names)).map(str::to_owned);
        self.report.push(finding);
        defect.add(format!("{written} is no handler type"));
        HandlerKind::Unknown
    }

    fn once(&mut self, once: bool, node: &Node, pointer: &str) -> bool {
        if !once || self.rules.once_everywhere || self.spec.layer == Layer::Skill {
            return once;
        }
        let span = node.get("once").map_or(node.span, |member| member.key_span);
        let message = "\"once\" counts in skills only; this hook runs every time";
        self.report.push(self.report.at(codes::ONCE_IGNORED, &step(pointer, "once"), span, message));
        false
    }

    fn supported(
        &mut self,
        kind: HandlerKind,
        node: &Node,
        place: &Place<'_>,
        pointer: &str,
        defect: &mut Defect,
    ) {
        let Some(row) = place.heard.row else { return };
        if kind == HandlerKind::Unknown || row.handlers.contains(&kind) {
            return;
        }
        let member = node.get("type");
        let span = member.map_or(node.span, |member| member.value.span);
        let word = member.and_then(|member| member.value.as_str()).unwrap_or(kind.name());
        let why = format!("{} takes no handler of type {word:?}", row.name);
        let finding = self.report.costly(
            codes::HANDLER_TYPE_NOT_SUPPORTED,
            &step(pointer, "type"),
            span,
            format!("{why}; it never runs"),
        );
        let names: Vec<_> = row.handlers.iter().map(|kind| kind.name()).collect();
        self.report.push(finding.help(format!("the event takes {}", names.join(", "))));
        defect.add(why);
    }

    fn user_config(
        &mut self,
        command: &CommandHandler,
        layer: Layer,
        node: &Node,
        pointer: &str,
        defect: &mut Defect,
    ) {
        let Some(advice) = self.rules.no_user_config_in_shell else { return };
        // A skill that comes with a plugin bears its name before its own.
        let with_plugin = self.spec.source.as_deref().is_some_and(|source| source.contains(':'));
        let of_plugin = layer == Layer::Pack || (layer == Layer::Skill && with_plugin);
        if !of_plugin || command.args.is_some() || !command.command.contains("${user_config.") {
            return;
        }
        let span = node.get("command").map_or(node.span, |member| member.value.span);
        let message = "a shell line may not hold `${user_config.…}`; the handler never runs";
        let finding =
            self.report.at(codes::USER_CONFIG_IN_SHELL_FORM, &step(pointer, "command"), span, message);
        self.report.push(finding.help(advice));
        defect.add("a shell line may not hold `${user_config.…}`");
    }

    fn condition(&mut self, node: &Node, place: &Place<'_>, pointer: &str, defect: &mut Defect) {
        let Some(member) = node.get("if") else { return };
        let pointer = step(pointer, "if");
        rules::check(member, self.dialect, &pointer, &mut self.report);
        let asked = |kind| Rule::EVENTS.contains(kind);
        if place.heard.row.is_none() || place.heard.kinds.iter().any(asked) {
            return;
        }
        let why = format!("its \"if\" never holds: no rule is asked on {}", place.heard.name);
        let finding = self.report.at(codes::CONDITION_WITHOUT_TOOL, &pointer, member.key_span, &why);
        self.report.push(finding.help("remove the rule, or move the hook to an event of one tool"));
        defect.add(why);
    }
}

pub(crate) fn needed(fields: &mut Fields<'_, '_, '_>, name: &'static str, defect: &mut Defect) -> String {
    fields.required(name).unwrap_or_else(|why| {
        defect.add(why);
        String::new()
    })
}

fn mcp(fields: &mut Fields<'_, '_, '_>, defect: &mut Defect) -> McpHandler {
    let server = needed(fields, "server", defect);
    let tool = needed(fields, "tool", defect);
    let input = ["input", "args"].into_iter().find_map(|name| fields.object(name));
    let input = input.unwrap_or_else(|| Ok(Map::new())).unwrap_or_else(|why| {
        defect.add(why);
        Map::new()
    });
    McpHandler { server, tool, input, allowed_env_vars: fields.words("allowedEnvVars") }
}

fn prompt(fields: &mut Fields<'_, '_, '_>, defect: &mut Defect) -> PromptHandler {
    PromptHandler {
        prompt: needed(fields, "prompt", defect),
        model: fields.string("model").filter(|model| !model.trim().is_empty()),
        continue_on_block: fields.flag("continueOnBlock").unwrap_or(false),
    }
}

/// `timeoutMs`, else `timeout`; both have to be right.
fn whole_timeout(
    fields: &mut Fields<'_, '_, '_>,
    most: Option<Duration>,
    defect: &mut Defect,
) -> Option<Duration> {
    let seconds = fields.whole_timeout("timeout", 1000, most);
    let millis = fields.whole_timeout("timeoutMs", 1, most);
    for why in [&seconds, &millis].into_iter().filter_map(|read| read.as_ref().err()) {
        defect.add(why.clone());
    }
    millis.ok().flatten().or(seconds.ok().flatten())
}

/// `failOpen`: true, or nothing.
fn fail_open(fields: &mut Fields<'_, '_, '_>) -> bool {
    fields.flag("failOpen").unwrap_or(false)
}

fn command(fields: &mut Fields<'_, '_, '_>, usual: Shell, defect: &mut Defect) -> Handler {
    let command = needed(fields, "command", defect);
    let args = fields.arguments().map(|arguments| {
        arguments.unwrap_or_else(|why| {
            defect.add(why);
            Vec::new()
        })
    });
    if args.is_some() {
        whitespace(fields.node, &command, fields.pointer, fields.report);
    }
    let shell = match fields.string("shell").as_deref() {
        None => usual,
        Some("bash" | "sh") => Shell::Sh,
        Some("powershell" | "pwsh") => Shell::PowerShell,
        Some(_) => {
            if let Some(member) = fields.node.get("shell") {
                let pointer = step(fields.pointer, "shell");
                fields.report.wrong_type(&pointer, &member.value, "\"bash\" or \"powershell\"");
            }
            Shell::Sh
        }
    };
    Handler::Command(CommandHandler { command, args, shell })
}

/// A bare program name with blanks beside `args` is a command line that was meant for a shell.
fn whitespace(node: &Node, command: &str, pointer: &str, report: &mut Report<'_>) {
    let bare = !command.contains(['/', '\\', '$']);
    if !bare || !command.trim().contains(char::is_whitespace) {
        return;
    }
    let span = node.get("command").map_or(node.span, |member| member.value.span);
    let message = format!("beside \"args\" the whole of {command:?} is the program's name, blanks included");
    let finding = report.at(codes::EXEC_COMMAND_HAS_WHITESPACE, &step(pointer, "command"), span, message);
    report.push(finding.help("move the words after the first into \"args\", or remove \"args\""));
}
