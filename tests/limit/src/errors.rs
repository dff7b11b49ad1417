//! The trace's times held against the server's: how wrong the client's stamps are.

use crate::send_log::LogEntry;
use std::collections::HashMap;

/// The times of one row of a trace, ns since the run's start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowTimes {
    /// Number of the request.
    pub request: u64,
    /// Number of the attempt.
    pub attempt: u32,
    /// When it was due.
    pub scheduled_ns: u64,
    /// When it was handed to the kernel.
    pub sent_ns: u64,
    /// Its first event with content.
    pub first_token_ns: Option<u64>,
    /// Its events, in µs since `sent_ns`.
    pub event_us: Vec<i64>,
}

/// Differences in µs, client less server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeErrors {
    /// Of every event. The trace keeps whole µs, so half a µs of it is rounding.
    pub events_us: Vec<f64>,
    /// Of the first event of each answer: the error of the TTFT, as both count from the same send.
    pub first_us: Vec<f64>,
    /// From due to sent.
    pub lateness_us: Vec<f64>,
    /// Rows without an entry of the log, or with another number of events than chunks were sent.
    pub unmatched: u64,
}

impl TimeErrors {
    /// Holds rows against a log. `origin_ns` is the run's start by the monotonic clock; without it there are no errors
    /// of events.
    pub fn of(origin_ns: Option<u64>, rows: impl IntoIterator<Item = RowTimes>, log: &[LogEntry]) -> TimeErrors {
        let sent: HashMap<(u64, u32), &[u64]> =
            log.iter().filter_map(|e| Some((e.request_and_attempt()?, e.sent_ns.as_slice()))).collect();
        let mut errors = TimeErrors::default();
        for row in rows {
            errors.lateness_us.push((row.sent_ns as f64 - row.scheduled_ns as f64) / 1e3);
            match sent.get(&(row.request, row.attempt)) {
                Some(chunks) if !chunks.is_empty() && chunks.len() == row.event_us.len() => {
                    if let Some(origin) = origin_ns {
                        errors.add(origin, &row, chunks);
                    }
                }
                _ => errors.unmatched += 1,
            }
        }
        errors
    }

    fn add(&mut self, origin: u64, row: &RowTimes, chunks: &[u64]) {
        // Differences are taken in whole ns: as floating point, times of days would lose them.
        let error = |ns: i128, chunk: u64| (ns - i128::from(chunk)) as f64 / 1e3;
        let start = i128::from(origin) + i128::from(row.sent_ns);
        let events = row.event_us.iter().zip(chunks);
        self.events_us.extend(events.map(|(&us, &chunk)| error(start + 1000 * i128::from(us), chunk)));
        if let (Some(first), Some(&chunk)) = (row.first_token_ns, chunks.first()) {
            self.first_us.push(error(i128::from(origin) + i128::from(first), chunk));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(request: u64, sent_ns: &[u64]) -> LogEntry {
        LogEntry { id: format!("bench-ab-0-{request}-0"), received_ns: 0, sent_ns: sent_ns.to_vec() }
    }

    #[test]
    fn rows_are_matched_and_compared() {
        let origin = 9_000_000_000_000_000_000;
        let log = [entry(1, &[origin + 12_000, origin + 20_500]), entry(0, &[origin + 1]), entry(2, &[])];
        let row = RowTimes { scheduled_ns: 1000, sent_ns: 3000, ..RowTimes::default() };
        let rows = [
            RowTimes { request: 1, first_token_ns: Some(15_400), event_us: vec![12, 20], ..row.clone() },
            RowTimes { request: 0, event_us: vec![1, 2], ..row.clone() },
            RowTimes { request: 2, ..row.clone() },
            RowTimes { request: 7, ..row },
        ];
        let errors = TimeErrors::of(Some(origin), rows.clone(), &log);
        assert_eq!(errors.events_us, [3.0, 2.5]);
        assert_eq!(errors.first_us, [3.4]);
        assert_eq!(errors.lateness_us, [2.0; 4]);
        assert_eq!(errors.unmatched, 3);
        let blind = TimeErrors::of(None, rows, &log);
        assert_eq!((blind.events_us.len(), blind.lateness_us.len()), (0, 4));
    }
}
