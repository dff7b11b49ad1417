//! Opening connections.

use super::io::Io;
use super::request::Payload;
use super::site::Site;
use super::tap::{Tap, Wire};
use crate::clockmap::WorkerClock;
use crate::decode::record::Opening;
use crate::figures::ThreadFigures;
use bench_core::clock::Nanos;
use hyper::client::conn::http1;
use rustix::net::RecvFlags;
use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// No connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{0} can't be connected to: {1}")]
    Refused(SocketAddr, io::Error),
    #[error("{0} did not take the connection within {1:?}")]
    TimedOut(SocketAddr, std::time::Duration),
    #[error("TLS with {0} failed: {1}")]
    Tls(SocketAddr, io::Error),
    #[error("http with {0} can't start: {1}")]
    Http(SocketAddr, hyper::Error),
    #[error("the server's name has no address")]
    NoAddress,
    #[error("`{0}` can't be looked up: {1}")]
    LookUp(String, io::Error),
}

/// What opening a connection needs.
pub(crate) struct Opener {
    pub(crate) clock: Rc<WorkerClock>,
    pub(crate) figures: Rc<RefCell<ThreadFigures>>,
    pub(crate) tls: Option<TlsConnector>,
    pub(crate) timeout: Nanos,
    /// Names are looked up anew for each connection.
    pub(crate) cold: bool,
}

/// An open connection.
pub(crate) struct Connection {
    pub(crate) sender: http1::SendRequest<Payload>,
    pub(crate) driver: http1::Connection<Io, Payload>,
    pub(crate) wire: Rc<Wire>,
    /// The driver has ended: the connection is closed.
    pub(crate) over: bool,
    /// Exchanges so far.
    pub(crate) served: u32,
    /// Since when it has had nothing to do.
    pub(crate) idle_since: Nanos,
    /// How long it took to open.
    pub(crate) opening: Opening,
}

impl Opener {
    /// Opens a connection to the first of a site's addresses that takes it.
    pub(crate) async fn open(&self, site: &Site) -> Result<Connection, ConnectError> {
        let mut failed = ConnectError::NoAddress;
        let limit = self.timeout.to_duration();
        let mut dns = None;
        let looked_up;
        let addresses = match &site.name {
            Some((name, port)) if self.cold => {
                let asked = self.clock.now();
                let found = tokio::time::timeout(limit, tokio::net::lookup_host((name.as_str(), *port))).await;
                let found = found.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
                looked_up = found.map_err(|e| ConnectError::LookUp(name.clone(), e))?.collect();
                dns = Some(self.clock.now() - asked);
                &looked_up
            }
            _ => &site.addresses,
        };
        for &address in addresses {
            match tokio::time::timeout(limit, self.open_at(site, address)).await {
                Ok(Ok(mut connection)) => {
                    connection.opening.dns = dns;
                    return Ok(connection);
                }
                Ok(Err(e)) => failed = e,
                Err(_) => failed = ConnectError::TimedOut(address, limit),
            }
        }
        Err(failed)
    }

    async fn open_at(&self, site: &Site, address: SocketAddr) -> Result<Connection, ConnectError> {
        let refused = |e| ConnectError::Refused(address, e);
        let asked = self.clock.now();
        let stream = TcpStream::connect(address).await.map_err(refused)?;
        let connected = self.clock.now();
        let mut opening = Opening { connect: Some(connected - asked), ..Opening::default() };
        stream.set_nodelay(true).map_err(refused)?;
        let wire = Rc::new(Wire::new(stream, self.clock.clone(), self.figures.clone()));
        let tap = Tap(wire.clone());
        let io = match (&site.tls, &self.tls) {
            (Some(name), Some(tls)) => {
                let stream = tls.connect(name.clone(), tap).await.map_err(|e| ConnectError::Tls(address, e))?;
                opening.tls = Some(self.clock.now() - connected);
                Io::Tls(Box::new(stream), wire.clone())
            }
            _ => Io::Plain(tap),
        };
        let (sender, driver) = http1::handshake(io).await.map_err(|e| ConnectError::Http(address, e))?;
        Ok(Connection { sender, driver, wire, over: false, served: 0, idle_since: self.clock.now(), opening })
    }
}

impl Connection {
    /// Lets hyper read and write; notes when the connection is over.
    pub(crate) fn drive(&mut self, cx: &mut Context<'_>) -> Option<hyper::Error> {
        drive(&mut self.driver, &mut self.over, cx)
    }

    /// Whether an idle connection can take a request. A close by the server is noticed by asking the
    /// socket itself: the runtime may not have been told yet.
    pub(crate) fn is_usable(&mut self, cx: &mut Context<'_>) -> bool {
        let mut byte = [0u8; 1];
        let closed = match rustix::net::recv(&self.wire.stream, &mut byte[..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((_, n)) => n == 0,
            Err(e) => e != rustix::io::Errno::AGAIN,
        };
        if closed {
            return false;
        }
        // Bytes that nobody asked for end the connection here, unless they are TLS's own.
        self.drive(cx);
        !self.over && matches!(self.sender.poll_ready(cx), Poll::Ready(Ok(())))
    }
}

/// [`Connection::drive`], where the connection's sender is in use.
pub(crate) fn drive(
    driver: &mut http1::Connection<Io, Payload>,
    over: &mut bool,
    cx: &mut Context<'_>,
) -> Option<hyper::Error> {
    if *over {
        return None;
    }
    match Pin::new(driver).poll(cx) {
        Poll::Pending => None,
        Poll::Ready(result) => {
            *over = true;
            result.err()
        }
    }
}
