//! One started process: own group, own log, and it does not outlive this program.

use crate::error::LaunchError;
use crate::log::LogTail;
use crate::procfs::{self, ProcessId};
use bench_core::clock::{Clock, MonotonicClock, Nanos};
use bench_core::launch::StopRule;
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, mpsc};

/// Environment variable by which descendants are found that left the process group.
const MARKER: &str = "BENCH_HOST_PROCESS";

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitInfo {
    /// Exit status, where it ended by itself.
    pub code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
}

impl From<ExitStatus> for ExitInfo {
    fn from(status: ExitStatus) -> ExitInfo {
        ExitInfo { code: status.code(), signal: status.signal() }
    }
}

impl fmt::Display for ExitInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit status {code}"),
            (None, Some(9)) => f.write_str("killed by signal 9 (perhaps for want of memory)"),
            (None, Some(signal)) => write!(f, "ended by signal {signal}"),
            (None, None) => f.write_str("ended for no known reason"),
        }
    }
}

/// What to start.
pub(crate) struct Start<'a> {
    pub(crate) name: &'a str,
    pub(crate) program: &'a Path,
    pub(crate) args: &'a [String],
    /// The whole environment.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) folder: &'a Path,
    pub(crate) addr: Option<SocketAddr>,
    pub(crate) stop: StopRule,
    /// It is to run until it is stopped, not a step that ends by itself.
    pub(crate) stays: bool,
}

/// A started process and all that came of it.
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) log: LogTail,
    pub(crate) addr: Option<SocketAddr>,
    pub(crate) stop: StopRule,
    pub(crate) stays: bool,
    child: Child,
    pid: Pid,
    clock: MonotonicClock,
    marker: String,
    ended: Option<ExitInfo>,
}

impl Process {
    /// Starts it: stdin empty, stdout and stderr in `<folder>/<name>.log`, no other descriptor passed on, a process
    /// group of its own. The kernel kills it when this program ends without having stopped it; that covers the process
    /// itself, not its children.
    pub(crate) fn start(start: Start<'_>) -> Result<Process, LaunchError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let path = start.folder.join(format!("{}.log", start.name));
        let shown = path.display();
        let out = File::create(&path).map_err(LaunchError::io(format!("make the log `{shown}`")))?;
        let errors = out.try_clone().map_err(LaunchError::io(format!("share the log `{shown}`")))?;
        let log = LogTail::open(&path).map_err(LaunchError::io(format!("read the log `{shown}`")))?;
        let own = std::process::id();
        let marker = format!("{own}-{}-{}", procfs::own_start(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(start.program);
        command
            .args(start.args)
            .env_clear()
            .envs(start.env)
            .env(MARKER, &marker)
            .current_dir(start.folder)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(errors)
            .process_group(0);
        // SAFETY: between fork and exec only system calls are made, which allocate nothing and take no lock.
        unsafe { command.pre_exec(move || prepare_child(own)) };
        let clock = MonotonicClock::start();
        let child = spawn(command).map_err(LaunchError::io(format!("start `{}`", start.program.display())))?;
        let pid = Pid::from_child(&child);
        Ok(Process {
            name: start.name.to_owned(),
            log,
            addr: start.addr,
            stop: start.stop,
            stays: start.stays,
            child,
            pid,
            clock,
            marker: format!("{MARKER}={marker}"),
            ended: None,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Since the start.
    pub(crate) fn elapsed(&self) -> Nanos {
        self.clock.now()
    }

    /// How it ended, if it did.
    pub(crate) fn poll(&mut self) -> Option<ExitInfo> {
        if self.ended.is_none() {
            // The only error is that there is no such child, and it is ours until it was waited for.
            self.ended = self.child.try_wait().ok().flatten().map(ExitInfo::from);
        }
        self.ended
    }

    /// The processes that came of it and still run, itself included.
    pub(crate) fn family(&self) -> BTreeSet<ProcessId> {
        procfs::family(self.pid.as_raw_pid(), &self.marker)
    }

    /// Signals the group, and those of `family` that left it.
    pub(crate) fn signal(&self, family: &BTreeSet<ProcessId>, signal: Signal) {
        // Any of them may have ended by itself; whether one is left is looked at afterwards.
        let _ = rustix::process::kill_process_group(self.pid, signal);
        for member in family.iter().filter(|member| procfs::runs(**member)) {
            let Some(pid) = Pid::from_raw(member.pid) else { continue };
            if rustix::process::getpgid(Some(pid)).is_ok_and(|group| group != self.pid) {
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        crate::stop::kill_family(self);
    }
}

/// Runs in the child, before the program does.
fn prepare_child(parent: u32) -> io::Result<()> {
    default_signals();
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have ended before the line above.
    let now = rustix::process::getppid().map(Pid::as_raw_pid);
    if now.and_then(|pid| u32::try_from(pid).ok()) != Some(parent) {
        return Err(io::Error::from(io::ErrorKind::Interrupted));
    }
    // SAFETY: a system call without pointers. Descriptors from 3 on are closed at exec, among them std's own pipe,
    // which is so already. A kernel before 5.11 knows no such call; the descriptors made by std are closed anyway.
    unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    Ok(())
}

/// Ignored signals stay ignored over an exec, and a shell ignores SIGINT for what it starts in the background: the
/// engine must be able to hear what its stop rule sends.
fn default_signals() {
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
        // SAFETY: setting a disposition touches nothing of this program; a number that is no signal is refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

type Job = (Command, mpsc::Sender<io::Result<Child>>);

/// Starts a command on a thread that lives as long as this program: the kernel sends the signal of the parent's death
/// when the *thread* ends that started the child.
fn spawn(command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<Option<mpsc::Sender<Job>>> = OnceLock::new();
    let gone = || io::Error::other("the thread that starts processes is gone");
    let spawner = SPAWNER.get_or_init(|| {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let serve = move || {
            for (mut command, reply) in inbox {
                // A caller that left drops its child, which nobody can hold any more.
                let _ = reply.send(command.spawn());
            }
        };
        std::thread::Builder::new().name("spawner".into()).spawn(serve).ok().map(|_| jobs)
    });
    let (reply, answer) = mpsc::channel();
    spawner.as_ref().ok_or_else(gone)?.send((command, reply)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

/// Finds the executable that a binding means.
pub(crate) fn find_program(program: &str, bound: &Path, search: &str) -> Result<PathBuf, LaunchError> {
    let bare = bound.components().count() == 1 && !bound.is_absolute();
    let tries: Vec<PathBuf> = if bare {
        search.split(':').filter(|folder| !folder.is_empty()).map(|folder| Path::new(folder).join(bound)).collect()
    } else {
        vec![bound.to_owned()]
    };
    let executable = |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    let not_found = || LaunchError::NotFound { program: program.into(), path: bound.to_owned(), searched: bare };
    let found = tries.into_iter().find(executable).ok_or_else(not_found)?;
    // The process starts in its own folder.
    std::path::absolute(&found).map_err(LaunchError::io(format!("find the path of `{}`", found.display())))
}
