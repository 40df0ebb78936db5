//! What servers tell of their own accord ("Hook Configuration Guide, Async Rewake, MCP notifications").
//!
//! | notification | type | key |
//! |---|---|---|
//! | `resources/updated` | `mcp.resource_updated` | its `uri` |
//! | `resources/list_changed`, `tools/…`, `prompts/…` | `mcp.resource_list_changed`, `mcp.tool_…`, `mcp.prompt_…` | `*` |
//! | any other `notifications/a/b` | `mcp.a.b` | the first text among `uri`, `key`, `id` and `name`; without one it is no event |
//!
//! Words of a server's log, its progress and what it cancels are no events.

use std::collections::BTreeMap;

use hook_core::{McpEvent, McpListener};
use rmcp::model::{ClientConfig, CustomNotification, ResourceUpdatedNotificationParam};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value};

use crate::connection::introduction;

/// The members by which other notifications say what they are about.
const KEYS: [&str; 4] = ["uri", "key", "id", "name"];

/// Our side of a connection: it offers servers nothing, and passes on what they tell.
pub(crate) struct Heard {
    server: String,
    listener: Option<McpListener>,
}

impl Heard {
    pub(crate) fn new(server: &str, listener: Option<McpListener>) -> Heard {
        Heard { server: server.to_owned(), listener }
    }

    fn tell(&self, kind: String, key: &str, payload: BTreeMap<String, String>) {
        if let Some(listener) = &self.listener {
            listener(McpEvent { server: self.server.clone(), kind, key: key.to_owned(), payload });
        }
    }

    fn changed(&self, what: &str) {
        self.tell(format!("mcp.{what}_list_changed"), "*", BTreeMap::new());
    }
}

impl ClientHandler for Heard {
    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let payload = [("uri".to_owned(), params.uri.clone())].into();
        self.tell("mcp.resource_updated".to_owned(), &params.uri, payload);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed("resource");
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed("tool");
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed("prompt");
    }

    async fn on_custom_notification(&self, told: CustomNotification, _: NotificationContext<RoleClient>) {
        let empty = Map::new();
        let params = told.params.as_ref().and_then(Value::as_object).unwrap_or(&empty);
        if let Some((kind, key, payload)) = event(&told.method, params) {
            self.tell(kind, key, payload);
        }
    }

    fn get_info(&self) -> ClientConfig {
        introduction()
    }
}

/// Type, key and payload of a notification that the protocol does not know.
fn event<'n>(
    method: &str,
    params: &'n Map<String, Value>,
) -> Option<(String, &'n str, BTreeMap<String, String>)> {
    let name = method.strip_prefix("notifications/").filter(|name| !name.is_empty())?;
    let key = KEYS.iter().find_map(|key| params.get(*key)?.as_str().filter(|key| !key.trim().is_empty()))?;
    let texts = params.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    Some((format!("mcp.{}", name.replace('/', ".")), key, texts.collect()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_notifications_are_events_by_their_name_and_first_key() {
        let table = [
            ("notifications/a/b", json!({"id": "7", "n": 1, "more": "x"}), Some(("mcp.a.b", "7"))),
            (
                "notifications/a",
                json!({"name": "n", "id": "i", "key": "k", "uri": "u"}),
                Some(("mcp.a", "u")),
            ),
            ("notifications/a", json!({"name": "n", "id": 1, "key": " "}), Some(("mcp.a", "n"))),
            ("notifications/a", json!({"n": "n"}), None),
            ("notifications/a", json!({}), None),
            ("notifications/", json!({"id": "7"}), None),
            ("other/a", json!({"id": "7"}), None),
        ];
        for (method, params, expected) in table {
            let found = event(method, params.as_object().unwrap());
            assert_eq!(
                found.as_ref().map(|(kind, key, _)| (kind.as_str(), *key)),
                expected,
                "{method} {params}"
            );
        }
        let params = json!({"id": "7", "n": 1, "more": "x"});
        let (_, _, payload) = event("notifications/a", params.as_object().unwrap()).unwrap();
        assert_eq!(payload, [("id".to_owned(), "7".to_owned()), ("more".to_owned(), "x".to_owned())].into());
    }
}
