use super::*;
use crate::stream::{FrameLimits, Framer, Mark};
use bench_core::clock::Nanos;
use bench_core::decode::Framing;

fn rule(pointer: &str, take: Take) -> Rule {
    Rule { pointer: pointer.to_owned(), take, cumulative: false }
}

fn read(rules: Vec<Rule>, frames: &[&str]) -> (Decoded, Option<DecodeError>) {
    let plan = DecodePlan { rules, finish_reasons: vec![("gave_up".to_owned(), FinishReason::Aborted)] };
    PlanDecoder::new(&plan, Some("[DONE]")).read(&framed(frames.iter().map(|f| f.as_bytes())))
}

/// As a stream brings them.
fn framed<'f>(frames: impl IntoIterator<Item = &'f [u8]>) -> Frames {
    let limits = FrameLimits { max_event_bytes: 1 << 20, max_response_bytes: 1 << 20 };
    let mut framer = Framer::new(Framing::ServerSentEvents, limits);
    let mut into = Frames::default();
    for (number, frame) in (0..).zip(frames) {
        let mark = Mark { stamp: Nanos(number), read: Nanos(number), number, kernel: true };
        framer.push(&[b"data: ", frame, b"\n\n"].concat(), mark, &mut into).unwrap();
    }
    into
}

fn chat() -> Vec<Rule> {
    vec![
        rule("/choices/0/delta/content", Take::Text),
        rule("/choices/0/delta/reasoning", Take::Reasoning),
        rule("/choices/0/delta/reasoning_content", Take::Reasoning),
        rule("/choices/0/delta/tool_calls", Take::ToolCall),
        rule("/choices/0/delta/role", Take::Role),
        rule("/choices/0/finish_reason", Take::FinishReason),
        rule("/usage/completion_tokens", Take::GeneratedTokens),
        rule("/usage/prompt_tokens", Take::PromptTokens),
        rule("/error", Take::Error),
    ]
}

#[test]
fn a_frame_has_one_event_for_each_channel() {
    let (d, fault) = read(
        chat(),
        &[
            r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"hm","content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0}]}}],"x":[1,{"y":2}]}"#,
            r#"{"choices":[],"usage":{"completion_tokens":3,"prompt_tokens":9}}"#,
            "[DONE]",
        ],
    );
    use EventKind::{Other, Reasoning, Role, Text, Tool, Usage as U};
    assert_eq!(fault, None);
    assert_eq!(d.kinds, [Role, Reasoning, Text, Other, Tool, U]);
    assert_eq!(d.frames, [0, 1, 1, 2, 3, 4]);
    assert_eq!(d.text_ends, [0, 2, 1, 1, 1, 1]);
    assert_eq!((d.text.as_str(), d.reasoning.as_str()), ("a", "hm"));
    assert_eq!(d.usage.unwrap().generated_tokens, Some(3));
    assert!(!d.usage_is_cumulative);
}

#[test]
fn the_same_reasoning_under_two_keys_is_taken_once() {
    let (d, _) = read(chat(), &[r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}"#]);
    assert_eq!(d.reasoning, "hm");
}

#[test]
fn running_usage_gives_tokens_to_content_alone() {
    let frame = |text: &str, n: u32| {
        format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}],"usage":{{"completion_tokens":{n}}}}}"#)
    };
    let frames = [frame("a", 1), frame("", 2), frame("b", 3), frame("cde", 6)];
    let (d, _) = read(chat(), &frames.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(d.usage_is_cumulative);
    assert_eq!(d.tokens, [Some(1), None, Some(2), Some(3)]);
}

#[test]
fn cumulative_texts_and_token_ids_give_what_is_new() {
    let rules = vec![
        Rule { cumulative: true, ..rule("/text", Take::Text) },
        Rule { cumulative: true, ..rule("/ids", Take::TokenIds) },
        rule("/meta/finish_reason/type", Take::FinishReason),
    ];
    let (d, _) = read(
        rules,
        &[
            r#"{"text":"Gr","ids":[5],"meta":{"finish_reason":null}}"#,
            r#"{"text":"Grüß","ids":[5,6,7],"meta":{"finish_reason":null}}"#,
            r#"{"text":"Grüße","ids":[5,6,7,8],"meta":{"finish_reason":{"type":"gave_up"}}}"#,
        ],
    );
    assert_eq!(d.text, "Grüße");
    assert_eq!(d.text_ends, [2, 6, 7]);
    assert_eq!(d.tokens, [Some(1), Some(2), Some(1)]);
    assert_eq!(d.finish, Some(("gave_up".to_owned(), FinishReason::Aborted)));
}

#[test]
fn errors_in_their_forms() {
    let error = |frame: &str| read(chat(), &[frame]).0.error;
    assert_eq!(error(r#"{"error":"died"}"#).as_deref(), Some("died"));
    assert_eq!(error(r#"{"error":{"message":"died","code":500}}"#).as_deref(), Some("died"));
    assert_eq!(error(r#"{"error":{"code":500}}"#).as_deref(), Some(r#"{"code":500}"#));
    assert_eq!(error(r#"{"error":null}"#), None);
}

#[test]
fn a_broken_frame_is_told_and_the_others_are_read() {
    let (d, fault) = read(chat(), &[r#"{"choices":[{"delta":{"content":"a"}}]}"#, r#"{"choices":["#]);
    assert_eq!(d.text, "a");
    let fault = fault.unwrap();
    assert_eq!(fault.frame, Some(1));
    assert!(fault.to_string().starts_with("frame 1: not JSON"), "{fault}");
}

#[test]
fn bytes_that_are_no_utf8_are_replaced() {
    let plan = DecodePlan { rules: chat(), finish_reasons: vec![] };
    let frame: &[u8] = b"{\"choices\":[{\"delta\":{\"content\":\"a\xffb\"}}]}";
    let (d, fault) = PlanDecoder::new(&plan, None).read(&framed([frame]));
    assert_eq!((d.text.as_str(), fault), ("a\u{fffd}b", None));
}

#[test]
fn pointers_are_unescaped_and_reach_into_taken_values() {
    let rules = vec![rule("/a~1b/~0", Take::Text), rule("/error", Take::Error), rule("/error/why", Take::Reasoning)];
    let (d, _) = read(rules, &[r#"{"a/b":{"~":"x"},"error":{"message":"m","why":"because"}}"#]);
    assert_eq!((d.text.as_str(), d.reasoning.as_str(), d.error.as_deref()), ("x", "because", Some("m")));
}

#[test]
fn a_frame_like_the_one_before_says_what_it_would_say_alone() {
    let frame = |content: &str, more: &str| {
        format!(
            r#"{{"id":"c-1","choices":[{{"index":0,"delta":{{"content":{content}}},"finish_reason":null}}]{more}}}"#
        )
    };
    let both = |a: &str, b: &str| format!(r#"{{"choices":[{{"delta":{{"reasoning":{a},"reasoning_content":{b}}}}}]}}"#);
    let mut frames: Vec<String> = [
        r#"" the""#,
        r#"" the""#,
        r#"" theory""#,
        r#"" then""#,
        r#""aa""#,
        r#""a""#,
        r#""\n\"x\u00e9\ud83d\ude00""#,
        r#""""#,
        r#"null"#,
        r#""x""#,
        r#""a\",\"b""#,
        r#""x","content":"y""#,
        r#""x","role":"assistant""#,
        r#""z","role":"assistant""#,
        "\"\t\"",
        r#""broken"#,
        r#"17"#,
        r#""\ud800""#,
        r#"" end""#,
    ]
    .map(|content| frame(content, ""))
    .into();
    frames.extend(
        [r#","usage":{"completion_tokens":7}"#, r#","error":null"#, r#","error":"x""#].map(|m| frame("\"u\"", m)),
    );
    let id = |id: &str, content: &str| {
        format!(
            r#"{{"id":"{id}","n":[1,"x"],"choices":[{{"index":0,"delta":{{"content":"{content}"}}}}],"model":"m-{id}"}}"#
        )
    };
    frames.extend([id("chat-1-aa-7", " a"), id("chat-2-ab-8", " of"), id("chat-10-ab-9", "x"), id("a\\u0041", "x")]);
    frames.extend([id("chat-1-aa-7\",\"e\":\"", "b"), id("chat-2-a\u{e9}-8", "b"), id("", ""), id("y", "w")]);
    frames.extend([both("\"x\"", "\"x\""), both("\"y\"", "\"x\""), both("\"y\"", "null"), both("\"z\"", "null")]);
    let plan = DecodePlan { rules: chat(), finish_reasons: Vec::new() };
    let decoder = PlanDecoder::new(&plan, None);
    // Each frame after each other one: what comes of the second must not depend on the first.
    for before in &frames {
        for after in &frames {
            let (alone, fault) = decoder.read(&framed([after.as_bytes()]));
            let (first, _) = decoder.read(&framed([before.as_bytes()]));
            let (pair, pair_fault) = decoder.read(&framed([before.as_bytes(), after.as_bytes()]));
            assert_eq!(pair.text, format!("{}{}", first.text, alone.text), "{before}\n{after}");
            assert_eq!(pair.reasoning, format!("{}{}", first.reasoning, alone.reasoning), "{before}\n{after}");
            assert_eq!(pair.kinds, [first.kinds.clone(), alone.kinds.clone()].concat(), "{before}\n{after}");
            assert!(fault.is_none() || pair_fault.is_some(), "{before}\n{after}");
        }
    }
}
