//! A connection below HTTP: tells when the last bytes of a request came, and can be made to misbehave.

use crate::clock;
use bench_core::clock::Nanos;
use hyper::rt::{Read, ReadBufCursor, Write};
use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// What the answering side may ask of its connection.
pub(crate) struct Control {
    read_at: Cell<Nanos>,
    drip: Cell<bool>,
    close_when_flushed: Cell<bool>,
    reset: Cell<bool>,
    end: Notify,
}

impl Control {
    pub(crate) fn new() -> Control {
        Control {
            read_at: Cell::new(clock::monotonic()),
            drip: Cell::new(false),
            close_when_flushed: Cell::new(false),
            reset: Cell::new(false),
            end: Notify::new(),
        }
    }

    /// When the last bytes that were read had come: the kernel's stamp, else the time of the read.
    pub(crate) fn read_at(&self) -> Nanos {
        self.read_at.get()
    }

    /// Send in segments of one byte from now on, or not.
    pub(crate) fn drip(&self, on: bool) {
        self.drip.set(on);
    }

    /// Close the connection once what has been handed over is out.
    pub(crate) fn close_when_flushed(&self) {
        self.close_when_flushed.set(true);
    }

    /// Reset the connection now.
    pub(crate) fn reset(&self) {
        self.reset.set(true);
        self.end.notify_one();
    }

    /// Comes back when the connection is to be dropped.
    pub(crate) async fn ended(&self) {
        self.end.notified().await;
    }

    /// Makes dropping the stream send RST instead of FIN, where that was asked.
    pub(crate) fn prepare_drop(&self, stream: &TcpStream) {
        if self.reset.get() {
            // A socket that is gone already can't be reset any more.
            let _ = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO));
        }
    }
}

/// A TCP stream for hyper.
pub(crate) struct Wire {
    stream: Rc<TcpStream>,
    control: Rc<Control>,
}

impl Wire {
    pub(crate) fn new(stream: Rc<TcpStream>, control: Rc<Control>) -> Wire {
        Wire { stream, control }
    }
}

impl Read for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut out: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let mut buffer = [0_u8; 16 * 1024];
        let room = out.remaining().min(buffer.len());
        loop {
            ready!(self.stream.poll_read_ready(cx))?;
            let read = self.stream.try_io(Interest::READABLE, || receive(self.stream.as_raw_fd(), &mut buffer[..room]));
            match read {
                Ok((n, stamp)) => {
                    if n > 0 {
                        let at = stamp.and_then(clock::to_monotonic).unwrap_or_else(clock::monotonic);
                        self.control.read_at.set(at);
                    }
                    out.put_slice(&buffer[..n]);
                    return Poll::Ready(Ok(()));
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => return Poll::Ready(Err(e)),
            }
        }
    }
}

impl Write for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let bytes = if self.control.drip.get() { &bytes[..bytes.len().min(1)] } else { bytes };
        loop {
            ready!(self.stream.poll_write_ready(cx))?;
            match self.stream.try_write(bytes) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.control.close_when_flushed.get() {
            self.control.end.notify_one();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match rustix::net::shutdown(&*self.stream, rustix::net::Shutdown::Write) {
            Ok(()) | Err(rustix::io::Errno::NOTCONN) => Poll::Ready(Ok(())),
            Err(e) => Poll::Ready(Err(e.into())),
        }
    }
}

/// Has the kernel stamp what comes in on this socket, or on those accepted from it.
pub(crate) fn stamp_arrivals(fd: RawFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the pointer is to a live c_int and the length is its size.
    let rc = unsafe {
        libc::setsockopt(
            fd,
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reads once; the number of bytes, and the kernel's stamp of their last segment in ns since 1970.
fn receive(fd: RawFd, buffer: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    /// Control data must lie as the header does.
    #[repr(C, align(8))]
    struct Space([u8; 64]);
    let mut space = Space([0; 64]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all-zero is a valid msghdr; the pointers set below live until the calls that use them are over.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = space.0.as_mut_ptr().cast();
    message.msg_controllen = space.0.len();
    // SAFETY: `message` describes buffers that are ours, with their true lengths.
    let n = unsafe { libc::recvmsg(fd, &raw mut message, 0) };
    let Ok(n) = usize::try_from(n) else { return Err(io::Error::last_os_error()) };
    // SAFETY: the kernel filled the control data of `message`, and the macros walk it within its length. The data of
    // a stamp is a timespec, read unaligned.
    let stamp = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if !header.is_null() && (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_TIMESTAMPNS
        {
            let time: libc::timespec = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
            Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
        } else {
            None
        }
    };
    Ok((n, stamp))
}
