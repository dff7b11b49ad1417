//! The bytes of an answer, rendered before the first request.

use bench_limit::realtime;

/// Head of every streamed answer.
pub(crate) const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ndate: Tue, 01 Jul 2025 00:00:00 GMT\r\nserver: uvicorn\r\n\
    content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";

/// The end of every streamed answer; it goes out with the last chunk.
const END: &[u8] = b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";

/// What stands before the digits of an id.
const BEFORE_DIGITS: &str = "data: {\"id\":\"chatcmpl-";
const DIGITS: usize = 19;

/// Contents of different lengths, escapes among them.
const WORDS: [&str; 16] = [
    " the",
    " of",
    " and",
    " inference",
    " to",
    " throughput",
    " a",
    " KV",
    " in",
    " \\\"quoted\\\"",
    " is",
    " \\n\\n",
    " latency",
    " batch",
    " d\\u00e9j\\u00e0",
    " attention",
];

/// The chunks of an answer; all answers are the same.
#[derive(Debug)]
pub(crate) struct Chunks {
    chunks: Vec<Vec<u8>>,
    per_write: usize,
    stamped: bool,
}

impl Chunks {
    /// One chunk a token.
    pub(crate) fn render(tokens: usize, per_write: usize, stamped: bool) -> Chunks {
        let tokens = tokens.max(1);
        let chunks = (0..tokens).map(|i| chunk(i, i + 1 == tokens)).collect();
        Chunks { chunks, per_write: per_write.max(1), stamped }
    }

    /// How many an answer has.
    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Appends what goes out in one call from chunk `next` on; how many chunks that are.
    pub(crate) fn write(&mut self, next: usize, into: &mut Vec<u8>) -> usize {
        if next == 0 {
            into.extend_from_slice(HEAD);
        }
        let end = (next + self.per_write).min(self.chunks.len());
        for chunk in &self.chunks[next..end] {
            let start = into.len();
            into.extend_from_slice(chunk);
            if self.stamped {
                stamp(&mut into[start..]);
            }
        }
        if end == self.chunks.len() {
            into.extend_from_slice(END);
        }
        end - next
    }
}

fn chunk(i: usize, last: bool) -> Vec<u8> {
    let body = format!(
        "{BEFORE_DIGITS}{:019}-{:012x}\",\"object\":\"chat.completion.chunk\",\"created\":1751328000,\
         \"model\":\"Qwen/Qwen3-32B\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}},\"logprobs\":null,\
         \"finish_reason\":{},\"token_ids\":null}}]}}\n\n",
        1_700_000_000_000_000_000 + i as u64,
        i * 7919,
        WORDS[i % WORDS.len()],
        if last { "\"length\"" } else { "null" },
    );
    format!("{:x}\r\n{body}\r\n", body.len()).into_bytes()
}

/// Writes the time into a chunk's id.
fn stamp(chunk: &mut [u8]) {
    let size_line = chunk.iter().position(|b| *b == b'\n').map_or(0, |n| n + 1);
    let at = size_line + BEFORE_DIGITS.len();
    let mut time = realtime();
    for digit in chunk[at..at + DIGITS].iter_mut().rev() {
        *digit = b'0' + (time % 10) as u8;
        time /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_limit::{Sink, Stream};

    #[derive(Default)]
    struct Events(Vec<String>);

    impl Sink for Events {
        fn event(&mut self, data: &[u8]) {
            self.0.push(String::from_utf8(data.to_vec()).unwrap());
        }
    }

    fn events(per_write: usize, stamped: bool) -> (usize, Vec<String>) {
        let mut chunks = Chunks::render(20, per_write, stamped);
        let (mut bytes, mut next, mut writes) = (Vec::new(), 0, 0);
        while next < chunks.len() {
            next += chunks.write(next, &mut bytes);
            writes += 1;
        }
        let (mut stream, mut events) = (Stream::default(), Events::default());
        stream.feed(&bytes, &mut events);
        assert!(stream.is_done());
        (writes, events.0)
    }

    #[test]
    fn an_answer_is_chunks_of_json_and_an_end() {
        for (per_write, writes) in [(1, 20), (7, 3), (100, 1)] {
            let (n, events) = events(per_write, false);
            assert_eq!((n, events.len()), (writes, 21));
            assert_eq!(events[20], "[DONE]");
            let chunk: serde_json::Value = serde_json::from_str(&events[9]).unwrap();
            assert_eq!(chunk["choices"][0]["delta"]["content"], " \"quoted\"");
            assert!(chunk["choices"][0]["finish_reason"].is_null());
            let last: serde_json::Value = serde_json::from_str(&events[19]).unwrap();
            assert_eq!(last["choices"][0]["finish_reason"], "length");
        }
    }

    #[test]
    fn stamps_are_times() {
        let before = realtime();
        let (_, events) = events(3, true);
        let times = events[..20].iter().map(|e| e[16..16 + DIGITS].parse().unwrap());
        assert!(times.clone().is_sorted());
        assert!(times.into_iter().all(|t: u64| (before..=realtime()).contains(&t)));
    }
}
