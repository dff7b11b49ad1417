//! Sockets watched by epoll: a read for each socket that has news.

use super::io::{Arrived, Io, Token, Wait};
use crate::sys;
use bench_core::clock::Nanos;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::thread::clock_nanosleep_relative;
use rustix::time::{ClockId, Timespec};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// News taken at once.
const BATCH: usize = 1024;
/// Bytes taken by one read.
const READ: usize = 64 << 10;

pub(crate) struct Epoll {
    epoll: OwnedFd,
    events: Vec<Event>,
    /// Next of `events`.
    at: usize,
    buffer: Box<[MaybeUninit<u8>]>,
    /// The socket of each slot, and whose it is: news that were fetched before a connection went must not
    /// touch the one that has its slot, or its socket's number, now.
    sockets: Vec<Option<(Token, RawFd)>>,
    calls: u64,
}

impl Epoll {
    fn control(&mut self, token: Token, socket: BorrowedFd<'_>, flags: EventFlags) -> io::Result<()> {
        let slot = token.slot as usize;
        if self.sockets.len() <= slot {
            self.sockets.resize(slot + 1, None);
        }
        self.sockets[slot] = Some((token, socket.as_raw_fd()));
        let data = EventData::new_u64(token.pack());
        self.calls += 1;
        match epoll::add(&self.epoll, socket, data, flags) {
            Err(Errno::EXIST) => {
                self.calls += 1;
                epoll::modify(&self.epoll, socket, data, flags)
            }
            done => done,
        }
        .map_err(io::Error::from)
    }

    /// Asks for news, as many as fit.
    fn ask(&mut self, most: Nanos) -> io::Result<()> {
        self.at = 0;
        self.events.clear();
        self.calls += 1;
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), Some(&timespec(most))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }
}

fn timespec(t: Nanos) -> Timespec {
    Timespec { tv_sec: (t.0 / 1_000_000_000) as i64, tv_nsec: (t.0 % 1_000_000_000) as i64 }
}

impl Io for Epoll {
    const LINGER: Nanos = Nanos(200_000);

    fn open() -> io::Result<Epoll> {
        Ok(Epoll {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(BATCH),
            at: 0,
            buffer: Box::new_uninit_slice(READ),
            sockets: Vec::new(),
            calls: 1,
        })
    }

    fn watch(&mut self, token: Token, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.control(token, socket, EventFlags::IN)
    }

    fn watch_writable(&mut self, token: Token, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.control(token, socket, EventFlags::IN | EventFlags::OUT)
    }

    fn forget(&mut self, token: Token) {
        if let Some(place) = self.sockets.get_mut(token.slot as usize) {
            place.take_if(|(whose, _)| *whose == token);
        }
    }

    fn wait(&mut self, Wait { most, batch }: Wait) -> io::Result<()> {
        let nap = if batch > 1 { most.min(Self::LINGER) } else { Nanos::ZERO };
        if nap > Nanos::ZERO {
            // Whatever comes meanwhile is taken with one call, and with fewer wake-ups.
            self.calls += 1;
            let _ = clock_nanosleep_relative(ClockId::Monotonic, &timespec(nap));
        }
        self.ask(most - nap)
    }

    fn next(&mut self) -> Option<(Token, Arrived<'_>)> {
        loop {
            if self.at == self.events.len() {
                // A full batch means that there may be more: those who come last must not wait for ever.
                if self.events.len() < BATCH || self.ask(Nanos::ZERO).is_err() || self.events.is_empty() {
                    return None;
                }
            }
            let Event { flags, data } = self.events[self.at];
            self.at += 1;
            let token = Token::unpack(data.u64());
            let Some((_, raw)) = self.sockets[token.slot as usize].filter(|(whose, _)| *whose == token) else {
                continue;
            };
            // SAFETY: a connection that goes is forgotten before the next news are asked for, so its socket is
            // open.
            let socket = unsafe { BorrowedFd::borrow_raw(raw) };
            if flags.contains(EventFlags::OUT) {
                self.calls += 1;
                let _ = epoll::modify(&self.epoll, socket, data, EventFlags::IN);
                // What else there is comes with the next batch.
                return Some((token, Arrived::Writable));
            }
            self.calls += 1;
            match sys::receive_stamped(socket, &mut self.buffer) {
                Ok((0, _)) => return Some((token, Arrived::Closed)),
                Ok((n, stamp)) => {
                    // SAFETY: the kernel filled the first `n` bytes.
                    let bytes = unsafe { self.buffer[..n].assume_init_ref() };
                    return Some((token, Arrived::Bytes(bytes, stamp)));
                }
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(e) => return Some((token, Arrived::Broken(e))),
            }
        }
    }

    fn calls(&self) -> u64 {
        self.calls
    }
}
