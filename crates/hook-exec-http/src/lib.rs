//! Http hooks: a request to a policy server.
//!
//! [`HttpExecutor`] makes the request that a hook and its dialect describe, sends it through the one client of the process and
//! gives back status and body; reading a decision out of them is the dialect's work. It promises an answer in time, also from a
//! server that hangs or never stops talking, and that no header and no variable goes anywhere but where its author and the
//! settings allow.

mod answer;
mod request;

use async_trait::async_trait;
use hook_core::{
    Call, Executor, FailureKind, Handler, HandlerFailure, HandlerKind, HandlerOutput, HookCx, HttpHandler,
    HttpPolicy, HttpRules, Note,
};
use hook_http::{Bounds, Client, HttpErrorKind};
use hook_matcher::UrlPattern;

/// Runs http handlers. It builds nothing before the first of them; a clone shares its connections.
#[derive(Debug, Clone)]
pub struct HttpExecutor {
    client: Client,
}

impl HttpExecutor {
    /// An executor that sends its requests through this client.
    pub fn new(client: Client) -> HttpExecutor {
        HttpExecutor { client }
    }
}

#[async_trait]
impl Executor for HttpExecutor {
    fn kind(&self) -> HandlerKind {
        HandlerKind::Http
    }

    async fn run(&self, cx: &HookCx<'_>, call: Call) -> HandlerOutput {
        let Handler::Http(handler) = &cx.hook.handler else {
            return failed(FailureKind::Spawn, "the hook sends no request".into(), Vec::new());
        };
        let open = HttpPolicy::default();
        let policy = cx.hook.grants.http.as_deref().unwrap_or(&open);
        let (timeout, rules) = (call.timeout, call.http);
        let (request, mut notes) = match request::prepare(handler, policy, call) {
            Ok(prepared) => prepared,
            Err(failure) => return HandlerOutput::Failure(failure),
        };
        let urls: Vec<Vec<UrlPattern>> =
            policy.urls.iter().map(|list| list.iter().map(|url| UrlPattern::new(url)).collect()).collect();
        let bounds = Bounds {
            timeout,
            max_body: rules.max_body,
            redirects: redirects(handler, &rules),
            private: policy.private,
            target: &|url| match urls.iter().all(|list| list.iter().any(|pattern| pattern.matches(url))) {
                true => Ok(()),
                false => {
                    let shown = HttpHandler::new(url).shown_url();
                    Err(format!("the settings allow no hook to be sent to {shown}"))
                }
            },
        };
        match self.client.send(&request, &bounds).await {
            Ok(response) => {
                notes.extend(answer::notes(handler, &rules, &response));
                let body = answer::body(response.body, response.dropped);
                HandlerOutput::Http { status: response.status, body, notes }
            }
            Err(error) => {
                notes.extend(answer::proxy(cx.host).filter(|_| error.kind == HttpErrorKind::Unreachable));
                failed(kind_of(error.kind), error.message, notes)
            }
        }
    }
}

fn redirects(handler: &HttpHandler, rules: &HttpRules) -> u8 {
    match handler.follow_redirects {
        Some(true) => rules.most_redirects,
        Some(false) => 0,
        None => rules.redirects,
    }
}

fn kind_of(kind: HttpErrorKind) -> FailureKind {
    match kind {
        HttpErrorKind::Timeout => FailureKind::Timeout,
        HttpErrorKind::Unreachable => FailureKind::Unreachable,
        HttpErrorKind::Oversize => FailureKind::Oversize,
        HttpErrorKind::Protocol => FailureKind::Parse,
        // What was never sent.
        _ => FailureKind::Spawn,
    }
}

fn failed(kind: FailureKind, message: String, notes: Vec<Note>) -> HandlerOutput {
    HandlerOutput::Failure(HandlerFailure { kind, message, notes })
}
