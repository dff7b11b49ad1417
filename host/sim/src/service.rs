//! The endpoints.

use crate::body::{Answer, EventStream, Parts, scripted_error, strike_at};
use crate::clock::realtime;
use crate::fault::{Fault, FaultKind};
use crate::render::{Renderer, role_at};
use crate::request::{self, Api, ApiError, Generate};
use crate::state::{Sim, Ticket};
use crate::wire::Control;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::future::pending;
use std::rc::Rc;

/// Longest request body that is taken, in bytes.
const BODY_LIMIT: usize = 64 << 20;

/// Answers one request. Never fails: mistakes are answers.
pub(crate) async fn serve(
    sim: Rc<Sim>,
    control: Rc<Control>,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Infallible> {
    control.drip(false);
    Ok(route(&sim, control, request).await.unwrap_or_else(|error| error_answer(&error)))
}

async fn route(sim: &Rc<Sim>, control: Rc<Control>, request: Request<Incoming>) -> Result<Response<Answer>, ApiError> {
    let path = request.uri().path().to_owned();
    let get = request.method() == Method::GET;
    if path.starts_with("/v1/") {
        authorise(sim, request.headers())?;
    }
    match path.as_str() {
        "/health" if get => Ok(whole(StatusCode::OK, "text/plain", Bytes::new())),
        "/version" if get => Ok(json_answer(StatusCode::OK, &json!({"version": env!("CARGO_PKG_VERSION")}))),
        "/metrics" if get => Ok(whole(StatusCode::OK, "text/plain; version=0.0.4", sim.metrics().into())),
        "/v1/models" if get => Ok(json_answer(StatusCode::OK, &models(sim))),
        "/v1/chat/completions" if request.method() == Method::POST => infer(sim, control, request, Api::Chat).await,
        "/v1/completions" if request.method() == Method::POST => infer(sim, control, request, Api::Completions).await,
        "/health" | "/version" | "/metrics" | "/v1/models" | "/v1/chat/completions" | "/v1/completions" => {
            let message = format!("`{}` is no method of `{path}`", request.method());
            Err(ApiError::new(405, "MethodNotAllowed", None, message))
        }
        _ => Err(ApiError::new(404, "NotFoundError", None, format!("there is no `{path}`"))),
    }
}

fn authorise(sim: &Sim, headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(key) = &sim.config.api_key else { return Ok(()) };
    let given = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
    if given.and_then(|v| v.strip_prefix("Bearer ")) == Some(key.as_str()) {
        return Ok(());
    }
    Err(ApiError::new(401, "AuthenticationError", None, "the API key is missing or wrong".into()))
}

fn models(sim: &Sim) -> Value {
    json!({"object": "list", "data": [{"id": sim.config.model, "object": "model", "created": 0,
        "owned_by": "bench-sim", "max_model_len": sim.config.max_model_len}]})
}

async fn infer(
    sim: &Rc<Sim>,
    control: Rc<Control>,
    request: Request<Incoming>,
    api: Api,
) -> Result<Response<Answer>, ApiError> {
    let gzip = sim.config.gzip && accepts_gzip(request.headers());
    let body = Limited::new(request.into_body(), BODY_LIMIT)
        .collect()
        .await
        .map_err(|e| ApiError::new(400, "BadRequestError", None, format!("the body can't be read: {e}")))?
        .to_bytes();
    let arrived = control.read_at();
    let asked = request::parse(api, &body, &sim.config)?;
    let number = sim.number();
    let fault = sim.config.faults.iter().find(|f| f.kind != FaultKind::Refuse && f.strikes(number)).cloned();
    match fault.as_ref().map(|f| f.kind) {
        Some(FaultKind::Silent) => return pending().await,
        Some(FaultKind::Status) => {
            let code = fault.map_or(500, |f| f.code);
            return Err(ApiError::new(code, "ScriptedFault", None, "scripted fault of the simulated engine".into()));
        }
        Some(FaultKind::Empty) => return Ok(whole(StatusCode::OK, stream_type(&asked), Bytes::new())),
        Some(FaultKind::SlowDrip) => control.drip(true),
        _ => {}
    }
    let renderer = Renderer::new(&sim.config, &asked, number, realtime() / 1_000_000_000);
    let ticket = sim.submit(number, arrived, asked.prompt_tokens, asked.tokens);
    if !asked.stream {
        return Ok(one_shot(&ticket, &renderer, &control, &asked, fault.as_ref()).await);
    }
    let role = role_at(&sim.config, &asked);
    let parts = Parts { ticket, renderer, control, finish: asked.finish, role, fault, gzip };
    let mut answer = Response::new(Answer::Stream(Box::new(EventStream::new(parts, &sim.config))));
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(answer)
}

const EVENT_STREAM: &str = "text/event-stream; charset=utf-8";

fn stream_type(asked: &Generate) -> &'static str {
    if asked.stream { EVENT_STREAM } else { "application/json" }
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    headers.get_all(header::ACCEPT_ENCODING).iter().any(|v| v.to_str().is_ok_and(|v| v.contains("gzip")))
}

/// The answer as a whole, when its last token is due.
async fn one_shot(
    ticket: &Ticket,
    renderer: &Renderer,
    control: &Control,
    asked: &Generate,
    fault: Option<&Fault>,
) -> Response<Answer> {
    let Some(fault) = fault.filter(|f| f.kind.is_midway()) else {
        ticket.wait(asked.tokens).await;
        return json_answer(StatusCode::OK, &renderer.one_shot(asked.tokens, Some(&asked.finish)));
    };
    let sent = strike_at(fault, renderer);
    // It strikes in place of the token after these.
    ticket.wait(sent + 1).await;
    match fault.kind {
        FaultKind::ErrorInStream => json_answer(StatusCode::OK, &scripted_error().body()),
        FaultKind::Abort => json_answer(StatusCode::OK, &renderer.one_shot(sent, Some("abort"))),
        FaultKind::EndWithoutFinish => json_answer(StatusCode::OK, &renderer.one_shot(sent, None)),
        FaultKind::Garbage => whole(StatusCode::OK, "application/json", Bytes::from_static(b"{\"id\":\"cut of")),
        FaultKind::Reset => {
            control.reset();
            pending().await
        }
        _ => pending().await,
    }
}

fn error_answer(error: &ApiError) -> Response<Answer> {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    json_answer(status, &error.body())
}

fn json_answer(status: StatusCode, body: &Value) -> Response<Answer> {
    whole(status, "application/json", body.to_string().into())
}

fn whole(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Answer> {
    let mut answer = Response::new(Answer::Whole((!body.is_empty()).then_some(body)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
