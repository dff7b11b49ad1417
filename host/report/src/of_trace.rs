//! A run directory as rows and facts.

use crate::compat::vllm;
use crate::error::ReportError;
use crate::facts::{Facts, RunMeta, ScenarioFacts, Trust, WindowFacts};
use crate::source::{HEAD, RowSource};
use crate::summarize::summarize_rows;
use crate::summary::Summary;
use bench_core::record::{Phase, RequestRecord};
use bench_trace::{ClientHealth, ClientStats, Records, RunInfo, RunState, Trace, Window};
use std::io::Write;

/// The summary of a run directory: the same directory gives the same summary, bit for bit.
///
/// # Errors
/// Where the trace can't be read, and where figures contradict each other: such a report is refused.
pub fn summarize(trace: &Trace) -> Result<Summary, ReportError> {
    summarize_rows(trace, &Facts::from(trace.info()))
}

/// Writes the block that `vllm bench serve` 0.11 would print of the same rows; where there are several
/// scenarios or repeats, each block under its name.
///
/// # Errors
/// Where the trace can't be read or `out` can't be written.
pub fn vllm_011(trace: &Trace, out: &mut dyn Write) -> Result<(), ReportError> {
    let blocks = vllm::blocks(trace, &Facts::from(trace.info()), vllm::Version::V0_11)?;
    let several = blocks.len() > 1;
    for (key, block) in blocks {
        if several {
            writeln!(out, "{} repeat {}", key.scenario, key.repeat)?;
        }
        out.write_all(block.as_bytes())?;
    }
    Ok(())
}

impl RowSource for Trace {
    fn for_each(&self, visit: &mut dyn FnMut(&RequestRecord)) -> Result<(), ReportError> {
        visit_all(self.records(), visit)
    }

    fn for_each_head(&self, visit: &mut dyn FnMut(&RequestRecord)) -> Result<(), ReportError> {
        visit_all(self.records_of(&HEAD), visit)
    }
}

fn visit_all(records: Records<'_>, visit: &mut dyn FnMut(&RequestRecord)) -> Result<(), ReportError> {
    for record in records {
        visit(&record.map_err(|e| ReportError::Trace(Box::new(e)))?);
    }
    Ok(())
}

impl From<&RunInfo> for Facts {
    fn from(info: &RunInfo) -> Facts {
        let windows = info.windows.iter().filter(|w| w.phase == Phase::Measure);
        let repeats = info.plan.get("repeats").and_then(|n| n.as_u64()).and_then(|n| n.try_into().ok());
        Facts {
            run: meta(info),
            scenarios: info
                .scenarios
                .iter()
                .map(|s| ScenarioFacts {
                    name: s.name.clone(),
                    load: Some(s.load.clone()),
                    limits: s.limits.clone(),
                    slo: s.slo,
                    notes: s.notes.clone(),
                })
                .collect(),
            windows: windows
                .map(|w| WindowFacts {
                    transport: w.client.as_ref().map(|c| c.transport.clone()),
                    read_lag_p99: w.client.as_ref().and_then(|c| c.health).map(|h| h.read_lag.p99),
                    events_per_s: a_second(w, |h| h.events),
                    sends_per_s: a_second(w, |h| h.send_lateness.count),
                    scenario: w.scenario.clone(),
                    repeat: w.repeat,
                    start: Some(w.start),
                    busiest_thread: w.client.as_ref().and_then(busiest),
                    clock_steps: w.client.as_ref().map_or(0, |c| c.clock_steps),
                })
                .collect(),
            repeats,
            percentiles: info
                .plan
                .pointer("/report/percentiles")
                .and_then(|list| list.as_array())
                .map(|list| list.iter().filter_map(serde_json::Value::as_f64).collect())
                .unwrap_or_default(),
            trust: info.selftest.as_ref().map(|t| Trust {
                transport: t.transport.clone(),
                events_per_s: t.events_per_s,
                streams: t.streams,
                sends_per_s: t.sends_per_s,
            }),
            interrupted: info.interrupted || info.state == RunState::Interrupted,
            broken_off: broken_off(info),
        }
    }
}

/// Why the run did not come to its end by itself.
fn broken_off(info: &RunInfo) -> Option<String> {
    let lost = info
        .recovery
        .filter(|r| r.lost_bytes > 0)
        .map(|r| format!("; {} bytes of its last rows are lost", r.lost_bytes));
    match &info.state {
        RunState::Failed(why) => Some(why.clone()),
        RunState::Killed => Some(format!("bench-host was killed{}", lost.unwrap_or_default())),
        _ => info.recovery.map(|_| format!("its trace was put together afterwards{}", lost.unwrap_or_default())),
    }
}

/// Something that the client counted, for each second of a window.
fn a_second(window: &Window, count: impl Fn(&ClientHealth) -> u64) -> Option<f64> {
    let health = window.client.as_ref()?.health.as_ref()?;
    let seconds = (window.end? - window.start).as_secs_f64();
    (seconds > 0.0).then(|| count(health) as f64 / seconds)
}

fn busiest(client: &ClientStats) -> Option<f64> {
    let shares = client.threads.iter().filter(|t| t.wall.0 > 0).map(|t| t.cpu.0 as f64 / t.wall.0 as f64);
    shares.reduce(f64::max)
}

fn meta(info: &RunInfo) -> RunMeta {
    let engine = info.engine.as_ref();
    let commands = engine.map(|e| e.processes.iter().map(|p| command_line(&p.command)).collect::<Vec<_>>());
    RunMeta {
        name: Some(info.name.clone()),
        plan_hash: Some(info.plan_sha256.clone()),
        bench_host: Some(info.bench_host.clone()),
        started: Some(info.started.utc.clone()),
        engine: engine.map(|e| e.adapter.clone()),
        engine_version: engine.and_then(|e| e.version.clone()),
        engine_command: commands.filter(|c| !c.is_empty()).map(|c| c.join("\n")),
        model: engine.map(|e| e.model.clone()),
    }
}

/// As a person would type it in a POSIX shell.
fn command_line(args: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    let quoted = |arg: &String| match arg {
        arg if !arg.is_empty() && arg.chars().all(plain) => arg.clone(),
        arg => format!("'{}'", arg.replace('\'', "'\\''")),
    };
    args.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_where_a_shell_needs_it() {
        let args = ["vllm", "serve", "Qwen/Qwen3-32B", "--hf-overrides", r#"{"a": "it's"}"#, ""];
        let line = command_line(&args.map(str::to_owned));
        assert_eq!(line, r#"vllm serve Qwen/Qwen3-32B --hf-overrides '{"a": "it'\''s"}' ''"#);
    }
}
