//! Writes the chunks of a stream and the bodies of answers that are not streamed.
//!
//! What never changes within a stream is rendered once; an event costs a few copies.

use crate::config::{ReasoningField, RoleChunk, SimConfig, UsageMode};
use crate::request::{Api, Generate};
use crate::text;
use bytes::Bytes;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What a chunk has to say.
#[derive(Clone, Copy, Default)]
pub(crate) struct Chunk<'a> {
    /// Tokens `from..to` of the answer.
    pub(crate) tokens: Option<(u32, u32)>,
    /// It ends the answer, and why.
    pub(crate) finish: Option<&'a str>,
    /// Nanoseconds since 1970 to put into the id.
    pub(crate) stamp: Option<u64>,
}

/// The parts of one answer.
pub(crate) struct Renderer {
    id: String,
    stamp_prefix: &'static str,
    /// From behind the id to behind `"choices":[`.
    head: String,
    api: Api,
    usage: Option<UsageForm>,
    reasoning: u32,
    reasoning_field: &'static str,
    prompt_tokens: u32,
    total: u32,
    key: u64,
    one_shot_usage: bool,
    model: String,
    created: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum UsageForm {
    Final,
    Continuous,
    WithFinish,
}

impl Renderer {
    /// For request number `number`, that came `created` seconds after 1970.
    pub(crate) fn new(config: &SimConfig, request: &Generate, number: u64, created: u64) -> Renderer {
        let (prefix, object) = match request.api {
            Api::Chat => ("chatcmpl-", "chat.completion.chunk"),
            Api::Completions => ("cmpl-", "text_completion"),
        };
        let usage = match config.usage {
            UsageMode::WithFinish => Some(UsageForm::WithFinish),
            UsageMode::Continuous if request.include_usage => Some(UsageForm::Continuous),
            UsageMode::Final if request.include_usage && request.continuous_usage => Some(UsageForm::Continuous),
            UsageMode::Final if request.include_usage => Some(UsageForm::Final),
            UsageMode::None | UsageMode::Final | UsageMode::Continuous => None,
        };
        let model = Value::from(config.model.as_str());
        Renderer {
            id: format!("{prefix}{:016x}", crate::random::mix(request.key ^ number)),
            stamp_prefix: prefix,
            head: format!("\",\"object\":\"{object}\",\"created\":{created},\"model\":{model},\"choices\":["),
            api: request.api,
            usage,
            reasoning: if request.api == Api::Chat { config.reasoning_tokens } else { 0 },
            reasoning_field: match config.reasoning_field {
                ReasoningField::ReasoningContent => "reasoning_content",
                ReasoningField::Reasoning => "reasoning",
            },
            prompt_tokens: request.prompt_tokens,
            total: request.tokens,
            key: request.key,
            one_shot_usage: config.usage != UsageMode::None,
            model: config.model.clone(),
            created,
        }
    }

    /// The tokens of an event that begins at token `at` and has `tokens`: never reasoning and text in one.
    pub(crate) fn cut(&self, at: u32, tokens: u32) -> u32 {
        if at < self.reasoning { tokens.min(self.reasoning - at) } else { tokens }
    }

    fn open(&self, stamp: Option<u64>) -> String {
        let mut out = String::with_capacity(320);
        out.push_str("data: {\"id\":\"");
        match stamp {
            Some(ns) => {
                let _ = write!(out, "{}{ns:019}", self.stamp_prefix);
            }
            None => out.push_str(&self.id),
        }
        out.push_str(&self.head);
        out
    }

    /// The event that says the role.
    pub(crate) fn role(&self, stamp: Option<u64>) -> Bytes {
        let mut out = self.open(stamp);
        out.push_str("{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,");
        out.push_str("\"finish_reason\":null}]");
        self.close(out, 0, self.usage == Some(UsageForm::Continuous))
    }

    /// An event of the answer, `sent` tokens being out with it.
    pub(crate) fn chunk(&self, chunk: Chunk<'_>, sent: u32) -> Bytes {
        let mut out = self.open(chunk.stamp);
        let (from, to) = chunk.tokens.unwrap_or((0, 0));
        match self.api {
            Api::Completions => out.push_str("{\"index\":0,\"text\":\""),
            Api::Chat if from < to && from < self.reasoning => {
                let _ = write!(out, "{{\"index\":0,\"delta\":{{\"{}\":\"", self.reasoning_field);
            }
            Api::Chat if from < to => out.push_str("{\"index\":0,\"delta\":{\"content\":\""),
            Api::Chat => out.push_str("{\"index\":0,\"delta\":{"),
        }
        self.append_escaped(from, to, &mut out);
        match self.api {
            Api::Completions => out.push_str("\",\"logprobs\":null,\"finish_reason\":"),
            Api::Chat if from < to => out.push_str("\"},\"logprobs\":null,\"finish_reason\":"),
            Api::Chat => out.push_str("},\"logprobs\":null,\"finish_reason\":"),
        }
        match chunk.finish {
            Some(reason) => {
                let _ = write!(out, "{}", Value::from(reason));
            }
            None => out.push_str("null"),
        }
        out.push_str("}]");
        let usage = match self.usage {
            Some(UsageForm::Continuous) => true,
            Some(UsageForm::WithFinish) => chunk.finish.is_some(),
            Some(UsageForm::Final) | None => false,
        };
        self.close(out, sent, usage)
    }

    /// The event of its own that says what was used, where this stream has one.
    pub(crate) fn final_usage(&self, stamp: Option<u64>, sent: u32) -> Option<Bytes> {
        match self.usage {
            Some(UsageForm::Final | UsageForm::Continuous) => {
                let mut out = self.open(stamp);
                out.push(']');
                Some(self.close(out, sent, true))
            }
            Some(UsageForm::WithFinish) | None => None,
        }
    }

    /// An event that is not JSON.
    pub(crate) fn garbage(&self) -> Bytes {
        let mut out = self.open(None);
        out.push_str("{\"index\":0,\"delta\":{\"content\":\"cut of\n\n");
        Bytes::from(out)
    }

    /// An answer that is not streamed; `finish` null where it has none.
    pub(crate) fn one_shot(&self, sent: u32, finish: Option<&str>) -> Value {
        let reasoning = self.reasoning.min(sent);
        let (mut thought, mut content) = (String::new(), String::new());
        text::append(self.key, 0, reasoning, &mut thought);
        text::append(self.key, reasoning, sent, &mut content);
        let (object, choice) = match self.api {
            Api::Chat => {
                let mut message = json!({"role": "assistant", "content": content});
                if reasoning > 0 {
                    message[self.reasoning_field] = thought.into();
                }
                let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish});
                ("chat.completion", choice)
            }
            Api::Completions => {
                let choice = json!({"index": 0, "text": content, "logprobs": null, "finish_reason": finish});
                ("text_completion", choice)
            }
        };
        let mut body = json!({"id": self.id, "object": object, "created": self.created, "model": self.model,
            "choices": [choice]});
        if self.one_shot_usage {
            body["usage"] = json!({"prompt_tokens": self.prompt_tokens, "completion_tokens": sent,
                "total_tokens": u64::from(self.prompt_tokens) + u64::from(sent)});
        }
        body
    }

    /// How many tokens the answer is to have.
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    fn append_escaped(&self, from: u32, to: u32, out: &mut String) {
        for index in from..to {
            if index > 0 {
                out.push(' ');
            }
            for c in text::token(self.key, index).chars() {
                if matches!(c, '"' | '\\') {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }

    fn close(&self, mut out: String, sent: u32, usage: bool) -> Bytes {
        if usage {
            let prompt = self.prompt_tokens;
            let all = u64::from(prompt) + u64::from(sent);
            let _ = write!(
                out,
                ",\"usage\":{{\"prompt_tokens\":{prompt},\"total_tokens\":{all},\"completion_tokens\":{sent}}}"
            );
        }
        out.push_str("}\n\n");
        Bytes::from(out)
    }
}

/// The stream of this request begins with a role in this place.
pub(crate) fn role_at(config: &SimConfig, request: &Generate) -> RoleChunk {
    match request.api {
        Api::Chat => config.role_chunk,
        Api::Completions => RoleChunk::None,
    }
}
