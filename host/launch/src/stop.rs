//! Ends a process with all that came of it: signal, patience, kill, and a look at what is left.

use crate::port;
use crate::process::{ExitInfo, Process};
use crate::procfs::{self, ProcessId};
use bench_core::clock::{Clock, MonotonicClock, Nanos};
use bench_core::launch::StopSignal;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);
/// How long the kernel has to bury what was killed, and to give the port back.
const BURIAL: Nanos = Nanos::from_secs(10);

/// What it took to end a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// It had ended before it was told to.
    Itself,
    /// The signal of its stop rule.
    Signal,
    /// SIGKILL, for it or for one of its descendants.
    Kill,
}

/// How one process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessEnd {
    /// Process of the plan.
    pub process: String,
    /// Its number.
    pub pid: u32,
    /// What it took.
    pub by: EndedBy,
    /// How the process itself ended; `None` where it would not.
    pub exit: Option<ExitInfo>,
    /// From the signal to the end of the last of its family.
    pub took: Nanos,
    /// Numbers of processes that could not be ended.
    pub left: Vec<i32>,
    /// Nobody listens on its port any more.
    pub port_free: bool,
}

/// How a replica ended, in the order of ending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReport {
    /// Each process that was started.
    pub processes: Vec<ProcessEnd>,
}

impl StopReport {
    /// No process is left and every port is free.
    pub fn is_clean(&self) -> bool {
        self.processes.iter().all(|end| end.left.is_empty() && end.port_free)
    }
}

/// Climbs down the ladder of one process; `cut` ends its grace at once.
pub(crate) fn stop(process: &mut Process, cut: &AtomicBool) -> ProcessEnd {
    let clock = MonotonicClock::start();
    let mut family = process.family();
    let mut by = EndedBy::Itself;
    if process.poll().is_none() || !family.is_empty() {
        by = EndedBy::Signal;
        let grace = Nanos::from_millis(u64::from(process.stop.grace_ms));
        if process.stop.signal != StopSignal::Kill {
            let signal = if process.stop.signal == StopSignal::Interrupt { Signal::INT } else { Signal::TERM };
            process.signal(&family, signal);
            wait_gone(process, &family, || clock.now() >= grace || cut.load(Ordering::Relaxed));
        }
        // Some may have been born meanwhile.
        family.extend(process.family());
        family.retain(|member| procfs::runs(*member));
        if process.poll().is_none() || !family.is_empty() {
            by = EndedBy::Kill;
            let killed = kill_family(process);
            family.extend(killed);
        }
    }
    let deadline = clock.now() + BURIAL;
    wait_gone(process, &family, || clock.now() >= deadline);
    let took = clock.now();
    family.retain(|member| procfs::runs(*member));
    let mut port_free = true;
    if let Some(addr) = process.addr {
        // The family is gone; who can be seen to hold the port now is somebody else and will keep it.
        while !port::is_free(addr) && !matches!(port::owner(addr), Some(Some(_))) && clock.now() < deadline {
            std::thread::sleep(LOOK);
        }
        port_free = port::is_free(addr);
    }
    ProcessEnd {
        process: process.name.clone(),
        pid: process.pid(),
        by,
        exit: process.poll(),
        took,
        left: family.iter().map(|member| member.pid).collect(),
        port_free,
    }
}

/// Waits until the process and its family are gone, or until patience is `over`.
fn wait_gone(process: &mut Process, family: &BTreeSet<ProcessId>, over: impl Fn() -> bool) {
    while process.poll().is_none() || family.iter().any(|member| procfs::runs(*member)) {
        if over() {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

/// Kills the process, its group and whoever else came of it; those that ran, and waits a moment for the process itself.
pub(crate) fn kill_family(process: &mut Process) -> BTreeSet<ProcessId> {
    let mut killed = BTreeSet::new();
    // What is killed may just have made another.
    for _ in 0..10 {
        let family = process.family();
        if family.is_empty() && process.poll().is_some() {
            break;
        }
        process.signal(&family, Signal::KILL);
        killed.extend(family);
        std::thread::sleep(LOOK);
    }
    killed
}
