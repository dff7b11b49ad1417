//! The columns of one group, filled row by row.

use super::answer::since;
use super::{Answer, Buckets, Evidence, Flight, SloCounts, TokenTotals};
use crate::stats::CountTable;
use crate::window::Window;
use bench_core::load::Slo;
use bench_core::outcome::Outcome;
use bench_core::record::{Phase, RequestRecord, TokenSource};

/// Sums that the identities compare, taken row by row and not from the figures.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Over rows with a TPOT, ns: E2E.
    pub e2e: i128,
    /// Over rows with a TPOT, ns: TTFT.
    pub ttft: i128,
    /// Over rows with a TPOT, ns: TPOT times its divisor.
    pub decode: f64,
    /// Rows with a TPOT.
    pub tpot_rows: u64,
    /// Gaps of all complete answers, µs, by their first and last content events.
    pub spans_us: i128,
    /// Complete streamed rows whose events end elsewhere than their first and last token say.
    pub stray_spans: u64,
    /// Complete rows counted by events whose output tokens are not their content events.
    pub stray_event_counts: u64,
    /// Output tokens of complete streamed rows; `None` once one of them is not known.
    pub streamed_tokens: Option<u64>,
    /// Number and attempt of every measured row.
    pub ids: Vec<(u64, u32)>,
}

/// What is kept of the rows of one group.
#[derive(Clone, Debug)]
pub struct Columns {
    /// What throughput is counted over.
    pub window: Window,
    /// Percentiles asked for.
    pub percentiles: Vec<f64>,
    /// Measured attempts by outcome, in the order of [`Outcome::ALL`].
    pub outcomes: [u64; Outcome::ALL.len()],
    /// Rows that are not measured: warm-up, cool-down, probe.
    pub apart: [u64; 3],
    /// Measured requests: attempts but for those that were made again.
    pub requests: u64,
    /// Of complete rows, ns; a column has the rows for which it is defined.
    pub ttft: Vec<i64>,
    /// First text or tool call.
    pub ttfo: Vec<i64>,
    /// Last token since sent.
    pub e2e: Vec<i64>,
    /// Last token since scheduled.
    pub response: Vec<i64>,
    /// Time per output token.
    pub tpot: Vec<f64>,
    /// Of sent rows, ns: sent since scheduled.
    pub lateness: Vec<i64>,
    /// Of sent rows, ns: wait for a free slot.
    pub queue: Vec<i64>,
    /// Of complete rows, ns: greatest time from the kernel's stamp to the read.
    pub read_lag: Vec<i64>,
    /// Gaps between content events of complete rows, µs.
    pub gaps: CountTable,
    /// Output tokens of complete rows by second.
    pub buckets: Buckets,
    /// When requests were in flight.
    pub flight: Flight,
    /// Limits kept.
    pub slo: SloCounts,
    /// Totals of tokens.
    pub tokens: TokenTotals,
    /// What the verdict looks at.
    pub evidence: Evidence,
    /// What the identities compare.
    pub tally: Tally,
}

impl Columns {
    /// Empty ones.
    pub fn new(window: Window, slo: &Slo, percentiles: &[f64]) -> Columns {
        Columns {
            window,
            percentiles: percentiles.to_vec(),
            outcomes: [0; Outcome::ALL.len()],
            apart: [0; 3],
            requests: 0,
            ttft: Vec::new(),
            ttfo: Vec::new(),
            e2e: Vec::new(),
            response: Vec::new(),
            tpot: Vec::new(),
            lateness: Vec::new(),
            queue: Vec::new(),
            read_lag: Vec::new(),
            gaps: CountTable::default(),
            buckets: Buckets::new(window),
            flight: Flight::default(),
            slo: SloCounts::new(slo),
            tokens: TokenTotals::default(),
            evidence: Evidence::default(),
            tally: Tally { streamed_tokens: Some(0), ..Tally::default() },
        }
    }

    /// Takes a row in.
    pub fn add(&mut self, row: &RequestRecord) {
        match row.phase {
            Phase::Measure => {}
            Phase::Warmup => return self.apart[0] += 1,
            Phase::Cooldown => return self.apart[1] += 1,
            Phase::Probe => return self.apart[2] += 1,
        }
        if let Some(place) = Outcome::ALL.iter().position(|o| *o == row.outcome) {
            self.outcomes[place] += 1;
        }
        self.requests += u64::from(row.attempt == 0);
        self.tally.ids.push((row.request, row.attempt));
        self.flight.add(row);
        self.evidence.add(row);
        if let Some(sent) = row.sent {
            self.lateness.push(since(sent, row.scheduled));
        }
        if let Some(admitted) = row.admitted {
            self.queue.push(since(admitted, row.scheduled));
        }
        if row.outcome == Outcome::Complete {
            self.add_complete(row);
        } else {
            self.tokens.add_failed(row);
        }
    }

    fn add_complete(&mut self, row: &RequestRecord) {
        let gaps = &mut self.gaps;
        let answer = Answer::read(row, |gap| gaps.add(gap));
        self.ttft.extend(answer.ttft);
        self.ttfo.extend(answer.ttfo);
        self.e2e.extend(answer.e2e);
        self.response.extend(answer.response);
        self.tpot.extend(answer.tpot);
        if let Some(lag) = row.stamp_lag {
            self.read_lag.push(i64::try_from(lag.0).unwrap_or(i64::MAX));
        }
        self.buckets.add_answer(row);
        self.slo.add(&answer);
        self.tokens.add_complete(row);
        self.evidence.add_complete(row, &answer);
        self.check(row, &answer);
    }

    fn check(&mut self, row: &RequestRecord, answer: &Answer) {
        let tally = &mut self.tally;
        if let (Some(tpot), Some(e2e), Some(ttft), Some(later)) =
            (answer.tpot, answer.e2e, answer.ttft, answer.later_tokens)
        {
            tally.e2e += i128::from(e2e);
            tally.ttft += i128::from(ttft);
            tally.decode += tpot * later as f64;
            tally.tpot_rows += 1;
        }
        if let Some((first, last)) = answer.span_us {
            let tokens = row.output_tokens.map(u64::from);
            tally.streamed_tokens = tally.streamed_tokens.zip(tokens).map(|(sum, n)| sum + n);
            tally.spans_us += i128::from(last - first);
            let agrees = |us: i64, ns: Option<i64>| ns.is_some_and(|ns| (ns - us.saturating_mul(1000)).abs() <= 1000);
            let last_token = row.last_token.zip(row.sent).map(|(last, sent)| since(last, sent));
            tally.stray_spans += u64::from(!agrees(first, answer.ttft) || !agrees(last, last_token));
        }
        if row.token_source == Some(TokenSource::Events) && row.streamed == Some(true) {
            let counted = row.output_tokens.map(u64::from);
            tally.stray_event_counts += u64::from(counted != Some(answer.content_events));
        }
    }

    /// Measured attempts with an outcome.
    pub fn with(&self, outcome: Outcome) -> u64 {
        Outcome::ALL.iter().position(|o| *o == outcome).map_or(0, |place| self.outcomes[place])
    }

    /// Complete answers.
    pub fn complete(&self) -> u64 {
        self.with(Outcome::Complete)
    }

    /// Attempts that count: all but those on a stale connection.
    pub fn counted(&self) -> u64 {
        self.outcomes.iter().sum::<u64>() - self.with(Outcome::StaleConnection)
    }

    /// Attempts that failed.
    pub fn failed(&self) -> u64 {
        Outcome::ALL.iter().zip(self.outcomes).filter(|(o, _)| o.is_failure()).map(|(_, n)| n).sum()
    }
}
