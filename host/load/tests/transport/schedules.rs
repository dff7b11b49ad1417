//! Open and closed loops, caps, durations, draining and cutting.

use crate::common::{self, After, STREAM_HEAD, Server, chunk, closed, content, good_stream, send, spec};
use bench_core::clock::{Clock, MonotonicClock, Nanos};
use bench_core::load::LoadKind;
use bench_core::outcome::Outcome;
use bench_load::Control;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

fn quick() -> Server {
    Server::start(|stream, _| send(stream, &good_stream()))
}

/// A gate that holds answers back.
#[derive(Default)]
struct Gate {
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Gate {
    /// Waits at the gate until it is open.
    fn wait(&self) {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        self.changed.notify_all();
        while !state.1 {
            state = self.changed.wait(state).unwrap();
        }
    }

    /// Waits until `n` are at the gate.
    fn until(&self, n: usize) {
        let mut state = self.state.lock().unwrap();
        while state.0 < n {
            state = self.changed.wait(state).unwrap();
        }
    }

    fn open(&self) {
        self.state.lock().unwrap().1 = true;
        self.changed.notify_all();
    }
}

/// Sends one token, then waits at the gate.
fn gated() -> (Server, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let server = Server::start(move |stream, _| {
        send(stream, &[STREAM_HEAD, &chunk(content("x").as_bytes())].concat());
        held.wait();
        let rest: Vec<u8> = good_stream()[STREAM_HEAD.len()..].to_vec();
        send(stream, &rest)
    });
    (server, gate)
}

#[test]
fn a_burst_is_sent_at_once_over_connections_opened_before() {
    let (server, gate) = gated();
    let mut job = common::job(&server.url, 100);
    job.spec = spec(LoadKind::Burst, 100);
    job.threads = Some(2);
    let opener = gate.clone();
    let watch = std::thread::spawn(move || {
        opener.until(100);
        opener.open();
    });
    let (rows, stats) = common::run(job);
    watch.join().unwrap();
    assert_eq!(rows.len(), 100);
    let last_sent = rows.iter().map(|r| r.sent.unwrap()).max().unwrap();
    for row in &rows {
        assert_eq!(row.outcome, Outcome::Complete);
        assert_eq!((row.scheduled, row.admitted), (stats.t0, Some(stats.t0)));
        assert_eq!(row.connection_reused, Some(false));
        assert!(row.end > last_sent, "all were in flight together");
    }
    assert_eq!(stats.send_lateness.count, 100);
}

#[test]
fn a_closed_loop_keeps_its_number_in_flight() {
    for threads in [1, 2] {
        let most = Arc::new(Mutex::new((0usize, 0usize)));
        let count = most.clone();
        let server = Server::start(move |stream, _| {
            {
                let mut c = count.lock().unwrap();
                c.0 += 1;
                c.1 = c.1.max(c.0);
            }
            // Counted down before the answer: the client can't have sent the next by then.
            count.lock().unwrap().0 -= 1;
            send(stream, &good_stream())
        });
        let mut job = common::job(&server.url, 60);
        job.spec.kind = closed(5);
        job.threads = Some(threads);
        let (rows, _) = common::run(job);
        assert_eq!(rows.len(), 60);
        assert!(most.lock().unwrap().1 <= 5);
        // In flight by the rows' own times.
        let mut edges: Vec<(Nanos, i32)> = rows.iter().flat_map(|r| [(r.scheduled, 1), (r.end, -1)]).collect();
        edges.sort_by_key(|&(t, d)| (t, d));
        let mut open = 0;
        for (_, d) in edges {
            open += d;
            assert!(open <= 5);
        }
        let opened = rows.iter().filter(|r| r.connection_reused == Some(false)).count();
        assert_eq!(opened, 5, "one connection for each slot");
    }
}

#[test]
fn think_time_parts_an_answer_from_the_next_request() {
    let server = quick();
    let mut job = common::job(&server.url, 4);
    let think_time = Nanos::from_millis(15);
    job.spec.kind = LoadKind::Closed { concurrency: 1, think_time };
    let (rows, _) = common::run(job);
    for pair in rows.windows(2) {
        assert_eq!(pair[1].scheduled, pair[0].end + think_time);
        assert!(pair[1].sent.unwrap() >= pair[1].scheduled);
    }
}

#[test]
fn an_open_loop_sends_when_due_and_a_cap_shows_as_waiting() {
    let server = quick();
    let mut job = common::job(&server.url, 20);
    job.spec = spec(LoadKind::Constant { rate: 400.0 }, 20);
    let (rows, stats) = common::run(job);
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row.scheduled, stats.t0 + Nanos(2_500_000 * i as u64));
        assert_eq!(row.admitted, Some(row.scheduled));
        assert!(row.sent.unwrap() >= row.scheduled);
    }

    let (server, gate) = gated();
    let mut job = common::job(&server.url, 6);
    job.spec = spec(LoadKind::Burst, 6);
    job.spec.max_concurrency = Some(2);
    let opener = gate.clone();
    let watch = std::thread::spawn(move || {
        opener.until(2);
        opener.open();
    });
    let (rows, stats) = common::run(job);
    watch.join().unwrap();
    assert!(rows.iter().all(|r| r.outcome == Outcome::Complete && r.scheduled == stats.t0));
    let waited = rows.iter().filter(|r| r.admitted.unwrap() > r.scheduled).count();
    assert_eq!(waited, 4);
    let first_end = rows.iter().map(|r| r.end).min().unwrap();
    assert!(rows[2..].iter().all(|r| r.admitted.unwrap() >= first_end));
    let order: Vec<_> = rows.iter().map(|r| r.admitted).collect();
    assert!(order.is_sorted(), "first come, first served");
}

#[test]
fn nothing_is_sent_after_the_duration() {
    let server = quick();
    let duration = Nanos::from_millis(120);
    let mut job = common::job(&server.url, 3);
    job.cycle = true;
    job.spec = spec(closed(2), 0);
    job.spec.requests = None;
    job.spec.duration = Some(duration);
    let (rows, stats) = common::run(job);
    assert!(rows.len() > 3, "samples start over");
    assert_eq!(rows.iter().map(|r| r.request).collect::<Vec<_>>(), (0..rows.len() as u64).collect::<Vec<_>>());
    assert_eq!(rows[4].dataset_sample.as_deref(), Some("sample-1"));
    assert!(rows.iter().all(|r| r.scheduled < stats.t0 + duration && r.outcome == Outcome::Complete));

    // The clock is looked at just before the request is handed over: a thread that loses its core in
    // between may be late by that.
    let late = rows.iter().filter(|r| r.sent.unwrap() >= stats.t0 + duration).count();
    assert!(late <= 2, "one for each slot at most: {late}");

    // An open loop: what was due and found no slot is a row.
    let (server, gate) = gated();
    let mut job = common::job(&server.url, 50);
    job.spec = spec(LoadKind::Constant { rate: 100.0 }, 50);
    job.spec.duration = Some(duration);
    job.spec.max_concurrency = Some(1);
    let clock = MonotonicClock::start();
    let control = Arc::new(Control::new());
    let (opener, watched) = (gate.clone(), control.clone());
    let watch = std::thread::spawn(move || {
        // Eleven of twelve are dropped once the duration is over.
        while watched.progress().done < 11 {
            std::thread::yield_now();
        }
        opener.open();
    });
    let (rows, _) = common::run_with(job, &clock, control);
    watch.join().unwrap();
    assert_eq!(rows.len(), 12, "only those due before the end");
    assert_eq!(rows[0].outcome, Outcome::Complete);
    for row in &rows[1..] {
        assert_eq!((row.outcome, row.sent, row.admitted), (Outcome::Dropped, None, None));
    }
}

#[test]
fn draining_lets_answers_end_and_drops_what_waits() {
    let (server, gate) = gated();
    let control = Arc::new(Control::new());
    let mut job = common::job(&server.url, 1000);
    job.spec = spec(LoadKind::Constant { rate: 200.0 }, 1000);
    job.spec.max_concurrency = Some(2);
    let (told, opener) = (control.clone(), gate.clone());
    let watch = std::thread::spawn(move || {
        opener.until(2);
        told.drain();
        // The load can't end before the gate opens; what waits is dropped at once.
        opener.open();
    });
    let (rows, _) = common::run_with(job, &MonotonicClock::start(), control.clone());
    watch.join().unwrap();
    let complete = rows.iter().filter(|r| r.outcome == Outcome::Complete).count();
    assert!((2..10).contains(&complete), "{complete}");
    assert!(rows.len() < 200, "what was not due is no row: {}", rows.len());
    assert!(rows.iter().all(|r| matches!(r.outcome, Outcome::Complete | Outcome::Dropped)));
    assert_eq!(control.progress().done, rows.len() as u64);
}

#[test]
fn cutting_keeps_what_came() {
    let (server, gate) = gated();
    let control = Arc::new(Control::new());
    let mut job = common::job(&server.url, 10);
    job.spec.kind = closed(4);
    let (told, held) = (control.clone(), gate.clone());
    let watch = std::thread::spawn(move || {
        held.until(4);
        // One token of each is in the client's hands.
        while told.progress().events < 4 {
            std::thread::yield_now();
        }
        told.cut();
    });
    let (rows, _) = common::run_with(job, &MonotonicClock::start(), control.clone());
    watch.join().unwrap();
    gate.open();
    assert_eq!(rows.len(), 4, "{rows:#?}");
    for row in rows {
        assert_eq!(row.outcome, Outcome::Cancelled);
        assert_eq!(row.output_text.as_deref(), Some("x"));
        assert!(row.first_token.is_some());
    }
    assert_eq!(control.progress().in_flight, 0);
}

#[test]
fn requests_go_round_the_servers() {
    let counts: Vec<Arc<AtomicUsize>> = (0..3).map(|_| Arc::default()).collect();
    let servers: Vec<Server> = counts
        .iter()
        .map(|count| {
            let count = count.clone();
            Server::start(move |stream, _| {
                count.fetch_add(1, Ordering::SeqCst);
                send(stream, &good_stream())
            })
        })
        .collect();
    let mut job = common::job(&servers[0].url, 12);
    job.targets = servers.iter().map(|s| bench_load::Target { url: s.url.clone(), headers: vec![] }).collect();
    job.spec.kind = closed(4);
    let (rows, _) = common::run(job);
    assert!(rows.iter().all(|r| u64::from(r.replica) == r.request % 3));
    assert!(counts.iter().all(|c| c.load(Ordering::SeqCst) == 4));
}

#[test]
fn a_dead_server_does_not_use_up_a_closed_loop() {
    let server = Server::start(|_, _| After::Close);
    let dead = format!("http://127.0.0.1:{}", {
        let l = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        l.local_addr().unwrap().port()
    });
    drop(server);
    let mut job = common::job(&dead, 1000);
    job.spec.kind = closed(1);
    job.spec.duration = Some(Nanos::from_millis(250));
    let clock = MonotonicClock::start();
    let (rows, _) = common::run_with(job, &clock, Arc::default());
    assert!((1..=3).contains(&rows.len()), "{}", rows.len());
    assert!(clock.now() < Nanos::from_secs(20));
}

#[test]
fn nothing_is_sent_before_the_load_starts() {
    // A short queue that nobody empties: some connections are not there at once.
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None).unwrap();
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    rustix::net::bind(&socket, &any).unwrap();
    rustix::net::listen(&socket, 1).unwrap();
    let listener = std::net::TcpListener::from(socket);
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut job = common::job(&url, 6);
    job.spec = spec(closed(6), 6);
    job.limits.connect_timeout = Nanos::from_millis(300);
    job.limits.request_timeout = Nanos::from_millis(300);
    let clock = MonotonicClock::start();
    let (rows, stats) = common::run_with(job, &clock, Arc::new(Control::new()));
    let requests: Vec<u64> = rows.iter().filter(|r| r.attempt == 0).map(|r| r.request).collect();
    assert_eq!(requests, [0, 1, 2, 3, 4, 5], "{rows:#?}");
    assert!(rows.iter().all(|r| r.scheduled >= stats.t0 && r.sent.is_none_or(|s| s >= stats.t0)), "{rows:#?}");
    drop(listener);
}
