//! Reasons that lie in the requests: failures, too few of them, prompts that are not what was asked.

use super::{Case, Level, Reason};
use crate::stats::Distribution;
use bench_core::outcome::Outcome;

/// Percentiles that the terminal block shows of a latency, up to this one.
const SHOWN: &str = "p99";
/// Share of requests with a repeated prompt from which on a prefix cache may carry the run.
const REUSED: f64 = 0.05;
/// Share of cached prompt tokens from which on it does.
const CACHED: f64 = 0.10;
/// Room for a prompt's own length beside a constant template: tokens, and share of the length.
const PROMPT_ROOM: (f64, f64) = (2.0, 0.01);
/// Share of prompts that may be off, and of tokens from which on the load is another one.
const PROMPTS_OFF: (f64, f64) = (0.01, 0.05);

pub(super) fn judge(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    failures(case, reasons);
    too_few(case, reasons);
    prompts(case, reasons);
    cache(case, reasons);
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn failures(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let columns = case.columns;
    let (failed, counted) = (columns.failed(), columns.counted());
    if failed > 0 && counted > 0 {
        let share = failed as f64 / counted as f64;
        let limit = case.scenario.limits.max_failure_rate;
        let parts: Vec<String> = Outcome::ALL
            .iter()
            .zip(columns.outcomes)
            .filter(|(o, n)| o.is_failure() && *n > 0)
            .map(|(o, n)| format!("{n} {o}"))
            .collect();
        let parts = parts.join(", ");
        let (level, limit) = if share > limit {
            (Level::Invalid, format!("more than the {} allowed", percent(limit)))
        } else {
            (Level::Note, format!("no more than the {} allowed", percent(limit)))
        };
        reasons.push(Reason::new(
            level,
            "failures",
            format!("{failed} of {counted} requests failed ({}, {limit}): {parts}", percent(share)),
            "read the column `error` of the trace and the engine's log; \
             `limits.max-failure-rate` says how many failures a run may have",
        ));
    }
    let stale = columns.with(Outcome::StaleConnection);
    if stale > 0 {
        reasons.push(Reason::new(
            Level::Note,
            "stale-connections",
            format!("{stale} requests went to a connection that the server was closing, and were sent again"),
            "nothing, if they are few: response time counts the first attempt, TTFT and E2E don't",
        ));
    }
}

fn too_few(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let columns = case.columns;
    if let Some(load) = &case.scenario.load
        && load.duration.is_none()
        && let Some(asked) = load.requests
        && columns.requests < asked
    {
        reasons.push(Reason::new(
            Level::Invalid,
            "fewer-requests",
            format!("{} of {asked} requests were made", columns.requests),
            "let the run come to its end; see the log for why it ended early",
        ));
    }
    let answers = columns.e2e.len() as u64;
    let weak = case.figures.get("e2e").and_then(|f| f.distribution.as_ref()).map(|d| {
        let shown = Distribution::PERCENTILES.iter().take_while(|(name, _)| *name != SHOWN).count() + 1;
        Distribution::PERCENTILES[..shown].iter().map(|(name, _)| *name).find(|name| d.is_weak(name))
    });
    match weak {
        Some(Some(name)) => reasons.push(Reason::new(
            Level::Doubtful,
            "few-samples",
            format!("too few complete answers for {name}: {answers} (90th percentile: 10, 95th: 20, 99th: 100)"),
            "ask for more requests, or don't quote the percentiles that are marked",
        )),
        Some(None) => {}
        None if columns.outcomes.iter().any(|n| *n > 0) => reasons.push(Reason::new(
            Level::Invalid,
            "no-answers",
            "no request was answered completely, so there are no latencies".to_owned(),
            "read the column `error` of the trace and the engine's log",
        )),
        None => {}
    }
}

fn prompts(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let evidence = &case.columns.evidence;
    let Some(overhead) = evidence.prompt_overhead() else { return };
    let off = |(asked, server): &(u32, u32)| (f64::from(*server) - f64::from(*asked) - overhead).abs();
    let is_off = |p: &&(u32, u32)| off(p) > PROMPT_ROOM.0.max(f64::from(p.0) * PROMPT_ROOM.1);
    let count = evidence.prompts.iter().filter(is_off).count() as f64;
    let tokens: f64 = evidence.prompts.iter().filter(is_off).map(off).sum();
    let asked: f64 = evidence.prompts.iter().map(|(asked, _)| f64::from(*asked)).sum();
    let n = evidence.prompts.len() as f64;
    let level = if tokens > asked * PROMPTS_OFF.1 {
        Level::Invalid
    } else if count > n * PROMPTS_OFF.0 {
        Level::Doubtful
    } else {
        return;
    };
    reasons.push(Reason::new(
        level,
        "prompt-lengths",
        format!(
            "{count} of {n} prompts have another length for the server than for the dataset ({tokens:.0} tokens in \
             all, beside the {overhead:.0} that a template adds)"
        ),
        "give the tokenizer of the model that is served, and see whether the server cuts prompts",
    ));
}

fn cache(case: &Case<'_>, reasons: &mut Vec<Reason>) {
    let tokens = &case.columns.tokens;
    let cached = (tokens.cached.rows > 0 && tokens.prompt_beside_cached > 0)
        .then(|| tokens.cached.total as f64 / tokens.prompt_beside_cached as f64);
    if let Some(share) = cached.filter(|share| *share > CACHED) {
        reasons.push(Reason::new(
            Level::Doubtful,
            "prefix-cache-warm",
            format!("{} of the prompt tokens were answered from the server's prefix cache", percent(share)),
            "fine if the traffic that you mean shares prefixes; else restart the engine before the run, \
             or use prompts that it has not seen",
        ));
    }
    let (sent, distinct) = case.columns.evidence.distinct_prompts();
    let again = sent - distinct;
    if again as f64 > sent as f64 * REUSED {
        let level = if cached.is_some_and(|share| share <= CACHED) { Level::Note } else { Level::Doubtful };
        let known = if cached.is_none() { ", and the server does not say what it had cached" } else { "" };
        reasons.push(Reason::new(
            level,
            "samples-reused",
            format!("{again} of {sent} requests repeat a prompt that was sent before{known}"),
            "a prefix cache answers repeated prompts faster: give the dataset more samples, or ask for fewer requests",
        ));
    }
}
