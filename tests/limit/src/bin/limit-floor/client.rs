//! What is done with the bytes, whichever way they came.

use bench_limit::{
    CpuTimes, DeltaScan, FloorReport, FrameCount, Quantiles, Sink, Stream, monotonic, realtime, stamp_receives,
};
use std::io;
use std::net::{Ipv4Addr, TcpStream};

/// Answers whose bytes are kept; the oldest makes room.
const KEPT: usize = 2000;
/// Where the digits of a chunk's id are, and how many.
const DIGITS: std::ops::Range<usize> = 16..35;
/// Bytes of a chunk, to have room for all.
const CHUNK: usize = 256;

/// A connection, and the answer that comes on it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: TcpStream,
    stream: Stream,
    count: FrameCount,
    answer: Answer,
}

impl Connection {
    /// Opens one that does not block, with the kernel's stamps.
    pub(crate) fn open(port: u16, tokens: usize) -> io::Result<Connection> {
        let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        stamp_receives(&socket)?;
        let (stream, count) = (Stream::default(), FrameCount::default());
        Ok(Connection { socket, stream, count, answer: Answer::new(tokens) })
    }
}

/// What is kept of an answer.
#[derive(Debug, Default)]
struct Answer {
    times: Vec<u64>,
    bytes: Vec<u8>,
    content: usize,
    finished: bool,
}

impl Answer {
    fn new(tokens: usize) -> Answer {
        Answer { times: Vec::with_capacity(tokens), bytes: Vec::with_capacity(tokens * CHUNK), ..Answer::default() }
    }
}

/// Differences to the times that the server wrote, ns.
#[derive(Debug, Default)]
struct Lags {
    /// Of the event's time.
    stamps: Vec<u64>,
    /// The same for the first event of each answer.
    first: Vec<u64>,
    /// Of the read.
    reads: Vec<u64>,
}

/// The client's state beside its connections.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) request: Vec<u8>,
    pub(crate) syscalls: u64,
    level: u32,
    lag: bool,
    tokens: usize,
    left: u64,
    answers: u64,
    chunks: u64,
    reads: u64,
    unstamped: u64,
    scan: DeltaScan,
    kept: Vec<Answer>,
    lags: Lags,
}

/// The events of one read.
struct Read<'a> {
    /// The kernel's stamp, else the time of the read.
    stamp: u64,
    read: u64,
    answer: &'a mut Answer,
    scan: Option<&'a DeltaScan>,
    lags: Option<&'a mut Lags>,
}

impl Sink for Read<'_> {
    #[inline]
    fn event(&mut self, data: &[u8]) {
        if data == b"[DONE]" {
            return;
        }
        self.answer.times.push(self.stamp);
        self.answer.bytes.extend_from_slice(data);
        if let Some(scan) = self.scan {
            let (content, finished) = scan.scan(data);
            self.answer.content += content.len();
            self.answer.finished |= finished;
        }
        if let Some(lags) = &mut self.lags
            && let Some(sent) = time_in(data)
        {
            let lag = self.stamp.saturating_sub(sent);
            lags.stamps.push(lag);
            lags.reads.push(self.read.saturating_sub(sent));
            if self.answer.times.len() == 1 {
                lags.first.push(lag);
            }
        }
    }
}

/// The time in a chunk's id.
fn time_in(chunk: &[u8]) -> Option<u64> {
    let digits = chunk.get(DIGITS)?;
    digits.iter().try_fold(0u64, |n, d| Some(n * 10 + u64::from(char::from(*d).to_digit(10)?)))
}

impl Client {
    pub(crate) fn new(port: u16, level: u32, requests: u64, tokens: usize, lag: bool) -> Client {
        let body = format!(
            "{{\"model\":\"mock\",\"stream\":true,\"max_tokens\":{tokens},\"messages\":[{{\"role\":\"user\",\
             \"content\":\"{}\"}}]}}",
            "word ".repeat(100)
        );
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n\
             accept: text/event-stream\r\nx-request-id: floor\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        Client {
            request: request.into_bytes(),
            syscalls: 0,
            level,
            lag,
            tokens,
            left: requests,
            answers: 0,
            chunks: 0,
            reads: 0,
            unstamped: 0,
            scan: DeltaScan::default(),
            kept: Vec::new(),
            lags: Lags::default(),
        }
    }

    /// Chunks that an answer is expected to have.
    pub(crate) fn tokens(&self) -> usize {
        self.tokens
    }

    /// Whether there is another request to send.
    pub(crate) fn next_request(&mut self) -> bool {
        let some = self.left > 0;
        self.left = self.left.saturating_sub(1);
        some
    }

    /// Takes what one read gave; whether the answer has ended.
    #[inline]
    pub(crate) fn received(&mut self, connection: &mut Connection, bytes: &[u8], stamp: Option<u64>) -> bool {
        self.reads += 1;
        self.unstamped += u64::from(stamp.is_none());
        if self.level == 0 {
            let ended = connection.count.feed(bytes);
            self.chunks += ended.unwrap_or(0);
            self.answers += u64::from(ended.is_some());
            return ended.is_some();
        }
        let read = realtime();
        let mut sink = Read {
            stamp: stamp.unwrap_or(read),
            read,
            answer: &mut connection.answer,
            scan: (self.level > 1).then_some(&self.scan),
            lags: self.lag.then_some(&mut self.lags),
        };
        connection.stream.feed(bytes, &mut sink);
        if !connection.stream.is_done() {
            return false;
        }
        connection.stream.reset();
        self.keep(std::mem::replace(&mut connection.answer, Answer::new(self.tokens)));
        true
    }

    fn keep(&mut self, answer: Answer) {
        self.chunks += answer.times.len() as u64;
        if self.kept.len() < KEPT {
            self.kept.push(answer);
        } else {
            self.kept[self.answers as usize % KEPT] = answer;
        }
        self.answers += 1;
    }

    /// What the load cost; times in ns.
    pub(crate) fn report(self, wall: u64, cpu: u64, times: CpuTimes) -> FloorReport {
        let per_chunk = |n: u64| n as f64 / self.chunks.max(1) as f64;
        let [stamps, first, reads] =
            [&self.lags.stamps, &self.lags.first, &self.lags.reads].map(|l| Quantiles::of_nanos(l));
        FloorReport {
            level: self.level,
            requests: self.answers,
            chunks: self.chunks,
            wall_s: wall as f64 / 1e9,
            cpu_s: cpu as f64 / 1e9,
            cpu_ns_per_chunk: per_chunk(cpu),
            user_ns_per_chunk: per_chunk(times.user),
            sys_ns_per_chunk: per_chunk(times.system),
            syscalls_per_chunk: per_chunk(self.syscalls),
            reads_per_chunk: per_chunk(self.reads),
            stamp: if self.unstamped == 0 { "kernel" } else { "read" }.to_owned(),
            stamp_error_p50_us: stamps.median(),
            stamp_error_p99_us: stamps.at(0.99),
            stamp_error_p999_us: stamps.at(0.999),
            first_error_p50_us: first.median(),
            first_error_p99_us: first.at(0.99),
            read_lag_p99_us: reads.at(0.99),
            ..FloorReport::default()
        }
    }
}

/// Waits a moment, as the kernel turns its stamps on some time after the first socket asked.
pub(crate) fn settle() {
    bench_limit::sleep_until(monotonic() + 200_000_000);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_out_of_ids() {
        assert_eq!(time_in(br#"{"id":"chatcmpl-1700000000000000123-0"#), Some(1_700_000_000_000_000_123));
        assert_eq!(time_in(br#"{"id":"chatcmpl-170000000000000012x-0"#), None);
        assert_eq!(time_in(br#"{"id":"chatcmpl-17"#), None);
    }
}
