//! What a call into an adapter may take.

use std::time::Duration;

const MIB: usize = 1 << 20;

/// Limits of every call, by kind of adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of engine adapters.
    pub engine: KindLimits,
    /// Of dataset adapters.
    pub dataset: KindLimits,
    /// Longest that a call may run.
    pub deadlines: Deadlines,
    /// Bytes of a component; larger files are refused unread.
    pub component_bytes: u64,
}

/// Limits of one kind of adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindLimits {
    /// Bytes of linear memory, all memories of an instance together.
    pub memory_bytes: usize,
    /// Bytes of strings and lists that one call may hand over, in either direction of the sandbox's wall:
    /// an answer of the adapter, and each list that it asks the host for.
    pub output_bytes: usize,
}

/// Longest that a call may run, by the wall clock: what the host does for the adapter meanwhile counts.
/// A deadline is noticed within two ticks of 10 ms. The defaults are some hundred times what real adapters
/// take, so that a busy machine is no fault of theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// `describe`.
    pub describe: Duration,
    /// `check`, `ports-needed`, `launch`, `server`, `endpoints`, `decoding`, `needs-tokenizer`.
    pub plan: Duration,
    /// `encode` and `decode`, a batch.
    pub exchange: Duration,
    /// `open` of a dataset: it may read all of its data once.
    pub open: Duration,
    /// `next`, `count` and `notes` of a dataset's reader.
    pub next: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            engine: KindLimits { memory_bytes: 64 * MIB, output_bytes: 32 * MIB },
            dataset: KindLimits { memory_bytes: 256 * MIB, output_bytes: 64 * MIB },
            deadlines: Deadlines {
                describe: Duration::from_secs(5),
                plan: Duration::from_secs(5),
                exchange: Duration::from_secs(20),
                open: Duration::from_secs(300),
                next: Duration::from_secs(60),
            },
            component_bytes: 32 << 20,
        }
    }
}

/// A number of bytes for people.
pub(crate) fn bytes(n: usize) -> String {
    if n.is_multiple_of(MIB) { format!("{} MiB", n / MIB) } else { format!("{n} bytes") }
}
