//! The side of a server that others on this machine ask, over HTTP with a token: events of agents that speak it, outside events for
//! hooks that wait, and figures.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hook_engine::core::EventHint;
use hook_engine::rewake::store::{Filter, RewakeStore, StoreError};
use serde_json::{Value, json};
use subtle::ConstantTimeEq;

use super::server::{Question, Server};
use super::webhook::{self, Delivery, Unfit};
use crate::dispatch::{self, MAX_PAYLOAD};
use crate::rewake;
use crate::world::World;

/// Bodies that are no payloads of agents are small.
const MOST: usize = 1024 * 1024;

/// Everything that is served.
pub(crate) fn router(server: Arc<Server>) -> Router {
    let most = usize::try_from(MAX_PAYLOAD).unwrap_or(usize::MAX);
    let ours = Router::new()
        .route("/v1/rewake/resolve", post(resolve))
        .route("/v1/rewake", get(list))
        .route("/metrics", get(metrics))
        .layer(DefaultBodyLimit::max(MOST))
        .route("/v1/dispatch/{agent}", post(fire).layer(DefaultBodyLimit::max(most)))
        .layer(from_fn_with_state(server.clone(), with_token));
    Router::new()
        .route("/rewake/events", post(deliver).layer(DefaultBodyLimit::max(MOST)))
        .route("/healthz", get(async || "ok\n"))
        .merge(ours)
        .fallback(async || trouble(StatusCode::NOT_FOUND, "there is nothing here", "see `hook serve --help`"))
        .with_state(server)
}

fn reply(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], format!("{body}\n")).into_response()
}

fn trouble(status: StatusCode, error: &str, help: &str) -> Response {
    reply(status, &json!({"error": error, "help": help}))
}

fn broken(error: &StoreError) -> Response {
    trouble(StatusCode::SERVICE_UNAVAILABLE, &error.to_string(), "nothing was changed; try again")
}

/// Lets those through who know the token.
async fn with_token(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    let token = given.and_then(|given| {
        let (scheme, token) = given.split_at_checked(7)?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
    });
    if token.is_some_and(|token| bool::from(token.ct_eq(server.token.as_bytes()))) {
        return next.run(request).await;
    }
    let help = format!("send `Authorization: Bearer` and what stands in {}", server.place.token().display());
    let error = if given.is_none() { "no token" } else { "a wrong token" };
    trouble(StatusCode::UNAUTHORIZED, error, &help)
}

type Body = Result<Bytes, BytesRejection>;

/// The body, or what to say of one that is too large or was cut off.
fn whole(body: Body) -> Result<Bytes, Box<Response>> {
    body.map_err(|rejection| {
        let status = rejection.status();
        let help = "events of agents may have 64 MiB, everything else 1 MiB";
        Box::new(trouble(status, &rejection.body_text(), help))
    })
}

/// `POST /v1/dispatch/{agent}`: the agent's payload; the reply as `hook dispatch` would give it.
async fn fire(
    State(server): State<Arc<Server>>,
    Path(agent): Path<String>,
    Query(query): Query<HashMap<String, String>>,
    body: Body,
) -> Response {
    let body = match whole(body) {
        Ok(body) => body,
        Err(response) => return *response,
    };
    let Some(dialect) = server.dialects.find(&agent) else {
        let known: Vec<&str> = server.dialects.iter().map(|dialect| dialect.profile().id.0).collect();
        let help = format!("known agents: {}", known.join(", "));
        return trouble(StatusCode::NOT_FOUND, &format!("no agent is called {agent:?}"), &help);
    };
    let bad = |error: &str| trouble(StatusCode::BAD_REQUEST, error, "send the agent's payload as it is");
    let Ok(text) = std::str::from_utf8(&body) else { return bad("the payload is not UTF-8") };
    let event = query.get("event").map(String::as_str);
    let hint = EventHint { event: event.map(str::to_owned), ..EventHint::default() };
    let incoming = match dispatch::parse(text)
        .and_then(|payload| dialect.read(payload, &hint).map_err(|error| error.to_string()))
    {
        Ok(incoming) => incoming,
        Err(error) => return bad(&error),
    };
    // The one that asks may be anywhere; its payload says where its session is.
    let placed = incoming.events.iter().any(|event| event.session.cwd.is_some());
    let world = World { here: server.project_of(placed), ..server.world.clone() };
    let question =
        Question { agent: Some(&agent), event, sources: &server.sources, world: &world, payload: text };
    match server.answer(&question).await {
        Ok(given) => {
            let spoken = &given.spoken;
            let body = json!({
                "decision": given.decision,
                "exit_code": spoken.code,
                "stdout": spoken.stdout,
                "stderr": spoken.stderr,
            });
            let response = reply(StatusCode::OK, &body);
            tokio::spawn(async move { server.given(given, true).await });
            response
        }
        Err(_) => trouble(
            StatusCode::BAD_REQUEST,
            "the event cannot be answered",
            "try the same with `hook dispatch`, which says why",
        ),
    }
}

/// `POST /v1/rewake/resolve`: `{"type", "key", "payload"?}`; how many hooks it wakes.
async fn resolve(State(server): State<Arc<Server>>, body: Body) -> Response {
    let body = match whole(body) {
        Ok(body) => body,
        Err(response) => return *response,
    };
    let form = "send {\"type\": \"…\", \"key\": \"…\", \"payload\": {\"name\": \"text\"}}";
    let value: Value = match serde_json::from_slice(&body) {
        Ok(value) => value,
        Err(error) => return trouble(StatusCode::BAD_REQUEST, &format!("no JSON: {error}"), form),
    };
    let text = |name: &str| value[name].as_str().filter(|text| !text.trim().is_empty());
    let (Some(kind), Some(key)) = (text("type"), text("key")) else {
        return trouble(StatusCode::UNPROCESSABLE_ENTITY, "the type or the key is missing or blank", form);
    };
    let brought: Result<BTreeMap<String, String>, _> = match &value["payload"] {
        Value::Null => Ok(BTreeMap::new()),
        payload => serde_json::from_value(payload.clone()),
    };
    let brought = match brought {
        Ok(brought) => brought,
        Err(error) => {
            return trouble(StatusCode::UNPROCESSABLE_ENTITY, &format!("the payload: {error}"), form);
        }
    };
    match server.resolve(kind, key, &brought).await {
        Ok(matched) => reply(StatusCode::OK, &json!({"matched": matched})),
        Err(error) => broken(&error),
    }
}

/// `GET /v1/rewake`: what waits; with `?ended=true` what became of the others.
async fn list(State(server): State<Arc<Server>>, Query(query): Query<HashMap<String, String>>) -> Response {
    if query.get("ended").is_some_and(|ended| ended == "true") {
        return match server.store.records(&Filter::default(), rewake::MOST_RECORDS).await {
            Ok(records) => reply(StatusCode::OK, &json!({"ended": records})),
            Err(error) => broken(&error),
        };
    }
    match server.store.list(&Filter::default()).await {
        Ok(pending) => {
            let pending: Vec<Value> = pending.iter().map(rewake::envelope).collect();
            reply(StatusCode::OK, &json!({"pending": pending}))
        }
        Err(error) => broken(&error),
    }
}

/// `GET /metrics`.
async fn metrics(State(server): State<Arc<Server>>) -> Response {
    let pending = match server.store.list(&Filter::default()).await {
        Ok(pending) => pending.len(),
        Err(error) => return broken(&error),
    };
    let text = server.metrics.text(server.warms.list().len(), pending);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// `POST /rewake/events` ([`webhook`]).
async fn deliver(State(server): State<Arc<Server>>, headers: HeaderMap, body: Body) -> Response {
    let body = match whole(body) {
        Ok(body) => body,
        Err(response) => return *response,
    };
    let Some(secret) = &server.secret else {
        return trouble(
            StatusCode::SERVICE_UNAVAILABLE,
            "the server has no secret to check signatures with",
            "start it with HOOK_REWAKE_SECRET or --secret-file",
        );
    };
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let signed = header("x-rewake-signature");
    if !signed.is_some_and(|signature| webhook::is_signed(secret, &body, signature)) {
        let error = if signed.is_none() { "no signature" } else { "a wrong signature" };
        let help = "X-Rewake-Signature is the HMAC-SHA256 of the raw body in hexadecimal digits";
        return trouble(StatusCode::UNAUTHORIZED, error, help);
    }
    let form = "send {\"eventType\": \"…\", \"eventKey\": \"…\", \"payload\": {\"name\": \"text\"}}";
    let delivery = match Delivery::read(&body) {
        Ok(delivery) => delivery,
        Err(Unfit::NoObject(error)) => return trouble(StatusCode::BAD_REQUEST, &error, form),
        Err(Unfit::Missing(name)) => {
            let error = format!("{name} is missing or blank");
            return trouble(StatusCode::UNPROCESSABLE_ENTITY, &error, form);
        }
    };
    let answer = |matched: u64, again: bool| {
        reply(StatusCode::OK, &json!({"matched": matched, "idempotentReplay": again}))
    };
    let once = header("x-rewake-idempotency-key").filter(|key| !key.is_empty());
    // One at a time: two of one key that come together are still one.
    let mut deliveries = server.deliveries.lock().await;
    let now = server.scheduler.now();
    if let Some(matched) = once.and_then(|key| deliveries.seen(key, now)) {
        return answer(matched, true);
    }
    let matched = match server.resolve(&delivery.kind, &delivery.key, &delivery.payload).await {
        Ok(matched) => matched,
        Err(error) => return broken(&error),
    };
    if let Some(key) = once
        && let Err(error) = deliveries.remember(key, matched, now)
    {
        server.say(&format!("a delivery will not be known after a restart: {error}"));
    }
    answer(matched, false)
}
