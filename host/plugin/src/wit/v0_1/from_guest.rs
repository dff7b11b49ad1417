//! Answers of an adapter of this version as nouns of `bench-core`.

use super::bindings::engine::bench::adapter::types;
use super::bindings::engine::bench::engine::{requests, responses};
use crate::error::{AdapterError, CallError};
use crate::state::for_people;
use bench_core::adapter::{AdapterDiagnostic, AdapterInfo, Features, Setting, SettingKind, SettingValue, Severity};
use bench_core::decode::{
    DecodeError, DecodePlan, Decoded, EventKind, FinishReason, Framing, Rule, StreamFormat, Take, Usage,
};
use bench_core::request::Endpoint;
use bench_core::sample::{Message, Part, Prompt, Role, Sampling};

pub(super) fn info(i: types::Info) -> AdapterInfo {
    AdapterInfo {
        id: i.id,
        name: i.name,
        version: i.version,
        summary: i.summary,
        license: i.license,
        homepage: i.homepage,
    }
}

pub(super) fn setting(s: types::Setting) -> Setting {
    let kind = match s.kind {
        types::SettingKind::Boolean => SettingKind::Boolean,
        types::SettingKind::Integer(r) => SettingKind::Integer { min: r.min, max: r.max },
        types::SettingKind::Number(r) => SettingKind::Number { min: r.min, max: r.max },
        types::SettingKind::Text => SettingKind::Text,
        types::SettingKind::Choice(items) => SettingKind::Choice(items.into_iter().map(|i| (i.name, i.doc)).collect()),
        types::SettingKind::TextList => SettingKind::TextList,
        types::SettingKind::TextMap => SettingKind::TextMap,
        types::SettingKind::Duration => SettingKind::Duration,
        types::SettingKind::Size => SettingKind::Size,
        types::SettingKind::Source => SettingKind::Source,
    };
    Setting {
        key: s.key,
        doc: s.doc,
        kind,
        default: s.default.map(value),
        required: s.required,
        engine_option: s.engine_option,
        deprecated: s.deprecated,
    }
}

fn value(v: types::Value) -> SettingValue {
    match v {
        types::Value::Boolean(v) => SettingValue::Boolean(v),
        types::Value::Integer(v) => SettingValue::Integer(v),
        types::Value::Number(v) => SettingValue::Number(v),
        types::Value::Text(v) => SettingValue::Text(v),
        types::Value::TextList(v) => SettingValue::TextList(v),
        types::Value::TextMap(v) => SettingValue::TextMap(v.into_iter().collect()),
    }
}

pub(super) fn diagnostics(d: Vec<types::Diagnostic>) -> Vec<AdapterDiagnostic> {
    let one = |d: types::Diagnostic| AdapterDiagnostic {
        severity: match d.severity {
            types::Severity::Note => Severity::Note,
            types::Severity::Warning => Severity::Warning,
            types::Severity::Error => Severity::Error,
        },
        key: d.key.as_deref().map(for_people),
        message: for_people(&d.message),
        help: d.help.as_deref().map(for_people),
    };
    d.into_iter().map(one).collect()
}

/// An adapter's own error ends the call.
pub(super) fn answer<T>(result: Result<T, types::Error>) -> Result<T, CallError> {
    result.map_err(|e| {
        CallError::Adapter(match e {
            types::Error::InvalidSettings(d) => AdapterError::InvalidSettings(diagnostics(d)),
            types::Error::Unsupported(what) => AdapterError::Unsupported(for_people(&what)),
            types::Error::Malformed(m) => {
                AdapterError::Malformed { what: for_people(&m.what), offset: m.offset, message: for_people(&m.message) }
            }
            types::Error::Internal(what) => AdapterError::Internal(for_people(&what)),
        })
    })
}

pub(super) fn features(f: requests::Features) -> Features {
    use requests::Features as F;
    Features {
        chat: f.contains(F::CHAT),
        text_prompt: f.contains(F::TEXT_PROMPT),
        token_prompt: f.contains(F::TOKEN_PROMPT),
        streaming: f.contains(F::STREAMING),
        ignore_eos: f.contains(F::IGNORE_EOS),
        min_tokens: f.contains(F::MIN_TOKENS),
        stop_texts: f.contains(F::STOP_TEXTS),
        seed: f.contains(F::SEED),
        logprobs: f.contains(F::LOGPROBS),
        tools: f.contains(F::TOOLS),
        reasoning: f.contains(F::REASONING),
        usage_in_stream: f.contains(F::USAGE_IN_STREAM),
        token_ids_out: f.contains(F::TOKEN_IDS_OUT),
        json_schema: f.contains(F::JSON_SCHEMA),
        images: f.contains(F::IMAGES),
    }
}

pub(super) fn endpoint(e: requests::Endpoint) -> Endpoint {
    let method = match e.method {
        requests::Method::Post => "POST",
        requests::Method::Get => "GET",
        requests::Method::Put => "PUT",
    };
    Endpoint { method: method.to_owned(), path: e.path, headers: e.headers }
}

pub(super) fn prompt(p: requests::Prompt) -> Prompt {
    match p {
        requests::Prompt::Text(t) => Prompt::Text(t),
        requests::Prompt::Tokens(ids) => Prompt::Tokens(ids),
        requests::Prompt::Messages(m) => Prompt::Messages(m.into_iter().map(message).collect()),
    }
}

fn message(m: requests::Message) -> Message {
    let role = match m.role {
        requests::Role::System => Role::System,
        requests::Role::User => Role::User,
        requests::Role::Assistant => Role::Assistant,
        requests::Role::Tool => Role::Tool,
    };
    let part = |p| match p {
        requests::Part::Text(t) => Part::Text(t),
        requests::Part::Image(url) => Part::Image(url),
    };
    Message { role, content: m.content.into_iter().map(part).collect(), tool_call_id: m.tool_call_id }
}

pub(super) fn sampling(s: requests::Sampling) -> Sampling {
    Sampling { temperature: s.temperature, top_p: s.top_p, top_k: s.top_k, seed: s.seed }
}

pub(super) fn stream_format(d: responses::Decoder) -> StreamFormat {
    match d {
        responses::Decoder::Plan(p) => StreamFormat {
            framing: framing(p.framing),
            done: p.done,
            plan: Some(DecodePlan {
                rules: p.rules.into_iter().map(rule).collect(),
                finish_reasons: p.finish_reasons.into_iter().map(|(w, r)| (w, finish_reason(r))).collect(),
            }),
        },
        responses::Decoder::Guest(f) => StreamFormat { framing: framing(f), done: None, plan: None },
    }
}

fn framing(f: responses::Framing) -> Framing {
    match f {
        responses::Framing::ServerSentEvents => Framing::ServerSentEvents,
        responses::Framing::JsonLines => Framing::JsonLines,
        responses::Framing::Whole => Framing::Whole,
    }
}

fn rule(r: responses::Rule) -> Rule {
    let take = match r.take {
        responses::Take::Text => Take::Text,
        responses::Take::Reasoning => Take::Reasoning,
        responses::Take::ToolCall => Take::ToolCall,
        responses::Take::Role => Take::Role,
        responses::Take::TokenIds => Take::TokenIds,
        responses::Take::TokenCount => Take::TokenCount,
        responses::Take::FinishReason => Take::FinishReason,
        responses::Take::PromptTokens => Take::PromptTokens,
        responses::Take::CachedPromptTokens => Take::CachedPromptTokens,
        responses::Take::GeneratedTokens => Take::GeneratedTokens,
        responses::Take::ReasoningTokens => Take::ReasoningTokens,
        responses::Take::Error => Take::Error,
    };
    Rule { pointer: r.pointer, take, cumulative: r.cumulative }
}

fn finish_reason(r: responses::FinishReason) -> FinishReason {
    match r {
        responses::FinishReason::Stop => FinishReason::Stop,
        responses::FinishReason::Length => FinishReason::Length,
        responses::FinishReason::ToolCalls => FinishReason::ToolCalls,
        responses::FinishReason::ContentFilter => FinishReason::ContentFilter,
        responses::FinishReason::Aborted => FinishReason::Aborted,
        responses::FinishReason::Other => FinishReason::Other,
    }
}

/// A decoded answer, its columns checked against each other and against the number of frames: splitting
/// the text depends on it.
pub(super) fn decoded(d: responses::Decoded, frames: usize) -> Result<Decoded, DecodeError> {
    let broken = |frame, message: &str| {
        Err(DecodeError { frame, message: format!("the adapter broke the contract: {message}") })
    };
    let events = d.frames.len();
    if [d.kinds.len(), d.tokens.len(), d.text_ends.len()].iter().any(|n| *n != events) {
        return broken(None, "columns of events differ in length");
    }
    let mut out = Decoded::default();
    let mut start = 0;
    let mut last_frame = 0;
    for (i, frame) in d.frames.iter().copied().enumerate() {
        if frame as usize >= frames || frame < last_frame {
            return broken(Some(frame), "events are not in the order of the frames");
        }
        last_frame = frame;
        let Some(text) = d.text.get(start..d.text_ends[i] as usize) else {
            return broken(Some(frame), "an event's text ends before it starts, inside a character or behind all text");
        };
        start += text.len();
        let kind = event_kind(d.kinds[i]);
        let end = match kind {
            EventKind::Reasoning => {
                out.reasoning.push_str(text);
                out.reasoning.len()
            }
            EventKind::Text => {
                out.text.push_str(text);
                out.text.len()
            }
            _ => out.text.len(),
        };
        out.text_ends.push(end);
        out.kinds.push(kind);
        out.tokens.push((d.tokens[i] > 0).then_some(d.tokens[i]));
    }
    out.frames = d.frames;
    out.usage = d.usage.map(|u| Usage {
        prompt_tokens: Some(u.prompt_tokens),
        cached_tokens: u.cached_prompt_tokens,
        generated_tokens: Some(u.generated_tokens),
        reasoning_tokens: u.reasoning_tokens,
    });
    out.finish = d.finish.map(|f| (f.word, finish_reason(f.reason)));
    out.error = d.failure.map(|f| for_people(&format!("{}: {}", f.code, f.message)));
    Ok(out)
}

/// The adapter's own error of a response.
pub(super) fn decode_error(e: responses::DecodeError) -> DecodeError {
    let at = e.offset.map(|o| format!(" at byte {o}")).unwrap_or_default();
    DecodeError { frame: None, message: for_people(&format!("{}{at}: {}", e.what, e.message)) }
}

fn event_kind(k: responses::EventKind) -> EventKind {
    match k {
        responses::EventKind::Role => EventKind::Role,
        responses::EventKind::Text => EventKind::Text,
        responses::EventKind::Reasoning => EventKind::Reasoning,
        responses::EventKind::ToolCall => EventKind::Tool,
        responses::EventKind::Usage => EventKind::Usage,
        responses::EventKind::Other => EventKind::Other,
    }
}
