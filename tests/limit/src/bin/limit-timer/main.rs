//! How late sends at random times are on this machine, when nothing is sent: the timer's own floor.
//!
//!     limit-timer --how epoll2 --rate 1000 --bg 1000
//!
//! - `--how timerfd`: an event loop with a timer among its descriptors; `epoll2`: one whose wait ends in time, and that
//!   looks for due sends between any two events; `spin`: the same, and the last `--lead-us` are spun; `dedi`: a thread of
//!   its own that wakes the event loop.
//! - `--rate`: sends a second, `--secs` long; `--bg`: streams that the loop serves meanwhile, 5 µs each every 20 ms.
//! - `--core`: core to stay on, -1 for any.
//!
//! Prints one line of JSON.
#![expect(clippy::print_stdout, reason = "its figures are its result")]

mod background;
mod waits;

use background::Background;
use bench_limit::{Args, Quantiles, TimerReport, exit, fine_timers, pin, process_cpu};
use std::error::Error;
use std::process::ExitCode;

const OPTIONS: &[&str] = &["how", "rate", "secs", "bg", "lead-us", "core"];

fn main() -> ExitCode {
    exit("limit-timer", measure().map(|line| println!("{line}")))
}

fn measure() -> Result<String, Box<dyn Error>> {
    let args = Args::parse(std::env::args().skip(1), OPTIONS)?;
    let how: String = args.value("how", "epoll2".to_owned())?;
    let (rate, seconds): (f64, f64) = (args.value("rate", 1000.0)?, args.value("secs", 4.0)?);
    if !(rate > 0.0 && rate <= 1e6 && seconds > 0.0 && seconds <= 3600.0) {
        return Err("`--rate` is above 0 and at most 1000000, `--secs` above 0 and at most 3600".into());
    }
    let bg: u64 = args.value("bg", 0)?;
    let lead = args.micros("lead-us", 80)?;
    if let Ok(core) = usize::try_from(args.value("core", 1i64)?) {
        pin(core)?;
    }
    fine_timers();
    let schedule = poisson(rate, seconds);
    let (cpu, background) = (process_cpu(), Background::new(bg));
    let late = match how.as_str() {
        "timerfd" => waits::timerfd(&schedule, background)?,
        "epoll2" => waits::epoll(&schedule, background, 0)?,
        "spin" => waits::epoll(&schedule, background, lead)?,
        "dedi" => waits::dedicated(&schedule, background)?,
        _ => return Err(format!("`{how}` is no way: there are `timerfd`, `epoll2`, `spin` and `dedi`").into()),
    };
    let cpu = process_cpu() - cpu;
    let quantiles = Quantiles::of_nanos(&late);
    let at = |q| quantiles.at(q).unwrap_or(f64::NAN);
    let report = TimerReport {
        how,
        rate,
        bg,
        sends: late.len() as u64,
        p50_us: at(0.5),
        p99_us: at(0.99),
        p999_us: at(0.999),
        max_us: at(1.0),
        cpu_us_per_send: cpu as f64 / 1e3 / late.len().max(1) as f64,
    };
    Ok(serde_json::to_string(&report)?)
}

/// When sends are due, ns from the start; the same for the same rate.
fn poisson(rate: f64, seconds: f64) -> Vec<u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut due = 0.0;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let uniform = (state >> 11) as f64 / (1u64 << 53) as f64;
        due -= (1.0 - uniform).ln() / rate;
        Some(due)
    };
    // The last one lies beyond the end, so that there is always one.
    let mut over = false;
    std::iter::from_fn(next)
        .take_while(|t| !std::mem::replace(&mut over, *t >= seconds))
        .map(|t| (t * 1e9) as u64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_have_the_rate() {
        let schedule = poisson(1000.0, 20.0);
        assert!((19_000..21_000).contains(&schedule.len()), "{}", schedule.len());
        assert!(schedule.is_sorted());
        assert_eq!(poisson(0.001, 0.1).len(), 1);
    }
}
