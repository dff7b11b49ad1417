//! Reads by epoll and recvmsg.

use crate::client::{Client, Connection};
use bench_limit::{Epoll, Interest, nap, receive_stamped};
use std::io::{self, ErrorKind, Write};

/// Connections that one look tells of. With naps fewer would not keep up.
const AT_ONCE: usize = 1024;
const A_SECOND: u64 = 1_000_000_000;

/// Drives the load to its end. Before each look it naps for so many ns, so that more is ready at once.
pub(crate) fn drive(client: &mut Client, connections: &mut [Connection], nap_ns: u64) -> io::Result<()> {
    let mut epoll = Epoll::new(AT_ONCE)?;
    let mut buffer = vec![0; 1 << 16];
    let mut open = 0;
    for (i, connection) in connections.iter_mut().enumerate() {
        epoll.add(&connection.socket, i as u64, Interest::Read)?;
        client.syscalls += 1;
        if client.next_request() {
            send(client, connection)?;
            open += 1;
        }
    }
    while open > 0 {
        if nap_ns > 0 {
            nap(nap_ns);
            client.syscalls += 1;
        }
        let ready = epoll.wait(A_SECOND)?;
        client.syscalls += 1;
        for i in 0..ready {
            let connection = &mut connections[epoll.ready(i).token as usize];
            client.syscalls += 1;
            let (n, stamp) = match receive_stamped(&connection.socket, &mut buffer) {
                Ok((0, _)) => return Err(io::Error::new(ErrorKind::UnexpectedEof, "the server closed a connection")),
                Ok(received) => received,
                Err(e) if e.kind() == ErrorKind::WouldBlock => continue,
                Err(e) => return Err(e),
            };
            if client.received(connection, &buffer[..n], stamp) {
                if client.next_request() {
                    send(client, connection)?;
                } else {
                    open -= 1;
                }
            }
        }
    }
    Ok(())
}

/// A request is small enough for the socket of an idle connection.
fn send(client: &mut Client, connection: &mut Connection) -> io::Result<()> {
    client.syscalls += 1;
    connection.socket.write_all(&client.request)
}
