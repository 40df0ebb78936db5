//! The block `http` of the settings: where http hooks of every dialect may be sent, and which variables they may send.
//!
//! Every file's lists are bounds of their own, so that a list can only tighten what another file allows.

use std::sync::Arc;

use hook_core::diagnostic::codes;
use hook_core::{Diagnostic, Document, Handler, HttpPolicy, PrivateAddresses};
use hook_matcher::UrlPattern;

use super::Block;
use crate::json::{Kind, Member};
use crate::refusal::refuse;
use crate::report::step;

/// The bounds of all files together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpSettings {
    /// Lists of patterns of URLs (`allowedUrls`); a hook's URL has to fit one of each.
    pub urls: Vec<Vec<String>>,
    /// Lists of names of variables (`allowedEnvVars`); a template may name those that stand in each.
    pub variables: Vec<Vec<String>>,
    /// Which private addresses may be asked (`privateAddresses`); `None`: nobody said anything.
    pub private: Option<PrivateAddresses>,
}

const NAMES: &[&str] = &["allowedUrls", "allowedEnvVars", "privateAddresses"];

const PRIVATE: &[(&str, PrivateAddresses)] = &[
    ("allow", PrivateAddresses::Allow),
    ("written", PrivateAddresses::Written),
    ("loopback", PrivateAddresses::Loopback),
    ("deny", PrivateAddresses::Deny),
];

impl HttpSettings {
    pub(super) fn add(&mut self, other: HttpSettings) {
        self.urls.extend(other.urls);
        self.variables.extend(other.variables);
        self.private = self.private.max(other.private);
    }

    /// Holds the http hooks of all dialects to the bounds.
    pub(crate) fn hold(&self, documents: &mut [Document]) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        if *self == HttpSettings::default() {
            return findings;
        }
        let lists: Vec<Vec<UrlPattern>> =
            self.urls.iter().map(|list| list.iter().map(|url| UrlPattern::new(url)).collect()).collect();
        let bindings = documents.iter_mut().flat_map(|document| &mut document.bindings);
        for hook in bindings.flat_map(|binding| &mut binding.hooks) {
            let Handler::Http(http) = &hook.handler else { continue };
            let fits = |list: &Vec<UrlPattern>| list.iter().any(|pattern| pattern.matches(&http.url));
            let refused = !lists.iter().all(fits);
            let why =
                format!("the settings allow no hook to be sent to {} (`http.allowedUrls`)", http.shown_url());
            let hook = Arc::make_mut(hook);
            let mut policy = hook.grants.http.as_deref().cloned().unwrap_or_default();
            self.bound(&mut policy);
            hook.grants.http = Some(Arc::new(policy));
            if refused {
                findings.extend(refuse(hook, codes::URL_NOT_ALLOWED, "url", why));
            }
        }
        findings
    }

    fn bound(&self, policy: &mut HttpPolicy) {
        policy.urls.extend(self.urls.iter().cloned());
        policy.variables.extend(self.variables.iter().cloned());
        if let Some(private) = self.private {
            policy.private = private;
        }
    }
}

pub(super) fn read(block: &mut Block<'_, '_>, member: &Member, pointer: &str) -> HttpSettings {
    let mut settings = HttpSettings::default();
    let Kind::Object(members) = &member.value.kind else {
        block.report.wrong_type(pointer, &member.value, "an object");
        return settings;
    };
    for member in members {
        let pointer = step(pointer, &member.key);
        match super::camel(&member.key).as_str() {
            // A list that cannot be read allows nothing: a bound with a typing mistake must not become no bound.
            "allowedUrls" => settings.urls.push(block.words(member, &pointer)),
            "allowedEnvVars" => settings.variables.push(block.words(member, &pointer)),
            "privateAddresses" => settings.private = block.word(member, &pointer, PRIVATE),
            _ => block.unknown(member, &pointer, NAMES),
        }
    }
    settings
}
