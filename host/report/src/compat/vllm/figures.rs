//! The tool's figures.

use super::{Success, Version};
use crate::stats::{CountTable, Population, Ranked, Sorted};
use bench_core::load::Slo;

/// Where gaps are pooled.
pub trait GapPool: Default {
    /// The pool as it is looked at.
    type Pool: Population;
    /// Values of the pool to a second.
    const PER_SECOND: f64;
    /// Takes a gap in.
    fn add(&mut self, seconds: f64);
    /// All gaps.
    fn into_pool(self) -> Self::Pool;
}

impl GapPool for Vec<f64> {
    type Pool = Sorted;
    const PER_SECOND: f64 = 1.0;
    fn add(&mut self, seconds: f64) {
        self.push(seconds);
    }
    fn into_pool(self) -> Sorted {
        Sorted::new(self)
    }
}

/// In µs; memory does not grow with the number of gaps.
impl GapPool for CountTable {
    type Pool = Ranked;
    const PER_SECOND: f64 = 1e6;
    fn add(&mut self, seconds: f64) {
        CountTable::add(self, (seconds * 1e6).round() as i64);
    }
    fn into_pool(self) -> Ranked {
        self.ranked()
    }
}

/// Takes successes in one by one.
#[derive(Debug)]
pub struct Tally<G> {
    first_start_s: f64,
    slo: Slo,
    completed: u64,
    good: u64,
    input: u64,
    output: u64,
    ttft: Vec<f64>,
    tpot: Vec<f64>,
    latency: Vec<f64>,
    gaps: G,
    events: Vec<u64>,
    /// Changes of the number of requests from one second to the next.
    steps: Vec<i64>,
}

/// The tool's figures, times in seconds.
#[derive(Debug)]
pub struct Figures<P> {
    /// Seconds.
    pub duration_s: f64,
    /// Successful requests.
    pub completed: u64,
    /// Requests that were not.
    pub failed: u64,
    /// Prompt tokens of successes.
    pub total_input: u64,
    /// Output tokens of successes.
    pub total_output: u64,
    /// Requests that keep all limits, a second; `None` without limits.
    pub request_goodput: Option<f64>,
    /// Most token events in one second.
    pub max_output_tokens_per_s: u64,
    /// Most requests that touch one second.
    pub max_concurrent_requests: u64,
    /// Time to first token.
    pub ttft: Sorted,
    /// Time per output token after the first.
    pub tpot: Sorted,
    /// Gaps.
    pub itl: P,
    /// Values of `itl` to a second.
    pub itl_per_second: f64,
    /// End-to-end latency.
    pub e2el: Sorted,
}

/// Longest run of buckets: a bad clock must not ask for memory without end.
const MOST_SECONDS: usize = 1 << 24;

fn bucket(seconds: f64) -> usize {
    (seconds.max(0.0) as usize).min(MOST_SECONDS)
}

fn grown<T: Default + Clone>(list: &mut Vec<T>, place: usize) -> &mut T {
    if place >= list.len() {
        list.resize(place + 1, T::default());
    }
    &mut list[place]
}

impl<G: GapPool> Tally<G> {
    /// An empty one; seconds of the peaks count from the first start of a success.
    pub fn new(first_start_s: f64, slo: Slo) -> Tally<G> {
        Tally {
            first_start_s,
            slo,
            completed: 0,
            good: 0,
            input: 0,
            output: 0,
            ttft: Vec::new(),
            tpot: Vec::new(),
            latency: Vec::new(),
            gaps: G::default(),
            events: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Takes a success in.
    pub fn add(&mut self, s: &Success) {
        self.completed += 1;
        self.input += s.prompt_tokens;
        self.output += s.output_tokens;
        self.ttft.push(s.ttft_s);
        self.latency.push(s.latency_s);
        let tpot = (s.output_tokens > 1).then(|| (s.latency_s - s.ttft_s) / (s.output_tokens - 1) as f64);
        self.tpot.extend(tpot);
        let keeps =
            |limit: Option<bench_core::clock::Nanos>, value: f64| limit.is_none_or(|l| value <= l.as_secs_f64());
        let good = keeps(self.slo.ttft, s.ttft_s)
            && keeps(self.slo.tpot, tpot.unwrap_or(0.0))
            && keeps(self.slo.e2e, s.latency_s);
        self.good += u64::from(good);
        let mut at = s.start_s + s.ttft_s;
        *grown(&mut self.events, bucket(at - self.first_start_s)) += 1;
        for gap in &s.itl_s {
            self.gaps.add(*gap);
            at += gap;
            *grown(&mut self.events, bucket(at - self.first_start_s)) += 1;
        }
        *grown(&mut self.steps, bucket(s.start_s - self.first_start_s)) += 1;
        *grown(&mut self.steps, bucket(s.start_s + s.latency_s - self.first_start_s) + 1) -= 1;
    }

    /// The figures, given the time from the first send until all requests ended and the number of failures.
    pub fn finish(self, duration_s: f64, failed: u64) -> Figures<G::Pool> {
        let mut running = 0;
        let most = self.steps.iter().map(|step| {
            running += step;
            running
        });
        let has_limit = self.slo.ttft.or(self.slo.tpot).or(self.slo.e2e).is_some();
        Figures {
            duration_s,
            completed: self.completed,
            failed,
            total_input: self.input,
            total_output: self.output,
            request_goodput: has_limit.then(|| self.good as f64 / duration_s),
            max_output_tokens_per_s: self.events.iter().copied().max().unwrap_or(0),
            max_concurrent_requests: most.max().and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
            ttft: Sorted::new(self.ttft),
            tpot: Sorted::new(self.tpot),
            itl: self.gaps.into_pool(),
            itl_per_second: G::PER_SECOND,
            e2el: Sorted::new(self.latency),
        }
    }
}

impl<P: Population> Figures<P> {
    /// Successes a second.
    pub fn request_throughput(&self) -> f64 {
        self.completed as f64 / self.duration_s
    }

    /// Output tokens a second.
    pub fn output_throughput(&self) -> f64 {
        self.total_output as f64 / self.duration_s
    }

    /// Input and output tokens a second.
    pub fn total_token_throughput(&self) -> f64 {
        (self.total_input + self.total_output) as f64 / self.duration_s
    }
}

impl Version {
    /// Label of the last throughput.
    pub(super) const fn total_label(self) -> &'static str {
        match self {
            Version::V0_11 => "Total Token throughput (tok/s):",
            Version::V0_33 => "Total token throughput (tok/s):",
        }
    }
}
