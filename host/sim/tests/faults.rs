//! Every scripted fault as a client sees it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use bench_core::clock::Nanos;
use bench_sim::{SimConfig, SimHandle, SimServer};
use common::{Answer, Client, End, ask, chat};
use serde_json::json;
use std::time::Duration;

fn sim(fault: &str) -> SimHandle {
    let faults = vec![fault.parse().unwrap()];
    let config = SimConfig { ttft: Nanos::from_millis(2), itl: Nanos::from_millis(1), faults, ..SimConfig::default() };
    SimServer::spawn(config).unwrap()
}

/// The second request of two, the first being well; on connections of their own.
fn second(fault: &str) -> Answer {
    let sim = sim(fault);
    let well = ask(sim.addr(), &chat(6, &json!({})));
    assert!(well.done() && well.contents().len() == 6, "{fault}: {well:?}");
    let answer = Client::new(sim.addr())
        .patience(Duration::from_secs(1))
        .post("/v1/chat/completions", "", &chat(6, &json!({"stream_options": {"include_usage": true}})))
        .unwrap();
    let third = ask(sim.addr(), &chat(6, &json!({})));
    assert!(third.done(), "{fault}: one request is struck, not the server");
    answer
}

#[test]
fn refuse_closes_at_accept() {
    let sim = sim("refuse:every=2");
    assert!(ask(sim.addr(), &chat(1, &json!({}))).done());
    assert!(Client::new(sim.addr()).post("/v1/chat/completions", "", &chat(1, &json!({}))).is_none());
    assert!(ask(sim.addr(), &chat(1, &json!({}))).done());
}

#[test]
fn silent_never_answers() {
    let sim = sim("silent:every=1");
    let mut client = Client::new(sim.addr()).patience(Duration::from_millis(300));
    assert!(client.post("/v1/chat/completions", "", &chat(1, &json!({}))).is_none());
    assert!(!client.is_closed());
    assert_eq!(Client::new(sim.addr()).get("/health").unwrap().status, 200);
}

#[test]
fn status_is_an_http_error() {
    let answer = second("status:every=2,code=429");
    assert_eq!((answer.status, answer.json()["error"]["code"].as_u64()), (429, Some(429)));
}

#[test]
fn error_in_stream_is_an_object_in_a_200() {
    let answer = second("error-in-stream:every=2,after=3");
    assert_eq!((answer.status, answer.end, answer.contents().len()), (200, End::Whole, 3));
    assert!(answer.objects().last().unwrap()["error"]["message"].is_string());
    assert_eq!(answer.finish(), None);
    assert!(answer.done());
}

#[test]
fn reset_breaks_the_connection() {
    let answer = second("reset:every=2,after=3");
    assert_eq!((answer.end, answer.contents().len()), (End::Reset, 3));
}

#[test]
fn end_without_finish_is_well_formed() {
    let answer = second("end-without-finish:every=2,after=3");
    assert_eq!((answer.end, answer.contents().len(), answer.finish()), (End::Whole, 3, None));
    assert!(!answer.done());
}

#[test]
fn stall_keeps_the_connection_open() {
    let answer = second("stall:every=2,after=3");
    assert_eq!((answer.end, answer.contents().len()), (End::Silence, 3));
}

#[test]
fn abort_is_a_finish_reason() {
    let answer = second("abort:every=2,after=3");
    assert_eq!((answer.end, answer.contents().len()), (End::Whole, 3));
    assert_eq!(answer.finish().as_deref(), Some("abort"));
    assert_eq!(answer.objects().last().unwrap()["usage"]["completion_tokens"], 3);
    assert!(answer.done());
}

#[test]
fn slow_drip_is_right_in_single_bytes() {
    let answer = second("slow-drip:every=2");
    assert_eq!((answer.end, answer.contents().len(), answer.finish().as_deref()), (End::Whole, 6, Some("length")));
    assert!(answer.done());
    // A reader that is late gets several at once: on a busy machine it takes more than one answer to see them alone.
    let sim = sim("slow-drip:every=1");
    let singles = || ask(sim.addr(), &chat(6, &json!({}))).reads.iter().filter(|n| **n == 1).count();
    assert!((0..50).any(|_| singles() > 10));
}

#[test]
fn garbage_is_no_json_and_the_stream_goes_on() {
    let answer = second("garbage:every=2,after=3");
    assert_eq!((answer.end, answer.contents().len(), answer.done()), (End::Whole, 6, true));
    let bad = answer.events().into_iter().filter(|e| serde_json::from_str::<serde_json::Value>(e).is_err());
    assert_eq!(bad.count(), 2, "the garbage and [DONE]");
}

#[test]
fn empty_has_no_body() {
    let answer = second("empty:every=2");
    assert_eq!((answer.status, answer.end, answer.body.len()), (200, End::Whole, 0));
    assert!(answer.head.contains("text/event-stream"));
}

#[test]
fn faults_strike_whole_answers_too() {
    let whole = |fault: &str| {
        let sim = sim(fault);
        Client::new(sim.addr()).patience(Duration::from_millis(300)).post(
            "/v1/chat/completions",
            "",
            &chat(6, &json!({"stream": false})),
        )
    };
    let finish = |fault: &str| {
        let answer = whole(fault).unwrap().json();
        (answer["choices"][0]["finish_reason"].clone(), answer["usage"]["completion_tokens"].clone())
    };
    assert_eq!(finish("abort:every=1,after=4"), (json!("abort"), json!(4)));
    assert_eq!(finish("end-without-finish:every=1,after=4"), (json!(null), json!(4)));
    assert!(whole("error-in-stream:every=1").unwrap().json()["error"].is_object());
    assert!(serde_json::from_slice::<serde_json::Value>(&whole("garbage:every=1").unwrap().body).is_err());
    assert!(whole("reset:every=1").is_none());
    assert!(whole("stall:every=1").is_none());
}
