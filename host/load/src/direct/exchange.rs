//! One request and its answer over one connection, without waiting anywhere.

use super::http1::{AnswerReader, Piece};
use crate::client::due::Stage;
use crate::client::intake::Intake;
use crate::decode::outcome::Ending;
use crate::decode::record::{Answer, Attempt, Opening};
use crate::stream::{FrameLimits, Frames, Glance, Mark};
use crate::sys;
use bench_core::clock::Nanos;
use bench_core::decode::Framing;
use bench_core::load::Limits;
use std::io;
use std::os::fd::BorrowedFd;

/// A request that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) request: u64,
    pub(super) attempt: u32,
    pub(super) scheduled: Nanos,
    /// When a slot was free for it.
    pub(super) admitted: Option<Nanos>,
    /// Only a connection that has served nothing will do.
    pub(super) fresh: bool,
    /// It counts as one that is still to be sent.
    pub(super) unsent: bool,
}

/// What exchanges of a load thread share.
pub(super) struct Scope<'a> {
    pub(super) limits: &'a Limits,
    pub(super) glance: &'a Glance,
    pub(super) framing: Framing,
}

/// A request that is being sent, or whose answer is being taken.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) job: Job,
    /// The connection had served a request before.
    pub(super) reused: bool,
    /// How long its connection took, where it was opened for this attempt.
    pub(super) opening: Opening,
    /// The connection may have been closed as idle.
    pub(super) was_idle: bool,
    started: Nanos,
    written: usize,
    sent: Option<Nanos>,
    received: u64,
    first_byte: Option<Nanos>,
    reads: u64,
    last: Option<Mark>,
    reader: AnswerReader,
    status: Option<u16>,
    keeps_alive: bool,
    intake: Option<Intake>,
}

/// How far bytes brought an exchange.
pub(super) enum Taken {
    /// More has to come. Events that the bytes ended.
    More(u64),
    /// The answer is over; events that the bytes ended.
    Over(Ending, u64),
}

/// A connection that broke before the answer's end.
pub(super) enum Broken {
    /// Nothing of the request was written.
    Unsent(String),
    /// It ends the attempt.
    Ended(Ending),
}

impl Exchange {
    pub(super) fn new(job: Job, (reused, opening): (bool, Opening), was_idle: bool, now: Nanos) -> Exchange {
        Exchange {
            job,
            reused,
            opening,
            was_idle,
            started: now,
            written: 0,
            sent: None,
            received: 0,
            first_byte: None,
            reads: 0,
            last: None,
            reader: AnswerReader::default(),
            status: None,
            keeps_alive: false,
            intake: None,
        }
    }

    /// The whole request is with the kernel.
    pub(super) fn is_sent(&self) -> bool {
        self.sent.is_some()
    }

    /// Writes what the socket takes of the request; whether all of it is written. `clock` is asked before each
    /// call: the last one's time is when it was sent.
    pub(super) fn write(
        &mut self,
        socket: BorrowedFd<'_>,
        head: &[u8],
        body: &[u8],
        clock: impl Fn() -> Nanos,
    ) -> io::Result<bool> {
        let whole = head.len() + body.len();
        while self.written < whole {
            let at = clock();
            let (head, body) = match self.written.checked_sub(head.len()) {
                None => (&head[self.written..], body),
                Some(of_body) => (&[][..], &body[of_body..]),
            };
            match sys::send_both(socket, head, body) {
                Ok(n) => self.written += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(e) => return Err(e),
            }
            if self.written == whole {
                self.sent = Some(at);
            }
        }
        Ok(true)
    }

    /// Takes bytes that a read brought.
    pub(super) fn take(&mut self, mut bytes: &[u8], mut mark: Mark, scope: &Scope<'_>) -> Taken {
        mark.number = self.reads;
        self.reads += 1;
        self.received += bytes.len() as u64;
        // The parts of one segment have one stamp, which a clock sampled anew in between places some ns earlier.
        mark.stamp = self.last.map_or(mark.stamp, |last| mark.stamp.max(last.stamp).min(mark.read));
        self.last = Some(mark);
        self.first_byte.get_or_insert(mark.stamp);
        let mut events = 0;
        loop {
            match self.reader.next(&mut bytes) {
                Ok(None) => return Taken::More(events),
                Ok(Some(Piece::Head(head))) => {
                    self.status = Some(head.status.as_u16());
                    self.keeps_alive = head.keeps_alive;
                    let limits = FrameLimits::of(scope.limits);
                    self.intake = Some(Intake::new(head.status, &head.headers, scope.framing, limits));
                }
                Ok(Some(Piece::Body(data))) => {
                    let Some(intake) = &mut self.intake else { continue };
                    match intake.push(data, mark, scope.glance) {
                        Ok(n) => events += n,
                        Err(e) => return Taken::Over(Ending::Invalid(e.to_string()), events),
                    }
                }
                Ok(Some(Piece::End)) => {
                    // An answer before the request's end, or more than an answer: no further request here.
                    self.keeps_alive &= bytes.is_empty() && self.is_sent();
                    return Taken::Over(Ending::Clean, events);
                }
                Err(e) => {
                    let what = format!("the answer's framing can't be read: {e}");
                    return Taken::Over(Ending::Invalid(what), events);
                }
            }
        }
    }

    /// The connection is closed (`why` is `None`), or broke.
    pub(super) fn broken(&self, why: Option<&io::Error>) -> Broken {
        if why.is_none() && self.reader.ends_at_close() {
            return Broken::Ended(Ending::Clean);
        }
        let what = match (why, self.status) {
            (Some(e), _) => e.to_string(),
            (None, Some(_)) => "the connection closed before the answer's end".to_owned(),
            (None, None) => "the server closed the connection".to_owned(),
        };
        match (self.received, self.written) {
            (0, 0) => Broken::Unsent(what),
            (0, _) if self.was_idle => Broken::Ended(Ending::Stale(what)),
            _ => Broken::Ended(Ending::Reset(what)),
        }
    }

    /// How far the answer is.
    pub(super) fn stage(&self) -> Stage {
        Stage {
            from: self.sent.unwrap_or(self.started),
            has_content: self.intake.as_ref().is_some_and(|i| i.has_content),
            last_event: self.intake.as_ref().and_then(|i| i.last_event),
        }
    }

    /// The answer as it came, and whether the connection can take another request.
    pub(super) fn finish(mut self, mut ending: Ending, now: Nanos, done: Option<&str>) -> (Answer, bool) {
        let clean = ending == Ending::Clean;
        if let Some(intake) = &mut self.intake
            && let Err(e) = intake.finish(clean, done)
            && clean
        {
            ending = Ending::Invalid(e.to_string());
        }
        let keeps_alive = ending == Ending::Clean && self.keeps_alive;
        let end = match (clean, self.last) {
            (true, Some(mark)) => mark.stamp,
            _ => now,
        };
        let (streamed, frames) = self.intake.map_or((false, Frames::default()), |i| (i.streamed, i.frames));
        let answer = Answer {
            ending,
            sent: self.sent,
            first_byte: self.first_byte,
            end,
            status: self.status,
            streamed,
            frames,
            bytes_sent: self.written as u64,
            bytes_received: self.received,
        };
        (answer, keeps_alive)
    }
}

impl Job {
    /// Its attempt, with what came of it.
    pub(super) fn attempt(
        &self,
        worker: u32,
        sites: usize,
        connection: Option<(bool, Opening)>,
        answer: Answer,
    ) -> Attempt {
        let (connection_reused, opening) = connection.unzip();
        Attempt {
            request: self.request,
            attempt: self.attempt,
            replica: self.site(sites) as u32,
            worker,
            scheduled: self.scheduled,
            admitted: self.admitted,
            connection_reused,
            opening: opening.unwrap_or_default(),
            answer,
        }
    }

    /// The server that it goes to: requests go round them by their number.
    pub(super) fn site(&self, sites: usize) -> usize {
        (self.request % sites as u64) as usize
    }
}
