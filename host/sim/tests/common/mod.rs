//! A client of raw sockets that keeps every byte with its time.
#![allow(dead_code, clippy::unwrap_used, reason = "helpers of tests, not all used by each")]

use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// As its framing says.
    Whole,
    /// The connection was closed before.
    Cut,
    /// The connection was reset before.
    Reset,
    /// Nothing came for the time that was waited.
    Silence,
}

/// One answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// Without transfer coding.
    pub(crate) body: Vec<u8>,
    /// Each transfer chunk with the time of the read that ended it, since the request was sent.
    pub(crate) chunks: Vec<(Duration, Vec<u8>)>,
    pub(crate) end: End,
    /// Bytes of each read.
    pub(crate) reads: Vec<usize>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The data of each event, with its time.
    pub(crate) fn timed_events(&self) -> Vec<(Duration, String)> {
        let mut events = Vec::new();
        for (time, chunk) in &self.chunks {
            let text = String::from_utf8(chunk.clone()).unwrap();
            for event in text.split_terminator("\n\n") {
                events.push((*time, event.strip_prefix("data: ").unwrap().to_owned()));
            }
        }
        events
    }

    pub(crate) fn events(&self) -> Vec<String> {
        self.timed_events().into_iter().map(|(_, data)| data).collect()
    }

    /// The events that are JSON.
    pub(crate) fn objects(&self) -> Vec<Value> {
        self.events().iter().filter_map(|data| serde_json::from_str(data).ok()).collect()
    }

    /// The content of each event that has any, of every channel.
    pub(crate) fn contents(&self) -> Vec<String> {
        self.objects().iter().filter_map(content).collect()
    }

    pub(crate) fn finish(&self) -> Option<String> {
        self.objects().iter().find_map(|o| Some(o["choices"][0]["finish_reason"].as_str()?.to_owned()))
    }

    pub(crate) fn done(&self) -> bool {
        self.events().last().map(String::as_str) == Some("[DONE]")
    }
}

/// Generated content of a chunk.
pub(crate) fn content(chunk: &Value) -> Option<String> {
    let choice = &chunk["choices"][0];
    let places = [&choice["delta"]["content"], &choice["delta"]["reasoning_content"], &choice["delta"]["reasoning"]];
    let found = places.into_iter().chain([&choice["text"]]).find_map(Value::as_str)?;
    (!found.is_empty()).then(|| found.to_owned())
}

/// A connection that can be used again.
pub(crate) struct Client {
    stream: TcpStream,
    rest: Vec<u8>,
}

impl Client {
    pub(crate) fn new(addr: SocketAddr) -> Client {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client { stream, rest: Vec::new() }
    }

    /// How long silence is taken for waiting.
    pub(crate) fn patience(self, patience: Duration) -> Client {
        self.stream.set_read_timeout(Some(patience)).unwrap();
        self
    }

    pub(crate) fn get(&mut self, path: &str) -> Option<Answer> {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: sim\r\n\r\n"))
    }

    pub(crate) fn post(&mut self, path: &str, headers: &str, body: &Value) -> Option<Answer> {
        let body = body.to_string();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nhost: sim\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// `None` where not even a head came.
    pub(crate) fn send(&mut self, request: &str) -> Option<Answer> {
        let sent = Instant::now();
        if self.stream.write_all(request.as_bytes()).is_err() {
            return None;
        }
        let mut wire = Wire { client: self, sent, reads: Vec::new(), end: End::Whole };
        let head_len = wire.until(|bytes| find(bytes, b"\r\n\r\n"))? + 4;
        let head = String::from_utf8(wire.take(head_len)).unwrap().to_lowercase();
        let status = head[9..12].parse().unwrap();
        let length = head.lines().find_map(|l| l.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let (mut body, mut chunks) = (Vec::new(), Vec::new());
        match length {
            Some(length) => {
                if wire.until(|bytes| (bytes.len() >= length).then_some(())).is_some() {
                    body = wire.take(length);
                }
            }
            None => wire.chunks(&mut body, &mut chunks),
        }
        let (end, reads) = (wire.end, wire.reads);
        Some(Answer { status, head, body, chunks, end, reads })
    }

    /// The server closed it: a read gives the end.
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0; 1]), Ok(0))
    }
}

struct Wire<'a> {
    client: &'a mut Client,
    sent: Instant,
    reads: Vec<usize>,
    end: End,
}

impl Wire<'_> {
    /// Reads until `found` finds something in what came and was not taken.
    fn until<T>(&mut self, found: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(found) = found(&self.client.rest) {
                return Some(found);
            }
            self.end = match self.client.stream.read(&mut buffer) {
                Ok(0) => End::Cut,
                Ok(n) => {
                    self.reads.push(n);
                    self.client.rest.extend_from_slice(&buffer[..n]);
                    continue;
                }
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => End::Silence,
                Err(_) => End::Reset,
            };
            return None;
        }
    }

    fn take(&mut self, n: usize) -> Vec<u8> {
        self.client.rest.drain(..n).collect()
    }

    fn chunks(&mut self, body: &mut Vec<u8>, chunks: &mut Vec<(Duration, Vec<u8>)>) {
        loop {
            let Some(line) = self.until(|bytes| find(bytes, b"\r\n")) else { return };
            let size = String::from_utf8(self.take(line + 2)).unwrap();
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            if self.until(|bytes| (bytes.len() >= size + 2).then_some(())).is_none() {
                return;
            }
            let time = self.sent.elapsed();
            let mut chunk = self.take(size + 2);
            chunk.truncate(size);
            if size == 0 {
                return;
            }
            body.extend_from_slice(&chunk);
            chunks.push((time, chunk));
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// A streamed chat request for some tokens, with more keys.
pub(crate) fn chat(tokens: u32, more: &Value) -> Value {
    let mut body = json!({"model": "sim", "messages": [{"role": "user", "content": "How are you today?"}],
        "max_tokens": tokens, "stream": true});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

/// Asks on a connection of its own.
pub(crate) fn ask(addr: SocketAddr, body: &Value) -> Answer {
    Client::new(addr).post("/v1/chat/completions", "", body).unwrap()
}
