//! A model behind a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use hook_core::{
    HostContext, HttpMethod, LanguageModel, ModelError, ModelProvider, ModelRequest, ModelSettings,
    PrivateAddresses,
};
use hook_exec::limits::MAX_STREAM;
use hook_http::{Bounds, Client, HttpErrorKind, Request, Response};
use serde_json::Value;

use crate::key::Key;
use crate::wire::{self, Silence, TokenLimit};

/// Characters that are shown of what a service says of its errors.
const LONGEST_COMPLAINT: usize = 300;

/// A model that is asked over HTTP. Nothing is built or connected before the first question; the key goes to the server of the
/// settings and nowhere else.
#[derive(Debug, Clone)]
pub struct HttpModel {
    client: Client,
    settings: ModelSettings,
    key: Option<Key>,
    /// The server has refused the usual name of the bound on answers.
    newer_limit: Arc<AtomicBool>,
}

impl HttpModel {
    /// A model for these settings; the key comes from the host's environment.
    pub fn new(client: Client, settings: ModelSettings, host: &HostContext) -> HttpModel {
        let value = settings.key_variable.as_deref().and_then(|name| host.variable(name));
        let key = value.and_then(Key::new);
        HttpModel { client, settings, key, newer_limit: Arc::default() }
    }

    fn request(&self, asked: &ModelRequest, limit: TokenLimit) -> Request {
        let provider = self.settings.provider;
        let question = wire::question(
            provider,
            asked.model.as_deref().unwrap_or(&self.settings.model),
            (limit, self.settings.max_tokens.unwrap_or(asked.max_tokens)),
            asked.instructions.as_deref(),
            &asked.prompt,
        );
        Request {
            url: format!("{}{}", self.settings.base_url.trim_end_matches('/'), wire::path(provider)),
            method: HttpMethod::Post,
            headers: wire::headers(provider, self.key.as_ref()),
            body: Some(question.to_string().into_bytes()),
        }
    }

    /// A text of the server, for people.
    fn shown(&self, text: &str) -> String {
        let hidden = self.hide(text);
        let mut words = hidden.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((end, _)) = words.char_indices().nth(LONGEST_COMPLAINT) {
            words.truncate(end);
            words.push('…');
        }
        words
    }

    fn hide(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide(text))
    }

    fn read(&self, response: &Response) -> Result<String, ModelError> {
        let failed = |what: String| Err(ModelError::Execution(what));
        let (url, status) = (&response.url, response.status);
        let reply: Option<Value> = serde_json::from_slice(&response.body).ok();
        if !(200..300).contains(&status) {
            let said = reply.as_ref().and_then(wire::complaint).map(|said| format!(": {}", self.shown(said)));
            return failed(format!("{url} answered with status {status}{}", said.unwrap_or_default()));
        }
        if response.dropped > 0 {
            return failed(format!("the answer of {url} is longer than is read"));
        }
        let Some(reply) = reply else {
            return failed(format!(
                "the answer of {url} is no JSON; is the base URL that of the service's API?"
            ));
        };
        let provider = self.settings.provider;
        match (wire::text(provider, &reply), wire::silence(provider, &reply)) {
            (Some(text), _) => {
                Ok(self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide_in_answer(text)))
            }
            (None, Some(Silence::Complaint(said))) => {
                failed(format!("{url} answered with an error: {}", self.shown(said)))
            }
            (None, Some(Silence::Refusal(said))) => {
                let said = said.map(|said| format!(": {}", self.shown(said)));
                failed(format!("the model refused to answer{}", said.unwrap_or_default()))
            }
            (None, Some(Silence::Spent)) => failed(
                "the model spent all tokens of its answer before the first word; raise \"maxTokens\" of the model"
                    .to_owned(),
            ),
            (None, None) => Err(ModelError::Empty),
        }
    }
}

#[async_trait]
impl LanguageModel for HttpModel {
    async fn ask(&self, request: &ModelRequest) -> Result<String, ModelError> {
        if let (Some(name), None) = (&self.settings.key_variable, &self.key) {
            let why = format!(
                "the variable {name}, which should hold the key, is not set, is empty, or is no text"
            );
            return Err(ModelError::Lookup(why));
        }
        let limit = match self.newer_limit.load(Ordering::Relaxed) {
            true => TokenLimit::Newer,
            false => TokenLimit::Usual,
        };
        let began = Instant::now();
        let response = self.send(request, limit, request.timeout).await?;
        let refused = limit == TokenLimit::Usual
            && self.settings.provider == ModelProvider::OpenAiCompatible
            && serde_json::from_slice(&response.body)
                .is_ok_and(|reply| wire::wants_newer_limit(response.status, &reply));
        if !refused {
            return self.read(&response);
        }
        self.newer_limit.store(true, Ordering::Relaxed);
        let left = request.timeout.saturating_sub(began.elapsed());
        self.read(&self.send(request, TokenLimit::Newer, left).await?)
    }
}

impl HttpModel {
    async fn send(
        &self,
        request: &ModelRequest,
        limit: TokenLimit,
        left: Duration,
    ) -> Result<Response, ModelError> {
        let bounds = Bounds {
            timeout: left,
            max_body: MAX_STREAM,
            // A key follows no redirect.
            redirects: 0,
            private: PrivateAddresses::Written,
            target: &|_| Ok(()),
        };
        match self.client.send(&self.request(request, limit), &bounds).await {
            Ok(response) => Ok(response),
            Err(error) if error.kind == HttpErrorKind::Timeout => Err(ModelError::Timeout(request.timeout)),
            Err(error) => Err(ModelError::Execution(self.hide(&error.message))),
        }
    }
}
