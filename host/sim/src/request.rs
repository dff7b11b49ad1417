//! Reads an inference request and says what is wrong with it, in the words of an OpenAI-compatible server.

use crate::config::SimConfig;
use crate::random::{digest, mix};
use crate::text;
use serde_json::{Value, json};

/// Which endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// `/v1/chat/completions`.
    Chat,
    /// `/v1/completions`.
    Completions,
}

/// A valid request, reduced to what the engine needs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Generate {
    pub(crate) api: Api,
    pub(crate) stream: bool,
    pub(crate) include_usage: bool,
    pub(crate) continuous_usage: bool,
    pub(crate) prompt_tokens: u32,
    /// Tokens that the answer will have.
    pub(crate) tokens: u32,
    /// Why it ends there.
    pub(crate) finish: String,
    /// Decides the text.
    pub(crate) key: u64,
}

/// An answer with an error object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    message: String,
    kind: &'static str,
    param: Option<&'static str>,
}

impl ApiError {
    pub(crate) fn new(status: u16, kind: &'static str, param: Option<&'static str>, message: String) -> ApiError {
        ApiError { status, message, kind, param }
    }

    fn bad(param: &'static str, message: String) -> ApiError {
        ApiError::new(400, "BadRequestError", Some(param), message)
    }

    /// The error object.
    pub(crate) fn body(&self) -> Value {
        json!({"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.status}})
    }
}

/// Reads the body of a request.
///
/// # Errors
/// The error to answer with: 400, or 404 for a model that is not served.
pub(crate) fn parse(api: Api, body: &[u8], config: &SimConfig) -> Result<Generate, ApiError> {
    let request: Value = serde_json::from_slice(body)
        .map_err(|e| ApiError::new(400, "Bad Request", None, format!("the body is not JSON: {e}")))?;
    if !request.is_object() {
        return Err(ApiError::new(400, "Bad Request", None, "the body is not a JSON object".into()));
    }
    match request.get("model") {
        None | Some(Value::Null) => {}
        Some(Value::String(model)) if *model == config.model => {}
        Some(other) => {
            let name = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
            let message = format!("The model `{name}` does not exist.");
            return Err(ApiError::new(404, "NotFoundError", Some("model"), message));
        }
    }
    if !matches!(request.get("n"), None | Some(Value::Null)) && request["n"] != 1 {
        return Err(ApiError::bad("n", "`n` must be 1".into()));
    }
    let prompt = prompt(api, &request)?;
    let options = request.get("stream_options").unwrap_or(&Value::Null);
    let (tokens, finish) = length(&request, prompt.tokens, config)?;
    Ok(Generate {
        api,
        stream: flag(&request, "stream")?,
        include_usage: options["include_usage"] == true,
        continuous_usage: options["continuous_usage_stats"] == true,
        prompt_tokens: prompt.tokens,
        tokens,
        finish: config.finish_reason.clone().unwrap_or_else(|| finish.into()),
        key: mix(config.seed ^ prompt.key),
    })
}

struct Prompt {
    tokens: u32,
    key: u64,
}

fn prompt(api: Api, request: &Value) -> Result<Prompt, ApiError> {
    match api {
        Api::Chat => chat_prompt(request),
        Api::Completions => completion_prompt(request),
    }
}

fn chat_prompt(request: &Value) -> Result<Prompt, ApiError> {
    let Some(messages) = request["messages"].as_array().filter(|m| !m.is_empty()) else {
        return Err(ApiError::bad("messages", "`messages` must be a list with at least one message".into()));
    };
    let (mut bytes, mut key) = (0, 0);
    for message in messages {
        if !message["role"].is_string() {
            return Err(ApiError::bad("messages", "a message has no `role`".into()));
        }
        let parts = match &message["content"] {
            Value::String(text) => vec![text.as_str()],
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            Value::Null => Vec::new(),
            _ => return Err(ApiError::bad("messages", "`content` must be text or a list of parts".into())),
        };
        for text in parts {
            bytes += text.len();
            key = mix(key ^ digest(text.as_bytes()));
        }
    }
    Ok(Prompt { tokens: text::count_prompt(bytes), key })
}

fn completion_prompt(request: &Value) -> Result<Prompt, ApiError> {
    match &request["prompt"] {
        Value::String(text) => Ok(Prompt { tokens: text::count_prompt(text.len()), key: mix(digest(text.as_bytes())) }),
        Value::Array(ids) if !ids.is_empty() => {
            let mut key = 0;
            for id in ids {
                let id = id.as_u64().ok_or_else(|| {
                    ApiError::bad("prompt", "`prompt` must be one text or one list of token ids".into())
                })?;
                key = mix(key ^ id);
            }
            Ok(Prompt { tokens: u32::try_from(ids.len()).unwrap_or(u32::MAX), key })
        }
        _ => Err(ApiError::bad("prompt", "`prompt` must be a text or a list of token ids, not empty".into())),
    }
}

/// How many tokens the answer has, and why it ends there.
fn length(request: &Value, prompt: u32, config: &SimConfig) -> Result<(u32, &'static str), ApiError> {
    let room = config.max_model_len;
    let asked = match whole(request, "max_completion_tokens")? {
        Some(n) => Some(n),
        None => whole(request, "max_tokens")?,
    };
    if asked == Some(0) {
        return Err(ApiError::bad("max_tokens", "`max_tokens` must be at least 1".into()));
    }
    if u64::from(prompt) + asked.unwrap_or(1) > u64::from(room) {
        let message = format!(
            "This model's maximum context length is {room} tokens. However, you requested {} output tokens and your \
             prompt contains {prompt} input tokens. Please reduce the length of the input prompt or the number of \
             requested output tokens.",
            asked.unwrap_or(1)
        );
        return Err(ApiError::bad("input_tokens", message));
    }
    // `asked` fits: it is below `room`, which is a u32.
    let asked = asked.and_then(|n| u32::try_from(n).ok());
    let (limit, reason) = match asked {
        Some(n) => (n, "length"),
        None if config.output_tokens <= room - prompt => (config.output_tokens, "stop"),
        None => (room - prompt, "length"),
    };
    let min = whole(request, "min_tokens")?.map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX));
    match config.stop_eos {
        Some(eos) if eos.max(min) < limit && !flag(request, "ignore_eos")? => Ok((eos.max(min), "stop")),
        _ => Ok((limit, reason)),
    }
}

fn whole(request: &Value, name: &'static str) -> Result<Option<u64>, ApiError> {
    match request.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(n) => Ok(Some(n)),
            None => Err(ApiError::bad(name, format!("`{name}` must be a whole number, not `{value}`"))),
        },
    }
}

fn flag(request: &Value, name: &'static str) -> Result<bool, ApiError> {
    match request.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(other) => Err(ApiError::bad(name, format!("`{name}` must be true or false, not `{other}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(extra: Value) -> Result<Generate, ApiError> {
        chat_with(extra, &SimConfig { max_model_len: 100, ..SimConfig::default() })
    }

    fn chat_with(extra: Value, config: &SimConfig) -> Result<Generate, ApiError> {
        let mut body = json!({"model": "sim", "messages": [{"role": "user", "content": "0123456789"}]});
        for (key, value) in extra.as_object().unwrap() {
            body[key] = value.clone();
        }
        parse(Api::Chat, body.to_string().as_bytes(), config)
    }

    #[test]
    fn the_length_is_what_is_asked_and_the_reason_follows() {
        let plain = chat(json!({})).unwrap();
        assert_eq!((plain.prompt_tokens, plain.tokens, plain.finish.as_str()), (3, 97, "length"));
        let asked = chat(json!({"max_tokens": 7, "stream": true})).unwrap();
        assert_eq!((asked.tokens, asked.finish.as_str(), asked.stream), (7, "length", true));
        let both = chat(json!({"max_tokens": 7, "max_completion_tokens": 9})).unwrap();
        assert_eq!(both.tokens, 9);

        let config = SimConfig { stop_eos: Some(5), output_tokens: 20, ..SimConfig::default() };
        let tokens = |extra| {
            let r = chat_with(extra, &config).unwrap();
            (r.tokens, r.finish)
        };
        assert_eq!(tokens(json!({})), (5, "stop".into()));
        assert_eq!(tokens(json!({"max_tokens": 5})), (5, "length".into()));
        assert_eq!(tokens(json!({"max_tokens": 9, "min_tokens": 7})), (7, "stop".into()));
        assert_eq!(tokens(json!({"max_tokens": 9, "ignore_eos": true})), (9, "length".into()));
        let config = SimConfig { finish_reason: Some("tool_calls".into()), ..SimConfig::default() };
        assert_eq!(chat_with(json!({}), &config).unwrap().finish, "tool_calls");
        assert_eq!(chat_with(json!({}), &config).unwrap().tokens, 128);
    }

    #[test]
    fn prompts_of_every_form() {
        let config = SimConfig::default();
        let read = |body: Value| parse(Api::Completions, body.to_string().as_bytes(), &config);
        assert_eq!(read(json!({"prompt": "12345"})).unwrap().prompt_tokens, 2);
        let ids = read(json!({"prompt": [5, 6, 7]})).unwrap();
        assert_eq!(ids.prompt_tokens, 3);
        assert_ne!(ids.key, read(json!({"prompt": [5, 7, 6]})).unwrap().key);
        for bad in [json!({}), json!({"prompt": []}), json!({"prompt": ["a"]}), json!({"prompt": [-1]})] {
            assert_eq!(read(bad).unwrap_err().status, 400);
        }
        let parts = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "12345678"}]}]});
        assert_eq!(chat(parts).unwrap().prompt_tokens, 2);
    }

    #[test]
    fn mistakes_are_answered_as_servers_do() {
        for (extra, status, says) in [
            (json!({"model": "other"}), 404, "`other` does not exist"),
            (json!({"messages": []}), 400, "at least one message"),
            (json!({"messages": [{"content": "x"}]}), 400, "no `role`"),
            (json!({"max_tokens": 0}), 400, "at least 1"),
            (json!({"max_tokens": -3}), 400, "whole number"),
            (json!({"max_tokens": 98}), 400, "maximum context length is 100 tokens"),
            (json!({"stream": "yes"}), 400, "true or false"),
            (json!({"n": 2}), 400, "must be 1"),
        ] {
            let error = chat(extra.clone()).unwrap_err();
            assert_eq!(error.status, status, "{extra}");
            let body = error.body();
            assert!(body["error"]["message"].as_str().unwrap().contains(says), "{body}");
            assert_eq!(body["error"]["code"], status);
        }
        assert_eq!(parse(Api::Chat, b"{\"model\": ", &SimConfig::default()).unwrap_err().status, 400);
    }
}
