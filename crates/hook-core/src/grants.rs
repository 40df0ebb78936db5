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

/// Where http hooks may be sent, and which variables they may send ("Claude Code settings reference, allowedHttpHookUrls,
/// httpHookAllowedEnvVars"). Every list is a bound of its own; no list sets no bound, an empty one allows nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpPolicy {
    /// Lists of patterns of URLs: the URL of a hook, and the target of each redirect, has to fit one of every list.
    pub urls: Vec<Vec<String>>,
    /// Lists of names of variables: a template may name those that stand in every list and in the hook's own
    /// `allowedEnvVars`.
    pub variables: Vec<Vec<String>>,
    /// Which private addresses hooks may be sent to.
    pub private: PrivateAddresses,
}

impl HttpPolicy {
    /// True where no bound was set.
    pub fn is_open(&self) -> bool {
        *self == HttpPolicy::default()
    }

    /// True where every list names this variable.
    pub fn allows_variable(&self, name: &str) -> bool {
        self.variables.iter().all(|list| list.iter().any(|allowed| allowed == name))
    }
}

/// Which addresses of private networks, of the machine itself and of its cloud http hooks may be sent to. In the order from
/// the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum PrivateAddresses {
    /// All of them.
    Allow,
    /// Those that a hook's own URL names or stands for. A server on the internet cannot redirect to one.
    #[default]
    Written,
    /// The machine's own (127.0.0.0/8, ::1), where a hook's own URL names or stands for one.
    Loopback,
    /// None.
    Deny,
}
