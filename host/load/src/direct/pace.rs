//! How long a thread waits, and for how much.

use super::io::Wait;
use bench_core::clock::Nanos;

/// Before a send is due the thread stays awake for this long: a sleep may end later than asked.
const AWAKE: Nanos = Nanos(80_000);
/// Share of the time that may be spent awake for that, as 1 / n.
const AWAKE_SHARE: u64 = 10;
/// Time awake that may be saved up.
const AWAKE_MOST: Nanos = Nanos::from_millis(20);
/// Most news that are waited for.
const BATCH: u64 = 64;
/// With fewer news than this nothing is gained by letting one lie.
const LEAST_WORTH: u64 = 8;
/// The rate of reads is measured over at least this long.
const OVER: Nanos = Nanos::from_millis(2);

/// A thread's pace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Time that news may lie for the sake of a batch.
    linger: Nanos,
    /// Reads since `since`.
    reads: u64,
    since: Nanos,
    /// News that come while a batch may linger, smoothed.
    worth: u64,
    batch: u32,
    /// Time that may be spent awake.
    awake: Nanos,
    was_awake: bool,
    looked: Nanos,
}

impl Pace {
    pub(super) fn new(linger: Nanos, now: Nanos) -> Pace {
        Pace { linger, reads: 0, since: now, worth: 0, batch: 1, awake: AWAKE_MOST, was_awake: false, looked: now }
    }

    /// A read was made.
    pub(super) fn note_read(&mut self) {
        self.reads += 1;
    }

    /// How to wait at `now`, where a send is due at `send`, or something else at `other`.
    pub(super) fn wait(&mut self, now: Nanos, send: Option<Nanos>, other: Nanos) -> Wait {
        let elapsed = now - self.since;
        if elapsed >= OVER {
            // Half of what is new, so that one burst doesn't decide.
            let worth = (self.reads * self.linger.0 / elapsed.0.max(1)).min(BATCH);
            self.worth = (self.worth + worth).div_ceil(2);
            self.batch = if self.worth < LEAST_WORTH { 1 } else { self.worth as u32 };
            (self.reads, self.since) = (0, now);
        }
        let passed = now - self.looked;
        self.looked = now;
        self.awake = if std::mem::take(&mut self.was_awake) {
            self.awake - passed
        } else {
            (self.awake + Nanos(passed.0 / AWAKE_SHARE)).min(AWAKE_MOST)
        };

        let until_other = other - now;
        let Some(until_send) = send.map(|s| s - now) else {
            return Wait { most: until_other, batch: self.batch };
        };
        if self.awake < AWAKE {
            // Too many sends to stay awake for: the timer has to do.
            return Wait { most: until_send.min(until_other), batch: self.batch };
        }
        if until_send <= AWAKE {
            self.was_awake = true;
            return Wait { most: Nanos::ZERO, batch: 1 };
        }
        Wait { most: (until_send - AWAKE).min(until_other), batch: self.batch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINGER: Nanos = Nanos(500_000);

    #[test]
    fn waits_for_one_piece_of_news_until_there_are_many() {
        let mut pace = Pace::new(LINGER, Nanos::ZERO);
        let far = Nanos::from_secs(10);
        assert_eq!(pace.wait(Nanos::from_millis(5), None, far).batch, 1);
        for ms in 5..200 {
            (0..50).for_each(|_| pace.note_read());
            pace.wait(Nanos::from_millis(ms), None, far);
        }
        assert_eq!(pace.wait(Nanos::from_millis(200), None, far).batch, 25);
        for ms in 200..300 {
            pace.note_read();
            pace.wait(Nanos::from_millis(ms), None, far);
        }
        assert_eq!(pace.wait(Nanos::from_millis(300), None, far).batch, 1);
    }

    #[test]
    fn is_awake_when_a_send_is_due() {
        let mut pace = Pace::new(LINGER, Nanos::ZERO);
        let far = Nanos::from_secs(10);
        assert_eq!(pace.wait(Nanos::ZERO, Some(Nanos::from_millis(1)), far).most, Nanos(920_000));
        assert_eq!(pace.wait(Nanos(930_000), Some(Nanos::from_millis(1)), far).most, Nanos::ZERO);
    }

    #[test]
    fn is_awake_for_a_tenth_of_the_time_at_most() {
        let mut pace = Pace::new(LINGER, Nanos::ZERO);
        let far = Nanos::from_secs(100);
        let (mut now, mut awake) = (Nanos::ZERO, Nanos::ZERO);
        while now < Nanos::from_secs(2) {
            let wait = pace.wait(now, Some(now + Nanos(60_000)), far);
            let step = if wait.most == Nanos::ZERO { Nanos(5_000) } else { wait.most };
            if wait.most == Nanos::ZERO {
                awake = awake + step;
            }
            now = now + step;
        }
        assert!(awake <= Nanos::from_millis(225), "{awake}");
    }
}
