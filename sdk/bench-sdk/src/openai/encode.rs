//! Requests as HTTP bodies.

use super::Dialect;
use super::body::{Body, quoted};
use super::settings::Api;
use crate::engine::{Encoded, Message, Part, Prompt, Request, Role};
use crate::{Diagnostic, Error, Settings};

impl Dialect {
    /// Bodies of these requests for the endpoint that the settings choose. The order of the keys is that
    /// of `vllm bench serve`.
    ///
    /// # Errors
    /// A request that needs what the dialect or the chosen endpoint doesn't know.
    pub fn encode(&self, served_as: &str, settings: &Settings, requests: &[Request]) -> Result<Vec<Encoded>, Error> {
        requests.iter().map(|request| self.encode_one(served_as, settings, request)).collect()
    }

    fn encode_one(&self, served_as: &str, settings: &Settings, request: &Request) -> Result<Encoded, Error> {
        self.refuse_unknown(request)?;
        check_json(request)?;
        let api = Api::of(settings);
        let mut body = Body::new(&request.extra);
        body.text("model", served_as);
        let (name, prompt) = prompt(api, &request.prompt)?;
        body.raw(name, &prompt);
        sampling(&mut body, request);
        body.number(max_tokens_field(api, settings), request.max_tokens);
        if let Some(min) = request.min_tokens {
            body.number("min_tokens", min);
        }
        if !request.stop.is_empty() {
            body.raw("stop", &list(request.stop.iter().map(|stop| quoted(stop))));
        }
        body.raw("stream", if request.streaming { "true" } else { "false" });
        if request.streaming && settings.boolean("include-usage") != Some(false) {
            let continuous = self.continuous_usage && settings.boolean("continuous-usage") != Some(false);
            let more = if continuous { r#","continuous_usage_stats":true"# } else { "" };
            body.raw("stream_options", &format!(r#"{{"include_usage":true{more}}}"#));
        }
        if request.ignore_eos {
            body.raw("ignore_eos", "true");
        }
        if let Some(tools) = &request.tools {
            body.raw("tools", tools);
        }
        if let Some(schema) = &request.json_schema {
            let format = format!(r#"{{"type":"json_schema","json_schema":{{"name":"answer","schema":{schema}}}}}"#);
            body.raw("response_format", &format);
        }
        Ok(Encoded { endpoint: 0, body: body.finish() })
    }

    fn refuse_unknown(&self, request: &Request) -> Result<(), Error> {
        let needs = [
            (request.ignore_eos, self.ignore_eos, "`ignore-eos`"),
            (request.min_tokens.is_some(), self.min_tokens, "`min-tokens`"),
            (request.sampling.top_k.is_some(), self.top_k, "`top-k`"),
            (matches!(request.prompt, Prompt::Tokens(_)), self.token_prompts, "a prompt of token ids"),
            (has_image(&request.prompt), self.images, "a picture in the prompt"),
        ];
        match needs.into_iter().find(|&(asked, known, _)| asked && !known) {
            Some((_, _, what)) => Err(Error::unsupported(format!("{what} of request {}", request.id))),
            None => Ok(()),
        }
    }
}

fn sampling(body: &mut Body<'_>, request: &Request) {
    body.float("temperature", request.sampling.temperature);
    if let Some(top_p) = request.sampling.top_p {
        body.float("top_p", top_p);
    }
    if let Some(top_k) = request.sampling.top_k {
        body.number("top_k", top_k);
    }
    if let Some(seed) = request.sampling.seed {
        body.number("seed", seed);
    }
}

fn max_tokens_field(api: Api, settings: &Settings) -> &str {
    match (settings.text("max-tokens-field"), api) {
        (Some(field), _) => field,
        (None, Api::Chat) => "max_completion_tokens",
        (None, Api::Completions) => "max_tokens",
    }
}

fn prompt(api: Api, prompt: &Prompt) -> Result<(&'static str, String), Error> {
    let needs = |what: &str, other: &str| {
        Err(Diagnostic::error(format!("{what} can't go to this endpoint"))
            .key("api")
            .help(format!("set `api = \"{other}\"` under `[engine.options]`"))
            .into())
    };
    match (api, prompt) {
        (Api::Chat, Prompt::Text(text)) => {
            Ok(("messages", format!(r#"[{{"role":"user","content":{}}}]"#, quoted(text))))
        }
        (Api::Chat, Prompt::Messages(messages)) => Ok(("messages", list(messages.iter().map(message)))),
        (Api::Chat, Prompt::Tokens(_)) => needs("a prompt of token ids", "completions"),
        (Api::Completions, Prompt::Text(text)) => Ok(("prompt", quoted(text))),
        (Api::Completions, Prompt::Tokens(ids)) => Ok(("prompt", list(ids.iter().map(u32::to_string)))),
        (Api::Completions, Prompt::Messages(_)) => needs("a prompt of messages", "chat"),
    }
}

fn message(message: &Message) -> String {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    // One text goes as a string, which every server takes; the list form is for pictures.
    let content = match message.content.as_slice() {
        [Part::Text(text)] => quoted(text),
        parts => list(parts.iter().map(part)),
    };
    let call = match &message.tool_call_id {
        Some(id) => format!(r#","tool_call_id":{}"#, quoted(id)),
        None => String::new(),
    };
    format!(r#"{{"role":"{role}","content":{content}{call}}}"#)
}

fn part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!(r#"{{"type":"text","text":{}}}"#, quoted(text)),
        Part::Image(url) => format!(r#"{{"type":"image_url","image_url":{{"url":{}}}}}"#, quoted(url)),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn has_image(prompt: &Prompt) -> bool {
    match prompt {
        Prompt::Messages(messages) => messages.iter().flat_map(|m| &m.content).any(|p| matches!(p, Part::Image(_))),
        Prompt::Text(_) | Prompt::Tokens(_) => false,
    }
}

/// What goes into the body as it is must be JSON, or the whole body isn't.
fn check_json(request: &Request) -> Result<(), Error> {
    let extra = request.extra.iter().map(|(name, json)| (format!("extra field `{name}`"), json));
    let tools = request.tools.iter().map(|json| ("tools".to_owned(), json));
    let schema = request.json_schema.iter().map(|json| ("JSON Schema".to_owned(), json));
    for (what, json) in extra.chain(tools).chain(schema) {
        if let Err(error) = serde_json::from_str::<&serde_json::value::RawValue>(json) {
            return Err(Error::malformed(format!("{what} of request {}", request.id), None, error.to_string()));
        }
    }
    Ok(())
}
