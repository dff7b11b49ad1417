//! Runs a load: threads, clock, decoder.

use crate::client::request::Template;
use crate::client::site::Site;
use crate::client::stops::Moment;
use crate::control::Control;
use crate::decode::plan::PlanDecoder;
use crate::decode::record::Rows;
use crate::decode::secrets::Secrets;
use crate::decode::stage::{self, Kept, Reader, Tally};
use crate::direct::{Direct, Epoll, Io, Uring};
use crate::figures::ThreadFigures;
use crate::job::{LoadError, LoadJob, LoadStats, ThreadCpu};
use crate::schedule::Schedule;
use crate::stream::Glance;
use crate::sys;
use crate::transport::Transport;
use crate::worker::{EVENT_INTERVAL, KEPT_KIB, Shared, Worker};
use bench_core::clock::{Clock, MonotonicClock, Nanos};
use bench_core::record::RequestRecord;
use bench_core::request::{Endpoint, PreparedRequest};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Semaphore, mpsc};

/// Runs a load to its end. Every attempt becomes a row, handed to `sink` on a thread of its own in the
/// order in which attempts end; `sink` should not block for long: 512 MiB of answers may wait for it, then
/// requests do.
///
/// # Errors
/// The load can't start, or a thread panicked. What servers do wrong is in the rows.
pub fn run(
    job: LoadJob,
    clock: &MonotonicClock,
    mut sink: Box<dyn FnMut(RequestRecord) + Send>,
    control: Arc<Control>,
) -> Result<LoadStats, LoadError> {
    let schedule = checked_schedule(&job)?;
    let LoadJob {
        spec,
        limits,
        targets,
        requests,
        format,
        decoder,
        counter,
        threads,
        cores,
        transport,
        cold,
        row,
        keep_text,
        trust,
        secrets,
        ..
    } = job;
    let sites: Vec<Site> = targets.iter().map(Site::resolve).collect::<Result<_, _>>()?;
    let transport = Transport::choose(transport, sites.iter().any(|s| s.tls.is_some()), cold)?;
    let tls = if sites.iter().any(|s| s.tls.is_some()) { Some(trust.connector()?) } else { None };
    let (templates, endpoint_of) = templates(&requests, &sites)?;
    let threads = threads.unwrap_or(1).clamp(1, 1024);
    let slots = match schedule {
        Schedule::Open { most_in_flight: Some(most), .. } => Some(Arc::new(Semaphore::new(most as usize))),
        _ => None,
    };
    let unsent = match &schedule {
        Schedule::Open { due, .. } => due.len() as u64,
        Schedule::Closed { .. } => 0,
    };
    let shared = Arc::new(Shared {
        last_send: Moment::default(),
        unsent: AtomicU64::new(unsent),
        clock: *clock,
        schedule,
        duration: spec.duration,
        limits,
        sites,
        templates,
        endpoint_of,
        framing: format.framing,
        done: format.done.clone(),
        glance: Glance::new(format.plan.as_ref()),
        control: control.clone(),
        tls,
        cold,
        threads: threads as u32,
        file_limit: sys::raise_file_limit(),
        id_prefix: format!("bench-{:x}-{}", sys::realtime(), row.repeat),
        next: AtomicU64::new(0),
        slots,
        memory: Arc::new(Semaphore::new(KEPT_KIB)),
        t0: OnceLock::new(),
        requests: requests.clone(),
    });
    let reader = match (&format.plan, decoder) {
        (Some(plan), _) => Reader::Plan(PlanDecoder::new(plan, format.done.as_deref())),
        (None, Some(decoder)) => Reader::Adapter(decoder),
        (None, None) => return Err(LoadError::NoDecoder),
    };

    let _stamps = sys::turn_stamps_on();
    let (out, attempts) = mpsc::unbounded_channel();
    let start = Start { shared: &shared, barrier: &Barrier::new(threads), cores: &cores };
    let (reports, tally, decode_cpu) = thread::scope(|scope| {
        let decoding = scope.spawn(|| {
            sys::name_thread("decode");
            sys::step_back();
            let rows = Rows { context: &row, counter: counter.as_deref(), keep_text, secrets: Secrets::new(&secrets) };
            let tally = stage::run(attempts, reader, &rows, &requests, &control, &mut sink);
            (tally, sys::thread_cpu())
        });
        let workers: Vec<_> = (0..threads as u32)
            .map(|id| {
                let (start, out) = (&start, out.clone());
                scope.spawn(move || {
                    sys::name_thread(&format!("load-{id}"));
                    work(id, transport, start, out)
                })
            })
            .collect();
        drop(out);
        let reports: Vec<_> = workers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        let (tally, cpu) = decoding.join().map_err(|_| LoadError::Panicked)?;
        Ok::<_, LoadError>((reports, tally, cpu))
    })?;

    let reports = reports
        .into_iter()
        .map(|report| report.map_err(|_| LoadError::Panicked)?.map_err(LoadError::Start))
        .collect::<Result<Vec<_>, _>>()?;
    if reports.iter().any(|r| r.figures.failed) {
        return Err(LoadError::Panicked);
    }
    Ok(sum_up(shared.t0.get().copied().unwrap_or_default(), transport, &reports, tally, decode_cpu))
}

/// The load's figures of itself.
fn sum_up(t0: Nanos, transport: Transport, reports: &[ThreadReport], tally: Tally, decode_cpu: Nanos) -> LoadStats {
    let mut all = ThreadFigures::new();
    for report in reports {
        all.merge(&report.figures);
    }
    LoadStats {
        t0,
        ended: t0 + reports.iter().map(|r| r.cpu.wall).max().unwrap_or_default(),
        threads: reports.iter().map(|r| r.cpu).collect(),
        decode_cpu,
        send_lateness: all.lateness.summary(),
        read_lag: all.lag.summary(),
        reads: all.reads,
        reads_unstamped: all.unstamped,
        events: tally.events,
        merged_events: tally.merged,
        clock_steps: all.clock_steps,
        rows: tally.rows,
        transport,
        syscalls: (transport != Transport::Hyper).then_some(all.calls),
    }
}

fn checked_schedule(job: &LoadJob) -> Result<Schedule, LoadError> {
    if job.targets.is_empty() {
        return Err(LoadError::Nothing("servers"));
    }
    if job.requests.is_empty() {
        return Err(LoadError::Nothing("requests"));
    }
    Schedule::of(job)
}

/// Templates for each endpoint and site, and which endpoint each request goes to.
fn templates(requests: &[PreparedRequest], sites: &[Site]) -> Result<(Vec<Vec<Template>>, Vec<u32>), LoadError> {
    let mut endpoints: Vec<&Arc<Endpoint>> = Vec::new();
    let mut endpoint_of = Vec::with_capacity(requests.len());
    for request in requests {
        let known = endpoints.iter().position(|e| Arc::ptr_eq(e, &request.endpoint) || ***e == *request.endpoint);
        let index = known.unwrap_or_else(|| {
            endpoints.push(&request.endpoint);
            endpoints.len() - 1
        });
        endpoint_of.push(index as u32);
    }
    let templates = endpoints
        .iter()
        .map(|endpoint| sites.iter().map(|site| Template::new(endpoint, site)).collect())
        .collect::<Result<_, _>>()?;
    Ok((templates, endpoint_of))
}

/// A load thread's figures.
struct ThreadReport {
    cpu: ThreadCpu,
    figures: ThreadFigures,
}

/// What a load thread waits for before it begins: all have opened their connections.
struct Start<'a> {
    shared: &'a Arc<Shared>,
    barrier: &'a Barrier,
    cores: &'a [usize],
}

impl Start<'_> {
    /// Runs one thread of a load: `prepare` before the load's start, and what it gives from then on.
    fn thread<W: FnOnce(Nanos) -> ThreadFigures>(
        &self,
        id: u32,
        prepare: impl FnOnce() -> io::Result<W>,
    ) -> io::Result<ThreadReport> {
        let pinned = self.cores.get(id as usize % self.cores.len().max(1)).map_or(Ok(()), |core| sys::pin(*core));
        let prepared = catch_unwind(AssertUnwindSafe(|| pinned.and_then(|()| prepare())));
        // Also where this thread failed: the others wait.
        self.barrier.wait();
        let work = prepared.unwrap_or_else(|panic| resume_unwind(panic))?;
        let clock = &self.shared.clock;
        let t0 = *self.shared.t0.get_or_init(|| clock.now());
        let cpu_before = sys::thread_cpu();
        let figures = work(t0);
        let cpu = ThreadCpu { cpu: sys::thread_cpu() - cpu_before, wall: clock.now() - t0 };
        Ok(ThreadReport { cpu, figures })
    }
}

fn work(id: u32, transport: Transport, start: &Start<'_>, out: UnboundedSender<Kept>) -> io::Result<ThreadReport> {
    match transport {
        Transport::Uring => start.thread(id, || direct::<Uring>(id, start.shared.clone(), out)),
        Transport::Epoll => start.thread(id, || direct::<Epoll>(id, start.shared.clone(), out)),
        Transport::Hyper => start.thread(id, || through_hyper(id, start.shared.clone(), out)),
    }
}

fn direct<I: Io>(
    id: u32,
    shared: Arc<Shared>,
    out: UnboundedSender<Kept>,
) -> io::Result<impl FnOnce(Nanos) -> ThreadFigures> {
    let mut direct = Direct::<I>::open(id, shared, out)?;
    direct.open_ahead()?;
    Ok(move |t0| direct.run(t0))
}

fn through_hyper(
    id: u32,
    shared: Arc<Shared>,
    out: UnboundedSender<Kept>,
) -> io::Result<impl FnOnce(Nanos) -> ThreadFigures> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .event_interval(EVENT_INTERVAL)
        .build_local(LocalOptions::default())?;
    let worker = runtime.block_on(async {
        let worker = Worker::new(id, shared, out)?;
        worker.open_ahead().await;
        Ok::<_, io::Error>(worker)
    })?;
    Ok(move |t0| {
        let figures = runtime.block_on(worker.run(t0));
        // Its connections need the runtime to be there when they go.
        drop(worker);
        figures
    })
}
