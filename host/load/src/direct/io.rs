//! What a load thread asks of the kernel, whichever way it asks.

use bench_core::clock::Nanos;
use std::io;
use std::os::fd::BorrowedFd;

/// A socket's name between the thread and its transport. A name is not used again for 2^31 uses of its place,
/// so that news of a closed socket that comes late finds nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Token {
    /// Place of the connection.
    pub(crate) slot: u32,
    /// How often the place was used before.
    pub(crate) generation: u32,
}

impl Token {
    pub(super) const fn pack(self) -> u64 {
        (self.generation as u64) << 32 | self.slot as u64
    }

    pub(super) const fn unpack(packed: u64) -> Token {
        Token { slot: packed as u32, generation: (packed >> 32) as u32 }
    }
}

/// What came of a socket.
#[derive(Debug)]
pub(crate) enum Arrived<'b> {
    /// Bytes, and the kernel's stamp (ns of the real-time clock) of the last segment among them.
    Bytes(&'b [u8], Option<u64>),
    /// The server closed it in order.
    Closed,
    /// It broke.
    Broken(io::Error),
    /// It takes bytes again, or its connecting is over.
    Writable,
}

/// How to wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// At most this long; zero only looks.
    pub(crate) most: Nanos,
    /// News that are worth waking up for before that: with many streams it pays to take several at once,
    /// and the kernel's stamps make that harmless.
    pub(crate) batch: u32,
}

/// A way to watch sockets.
pub(crate) trait Io: Sized {
    /// Longest time that news may lie for the sake of a batch.
    const LINGER: Nanos;

    /// Opens it, on the thread that uses it.
    fn open() -> io::Result<Self>;
    /// Tells what arrives on a connected socket from now on.
    fn watch(&mut self, token: Token, socket: BorrowedFd<'_>) -> io::Result<()>;
    /// Tells once when the socket can be written to.
    fn watch_writable(&mut self, token: Token, socket: BorrowedFd<'_>) -> io::Result<()>;
    /// A connection is gone: no more news of it. Its socket is closed right after.
    fn forget(&mut self, token: Token);
    /// Waits for news.
    fn wait(&mut self, wait: Wait) -> io::Result<()>;
    /// The next piece of news, without waiting.
    fn next(&mut self) -> Option<(Token, Arrived<'_>)>;
    /// System calls so far.
    fn calls(&self) -> u64;
}
