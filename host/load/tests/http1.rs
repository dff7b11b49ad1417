//! The client's own HTTP/1.1 reads what hyper reads, and refuses what hyper refuses, wherever the bytes are
//! cut.
#![allow(clippy::unwrap_used, reason = "a failure fails the test")]

use bench_load::{AnswerReader, Piece};
use http::Request;
use hyper::body::{Body, Bytes, Frame, Incoming};
use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// What was read of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Read {
    status: Option<u16>,
    body: Vec<u8>,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    /// The connection closed too early.
    Cut,
    Invalid,
}

fn ours(pieces: &[&[u8]]) -> Read {
    let mut reader = AnswerReader::default();
    let (mut status, mut body) = (None, Vec::new());
    for piece in pieces {
        let mut bytes = *piece;
        loop {
            match reader.next(&mut bytes) {
                Ok(None) => break,
                Ok(Some(Piece::Head(head))) => status = Some(head.status.as_u16()),
                Ok(Some(Piece::Body(data))) => body.extend_from_slice(data),
                Ok(Some(Piece::End)) => return Read { status, body, end: End::Whole },
                Err(_) => return Read { status, body, end: End::Invalid },
            }
        }
    }
    let end = if reader.ends_at_close() { End::Whole } else { End::Cut };
    Read { status, body, end }
}

/// A connection that brings these pieces when it was written to, and then closes.
struct Memory<'p> {
    pieces: std::slice::Iter<'p, &'p [u8]>,
    asked: bool,
    waiting: Option<Waker>,
}

impl hyper::rt::Read for Memory<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.asked {
            self.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if let Some(piece) = self.pieces.find(|p| !p.is_empty()) {
            buf.put_slice(piece);
        }
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Memory<'_> {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.asked = true;
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
        Poll::Ready(Ok(buf.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

struct NoBody;

impl Body for NoBody {
    type Data = Bytes;
    type Error = Infallible;
    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(None)
    }
    fn is_end_stream(&self) -> bool {
        true
    }
}

fn end_of(error: &hyper::Error) -> End {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(e) = source {
        let parse = e.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
        let data = e
            .downcast_ref::<io::Error>()
            .is_some_and(|e| matches!(e.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput));
        if parse || data {
            return End::Invalid;
        }
        source = e.source();
    }
    End::Cut
}

fn hypers(pieces: &[&[u8]]) -> Read {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let memory = Memory { pieces: pieces.iter(), asked: false, waiting: None };
        let (mut sender, mut driver) = hyper::client::conn::http1::handshake::<_, NoBody>(memory).await.unwrap();
        let mut response = pin!(sender.send_request(Request::post("/").body(NoBody).unwrap()));
        let mut over = None;
        let answered = poll_fn(|cx| {
            if over.is_none()
                && let Poll::Ready(result) = Pin::new(&mut driver).poll(cx)
            {
                over = Some(result);
            }
            response.as_mut().poll(cx)
        })
        .await;
        let response = match answered {
            Ok(response) => response,
            Err(e) => return Read { status: None, body: Vec::new(), end: end_of(&e) },
        };
        let (head, mut incoming): (_, Incoming) = response.into_parts();
        let mut body = Vec::new();
        let end = poll_fn(|cx| {
            loop {
                match Pin::new(&mut incoming).poll_frame(cx) {
                    Poll::Ready(None) => return Poll::Ready(End::Whole),
                    Poll::Ready(Some(Ok(frame))) => body.extend_from_slice(frame.data_ref().map_or(&[][..], |d| d)),
                    Poll::Ready(Some(Err(e))) => return Poll::Ready(end_of(&e)),
                    Poll::Pending if over.is_none() => {
                        if let Poll::Ready(result) = Pin::new(&mut driver).poll(cx) {
                            over = Some(result);
                        }
                    }
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await;
        Read { status: Some(head.status.as_u16()), body, end }
    })
}

const ANSWERS: &[&str] = &[
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\ncontent-length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
    "HTTP/1.1 200 OK\r\ncontent-length: +5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\ntoo short",
    "HTTP/1.1 200 OK\r\n\r\nuntil the close",
    "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nhi",
    "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 204 No Content\r\ncontent-length: 7\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
    "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n1; a=\"b\"\r\n!\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\ncontent-length: 3\r\n\r\nA\r\n0123456789\r\n0\r\nx: y\r\nz: 1\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n3 \t\r\nabc\r\n00\r\n\r\nmore",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nuntil the close",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10000000000000000\r\nx",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\nserver: bare\n\nbody",
    "HTTP/2 200 OK\r\n\r\n",
    "HTTP/1.1 99 Odd\r\n\r\n",
    "garbage\r\n\r\n",
    "",
];

#[test]
fn each_answer_is_read_as_hyper_reads_it() {
    for answer in ANSWERS {
        assert_eq!(ours(&[answer.as_bytes()]), hypers(&[answer.as_bytes()]), "{answer:?}");
    }
}

#[test]
fn cuts_change_nothing() {
    for answer in ANSWERS {
        let bytes = answer.as_bytes();
        let whole = ours(&[bytes]);
        for at in 0..=bytes.len() {
            assert_eq!(ours(&[&bytes[..at], &bytes[at..]]), whole, "{answer:?} cut at {at}");
        }
        assert_eq!(ours(&bytes.chunks(1).collect::<Vec<_>>()), whole, "{answer:?} byte by byte");
    }
}

/// Numbers that are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn broken_answers_are_read_as_hyper_reads_them() {
    const BYTES: &[u8] = b"\r\n \t;:,=0123456789aAfFgG\x00\x7f\xff-+\"xHTP/.";
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for _ in 0..20_000 {
        let mut bytes = ANSWERS[numbers.below(ANSWERS.len())].as_bytes().to_vec();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(bytes.len() + 1);
            let byte = BYTES[numbers.below(BYTES.len())];
            match numbers.below(4) {
                0 => bytes.insert(at, byte),
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => bytes.truncate(at),
                _ if at < bytes.len() => bytes[at] = byte,
                _ => {}
            }
        }
        let cut = numbers.below(bytes.len() + 1);
        let pieces: [&[u8]; 2] = [&bytes[..cut], &bytes[cut..]];
        let (ours, hypers) = (ours(&pieces), hypers(&pieces));
        let shown = String::from_utf8_lossy(&bytes);
        // hyper hands over what follows a switch of protocols.
        if hypers.status == Some(101) {
            continue;
        }
        // hyper doesn't look at a head that came in pieces before its blank line, so a broken one that is
        // also cut is cut for hyper.
        if ours.status.is_none() && (ours.end, hypers.end) == (End::Invalid, End::Cut) {
            continue;
        }
        // Nobody reads trailers: what is in them is not looked at here, and read for headers by hyper.
        let in_trailers = (&ours.body, ours.status) == (&hypers.body, hypers.status) && shown.contains("\n0");
        if in_trailers && ours.end == End::Whole {
            continue;
        }
        assert_eq!(ours.end, hypers.end, "{shown:?} cut at {cut}: {ours:?} {hypers:?}");
        if ours.end == End::Whole {
            assert_eq!(ours, hypers, "{shown:?} cut at {cut}");
        }
    }
}
