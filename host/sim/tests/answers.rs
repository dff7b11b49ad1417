//! What the simulated engine answers, over real sockets.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use bench_core::clock::Nanos;
use bench_sim::{KeepAlive, ReasoningField, RoleChunk, SimConfig, SimHandle, SimServer, UsageMode};
use common::{Client, End, ask, chat};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read;

fn quick() -> SimConfig {
    SimConfig { ttft: Nanos::from_millis(2), itl: Nanos::from_millis(1), ..SimConfig::default() }
}

fn sim(config: SimConfig) -> SimHandle {
    SimServer::spawn(config).unwrap()
}

#[test]
fn a_stream_has_what_was_asked_and_nothing_else() {
    let sim = sim(quick());
    let answer = ask(sim.addr(), &chat(20, &json!({})));
    assert_eq!((answer.status, answer.end), (200, End::Whole));
    assert!(answer.head.contains("content-type: text/event-stream"), "{}", answer.head);
    assert!(answer.done());
    let objects = answer.objects();
    assert_eq!(objects.len(), 21);
    assert_eq!(objects[0]["choices"][0]["delta"], json!({"role": "assistant", "content": ""}));
    assert_eq!(answer.contents().len(), 20);
    let finishes: Vec<_> = objects.iter().map(|o| o["choices"][0]["finish_reason"].clone()).collect();
    assert!(finishes[..20].iter().all(Value::is_null));
    assert_eq!(finishes[20], "length");
    for object in &objects {
        assert_eq!((&object["object"], &object["model"]), (&json!("chat.completion.chunk"), &json!("sim")));
        assert_eq!(object["id"], objects[0]["id"]);
        assert!(object.get("usage").is_none());
    }
    sim.stop().unwrap();
}

#[test]
fn the_text_depends_on_seed_and_prompt_alone() {
    let text = |seed, prompt: &str, stream: bool| {
        let sim = sim(SimConfig { seed, ..quick() });
        let more = json!({"messages": [{"role": "user", "content": prompt}], "stream": stream});
        let answer = ask(sim.addr(), &chat(30, &more));
        match stream {
            true => answer.contents().concat(),
            false => answer.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned(),
        }
    };
    let first = text(1, "a", true);
    assert_eq!(first.split(' ').count(), 30);
    assert_eq!(first, text(1, "a", true));
    assert_eq!(first, text(1, "a", false));
    assert_ne!(first, text(2, "a", true));
    assert_ne!(first, text(1, "b", true));
}

/// (prompt, completion) tokens of each event's usage; `None` where it has none.
fn usages(answer: &common::Answer) -> Vec<Option<(u64, u64)>> {
    let usage = |o: Value| {
        let usage = o.get("usage")?.clone();
        let (prompt, completion) =
            (usage["prompt_tokens"].as_u64().unwrap(), usage["completion_tokens"].as_u64().unwrap());
        assert_eq!(usage["total_tokens"], prompt + completion);
        Some((prompt, completion))
    };
    answer.objects().into_iter().map(usage).collect()
}

#[test]
fn usage_comes_in_every_form() {
    let asked = json!({"stream_options": {"include_usage": true}});
    let continuous = json!({"stream_options": {"include_usage": true, "continuous_usage_stats": true}});
    let none = json!({});
    // "How are you today?" has 18 bytes: 5 tokens. The first event is the role.
    let each = vec![Some((5, 0)), Some((5, 1)), Some((5, 2)), Some((5, 3)), Some((5, 3))];
    let last = vec![None, None, None, None, Some((5, 3))];
    let with_finish = vec![None, None, None, Some((5, 3))];
    let never = vec![None; 4];
    for (mode, request, expected) in [
        (UsageMode::Final, &none, &never),
        (UsageMode::Final, &asked, &last),
        (UsageMode::Final, &continuous, &each),
        (UsageMode::Continuous, &none, &never),
        (UsageMode::Continuous, &asked, &each),
        (UsageMode::WithFinish, &none, &with_finish),
        (UsageMode::WithFinish, &asked, &with_finish),
        (UsageMode::None, &none, &never),
        (UsageMode::None, &continuous, &never),
    ] {
        let sim = sim(SimConfig { usage: mode, ..quick() });
        let answer = ask(sim.addr(), &chat(3, request));
        assert_eq!(usages(&answer), *expected, "{mode} {request}");
        assert!(answer.done());
        let has_choices = answer.objects().last().unwrap()["choices"].as_array().is_some_and(|c| !c.is_empty());
        assert_eq!(has_choices, expected.len() == 4, "the usage event of its own has no choices");
    }
}

#[test]
fn several_tokens_in_an_event_and_reasoning_apart_from_text() {
    for (field, name) in
        [(ReasoningField::ReasoningContent, "reasoning_content"), (ReasoningField::Reasoning, "reasoning")]
    {
        let config = SimConfig { tokens_per_chunk: 4, reasoning_tokens: 6, reasoning_field: field, ..quick() };
        let sim = sim(config);
        let answer = ask(sim.addr(), &chat(11, &json!({"stream_options": {"include_usage": true}})));
        let channel = |key: &str| -> Vec<usize> {
            let texts = answer.objects();
            let texts = texts.iter().filter_map(|o| o["choices"][0]["delta"][key].as_str());
            texts.filter(|t| !t.is_empty()).map(|t| t.split_whitespace().count()).collect()
        };
        // Steps of 4, 4 and 3 tokens; the second has the last two of the reasoning and the first two of the text.
        assert_eq!(channel(name), [4, 2]);
        assert_eq!(channel("content"), [2, 3]);
        assert_eq!(usages(&answer).last().unwrap(), &Some((5, 11)));
        let whole = ask(sim.addr(), &chat(11, &json!({"stream": false}))).json();
        let message = &whole["choices"][0]["message"];
        let count = |key: &str| message[key].as_str().unwrap().split_whitespace().count();
        assert_eq!((count(name), count("content")), (6, 5));
    }
}

#[test]
fn the_role_comes_where_it_is_set() {
    for (role, events) in [(RoleChunk::WithFirst, 3), (RoleChunk::Early, 3), (RoleChunk::None, 2)] {
        let config = SimConfig { role_chunk: role, ttft: Nanos::from_millis(800), ..quick() };
        let sim = sim(config);
        let answer = ask(sim.addr(), &chat(2, &json!({})));
        assert_eq!(answer.objects().len(), events, "{role}");
        let times: Vec<_> = answer.timed_events().into_iter().map(|(time, _)| time.as_millis()).collect();
        match role {
            RoleChunk::Early => assert!(times[0] < 800 && times[1] >= 800, "{times:?}"),
            RoleChunk::WithFirst | RoleChunk::None => assert!(times[0] >= 800, "{times:?}"),
        }
    }
}

#[test]
fn completions_take_text_and_token_ids() {
    let sim = sim(quick());
    for (prompt, tokens) in [(json!("How are you today?"), 5), (json!([1, 2, 3, 4, 5, 6, 7]), 7)] {
        let body = json!({"model": "sim", "prompt": prompt, "max_tokens": 4, "stream": true,
            "stream_options": {"include_usage": true}});
        let answer = Client::new(sim.addr()).post("/v1/completions", "", &body).unwrap();
        assert_eq!(answer.contents().len(), 4);
        assert_eq!(usages(&answer), [None, None, None, None, Some((tokens, 4))]);
        assert_eq!(answer.finish().as_deref(), Some("length"));
        let body = json!({"prompt": prompt, "max_tokens": 4});
        let whole = Client::new(sim.addr()).post("/v1/completions", "", &body).unwrap().json();
        assert_eq!(whole["choices"][0]["text"], answer.contents().concat());
        assert_eq!(
            whole["usage"],
            json!({"prompt_tokens": tokens, "completion_tokens": 4, "total_tokens": tokens + 4})
        );
    }
}

#[test]
fn the_model_may_end_by_itself() {
    let sim = sim(SimConfig { stop_eos: Some(3), ..quick() });
    let short = ask(sim.addr(), &chat(9, &json!({})));
    assert_eq!((short.contents().len(), short.finish().as_deref()), (3, Some("stop")));
    let long = ask(sim.addr(), &chat(9, &json!({"ignore_eos": true})));
    assert_eq!((long.contents().len(), long.finish().as_deref()), (9, Some("length")));
}

#[test]
fn a_connection_stays_or_is_closed_unannounced() {
    let sim_normal = sim(quick());
    let mut client = Client::new(sim_normal.addr());
    for _ in 0..3 {
        assert!(client.post("/v1/chat/completions", "", &chat(3, &json!({}))).unwrap().done());
    }
    let closing = sim(SimConfig { keep_alive: KeepAlive::CloseAfterStream, ..quick() });
    let mut client = Client::new(closing.addr());
    // Only streams end so.
    assert_eq!(client.get("/health").unwrap().status, 200);
    assert_eq!(client.post("/v1/chat/completions", "", &chat(3, &json!({"stream": false}))).unwrap().status, 200);
    let answer = client.post("/v1/chat/completions", "", &chat(3, &json!({}))).unwrap();
    assert_eq!(answer.end, End::Whole);
    assert!(answer.done() && !answer.head.contains("connection: close"), "{}", answer.head);
    assert!(client.is_closed());
}

#[test]
fn gzip_reaches_the_reader_event_by_event() {
    let sim = sim(SimConfig { gzip: true, itl: Nanos::from_millis(200), ..quick() });
    let mut client = Client::new(sim.addr());
    let plain = client.post("/v1/chat/completions", "", &chat(5, &json!({}))).unwrap();
    assert!(!plain.head.contains("content-encoding"));
    let headers = "accept-encoding: gzip, br\r\n";
    let packed = client.post("/v1/chat/completions", headers, &chat(5, &json!({}))).unwrap();
    assert!(packed.head.contains("content-encoding: gzip"), "{}", packed.head);
    let mut text = String::new();
    GzDecoder::new(packed.body.as_slice()).read_to_string(&mut text).unwrap();
    assert_eq!(text.matches("data: ").count(), 7);
    assert_eq!(text.matches("\"content\":\"").count(), 6);
    // Role, five tokens, [DONE], trailer.
    assert_eq!(packed.chunks.len(), 8);
    assert!(packed.chunks[1].0.as_millis() < 802 && packed.chunks[5].0.as_millis() >= 802);
}

#[test]
fn stamps_are_the_time_of_sending() {
    let sim = sim(SimConfig { stamp: true, ..quick() });
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let before = now();
    let answer = ask(sim.addr(), &chat(5, &json!({})));
    let after = now();
    let stamps: Vec<u128> = answer
        .objects()
        .iter()
        .map(|o| o["id"].as_str().unwrap().strip_prefix("chatcmpl-").unwrap().parse().unwrap())
        .collect();
    assert_eq!(stamps.len(), 6);
    assert!(stamps.is_sorted() && stamps[0] > before && stamps[5] < after, "{before} {stamps:?} {after}");
    // 2 ms to the first token and four gaps of 1 ms.
    assert!(stamps[5] - before >= 6_000_000);
}

#[test]
fn the_other_endpoints_and_mistakes() {
    let sim = sim(SimConfig { api_key: Some("k".into()), max_model_len: 4096, ..quick() });
    let mut client = Client::new(sim.addr());
    assert_eq!(client.get("/health").unwrap().status, 200);
    assert!(client.get("/version").unwrap().json()["version"].is_string());
    let refused = client.get("/v1/models").unwrap();
    assert_eq!((refused.status, refused.json()["error"]["code"].as_u64()), (401, Some(401)));
    let key = "authorization: Bearer k\r\n";
    let models = client.send(&format!("GET /v1/models HTTP/1.1\r\nhost: sim\r\n{key}\r\n")).unwrap().json();
    assert_eq!((&models["data"][0]["id"], &models["data"][0]["max_model_len"]), (&json!("sim"), &json!(4096)));
    for (path, body, status) in [
        ("/v1/chat/completions", chat(1, &json!({"model": "x"})), 404),
        ("/v1/chat/completions", chat(5000, &json!({})), 400),
        ("/v1/chat/completions", json!({"model": "sim"}), 400),
        ("/v1/completions", json!([]), 400),
        ("/v1/embeddings", json!({}), 404),
        ("/v1/models", json!({}), 405),
    ] {
        let answer = client.post(path, key, &body).unwrap();
        assert_eq!(answer.status, status, "{path} {body}");
        assert!(answer.json()["error"]["message"].is_string());
    }
    assert_eq!(client.post("/v1/chat/completions", key, &chat(2, &json!({}))).unwrap().contents().len(), 2);
}

#[test]
fn metrics_count_what_was_streamed() {
    let sim = sim(quick());
    for tokens in [3, 4, 5] {
        ask(sim.addr(), &chat(tokens, &json!({"stream": tokens != 4})));
    }
    let text = Client::new(sim.addr()).get("/metrics").unwrap().text();
    for line in [
        "sim:prompt_tokens_total{model_name=\"sim\"} 15",
        "sim:generation_tokens_total{model_name=\"sim\"} 12",
        "sim:requests_total{model_name=\"sim\"} 3",
        "sim:num_requests_running{model_name=\"sim\"} 0",
        "sim:num_requests_waiting{model_name=\"sim\"} 0",
        "# TYPE sim:generation_tokens_total counter",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} in {text}");
    }
}
