//! The tools as programs: what the server answers and logs, and that the clients count it right.

use bench_limit::{FloorReport, LogEntry, Mock, Place, TimerReport, monotonic};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

fn mock(options: &str, folder: &Path) -> Mock {
    let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
    let program = Path::new(env!("CARGO_BIN_EXE_limit-mock"));
    Mock::start(program, &options, Place::default(), &folder.join("log")).expect("start the mock")
}

fn json<T: serde::de::DeserializeOwned>(program: &str, options: &str) -> T {
    let output =
        Command::new(program).args(["--core", "-1"]).args(options.split_whitespace()).output().expect("run a tool");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

/// Reads until what came ends as given.
fn read_until(socket: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(end.as_bytes()) {
        socket.read_exact(&mut byte).expect("read an answer");
        text.push(byte[0]);
    }
    String::from_utf8(text).expect("it is text")
}

#[test]
fn one_connection_asks_for_models_and_streams() {
    let folder = tempfile::tempdir().unwrap();
    let mock = mock("--mode paced --itl-us 1000 --tokens 3", folder.path());
    let start = monotonic();
    let mut socket = TcpStream::connect(("127.0.0.1", mock.port())).unwrap();
    socket.write_all(b"GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let models = read_until(&mut socket, "]}");
    assert!(models.starts_with("HTTP/1.1 200 OK\r\n") && models.contains("\r\ncontent-length: 57\r\n"), "{models}");
    assert!(
        models.ends_with("\r\n\r\n{\"object\":\"list\",\"data\":[{\"id\":\"mock\",\"object\":\"model\"}]}"),
        "{models}"
    );
    for i in 0..2 {
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nX-Request-Id: bench-7-0-{i}-0\r\ncontent-length: 200000\r\n"
        );
        for part in [head.as_bytes(), b"\r\n{", &[b' '; 199_998], b"}"] {
            socket.write_all(part).unwrap();
        }
        let answer = read_until(&mut socket, "0\r\n\r\n");
        assert_eq!(answer.matches("chat.completion.chunk").count(), 3, "{answer}");
    }
    let log = mock.stop().unwrap();
    assert_eq!(log.iter().map(LogEntry::request_and_attempt).collect::<Vec<_>>(), [Some((0, 0)), Some((1, 0))]);
    for entry in &log {
        assert_eq!(entry.sent_ns.len(), 3);
        assert!(
            entry.sent_ns.is_sorted() && start < entry.received_ns && entry.received_ns + 1_000_000 <= entry.sent_ns[0]
        );
    }
}

#[test]
fn a_server_that_nobody_asked_logs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(mock("--mode sync", folder.path()).stop().unwrap(), []);
}

#[test]
fn both_clients_count_the_same_at_every_level() {
    let folder = tempfile::tempdir().unwrap();
    for server in ["--mode fast --per-write 7", "--mode paced --itl-us 500", "--mode sync --itl-us 500"] {
        let mock = mock(&format!("{server} --tokens 20 --stamp 1"), folder.path());
        for client in ["--engine epoll", "--engine epoll --nap-us 200", "--engine uringmsg"] {
            for level in 0..3 {
                let options =
                    format!("{client} --level {level} --conc 8 --reqs 30 --tokens 20 --lag 1 --port {}", mock.port());
                let report: FloorReport = json(env!("CARGO_BIN_EXE_limit-floor"), &options);
                assert_eq!((report.requests, report.chunks), (30, 600), "{server} {options}");
                assert_eq!(
                    (report.stamp.as_str(), report.stamp_error_p99_us.is_some()),
                    ("kernel", level > 0),
                    "{options}"
                );
                assert!(report.cpu_s > 0.0 && report.syscalls_per_chunk > 0.0, "{options}");
            }
        }
        let log = mock.stop().unwrap();
        assert_eq!(log.len(), 9 * 30);
        assert!(log.iter().all(|e| e.id == "floor" && e.sent_ns.len() == 20));
    }
}

#[test]
fn every_way_to_wait_makes_every_send() {
    for how in ["timerfd", "epoll2", "spin", "dedi"] {
        for bg in [0, 100] {
            let options = format!("--how {how} --rate 2000 --secs 0.2 --bg {bg}");
            let report: TimerReport = json(env!("CARGO_BIN_EXE_limit-timer"), &options);
            assert!((300..500).contains(&report.sends), "{report:?}");
            assert!(0.0 <= report.p50_us && report.p50_us <= report.max_us, "{report:?}");
        }
    }
}

#[test]
fn mistakes_are_told() {
    for (program, options, message) in [
        (env!("CARGO_BIN_EXE_limit-mock"), "--mode slow", "`slow` is no mode"),
        (env!("CARGO_BIN_EXE_limit-floor"), "--level 3", "there is no level 3"),
        (env!("CARGO_BIN_EXE_limit-timer"), "--how tokio", "`tokio` is no way"),
        (env!("CARGO_BIN_EXE_limit-timer"), "--rate 0", "`--rate` is above 0"),
    ] {
        let output = Command::new(program).args(options.split_whitespace()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(message), "{stderr}");
    }
}
