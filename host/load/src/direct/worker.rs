//! A load thread that asks the kernel itself: one loop, in which everything that is due or has come is done
//! between two reads.

use super::core::{Ask, Core};
use super::io::{Arrived, Io, Wait};
use super::sends::Sends;
use crate::client::stops::Cut;
use crate::control::Told;
use crate::decode::stage::Kept;
use crate::figures::ThreadFigures;
use crate::sys;
use crate::worker::{DURATION_OVER, OPENERS, Shared};
use bench_core::clock::Nanos;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// The control is looked at this often at least.
const TICK: Nanos = Nanos::from_millis(20);
/// Most news that are taken before everything else is looked after again.
const NEWS_AT_ONCE: u32 = 4096;
/// As long as attempts wait for memory it is asked for this often.
const HELD_UP: Nanos = Nanos::from_millis(1);

pub(crate) struct Direct<I> {
    io: I,
    core: Core,
    told: Told,
    /// When the last request was sent, as far as this thread knows.
    last_send: Option<Nanos>,
}

impl<I: Io> Direct<I> {
    /// On the thread that runs it.
    pub(crate) fn open(id: u32, shared: Arc<Shared>, out: UnboundedSender<Kept>) -> io::Result<Direct<I>> {
        sys::exact_timers();
        Ok(Direct { io: I::open()?, core: Core::new(id, shared, out, I::LINGER), told: Told::Run, last_send: None })
    }

    /// Opens the connections that the load starts with, as far as the limit on open files allows.
    /// A server that refuses one is not asked for more: its requests will say so.
    pub(crate) fn open_ahead(&mut self) -> io::Result<()> {
        let shared = self.core.shared.clone();
        let spare = shared.file_limit.saturating_sub(128);
        let all = shared.schedule.at_once().min(spare);
        let mut own = (u64::from(self.core.id)..all).step_by(shared.threads as usize);
        let mut next = own.next();
        while shared.control.told() == Told::Run {
            while let Some(number) = next.filter(|_| !self.core.refused && self.core.table.connecting() < OPENERS) {
                self.core.open((number % shared.sites.len() as u64) as usize, None, 0);
                self.carry_out();
                next = own.next();
            }
            if self.core.table.connecting() == 0 {
                break;
            }
            let now = self.core.clock.now();
            let most = self.core.next_alarm().map_or(TICK, |at| at - now).min(TICK);
            self.take_news(Wait { most, batch: 1 })?;
            self.core.ring(self.core.clock.now());
        }
        self.core.refused = false;
        Ok(())
    }

    /// Runs this thread's part of the load from `t0` on.
    pub(crate) fn run(mut self, t0: Nanos) -> ThreadFigures {
        self.core.t0 = t0;
        self.core.sends = Sends::new(&self.core.shared, self.core.id, t0);
        loop {
            let now = self.core.clock.now();
            self.obey(now);
            self.core.send_due(now);
            self.core.ring(now);
            self.core.hand_over();
            self.carry_out();
            if self.core.is_over() {
                break;
            }
            let wait = self.wait(self.core.clock.now());
            if let Err(e) = self.take_news(wait) {
                self.core.fail(&e);
                break;
            }
        }
        let mut figures = self.core.figures;
        figures.calls += self.io.calls();
        figures.clock_steps = self.core.clock.steps();
        figures
    }

    fn wait(&mut self, now: Nanos) -> Wait {
        let mut other = now + if self.core.is_held_up() { HELD_UP } else { TICK };
        other = other.min(self.core.next_alarm().unwrap_or(other));
        if let Some(duration) = self.core.shared.duration.filter(|_| self.core.closed.is_none()) {
            other = other.min(self.core.t0 + duration);
        }
        self.core.pace.wait(now, self.core.next_send(), other)
    }

    /// Waits, and takes what came. Between any two pieces of it what is due is sent.
    fn take_news(&mut self, wait: Wait) -> io::Result<()> {
        self.io.wait(wait)?;
        // Where news come faster than they are taken there is always more: alarms and the control come first then.
        for _ in 0..NEWS_AT_ONCE {
            let Some((token, arrived)) = self.io.next() else { break };
            self.core.news(token, arrived);
            if let Some(due) = self.core.next_send() {
                let now = self.core.clock.now();
                if due <= now {
                    self.core.send_due(now);
                }
            }
            self.carry_out();
        }
        Ok(())
    }

    /// Tells the transport what connections want of it.
    fn carry_out(&mut self) {
        while let Some((token, ask)) = self.core.asks.pop_front() {
            if let Ask::Forget(socket) = ask {
                self.io.forget(token);
                drop(socket);
                continue;
            }
            let Some(connection) = self.core.table.get(token) else { continue };
            let socket = connection.socket.as_fd();
            let done = match ask {
                Ask::Watch => self.io.watch(token, socket),
                _ => self.io.watch_writable(token, socket),
            };
            if let Err(e) = done {
                self.core.news(token, Arrived::Broken(e));
            }
        }
    }

    /// Does what the control is told, and ends sending and waiting in time.
    fn obey(&mut self, now: Nanos) {
        let shared = self.core.shared.clone();
        let told = shared.control.told();
        if told > self.told {
            self.told = told;
            match told {
                Told::Cut => self.core.cut(Cut::User),
                _ => self.core.close("the load was told to drain before it was sent"),
            }
        }
        if shared.duration.is_some_and(|d| now >= self.core.t0 + d) {
            self.core.close(DURATION_OVER);
        }
        if let Some(limit) = shared.limits.drain_timeout
            && shared.last_send.is_reached()
            && now >= *self.last_send.get_or_insert(now) + limit
        {
            self.core.cut(Cut::DrainTimeout);
        }
    }
}
