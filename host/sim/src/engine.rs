//! The scheduler of the simulated engine: who runs, who waits, and when each token is due.
//!
//! Pure: it is told the time and tells what is due, so it is tested without a clock. All times are absolute and follow
//! from one another, never from when they were looked at: lateness does not add up.

use crate::config::{SimConfig, StepMode};
use crate::random::Jitter;
use bench_core::clock::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// Number of a request, from 1, in the order of arrival.
pub(crate) type SeqId = u64;

/// Tokens that a stream may now send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    /// Whose.
    pub(crate) id: SeqId,
    /// How many: one event.
    pub(crate) tokens: u32,
    /// When they were due.
    pub(crate) due: Nanos,
    /// They are the first: the prompt has been read.
    pub(crate) first: bool,
}

/// A request inside the engine.
struct Seq {
    prompt_tokens: u32,
    left: u32,
    started: bool,
}

/// The scheduler.
pub(crate) struct Engine {
    ttft: Nanos,
    itl: Nanos,
    step: StepMode,
    tokens_per_event: u32,
    max_running: usize,
    prefill_rate: Option<f64>,
    ttft_jitter: Jitter,
    itl_jitter: Jitter,
    seqs: HashMap<SeqId, Seq>,
    waiting: VecDeque<SeqId>,
    running: usize,
    /// Paced: the next event of each running stream. Sync: the end of each prefill.
    due: BinaryHeap<Reverse<(Nanos, SeqId)>>,
    /// Sync: the streams past their first token, and the step that is next.
    decoding: Vec<SeqId>,
    next_step: Nanos,
}

impl Engine {
    pub(crate) fn new(config: &SimConfig) -> Engine {
        Engine {
            ttft: config.ttft,
            itl: config.itl,
            step: config.step,
            tokens_per_event: config.tokens_per_chunk.max(1),
            max_running: config.max_num_seqs.max(1) as usize,
            prefill_rate: config.prefill_rate,
            ttft_jitter: Jitter::new(config.seed ^ 0x7474_6674, config.ttft_jitter),
            itl_jitter: Jitter::new(config.seed ^ 0x0069_746c, config.itl_jitter),
            seqs: HashMap::new(),
            waiting: VecDeque::new(),
            running: 0,
            due: BinaryHeap::new(),
            decoding: Vec::new(),
            next_step: Nanos::ZERO,
        }
    }

    /// Streams that run now.
    pub(crate) fn running(&self) -> usize {
        self.running
    }

    /// Requests that wait for a place.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes a request that arrived at `arrived` and is to get `tokens` tokens, at least one.
    pub(crate) fn submit(&mut self, id: SeqId, arrived: Nanos, prompt_tokens: u32, tokens: u32) {
        self.seqs.insert(id, Seq { prompt_tokens, left: tokens.max(1), started: false });
        self.waiting.push_back(id);
        self.admit(arrived);
    }

    /// Takes a request out, whatever its state; one that has ended is not known any more.
    pub(crate) fn cancel(&mut self, id: SeqId, now: Nanos) {
        if self.seqs.remove(&id).is_none() {
            return;
        }
        if let Some(place) = self.waiting.iter().position(|w| *w == id) {
            self.waiting.remove(place);
        } else {
            self.decoding.retain(|d| *d != id);
            self.running -= 1;
            self.admit(now);
        }
    }

    /// When something is due next.
    pub(crate) fn next_due(&mut self) -> Option<Nanos> {
        while let Some(Reverse((_, id))) = self.due.peek() {
            if self.seqs.contains_key(id) {
                break;
            }
            self.due.pop();
        }
        if !self.decoding.is_empty() {
            return Some(self.next_step);
        }
        let first = self.due.peek().map(|Reverse((due, _))| *due);
        match self.step {
            StepMode::Paced => first,
            // An idle engine starts to step when the prefill is done, but a step that began lasts its time.
            StepMode::Sync => first.map(|due| due.max(self.next_step)),
        }
    }

    /// Gives everything that is due by `now`, in order.
    pub(crate) fn advance(&mut self, now: Nanos, out: &mut Vec<Release>) {
        while let Some(due) = self.next_due().filter(|due| *due <= now) {
            match self.step {
                StepMode::Paced => self.step_one(due, out),
                StepMode::Sync => self.step_all(due, out),
            }
        }
    }

    fn step_one(&mut self, due: Nanos, out: &mut Vec<Release>) {
        if let Some(Reverse((_, id))) = self.due.pop()
            && self.release(id, due, out)
        {
            self.due.push(Reverse((due + self.itl_jitter.vary(self.itl), id)));
        }
    }

    fn step_all(&mut self, due: Nanos, out: &mut Vec<Release>) {
        let mut batch = std::mem::take(&mut self.decoding);
        while let Some(Reverse((ready, id))) = self.due.peek().copied() {
            if ready > due {
                break;
            }
            self.due.pop();
            if self.seqs.contains_key(&id) {
                batch.push(id);
            }
        }
        self.next_step = due + self.itl_jitter.vary(self.itl).max(Nanos(1));
        batch.retain(|id| self.release(*id, due, out));
        self.decoding.extend(batch);
    }

    /// Lets a stream have its next tokens; whether it goes on.
    fn release(&mut self, id: SeqId, due: Nanos, out: &mut Vec<Release>) -> bool {
        let Some(seq) = self.seqs.get_mut(&id) else { return false };
        let tokens = seq.left.min(self.tokens_per_event);
        seq.left -= tokens;
        out.push(Release { id, tokens, due, first: !std::mem::replace(&mut seq.started, true) });
        if seq.left > 0 {
            return true;
        }
        self.seqs.remove(&id);
        self.running -= 1;
        self.admit(due);
        false
    }

    fn admit(&mut self, now: Nanos) {
        while self.running < self.max_running
            && let Some(id) = self.waiting.pop_front()
        {
            let Some(seq) = self.seqs.get(&id) else { continue };
            let prefill = self.prefill_rate.map_or(0.0, |rate| f64::from(seq.prompt_tokens) / rate);
            let first = now + self.ttft_jitter.vary(self.ttft) + Nanos::from_secs_f64(prefill);
            self.running += 1;
            self.due.push(Reverse((first, id)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn config() -> SimConfig {
        SimConfig { ttft: Nanos::from_millis(50), itl: Nanos::from_millis(10), ..SimConfig::default() }
    }

    /// Runs to the end, looking only every `look`; times in ms by stream.
    fn run(engine: &mut Engine, look: Nanos) -> HashMap<SeqId, Vec<(u64, u32)>> {
        let (mut now, mut out) = (Nanos::ZERO, Vec::new());
        while engine.next_due().is_some() {
            now = now + look;
            engine.advance(now, &mut out);
        }
        let mut by_id: HashMap<SeqId, Vec<(u64, u32)>> = HashMap::new();
        for r in out {
            assert_eq!(r.due.0 % MS, 0);
            let seen = by_id.entry(r.id).or_default();
            assert_eq!(r.first, seen.is_empty());
            seen.push((r.due.0 / MS, r.tokens));
        }
        by_id
    }

    #[test]
    fn paced_streams_keep_their_own_time_however_late_the_look() {
        for look in [Nanos(MS / 10), Nanos::from_millis(7), Nanos::from_secs(10)] {
            let mut engine = Engine::new(&config());
            engine.submit(1, Nanos::ZERO, 10, 3);
            engine.submit(2, Nanos::from_millis(3), 10, 2);
            let seen = run(&mut engine, look);
            assert_eq!(seen[&1], [(50, 1), (60, 1), (70, 1)]);
            assert_eq!(seen[&2], [(53, 1), (63, 1)]);
            assert_eq!((engine.running(), engine.waiting()), (0, 0));
        }
    }

    #[test]
    fn sync_streams_join_at_the_next_step() {
        let mut engine = Engine::new(&SimConfig { step: StepMode::Sync, ..config() });
        engine.submit(1, Nanos::ZERO, 10, 4);
        engine.submit(2, Nanos::from_millis(3), 10, 2);
        let seen = run(&mut engine, Nanos::from_millis(1));
        assert_eq!(seen[&1], [(50, 1), (60, 1), (70, 1), (80, 1)]);
        assert_eq!(seen[&2], [(60, 1), (70, 1)]);
    }

    #[test]
    fn several_tokens_a_step_and_a_rest() {
        let mut engine = Engine::new(&SimConfig { tokens_per_chunk: 4, ..config() });
        engine.submit(1, Nanos::ZERO, 10, 10);
        assert_eq!(run(&mut engine, Nanos::from_millis(1))[&1], [(50, 4), (60, 4), (70, 2)]);
    }

    #[test]
    fn beyond_the_limit_requests_wait_and_the_wait_adds_to_ttft() {
        for step in [StepMode::Paced, StepMode::Sync] {
            let mut engine = Engine::new(&SimConfig { max_num_seqs: 1, step, ..config() });
            engine.submit(1, Nanos::ZERO, 10, 2);
            engine.submit(2, Nanos::ZERO, 10, 1);
            assert_eq!((engine.running(), engine.waiting()), (1, 1));
            let seen = run(&mut engine, Nanos::from_millis(1));
            assert_eq!(seen[&1], [(50, 1), (60, 1)], "{step}");
            assert_eq!(seen[&2], [(110, 1)], "{step}");
        }
    }

    #[test]
    fn the_prompt_costs_what_the_rate_says() {
        let mut engine = Engine::new(&SimConfig { prefill_rate: Some(1000.0), ..config() });
        engine.submit(1, Nanos::ZERO, 200, 1);
        assert_eq!(run(&mut engine, Nanos::from_millis(1))[&1], [(250, 1)]);
    }

    #[test]
    fn a_cancelled_stream_makes_place_and_says_no_more() {
        for step in [StepMode::Paced, StepMode::Sync] {
            let mut engine = Engine::new(&SimConfig { max_num_seqs: 1, step, ..config() });
            for id in 1..=3 {
                engine.submit(id, Nanos::ZERO, 10, 5);
            }
            let mut out = Vec::new();
            engine.advance(Nanos::from_millis(60), &mut out);
            assert_eq!(out.len(), 2);
            engine.cancel(2, Nanos::from_millis(62));
            engine.cancel(1, Nanos::from_millis(62));
            engine.cancel(1, Nanos::from_millis(62));
            let seen = run(&mut engine, Nanos::from_millis(1));
            assert_eq!(seen.len(), 1, "{step}");
            assert_eq!(seen[&3].first(), Some(&(112, 1)), "{step}");
            assert_eq!(engine.running(), 0);
        }
    }

    #[test]
    fn jitter_stays_in_its_bounds_and_keeps_the_mean() {
        let mut engine = Engine::new(&SimConfig {
            ttft_jitter: Nanos::from_millis(5),
            itl_jitter: Nanos::from_millis(10),
            ..config()
        });
        engine.submit(1, Nanos::ZERO, 1, 4001);
        let mut out = Vec::new();
        engine.advance(Nanos::from_secs(1000), &mut out);
        assert!((45 * MS..=55 * MS).contains(&out[0].due.0));
        let gaps: Vec<u64> = out.windows(2).map(|w| (w[1].due - w[0].due).0).collect();
        assert!(gaps.iter().all(|gap| *gap <= 20 * MS));
        assert!(gaps.iter().any(|gap| *gap < 2 * MS) && gaps.iter().any(|gap| *gap > 18 * MS));
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        // Even over +-10 ms: standard error of the mean 5.77 / sqrt(4000) = 0.09 ms.
        assert!((mean / MS as f64 - 10.0).abs() < 0.4, "mean gap {mean} ns");
    }
}
