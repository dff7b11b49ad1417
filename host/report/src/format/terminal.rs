//! The block at the end of a run: 80 columns, readable without colour.

use super::text;
use crate::error::ReportError;
use crate::stats::percentile_name;
use crate::summary::{ScenarioResult, Summary};
use crate::verdict::{Level, Status, Verdict};
use std::io::Write;

const WIDTH: usize = 80;
const LABEL: usize = 14;

/// Writes a block for each result, and the verdict of the run with its reasons.
///
/// # Errors
/// Where `out` can't be written.
pub fn write(summary: &Summary, colour: bool, out: &mut dyn Write) -> Result<(), ReportError> {
    for result in &summary.results {
        let title = text::title(result, text::several(&summary.results, result));
        let paint = Paint { colour };
        headline(out, &title, result.verdict.status, paint)?;
        counts(out, result)?;
        rates(out, result)?;
        latencies(out, result, &summary.percentiles)?;
        writeln!(out)?;
    }
    verdict(out, &summary.verdict, Paint { colour })
}

#[derive(Clone, Copy)]
struct Paint {
    colour: bool,
}

impl Paint {
    fn status(self, status: Status) -> String {
        let code = match status {
            Status::Valid => "32",
            Status::Doubtful => "33",
            Status::Invalid => "31",
        };
        if self.colour { format!("\u{1b}[1;{code}m{status}\u{1b}[0m") } else { status.to_string() }
    }
}

fn headline(out: &mut dyn Write, title: &str, status: Status, paint: Paint) -> Result<(), ReportError> {
    let room = WIDTH.saturating_sub(status.to_string().len() + 1);
    writeln!(out, "{}", "=".repeat(WIDTH))?;
    let short: String = title.chars().take(room).collect();
    writeln!(out, "{short:<room$} {}", paint.status(status))?;
    Ok(writeln!(out, "{}", "-".repeat(WIDTH))?)
}

/// A label and a text, wrapped under itself.
fn row(out: &mut dyn Write, label: &str, text: &str) -> Result<(), ReportError> {
    for (i, line) in wrap(text, WIDTH - LABEL).iter().enumerate() {
        let label = if i == 0 { label } else { "" };
        writeln!(out, "{label:<LABEL$}{line}")?;
    }
    Ok(())
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines
}

fn counts(out: &mut dyn Write, result: &ScenarioResult) -> Result<(), ReportError> {
    if let Some(load) = &result.load {
        row(out, "load", &text::load(load))?;
    }
    row(out, "requests", &text::requests(result))?;
    if let Some(failures) = text::failures(result) {
        row(out, "failures", &failures)?;
    }
    if let Some(apart) = text::apart(result) {
        row(out, "apart", &apart)?;
    }
    let window = result.window.as_ref().map(|w| w.duration_s);
    let [mean, peak] = ["concurrency_mean", "concurrency_peak"].map(|id| text::value(result, id));
    let flight =
        format!("{} s, in flight {} mean, {} at most", text::number(window), text::number(mean), text::count(peak));
    row(out, "duration", &flight)?;
    row(out, "prompt tokens", &text::prompt_tokens(result))?;
    row(out, "output tokens", &text::output_tokens(result))?;
    for note in &result.notes {
        row(out, "samples", &format!("{} ({}): {}", note.code, note.count, note.message))?;
    }
    Ok(())
}

fn rates(out: &mut dyn Write, result: &ScenarioResult) -> Result<(), ReportError> {
    let figure = |id| text::number(text::value(result, id));
    let rates = format!(
        "{} req/s, output {} tok/s (peak {}), total {} tok/s",
        figure("request_throughput"),
        figure("output_throughput"),
        figure("peak_output_throughput"),
        figure("total_throughput")
    );
    row(out, "throughput", &rates)?;
    if !result.slo.is_empty() {
        let limits: Vec<String> = result
            .slo
            .iter()
            .map(|s| format!("{} <= {} ms {}", s.figure, s.limit_ms, text::percent(s.attainment)))
            .collect();
        row(out, "goodput", &format!("{} req/s; {}", figure("goodput"), limits.join(", ")))?;
    }
    let [late, lag] =
        ["send_lateness", "read_lag"].map(|id| text::p99(result, id).map_or("-".to_owned(), |v| format!("{v:.3}")));
    let merged = (result.tokens.content_events > 0)
        .then(|| result.tokens.merged_events as f64 / result.tokens.content_events as f64);
    let merged = text::percent(merged);
    row(out, "client", &format!("p99 send lateness {late} ms, read lag {lag} ms; merged reads {merged}"))
}

/// Percentiles that 80 columns have room for; the others stand in the other forms.
const MOST_PERCENTILES: usize = 6;

fn latencies(out: &mut dyn Write, result: &ScenarioResult, percentiles: &[f64]) -> Result<(), ReportError> {
    writeln!(out, "{}", "-".repeat(WIDTH))?;
    let shown = percentiles.iter().take(MOST_PERCENTILES).map(|q| percentile_name(*q));
    let names: Vec<String> = ["mean", "median"].map(str::to_owned).into_iter().chain(shown).collect();
    // A cell is its number and a mark.
    let width = ((WIDTH - LABEL) / names.len() - 1).min(12);
    let head: String = names.iter().map(|name| format!("{:>width$} ", name.replace('_', "."))).collect();
    writeln!(out, "{:<LABEL$}{}", "ms", head.trim_end())?;
    let mut weak = false;
    for (label, id) in text::LATENCIES.into_iter().filter(|(_, id)| text::is_shown(result, id)) {
        let Some(figure) = result.figures.get(id) else { continue };
        let cells = names.iter().map(|name| {
            let known = figure.distribution.as_ref().and_then(|d| Some((d.get(name)?, d.is_weak(name))));
            weak |= known.is_some_and(|(_, weak)| weak);
            match known {
                Some((value, weak)) => format!("{value:>width$.2}{}", if weak { '*' } else { ' ' }),
                None => format!("{:>width$} ", "-"),
            }
        });
        let cells: String = cells.collect();
        writeln!(out, "{}", format!("{label:<LABEL$}{cells}").trim_end())?;
    }
    if result.tokens.answers_without_event_tokens > 0 {
        let n = result.tokens.answers_without_event_tokens;
        row(
            out,
            "",
            &format!("TPOT takes the first event of {n} answers for one token: they don't say how many it has"),
        )?;
    }
    if weak {
        row(out, "", "* rests on too few values: fewer than one is expected beyond it")?;
    }
    Ok(())
}

fn verdict(out: &mut dyn Write, verdict: &Verdict, paint: Paint) -> Result<(), ReportError> {
    let meaning = match verdict.status {
        Status::Valid => "nothing speaks against these figures",
        Status::Doubtful => "read the reasons before you use these figures",
        Status::Invalid => "these figures must not be used",
    };
    writeln!(out, "{}: {meaning}", paint.status(verdict.status))?;
    for reason in &verdict.reasons {
        let level = match reason.level {
            Level::Note => "note",
            Level::Doubtful => "doubtful",
            Level::Invalid => "invalid",
        };
        row(out, &format!("  {level}"), &format!("{}: {}", reason.code, reason.message))?;
        row(out, "", &format!("help: {}", reason.help))?;
    }
    Ok(())
}
