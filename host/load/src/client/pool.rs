//! Idle connections of one load thread.

use super::connect::Connection;
use std::cell::RefCell;
use std::future::poll_fn;
use std::task::Poll;

/// Idle connections by server; the one used last goes first, so that few are kept busy.
pub(crate) struct Pool {
    idle: Vec<RefCell<Vec<Connection>>>,
}

impl Pool {
    pub(crate) fn new(sites: usize) -> Pool {
        Pool { idle: (0..sites).map(|_| RefCell::default()).collect() }
    }

    /// A connection that can take a request now. Closed ones are thrown away.
    pub(crate) async fn take(&self, site: usize) -> Option<Connection> {
        poll_fn(|cx| {
            loop {
                let Some(mut connection) = self.idle[site].borrow_mut().pop() else { return Poll::Ready(None) };
                if connection.is_usable(cx) {
                    return Poll::Ready(Some(connection));
                }
            }
        })
        .await
    }

    pub(crate) fn put(&self, site: usize, connection: Connection) {
        self.idle[site].borrow_mut().push(connection);
    }
}
