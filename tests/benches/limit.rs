//! bench-host beside the machine's floor: what a token costs and how wrong its times are, against the same server in the
//! same run. The mock server is on core 0, the client on core 1; floor and bench-host take turns, and the median of the
//! runs counts, with least and greatest beside it.
//!
//!     cargo bench -p bench-tests --bench limit [-- CASE... --runs 5 --transport epoll --fifo 40]
//!
//! Cases: `cpu`, `user`, `stamps`, `ttft`, `lateness`, `streams`, `start`; all of them without one. `--fifo 0` leaves the
//! processes at ordinary priority; above it needs a permission, and without that nothing changes. `--transport` is the
//! workload's `client.transport`, with one load thread.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "../tests/common/mod.rs"]
mod common;

use bench_core::outcome::Outcome as Ended;
use bench_core::record::RequestRecord;
use bench_limit::{
    Args, Finished, FloorReport, Load, LogEntry, Mock, Place, Quantiles, RowTimes, RunFile, Table, TimeErrors,
    TimerReport, Tools, Workload, monotonic,
};
use bench_trace::Trace;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A case's name, and what does its runs.
type Case = (&'static str, fn(&Bench) -> Outcome);
type Outcome = Result<(), Box<dyn Error>>;

const CASES: [Case; 7] = [
    ("cpu", cpu),
    ("user", user),
    ("stamps", stamps),
    ("ttft", ttft),
    ("lateness", lateness),
    ("streams", streams),
    ("start", start),
];

/// Longer than any run.
const LIMIT: Duration = Duration::from_secs(300);
/// The trace may be good, or told to be bad because the client was too slow: that is what is measured here.
const INVALID: i32 = 3;

/// One load on one kind of server.
#[derive(Clone)]
struct Spec {
    /// Options of the mock.
    mock: String,
    load: Load,
    requests: usize,
    tokens: usize,
    /// The server stamps its chunks, and the floor reads the stamps; that is work of its own.
    stamps: bool,
}

impl Spec {
    fn closed(mock: &str, concurrency: usize, rounds: usize, tokens: usize) -> Spec {
        let load = Load::Closed { concurrency };
        Spec { mock: mock.to_owned(), load, requests: concurrency * rounds, tokens, stamps: true }
    }

    /// The same without stamps: for what a token costs.
    fn unstamped(self) -> Spec {
        Spec { stamps: false, ..self }
    }

    /// The server's options: the same for both clients.
    fn mock(&self) -> Vec<String> {
        let options = format!("{} --tokens {} --stamp {}", self.mock, self.tokens, u8::from(self.stamps));
        options.split_whitespace().map(str::to_owned).collect()
    }
}

/// A run of the floor.
struct Floor {
    report: FloorReport,
    finished: Finished,
}

impl Floor {
    fn per_token(&self, ns: u64) -> f64 {
        ns as f64 / self.report.chunks.max(1) as f64
    }
}

/// A run of bench-host.
struct Ours {
    finished: Finished,
    run: RunFile,
    errors: TimeErrors,
    tokens: u64,
    /// From the command's start to the first request at the server, ns.
    first_request: Option<u64>,
}

impl Ours {
    fn per_token(&self, ns: u64) -> f64 {
        ns as f64 / self.tokens.max(1) as f64
    }
}

/// The tools and the options.
struct Bench {
    tools: Tools,
    runs: usize,
    server: Place,
    client: Place,
    transport: Option<String>,
}

impl Bench {
    fn of(args: &Args) -> Result<Bench, Box<dyn Error>> {
        let fifo = Some(args.value("fifo", 40)?).filter(|priority| *priority > 0);
        let place = |core| Place { core: Some(core), fifo };
        Ok(Bench {
            tools: Tools::build(Path::new(env!("CARGO")), &common::root())?,
            runs: args.value("runs", 5)?,
            server: place(0),
            client: place(1),
            transport: args.given("transport")?,
        })
    }

    fn floor(&self, spec: &Spec) -> Result<Floor, Box<dyn Error>> {
        let Load::Closed { concurrency } = spec.load else { return Err("the floor has no open loop".into()) };
        let folder = tempfile::tempdir()?;
        let mock = Mock::start(&self.tools.mock, &spec.mock(), self.server, &folder.path().join("log"))?;
        let mut command = Command::new(&self.tools.floor);
        command
            .args(["--engine", "uringmsg", "--level", "2", "--core", "-1"])
            .args(["--lag", if spec.stamps { "1" } else { "0" }]);
        command.args(["--conc", &concurrency.to_string(), "--reqs", &spec.requests.to_string()]);
        command.args(["--tokens", &spec.tokens.to_string(), "--port", &mock.port().to_string()]);
        let finished = self.tool(&mut command)?;
        mock.stop()?;
        Ok(Floor { report: serde_json::from_str(&finished.stdout)?, finished })
    }

    fn timer(&self, how: &str, rate: f64) -> Result<TimerReport, Box<dyn Error>> {
        let mut command = Command::new(&self.tools.timer);
        command.args(["--how", how, "--rate", &rate.to_string(), "--core", "-1"]);
        Ok(serde_json::from_str(&self.tool(&mut command)?.stdout)?)
    }

    fn tool(&self, command: &mut Command) -> Result<Finished, Box<dyn Error>> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        Ok(self.client.spawn(command)?.wait(LIMIT)?.success(&name)?)
    }

    /// Runs bench-host; `prepare` may change its command.
    fn ours(&self, spec: &Spec, prepare: impl FnOnce(&mut Command)) -> Result<Ours, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let mock = Mock::start(&self.tools.mock, &spec.mock(), self.server, &folder.path().join("log"))?;
        let workload = Workload {
            port: mock.port(),
            load: spec.load,
            requests: spec.requests,
            tokens: spec.tokens,
            transport: self.transport.clone(),
        };
        let (file, out) = (workload.write(folder.path())?, folder.path().join("run"));
        let mut command = common::command();
        command.arg("run").arg(file).arg("--out").arg(&out).arg("--quiet");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        prepare(&mut command);
        let started = monotonic();
        let finished = self.client.spawn(&mut command)?.wait(LIMIT)?;
        if !matches!(finished.status.code(), Some(0 | INVALID)) {
            return Err(format!("bench-host ended with {}", finished.status).into());
        }
        let log = mock.stop()?;
        let of_run = log.iter().filter(|e| e.request_and_attempt().is_some());
        let first_request = of_run.map(|e| e.received_ns).min().and_then(|ns| ns.checked_sub(started));
        let run = RunFile::read(&out.join("run.json"))?;
        let (errors, tokens) = compare(&out, &run, &log)?;
        Ok(Ours { finished, run, errors, tokens, first_request })
    }

    /// Floor and bench-host in turns.
    fn alternate(&self, spec: &Spec, mut take: impl FnMut(&Floor, &Ours)) -> Outcome {
        for _ in 0..self.runs {
            let floor = self.floor(spec)?;
            take(&floor, &self.ours(spec, |_| {})?);
        }
        Ok(())
    }
}

/// The trace against the server's log, and how many events it has. Says so where some requests failed: figures then tell
/// of the others.
fn compare(out: &Path, run: &RunFile, log: &[LogEntry]) -> Result<(TimeErrors, u64), Box<dyn Error>> {
    let trace = Trace::open(out)?;
    let (mut rows, mut failed) = (Vec::new(), 0);
    for record in trace.records() {
        let record = record?;
        if record.outcome == Ended::Complete {
            rows.extend(times(&record));
        } else {
            failed += 1;
        }
    }
    let tokens = rows.iter().map(|r| r.event_us.len() as u64).sum();
    let errors = TimeErrors::of(run.monotonic_origin_ns, rows, log);
    if failed + errors.unmatched > 0 {
        println!("  {failed} attempts failed, {} do not match the server's log", errors.unmatched);
    }
    Ok((errors, tokens))
}

/// The times of a row; `None` where nothing was sent.
fn times(record: &RequestRecord) -> Option<RowTimes> {
    Some(RowTimes {
        request: record.request,
        attempt: record.attempt,
        scheduled_ns: record.scheduled.0,
        sent_ns: record.sent?.0,
        first_token_ns: record.first_token.map(|t| t.0),
        event_us: record.events.as_ref().map(|e| e.times_us().collect()).unwrap_or_default(),
    })
}

/// 50 000 tokens a second: what a token costs, start and end of the program included.
fn cpu(bench: &Bench) -> Outcome {
    let mut table = Table::default();
    bench.alternate(&Spec::closed("--mode paced --itl-us 20000", 1000, 2, 200).unstamped(), |floor, ours| {
        let micros = |ns: f64| Some(ns / 1e3);
        table.floor("CPU, whole process, µs/token", micros(floor.per_token(floor.finished.usage.cpu.total())));
        table.ours("CPU, whole process, µs/token", micros(ours.per_token(ours.finished.usage.cpu.total())));
        table.floor("CPU, load threads, µs/token", micros(floor.report.cpu_ns_per_chunk));
        table.ours("CPU, load threads, µs/token", ours.run.load_cpu_ns.map(|ns| ours.per_token(ns) / 1e3));
        table.floor("system calls/token", Some(floor.report.syscalls_per_chunk));
        table.ours("system calls/token", ours.run.syscalls_per_event());
    })?;
    println!("cpu: 1000 streams, a token each 20 ms\n{table}");
    Ok(())
}

/// Ten tokens a read: what the program itself does with a token.
fn user(bench: &Bench) -> Outcome {
    let mut table = Table::default();
    let spec = Spec { requests: 16_000, ..Spec::closed("--mode fast --per-write 10", 256, 1, 200).unstamped() };
    bench.alternate(&spec, |floor, ours| {
        table.floor("user CPU, whole process, ns/token", Some(floor.per_token(floor.finished.usage.cpu.user)));
        table.ours("user CPU, whole process, ns/token", Some(ours.per_token(ours.finished.usage.cpu.user)));
        table.floor("CPU, whole process, ns/token", Some(floor.per_token(floor.finished.usage.cpu.total())));
        table.ours("CPU, whole process, ns/token", Some(ours.per_token(ours.finished.usage.cpu.total())));
    })?;
    println!("user: 256 streams, ten tokens a read, as fast as it goes\n{table}");
    Ok(())
}

/// The errors of all events' times.
fn stamp_errors(table: &mut Table, floor: &Floor, ours: &Ours) {
    let (report, events) = (&floor.report, Quantiles::of(ours.errors.events_us.iter().copied()));
    table.floor("stamp error p50, µs", report.stamp_error_p50_us);
    table.ours("stamp error p50, µs", events.median());
    table.floor("stamp error p99, µs", report.stamp_error_p99_us);
    table.ours("stamp error p99, µs", events.at(0.99));
    table.floor("stamp error p99.9, µs", report.stamp_error_p999_us);
    table.ours("stamp error p99.9, µs", events.at(0.999));
}

/// 3000 streams, each on its own and all in one step.
fn stamps(bench: &Bench) -> Outcome {
    for mode in ["paced", "sync"] {
        let mut table = Table::default();
        let spec = Spec::closed(&format!("--mode {mode} --itl-us 50000"), 3000, 1, 200);
        bench.alternate(&spec, |floor, ours| stamp_errors(&mut table, floor, ours))?;
        println!("stamps: 3000 streams, a token each 50 ms, {mode}\n{table}");
    }
    Ok(())
}

/// The first event's time. Send and first chunk are on one clock, so that the error of the TTFT is that of the event.
fn ttft(bench: &Bench) -> Outcome {
    let mut table = Table::default();
    for (concurrency, itl_us) in [(64, 20_000), (256, 20_000), (1000, 20_000), (4000, 80_000)] {
        let spec = Spec::closed(&format!("--mode paced --itl-us {itl_us}"), concurrency, 4, 50);
        let [p50, p99] = ["p50", "p99"].map(|q| format!("TTFT error {q}, {concurrency} streams, µs"));
        bench.alternate(&spec, |floor, ours| {
            let first = Quantiles::of(ours.errors.first_us.iter().copied());
            table.floor(&p50, floor.report.first_error_p50_us);
            table.ours(&p50, first.median());
            table.floor(&p99, floor.report.first_error_p99_us);
            table.ours(&p99, first.at(0.99));
        })?;
    }
    println!("ttft: answers of 50 tokens\n{table}");
    Ok(())
}

/// Sends at random times, beside a timer that has nothing to send.
fn lateness(bench: &Bench) -> Outcome {
    let mut table = Table::default();
    for rate in [1000.0, 10_000.0] {
        let mock = "--mode paced --itl-us 1000".to_owned();
        let spec =
            Spec { mock, load: Load::Poisson { rate }, requests: (rate * 4.0) as usize, tokens: 2, stamps: false };
        let [p50, p99] = ["p50", "p99"].map(|q| format!("send lateness {q}, {rate}/s, µs"));
        let [spun50, spun99] = ["p50", "p99"].map(|q| format!("send lateness {q}, {rate}/s, spun, µs"));
        for _ in 0..bench.runs {
            let (slept, spun) = (bench.timer("epoll2", rate)?, bench.timer("spin", rate)?);
            let ours = bench.ours(&spec, |_| {})?;
            let late = Quantiles::of(ours.errors.lateness_us.iter().copied());
            table.floor(&p50, Some(slept.p50_us));
            table.ours(&p50, late.median());
            table.floor(&p99, Some(slept.p99_us));
            table.ours(&p99, late.at(0.99));
            table.floor(&spun50, Some(spun.p50_us));
            table.floor(&spun99, Some(spun.p99_us));
        }
    }
    println!("lateness: the floor sleeps until a send is due, or spins for the last 80 µs\n{table}");
    Ok(())
}

/// 10 000 streams on one core.
fn streams(bench: &Bench) -> Outcome {
    const STREAMS: usize = 10_000;
    for itl_ms in [100, 160] {
        let mut table = Table::default();
        let spec = Spec::closed(&format!("--mode paced --itl-us {itl_ms}000"), STREAMS, 1, 200);
        bench.alternate(&spec, |floor, ours| {
            let share = |cpu: u64, wall: u64| Some(cpu as f64 / wall.max(1) as f64);
            let (report, run) = (&floor.report, &ours.run);
            // The floor keeps what it measured in memory, so that its own size says nothing.
            let peak = ours.finished.usage.peak_rss;
            table.ours("peak memory, KiB/stream", peak.map(|bytes| bytes as f64 / 1024.0 / STREAMS as f64));
            table.floor("CPU share, load threads", Some(report.cpu_s / report.wall_s));
            table.ours("CPU share, load threads", run.load_cpu_ns.zip(run.load_wall_ns).and_then(|(c, w)| share(c, w)));
            let whole = |f: &Finished| share(f.usage.cpu.total(), f.wall.as_nanos() as u64);
            table.floor("CPU share, whole process", whole(&floor.finished));
            table.ours("CPU share, whole process", whole(&ours.finished));
            stamp_errors(&mut table, floor, ours);
        })?;
        println!("streams: {STREAMS} streams, a token each {itl_ms} ms\n{table}");
    }
    Ok(())
}

/// From the command to the first request at the server, with adapters that are compiled and that are not.
fn start(bench: &Bench) -> Outcome {
    let mut table = Table::default();
    let spec = Spec::closed("--mode fast", 1, 1, 10);
    let millis = |ours: &Ours| ours.first_request.map(|ns| ns as f64 / 1e6);
    // The first run fills the cache.
    bench.ours(&spec, |_| {})?;
    for _ in 0..bench.runs {
        table.ours("start to first request, cached, ms", millis(&bench.ours(&spec, |_| {})?));
        let empty = tempfile::tempdir()?;
        let uncached = bench.ours(&spec, |command| {
            command.env_remove("BENCH_HOST_CACHE").env("XDG_CACHE_HOME", empty.path());
        })?;
        table.ours("start to first request, no cache, ms", millis(&uncached));
    }
    println!("start: one request\n{table}");
    Ok(())
}

fn main() -> Outcome {
    // cargo says `--bench` to every bench.
    let given = std::env::args().skip(1).filter(|a| a != "--bench");
    let args = Args::parse(given, &["runs", "fifo", "transport"])?;
    if let Some(unknown) = args.words().iter().find(|w| CASES.iter().all(|(name, _)| name != w)) {
        let names: Vec<&str> = CASES.iter().map(|(name, _)| *name).collect();
        return Err(format!("`{unknown}` is no case: there are {}", names.join(", ")).into());
    }
    let bench = Bench::of(&args)?;
    for (name, run) in CASES {
        if args.words().is_empty() || args.words().iter().any(|w| w == name) {
            run(&bench)?;
        }
    }
    Ok(())
}
