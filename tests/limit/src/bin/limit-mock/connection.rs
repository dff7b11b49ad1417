//! A connection, and the answer that goes out on it.

use crate::chunks::Chunks;
use crate::request::RequestReader;
use bench_limit::{LogEntry, monotonic};
use std::io::{self, ErrorKind, Write};
use std::net::TcpStream;

/// A client.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: TcpStream,
    /// Which of the connections that had this place it is.
    pub(crate) serial: u64,
    pub(crate) reader: RequestReader,
    pub(crate) answer: Option<Answer>,
}

/// A streamed answer that is not all sent.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// First chunk that no call has taken.
    next: usize,
    /// What the socket had no room for.
    unsent: Vec<u8>,
    /// Chunks of the last call.
    batch: usize,
    /// Its entry in the log.
    pub(crate) entry: Option<usize>,
}

/// What became of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// More chunks are to come.
    More,
    /// That was the last one.
    All,
    /// The socket is full.
    Blocked,
    /// The client is gone.
    Gone,
}

/// What sending needs besides a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) chunks: Chunks,
    pub(crate) log: Vec<LogEntry>,
    /// Calls that sent something, or tried to.
    pub(crate) sends: u64,
    scratch: Vec<u8>,
}

impl Sender {
    pub(crate) fn new(chunks: Chunks) -> Sender {
        Sender { chunks, log: Vec::new(), sends: 0, scratch: Vec::with_capacity(1 << 16) }
    }

    /// Sends a connection's next chunks, or what is left of the last ones.
    pub(crate) fn send(&mut self, connection: &mut Connection) -> Sent {
        let Some(answer) = &mut connection.answer else { return Sent::Gone };
        let retry = !answer.unsent.is_empty();
        self.scratch.clear();
        if retry {
            self.scratch.append(&mut answer.unsent);
        } else {
            answer.batch = self.chunks.write(answer.next, &mut self.scratch);
            answer.next += answer.batch;
        }
        if let Some(entry) = answer.entry {
            // A chunk counts as sent by the call that sends its last byte.
            let sent = &mut self.log[entry].sent_ns;
            if retry {
                sent.truncate(sent.len() - answer.batch);
            }
            let now = monotonic();
            sent.extend(std::iter::repeat_n(now, answer.batch));
        }
        self.sends += 1;
        let n = match connection.socket.write(&self.scratch) {
            Ok(n) => n,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Err(_) => return Sent::Gone,
        };
        if n < self.scratch.len() {
            answer.unsent.extend_from_slice(&self.scratch[n..]);
            return Sent::Blocked;
        }
        if answer.next < self.chunks.len() { Sent::More } else { Sent::All }
    }
}

/// Answers at once, with a small JSON text.
pub(crate) fn reply(mut socket: &TcpStream, is_models: bool) -> io::Result<()> {
    let body =
        if is_models { r#"{"object":"list","data":[{"id":"mock","object":"model"}]}"# } else { r#"{"status":"ok"}"# };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
    let whole = format!("{head}{}\r\n\r\n{body}", body.len());
    // So little always has room unless the client does not read.
    let n = socket.write(whole.as_bytes())?;
    if n == whole.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
}
