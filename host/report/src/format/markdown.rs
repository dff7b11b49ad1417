//! Tables for pages and pull requests.

use super::text;
use crate::error::ReportError;
use crate::metric::{FIGURES, figure};
use crate::stats::percentile_name;
use crate::summary::{ScenarioResult, Summary};
use std::io::Write;

/// Writes the summary as CommonMark with tables.
///
/// # Errors
/// Where `out` can't be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> Result<(), ReportError> {
    let run = &summary.run;
    writeln!(out, "# {}\n", escaped(run.name.as_deref().unwrap_or("Benchmark")))?;
    let facts = [
        ("Engine", &run.engine),
        ("Engine version", &run.engine_version),
        ("Model", &run.model),
        ("Started", &run.started),
        ("Plan", &run.plan_hash),
        ("bench-host", &run.bench_host),
    ];
    for (name, fact) in facts {
        if let Some(fact) = fact {
            writeln!(out, "- {name}: {}", escaped(fact))?;
        }
    }
    if let Some(command) = &run.engine_command {
        writeln!(out, "\n```\n{command}\n```")?;
    }
    writeln!(out, "\n**{}**\n", summary.verdict.status)?;
    for reason in &summary.verdict.reasons {
        writeln!(out, "- `{}`: {}; {}", reason.code, escaped(&reason.message), escaped(&reason.help))?;
    }
    for result in &summary.results {
        writeln!(out, "\n## {}\n", escaped(&text::title(result, text::several(&summary.results, result))))?;
        one(out, result, &summary.percentiles)?;
    }
    Ok(())
}

fn one(out: &mut dyn Write, result: &ScenarioResult, percentiles: &[f64]) -> Result<(), ReportError> {
    writeln!(out, "| | |\n|---|---|")?;
    writeln!(out, "| Verdict | {} |", result.verdict.status)?;
    let lines = [
        ("Load", result.load.as_ref().map(text::load)),
        ("Requests", Some(text::requests(result))),
        ("Failures", text::failures(result)),
        ("Apart", text::apart(result)),
        ("Duration", result.window.as_ref().map(|w| format!("{:.2} s", w.duration_s))),
        ("Prompt tokens", Some(text::prompt_tokens(result))),
        ("Output tokens", Some(text::output_tokens(result))),
    ];
    for (name, line) in lines {
        if let Some(line) = line {
            writeln!(out, "| {name} | {} |", escaped(&line))?;
        }
    }
    writeln!(out, "\n| Figure | Value | Unit |\n|---|---:|---|")?;
    for def in FIGURES {
        if let Some(value) = text::value(result, def.id) {
            writeln!(out, "| {} | {} | {} |", def.title, text::in_unit(value, def.unit), def.unit.as_str())?;
        }
    }
    for slo in &result.slo {
        let share = text::percent(slo.attainment);
        writeln!(out, "| {} within {} ms | {share} | {} of {} |", slo.figure, slo.limit_ms, slo.met, slo.of)?;
    }
    latencies(out, result, percentiles)
}

fn latencies(out: &mut dyn Write, result: &ScenarioResult, percentiles: &[f64]) -> Result<(), ReportError> {
    let shown = percentiles.iter().map(|q| percentile_name(*q));
    let names: Vec<String> = ["mean", "std", "median"].map(str::to_owned).into_iter().chain(shown).collect();
    writeln!(out, "\n| ms | n | {} |", names.join(" | ").replace('_', "."))?;
    writeln!(out, "|---|---:|{}", "---:|".repeat(names.len()))?;
    for (label, id) in text::LATENCIES.into_iter().chain([("Send lateness", "send_lateness")]) {
        let Some(f) = result.figures.get(id).filter(|_| text::is_shown(result, id)) else { continue };
        let Some(d) = &f.distribution else { continue };
        write!(out, "| {} | {} ", figure(id).map_or(label, |def| def.title), f.n)?;
        for name in &names {
            let mark = if d.is_weak(name) { "\\*" } else { "" };
            write!(out, "| {}{mark} ", text::number(d.get(name)))?;
        }
        writeln!(out, "|")?;
    }
    Ok(writeln!(out, "\n\\* rests on too few values: fewer than one is expected beyond it")?)
}

/// Text that must not open a table cell or a tag.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}
