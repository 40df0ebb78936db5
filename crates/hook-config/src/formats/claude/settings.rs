//! What the settings files say of hooks, by authority ("Claude Code settings, Settings precedence").

use std::collections::BTreeMap;

use hook_core::{Document, Layer};
use serde_json::{Map, Value};

/// Where a settings file stands, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    User,
    Project,
    Local,
    CommandLine,
    Managed,
}

/// The switches of all settings files.
pub(super) struct Settings {
    /// The weakest first; files of one place in the order in which they were read.
    files: Vec<(Place, Map<String, Value>)>,
    /// The first document that came by the command line.
    flag: usize,
}

/// The switches of these documents; those from `flag` on came by the command line.
pub(super) fn read(documents: &[Document], flag: usize) -> Settings {
    let place = |index: usize, layer: Layer| match layer {
        Layer::Managed => Place::Managed,
        Layer::User => Place::User,
        Layer::Local if index >= flag => Place::CommandLine,
        Layer::Local => Place::Local,
        _ => Place::Project,
    };
    let mut files: Vec<_> = documents
        .iter()
        .enumerate()
        .map(|(index, document)| (place(index, document.layer), document.switches.clone()))
        .collect();
    files.sort_by_key(|(place, _)| *place);
    Settings { files, flag }
}

impl Settings {
    /// True where a repository may have brought the document of this number.
    pub(super) fn is_of_a_repository(&self, index: usize, layer: Layer) -> bool {
        matches!(layer, Layer::Project | Layer::Local) && index < self.flag
    }

    /// Every value of a switch, the weakest first.
    fn values<'a>(&'a self, name: &'a str) -> impl DoubleEndedIterator<Item = (Place, &'a Value)> {
        self.files.iter().filter_map(move |(place, switches)| Some((*place, switches.get(name)?)))
    }

    /// The value that counts.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.values(name).next_back().and_then(|(_, value)| value.as_bool())
    }

    /// The value that counts among the managed ones.
    pub(super) fn managed<'a>(&'a self, name: &'a str) -> Option<&'a Value> {
        self.values(name).rfind(|(place, _)| *place == Place::Managed).map(|(_, value)| value)
    }

    /// The lists of all files together; `None` where nobody wrote one.
    pub(super) fn list(&self, name: &str) -> Option<Vec<String>> {
        let mut all: Option<Vec<String>> = None;
        for (_, value) in self.values(name) {
            let list = all.get_or_insert_default();
            list.extend(value.as_array().into_iter().flatten().filter_map(Value::as_str).map(String::from));
        }
        all
    }

    /// Whether a plugin is switched on or off; `None` where the settings do not name it.
    pub(super) fn plugin_enabled(&self, name: &str) -> Option<bool> {
        let mut by_key: BTreeMap<&str, bool> = BTreeMap::new();
        for (_, value) in self.values("enabledPlugins") {
            for (key, value) in value.as_object().into_iter().flatten().filter(|(key, _)| is_of(key, name)) {
                by_key.extend(value.as_bool().map(|enabled| (key.as_str(), enabled)));
            }
        }
        // The marketplace of a plugin that was named by its directory is not known: one that is on is enough.
        (!by_key.is_empty()).then(|| by_key.values().any(|enabled| *enabled))
    }

    /// True where the managed settings switch a plugin on.
    pub(super) fn plugin_is_forced(&self, name: &str) -> bool {
        let plugins = self.managed("enabledPlugins").and_then(Value::as_object);
        plugins
            .is_some_and(|all| all.iter().any(|(key, value)| is_of(key, name) && *value == Value::Bool(true)))
    }

    /// The options that the user gave a plugin. Those of a repository do not count: it could feed them into commands.
    pub(super) fn plugin_options(&self, name: &str) -> BTreeMap<String, String> {
        let trusted = |place: Place| !matches!(place, Place::Project | Place::Local);
        let mut options = BTreeMap::new();
        for (_, value) in self.values("pluginConfigs").filter(|(place, _)| trusted(*place)) {
            for (_, plugin) in value.as_object().into_iter().flatten().filter(|(key, _)| is_of(key, name)) {
                let given = plugin.get("options").and_then(Value::as_object).into_iter().flatten();
                options.extend(given.filter_map(|(key, value)| Some((key.clone(), option_text(value)?))));
            }
        }
        options
    }
}

/// `name@marketplace`, or the bare name.
fn is_of(key: &str, name: &str) -> bool {
    key.split('@').next() == Some(name)
}

/// An option as text: what is no string, as JSON.
pub(super) fn option_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
