//! Servers at a URL.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hook_core::{FailureKind, McpError, McpServer};
use hook_http::Client;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::FixedInterval;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::connection::{Connection, not_greeted};
use crate::notifications::Heard;
use crate::words::Words;

/// How often, and after which pause, a stream that broke off is asked for again. The library would never give up, and a call
/// whose server died would wait for it until its time is over.
const STREAM_RETRIES: usize = 2;
const STREAM_PAUSE: Duration = Duration::from_millis(200);

/// Connects to a server and greets it.
pub(crate) async fn connect(
    client: &Client,
    server: &McpServer,
    url: &str,
    headers: &[(String, String)],
    heard: Heard,
    words: Arc<Words>,
) -> Result<Connection, McpError> {
    let name = &server.name;
    let failed = |kind, why: String| {
        McpError::new(kind, format!("the MCP server {name:?} cannot be reached: {}", redacted(&why, url)))
    };
    let client = client.library(url).map_err(|error| failed(FailureKind::Spawn, error.message))?;
    let headers = header_map(headers).map_err(|why| failed(FailureKind::Spawn, why))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
    let mut again = FixedInterval::default();
    (again.max_times, again.duration) = (Some(STREAM_RETRIES), STREAM_PAUSE);
    config.retry_config = Arc::new(again);
    let transport = StreamableHttpClientTransport::with_client(client, config);
    match heard.serve(transport).await {
        Ok(running) => Ok(Connection::new(name, running, None, words)),
        Err(error) => Err(failed(FailureKind::Unreachable, not_greeted(&error))),
    }
}

fn header_map(headers: &[(String, String)]) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let mut all = HashMap::new();
    for (name, value) in headers {
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no header"))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| format!("the header {name} has a value that no header can have"))?;
        value.set_sensitive(true);
        all.insert(key, value);
    }
    Ok(all)
}

/// A message without what people write into URLs and mean to keep to themselves: user name, password and query.
fn redacted(message: &str, url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let user = rest[..end].rsplit_once('@').map(|(user, _)| user);
    let query = rest.split_once('?').map(|(_, query)| query);
    let mut message = message.to_owned();
    for secret in [user, query].into_iter().flatten().filter(|secret| !secret.is_empty()) {
        message = message.replace(secret, "…");
    }
    message
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn what_is_secret_in_a_url_is_not_told() {
        for (url, message, told) in [
            (
                "http://me:pw@a.test/mcp?key=1",
                "error for http://me:pw@a.test/mcp?key=1",
                "error for http://…@a.test/mcp?…",
            ),
            ("http://a.test/?", "error for http://a.test/?", "error for http://a.test/?"),
            ("http://a.test/@me", "error for http://a.test/@me", "error for http://a.test/@me"),
        ] {
            assert_eq!(redacted(message, url), told);
        }
    }
}
