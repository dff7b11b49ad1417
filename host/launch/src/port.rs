//! Ports: free ones, and whether one is taken.

use crate::procfs::{self, Listener, ProcessId};
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Finds ports of `host` that are free now, all different. Another program may take one before it is used; the launch
/// then says so.
///
/// # Errors
/// What the operating system says when it gives no port.
pub fn free_ports(host: &str, count: usize) -> io::Result<Vec<u16>> {
    // All are held until the last is found, or the same one might come twice.
    let held: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind((host, 0))).collect::<io::Result<_>>()?;
    held.iter().map(|socket| Ok(socket.local_addr()?.port())).collect()
}

/// Where a client reaches a server that listens on `host`: an unspecified address is reached over loopback.
pub(crate) fn reach(host: &str, port: u16) -> io::Result<SocketAddr> {
    let mut addr = (host, port)
        .to_socket_addrs()?
        .next()
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the name has no address"))?;
    if addr.ip().is_unspecified() {
        addr.set_ip(match addr.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    Ok(addr)
}

/// Somebody accepts connections there.
pub(crate) fn answers(addr: SocketAddr) -> bool {
    TcpStream::connect_timeout(&addr, Duration::from_secs(1)).is_ok()
}

/// The sockets that could take a connection to `addr`.
fn takers(addr: SocketAddr) -> Vec<Listener> {
    let mut found = procfs::listeners(addr.port());
    found.retain(|l| l.addr.is_unspecified() || l.addr.to_canonical() == addr.ip());
    found
}

/// Who takes connections to `addr` already; `Some(None)` where that can't be seen.
pub(crate) fn owner(addr: SocketAddr) -> Option<Option<String>> {
    match takers(addr).first() {
        Some(listener) => Some(procfs::holder(listener.inode)),
        None => answers(addr).then_some(None),
    }
}

/// A socket that takes connections to `addr` and belongs to none of `family`, by its holder; `None` where all are
/// theirs.
pub(crate) fn stranger(addr: SocketAddr, family: &BTreeSet<ProcessId>) -> Option<String> {
    let takers = takers(addr);
    if takers.is_empty() {
        return Some("a program that this machine does not show".into());
    }
    takers
        .iter()
        .find(|listener| !family.iter().any(|member| procfs::holds(member.pid, listener.inode)))
        .map(|listener| procfs::holder(listener.inode).unwrap_or_else(|| "a program of another user".into()))
}

/// Nobody listens there any more.
pub(crate) fn is_free(addr: SocketAddr) -> bool {
    takers(addr).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_are_free_and_differ() {
        let ports = free_ports("127.0.0.1", 20).unwrap();
        assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), 20);
        assert!(ports.iter().all(|port| is_free(SocketAddr::from(([127, 0, 0, 1], *port)))));
    }

    #[test]
    fn an_unspecified_address_is_reached_over_loopback() {
        assert_eq!(reach("0.0.0.0", 5).unwrap(), "127.0.0.1:5".parse().unwrap());
        assert_eq!(reach("127.0.0.1", 5).unwrap(), "127.0.0.1:5".parse().unwrap());
    }

    #[test]
    fn a_listener_on_all_addresses_takes_the_port() {
        let socket = TcpListener::bind("0.0.0.0:0").unwrap();
        let addr = reach("127.0.0.1", socket.local_addr().unwrap().port()).unwrap();
        assert!(owner(addr).unwrap().unwrap().contains("pid"));
        assert!(stranger(addr, &BTreeSet::new()).is_some());
    }
}
