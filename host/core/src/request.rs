//! Requests in neutral terms, as HTTP, and ready to send.

use crate::sample::{Prompt, Sampling};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A request in neutral terms: what an engine adapter turns into HTTP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestSpec {
    /// The host's number of it.
    pub id: u64,
    /// What to send.
    pub prompt: Prompt,
    /// Most tokens to generate.
    pub max_tokens: u32,
    /// Least tokens to generate.
    pub min_tokens: Option<u32>,
    /// Go on after an end-of-text token.
    pub ignore_eos: bool,
    /// How to draw tokens.
    pub sampling: Sampling,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// Ask for a stream.
    pub streaming: bool,
    /// JSON array of tool definitions (OpenAI's form).
    pub tools: Option<String>,
    /// JSON Schema that the answer must follow.
    pub json_schema: Option<String>,
    /// Extra body fields: name and JSON text.
    pub extra: Vec<(String, String)>,
}

/// One of the HTTP endpoints that requests go to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// HTTP method, upper case.
    pub method: String,
    /// Path from the server's root.
    pub path: String,
    /// Headers that every request carries.
    pub headers: Vec<(String, String)>,
}

/// A request as an engine adapter encoded it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRequest {
    /// Index into the adapter's endpoints.
    pub endpoint: u32,
    /// The body.
    pub body: Vec<u8>,
}

/// A request made ready before the clock starts.
#[derive(Clone, Debug)]
pub struct PreparedRequest {
    /// Number of the request in its scenario and repeat, from 0. Arrivals follow this order.
    pub request: u64,
    /// Where it goes.
    pub endpoint: Arc<Endpoint>,
    /// The body.
    pub body: Bytes,
    /// The adapter asked for a stream.
    pub streaming: bool,
    /// Id of the sample in its dataset.
    pub dataset_sample: Arc<str>,
    /// SHA-256 of the prompt's UTF-8 text ([`Prompt::digest_text`]).
    pub prompt_sha256: [u8; 32],
    /// The prompt's text, where the trace keeps texts.
    pub prompt_text: Option<Arc<str>>,
    /// Tokens of the prompt as the dataset counted them.
    pub prompt_tokens_asked: Option<u32>,
    /// Length asked for.
    pub output_tokens_asked: Option<u32>,
    /// Session that it belongs to.
    pub session: Option<Arc<str>>,
    /// Place in the session.
    pub turn: Option<u32>,
}
