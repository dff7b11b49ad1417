//! Which answers keep their limits.

use super::Answer;
use bench_core::clock::Nanos;
use bench_core::load::Slo;

/// Answers that keep each limit, and all of them.
#[derive(Clone, Debug)]
pub struct SloCounts {
    lines: Vec<SloLine>,
    good: u64,
}

/// One limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SloLine {
    /// Figure that it limits: `ttft`, `tpot`, `itl`, `e2e`.
    pub figure: &'static str,
    /// The limit.
    pub limit: Nanos,
    /// Complete answers that keep it.
    pub met: u64,
}

impl SloCounts {
    /// Counts for the limits that are set.
    pub fn new(slo: &Slo) -> SloCounts {
        let all = [("ttft", slo.ttft), ("tpot", slo.tpot), ("itl", slo.itl), ("e2e", slo.e2e)];
        let lines =
            all.into_iter().filter_map(|(figure, limit)| Some(SloLine { figure, limit: limit?, met: 0 })).collect();
        SloCounts { lines, good: 0 }
    }

    /// Takes the answer of a complete row in. A time that the answer should have and does not (no first
    /// token where nothing was streamed) keeps no limit; one that it can't have (a gap of a single event)
    /// breaks none.
    pub fn add(&mut self, answer: &Answer) {
        let mut good = true;
        for line in &mut self.lines {
            let limit = line.limit.0 as f64;
            let single = answer.content_events == 1 || answer.later_tokens.is_none() && answer.content_events > 0;
            let keeps = match line.figure {
                "ttft" => answer.ttft.is_some_and(|t| t as f64 <= limit),
                "tpot" => answer.tpot.map_or(single, |t| t <= limit),
                "itl" => answer.greatest_gap_us.map_or(answer.content_events == 1, |us| us as f64 * 1000.0 <= limit),
                _ => answer.e2e.is_some_and(|t| t as f64 <= limit),
            };
            line.met += u64::from(keeps);
            good &= keeps;
        }
        self.good += u64::from(good);
    }

    /// No limit is set.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Answers that keep every limit.
    pub fn good(&self) -> u64 {
        self.good
    }

    /// Each limit.
    pub fn lines(&self) -> &[SloLine] {
        &self.lines
    }
}
