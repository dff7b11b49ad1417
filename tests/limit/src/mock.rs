//! `limit-mock` as a process: started, and stopped for its log.

use crate::child::{Place, Running};
use crate::send_log::LogEntry;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::time::Duration;

/// A mock server that listens on a port of its own.
#[derive(Debug)]
pub struct Mock {
    running: Running,
    port: u16,
    log: PathBuf,
    /// Kept open, so that the server's writes do not fail.
    _stdout: BufReader<ChildStdout>,
}

impl Mock {
    /// Starts `program` with `options` in a place; its log goes to `log`. Returns when it listens.
    pub fn start(program: &Path, options: &[String], place: Place, log: &Path) -> io::Result<Mock> {
        let mut command = Command::new(program);
        command.args(["--port", "0", "--core", "-1"]).args(options).arg("--log").arg(log);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut running = place.spawn(&mut command)?;
        let stdout = running.take_stdout().ok_or_else(|| io::Error::other("the mock's output is not piped"))?;
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let port = line.strip_prefix("listening on ").and_then(|p| p.trim().parse().ok());
        let port = port.ok_or_else(|| io::Error::other(format!("the mock's first line is `{}`", line.trim())))?;
        Ok(Mock { running, port, log: log.to_owned(), _stdout: stdout })
    }

    /// Port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends it; what it saw and sent.
    pub fn stop(self) -> io::Result<Vec<LogEntry>> {
        self.running.terminate()?;
        self.running.wait(Duration::from_secs(60))?.success("the mock")?;
        LogEntry::read_all(&self.log)
    }
}
