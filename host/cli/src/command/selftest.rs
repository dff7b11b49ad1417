//! `bench-host selftest`.

use crate::args::SelfTest as Args;
use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::selftest::{self, Outcome};
use crate::terminal::Terminal;
use bench_trace::{SelfTestStep, WallTime};
use bench_workload::ClientPlan;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit, Failure> {
    let engine = Engine::start()?;
    let client = ClientPlan {
        threads: args.threads,
        cores: args.cores.clone(),
        transport: args.transport.clone(),
        cold_connections: false,
    };
    let now = WallTime::from_system(SystemTime::now()).utc;
    if !args.json {
        terminal.say("the client against the simulated engine with known times; some 30 seconds");
    }
    let mut tell = |step: &SelfTestStep| {
        if !args.json {
            terminal.say(&line(step));
        }
    };
    let outcome = selftest::climb(&engine.url, &client, args.quick, now, &mut tell)
        .map_err(|e| Failure::internal("a load of the self-test can't run").because(&e))?;
    let stored = if args.quick { None } else { Some(selftest::write(&outcome.result)?) };
    let mut out = if args.json {
        serde_json::to_string_pretty(&outcome.result)
            .map_err(|e| Failure::internal("the result is no JSON").because(&e))?
    } else {
        text(&outcome)
    };
    out.push('\n');
    terminal.print(&out)?;
    match stored {
        Some(path) => terminal.say(&format!("stored in {}; runs are set against it", path.display())),
        None => terminal.say("a quick self-test is not stored"),
    }
    Ok(if outcome.result.streams > 0 { Exit::Success } else { Exit::InvalidRun })
}

fn line(step: &SelfTestStep) -> String {
    let us = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.0}"));
    let load = match (step.streams, step.sends_per_s) {
        (Some(n), _) => format!("{n:>6} streams, {:>7.0} events/s", step.events_per_s),
        (None, rate) => format!("{:>6.0} sends/s", rate.unwrap_or(0.0)),
    };
    let mut text = format!(
        "{load}: µs at p99: event {}, first event {}, send {}, read lag {}; core {:.0} %",
        us(step.event_error_p99_us),
        us(step.ttft_error_p99_us),
        us(Some(step.send_lateness_p99_us)),
        us(Some(step.read_lag_p99_us)),
        step.busiest_thread * 100.0
    );
    if let Some(fault) = &step.fault {
        // Writing to a string fails never.
        let _ = write!(text, " - {fault}");
    }
    text
}

fn text(outcome: &Outcome) -> String {
    let Outcome { result, ended: [streams, sends] } = outcome;
    format!(
        "transport            {}\nload threads         {}\ntrustworthy up to    {} streams at once, {:.0} events/s ({streams})\n\
         and                  {:.0} requests sent a second ({sends})",
        result.transport, result.threads, result.streams, result.events_per_s, result.sends_per_s
    )
}

/// The simulated engine as a process of its own, so that it takes none of the client's time.
struct Engine {
    child: Child,
    url: String,
}

impl Engine {
    fn start() -> Result<Engine, Failure> {
        let failed = |e: &std::io::Error| Failure::new(Exit::Launch, "the simulated engine can't start").because(e);
        let program = std::env::current_exe().map_err(|e| failed(&e))?;
        let itl = format!("{}ns", selftest::ITL.0);
        let child = Command::new(program)
            .args([
                "sim",
                "--stamp",
                "--ttft",
                "50ms",
                "--itl",
                &itl,
                "--max-num-seqs",
                "100000",
                "--role-chunk",
                "none",
            ])
            .args(["--usage", "none"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| failed(&e))?;
        let mut engine = Engine { child, url: String::new() };
        let mut first = String::new();
        if let Some(stderr) = engine.child.stderr.take() {
            // It says nothing more.
            BufReader::new(stderr).read_line(&mut first).map_err(|e| failed(&e))?;
        }
        first.trim().rsplit(' ').next().unwrap_or_default().clone_into(&mut engine.url);
        if engine.url.starts_with("http://") {
            return Ok(engine);
        }
        Err(Failure::new(Exit::Launch, format!("the simulated engine can't start: {}", first.trim())))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It has nothing to lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
