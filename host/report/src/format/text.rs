//! Sentences that the forms for people share.

use crate::metric::Unit;
use crate::summary::{LoadLine, ScenarioResult};

/// A number of a figure: two decimals, or none where it is whole by nature.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}"))
}

/// A number of a figure in its unit: totals are whole, and shares are small.
pub(super) fn in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Tokens => format!("{value:.0}"),
        Unit::Share => format!("{value:.4}"),
        _ => format!("{value:.2}"),
    }
}

/// A count held as a number.
pub(super) fn count(value: Option<f64>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |v| format!("{v:.0}"))
}

/// A share of one.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |s| format!("{:.1} %", s * 100.0))
}

/// The value of a figure that is one number.
pub(super) fn value(result: &ScenarioResult, id: &str) -> Option<f64> {
    result.figures.get(id).and_then(|f| f.value)
}

/// A percentile of a figure that has many.
pub(super) fn p99(result: &ScenarioResult, id: &str) -> Option<f64> {
    result.figures.get(id)?.distribution.as_ref().map(|d| d.p99)
}

/// The latencies shown, with the name of their row.
pub(super) const LATENCIES: [(&str, &str); 6] = [
    ("TTFT", "ttft"),
    ("TTFO", "ttfo"),
    ("TPOT", "tpot"),
    ("ITL", "itl"),
    ("E2E", "e2e"),
    ("Response time", "response_time"),
];

/// TTFO is shown where it is not TTFT again.
pub(super) fn is_shown(result: &ScenarioResult, id: &str) -> bool {
    let spread = |id: &str| result.figures.get(id).and_then(|f| f.distribution.clone());
    id != "ttfo" || spread("ttfo") != spread("ttft")
}

/// `closed, 4 in flight, 1000 requests`.
pub(super) fn load(load: &LoadLine) -> String {
    let parts = [
        Some(load.kind.clone()),
        load.concurrency.map(|c| format!("{c} in flight")),
        load.rate.map(|r| format!("{r} req/s")),
        load.requests.map(|n| format!("{n} requests")),
        load.duration_s.map(|s| format!("{s} s")),
        load.max_concurrency.map(|c| format!("at most {c} in flight")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `1000 of 1000 complete, 0 failed (0.0 %)`.
pub(super) fn requests(result: &ScenarioResult) -> String {
    let r = &result.requests;
    let mut text = format!("{} complete, {} failed ({})", r.complete, r.failed, percent(value(result, "failure_rate")));
    let apart = [(r.stale_connections, "on a stale connection"), (r.not_streamed, "not streamed")];
    for (n, what) in apart.into_iter().filter(|(n, _)| *n > 0) {
        text.push_str(&format!(", {n} {what}"));
    }
    text
}

/// Failed attempts by outcome, if any.
pub(super) fn failures(result: &ScenarioResult) -> Option<String> {
    let harmless = ["complete", "stale_connection"];
    let failed = result.outcomes.iter().filter(|(o, n)| **n > 0 && !harmless.contains(&o.as_str()));
    let parts: Vec<String> = failed.map(|(o, n)| format!("{n} {o}")).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Rows that are in no figure, if any.
pub(super) fn apart(result: &ScenarioResult) -> Option<String> {
    let r = &result.requests;
    let all = [(r.warmup, "warm-up"), (r.cooldown, "cool-down"), (r.probe, "probe")];
    let parts: Vec<String> = all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    (!parts.is_empty()).then(|| format!("{}, in no figure", parts.join(", ")))
}

/// Prompt tokens by who counted them.
pub(super) fn prompt_tokens(result: &ScenarioResult) -> String {
    let [server, asked] = ["prompt_tokens_server", "prompt_tokens_asked"].map(|id| count(value(result, id)));
    let mut text = format!("server {server}, dataset {asked}");
    if let Some(overhead) = result.tokens.prompt_overhead.filter(|o| *o != 0.0) {
        text.push_str(&format!(" (a template adds {overhead:.0} to each)"));
    }
    if let Some(cached) = value(result, "cached_tokens") {
        text.push_str(&format!(", cached {cached:.0}"));
    }
    text
}

/// Output tokens by the source of their number.
pub(super) fn output_tokens(result: &ScenarioResult) -> String {
    let mut text = count(value(result, "output_tokens"));
    let sources: Vec<&str> = result.tokens.output_by_source.keys().map(|s| source(s)).collect();
    if !sources.is_empty() {
        text.push_str(&format!(" by {}", sources.join(" and ")));
    }
    if let Some(asked) = value(result, "output_tokens_asked") {
        text.push_str(&format!(", asked {asked:.0}"));
    }
    if result.tokens.output_of_failed > 0 {
        text.push_str(&format!("; {} more of failed requests", result.tokens.output_of_failed));
    }
    text
}

fn source(word: &str) -> &str {
    match word {
        "usage" => "the server's usage",
        "usage_cumulative" => "the server's running usage",
        "tokenizer" => "the client's tokenizer",
        "events" => "counting events",
        other => other,
    }
}

/// `sharegpt`, with the repeat where there are several.
pub(super) fn title(result: &ScenarioResult, several: bool) -> String {
    let place = [&result.stage, &result.candidate].into_iter().flatten().fold(String::new(), |t, p| t + p + " / ");
    let repeat = if several { format!(", repeat {}", result.repeat) } else { String::new() };
    format!("{place}{}{repeat}", result.scenario)
}

/// The scenario was run more than once.
pub(super) fn several(results: &[ScenarioResult], result: &ScenarioResult) -> bool {
    results
        .iter()
        .filter(|r| r.scenario == result.scenario && r.stage == result.stage && r.candidate == result.candidate)
        .nth(1)
        .is_some()
}
