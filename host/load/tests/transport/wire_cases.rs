//! What a server can put on the wire, through real sockets, and what a row must say of it.

use crate::common::{self, After, Server};
use bench_core::clock::{Clock, MonotonicClock, Nanos};
use bench_core::record::{RequestRecord, Stamp, TokenSource};
use serde_json::Value;
use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Stamps may be off by the clocks' placing.
const EARLY: Nanos = Nanos(50_000);
/// A busy machine may run the network's soft interrupt late.
const LATE: Nanos = Nanos::from_millis(20);

/// When each step was written: before and after the call.
type Writes = Arc<Mutex<Vec<(Nanos, Nanos)>>>;

fn cases() -> Vec<Value> {
    serde_json::from_slice(&std::fs::read(common::data("wire/cases.json")).unwrap()).unwrap()
}

fn play(case: &Value, clock: &MonotonicClock, writes: &Writes, stream: &mut TcpStream) -> After {
    let gzip = case["content_encoding"] == "gzip";
    let mut head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {}\r\ntransfer-encoding: chunked\r\n",
        case["content_type"].as_str().unwrap()
    );
    if gzip {
        head.push_str("content-encoding: gzip\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut due = clock.now();
    for step in case["steps"].as_array().unwrap() {
        due = due + Nanos::from_millis(step["after_ms"].as_u64().unwrap());
        std::thread::sleep((due - clock.now()).to_duration());
        if step["reset"] == true {
            return After::Reset;
        }
        let mut data = common::base64(step["bytes_b64"].as_str().unwrap());
        if gzip {
            encoder.write_all(&data).unwrap();
            encoder.flush().unwrap();
            data = std::mem::take(encoder.get_mut());
        }
        let before = clock.now();
        stream.write_all(&common::chunk(&data)).unwrap();
        writes.lock().unwrap().push((before, clock.now()));
        // Keep the network's cuts where the case puts them.
        std::thread::sleep(Duration::from_millis(1));
    }
    if gzip {
        stream.write_all(&common::chunk(&encoder.finish().unwrap())).unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    After::Keep
}

/// Index of the write that completes the content at `ms` after the answer's start.
fn write_at(case: &Value, ms: u64) -> usize {
    let mut due = 0;
    let times: Vec<u64> = case["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| {
            due += s["after_ms"].as_u64().unwrap();
            due
        })
        .collect();
    times.iter().position(|&t| t == ms).unwrap()
}

fn assert_time(
    (name, what): (&str, &str),
    row: &RequestRecord,
    got: Option<Nanos>,
    case: &Value,
    writes: &[(Nanos, Nanos)],
    ms: &Value,
) {
    let Some(ms) = ms.as_u64() else {
        assert!(ms.is_null());
        return;
    };
    let (before, after) = writes[write_at(case, ms)];
    let got = got.unwrap_or_else(|| panic!("{name}: no {what}"));
    assert!(got + EARLY >= before, "{name}: {what} at {got}, written at {before}");
    // A read that came so late that it brought the next event too has that one's time, and says so.
    let events = row.events.as_ref().unwrap();
    let merged = events.merged.iter().any(|m| *m);
    assert!(merged || got <= after + LATE, "{name}: {what} at {got}, written until {after}");
}

fn check(case: &Value, row: &RequestRecord, writes: &[(Nanos, Nanos)]) {
    let name = case["name"].as_str().unwrap();
    let expect = &case["expect"];
    assert_eq!(row.outcome.as_str(), expect["outcome"].as_str().unwrap(), "{name}: {row:#?}");
    assert_eq!(row.output_text.as_deref(), expect["text"].as_str(), "{name}");
    assert_eq!(row.finish_reason.as_deref(), expect["finish_reason"].as_str(), "{name}");
    assert_eq!(row.reasoning_text.as_deref(), expect["reasoning"].as_str(), "{name}");
    if let Some(error) = expect["error"].as_str() {
        assert_eq!(row.error.as_deref(), Some(error), "{name}");
    }
    if let Some(n) = expect["output_tokens"].as_u64() {
        assert_eq!(row.output_tokens, Some(n as u32), "{name}");
        assert_eq!(row.token_source, Some(TokenSource::Usage), "{name}");
    }
    if let Some(n) = expect["prompt_tokens"].as_u64() {
        assert_eq!(row.prompt_tokens, Some(n as u32), "{name}");
    }
    assert_eq!(row.streamed, Some(true), "{name}");
    assert_eq!(row.stamp, Some(Stamp::Kernel), "{name}");
    if expect.get("ttft_ms").is_some() {
        assert_time((name, "first token"), row, row.first_token, case, writes, &expect["ttft_ms"]);
        assert_eq!(row.first_token.is_some(), !expect["ttft_ms"].is_null(), "{name}");
    }
    if expect.get("last_token_ms").is_some() {
        assert_time((name, "last token"), row, row.last_token, case, writes, &expect["last_token_ms"]);
    }
    if expect.get("ttft_content_ms").is_some() {
        assert_eq!(row.first_content, None, "{name}");
    }
    let events = row.events.as_ref().unwrap();
    assert_eq!(events.gap_us.len(), events.kind.len(), "{name}");
    let (sent, last) = (row.sent.unwrap(), row.last_token);
    assert!(last.is_none_or(|l| l >= row.first_token.unwrap() && l > sent && row.end >= l), "{name}");
}

#[test]
fn every_case_gives_the_row_that_it_must() {
    for case in cases() {
        let clock = MonotonicClock::start();
        let writes = Writes::default();
        let (played, served) = (case.clone(), writes.clone());
        let server = Server::start(move |stream, _| play(&played, &clock, &served, stream));
        let (rows, _) = common::run_with(common::job(&server.url, 1), &clock, Arc::default());
        check(&case, &common::only(rows), &writes.lock().unwrap());
    }
}

#[test]
fn tokens_without_usage_come_from_the_tokenizer_or_the_events() {
    struct Letters;
    impl bench_core::tokens::TokenCounter for Letters {
        fn count(&self, text: &str) -> u32 {
            text.chars().count() as u32
        }
    }
    let case = cases().into_iter().find(|c| c["name"] == "21_no_usage").unwrap();
    let clock = MonotonicClock::start();
    let server = Server::start(move |stream, _| play(&case, &clock, &Writes::default(), stream));
    let row = common::one(&server.url);
    assert_eq!((row.output_tokens, row.token_source), (Some(3), Some(TokenSource::Events)));
    assert_eq!(row.events.unwrap().tokens, None);
    let mut job = common::job(&server.url, 1);
    job.counter = Some(Arc::new(Letters));
    let row = common::only(common::run(job).0);
    assert_eq!((row.output_tokens, row.token_source), (Some(6), Some(TokenSource::Tokenizer)));
    assert_eq!(row.events.unwrap().tokens.unwrap(), [0, 3, 2, 1]);
}
