//! What the settings of an agent give a hook beside its own members, or keep from it.

use std::collections::BTreeMap;
use std::sync::Arc;

/// What a hook's author cannot write into its file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grants {
    /// Options of its plugin by key, as text ("Plugins reference, User configuration").
    pub options: BTreeMap<String, String>,
    /// Bounds of an http hook; `None` where nobody set any.
    pub http: Option<Arc<HttpPolicy>>,
}

/// Where http hooks may be sent, and what their headers may hold ("Claude Code settings reference, allowedHttpHookUrls,
/// httpHookAllowedEnvVars"). `None` sets no bound, an empty list allows nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpPolicy {
    /// Patterns of URLs; a hook whose own URL fits none of them is off already, a redirect has to fit one, too.
    pub urls: Option<Vec<String>>,
    /// Names of variables that headers may hold; a hook's own `allowedEnvVars` has to name them as well.
    pub variables: Option<Vec<String>>,
}
