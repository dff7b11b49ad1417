//! Memory does not grow with the run: the greatest use while writing and while reading a trace is the same for
//! four times the rows.

#[path = "trace/common.rs"]
mod common;

use bench_trace::{RunDir, Trace, TraceWriter, WriterConfig};
use common::{Random, finished, info};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, and the bytes that are in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The greatest number of bytes in use during `work`, above those at its begin.
fn peak(work: impl FnOnce()) -> usize {
    let before = IN_USE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    work();
    PEAK.load(Ordering::Relaxed) - before
}

#[test]
fn memory_is_bounded_whatever_the_length_of_the_run() {
    let config =
        WriterConfig { queue_bytes: 256 << 10, batch_rows: 100, row_group_rows: 500, ..WriterConfig::default() };
    let (mut writing, mut reading) = (Vec::new(), Vec::new());
    for rows in [2_000, 8_000] {
        let dir = tempfile::tempdir().unwrap();
        writing.push(peak(|| {
            let run = RunDir::create(dir.path()).unwrap();
            let writer = TraceWriter::start(&run, &info(false), config).unwrap();
            let sender = writer.sender();
            let mut random = Random(1);
            (0..rows).for_each(|i| sender.send(random.realistic(i, 40)).unwrap());
            writer.finish(&finished(false)).unwrap();
        }));
        reading.push(peak(|| {
            let trace = Trace::open(dir.path()).unwrap();
            assert_eq!(trace.records().filter(Result::is_ok).count() as u64, rows);
        }));
    }
    for peaks in [writing, reading] {
        assert!(peaks[0] > 100_000, "the allocator counts");
        assert!(peaks[1] < peaks[0] + peaks[0] / 4, "{peaks:?} bytes for 2 000 and 8 000 rows");
    }
}
