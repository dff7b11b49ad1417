//! What goes wrong between client and server.

use crate::common::{self, After, Server, chunk, content, finish, good_stream, send, whole};
use bench_core::clock::Nanos;
use bench_core::outcome::Outcome;
use bench_core::record::RequestRecord;
use std::io::Write;
use std::net::TcpListener;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};

/// Answers every request with these bytes.
fn answering(bytes: Vec<u8>, after: After) -> Server {
    Server::start(move |stream, _| {
        send(stream, &bytes);
        after
    })
}

fn stream_of(events: &[String], end: &[u8]) -> Vec<u8> {
    let mut out = common::STREAM_HEAD.to_vec();
    events.iter().for_each(|e| out.extend(chunk(e.as_bytes())));
    out.extend(end);
    out
}

#[test]
fn a_refused_connection_is_a_connect_error() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let row = common::one(&format!("http://127.0.0.1:{port}"));
    assert_eq!(row.outcome, Outcome::ConnectError);
    assert!(row.error.unwrap().contains(&port.to_string()));
    assert!(row.sent.is_none() && row.admitted.is_some() && row.connection_reused.is_none());
}

#[test]
fn an_error_status_says_what_the_server_said() {
    let body = br#"{"error":{"message":"no such model","code":404}}"#;
    let row = common::one(&answering(whole("404 Not Found", "application/json", body), After::Keep).url);
    assert_eq!((row.outcome, row.http_status), (Outcome::HttpError, Some(404)));
    assert_eq!(row.error.as_deref(), Some("http status 404: no such model"));
    assert!(row.output_text.is_none() && row.events.is_none() && row.streamed.is_none());
    let redirect = b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(common::one(&answering(redirect.to_vec(), After::Keep).url).outcome, Outcome::HttpError);
}

#[test]
fn an_answer_that_is_not_streamed_has_no_token_times() {
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":4,"completion_tokens":2}}"#;
    let row = common::one(&answering(whole("200 OK", "application/json", body.as_bytes()), After::Keep).url);
    assert_eq!((row.outcome, row.streamed), (Outcome::Complete, Some(false)));
    assert_eq!((row.first_token, row.first_content, row.last_token, &row.events), (None, None, None, &None));
    assert_eq!((row.output_tokens, row.prompt_tokens), (Some(2), Some(4)));
    assert_eq!(row.output_text.as_deref(), Some("Hello"));
    assert!(row.end > row.sent.unwrap());
}

#[test]
fn an_error_object_in_a_good_status_is_a_server_error() {
    let body = br#"{"error":{"message":"overloaded"}}"#;
    let row = common::one(&answering(whole("200 OK", "application/json", body), After::Keep).url);
    assert_eq!((row.outcome, row.error.as_deref()), (Outcome::ServerError, Some("overloaded")));
}

#[test]
fn bodies_that_cannot_be_read_are_invalid() {
    let event = |data: &str| format!("data: {data}\n\n");
    let good = content("x");
    for (what, bytes) in [
        ("json", stream_of(&[good.clone(), event("{not json")], b"0\r\n\r\n")),
        ("html", whole("200 OK", "text/html", b"<html>gateway</html>")),
        ("chunk size", stream_of(std::slice::from_ref(&good), b"zz\r\n")),
        ("no http", b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec()),
        ("gzip", {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n";
            [format!("{head}content-length: 9\r\n\r\n").as_bytes(), b"not gzip!"].concat()
        }),
    ] {
        let row = common::one(&answering(bytes, After::Close).url);
        assert_eq!(row.outcome, Outcome::InvalidResponse, "{what}: {row:#?}");
        assert!(row.error.is_some(), "{what}");
    }
}

#[test]
fn invalid_utf8_is_replaced() {
    let mut bytes = common::STREAM_HEAD.to_vec();
    let broken = [b"data: {\"choices\":[{\"delta\":{\"content\":\"a".as_slice(), b"\xff", b"\"}}]}\n\n"].concat();
    bytes.extend(chunk(&broken));
    bytes.extend(chunk(finish("stop").as_bytes()));
    bytes.extend(b"0\r\n\r\n");
    let row = common::one(&answering(bytes, After::Keep).url);
    assert_eq!((row.outcome, row.output_text.as_deref()), (Outcome::Complete, Some("a\u{fffd}")));
}

#[test]
fn the_end_of_an_answer() {
    let row = |bytes: Vec<u8>, after| common::one(&answering(bytes, after).url);
    // No finish reason; no content either; a close before the last chunk; a body that ends by its close.
    let cut = row(stream_of(&[content("x"), "data: [DONE]\n\n".to_owned()], b"0\r\n\r\n"), After::Keep);
    assert_eq!(cut.outcome, Outcome::Truncated);
    assert_eq!(row(stream_of(&["data: [DONE]\n\n".to_owned()], b"0\r\n\r\n"), After::Keep).outcome, Outcome::Empty);
    assert_eq!(row(stream_of(&[content("x"), finish("stop")], b""), After::Close).outcome, Outcome::Reset);
    let until_close = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let bytes = [until_close, &content("x"), &finish("stop")].concat().into_bytes();
    assert_eq!(row(bytes, After::Close).outcome, Outcome::Complete);
    // The last event lacks its blank line: taken where it is complete.
    let last = finish("stop").trim_end().to_owned();
    assert_eq!(row(stream_of(&[content("x"), last], b"0\r\n\r\n"), After::Keep).outcome, Outcome::Complete);
    let broken = finish("stop").trim_end_matches("}\n\n").to_owned();
    assert_eq!(row(stream_of(&[content("x"), broken], b"0\r\n\r\n"), After::Keep).outcome, Outcome::Truncated);
    // Content-length not reached.
    let short = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{".to_vec();
    assert_eq!(row(short, After::Close).outcome, Outcome::Reset);
    // Nothing at all on a fresh connection.
    assert_eq!(row(Vec::new(), After::Close).outcome, Outcome::Reset);
}

#[test]
fn limits_on_size_end_an_answer() {
    let big = content(&"x".repeat(5000));
    let server = answering(stream_of(&[content("a"), big, finish("stop")], b"0\r\n\r\n"), After::Keep);
    for (event, response) in [(4000, 1 << 20), (1 << 20, 4000)] {
        let mut job = common::job(&server.url, 1);
        job.limits.max_event_bytes = event;
        job.limits.max_response_bytes = response;
        let row = common::only(common::run(job).0);
        assert_eq!(row.outcome, Outcome::InvalidResponse);
        assert!(row.error.unwrap().contains("4000 bytes"));
    }
}

/// A server that says `start` and then nothing, until the test is over.
fn silent(start: Vec<u8>) -> (Server, mpsc::Sender<()>) {
    let (over, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let server = Server::start(move |stream, _| {
        send(stream, &start);
        let _ = wait.lock().unwrap().recv();
        After::Close
    });
    (server, over)
}

fn timed_out(start: Vec<u8>, limit: impl Fn(&mut bench_core::load::Limits)) -> RequestRecord {
    let (server, _over) = silent(start);
    let mut job = common::job(&server.url, 1);
    limit(&mut job.limits);
    let row = common::only(common::run(job).0);
    assert_eq!(row.outcome, Outcome::Timeout, "{row:#?}");
    row
}

#[test]
fn each_time_limit_ends_a_silent_answer() {
    let wait = Nanos::from_millis(60);
    let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n".to_owned();
    let row = timed_out(Vec::new(), |l| l.request_timeout = wait);
    assert!(row.error.unwrap().contains("did not end within 60ms"));
    assert!(row.end >= row.sent.unwrap() + wait && row.first_byte.is_none());
    let row = timed_out(stream_of(&[role], b""), |l| l.first_token_timeout = Some(wait));
    assert!(row.error.unwrap().contains("no generated content came within 60ms"));
    assert!(row.first_byte.is_some() && row.first_token.is_none());
    let row = timed_out(stream_of(&[content("x")], b""), |l| {
        l.first_token_timeout = Some(Nanos::from_secs(60));
        l.inter_token_timeout = Some(wait);
    });
    assert!(row.error.unwrap().contains("no further event came within 60ms"));
    assert!(row.end >= row.first_token.unwrap() + wait);
    assert_eq!(row.output_text.as_deref(), Some("x"));
    let row = timed_out(stream_of(&[content("x")], b""), |l| l.drain_timeout = Some(wait));
    assert!(row.error.unwrap().contains("drain timeout"));
}

#[test]
fn a_server_that_closes_after_each_answer_costs_nothing() {
    let server = answering(good_stream(), After::Close);
    let (rows, _) = common::run(common::job(&server.url, 20));
    let complete = rows.iter().filter(|r| r.outcome == Outcome::Complete).count();
    assert_eq!(complete, 20, "{rows:#?}");
    assert!(rows.iter().all(|r| matches!(r.outcome, Outcome::Complete | Outcome::StaleConnection)));
}

#[test]
fn a_stale_connection_is_a_row_and_the_request_goes_again() {
    // The second request on a connection is read and never answered.
    let server = Server::start(|stream, seen| {
        if seen.on_connection > 0 {
            return After::Close;
        }
        send(stream, &good_stream())
    });
    let (rows, _) = common::run(common::job(&server.url, 3));
    let seen: Vec<_> = rows.iter().map(|r| (r.request, r.attempt, r.outcome, r.connection_reused)).collect();
    assert_eq!(
        seen,
        [
            (0, 0, Outcome::Complete, Some(false)),
            (1, 0, Outcome::StaleConnection, Some(true)),
            (1, 1, Outcome::Complete, Some(false)),
            (2, 0, Outcome::StaleConnection, Some(true)),
            (2, 1, Outcome::Complete, Some(false)),
        ]
    );
    let (stale, again) = (&rows[1], &rows[2]);
    assert_eq!(stale.scheduled, again.scheduled);
    assert!(again.sent.unwrap() > stale.sent.unwrap() && stale.first_byte.is_none());
}

#[test]
fn a_connection_that_closed_while_idle_is_noticed_before_use() {
    // The close is certain to be there before the second request: the answer carries it.
    let server = Server::start(|stream, _| {
        let _ = stream.write_all(&good_stream());
        After::Close
    });
    let mut job = common::job(&server.url, 2);
    job.spec.kind = bench_core::load::LoadKind::Closed { concurrency: 1, think_time: Nanos::from_millis(50) };
    let (rows, _) = common::run(job);
    assert_eq!(rows.len(), 2, "{rows:#?}");
    assert!(rows.iter().all(|r| r.outcome == Outcome::Complete && r.connection_reused == Some(false)));
}

#[test]
fn connections_are_kept_and_headers_are_right() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = heard.clone();
    let server = Server::start(move |stream, seen| {
        let header = |name: &str| seen.header(name).unwrap_or("-").to_owned();
        let names = ["host", "user-agent", "content-type", "authorization", "accept-encoding", "x-request-id"];
        let all = names.map(header);
        told.lock().unwrap().push((seen.connection, seen.path.clone(), all, seen.body.clone()));
        send(stream, &good_stream())
    });
    let mut job = common::job(&format!("{}/v1", server.url), 3);
    job.targets[0].headers.push(("Authorization".to_owned(), "Bearer hush".to_owned()));
    let (rows, _) = common::run(job);
    assert_eq!(rows.iter().map(|r| r.connection_reused.unwrap()).collect::<Vec<_>>(), [false, true, true]);
    let heard = heard.lock().unwrap();
    for (i, (connection, path, [host, agent, kind, authorization, encoding, id], body)) in heard.iter().enumerate() {
        assert_eq!((*connection, path.as_str()), (0, "/v1/chat/completions"));
        assert_eq!(*host, format!("127.0.0.1:{}", server.port()));
        assert!(agent.starts_with("bench-host/") && kind == "application/json" && encoding == "identity");
        assert_eq!(authorization, "Bearer hush");
        assert!(id.starts_with("bench-") && id.ends_with(&format!("-{i}-0")), "{id}");
        assert_eq!(body, format!(r#"{{"n":{i},"stream":true}}"#).as_bytes());
    }
    let rows = format!("{rows:?}");
    assert!(!rows.contains("hush"));
}

#[test]
fn a_probe_gets_any_answer() {
    let server = Server::start(|stream, seen| {
        assert_eq!(seen.method, "GET");
        let status = if seen.path == "/v1/models?x=1" { "200 OK" } else { "503 Service Unavailable" };
        send(stream, &whole(status, "application/json", b"{}"))
    });
    let wait = std::time::Duration::from_secs(20);
    let key = [("authorization".to_owned(), "Bearer hush".to_owned())];
    let answer = bench_load::http::get(&format!("{}/v1/models?x=1", server.url), &key, wait).unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (200, b"{}".as_slice()));
    assert!(answer.headers.contains(&("content-type".to_owned(), "application/json".to_owned())));
    assert_eq!(bench_load::http::get(&server.url, &[], wait).unwrap().status, 503);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = bench_load::http::get(&format!("http://127.0.0.1:{port}/health"), &key, wait).unwrap_err();
    assert!(refused.to_string().contains(&port.to_string()) && !refused.to_string().contains("hush"));
    let (silent, _over) = silent(Vec::new());
    let late = bench_load::http::get(&silent.url, &[], std::time::Duration::from_millis(50)).unwrap_err();
    assert!(matches!(late, bench_load::http::HttpError::TimedOut(..)), "{late}");
}

#[test]
fn cold_connections_are_opened_for_each_request_and_measured() {
    let server = Server::start(|stream, _| send(stream, &good_stream()));
    let mut job = common::job(&server.url.replace("127.0.0.1", "localhost"), 3);
    (job.cold, job.transport) = (true, None);
    let (rows, stats) = common::run(job);
    assert_eq!(stats.transport, bench_load::Transport::Hyper);
    for row in &rows {
        assert_eq!((row.outcome, row.connection_reused), (Outcome::Complete, Some(false)), "{row:#?}");
        assert!(row.dns.is_some() && row.connect.is_some() && row.tls.is_none(), "{row:#?}");
        assert!(row.sent.unwrap() >= row.scheduled + row.dns.unwrap() + row.connect.unwrap(), "{row:#?}");
    }
    // What was there before the load was not opened for a request.
    let (rows, _) = common::run(common::job(&server.url, 2));
    assert!(rows.iter().all(|r| r.connect.is_none() && r.dns.is_none()), "{rows:#?}");
}
