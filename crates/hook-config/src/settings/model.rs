//! The block `model` of the settings: who is asked by prompt hooks.
//!
//! Only managed and user files may name one: what stands in an event goes to it, and somebody pays for it.

use std::net::IpAddr;

use hook_core::diagnostic::codes;
use hook_core::{HttpHandler, ModelProvider, ModelSettings};

use super::Block;
use crate::http::check_url;
use crate::json::{Kind, Member, Node};
use crate::report::step;

const NAMES: &[&str] = &["provider", "model", "baseUrl", "apiKeyEnv", "maxTokens"];

const PROVIDERS: &[(&str, ModelProvider)] =
    &[("anthropic", ModelProvider::Anthropic), ("openai-compatible", ModelProvider::OpenAiCompatible)];

/// The service's own address ("Anthropic API reference"). A server that is compatible with another one may be anywhere.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// Who is asked by prompt hooks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ModelChoice {
    /// No file says it.
    #[default]
    Unsaid,
    /// The file of most authority says it in a way that cannot be used. Nobody is asked: whoever stands behind it in a file of
    /// less authority was not meant.
    Unusable,
    /// This one.
    Named(ModelSettings),
}

impl ModelChoice {
    /// The model, where there is one to ask.
    pub fn named(&self) -> Option<&ModelSettings> {
        match self {
            ModelChoice::Named(settings) => Some(settings),
            _ => None,
        }
    }
}

/// Reads the block of a file that may have one.
pub(super) fn read(block: &mut Block<'_, '_>, member: &Member, pointer: &str) -> ModelChoice {
    if !block.may(false, member, pointer) {
        return ModelChoice::Unsaid;
    }
    whole(block, member, pointer).map_or(ModelChoice::Unusable, ModelChoice::Named)
}

/// A block, which is whole or counts for nothing: half of it would ask somebody that its author did not mean.
fn whole(block: &mut Block<'_, '_>, member: &Member, pointer: &str) -> Option<ModelSettings> {
    let Kind::Object(members) = &member.value.kind else {
        block.report.wrong_type(pointer, &member.value, "an object");
        return None;
    };
    let mut reader = Reader { block, whole: true };
    let (mut provider, mut model, mut base, mut key, mut max_tokens) = (None, None, None, None, None);
    let mut clear = None;
    for member in members {
        let (pointer, value) = (step(pointer, &member.key), &member.value);
        match super::camel(&member.key).as_str() {
            "provider" => provider = reader.provider(value, &pointer),
            "model" => model = reader.model(value, &pointer),
            "baseUrl" => {
                base = reader.base(value, &pointer);
                clear = base.as_deref().filter(|url| goes_in_the_clear(url)).map(|_| (pointer, value.span));
            }
            "apiKeyEnv" => key = reader.variable(value, &pointer),
            "maxTokens" => max_tokens = reader.tokens(value, &pointer),
            _ => reader.block.unknown(member, &pointer, NAMES),
        }
    }
    let named = |name: &str| members.iter().any(|member| super::camel(&member.key) == name);
    let service = provider == Some(ModelProvider::Anthropic);
    let needed = [
        ("provider", true, "say \"anthropic\" or \"openai-compatible\""),
        ("model", true, "name the model for hooks that name none"),
        (
            "baseUrl",
            provider == Some(ModelProvider::OpenAiCompatible),
            "write the address before `/chat/completions`, for instance `http://localhost:11434/v1`",
        ),
        ("apiKeyEnv", service && base.is_none(), "name the variable that holds the key"),
    ];
    for (name, needed, help) in needed {
        if needed && !named(name) {
            let why = format!("the model lacks {name:?}");
            reader.unusable(pointer, member.key_span, why, help);
        }
    }
    if !reader.whole {
        return None;
    }
    if let (Some((pointer, span)), true) = (clear, key.is_some()) {
        let why = "the key of the model goes over the network in the clear";
        let finding = block.report.at(codes::MODEL_KEY_IN_THE_CLEAR, &pointer, span, why);
        let help = "use https, or reach the server through this machine (127.0.0.1)";
        block.report.push(finding.help(help));
    }
    let base_url = base.unwrap_or_else(|| ANTHROPIC.to_owned());
    Some(ModelSettings { provider: provider?, model: model?, base_url, key_variable: key, max_tokens })
}

/// Plain http that leaves this machine.
fn goes_in_the_clear(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.split(':').next().unwrap_or_default(),
    };
    let stays = host.parse::<IpAddr>().map_or_else(
        |_| host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost"),
        |address| address.to_canonical().is_loopback(),
    );
    scheme.eq_ignore_ascii_case("http") && !stays
}

struct Reader<'b, 'r, 's> {
    block: &'b mut Block<'r, 's>,
    whole: bool,
}

impl Reader<'_, '_, '_> {
    fn unusable(&mut self, pointer: &str, span: hook_core::Span, why: String, help: &str) {
        let finding = self.block.report.at(codes::MODEL_UNUSABLE, pointer, span, why);
        self.block.report.push(finding.help(help));
        self.whole = false;
    }

    fn provider(&mut self, value: &Node, pointer: &str) -> Option<ModelProvider> {
        let found = PROVIDERS.iter().find(|(name, _)| value.as_str() == Some(name));
        if found.is_none() {
            let why = "the \"provider\" of the model is none that is known".to_owned();
            self.unusable(pointer, value.span, why, "say \"anthropic\" or \"openai-compatible\"");
        }
        found.map(|(_, provider)| *provider)
    }

    fn model(&mut self, value: &Node, pointer: &str) -> Option<String> {
        let name = value.as_str().map(str::trim).filter(|name| !name.is_empty());
        if name.is_none() {
            let why = "the name of the \"model\" is no text".to_owned();
            self.unusable(pointer, value.span, why, "write it as its provider does");
        }
        name.map(str::to_owned)
    }

    fn base(&mut self, value: &Node, pointer: &str) -> Option<String> {
        let judged = match value.as_str() {
            None => Err(("is no text", "write a whole address, `https://host/path`")),
            Some(url) => check_url(url).and_then(|()| match HttpHandler::new(url).shown_url() == url {
                _ if url.contains(['?', '#']) => Err(("has a query", "end it before the `?` or `#`")),
                true => Ok(url),
                false => {
                    Err(("holds a user name or a password", "put the key into a variable (\"apiKeyEnv\")"))
                }
            }),
        };
        match judged {
            Ok(url) => Some(url.to_owned()),
            Err((why, help)) => {
                self.unusable(pointer, value.span, format!("the \"baseUrl\" of the model {why}"), help);
                None
            }
        }
    }

    fn variable(&mut self, value: &Node, pointer: &str) -> Option<String> {
        let good = |name: &&str| {
            let mut letters = name.chars();
            letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
                && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let name = value.as_str().filter(good);
        if name.is_none() {
            let why = "\"apiKeyEnv\" holds no name of a variable".to_owned();
            let help = "write the name of the variable that holds the key, never the key itself";
            self.unusable(pointer, value.span, why, help);
        }
        name.map(str::to_owned)
    }

    fn tokens(&mut self, value: &Node, pointer: &str) -> Option<u32> {
        let tokens = match value.kind {
            Kind::Number(number)
                if number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number) =>
            {
                Some(number as u32)
            }
            _ => None,
        };
        if tokens.is_none() {
            let why = "the \"maxTokens\" of the model are no whole number above 0".to_owned();
            self.unusable(pointer, value.span, why, "leave it out, or write one, for instance 1024");
        }
        tokens
    }
}
