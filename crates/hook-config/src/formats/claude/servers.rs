//! MCP servers of plugins ("Plugins reference, MCP servers"): `.mcp.json` beside the manifest, and the manifest's own member.

use std::collections::BTreeMap;
use std::path::Path;

use super::{MANIFEST, plugins};
use crate::json;
use crate::servers::{Kept, Reader};

/// The servers of the plugins of a request. A hook calls them `plugin:<plugin>:<server>` ("MCP tool hook fields").
pub(in crate::formats) fn of_plugins(reader: &mut Reader<'_>) {
    for root in plugins::roots(reader.request) {
        let name = name(reader, &root);
        let given = BTreeMap::from([("CLAUDE_PLUGIN_ROOT".to_owned(), root.to_string_lossy().into_owned())]);
        let kept = Kept::of_plugin(format!("plugin:{name}:"), given);
        // A project that is a plugin itself has its own file there, whose servers go by their bare names as well.
        reader.file(&root.join(".mcp.json"), &kept);
        reader.manifest(&root.join(MANIFEST), &root, &kept);
    }
}

/// The name that the manifest gives, else that of the directory.
fn name(reader: &Reader<'_>, root: &Path) -> String {
    let bytes = reader.request.files.read(&root.join(MANIFEST), crate::text::MAX_FILE).unwrap_or_default();
    let tree = json::parse(&String::from_utf8_lossy(&bytes)).ok();
    let named = tree.as_ref().and_then(|tree| tree.root.get("name")).and_then(|member| member.value.as_str());
    named.map(str::to_owned).unwrap_or_else(|| plugins::directory(root).into_owned())
}
