//! What `run.json` tells about the client.

use serde_json::Value;
use std::io;
use std::path::Path;

/// The client's part of `run.json`. What an older file does not tell is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunFile {
    /// The run's start by the monotonic clock.
    pub monotonic_origin_ns: Option<u64>,
    /// System calls of the load.
    pub syscalls: Option<u64>,
    /// Events that came.
    pub events: Option<u64>,
    /// CPU time of the load threads, ns.
    pub load_cpu_ns: Option<u64>,
    /// Duration of the load, ns.
    pub load_wall_ns: Option<u64>,
}

impl RunFile {
    /// Reads a file.
    pub fn read(path: &Path) -> io::Result<RunFile> {
        Ok(RunFile::of(&serde_json::from_slice(&std::fs::read(path)?)?))
    }

    fn of(run: &Value) -> RunFile {
        let windows = run["windows"].as_array().map(Vec::as_slice).unwrap_or_default();
        let threads = || windows.iter().filter_map(|w| w["client"]["threads"].as_array()).flatten();
        let wall = windows.iter().map(|w| w["end"].as_u64()?.checked_sub(w["start"].as_u64()?));
        RunFile {
            monotonic_origin_ns: run["monotonic_origin_ns"].as_u64(),
            syscalls: counted(windows, "syscalls"),
            events: counted(windows, "events"),
            load_cpu_ns: threads().map(|t| t["cpu"].as_u64()).sum::<Option<u64>>().filter(|ns| *ns > 0),
            load_wall_ns: wall.sum::<Option<u64>>().filter(|ns| *ns > 0),
        }
    }

    /// System calls for each event.
    pub fn syscalls_per_event(&self) -> Option<f64> {
        Some(self.syscalls? as f64 / self.events.filter(|n| *n > 0)? as f64)
    }
}

/// A count of the client, of all windows together.
fn counted(windows: &[Value], key: &str) -> Option<u64> {
    sum(windows.iter().map(|w| &w["client"]["health"][key]))
}

fn sum<'a>(values: impl Iterator<Item = &'a Value>) -> Option<u64> {
    values.filter_map(Value::as_u64).reduce(|a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_are_summed_over_windows() {
        let window = |calls: u64, events: u64| {
            let threads = json!([{"cpu": 3, "wall": 9}, {"cpu": 4, "wall": 9}]);
            let health = json!({"syscalls": calls, "events": events});
            json!({"start": 10, "end": 30, "client": {"threads": threads, "health": health}})
        };
        let run = RunFile::of(&json!({"monotonic_origin_ns": 77, "windows": [window(2, 10), window(5, 4)]}));
        assert_eq!(run.monotonic_origin_ns, Some(77));
        assert_eq!(run.syscalls_per_event(), Some(0.5));
        assert_eq!((run.load_cpu_ns, run.load_wall_ns), (Some(14), Some(40)));
        assert_eq!(RunFile::of(&json!({})), RunFile::default());
    }
}
