//! How answers are read.

use super::Dialect;
use super::settings::Api;
use crate::Settings;
use crate::engine::{DecodePlan, Decoder, FinishReason, Framing, Rule, Take};

/// Where an answer of the chat endpoint keeps what it generated: streamed, then whole.
const CHAT: [(&str, Take); 11] = [
    ("/choices/0/delta/content", Take::Text),
    ("/choices/0/message/content", Take::Text),
    ("/choices/0/delta/reasoning_content", Take::Reasoning),
    ("/choices/0/delta/reasoning", Take::Reasoning),
    ("/choices/0/message/reasoning_content", Take::Reasoning),
    ("/choices/0/message/reasoning", Take::Reasoning),
    ("/choices/0/delta/tool_calls", Take::ToolCall),
    ("/choices/0/delta/function_call", Take::ToolCall),
    ("/choices/0/message/tool_calls", Take::ToolCall),
    ("/choices/0/message/function_call", Take::ToolCall),
    ("/choices/0/delta/role", Take::Role),
];

/// The same of the completions endpoint.
const COMPLETIONS: [(&str, Take); 1] = [("/choices/0/text", Take::Text)];

/// What both have. The places of counts beyond OpenAI's: SGLang, DeepSeek, Moonshot.
const COMMON: [(&str, Take); 11] = [
    ("/choices/0/finish_reason", Take::FinishReason),
    ("/usage/prompt_tokens", Take::PromptTokens),
    ("/usage/completion_tokens", Take::GeneratedTokens),
    ("/usage/prompt_tokens_details/cached_tokens", Take::CachedPromptTokens),
    ("/usage/cached_tokens", Take::CachedPromptTokens),
    ("/usage/prompt_cache_hit_tokens", Take::CachedPromptTokens),
    ("/usage/completion_tokens_details/reasoning_tokens", Take::ReasoningTokens),
    ("/usage/reasoning_tokens", Take::ReasoningTokens),
    // An error in its envelope, flat (SGLang, TensorRT-LLM), and FastAPI's own.
    ("/error", Take::Error),
    ("/message", Take::Error),
    ("/detail", Take::Error),
];

/// What the servers' finish reasons mean; any other word is `Other`.
const FINISH_REASONS: [(&str, FinishReason); 15] = [
    ("stop", FinishReason::Stop),
    ("eos", FinishReason::Stop),
    ("eos_token", FinishReason::Stop),
    ("stop_sequence", FinishReason::Stop),
    ("length", FinishReason::Length),
    ("tool_calls", FinishReason::ToolCalls),
    ("function_call", FinishReason::ToolCalls),
    ("content_filter", FinishReason::ContentFilter),
    ("abort", FinishReason::Aborted),
    ("aborted", FinishReason::Aborted),
    ("error", FinishReason::Aborted),
    ("cancelled", FinishReason::Aborted),
    ("timeout", FinishReason::Aborted),
    ("insufficient_system_resource", FinishReason::Aborted),
    ("not_finished", FinishReason::Aborted),
];

impl Dialect {
    /// The plan by which the host reads the answers of the endpoint that the settings choose. It reads
    /// whole answers too: a server may send one where a stream was asked for.
    pub fn decoding(&self, settings: &Settings) -> Decoder {
        let generated: &[(&str, Take)] = match Api::of(settings) {
            Api::Chat => &CHAT,
            Api::Completions => &COMPLETIONS,
        };
        let rule = |&(pointer, take): &(&str, Take)| Rule { pointer: pointer.to_owned(), take, cumulative: false };
        Decoder::Plan(DecodePlan {
            framing: Framing::ServerSentEvents,
            done: Some("[DONE]".to_owned()),
            rules: generated.iter().chain(&COMMON).map(rule).collect(),
            finish_reasons: FINISH_REASONS.iter().map(|&(word, reason)| (word.to_owned(), reason)).collect(),
        })
    }
}
