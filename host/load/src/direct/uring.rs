//! Sockets watched by io_uring: one standing request for each socket, buffers that the kernel picks, and a
//! call to the kernel only to wait.

use super::io::{Arrived, Io, Token, Wait};
use crate::sys;
use bench_core::clock::Nanos;
use io_uring::{IoUring, cqueue, opcode, squeue, types};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

/// Requests that are handed over at once.
const SUBMISSIONS: u32 = 1024;
/// News that may lie in the ring.
const COMPLETIONS: u32 = 16 << 10;
/// Buffers for what arrives: a power of two.
const BUFFERS: u16 = 2048;
/// Size of one, with 80 bytes of message header and control messages.
const BUFFER: usize = 4096;
const CONTROL: usize = 64;
const GROUP: u16 = 0;
/// The kernel does some 20 pieces of put-off work at once; with so many news there may be more of it.
const CUT_SHORT: u32 = 20;
/// The answer to a request of which nobody wants to hear.
const NOBODY: u64 = u64::MAX;
/// Marks the news that a socket can be written to.
const WRITABLE: u64 = 1 << 63;

pub(crate) struct Uring {
    ring: IoUring,
    buffers: Buffers,
    /// The form of every read: no address, and room for a stamp.
    message: Box<libc::msghdr>,
    /// Sockets by token: a standing request that ended is made anew.
    sockets: HashMap<u64, RawFd>,
    /// Tokens of sockets that are watched until they can be written to.
    writable: HashSet<u64>,
    /// The buffer that was handed out last.
    lent: Option<u16>,
    /// News since the last wait.
    since_wait: u32,
    calls: u64,
}

impl Uring {
    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        loop {
            // SAFETY: what the entry points to (the message's form) lives as long as the ring; sockets that
            // are closed are only numbers to it.
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return Ok(());
            }
            self.calls += 1;
            self.ring.submit()?;
        }
    }

    fn arm(&mut self, packed: u64, socket: RawFd) -> io::Result<()> {
        let entry = opcode::RecvMsgMulti::new(types::Fd(socket), &raw const *self.message, GROUP);
        self.push(&entry.build().user_data(packed))
    }

    /// The standing request of a socket ended.
    fn ended(&mut self, packed: u64, again: bool) {
        if again && let Some(&socket) = self.sockets.get(&packed) {
            // It fails only where the ring is broken, and then the next wait says so.
            let _ = self.arm(packed, socket);
        } else {
            self.sockets.remove(&packed);
        }
    }
}

impl Io for Uring {
    const LINGER: Nanos = Nanos(800_000);

    fn open() -> io::Result<Uring> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_cqsize(COMPLETIONS)
            .build(SUBMISSIONS)?;
        let buffers = Buffers::new();
        // SAFETY: the buffers outlive the ring: it is dropped first, in the order of the fields.
        unsafe {
            ring.submitter().register_buf_ring_with_flags(buffers.ring.as_ptr() as u64, BUFFERS, GROUP, 0)?;
        }
        // SAFETY: all zeroes is a valid msghdr.
        let mut message: Box<libc::msghdr> = Box::new(unsafe { std::mem::zeroed() });
        message.msg_controllen = CONTROL as _;
        Ok(Uring {
            ring,
            buffers,
            message,
            sockets: HashMap::new(),
            writable: HashSet::new(),
            lent: None,
            since_wait: 0,
            calls: 2,
        })
    }

    fn watch(&mut self, token: Token, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.sockets.insert(token.pack(), socket.as_raw_fd());
        self.arm(token.pack(), socket.as_raw_fd())
    }

    fn watch_writable(&mut self, token: Token, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.writable.insert(token.pack());
        let entry = opcode::PollAdd::new(types::Fd(socket.as_raw_fd()), libc::POLLOUT as u32);
        self.push(&entry.build().user_data(token.pack() | WRITABLE))
    }

    fn forget(&mut self, token: Token) {
        let reads = self.sockets.remove(&token.pack()).map(|_| token.pack());
        let writes = self.writable.remove(&token.pack()).then_some(token.pack() | WRITABLE);
        if reads.is_none() && writes.is_none() {
            return;
        }
        // Standing requests keep the socket open, whoever closes it; and what has not been handed over yet names
        // the socket by its number, which may be another thread's soon.
        self.calls += 1;
        let mut handed_over = Ok(());
        for request in [reads, writes].into_iter().flatten() {
            let cancel = opcode::AsyncCancel::new(request).build().user_data(NOBODY);
            handed_over = handed_over.and_then(|()| self.push(&cancel));
        }
        // It fails only where the ring is broken, and then the next wait says so.
        let _ = handed_over.and_then(|()| self.ring.submit());
    }

    fn wait(&mut self, Wait { most, batch }: Wait) -> io::Result<()> {
        let most = if batch > 1 { most.min(Self::LINGER) } else { most };
        let time = types::Timespec::new().sec(most.0 / 1_000_000_000).nsec((most.0 % 1_000_000_000) as u32);
        let args = types::SubmitArgs::new().timespec(&time);
        self.calls += 1;
        self.since_wait = 0;
        // Zero time still runs what the kernel has put off for this thread.
        match self.ring.submitter().submit_with_args(batch.max(1) as usize, &args) {
            Ok(_) => Ok(()),
            Err(e) if matches!(e.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EBUSY)) => Ok(()),
            Err(e) => Err(e),
        }
    }

    fn next(&mut self) -> Option<(Token, Arrived<'_>)> {
        if let Some(buffer) = self.lent.take() {
            self.buffers.give(buffer);
        }
        loop {
            let Some(news) = self.ring.completion().next() else {
                if self.since_wait < CUT_SHORT || !self.ring.submission().taskrun() {
                    return None;
                }
                // The kernel ran only a part of what it had put off.
                self.wait(Wait { most: Nanos::ZERO, batch: 1 }).ok()?;
                continue;
            };
            self.since_wait += 1;
            let packed = news.user_data();
            if packed == NOBODY {
                continue;
            }
            if packed & WRITABLE != 0 {
                if !self.writable.remove(&(packed & !WRITABLE)) {
                    // It was forgotten.
                    continue;
                }
                return Some((Token::unpack(packed & !WRITABLE), Arrived::Writable));
            }
            let token = Token::unpack(packed);
            if news.result() < 0 {
                let error = io::Error::from_raw_os_error(-news.result());
                let again = news.result() == -libc::ENOBUFS;
                if !cqueue::more(news.flags()) {
                    self.ended(packed, again);
                }
                if again || news.result() == -libc::ECANCELED {
                    continue;
                }
                return Some((token, Arrived::Broken(error)));
            }
            let Some(buffer) = cqueue::buffer_select(news.flags()) else { continue };
            self.lent = Some(buffer);
            let size = news.result() as usize;
            // SAFETY: the kernel lent this buffer with this piece of news and filled `size` bytes of it; it
            // is given back when the next piece is asked for.
            let filled = unsafe { self.buffers.filled(buffer, size) };
            let parsed = types::RecvMsgOut::parse(filled, &self.message);
            let parsed = parsed.map(|m| (m.payload_data().len(), sys::stamp_in(m.control_data())));
            let is_closed = parsed.is_ok_and(|(payload, _)| payload == 0);
            if !cqueue::more(news.flags()) {
                self.ended(packed, !is_closed);
            }
            let Ok((payload, stamp)) = parsed else {
                return Some((token, Arrived::Broken(io::ErrorKind::InvalidData.into())));
            };
            if is_closed {
                return Some((token, Arrived::Closed));
            }
            return Some((token, Arrived::Bytes(&filled[filled.len() - payload..], stamp)));
        }
    }

    fn calls(&self) -> u64 {
        self.calls
    }
}

/// Buffers that the kernel fills, and the ring by which it is told which are free.
struct Buffers {
    ring: NonNull<types::BufRingEntry>,
    bytes: NonNull<u8>,
    tail: u16,
}

impl Buffers {
    fn new() -> Buffers {
        let allocate = |layout: Layout| {
            // SAFETY: the layouts have a size.
            NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
        };
        let mut buffers =
            Buffers { ring: allocate(Self::ring_layout()).cast(), bytes: allocate(Self::byte_layout()), tail: 0 };
        (0..BUFFERS).for_each(|buffer| buffers.give(buffer));
        buffers
    }

    fn ring_layout() -> Layout {
        // The kernel wants whole pages.
        Layout::new::<[types::BufRingEntry; BUFFERS as usize]>().align_to(4096).unwrap_or_else(|_| unreachable!())
    }

    fn byte_layout() -> Layout {
        Layout::new::<[[u8; BUFFER]; BUFFERS as usize]>()
    }

    /// Gives a buffer to the kernel.
    fn give(&mut self, buffer: u16) {
        // SAFETY: the place is within the ring, and behind what the kernel may read until the tail says so;
        // the buffer is within the bytes and nobody else's; the tail is where the kernel reads it.
        unsafe {
            let entry = &mut *self.ring.as_ptr().add((self.tail & (BUFFERS - 1)) as usize);
            entry.set_addr(self.bytes.as_ptr().add(usize::from(buffer) * BUFFER) as u64);
            entry.set_len(BUFFER as u32);
            entry.set_bid(buffer);
            self.tail = self.tail.wrapping_add(1);
            let tail = types::BufRingEntry::tail(self.ring.as_ptr()).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }

    /// # Safety
    /// The buffer is lent to this side, and its first `size` bytes are filled.
    unsafe fn filled(&self, buffer: u16, size: usize) -> &'static [u8] {
        // SAFETY: by the caller; never beyond the buffer.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().add(usize::from(buffer) * BUFFER), size.min(BUFFER)) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with these layouts.
        unsafe {
            dealloc(self.ring.as_ptr().cast(), Self::ring_layout());
            dealloc(self.bytes.as_ptr(), Self::byte_layout());
        }
    }
}
