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
/// Share of events that shared a read from which on gaps say little.
const MERGED: f64 = 0.10;

pub(super) fn judge(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    lateness(case, reasons);
    busy(case, reasons);
    clock(case, reasons);
    merged(case, reasons);
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
    // A burst asks for all at one moment, and no machine sends them at one moment.
    let burst = case.scenario.load.as_ref().is_some_and(|l| l.kind == LoadKind::Burst);
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
