//! Long form for spreadsheets: one number a line.

use crate::error::ReportError;
use crate::metric::FIGURES;
use crate::stats::Distribution;
use crate::summary::{ScenarioResult, Summary};
use std::io::Write;

/// Writes a line for each statistic of each figure. What was not measured has no line. RFC 4180, with plain
/// line feeds.
///
/// # Errors
/// Where `out` can't be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> Result<(), ReportError> {
    writeln!(out, "scenario,repeat,figure,statistic,unit,value,stage,candidate")?;
    for result in &summary.results {
        if let Some(window) = &result.window {
            line(out, result, ["duration", "value", "s"], &window.duration_s.to_string())?;
        }
        for def in FIGURES {
            let Some(figure) = result.figures.get(def.id) else { continue };
            line(out, result, [def.id, "n", "1"], &figure.n.to_string())?;
            if let Some(value) = figure.value {
                line(out, result, [def.id, "value", def.unit.as_str()], &value.to_string())?;
            }
            if let Some(d) = &figure.distribution {
                let others = d.others.iter().map(|(name, value)| (name.as_str(), *value));
                for (name, value) in Distribution::NAMES.into_iter().zip(d.values()).chain(others) {
                    line(out, result, [def.id, name, def.unit.as_str()], &value.to_string())?;
                }
            }
        }
        for (outcome, n) in &result.outcomes {
            line(out, result, ["outcome", outcome, "req"], &n.to_string())?;
        }
        for slo in &result.slo {
            if let Some(share) = slo.attainment {
                line(out, result, ["slo_attainment", &slo.figure, "1"], &share.to_string())?;
            }
        }
    }
    Ok(())
}

fn line(out: &mut dyn Write, result: &ScenarioResult, what: [&str; 3], value: &str) -> Result<(), ReportError> {
    let [figure, statistic, unit] = what.map(quoted);
    let scenario = quoted(&result.scenario);
    let [stage, candidate] = [&result.stage, &result.candidate].map(|s| quoted(s.as_deref().unwrap_or_default()));
    let repeat = result.repeat;
    Ok(writeln!(out, "{scenario},{repeat},{figure},{statistic},{unit},{value},{stage},{candidate}")?)
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
