//! A parser of chunked HTTP/1.1 answers that carry server-sent events, made for streams of tokens: what one read gave is
//! handled in place, and only an event that is cut in two is copied.

use memchr::{memchr, memmem};

/// What takes a stream's events.
pub trait Sink {
    /// The data of one event.
    fn event(&mut self, data: &[u8]);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Head,
    Size,
    Data(usize),
    DataEnd,
    Trailer,
    Done,
}

/// One answer after another on a connection.
#[derive(Debug)]
pub struct Stream {
    state: State,
    /// A line or a head that is not yet whole.
    carry: Vec<u8>,
    /// An event that is not yet whole.
    event: Vec<u8>,
    status: u16,
}

impl Default for Stream {
    fn default() -> Stream {
        Stream { state: State::Head, carry: Vec::new(), event: Vec::new(), status: 0 }
    }
}

impl Stream {
    /// Ready for the next answer; what was allocated is kept.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.carry.clear();
        self.event.clear();
        self.status = 0;
    }

    /// The answer has ended.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The answer's status; 0 before its head came.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Takes what one read gave. Bytes after the answer's end are dropped: nobody asked for them.
    #[inline]
    pub fn feed<S: Sink>(&mut self, mut bytes: &[u8], sink: &mut S) {
        while !bytes.is_empty() {
            bytes = match self.state {
                State::Data(left) => {
                    let (data, rest) = bytes.split_at(left.min(bytes.len()));
                    self.state = if data.len() == left { State::DataEnd } else { State::Data(left - data.len()) };
                    self.data(data, sink);
                    rest
                }
                State::DataEnd if self.carry.is_empty() && bytes.len() >= 2 => {
                    self.state = State::Size;
                    &bytes[2..]
                }
                State::DataEnd => self.line_end(bytes),
                State::Size => self.size(bytes),
                State::Trailer => self.trailer(bytes),
                State::Head => self.head(bytes),
                State::Done => return,
            };
        }
    }

    /// The line end after a chunk, cut in two.
    #[cold]
    fn line_end<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.carry.is_empty() {
            self.carry.push(bytes[0]);
        } else {
            self.carry.clear();
            self.state = State::Size;
        }
        &bytes[1..]
    }

    #[inline]
    fn size<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = memchr(b'\n', bytes) else {
            self.carry.extend_from_slice(bytes);
            return &[];
        };
        let size = if self.carry.is_empty() {
            hexadecimal(&bytes[..end])
        } else {
            self.carry.extend_from_slice(&bytes[..end]);
            let size = hexadecimal(&self.carry);
            self.carry.clear();
            size
        };
        self.state = if size == 0 { State::Trailer } else { State::Data(size) };
        &bytes[end + 1..]
    }

    fn trailer<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = memchr(b'\n', bytes) else {
            self.carry.extend_from_slice(bytes);
            return &[];
        };
        // The blank line, with or without its carriage return.
        if self.carry.len() + end <= 1 {
            self.state = State::Done;
        }
        self.carry.clear();
        &bytes[end + 1..]
    }

    #[cold]
    fn head<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let had = self.carry.len();
        self.carry.extend_from_slice(bytes);
        let Some(end) = memmem::find(&self.carry, b"\r\n\r\n") else { return &[] };
        let status = self.carry.get(9..12).and_then(|s| std::str::from_utf8(s).ok());
        self.status = status.and_then(|s| s.parse().ok()).unwrap_or(0);
        self.carry.clear();
        self.state = State::Size;
        &bytes[end + 4 - had..]
    }

    #[inline]
    fn data<S: Sink>(&mut self, data: &[u8], sink: &mut S) {
        if self.event.is_empty() {
            let used = split_events(data, sink);
            self.event.extend_from_slice(&data[used..]);
        } else {
            self.event.extend_from_slice(data);
            let used = split_events(&self.event, sink);
            self.event.drain(..used);
        }
    }
}

#[inline]
fn hexadecimal(digits: &[u8]) -> usize {
    let digit = |d: &u8| char::from(*d).to_digit(16);
    digits.iter().map_while(digit).fold(0usize, |n, d| (n << 4) | d as usize)
}

/// Hands over every whole event; how many bytes they took.
#[inline]
pub fn split_events<S: Sink>(bytes: &[u8], sink: &mut S) -> usize {
    let (mut at, mut used) = (0, 0);
    let mut data: Option<&[u8]> = None;
    let mut joined: Vec<u8> = Vec::new();
    while let Some(n) = memchr(b'\n', &bytes[at..]) {
        let line = &bytes[at..at + n];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        at += n + 1;
        if line.is_empty() {
            if let Some(one) = data.take() {
                sink.event(if joined.is_empty() { one } else { &joined });
                joined.clear();
            }
            used = at;
        } else if let Some(value) = line.strip_prefix(b"data:") {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            if let Some(first) = data {
                if joined.is_empty() {
                    joined.extend_from_slice(first);
                }
                joined.push(b'\n');
                joined.extend_from_slice(value);
            }
            data = Some(value);
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Events(Vec<Vec<u8>>);

    impl Sink for Events {
        fn event(&mut self, data: &[u8]) {
            self.0.push(data.to_vec());
        }
    }

    #[test]
    fn every_split_in_three() {
        let answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\ndata: \r\n6\r\nabc\n\nd\r\n18\r\n\
            ata: x\r\n\r\ndata:1\ndata:2\n\r\n1\r\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
        for i in 0..answer.len() {
            for j in i..answer.len() {
                let mut stream = Stream::default();
                for _ in 0..2 {
                    let mut events = Events::default();
                    for part in [&answer[..i], &answer[i..j], &answer[j..]] {
                        assert!(!stream.is_done());
                        stream.feed(part, &mut events);
                    }
                    assert!(stream.is_done(), "{i} {j}");
                    assert_eq!(stream.status(), 200);
                    assert_eq!(events.0, [&b"abc"[..], b"x", b"1\n2", b"[DONE]"], "{i} {j}");
                    stream.reset();
                }
            }
        }
    }
}
