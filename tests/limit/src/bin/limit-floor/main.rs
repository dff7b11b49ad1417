//! A client that does the least that a measuring client must do: one thread, a closed loop of connections that stay open.
//!
//!     limit-floor --port 9000 --engine uringmsg --level 1 --conc 1000 --reqs 1000 --lag 1
//!
//! - `--engine epoll`: recvmsg for each connection that is ready, with a nap of `--nap-us` before each look.
//! - `--engine uringmsg`: one multishot receive for each connection, looked at when `--waitn` came or `--waitus` are over.
//! - `--level 0`: counts events; `1`: takes the answer apart, stamps each event and keeps its bytes; `2`: also finds the
//!   content.
//! - `--lag 1`: reads the time that `limit-mock --stamp 1` writes into its chunks.
//! - `--core`: core to stay on, -1 for any.
//!
//! Prints one line of JSON.
#![expect(clippy::print_stdout, reason = "its figures are its result")]

mod client;
mod epoll;
mod uring;

use bench_limit::{Args, CpuTimes, exit, fine_timers, monotonic, pin, process_cpu, raise_file_limit};
use client::{Client, Connection};
use std::error::Error;
use std::process::ExitCode;

const OPTIONS: &[&str] =
    &["port", "engine", "level", "conc", "reqs", "tokens", "lag", "nap-us", "waitn", "waitus", "core"];

fn main() -> ExitCode {
    exit("limit-floor", measure().map(|line| println!("{line}")))
}

fn measure() -> Result<String, Box<dyn Error>> {
    let args = Args::parse(std::env::args().skip(1), OPTIONS)?;
    let engine: String = args.value("engine", "epoll".to_owned())?;
    let (concurrency, requests) = (args.value("conc", 256)?, args.value("reqs", 1000)?);
    let level = args.value("level", 1)?;
    if level > 2 {
        return Err(format!("there is no level {level}: they are 0, 1 and 2").into());
    }
    let (nap, wait) = (args.micros("nap-us", 0)?, uring::Wait::of(&args)?);
    if let Ok(core) = usize::try_from(args.value("core", 1i64)?) {
        pin(core)?;
    }
    raise_file_limit(200_000);
    fine_timers();
    let port = args.value("port", 9000)?;
    let mut client = Client::new(port, level, requests, args.value("tokens", 200)?, args.switch("lag", false)?);
    let mut connections =
        (0..concurrency).map(|_| Connection::open(port, client.tokens())).collect::<Result<Vec<_>, _>>()?;
    client::settle();
    let (cpu, times, start) = (process_cpu(), CpuTimes::now(), monotonic());
    match engine.as_str() {
        "epoll" => epoll::drive(&mut client, &mut connections, nap)?,
        "uringmsg" => uring::drive(&mut client, &mut connections, wait)?,
        _ => return Err(format!("`{engine}` is no engine: there are `epoll` and `uringmsg`").into()),
    }
    let mut report = client.report(monotonic() - start, process_cpu() - cpu, CpuTimes::now().since(times));
    report.engine = engine;
    report.concurrency = concurrency;
    Ok(serde_json::to_string(&report)?)
}
