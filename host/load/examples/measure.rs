//! Measures the client itself against a server of known times: CPU for each event, read lag, lateness.
//!
//! `measure URL CONCURRENCY REQUESTS [THREADS]`: a closed loop of chat requests to `URL`. Where the server
//! writes its real-time clock (ns) into the digits of `"id":"chatcmpl-<digits>` just before it sends an
//! event, the error of the event's time is told too.
#![expect(clippy::print_stdout, reason = "its figures are its result")]

use bench_core::clock::{Clock, MonotonicClock, Nanos};
use bench_core::decode::{DecodeError, Decoded, EventKind, FinishReason, FramedResponse, Framing};
use bench_core::decode::{ResponseDecoder, StreamFormat};
use bench_core::load::{ArrivalProcess, Limits, LoadKind, LoadSpec};
use bench_core::record::{Phase, RequestRecord};
use bench_core::request::{Endpoint, PreparedRequest};
use bench_load::{Control, LoadJob, RowContext, Target, Transport, Trust};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// For each request, when the server sent each event (ns of the real-time clock).
type Sends = Arc<Mutex<HashMap<u64, Vec<u64>>>>;

struct ReadIds(Sends);

impl ResponseDecoder for ReadIds {
    fn decode(&mut self, responses: Vec<FramedResponse>) -> Vec<Result<Decoded, DecodeError>> {
        let mut sends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = |r: FramedResponse| {
            let events: Vec<&String> = r.frames.iter().filter(|f| *f != "[DONE]").collect();
            let id = |f: &&String| f.split("chatcmpl-").nth(1).and_then(|d| d.get(..19)?.parse().ok()).unwrap_or(0);
            sends.insert(r.id, events.iter().map(id).collect());
            Ok(Decoded {
                frames: (0..events.len() as u32).collect(),
                kinds: vec![EventKind::Text; events.len()],
                tokens: vec![Some(1); events.len()],
                text_ends: vec![0; events.len()],
                finish: Some(("length".to_owned(), FinishReason::Length)),
                ..Decoded::default()
            })
        };
        responses.into_iter().map(read).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, concurrency, requests, threads @ ..] = &args[..] else {
        return Err("give URL CONCURRENCY REQUESTS [THREADS]".into());
    };
    let n: u64 = requests.parse()?;
    let sends = Sends::default();
    let endpoint = Arc::new(Endpoint { method: "POST".into(), path: "/v1/chat/completions".into(), headers: vec![] });
    let prepared = |request| PreparedRequest {
        request,
        endpoint: endpoint.clone(),
        body: Bytes::from_static(br#"{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":true}"#),
        streaming: true,
        dataset_sample: "0".into(),
        prompt_sha256: [0; 32],
        prompt_text: None,
        prompt_tokens_asked: None,
        output_tokens_asked: None,
        session: None,
        turn: None,
    };
    let job = LoadJob {
        spec: LoadSpec {
            kind: LoadKind::Closed { concurrency: concurrency.parse()?, think_time: Nanos::ZERO },
            requests: Some(n),
            duration: None,
            max_concurrency: None,
            process: ArrivalProcess::Bench,
        },
        limits: Limits::default(),
        targets: vec![Target { url: url.clone(), headers: vec![] }],
        requests: (0..n).map(prepared).collect(),
        cycle: false,
        format: StreamFormat { framing: Framing::ServerSentEvents, done: Some("[DONE]".into()), plan: None },
        decoder: Some(Box::new(ReadIds(sends.clone()))),
        counter: None,
        arrival_seed: 0,
        threads: threads.first().map(|t| t.parse()).transpose()?,
        cores: Vec::new(),
        transport: std::env::var("TRANSPORT").ok().and_then(|name| Transport::named(&name)),
        cold: false,
        row: RowContext { scenario: "m".into(), stage: None, candidate: None, repeat: 0, phase: Phase::Measure },
        keep_text: false,
        secrets: Vec::new(),
        trust: Trust::default(),
    };
    let clock = MonotonicClock::start();
    let real_at_zero = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64 - clock.now().0;
    let rows: Arc<Mutex<Vec<RequestRecord>>> = Arc::default();
    let sink = rows.clone();
    let sink = move |r| sink.lock().unwrap_or_else(PoisonError::into_inner).push(r);
    let stats = bench_load::run(job, &clock, Box::new(sink), Arc::new(Control::new()))?;

    let rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
    let sends = sends.lock().unwrap_or_else(PoisonError::into_inner);
    let complete = rows.iter().filter(|r| !r.outcome.is_failure()).count();
    println!("rows {} (not failed {complete}), events {}", rows.len(), stats.events);
    for (i, t) in stats.threads.iter().enumerate() {
        let each = t.cpu.0 as f64 / 1000.0 / stats.events as f64 * stats.threads.len() as f64;
        let share = t.cpu.0 as f64 / t.wall.0 as f64 * 100.0;
        println!("thread {i}: cpu {} of {} ({share:.1} %), {each:.2} us an event", t.cpu, t.wall);
    }
    println!("decoding: cpu {}", stats.decode_cpu);
    println!("reads {}, unstamped {}, merged {:?}", stats.reads, stats.reads_unstamped, stats.merged_share());
    println!("read lag {:?}", stats.read_lag);
    println!("send lateness {:?}", stats.send_lateness);
    let mut errors: Vec<i64> = Vec::new();
    for row in rows.iter() {
        let (Some(sent), Some(events), Some(sends)) = (row.sent, &row.events, sends.get(&row.request)) else {
            continue;
        };
        for ((us, &send), &merged) in events.times_us().zip(sends).zip(&events.merged) {
            if send > real_at_zero && !merged {
                errors.push((real_at_zero + sent.0) as i64 + us * 1000 - send as i64);
            }
        }
    }
    errors.sort_unstable();
    if !errors.is_empty() {
        let at = |q: f64| errors[((errors.len() - 1) as f64 * q) as usize] as f64 / 1000.0;
        println!("stamp error us: p1 {:.1} p50 {:.1} p99 {:.1} p99.9 {:.1}", at(0.01), at(0.5), at(0.99), at(0.999));
    }
    Ok(())
}
