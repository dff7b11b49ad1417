//! Which stream sends when.

use std::collections::VecDeque;
use std::str::FromStr;

/// How streams take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As fast as the sockets take the bytes.
    Fast,
    /// Each on its own, counted from its request.
    Paced,
    /// All in one step.
    Sync,
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(s: &str) -> Result<Mode, String> {
        match s {
            "fast" => Ok(Mode::Fast),
            "paced" => Ok(Mode::Paced),
            "sync" => Ok(Mode::Sync),
            _ => Err(format!("`{s}` is no mode: there are `fast`, `paced` and `sync`")),
        }
    }
}

/// An answer, known by its connection's place and which of the connections that had the place it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Place in the table of connections.
    pub(crate) place: usize,
    /// Number of the connection.
    pub(crate) serial: u64,
}

/// A stream's turn to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Whose.
    pub(crate) key: Key,
    /// Since when, ns.
    pub(crate) due: u64,
}

/// The streams in the order of their turns. Times are ns of the monotonic clock.
#[derive(Debug)]
pub(crate) struct Pacer {
    mode: Mode,
    ttft: u64,
    itl: u64,
    /// `Fast`: all streams. `Paced`: those with no chunk sent yet. `Sync`: those whose turn the step still is.
    first: VecDeque<Turn>,
    /// `Paced`: the others. `Sync`: those that wait for the next step. Both queues are in the order of time, as all
    /// their members wait equally long.
    later: VecDeque<Turn>,
    /// `Sync`: when the next step is.
    step: u64,
}

impl Pacer {
    pub(crate) fn new(mode: Mode, ttft: u64, itl: u64) -> Pacer {
        Pacer { mode, ttft, itl, first: VecDeque::new(), later: VecDeque::new(), step: 0 }
    }

    /// Turns to give before the sockets are looked at again. A step is not broken off.
    pub(crate) fn budget(&self) -> usize {
        match self.mode {
            Mode::Fast => self.first.len().min(256),
            Mode::Paced => 512,
            Mode::Sync => usize::MAX,
        }
    }

    /// A request has come.
    pub(crate) fn start(&mut self, key: Key, now: u64) {
        match self.mode {
            Mode::Fast => self.first.push_back(Turn { key, due: now }),
            Mode::Paced => self.first.push_back(Turn { key, due: now + self.ttft }),
            Mode::Sync => {
                if self.first.is_empty() && self.later.is_empty() {
                    self.step = now + self.itl;
                }
                self.later.push_back(Turn { key, due: now });
            }
        }
    }

    /// A stream that had its turn has more to send.
    pub(crate) fn again(&mut self, turn: Turn) {
        match self.mode {
            Mode::Fast => self.first.push_back(turn),
            Mode::Paced | Mode::Sync => self.later.push_back(Turn { due: turn.due + self.itl, ..turn }),
        }
    }

    /// The next turn that has come.
    pub(crate) fn turn(&mut self, now: u64) -> Option<Turn> {
        match self.mode {
            Mode::Fast => self.first.pop_front().map(|t| Turn { due: now, ..t }),
            Mode::Paced => {
                let queue = match (self.first.front(), self.later.front()) {
                    (Some(first), Some(later)) if later.due < first.due => &mut self.later,
                    (Some(_), _) => &mut self.first,
                    _ => &mut self.later,
                };
                queue.pop_front_if(|t| t.due <= now)
            }
            Mode::Sync => {
                if self.first.is_empty() && !self.later.is_empty() && now >= self.step {
                    std::mem::swap(&mut self.first, &mut self.later);
                    for turn in &mut self.first {
                        turn.due = self.step;
                    }
                    // A step that takes longer than an interval is followed by the next at once.
                    self.step = (self.step + self.itl).max(now);
                }
                self.first.pop_front()
            }
        }
    }

    /// ns until the next turn; `None` where nobody waits.
    pub(crate) fn wait(&self, now: u64) -> Option<u64> {
        let due = match self.mode {
            Mode::Fast => self.first.front().map(|_| now),
            Mode::Paced => self.first.front().into_iter().chain(self.later.front()).map(|t| t.due).min(),
            Mode::Sync if !self.first.is_empty() => Some(now),
            Mode::Sync => self.later.front().map(|_| self.step),
        };
        due.map(|due| due.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(place: usize) -> Key {
        Key { place, serial: 0 }
    }

    fn turns(pacer: &mut Pacer, now: u64) -> Vec<(usize, u64)> {
        let turns: Vec<Turn> = std::iter::from_fn(|| pacer.turn(now)).collect();
        turns.iter().for_each(|t| pacer.again(*t));
        turns.iter().map(|t| (t.key.place, t.due)).collect()
    }

    #[test]
    fn paced_streams_keep_their_own_time() {
        let mut pacer = Pacer::new(Mode::Paced, 5, 10);
        pacer.start(key(1), 0);
        pacer.start(key(2), 3);
        assert_eq!(pacer.wait(1), Some(4));
        assert_eq!(turns(&mut pacer, 5), [(1, 5)]);
        assert_eq!(turns(&mut pacer, 16), [(2, 8), (1, 15)]);
        assert_eq!(pacer.wait(16), Some(2));
    }

    #[test]
    fn a_step_is_everybodys() {
        let mut pacer = Pacer::new(Mode::Sync, 0, 10);
        assert_eq!(pacer.wait(0), None);
        pacer.start(key(1), 100);
        pacer.start(key(2), 105);
        assert_eq!(turns(&mut pacer, 109), []);
        assert_eq!(turns(&mut pacer, 112), [(1, 110), (2, 110)]);
        assert_eq!(pacer.wait(112), Some(8));
        assert_eq!(turns(&mut pacer, 150), [(1, 120), (2, 120)]);
        assert_eq!(turns(&mut pacer, 150), [(1, 150), (2, 150)], "a late step is made up for once");
    }

    #[test]
    fn fast_streams_go_round() {
        let mut pacer = Pacer::new(Mode::Fast, 5, 10);
        pacer.start(key(1), 0);
        pacer.start(key(2), 0);
        assert_eq!((pacer.wait(0), pacer.budget()), (Some(0), 2));
        assert_eq!(turns(&mut pacer, 7), [(1, 7), (2, 7)]);
    }
}
