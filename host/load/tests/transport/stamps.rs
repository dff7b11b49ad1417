//! Event times are the kernel's, for the read that brought the event's last byte: plainly, below TLS and
//! below compression.

use crate::common::{self, chunk, content, finish};
use bench_core::clock::{Clock, MonotonicClock, Nanos};
use bench_core::outcome::Outcome;
use bench_core::record::{RequestRecord, Stamp};
use bench_load::{Control, Trust};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Stamps may be off by the clocks' placing.
const EARLY: Nanos = Nanos(50_000);
const EVENTS: usize = 20;

/// How each event is written.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    /// In one write.
    Whole,
    /// Its chunk's size, its first half, its second half and its end in writes of their own; the second
    /// half only when the first was read.
    Pieces,
    /// Two events in one write.
    Pairs,
}

/// Times of the writes that completed each event.
type Writes = Vec<(Nanos, Nanos)>;

/// Serves one answer, each event only when the client has the one before.
fn serve(stream: &mut (impl Read + Write), cut: Cut, gzip: bool, clock: MonotonicClock, control: &Control) -> Writes {
    common::read_request(&mut BufReader::new(&mut *stream), 0, 0).unwrap();
    let encoding = if gzip { "content-encoding: gzip\r\n" } else { "" };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n";
    let mut put = |bytes: &[u8]| -> (Nanos, Nanos) {
        let before = clock.now();
        stream.write_all(bytes).unwrap();
        stream.flush().unwrap();
        (before, clock.now())
    };
    put(format!("{head}{encoding}\r\n").as_bytes());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut pack = |text: &str| {
        if !gzip {
            return text.as_bytes().to_vec();
        }
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.flush().unwrap();
        std::mem::take(encoder.get_mut())
    };
    let mut writes = Vec::new();
    let per_write = if cut == Cut::Pairs { 2 } else { 1 };
    for i in (0..EVENTS).step_by(per_write) {
        let text: String = (i..i + per_write).map(|i| content(&format!("t{i} "))).collect();
        let bytes = chunk(&pack(&text));
        let written = match cut {
            Cut::Pieces => {
                let (first, second) = bytes.split_at(bytes.len() / 2);
                put(&first[..3]);
                put(&first[3..]);
                let done = put(&second[..second.len() - 2]);
                put(&second[second.len() - 2..]);
                done
            }
            _ => put(&bytes),
        };
        writes.extend(std::iter::repeat_n(written, per_write));
        while control.progress().events < (i + per_write) as u64 {
            std::thread::yield_now();
        }
    }
    put(&chunk(&pack(&finish("stop"))));
    if gzip {
        put(&chunk(&encoder.finish().unwrap()));
    }
    put(b"0\r\n\r\n");
    writes
}

fn tls() -> Arc<ServerConfig> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let chain = vec![CertificateDer::from_pem_file(format!("{data}/server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(format!("{data}/server.key")).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap())
}

fn trust() -> Trust {
    Trust::with_pem(include_bytes!("../data/ca.pem")).unwrap()
}

fn measure(cut: Cut, gzip: bool, over_tls: bool) -> (RequestRecord, Writes) {
    let clock = MonotonicClock::start();
    let control = Arc::new(Control::new());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let writes = Arc::new(Mutex::new(Vec::new()));
    let (told, watched) = (writes.clone(), control.clone());
    let server = std::thread::spawn(move || {
        let mut stream: TcpStream = listener.accept().unwrap().0;
        stream.set_nodelay(true).unwrap();
        *told.lock().unwrap() = if over_tls {
            let mut stream = StreamOwned::new(ServerConnection::new(tls()).unwrap(), stream);
            serve(&mut stream, cut, gzip, clock, &watched)
        } else {
            serve(&mut stream, cut, gzip, clock, &watched)
        };
    });
    let scheme = if over_tls { "https" } else { "http" };
    let mut job = common::job(&format!("{scheme}://localhost:{port}"), 1);
    job.trust = trust();
    let (rows, stats) = common::run_with(job, &clock, control);
    server.join().unwrap();
    assert!(stats.reads > 0 && stats.reads_unstamped == 0, "{stats:?}");
    let writes = std::mem::take(&mut *writes.lock().unwrap());
    (common::only(rows), writes)
}

fn check(cut: Cut, gzip: bool, over_tls: bool) {
    let (row, writes) = measure(cut, gzip, over_tls);
    assert_eq!((row.outcome, row.stamp), (Outcome::Complete, Some(Stamp::Kernel)), "{row:#?}");
    assert!(row.stamp_lag.is_some());
    let events = row.events.as_ref().unwrap();
    let sent = row.sent.unwrap();
    let at: Vec<Nanos> = events.times_us().map(|us| sent + Nanos(us as u64 * 1000)).collect();
    assert_eq!(writes.len(), EVENTS);
    for (i, (before, after)) in writes.iter().enumerate() {
        assert!(at[i] + EARLY >= *before, "event {i} at {}, written from {before}", at[i]);
        // The next event was written only when this one was read.
        let next = writes[i + 1..].iter().map(|w| w.0).find(|w| w > before);
        assert!(next.is_none_or(|next| at[i] <= next), "event {i} at {}, written until {after}", at[i]);
        assert_eq!(events.merged[i], cut == Cut::Pairs, "event {i}");
    }
    assert_eq!(row.first_token.unwrap().0.abs_diff(at[0].0) / 1000, 0);
}

#[test]
fn each_event_has_its_own_stamp() {
    check(Cut::Whole, false, false);
    check(Cut::Pieces, false, false);
    check(Cut::Pairs, false, false);
}

#[test]
fn compression_keeps_the_stamps() {
    check(Cut::Whole, true, false);
    check(Cut::Pieces, true, false);
}

#[test]
fn tls_keeps_the_stamps() {
    check(Cut::Whole, false, true);
    check(Cut::Pieces, false, true);
    check(Cut::Pairs, true, true);
}

#[test]
fn an_unknown_authority_is_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = StreamOwned::new(ServerConnection::new(tls()).unwrap(), stream.unwrap());
            let _ = stream.read(&mut [0]);
        }
    });
    // The machine may trust nothing at all; then an authority is needed that is not the server's.
    let mut job = common::job(&format!("https://127.0.0.1:{port}"), 1);
    job.trust = Trust::with_pem(include_bytes!("../data/server.pem")).unwrap();
    let row = common::only(common::run(job).0);
    assert_eq!(row.outcome, Outcome::ConnectError, "{row:#?}");
    assert!(row.error.unwrap().contains("TLS"));
}
