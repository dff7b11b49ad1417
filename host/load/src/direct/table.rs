//! The connections of a load thread.

use super::exchange::{Exchange, Job};
use super::io::Token;
use bench_core::clock::Nanos;
use std::os::fd::OwnedFd;

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    pub(super) site: usize,
    /// Exchanges so far.
    pub(super) served: u32,
    /// When its alarm rings, where one is set.
    pub(super) alarm: Option<Nanos>,
    pub(super) state: State,
}

/// What a connection is doing.
#[derive(Debug)]
pub(super) enum State {
    /// It is being opened, to the address of this number; for a job, or in advance.
    Connecting {
        job: Option<Job>,
        address: usize,
        started: Nanos,
    },
    /// Nothing, since then.
    Idle {
        since: Nanos,
    },
    Busy(Box<Exchange>),
}

/// Connections by token.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Idle ones by server; the one used last goes first, so that few are kept busy.
    idle: Vec<Vec<Token>>,
    connecting: usize,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    connection: Option<Connection>,
}

impl Table {
    pub(super) fn new(sites: usize) -> Table {
        Table { idle: vec![Vec::new(); sites], ..Table::default() }
    }

    /// Takes a connection in that is being opened.
    pub(super) fn add(&mut self, connection: Connection) -> Token {
        self.connecting += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let place = &mut self.slots[slot as usize];
        place.connection = Some(connection);
        Token { slot, generation: place.generation }
    }

    pub(super) fn get(&mut self, token: Token) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(token.slot as usize)?;
        if slot.generation == token.generation { slot.connection.as_mut() } else { None }
    }

    /// Makes a connection busy or idle; the state before.
    pub(super) fn turn(&mut self, token: Token, state: State) -> Option<State> {
        let connection = self.get(token)?;
        let site = connection.site;
        let is_idle = matches!(state, State::Idle { .. });
        let before = std::mem::replace(&mut connection.state, state);
        if is_idle {
            self.idle[site].push(token);
        }
        self.leave(&before);
        Some(before)
    }

    /// Takes a connection out, and closes it when the caller drops it.
    pub(super) fn remove(&mut self, token: Token) -> Option<Connection> {
        self.get(token)?;
        let slot = &mut self.slots[token.slot as usize];
        // The uppermost bit is the transport's.
        slot.generation = slot.generation.wrapping_add(1) & (u32::MAX >> 1);
        let connection = slot.connection.take()?;
        self.free.push(token.slot);
        if matches!(connection.state, State::Idle { .. }) {
            self.idle[connection.site].retain(|t| *t != token);
        }
        self.leave(&connection.state);
        Some(connection)
    }

    fn leave(&mut self, state: &State) {
        self.connecting -= usize::from(matches!(state, State::Connecting { .. }));
    }

    /// Takes the idle connection to a server that was used last out of the idle ones; it stays in the table.
    pub(super) fn pop_idle(&mut self, site: usize) -> Option<Token> {
        self.idle[site].pop()
    }

    /// Takes a connection that became idle last out of the idle ones again.
    pub(super) fn take_idle(&mut self, token: Token) {
        if let Some(site) = self.get(token).map(|c| c.site) {
            self.idle[site].pop_if(|t| *t == token);
        }
    }

    /// Puts back what [`Table::pop_idle`] took.
    pub(super) fn put_idle(&mut self, token: Token) {
        if let Some(site) = self.get(token).map(|c| c.site) {
            self.idle[site].push(token);
        }
    }

    /// Places for connections.
    pub(super) fn size(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn idle(&self, site: usize) -> usize {
        self.idle[site].len()
    }

    pub(super) fn connecting(&self) -> usize {
        self.connecting
    }

    /// All that are there.
    pub(super) fn tokens(&self) -> Vec<Token> {
        let tokens = (0u32..).zip(&self.slots).filter(|(_, s)| s.connection.is_some());
        tokens.map(|(slot, s)| Token { slot, generation: s.generation }).collect()
    }
}
