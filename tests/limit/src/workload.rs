//! Workload files for bench-host against the mock, and their prompts.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// A fixed number in flight.
    Closed {
        /// How many.
        concurrency: usize,
    },
    /// At random times.
    Poisson {
        /// Requests a second.
        rate: f64,
    },
}

/// A load on the mock.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Port of the mock.
    pub port: u16,
    /// When requests are sent.
    pub load: Load,
    /// How many.
    pub requests: usize,
    /// Tokens of each answer.
    pub tokens: usize,
    /// What the client is to move bytes with; its own choice without.
    pub transport: Option<String>,
}

impl Workload {
    /// Writes the file and its prompts into a folder; the file's path.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::write(folder.join("prompts.jsonl"), self.prompts())?;
        let path = folder.join("workload.toml");
        fs::write(&path, self.toml())?;
        Ok(path)
    }

    /// No warm-up, so that the mock's log has the measured requests alone. Failures do not end the run's use: a client
    /// that can't keep up is a result too.
    fn toml(&self) -> String {
        let load = match self.load {
            Load::Closed { concurrency } => format!("kind = \"closed\"\nconcurrency = {concurrency}"),
            Load::Poisson { rate } => format!("kind = \"poisson\"\nrate = {rate:?}"),
        };
        let transport = self.transport.as_ref();
        let client = transport.map(|t| format!("[client]\ntransport = \"{t}\"\nthreads = 1\n")).unwrap_or_default();
        format!(
            "name = \"limit\"\n[engine]\nadapter = \"openai\"\nmodel = \"mock\"\n[engine.attach]\n\
             urls = [\"http://127.0.0.1:{}\"]\n{client}[[scenario]]\nname = \"limit\"\n[scenario.dataset]\n\
             adapter = \"jsonl\"\noptions = {{ path = \"prompts.jsonl\" }}\n[scenario.warmup]\nrequests = 0\n\
             [scenario.limits]\nmax-failure-rate = 1.0\n[scenario.load]\n{load}\nrequests = {}\n",
            self.port, self.requests
        )
    }

    /// A prompt for each request, of about the size that the floor sends.
    fn prompts(&self) -> String {
        let words = "word ".repeat(100);
        let mut lines = String::new();
        for i in 0..self.requests {
            // Writing to a String can't fail.
            let _ = writeln!(lines, "{{\"prompt\": \"{i} {words}\", \"output_tokens\": {}}}", self.tokens);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(load: Load, transport: Option<&str>) -> Workload {
        Workload { port: 4711, load, requests: 3, tokens: 20, transport: transport.map(str::to_owned) }
    }

    #[test]
    fn the_client_has_a_table_only_where_it_is_asked_for() {
        let plain = workload(Load::Closed { concurrency: 8 }, None).toml();
        assert!(!plain.contains("[client]"), "{plain}");
        assert!(plain.ends_with("[scenario.load]\nkind = \"closed\"\nconcurrency = 8\nrequests = 3\n"), "{plain}");
        let poisson = workload(Load::Poisson { rate: 1000.0 }, Some("epoll")).toml();
        assert!(poisson.contains("[client]\ntransport = \"epoll\"\nthreads = 1\n[[scenario]]\n"), "{poisson}");
        assert!(poisson.contains("kind = \"poisson\"\nrate = 1000.0\nrequests = 3\n"), "{poisson}");
    }

    #[test]
    fn a_prompt_for_each_request() {
        let folder = tempfile::tempdir().unwrap();
        workload(Load::Closed { concurrency: 1 }, None).write(folder.path()).unwrap();
        let prompts = fs::read_to_string(folder.path().join("prompts.jsonl")).unwrap();
        let lines: Vec<serde_json::Value> = prompts.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[2]["output_tokens"], 20);
    }
}
