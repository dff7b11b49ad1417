//! The event loop: one thread, one epoll instance.

use crate::chunks::Chunks;
use crate::connection::{Answer, Connection, Sender, Sent, reply};
use crate::pacer::{Key, Pacer, Turn};
use bench_limit::{Epoll, Interest, LogEntry, Termination, monotonic};
use std::io::{self, ErrorKind, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsRawFd;

/// Longest wait: how late the end by `--max-secs` may be noticed.
const LONGEST_WAIT: u64 = 500_000_000;
/// Tokens of the descriptors that are no connection; those of connections are their descriptors.
const LISTENER: u64 = u64::MAX;
const TERMINATION: u64 = u64::MAX - 1;

/// What was served.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Served {
    /// Answers sent to their end.
    pub(crate) answers: u64,
    /// Calls that sent chunks.
    pub(crate) sends: u64,
    /// By how much turns were late, together.
    pub(crate) late_sum_ns: u64,
    /// The same at most.
    pub(crate) late_max_ns: u64,
}

/// The server.
#[derive(Debug)]
pub(crate) struct Server {
    listener: TcpListener,
    /// Watched while it is open.
    _termination: Termination,
    epoll: Epoll,
    /// By descriptor.
    connections: Vec<Option<Connection>>,
    opened: u64,
    pacer: Pacer,
    sender: Sender,
    keeps_log: bool,
    served: Served,
    buffer: Vec<u8>,
}

impl Server {
    /// Listens on 127.0.0.1; port 0 takes a free one.
    pub(crate) fn listen(port: u16, pacer: Pacer, chunks: Chunks, keeps_log: bool) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        // The standard library's backlog is short for thousands of clients that come at once.
        // SAFETY: the descriptor is a listening socket's.
        if unsafe { libc::listen(listener.as_raw_fd(), 4096) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let (epoll, termination) = (Epoll::new(1024)?, Termination::listen()?);
        epoll.add(&listener, LISTENER, Interest::Read)?;
        epoll.add(&termination, TERMINATION, Interest::Read)?;
        Ok(Server {
            listener,
            _termination: termination,
            epoll,
            connections: Vec::new(),
            opened: 0,
            pacer,
            sender: Sender::new(chunks),
            keeps_log,
            served: Served::default(),
            buffer: vec![0; 1 << 16],
        })
    }

    /// Port that it listens on.
    pub(crate) fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// What it saw and sent.
    pub(crate) fn log(&self) -> &[LogEntry] {
        &self.sender.log
    }

    /// Serves until it is asked to end, or for so many ns.
    pub(crate) fn run(&mut self, limit: u64) -> io::Result<Served> {
        let start = monotonic();
        loop {
            let now = monotonic();
            if now - start > limit {
                break;
            }
            let wait = self.pacer.wait(now).unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
            let mut asked_to_end = false;
            for i in 0..self.epoll.wait(wait)? {
                let ready = self.epoll.ready(i);
                match ready.token {
                    LISTENER => self.accept()?,
                    TERMINATION => asked_to_end = true,
                    place => {
                        if ready.writable {
                            self.room(place as usize);
                        }
                        if ready.readable {
                            self.read(place as usize);
                        }
                    }
                }
            }
            if asked_to_end {
                break;
            }
            self.send_what_is_due();
        }
        self.served.sends = self.sender.sends;
        Ok(self.served)
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let socket = match self.listener.accept() {
                Ok((socket, _)) => socket,
                // Of a client that is gone already, or no descriptor is left: others are still served.
                Err(_) => return Ok(()),
            };
            socket.set_nonblocking(true)?;
            socket.set_nodelay(true)?;
            let place = socket.as_raw_fd() as usize;
            self.epoll.add(&socket, place as u64, Interest::Read)?;
            if self.connections.len() <= place {
                self.connections.resize_with(place + 1, || None);
            }
            self.opened += 1;
            let (serial, reader) = (self.opened, Default::default());
            self.connections[place] = Some(Connection { socket, serial, reader, answer: None });
        }
    }

    fn read(&mut self, place: usize) {
        let Some(connection) = self.connections.get_mut(place).and_then(Option::as_mut) else { return };
        match connection.socket.read(&mut self.buffer) {
            Ok(n) if n > 0 => {
                connection.reader.push(&self.buffer[..n]);
                self.begin(place);
            }
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            // Its turns find nobody.
            _ => self.connections[place] = None,
        }
    }

    /// Begins the next answer, where a request is whole and none is being answered.
    fn begin(&mut self, place: usize) {
        let Some(connection) = self.connections.get_mut(place).and_then(Option::as_mut) else { return };
        while connection.answer.is_none() {
            let Some(request) = connection.reader.take() else { return };
            if !request.is_post {
                if reply(&connection.socket, request.is_models).is_err() {
                    self.connections[place] = None;
                    return;
                }
                continue;
            }
            let now = monotonic();
            let mut answer = Answer::default();
            if self.keeps_log {
                answer.entry = Some(self.sender.log.len());
                let sent_ns = Vec::with_capacity(self.sender.chunks.len());
                self.sender.log.push(LogEntry { id: request.id, received_ns: now, sent_ns });
            }
            connection.answer = Some(answer);
            self.pacer.start(Key { place, serial: connection.serial }, now);
        }
    }

    fn send_what_is_due(&mut self) {
        for _ in 0..self.pacer.budget() {
            let now = monotonic();
            let Some(turn) = self.pacer.turn(now) else { return };
            let late = now - turn.due;
            self.served.late_sum_ns += late;
            self.served.late_max_ns = self.served.late_max_ns.max(late);
            self.send(turn, false);
        }
    }

    /// A socket that was full has room again.
    fn room(&mut self, place: usize) {
        if let Some(connection) = self.connections.get(place).and_then(Option::as_ref) {
            let turn = Turn { key: Key { place, serial: connection.serial }, due: monotonic() };
            self.send(turn, true);
        }
    }

    fn send(&mut self, turn: Turn, was_blocked: bool) {
        let place = turn.key.place;
        let connection = self.connections.get_mut(place).and_then(Option::as_mut);
        let Some(connection) = connection.filter(|c| c.serial == turn.key.serial) else { return };
        let sent = self.sender.send(connection);
        let watch = match (sent, was_blocked) {
            (Sent::Blocked, false) => Some(Interest::ReadWrite),
            (Sent::More | Sent::All, true) => Some(Interest::Read),
            _ => None,
        };
        let watched = watch.is_none_or(|w| self.epoll.change(&connection.socket, place as u64, w).is_ok());
        match sent {
            Sent::Gone => self.connections[place] = None,
            _ if !watched => self.connections[place] = None,
            Sent::More => self.pacer.again(turn),
            Sent::Blocked => {}
            Sent::All => {
                connection.answer = None;
                self.served.answers += 1;
                // The next request may have come with the last one.
                self.begin(place);
            }
        }
    }
}
