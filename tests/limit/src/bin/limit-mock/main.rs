//! A server whose own cost is small and whose times are known: streams of chat chunks in OpenAI's form, rendered before.
//!
//!     limit-mock --port 0 --mode paced --itl-us 20000 --tokens 200 --log sent.jsonl
//!
//! - `--mode fast`: as fast as the sockets take them; `paced`: each stream sends every `--itl-us`, counted from its own
//!   request; `sync`: all streams send in one step, as under batching.
//! - `--ttft-us`: from a request to its first chunk, in `paced` (default: `--itl-us`).
//! - `--tokens`: chunks of an answer, whatever was asked for; `--per-write`: chunks that go out in one call.
//! - `--stamp 1`: the 19 digits of a chunk's id are the real-time clock just before it is sent.
//! - `--log FILE`: at the end, for each request, when it came and when each chunk was sent.
//! - `--core`: core to stay on, -1 for any; `--max-secs`: when to end without being asked.
//!
//! Its first line says `listening on PORT`; SIGTERM and SIGINT end it in good order.

mod chunks;
mod connection;
mod pacer;
mod request;
mod server;

use bench_limit::{Args, LogEntry, exit, fine_timers, pin, process_cpu, raise_file_limit};
use chunks::Chunks;
use pacer::{Mode, Pacer};
use server::Server;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const OPTIONS: &[&str] =
    &["port", "mode", "itl-us", "ttft-us", "tokens", "per-write", "stamp", "log", "core", "max-secs"];

fn main() -> ExitCode {
    exit("limit-mock", serve())
}

#[expect(clippy::print_stderr, reason = "a tool says what it cost")]
fn serve() -> Result<(), Box<dyn Error>> {
    let args = Args::parse(std::env::args().skip(1), OPTIONS)?;
    let mode: Mode = args.value("mode", "fast".to_owned())?.parse()?;
    let itl = args.micros("itl-us", 20_000)?;
    let pacer = Pacer::new(mode, args.micros("ttft-us", itl / 1000)?, itl);
    let chunks = Chunks::render(args.value("tokens", 200)?, args.value("per-write", 1)?, args.switch("stamp", false)?);
    let log: Option<PathBuf> = args.given("log")?;
    if let Ok(core) = usize::try_from(args.value("core", 0i64)?) {
        pin(core)?;
    }
    raise_file_limit(200_000);
    fine_timers();
    let mut server = Server::listen(args.value("port", 9000)?, pacer, chunks, log.is_some())?;
    writeln!(std::io::stdout(), "listening on {}", server.port()?)?;
    std::io::stdout().flush()?;
    let cpu = process_cpu();
    let served = server.run(args.value("max-secs", 600u64)?.saturating_mul(1_000_000_000))?;
    let per_send = (process_cpu() - cpu) as f64 / served.sends.max(1) as f64;
    eprintln!(
        "limit-mock: {} answers, {} sends of {per_send:.0} ns CPU each, late by {:.1} us on average and {:.1} us at most",
        served.answers,
        served.sends,
        served.late_sum_ns as f64 / 1e3 / served.sends.max(1) as f64,
        served.late_max_ns as f64 / 1e3
    );
    if let Some(path) = log {
        LogEntry::write_all(server.log(), &path)?;
    }
    Ok(())
}
