//! Processes that are kept on a core of their own, and what they used.

use crate::sys::{self, CpuTimes};
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Where and how a process runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The one core that it may use.
    pub core: Option<usize>,
    /// Priority above all ordinary processes, where that is permitted.
    pub fifo: Option<i32>,
}

impl Place {
    /// Starts a command there.
    pub fn spawn(self, command: &mut Command) -> io::Result<Running> {
        let prepare = move || {
            if let Some(core) = self.core {
                sys::pin(core)?;
            }
            if let Some(priority) = self.fifo {
                // Without the permission it runs as others do: the figures of both sides suffer alike.
                let _ = sys::first_in_first_out(priority);
            }
            Ok(())
        };
        // SAFETY: between fork and exec it makes two system calls on values of its own, and allocates nothing.
        unsafe { command.pre_exec(prepare) };
        let (own_rss, started) = (resident(), Instant::now());
        Ok(Running { child: command.spawn()?, started, own_rss, reaped: false })
    }
}

/// What a process used until it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time of all its threads.
    pub cpu: CpuTimes,
    /// Most memory that it had, bytes. `None` where it had less than its parent when it was started: until then the
    /// kernel counts the parent's.
    pub peak_rss: Option<u64>,
}

/// A process that is over.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// What it used.
    pub usage: Usage,
    /// What it printed, where that was piped.
    pub stdout: String,
    /// From its start to its end.
    pub wall: Duration,
}

impl Finished {
    /// Fails unless it ended with code 0.
    pub fn success(self, what: &str) -> io::Result<Finished> {
        if self.status.success() {
            return Ok(self);
        }
        Err(io::Error::other(format!("{what} ended with {}\n{}", self.status, self.stdout)))
    }
}

/// A process that goes on. It is killed when this is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    started: Instant,
    own_rss: u64,
    reaped: bool,
}

impl Running {
    /// What it prints, where that was piped and not yet taken.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Asks it to end.
    pub fn terminate(&self) -> io::Result<()> {
        self.signal(libc::SIGTERM)
    }

    fn pid(&self) -> libc::pid_t {
        self.child.id() as libc::pid_t
    }

    fn signal(&self, signal: libc::c_int) -> io::Result<()> {
        // SAFETY: takes numbers only; the process is not reaped yet, so that its id is its own.
        let rc = unsafe { libc::kill(self.pid(), signal) };
        if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Waits for its end; after `limit` it is killed, and that is an error. What it prints is read when it is over, so
    /// it must fit into a pipe.
    pub fn wait(mut self, limit: Duration) -> io::Result<Finished> {
        let start = Instant::now();
        let over = sys::process_descriptor(self.pid())?;
        loop {
            let left = limit.saturating_sub(start.elapsed());
            match sys::wait_readable(over.as_fd(), left.as_millis().min(1 << 30) as i32) {
                Ok(true) => break,
                Ok(false) => {
                    let what = format!("still running after {} s", limit.as_secs_f64());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, what));
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        let wall = self.started.elapsed();
        let (status, usage) = self.reap()?;
        let mut stdout = String::new();
        if let Some(mut pipe) = self.take_stdout() {
            pipe.read_to_string(&mut stdout)?;
        }
        Ok(Finished { status, usage, stdout, wall })
    }

    fn reap(&mut self) -> io::Result<(ExitStatus, Usage)> {
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both places live through the call; all zeroes is a valid rusage.
        let (pid, usage) = unsafe {
            let pid = libc::wait4(self.pid(), &raw mut status, 0, usage.as_mut_ptr());
            (pid, usage.assume_init())
        };
        if pid != self.pid() {
            return Err(io::Error::last_os_error());
        }
        self.reaped = true;
        let peak = usage.ru_maxrss.max(0) as u64 * 1024;
        let usage = Usage { cpu: CpuTimes::of(&usage), peak_rss: Some(peak).filter(|p| *p > self.own_rss) };
        Ok((ExitStatus::from_raw(status), usage))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.reaped && self.signal(libc::SIGKILL).is_ok() {
            // Nothing to do where it fails: the process is gone.
            let _ = self.reap();
        }
    }
}

/// Memory that this process has now, bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0);
    // SAFETY: takes a number only.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages * u64::try_from(page).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        command
    }

    #[test]
    fn a_process_runs_where_it_is_put_and_tells_what_it_used() {
        let place = Place { core: Some(0), fifo: None };
        let script =
            "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; grep Cpus_allowed_list /proc/self/status; exit 3";
        let finished = place.spawn(&mut shell(script)).unwrap().wait(Duration::from_secs(60)).unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!(finished.stdout.split_whitespace().last(), Some("0"));
        assert!(finished.usage.cpu.total() > 0);
        assert!(finished.success("sh").unwrap_err().to_string().starts_with("sh ended with exit status: 3"));
    }

    #[test]
    fn one_that_does_not_end_is_killed() {
        let running = Place::default().spawn(&mut shell("exec sleep 1000")).unwrap();
        let pid = running.pid();
        assert_eq!(running.wait(Duration::from_millis(1)).unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn one_that_is_asked_to_ends() {
        let running = Place::default().spawn(&mut shell("exec sleep 1000")).unwrap();
        running.terminate().unwrap();
        assert_eq!(running.wait(Duration::from_secs(60)).unwrap().status.signal(), Some(libc::SIGTERM));
    }
}
