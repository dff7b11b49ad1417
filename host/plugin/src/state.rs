//! What the host keeps beside a running instance: its handles, its limits, its log.

use crate::limits::{KindLimits, bytes};
use wasmtime::component::ResourceTable;

/// Lines of a call that are kept; the rest is counted (contract, `log`).
const LOG_LINES: u32 = 1000;
/// Bytes of a line that are kept (contract, `log`).
const LOG_LINE_BYTES: usize = 4096;
/// Table elements, core instances, tables and memories of one component instance: far above what a real
/// adapter has, far below what hurts.
const TABLE_ELEMENTS: usize = 1 << 20;
const INSTANCES: usize = 64;
const TABLES: usize = 64;
const MEMORIES: usize = 16;
/// Handles that one instance may hold.
const HANDLES: usize = 4096;

/// The data of a store.
pub(crate) struct HostState {
    pub(crate) table: ResourceTable,
    pub(crate) limiter: Limiter,
    pub(crate) log: CallLog,
    /// See [`KindLimits::output_bytes`].
    pub(crate) output_bytes: usize,
}

impl HostState {
    pub(crate) fn new(adapter: &str, limits: &KindLimits) -> HostState {
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        HostState {
            table,
            limiter: Limiter { limit: limits.memory_bytes, used: 0, elements: 0, refused: None },
            log: CallLog { adapter: adapter.to_owned(), lines: 0, last_error: None },
            output_bytes: limits.output_bytes,
        }
    }

    /// Checks that a list that the adapter asks for may be handed over.
    pub(crate) fn may_hand_over(&self, call: &str, count: u64, each: usize) -> wasmtime::Result<()> {
        if count.saturating_mul(each as u64) > self.output_bytes as u64 {
            let limit = bytes(self.output_bytes);
            return breach(format!(
                "`{call}` was asked for {count} items of {each} bytes; a call may hand over {limit}"
            ));
        }
        Ok(())
    }
}

/// The adapter asked the host for something that the contract doesn't allow.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Breach(pub(crate) String);

/// Ends the call with a [`Breach`].
pub(crate) fn breach<T>(what: String) -> wasmtime::Result<T> {
    Err(wasmtime::Error::new(Breach(what)))
}

/// Counts linear memory and table elements over all core instances of a component.
pub(crate) struct Limiter {
    limit: usize,
    used: usize,
    elements: usize,
    /// The size that was refused last: explains a trap that follows.
    pub(crate) refused: Option<usize>,
}

impl Limiter {
    /// Bytes of memory that are allowed.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }
}

impl wasmtime::ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.used.saturating_add(desired.saturating_sub(current));
        if total > self.limit {
            self.refused = Some(total);
            return Ok(false);
        }
        // Beyond the memory's own maximum the runtime refuses after this.
        if maximum.is_none_or(|m| desired <= m) {
            self.used = total;
        }
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.elements.saturating_add(desired.saturating_sub(current));
        let fits = total <= TABLE_ELEMENTS;
        if fits {
            self.elements = total;
        }
        Ok(fits)
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        TABLES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }
}

/// How bad a line of an adapter's log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogLevel {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// The log of one call.
pub(crate) struct CallLog {
    adapter: String,
    lines: u32,
    /// The last line of level error: a guest that panics says why before it traps.
    pub(crate) last_error: Option<String>,
}

impl CallLog {
    /// Takes one line.
    pub(crate) fn line(&mut self, level: LogLevel, message: &str) {
        self.lines = self.lines.saturating_add(1);
        if self.lines > LOG_LINES {
            return;
        }
        let message = &for_people(message);
        let adapter = self.adapter.as_str();
        match level {
            LogLevel::Trace => tracing::trace!(target: "adapter", adapter, "{message}"),
            LogLevel::Debug => tracing::debug!(target: "adapter", adapter, "{message}"),
            LogLevel::Info => tracing::info!(target: "adapter", adapter, "{message}"),
            LogLevel::Warn => tracing::warn!(target: "adapter", adapter, "{message}"),
            LogLevel::Error => {
                tracing::error!(target: "adapter", adapter, "{message}");
                self.last_error = Some(message.clone());
            }
        }
    }

    /// Starts the log of a call.
    pub(crate) fn open(&mut self) {
        self.lines = 0;
        self.last_error = None;
    }

    /// Ends the log of a call: says how many lines were not kept.
    pub(crate) fn close(&mut self) {
        if let Some(lost @ 1..) = self.lines.checked_sub(LOG_LINES) {
            tracing::warn!(target: "adapter", adapter = self.adapter.as_str(), "{lost} more lines of one call were not kept");
        }
    }
}

/// A guest's text as it may be shown: at most [`LOG_LINE_BYTES`], no control characters but the line feed,
/// so that an adapter can't drive the terminal.
pub(crate) fn for_people(text: &str) -> String {
    let end = text.floor_char_boundary(LOG_LINE_BYTES);
    let mut shown: String =
        text[..end].chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect();
    if end < text.len() {
        shown.push_str(" ...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmtime::ResourceLimiter;

    #[test]
    fn memory_is_counted_over_all_memories() {
        let mut l = Limiter { limit: 100, used: 0, elements: 0, refused: None };
        assert!(l.memory_growing(0, 60, None).unwrap());
        assert!(l.memory_growing(0, 40, None).unwrap());
        assert!(!l.memory_growing(40, 41, None).unwrap());
        assert_eq!(l.refused, Some(101));
    }

    #[test]
    fn growth_beyond_the_memorys_own_maximum_is_not_counted() {
        let mut l = Limiter { limit: 100, used: 0, elements: 0, refused: None };
        assert!(l.memory_growing(0, 60, Some(50)).unwrap());
        assert_eq!(l.used, 0);
    }

    #[test]
    fn shown_text_is_short_and_harmless() {
        assert_eq!(for_people("a\u{1b}[2Jb\nc"), "a\u{fffd}[2Jb\nc");
        let long = "ä".repeat(5000);
        let shown = for_people(&long);
        assert_eq!(shown.len(), LOG_LINE_BYTES + " ...".len());
    }
}
