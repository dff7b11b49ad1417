//! The socket's tap: reads with the kernel's receive stamps, and notes when bytes came and went.

use crate::clockmap::WorkerClock;
use crate::figures::ThreadFigures;
use crate::stream::Mark;
use crate::sys;
use bench_core::clock::Nanos;
use std::cell::{Cell, RefCell};
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// One connection's socket and what was noted on it.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    clock: Rc<WorkerClock>,
    figures: Rc<RefCell<ThreadFigures>>,
    /// The read before, with its number on this connection.
    last: Cell<Option<Mark>>,
    /// First read of the current exchange.
    first: Cell<Option<Nanos>>,
    received: Cell<u64>,
    written: Cell<u64>,
    last_write: Cell<Option<Nanos>>,
    /// The request is out: what is written from now on (TLS's own goodbye) is none of it.
    request_is_out: Cell<bool>,
    /// The layer above handed over all that it had.
    pub(crate) handed_over: Cell<bool>,
    /// The request's body was taken.
    pub(crate) body_taken: Cell<bool>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, clock: Rc<WorkerClock>, figures: Rc<RefCell<ThreadFigures>>) -> Wire {
        // Where the kernel has no stamps, reads are marked so.
        let _ = sys::stamp_receives(stream.as_fd());
        Wire {
            stream,
            clock,
            figures,
            last: Cell::new(None),
            first: Cell::new(None),
            received: Cell::new(0),
            written: Cell::new(0),
            last_write: Cell::new(None),
            request_is_out: Cell::new(false),
            handed_over: Cell::new(false),
            body_taken: Cell::new(false),
        }
    }

    /// An exchange begins.
    pub(crate) fn begin(&self) {
        self.first.set(None);
        self.received.set(0);
        self.written.set(0);
        self.last_write.set(None);
        self.request_is_out.set(false);
        self.handed_over.set(false);
        self.body_taken.set(false);
    }

    /// The most recent read.
    pub(crate) fn last(&self) -> Option<Mark> {
        self.last.get()
    }

    pub(crate) fn first_byte(&self) -> Option<Nanos> {
        self.first.get()
    }

    pub(crate) fn received(&self) -> u64 {
        self.received.get()
    }

    pub(crate) fn written(&self) -> u64 {
        self.written.get()
    }

    /// When the request's last byte was handed to the kernel: the moment of the call that wrote it.
    pub(crate) fn sent(&self) -> Option<Nanos> {
        self.last_write.get().filter(|_| self.body_taken.get() && self.handed_over.get())
    }

    /// Nothing that is written from now on belongs to the request.
    pub(crate) fn end_request(&self) {
        self.request_is_out.set(true);
    }

    fn note_read(&self, bytes: usize, stamp: Option<u64>) {
        let read = self.clock.now();
        let placed = stamp.and_then(|s| self.clock.place(s, read));
        let number = self.last.get().map_or(0, |m| m.number + 1);
        let mark = Mark { stamp: placed.unwrap_or(read), read, number, kernel: placed.is_some() };
        self.last.set(Some(mark));
        if self.first.get().is_none() {
            self.first.set(Some(mark.stamp));
        }
        if self.sent().is_some() {
            self.end_request();
        }
        self.received.set(self.received.get() + bytes as u64);
        self.figures.borrow_mut().read(placed, read);
    }

    fn note_write(&self, at: Nanos, result: io::Result<usize>) -> io::Result<usize> {
        if let Ok(n) = result
            && n > 0
        {
            if !self.request_is_out.get() {
                self.last_write.set(Some(at));
            }
            self.written.set(self.written.get() + n as u64);
        }
        result
    }
}

/// The I/O layer above a [`Wire`].
pub(crate) struct Tap(pub(crate) Rc<Wire>);

impl AsyncRead for Tap {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let wire = &*self.0;
        loop {
            ready!(wire.stream.poll_read_ready(cx))?;
            let mut got = None;
            // SAFETY: only filled bytes are declared initialised below.
            let free = unsafe { buf.unfilled_mut() };
            let room = free.len();
            let tried = wire.stream.try_io(Interest::READABLE, || {
                let (n, stamp) = sys::receive_stamped(wire.stream.as_fd(), free)?;
                got = Some((n, stamp));
                // A read that leaves room has drained the socket: saying so here spares the call that
                // would only learn this. What comes later makes a new event.
                if n > 0 && n < room { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
            });
            match (got, tried) {
                (Some((n, stamp)), _) => {
                    if n > 0 {
                        wire.note_read(n, stamp);
                        // SAFETY: the kernel filled the first `n` bytes of the unfilled part.
                        unsafe { buf.assume_init(n) };
                        buf.advance(n);
                    }
                    return Poll::Ready(Ok(()));
                }
                (None, Err(e)) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                (None, Err(e)) => return Poll::Ready(Err(e)),
                (None, Ok(())) => {}
            }
        }
    }
}

impl Tap {
    fn poll_write_with(
        &self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.stream.poll_write_ready(cx))?;
            let at = self.0.clock.now();
            match write(&self.0.stream) {
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                result => return Poll::Ready(self.0.note_write(at, result)),
            }
        }
    }
}

impl AsyncWrite for Tap {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_with(cx, |s| s.try_write(buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_with(cx, |s| s.try_write_vectored(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let _ = rustix::net::shutdown(&self.0.stream, rustix::net::Shutdown::Write);
        Poll::Ready(Ok(()))
    }
}
