//! Waits until a process can take requests.

use crate::error::LaunchError;
use crate::options::{HttpGet, Progress};
use crate::port;
use crate::process::Process;
use bench_core::clock::Nanos;
use bench_core::launch::{ReadyCheck, ReadyProbe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two looks at the process and its log; the check itself has its own interval.
const LOOK: Duration = Duration::from_millis(20);
/// A server that is up answers a readiness check well within this.
const ANSWER: Duration = Duration::from_secs(2);
/// Between two words of progress.
const WORD: Nanos = Nanos::from_millis(250);

/// What a wait needs beside the process.
pub(crate) struct Wait<'a> {
    pub(crate) probe: &'a ReadyProbe,
    /// Root of its server.
    pub(crate) url: String,
    pub(crate) timeout: Duration,
    pub(crate) http: &'a dyn HttpGet,
    pub(crate) cancel: &'a AtomicBool,
}

/// Waits; the time from the start to readiness.
pub(crate) fn wait(
    process: &mut Process,
    wait: &Wait<'_>,
    observe: &mut dyn FnMut(Progress<'_>),
) -> Result<Nanos, LaunchError> {
    let interval = Nanos::from_millis(u64::from(wait.probe.interval_ms));
    let (mut next_check, mut next_word) = (Nanos::ZERO, WORD);
    let mut state = String::from("nothing was asked yet");
    loop {
        if wait.cancel.load(Ordering::Relaxed) {
            return Err(LaunchError::Cancelled);
        }
        // In this order: what is written before the end is read after it.
        let ended = process.poll();
        let said_ready = read_log(process, wait.probe, ended.is_some())?;
        if let Some(exit) = ended {
            return match wait.probe.check {
                ReadyCheck::Exit if exit.code == Some(0) => Ok(process.elapsed()),
                _ => Err(LaunchError::Exited {
                    process: process.name.clone(),
                    exit,
                    log: process.log.path().to_owned(),
                    tail: process.log.last(),
                }),
            };
        }
        if said_ready {
            return Ok(process.elapsed());
        }
        if process.elapsed() >= next_check {
            match check(process, wait) {
                Ok(()) => return Ok(process.elapsed()),
                Err(seen) => state = seen,
            }
            next_check = process.elapsed() + interval;
        }
        let elapsed = process.elapsed();
        if elapsed.to_duration() >= wait.timeout {
            return Err(LaunchError::NotReady {
                process: process.name.clone(),
                timeout: wait.timeout,
                state,
                log: process.log.path().to_owned(),
                tail: process.log.last(),
            });
        }
        if elapsed >= next_word {
            observe(Progress::Waiting { process: &process.name, elapsed, log: process.log.newest() });
            next_word = elapsed + WORD;
        }
        std::thread::sleep(LOOK);
    }
}

/// Reads what is new in the log; whether it says that the process is ready.
fn read_log(process: &mut Process, probe: &ReadyProbe, end: bool) -> Result<bool, LaunchError> {
    let (mut ready, mut fatal) = (false, None);
    let look = process.log.look(end, |line| {
        ready |= matches!(&probe.check, ReadyCheck::Log(text) if line.contains(text.as_str()));
        if fatal.is_none() && probe.fatal_log.iter().any(|text| line.contains(text.as_str())) {
            fatal = Some(line.to_owned());
        }
    });
    look.map_err(LaunchError::io(format!("read the log `{}`", process.log.path().display())))?;
    match fatal {
        Some(line) => {
            Err(LaunchError::FatalLog { process: process.name.clone(), line, log: process.log.path().to_owned() })
        }
        None => Ok(ready),
    }
}

/// One look from outside; what was seen where it is not ready.
fn check(process: &Process, wait: &Wait<'_>) -> Result<(), String> {
    match &wait.probe.check {
        ReadyCheck::Http(path) => match wait.http.get(&format!("{}{path}", wait.url), ANSWER) {
            Ok((200..=299, _)) => Ok(()),
            Ok((status, _)) => Err(format!("`{path}` answers with status {status}")),
            Err(error) => Err(format!("`{path}`: {error}")),
        },
        ReadyCheck::Tcp => match process.addr {
            Some(addr) if port::answers(addr) => Ok(()),
            _ => Err("its port accepts no connection".into()),
        },
        ReadyCheck::Log(text) => Err(format!("no line of its log contains `{text}`")),
        ReadyCheck::Exit => Err("it still runs".into()),
    }
}
