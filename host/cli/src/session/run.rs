//! The story of a run: samples, engine, probe, warm-up, measurement, trace, summary.

use super::engine::{self, Bringing, Engine};
use super::finish;
use super::load::{Driver, Stretch, closed};
use super::prepare::{self, Maker};
use crate::catalog::{Adapters, Loaded};
use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::samples::{self, Drawn, LazyTokenizer};
use crate::signals::Interrupts;
use crate::terminal::Terminal;
use bench_core::clock::MonotonicClock;
use bench_core::load::LoadKind;
use bench_core::record::{Phase, RequestRecord};
use bench_core::request::PreparedRequest;
use bench_core::tokens::TokenCounter;
use bench_plugin::EngineAdapter;
use bench_trace::{
    FORMAT, Hardware, RunDir, RunInfo, RunState, ScenarioInfo, Seeds, TokenizerInfo, Trace, TraceWriter, WallTime,
    WriterConfig,
};
use bench_workload::{EngineTarget, Plan, ScenarioPlan};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// Requests of a warm-up that are in flight at once, where the load doesn't say.
const WARMUP_CONCURRENCY: u32 = 8;

/// What a run is asked.
pub(crate) struct Asked<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) adapters: &'a Adapters,
    /// The run's folder; `None`: made of the name and the time.
    pub(crate) out: Option<PathBuf>,
    pub(crate) command_line: Vec<String>,
    pub(crate) terminal: Terminal,
    pub(crate) quiet: bool,
}

/// A run whose trace is there.
pub(crate) struct Done {
    pub(crate) trace: Trace,
    pub(crate) summary: bench_report::Summary,
    /// Why it ended before it was over.
    pub(crate) failure: Option<Failure>,
}

/// Does all that the plan says.
///
/// # Errors
/// Nothing was measured: the input is wrong, or the folder can't be used. Later failures come with the trace.
pub(crate) fn run(asked: Asked<'_>) -> Result<Done, Failure> {
    let interrupts = Interrupts::listen().map_err(|e| Failure::internal("failed to listen for signals").because(&e))?;
    let tokenizer = LazyTokenizer::of(asked.plan);
    let mut drawn = Vec::new();
    for scenario in &asked.plan.scenarios {
        let one = samples::draw(asked.adapters, scenario, &tokenizer)?;
        for remark in samples::remarks(&one) {
            asked.terminal.say(&format!("{}: {remark}", scenario.name));
        }
        drawn.push(one);
    }
    let engine_adapter = asked
        .adapters
        .engine_adapter(&asked.plan.engine.adapter.written)
        .map_err(|e| crate::catalog::failure("failed to load the engine's adapter", &e))?;
    // Where a server doesn't count its tokens the client does.
    let counter = tokenizer.get()?.map(|t| Arc::clone(t) as Arc<dyn TokenCounter>);

    // Before there is a folder: a variable that isn't set is a mistake that leaves nothing behind.
    let secrets = engine::secrets(&asked.plan.engine)?;
    let started = WallTime::from_system(SystemTime::now());
    let clock = MonotonicClock::start();
    let out = asked.out.clone().unwrap_or_else(|| default_out(&asked.plan.name, &started));
    let dir = RunDir::create(&out).map_err(|e| Failure::input("the run's folder can't be used").because(&e))?;
    let info = describe(&asked, (started, &clock), &drawn, &tokenizer, &engine_adapter)?;
    let writer = TraceWriter::start(&dir, &info, WriterConfig::default())
        .map_err(|e| Failure::internal("failed to start the trace").because(&e))?;
    let mut run =
        Running { asked: &asked, dir: &dir, info, writer, clock, interrupts, drawn, counter, engine_adapter, secrets };
    let failure = run.all().err();
    run.finish(failure)
}

/// A run that has a trace.
struct Running<'a> {
    asked: &'a Asked<'a>,
    dir: &'a RunDir,
    info: RunInfo,
    writer: TraceWriter,
    clock: MonotonicClock,
    interrupts: Interrupts,
    drawn: Vec<Drawn>,
    counter: Option<Arc<dyn TokenCounter>>,
    engine_adapter: std::rc::Rc<Loaded<EngineAdapter>>,
    secrets: Vec<String>,
}

impl Running<'_> {
    fn all(&mut self) -> Result<(), Failure> {
        let plan = self.asked.plan;
        let mut engine = Bringing {
            adapter: &self.engine_adapter,
            plan: &plan.engine,
            dir: self.dir.path(),
            interrupts: &self.interrupts,
            terminal: self.asked.terminal,
            quiet: self.asked.quiet,
        }
        .up()?;
        self.info.engine = Some(engine.run.clone());
        let measured = self.measure(&mut engine);
        let died = engine.died();
        if died.is_none() {
            engine.keep_metrics(self.dir);
        }
        let (run, complaints) = engine.stop(&self.interrupts);
        self.info.engine = Some(run);
        for complaint in complaints {
            self.asked.terminal.say(&format!("warning: {complaint}"));
        }
        match (measured, died) {
            (Ok(()), Some(death)) if !self.interrupted() => {
                Err(Failure::new(Exit::Launch, "the engine died during the run").because(&Told(death)))
            }
            (measured, _) => measured,
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupts.count() > 0
    }

    fn measure(&mut self, engine: &mut Engine) -> Result<(), Failure> {
        let plan = self.asked.plan;
        if matches!(plan.engine.target, EngineTarget::Launch(_)) {
            self.probe(engine)?;
        }
        for repeat in 0..plan.repeats {
            for (place, scenario) in plan.scenarios.iter().enumerate() {
                if self.interrupted() || engine.died().is_some() {
                    return Ok(());
                }
                self.scenario(engine, scenario, place, repeat)?;
            }
        }
        Ok(())
    }

    fn driver<'d>(&'d self, engine: &'d Engine) -> Driver<'d> {
        Driver {
            clock: &self.clock,
            interrupts: &self.interrupts,
            terminal: self.asked.terminal,
            quiet: self.asked.quiet,
            targets: &engine.targets,
            counter: self.counter.clone(),
            client: &self.asked.plan.client,
            sender: self.writer.sender(),
            secrets: &self.secrets,
        }
    }

    fn maker<'m>(&'m self, scenario: &'m ScenarioPlan) -> Maker<'m> {
        Maker {
            engine: &self.engine_adapter,
            plan: &self.asked.plan.engine,
            scenario,
            keep_text: self.asked.plan.trace.text,
        }
    }

    /// One token from each replica: an engine may say that it is ready before it can answer.
    fn probe(&mut self, engine: &Engine) -> Result<(), Failure> {
        let Some(scenario) = self.asked.plan.scenarios.first() else { return Ok(()) };
        let maker = self.maker(scenario);
        let replicas = engine.targets.len();
        let requests = maker.requests(&vec![prepare::probe(); replicas])?;
        let stretch = Stretch {
            scenario,
            repeat: 0,
            phase: Phase::Probe,
            spec: closed(replicas as u64, 1),
            requests: requests.into(),
            cycle: false,
        };
        let (window, failed) = self.driver(engine).drive_watching(&maker, stretch)?;
        self.info.windows.push(window);
        match failed {
            Some(row) if !self.interrupted() => Err(probe_failure(&row)),
            _ => Ok(()),
        }
    }

    fn scenario(&mut self, engine: &Engine, scenario: &ScenarioPlan, place: usize, repeat: u32) -> Result<(), Failure> {
        let Some(drawn) = self.drawn.get(place) else { return Ok(()) };
        let maker = self.maker(scenario);
        // Both are encoded before the clock of either starts.
        let requests: Arc<[PreparedRequest]> = maker.requests(&drawn.samples)?.into();
        let warm = maker.requests(&prepare::warmup(&drawn.samples, scenario.warmup_requests))?;
        let cycle = drawn.cycle;
        let driver = self.driver(engine);
        let mut windows = Vec::new();
        if !warm.is_empty() {
            let concurrency = match scenario.load.kind {
                LoadKind::Closed { concurrency, .. } => concurrency,
                _ => WARMUP_CONCURRENCY,
            };
            windows.push(driver.drive(
                &maker,
                Stretch {
                    scenario,
                    repeat,
                    phase: Phase::Warmup,
                    spec: closed(warm.len() as u64, concurrency),
                    requests: warm.into(),
                    cycle: false,
                },
            )?);
        }
        if !self.interrupted() {
            let mut spec = scenario.load.clone();
            // A dataset that has fewer samples than asked for is not sent twice.
            spec.requests = spec.requests.map(|n| n.min(requests.len() as u64));
            let stretch = Stretch { scenario, repeat, phase: Phase::Measure, spec, requests, cycle };
            windows.push(driver.drive(&maker, stretch)?);
        }
        self.info.windows.extend(windows);
        Ok(())
    }

    fn finish(mut self, failure: Option<Failure>) -> Result<Done, Failure> {
        let interrupted = self.interrupted();
        self.info.interrupted = interrupted;
        self.info.state = match &failure {
            Some(f) if !interrupted => RunState::Failed(f.to_string()),
            _ if interrupted => RunState::Interrupted,
            _ => RunState::Finished,
        };
        let written = self
            .writer
            .finish(&self.info)
            .map_err(|e| Failure::internal("the trace could not be written whole").because(&e))
            .and_then(|_| finish::summarize(self.dir));
        match (written, failure) {
            (Ok((trace, summary)), failure) => Ok(Done { trace, summary, failure }),
            (Err(e), failure) => {
                // What ended the run came first and is not lost behind what came of it.
                if let Some(first) = failure {
                    self.asked.terminal.failure(&first);
                }
                Err(e)
            }
        }
    }
}

fn probe_failure(row: &RequestRecord) -> Failure {
    let error = row.error.clone().unwrap_or_else(|| row.outcome.to_string());
    Failure::new(Exit::Launch, "the engine is up but failed to answer a request of one token")
        .because(&Told(format!("{}: {error}", row.outcome)))
        .help("its log lies in the run's folder")
}

/// A cause that is only words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Told(String);

fn default_out(name: &str, started: &WallTime) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    // `2026-01-02T03:04:05.678Z` to `20260102-030405`.
    let digits: String = started.utc.chars().filter(char::is_ascii_digit).take(14).collect();
    let (day, time) = digits.split_at(digits.len().min(8));
    PathBuf::from("runs").join(format!("{}-{day}-{time}", name.trim_start_matches('.')))
}

fn describe(
    asked: &Asked<'_>,
    (started, clock): (WallTime, &MonotonicClock),
    drawn: &[Drawn],
    tokenizer: &LazyTokenizer<'_>,
    engine: &Loaded<EngineAdapter>,
) -> Result<RunInfo, Failure> {
    let plan = asked.plan;
    let internal = |e: serde_json::Error| Failure::internal("failed to describe the plan").because(&e);
    let mut adapters = vec![engine.run.clone()];
    for scenario in &plan.scenarios {
        let written = &scenario.dataset.adapter.written;
        let loaded = asked
            .adapters
            .dataset_adapter(written)
            .map_err(|e| crate::catalog::failure("failed to load a dataset's adapter", &e))?;
        if !adapters.contains(&loaded.run) {
            adapters.push(loaded.run.clone());
        }
    }
    let seeds = plan.scenarios.first().map(|s| s.seeds);
    Ok(RunInfo {
        format: FORMAT,
        bench_host: env!("CARGO_PKG_VERSION").to_owned(),
        name: plan.name.clone(),
        started,
        monotonic_origin_ns: Some(clock.origin()),
        command: asked.command_line.clone(),
        state: RunState::Running,
        interrupted: false,
        recovery: None,
        text: plan.trace.text,
        plan: serde_json::to_value(plan).map_err(internal)?,
        plan_sha256: plan.hash(),
        seeds: seeds.map(|s| Seeds { samples: s.samples, order: s.order, arrival: s.arrival }).unwrap_or_default(),
        tokenizer: tokenizer
            .used()
            .map(|(path, t)| TokenizerInfo { name: path.written.clone(), sha256: t.sha256().to_owned() }),
        adapters,
        engine: None,
        hardware: Hardware::probe(),
        selftest: crate::selftest::read(),
        scenarios: plan.scenarios.iter().zip(drawn).map(|(s, d)| scenario_info(s, d)).collect(),
        windows: Vec::new(),
    })
}

fn scenario_info(scenario: &ScenarioPlan, drawn: &Drawn) -> ScenarioInfo {
    ScenarioInfo {
        name: scenario.name.clone(),
        dataset: scenario.dataset.adapter.id.clone(),
        load: scenario.load.clone(),
        limits: scenario.limits.clone(),
        slo: scenario.slo,
        samples: Some(drawn.samples.len() as u64),
        notes: drawn.notes.clone(),
    }
}
