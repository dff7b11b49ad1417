//! The timings that are set are the timings that come: never early, and late by no more than the machine makes it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use bench_core::clock::Nanos;
use bench_sim::{SimConfig, SimServer, StepMode};
use common::{Client, ask, chat, content};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const MS: Duration = Duration::from_millis(1);

/// Times of the events with content, since the request was sent.
fn content_times(answer: &common::Answer) -> Vec<Duration> {
    let events = answer.timed_events().into_iter();
    events
        .filter(|(_, data)| serde_json::from_str::<Value>(data).is_ok_and(|o| content(&o).is_some()))
        .map(|(time, _)| time)
        .collect()
}

#[test]
fn ttft_and_itl_are_what_is_set_and_errors_do_not_add_up() {
    let config = SimConfig { ttft: Nanos::from_millis(80), itl: Nanos::from_millis(2), ..SimConfig::default() };
    let sim = SimServer::spawn(config).unwrap();
    let times = content_times(&ask(sim.addr(), &chat(500, &json!({}))));
    assert_eq!(times.len(), 500);
    let late: Vec<Duration> = times
        .iter()
        .enumerate()
        .map(|(i, time)| {
            let due = 80 * MS + u32::try_from(i).unwrap() * 2 * MS;
            time.checked_sub(due).unwrap_or_else(|| panic!("event {i} came at {time:?}, before {due:?}"))
        })
        .collect();
    // A busy machine delays some events, never all; a clock that drifts would delay all the later ones.
    for tenth in late.chunks(50) {
        assert!(tenth.iter().min().unwrap() < &(4 * MS), "{tenth:?}");
    }
}

#[test]
fn a_prompt_costs_its_prefill_and_a_full_engine_makes_wait() {
    let config = SimConfig {
        ttft: Nanos::from_millis(10),
        itl: Nanos::from_millis(10),
        prefill_rate: Some(100.0),
        max_num_seqs: 1,
        ..SimConfig::default()
    };
    let sim = SimServer::spawn(config).unwrap();
    // 18 bytes are 5 tokens: 50 ms of prefill.
    let alone = content_times(&ask(sim.addr(), &chat(1, &json!({}))));
    assert!(alone[0] >= 60 * MS, "{alone:?}");
    let addr = sim.addr();
    let start = Instant::now();
    let first = std::thread::spawn(move || content_times(&ask(addr, &chat(20, &json!({})))));
    let mut metrics = Client::new(addr);
    while !metrics.get("/metrics").unwrap().text().contains("sim:num_requests_running{model_name=\"sim\"} 1") {}
    let second = content_times(&ask(addr, &chat(1, &json!({}))));
    let ended = start.elapsed();
    // 60 ms to its first token and 19 gaps; then the other's turn, with 60 ms of its own.
    assert!(first.join().unwrap()[19] >= 250 * MS);
    assert_eq!(second.len(), 1);
    assert!(ended >= 310 * MS, "{ended:?}");
}

/// What one of many clients saw.
struct Seen {
    times: Vec<Duration>,
    done: bool,
}

/// A client that keeps the time of each event and nothing else.
async fn stream(addr: SocketAddr, tokens: usize) -> std::io::Result<Seen> {
    let mut socket = tokio::net::TcpStream::connect(addr).await?;
    let body = chat(u32::try_from(tokens).unwrap(), &json!({})).to_string();
    let request =
        format!("POST /v1/chat/completions HTTP/1.1\r\nhost: sim\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let sent = Instant::now();
    socket.write_all(request.as_bytes()).await?;
    let mut seen = Seen { times: Vec::new(), done: false };
    let (mut buffer, mut line) = ([0_u8; 4096], Vec::new());
    while !seen.done {
        let n = socket.read(&mut buffer).await?;
        if n == 0 {
            break;
        }
        for byte in &buffer[..n] {
            line.push(*byte);
            if line.ends_with(b"\n\n") {
                let text = String::from_utf8_lossy(&line);
                seen.done |= text.contains("data: [DONE]");
                if text.contains("\"delta\":{\"content\":") {
                    seen.times.push(sent.elapsed());
                }
                line.clear();
            }
        }
    }
    Ok(seen)
}

#[test]
fn a_thousand_streams_at_once() {
    const STREAMS: usize = 1000;
    const TOKENS: usize = 12;
    for step in [StepMode::Paced, StepMode::Sync] {
        let config =
            SimConfig { ttft: Nanos::from_millis(800), itl: Nanos::from_millis(150), step, ..SimConfig::default() };
        let sim = SimServer::spawn(config).unwrap();
        let addr = sim.addr();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let seen: Vec<Seen> = runtime.block_on(async {
            let clients: Vec<_> = (0..STREAMS).map(|_| tokio::spawn(stream(addr, TOKENS))).collect();
            let mut seen = Vec::new();
            for client in clients {
                seen.push(client.await.unwrap().unwrap());
            }
            seen
        });
        assert_eq!(seen.len(), STREAMS);
        for one in &seen {
            assert!(one.done && one.times.len() == TOKENS, "{step}: {} events", one.times.len());
            for (i, time) in one.times.iter().enumerate() {
                let due = 800 * MS + u32::try_from(i).unwrap() * 150 * MS;
                assert!(*time >= due, "{step}: event {i} came at {time:?}, before {due:?}");
            }
        }
        let text = Client::new(addr).get("/metrics").unwrap().text();
        assert!(text.contains("sim:generation_tokens_total{model_name=\"sim\"} 12000"), "{text}");
    }
}

#[test]
fn a_client_that_leaves_gives_its_place_back() {
    let config = SimConfig { ttft: Nanos::from_secs(3600), max_num_seqs: 1, ..SimConfig::default() };
    let sim = SimServer::spawn(config).unwrap();
    let mut metrics = Client::new(sim.addr());
    let mut running = |expected: u32| {
        let line = format!("sim:num_requests_running{{model_name=\"sim\"}} {expected}");
        let start = Instant::now();
        while !metrics.get("/metrics").unwrap().text().contains(&line) {
            assert!(start.elapsed() < Duration::from_secs(20), "{line}");
        }
    };
    for stream in [true, false] {
        let mut client = Client::new(sim.addr()).patience(10 * MS);
        client.post("/v1/chat/completions", "", &chat(1, &json!({"stream": stream})));
        running(1);
        drop(client);
        running(0);
    }
}
