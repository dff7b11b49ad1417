//! What hyper reads and writes: the tap, or TLS over it.

use super::tap::{Tap, Wire};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

pub(crate) enum Io {
    Plain(Tap),
    Tls(Box<TlsStream<Tap>>, Rc<Wire>),
}

impl Io {
    fn wire(&self) -> &Wire {
        match self {
            Io::Plain(tap) => &tap.0,
            Io::Tls(_, wire) => wire,
        }
    }

    fn writer(&mut self) -> Pin<&mut (dyn AsyncWrite + Unpin)> {
        match self {
            Io::Plain(tap) => Pin::new(tap),
            Io::Tls(tls, _) => Pin::new(tls.as_mut()),
        }
    }
}

impl hyper::rt::Read for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: tokio's buffer never takes initialised bytes back.
        let mut tokio_buf = ReadBuf::uninit(unsafe { buf.as_mut() });
        ready!(match &mut *self {
            Io::Plain(tap) => Pin::new(tap).poll_read(cx, &mut tokio_buf),
            Io::Tls(tls, _) => Pin::new(tls.as_mut()).poll_read(cx, &mut tokio_buf),
        })?;
        let n = tokio_buf.filled().len();
        // SAFETY: `n` bytes were filled.
        unsafe { buf.advance(n) };
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Io {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let n = ready!(self.writer().poll_write(cx, buf))?;
        self.wire().handed_over.set(n == buf.len());
        Poll::Ready(Ok(n))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let n = ready!(self.writer().poll_write_vectored(cx, bufs))?;
        self.wire().handed_over.set(n == bufs.iter().map(|b| b.len()).sum::<usize>());
        Poll::Ready(Ok(n))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Io::Plain(tap) => tap.is_write_vectored(),
            Io::Tls(tls, _) => tls.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire().end_request();
        self.writer().poll_shutdown(cx)
    }
}
