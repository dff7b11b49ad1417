//! Reasons that lie in the client: sends that were late, a thread without room, a clock that moved.

use super::{Case, Level, Reason};
use bench_core::load::LoadKind;

/// Lateness of sends at the 99th percentile that a right schedule stays under, ms.
const LATE_MS: f64 = 1.0;
/// A schedule that is late by this much, and by this share of the window, is another schedule.
const LATE_INVALID: (f64, f64) = (100.0, 0.01);
/// Share of a core from which on a thread's own queue shows in what it measures.
const BUSY: f64 = 0.70;
/// And from which on it measures itself.
const BUSY_INVALID: f64 = 0.95;
/// Share of the median ITL that reads may lag behind the kernel: a read that comes an ITL late brings two events.
const LAG: f64 = 0.25;
/// A delayed ACK that a server with Nagle's algorithm waits for ends after 40 ms, µs.
const COMB: std::ops::Range<i64> = 39_000..42_500;
/// Share of all gaps that must lie there.
const COMB_SHARE: f64 = 0.01;
/// And how many times as many as in the 10 ms around it.
const COMB_STANDS_OUT: f64 = 4.0;
/// Share of events that shared a read from which on gaps say little.
const MERGED: f64 = 0.10;

pub(super) fn judge(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    lateness(case, reasons);
    busy(case, reasons);
    read_lag(case, reasons);
    beyond_selftest(case, reasons);
    clock(case, reasons);
    merged(case, reasons);
    comb(case, reasons);
}

fn p99(case: &Case<'_>, id: &str) -> Option<f64> {
    case.figures.get(id)?.distribution.as_ref().map(|d| d.p99)
}

fn lateness(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let (Some(late), Some(seconds)) = (p99(case, "send_lateness"), case.columns.window.seconds()) else { return };
    let share = seconds * 1e3 * LATE_INVALID.1;
    let wait = p99(case, "queue_wait").unwrap_or(0.0);
    let capped = case.scenario.load.as_ref().is_some_and(|l| l.max_concurrency.is_some());
    if capped && wait > LATE_MS {
        reasons.push(Reason::new(
            Level::Doubtful,
            "queue-wait",
            format!("requests waited for `max-concurrency`: {wait:.1} ms at the 99th percentile, so the rate is not the one asked for"),
            "read response time instead of E2E, or raise `max-concurrency`",
        ));
        return;
    }
    // A burst asks for all at one moment, as a closed loop does at its start, and no machine sends them at one
    // moment. A slot that is slow to send again shows in `read-lag` and `client-busy`.
    let at_once = |kind: &LoadKind| matches!(kind, LoadKind::Burst | LoadKind::Closed { .. });
    let burst = case.scenario.load.as_ref().is_some_and(|l| at_once(&l.kind));
    let limit = if burst { LATE_MS.max(share) } else { LATE_MS };
    if late > limit {
        let level = if late > LATE_INVALID.0.max(share) { Level::Invalid } else { Level::Doubtful };
        reasons.push(Reason::new(
            level,
            "schedule-lag",
            format!("requests were sent late: {late:.2} ms at the 99th percentile, where {limit:.2} ms is the limit"),
            "give the client cores of its own, more `client.threads`, or a lower rate",
        ));
    }
}

fn busy(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let Some(share) = case.window.and_then(|w| w.busiest_thread).filter(|share| *share > BUSY) else { return };
    let level = if share > BUSY_INVALID { Level::Invalid } else { Level::Doubtful };
    reasons.push(Reason::new(
        level,
        "client-busy",
        format!("a load thread used {:.0} % of a core, where {:.0} % is the limit", share * 100.0, BUSY * 100.0),
        "set more `client.threads`, and run the client on cores that the engine does not use",
    ));
}

fn read_lag(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let Some(lag) = case.window.and_then(|w| w.read_lag_p99).map(|lag| lag.as_secs_f64() * 1e3) else { return };
    let median = case.figures.get("itl").and_then(|f| f.distribution.as_ref()).map(|d| d.median);
    if let Some(limit) = median.map(|itl| itl * LAG).filter(|limit| lag > *limit && *limit > 0.0) {
        reasons.push(Reason::new(
            Level::Doubtful,
            "read-lag",
            format!(
                "reads came {lag:.2} ms after the kernel's stamps at the 99th percentile, where a quarter of the median \
                 ITL, {limit:.2} ms, is the limit"
            ),
            "give the client cores of its own (`client.cores`), or more `client.threads`",
        ));
    }
}

/// A load that the client was never seen to be right at.
fn beyond_selftest(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let Some(window) = case.window else { return };
    let same = case.trust.filter(|t| window.transport.as_deref() == Some(t.transport.as_str()));
    let Some(trust) = same else {
        if window.events_per_s.is_some() {
            let message = "the client was never tested on this machine with this transport".to_owned();
            reasons.push(Reason::new(Level::Note, "no-selftest", message, "run `bench-host selftest` once"));
        }
        return;
    };
    let beyond = |what: &str, value: Option<f64>, most: f64| {
        let value = value.filter(|v| *v > most)?;
        Some(format!("{what}: {value:.0}, where the self-test of this machine was right up to {most:.0}"))
    };
    let message = beyond("events a second", window.events_per_s, trust.events_per_s)
        .or_else(|| beyond("requests sent a second", window.sends_per_s, trust.sends_per_s));
    if let Some(message) = message {
        reasons.push(Reason::new(
            Level::Doubtful,
            "beyond-selftest",
            message,
            "more `client.threads` or cores of its own, then `bench-host selftest` again",
        ));
    }
}

/// Gaps of 40 ms that stand out: the server holds back what it has until the client's delayed ACK comes.
fn comb(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let gaps = &case.columns.gaps;
    let (all, comb) = (gaps.len() as f64, gaps.between(COMB) as f64);
    let around = gaps.between(COMB.start - 5_000..COMB.end + 5_000) as f64 - comb;
    let width = (COMB.end - COMB.start) as f64 / 10_000.0;
    if comb > all * COMB_SHARE && comb >= 20.0 && comb > COMB_STANDS_OUT * around * width {
        reasons.push(Reason::new(
            Level::Doubtful,
            "nagle",
            format!(
                "{:.1} % of the gaps are 40 ms and few are near it: the server waits for acknowledgements (Nagle's \
                 algorithm)",
                comb / all * 100.0
            ),
            "have the server, or the proxy before it, set TCP_NODELAY",
        ));
    }
}

fn clock(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    if let Some(steps) = case.window.map(|w| w.clock_steps).filter(|steps| *steps > 0) {
        reasons.push(Reason::new(
            Level::Doubtful,
            "clock-step",
            format!(
                "the wall clock was set {steps} times while the load ran, so kernel stamps near those moments are off"
            ),
            "run again while no time service steps the clock",
        ));
    }
    let (disordered, rows) = (case.columns.evidence.disordered, case.columns.tally.ids.len());
    if disordered > 0 {
        let level = if disordered * 100 > rows as u64 { Level::Invalid } else { Level::Doubtful };
        reasons.push(Reason::new(
            level,
            "clock-disorder",
            format!("{disordered} of {rows} requests have times that go backwards"),
            "run again; if it stays so, report it as a defect of bench-host with the trace",
        ));
    }
}

fn merged(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let evidence = &case.columns.evidence;
    let share = evidence.merged_events as f64 / evidence.content_events.max(1) as f64;
    if share > MERGED {
        reasons.push(Reason::new(
            Level::Doubtful,
            "merged-reads",
            format!("{:.1} % of the events came in one read with another, so ITL percentiles say little", share * 100.0),
            "see `read_lag`: if it is great the client is too slow, else the server or the network sends events together",
        ));
    }
    if evidence.read_stamps > 0 {
        let rows = evidence.read_stamps + evidence.kernel_stamps;
        reasons.push(Reason::new(
            Level::Note,
            "stamps-at-read",
            format!("{} of {rows} requests are stamped when they were read, not by the kernel", evidence.read_stamps),
            "times are later by the client's own queue; nothing to do where the system gives no stamps",
        ));
    }
}
