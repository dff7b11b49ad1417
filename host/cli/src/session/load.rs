//! One stretch of load: its requests driven, its rows handed to the trace, its window noted.

use super::prepare::Maker;
use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::progress::{Progress, Snapshot, Whole};
use crate::signals::Interrupts;
use crate::terminal::Terminal;
use bench_core::clock::{MonotonicClock, Nanos};
use bench_core::load::{ArrivalProcess, LoadKind, LoadSpec};
use bench_core::record::{Phase, RequestRecord};
use bench_core::request::PreparedRequest;
use bench_core::tokens::TokenCounter;
use bench_load::{Control, LoadJob, LoadStats, RowContext, SpreadSummary, Target, Transport, Trust};
use bench_trace::{ClientHealth, ClientStats, SpreadStats, ThreadStats, TraceSender, Window};
use bench_workload::{ClientPlan, ScenarioPlan};
use std::sync::Arc;
use std::sync::mpsc::channel;

/// What every stretch of load of a run shares.
pub(super) struct Driver<'a> {
    pub(super) clock: &'a MonotonicClock,
    pub(super) interrupts: &'a Interrupts,
    pub(super) terminal: Terminal,
    pub(super) quiet: bool,
    pub(super) targets: &'a [Target],
    pub(super) counter: Option<Arc<dyn TokenCounter>>,
    pub(super) client: &'a ClientPlan,
    pub(super) sender: TraceSender,
    /// Masked wherever a server repeats them.
    pub(super) secrets: &'a [String],
}

/// One stretch of load.
pub(super) struct Stretch<'a> {
    pub(super) scenario: &'a ScenarioPlan,
    pub(super) repeat: u32,
    pub(super) phase: Phase,
    pub(super) spec: LoadSpec,
    pub(super) requests: Arc<[PreparedRequest]>,
    pub(super) cycle: bool,
}

impl Driver<'_> {
    /// Drives one stretch of load to its end, the first interrupt's drain or the second one's cut.
    ///
    /// # Errors
    /// The load can't run at all. Requests that fail are rows.
    pub(super) fn drive(&self, maker: &Maker<'_>, stretch: Stretch<'_>) -> Result<Window, Failure> {
        self.drive_watching(maker, stretch).map(|(window, _)| window)
    }

    /// As [`Driver::drive`]; also gives the first row that failed.
    ///
    /// # Errors
    /// As [`Driver::drive`].
    pub(super) fn drive_watching(
        &self,
        maker: &Maker<'_>,
        stretch: Stretch<'_>,
    ) -> Result<(Window, Option<RequestRecord>), Failure> {
        let scenario = stretch.scenario;
        let failed = |e: &(dyn std::error::Error + 'static)| {
            Failure::new(Exit::Internal, format!("scenario `{}`: the load can't run", scenario.name)).because(e)
        };
        let adapter = &maker.engine.adapter;
        let format = adapter.decoding(&maker.plan.settings).map_err(|e| failed(&e))?;
        let decoder = match format.plan {
            Some(_) => None,
            None => Some(adapter.decoder()),
        };
        let whole = Whole { requests: stretch.spec.requests, duration: stretch.spec.duration.map(Nanos::to_duration) };
        let job = LoadJob {
            spec: stretch.spec,
            limits: scenario.limits.clone(),
            targets: self.targets.to_vec(),
            requests: stretch.requests,
            cycle: stretch.cycle,
            format,
            decoder,
            counter: self.counter.clone(),
            arrival_seed: scenario.seeds.arrival,
            threads: self.client.threads.map(|n| n as usize),
            cores: self.client.cores.iter().map(|core| *core as usize).collect(),
            transport: self.client.transport.as_deref().and_then(Transport::named),
            cold: self.client.cold_connections,
            row: RowContext {
                scenario: scenario.name.as_str().into(),
                stage: None,
                candidate: None,
                repeat: stretch.repeat,
                phase: stretch.phase,
            },
            keep_text: maker.keep_text,
            secrets: self.secrets.to_vec(),
            trust: Trust::default(),
        };
        let control = Arc::new(Control::new());
        let told = Arc::clone(&control);
        let _listening = self.interrupts.during(move |n| if n == 1 { told.drain() } else { told.cut() });
        let watched = Arc::clone(&control);
        let label = match stretch.phase {
            Phase::Measure => scenario.name.clone(),
            phase => format!("{} {}", scenario.name, phase.as_str()),
        };
        let _progress = Progress::load(self.terminal, self.quiet, &label, whole, move || {
            let p = watched.progress();
            Snapshot { done: p.done, in_flight: p.in_flight, failed: p.failed, events: p.events }
        });
        let sender = self.sender.clone();
        // The trace is closed only after the load: nothing comes too late for it.
        let (tell, first_failed) = channel();
        let mut tell = Some(tell);
        let sink = Box::new(move |record: RequestRecord| {
            if record.outcome.is_failure()
                && let Some(tell) = tell.take()
            {
                let _ = tell.send(record.clone());
            }
            let _ = sender.send(record);
        });
        let stats = bench_load::run(job, self.clock, sink, control).map_err(|e| failed(&e))?;
        let window = Window {
            scenario: scenario.name.clone(),
            repeat: stretch.repeat,
            phase: stretch.phase,
            start: stats.t0,
            end: Some(stats.ended),
            requests: whole.requests,
            client: Some(client(&stats)),
        };
        Ok((window, first_failed.try_recv().ok()))
    }
}

fn client(stats: &LoadStats) -> ClientStats {
    ClientStats {
        transport: stats.transport.as_str().to_owned(),
        threads: stats.threads.iter().map(|t| ThreadStats { cpu: t.cpu, wall: t.wall }).collect(),
        clock_steps: u64::from(stats.clock_steps),
        health: Some(ClientHealth {
            decode_cpu: stats.decode_cpu,
            send_lateness: spread(stats.send_lateness),
            read_lag: spread(stats.read_lag),
            reads: stats.reads,
            reads_unstamped: stats.reads_unstamped,
            events: stats.events,
            merged_events: stats.merged_events,
            syscalls: stats.syscalls,
        }),
    }
}

fn spread(SpreadSummary { count, p50, p99, max }: SpreadSummary) -> SpreadStats {
    SpreadStats { count, p50, p99, max }
}

/// A load of so many requests over a few connections: for probes and warm-ups.
pub(super) fn closed(requests: u64, concurrency: u32) -> LoadSpec {
    LoadSpec {
        kind: LoadKind::Closed { concurrency, think_time: Nanos::ZERO },
        requests: Some(requests),
        duration: None,
        max_concurrency: None,
        process: ArrivalProcess::Bench,
    }
}
