//! What is known of a file before it is read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hook_core::{DialectId, Layer, Scope};

/// A hook file to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentSpec {
    /// The file.
    pub path: PathBuf,
    /// The dialect it is written in. A native file may name another one in its member `dialect`.
    pub dialect: DialectId,
    /// Its layer.
    pub layer: Layer,
    /// The directory that relative things of it mean.
    pub root: Option<PathBuf>,
    /// The name of the plugin, pack or skill.
    pub source: Option<Arc<str>>,
    /// When its hooks are in force.
    pub scope: Scope,
}

impl DocumentSpec {
    /// A file whose relative things mean its own directory.
    pub fn new(path: impl Into<PathBuf>, dialect: DialectId, layer: Layer) -> DocumentSpec {
        let path = path.into();
        let root = path.parent().map(Path::to_owned);
        DocumentSpec { path, dialect, layer, root, source: None, scope: Scope::Always }
    }

    /// The same with the root and the name of a plugin, pack or skill.
    #[must_use]
    pub fn of_source(mut self, root: impl Into<PathBuf>, source: impl AsRef<str>) -> DocumentSpec {
        self.root = Some(root.into());
        self.source = Some(Arc::from(source.as_ref()));
        self
    }

    /// The same with hooks that are in force at certain times only.
    #[must_use]
    pub fn in_force(mut self, scope: Scope) -> DocumentSpec {
        self.scope = scope;
        self
    }
}
