//! A scripted HTTP server on real sockets, and jobs to run against it.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test's server and job: a failure fails the test")]

use bench_core::clock::{Clock, MonotonicClock, Nanos};
use bench_core::decode::{DecodePlan, FinishReason, Framing, Rule, StreamFormat, Take};
use bench_core::load::{ArrivalProcess, Limits, LoadKind, LoadSpec};
use bench_core::record::{Phase, RequestRecord};
use bench_core::request::{Endpoint, PreparedRequest};
use bench_load::{Control, LoadJob, LoadStats, RowContext, Target, Trust};
use bytes::Bytes;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A request as the server saw it.
pub struct Seen {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Number of the connection, and of the request on it, from 0.
    pub connection: usize,
    pub on_connection: usize,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// What happens to the connection after an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum After {
    Keep,
    Close,
    Reset,
}

/// A server; it stops taking connections when it is dropped.
pub struct Server {
    pub url: String,
    address: std::net::SocketAddr,
}

impl Server {
    /// Answers each request by `answer`, a thread for each connection.
    pub fn start(answer: impl Fn(&mut TcpStream, &Seen) -> After + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let (Ok(stream), answer) = (stream, answer.clone()) else { return };
                std::thread::spawn(move || serve(stream, number, &*answer));
            }
        });
        Server { url: format!("http://{address}"), address }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

fn serve(mut stream: TcpStream, connection: usize, answer: &dyn Fn(&mut TcpStream, &Seen) -> After) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for on_connection in 0.. {
        let Some(seen) = read_request(&mut reader, connection, on_connection) else { return };
        match answer(&mut stream, &seen) {
            After::Keep => {}
            After::Close => {
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
            After::Reset => {
                reset(&stream);
                return;
            }
        }
    }
}

/// The connection's next close sends a reset.
pub fn reset(stream: &TcpStream) {
    rustix::net::sockopt::set_socket_linger(stream, Some(std::time::Duration::ZERO)).unwrap();
    // The reader's clone keeps the socket open: shutting it down sends nothing, so both go.
    let _ = stream.shutdown(Shutdown::Read);
}

pub fn read_request(reader: &mut impl BufRead, connection: usize, on_connection: usize) -> Option<Seen> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(n, _)| n == "content-length").map_or(0, |(_, v)| v.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Seen { method, path, headers, body, connection, on_connection })
}

/// The head of a chunked event stream.
pub const STREAM_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";

pub fn chunk(data: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat()
}

pub fn content(text: &str) -> String {
    format!(r#"data: {{"choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":null}}]}}{}"#, "\n\n")
}

pub fn finish(reason: &str) -> String {
    format!(r#"data: {{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}{}"#, "\n\n")
}

/// A whole good stream: two texts and a finish, in one write.
pub fn good_stream() -> Vec<u8> {
    let mut out = STREAM_HEAD.to_vec();
    for event in [content("Hel"), content("lo"), finish("stop"), "data: [DONE]\n\n".to_owned()] {
        out.extend(chunk(event.as_bytes()));
    }
    out.extend(b"0\r\n\r\n");
    out
}

/// An answer that is not streamed.
pub fn whole(status: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub fn send(stream: &mut TcpStream, bytes: &[u8]) -> After {
    match stream.write_all(bytes) {
        Ok(()) => After::Keep,
        Err(_) => After::Close,
    }
}

/// OpenAI's answers, streamed and not, chat and completions.
pub fn openai() -> StreamFormat {
    let rule = |pointer: &str, take| Rule { pointer: pointer.to_owned(), take, cumulative: false };
    let mut rules = vec![
        rule("/choices/0/text", Take::Text),
        rule("/choices/0/finish_reason", Take::FinishReason),
        rule("/usage/prompt_tokens", Take::PromptTokens),
        rule("/usage/prompt_tokens_details/cached_tokens", Take::CachedPromptTokens),
        rule("/usage/completion_tokens", Take::GeneratedTokens),
        rule("/usage/completion_tokens_details/reasoning_tokens", Take::ReasoningTokens),
        rule("/error", Take::Error),
    ];
    for part in ["delta", "message"] {
        let at = |key: &str| format!("/choices/0/{part}/{key}");
        rules.push(rule(&at("content"), Take::Text));
        rules.push(rule(&at("reasoning"), Take::Reasoning));
        rules.push(rule(&at("reasoning_content"), Take::Reasoning));
        rules.push(rule(&at("tool_calls"), Take::ToolCall));
        rules.push(rule(&at("role"), Take::Role));
    }
    let finish_reasons = vec![
        ("stop".to_owned(), FinishReason::Stop),
        ("length".to_owned(), FinishReason::Length),
        ("tool_calls".to_owned(), FinishReason::ToolCalls),
        ("abort".to_owned(), FinishReason::Aborted),
    ];
    StreamFormat {
        framing: Framing::ServerSentEvents,
        done: Some("[DONE]".to_owned()),
        plan: Some(DecodePlan { rules, finish_reasons }),
    }
}

pub fn prepared(request: u64) -> PreparedRequest {
    prepared_at(request, "/v1/chat/completions")
}

pub fn prepared_at(request: u64, path: &str) -> PreparedRequest {
    PreparedRequest {
        request,
        endpoint: Arc::new(Endpoint { method: "POST".to_owned(), path: path.to_owned(), headers: vec![] }),
        body: Bytes::from(format!(r#"{{"n":{request},"stream":true}}"#)),
        streaming: true,
        dataset_sample: format!("sample-{request}").into(),
        prompt_sha256: [7; 32],
        prompt_text: Some("a prompt".into()),
        prompt_tokens_asked: Some(2),
        output_tokens_asked: Some(8),
        session: None,
        turn: None,
    }
}

pub fn spec(kind: LoadKind, requests: u64) -> LoadSpec {
    LoadSpec { kind, requests: Some(requests), duration: None, max_concurrency: None, process: ArrivalProcess::Bench }
}

pub const fn closed(concurrency: u32) -> LoadKind {
    LoadKind::Closed { concurrency, think_time: Nanos::ZERO }
}

/// A job of `n` chat requests, one after another.
pub fn job(url: &str, n: u64) -> LoadJob {
    LoadJob {
        spec: spec(closed(1), n),
        limits: Limits::default(),
        targets: vec![Target { url: url.to_owned(), headers: vec![] }],
        requests: (0..n).map(prepared).collect(),
        cycle: false,
        format: openai(),
        decoder: None,
        counter: None,
        arrival_seed: 0,
        threads: None,
        cores: Vec::new(),
        // Only hyper goes over TLS.
        transport: (!url.starts_with("https")).then(crate::transport),
        cold: false,
        row: RowContext { scenario: "test".into(), stage: None, candidate: None, repeat: 0, phase: Phase::Measure },
        keep_text: true,
        secrets: Vec::new(),
        trust: Trust::default(),
    }
}

/// Runs a job; its rows in the order of request and attempt.
pub fn run(job: LoadJob) -> (Vec<RequestRecord>, LoadStats) {
    run_with(job, &MonotonicClock::start(), Arc::default())
}

pub fn run_with(job: LoadJob, clock: &MonotonicClock, control: Arc<Control>) -> (Vec<RequestRecord>, LoadStats) {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let sink = rows.clone();
    let stats = bench_load::run(job, clock, Box::new(move |r| sink.lock().unwrap().push(r)), control).unwrap();
    let mut rows = std::mem::take(&mut *rows.lock().unwrap());
    rows.sort_by_key(|r: &RequestRecord| (r.request, r.attempt));
    (rows, stats)
}

/// The only row of a job with one request.
pub fn one(url: &str) -> RequestRecord {
    only(run(job(url, 1)).0)
}

pub fn only(mut rows: Vec<RequestRecord>) -> RequestRecord {
    assert_eq!(rows.len(), 1, "{rows:#?}");
    rows.remove(0)
}

pub fn data(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(path)
}

/// Decodes base64 (RFC 4648).
pub fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut have) = (Vec::new(), 0u32, 0);
    for c in text.bytes().filter(|&c| c != b'=') {
        let value = ALPHABET.iter().position(|&a| a == c).unwrap() as u32;
        bits = (bits << 6) | value;
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    out
}

pub fn now(clock: &MonotonicClock) -> Nanos {
    clock.now()
}
