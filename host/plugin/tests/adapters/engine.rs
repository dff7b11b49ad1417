//! Engine adapters that misbehave: every fault ends the call, names the adapter, and leaves the host whole.

use bench_core::adapter::{SettingValue, Settings};
use bench_core::decode::{EventKind, FramedResponse, Framing};
use bench_core::launch::{LaunchRequest, Model};
use bench_core::request::RequestSpec;
use bench_core::sample::{Prompt, Sampling};
use bench_plugin::{AdapterError, AdapterKind, Deadlines, EngineAdapter, Limits, PluginError};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

static ADAPTER: LazyLock<EngineAdapter> = LazyLock::new(|| {
    // Far beyond what a busy machine makes of these calls: only the loop's own test meets its deadline.
    adapter(Duration::from_secs(120))
});

fn adapter(plan: Duration) -> EngineAdapter {
    let deadlines = Deadlines { plan, ..Limits::default().deadlines };
    let host = crate::common::host(Limits { deadlines, ..Limits::default() });
    host.engine(crate::common::guest(&host, AdapterKind::Engine)).unwrap()
}

fn mode(mode: &str) -> Settings {
    Settings::from([("mode".to_owned(), SettingValue::Text(mode.to_owned()))])
}

fn fault(result: Result<impl std::fmt::Debug, PluginError>) -> String {
    match result {
        Err(PluginError::Fault { adapter, version, what, .. }) => {
            assert_eq!((adapter.as_str(), version.as_str()), ("bench_engine_misbehaving.wasm", "0.1.0"));
            what
        }
        other => panic!("not a fault: {other:?}"),
    }
}

fn breach(result: Result<impl std::fmt::Debug, PluginError>) -> String {
    match result {
        Err(PluginError::Contract { what, .. }) => what,
        other => panic!("not a breach of the contract: {other:?}"),
    }
}

#[test]
fn the_imports_are_the_powers() {
    assert!(ADAPTER.source().imports().contains(&"bench:host/log@0.1.0".to_owned()));
    assert!(ADAPTER.source().imports().iter().all(|i| i.starts_with("bench:")), "{:?}", ADAPTER.source().imports());
    assert_eq!(ADAPTER.manifest().info.id, "misbehaving");
}

#[test]
fn a_trap_names_the_adapter() {
    let what = fault(ADAPTER.ports_needed(&mode("trap")));
    assert_eq!(what, "it panicked");
    assert_eq!(ADAPTER.ports_needed(&mode("")).unwrap(), 1, "the next call is as ever");
}

#[test]
fn an_endless_loop_meets_its_deadline() {
    let adapter = adapter(Duration::from_millis(600));
    let started = Instant::now();
    let what = fault(adapter.ports_needed(&mode("loop")));
    assert_eq!(what, "it ran longer than the 600ms that the call may take");
    assert!(started.elapsed() >= Duration::from_millis(600));
}

#[test]
fn memory_is_limited() {
    let what = fault(ADAPTER.ports_needed(&mode("grow")));
    assert!(what.contains("of memory; the limit is 64 MiB"), "{what}");
}

#[test]
fn recursion_is_limited() {
    let what = fault(ADAPTER.ports_needed(&mode("recurse")));
    assert!(what.contains("call stack is exhausted"), "{what}");
    let what = fault(ADAPTER.ports_needed(&mode("recurse-wide")));
    assert!(what.contains("outside its memory"), "{what}");
}

#[test]
fn output_is_limited() {
    let what = fault(ADAPTER.server(&mode("huge")));
    assert_eq!(what, "it handed over more than the 32 MiB that a call may");
    let what = fault(ADAPTER.endpoints(&mode("many")));
    assert_eq!(what, "it handed over more than the 32 MiB that a call may");
}

#[test]
fn no_call_changes_another() {
    for _ in 0..3 {
        assert_eq!(ADAPTER.ports_needed(&mode("remember")).unwrap(), 1);
    }
}

#[test]
fn a_flood_of_log_lines_is_cut() {
    assert_eq!(ADAPTER.ports_needed(&mode("log")).unwrap(), 1);
}

#[test]
fn an_error_of_its_own_is_passed_on_harmless() {
    match ADAPTER.ports_needed(&mode("refuse")) {
        Err(PluginError::Adapter { error: AdapterError::Unsupported(what), call: "ports-needed", .. }) => {
            assert_eq!(what, "odd numbers \u{fffd}of ports");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn lies_about_a_launch_are_noticed() {
    assert!(breach(ADAPTER.ports_needed(&mode("no-ports"))).contains("0 ports"));
    let text = |s: &str| s.to_owned();
    let launch = LaunchRequest {
        model: Model { name: text("m"), location: text("m"), revision: None, served_as: text("m") },
        settings: Settings::new(),
        replica: 0,
        replicas: 1,
        devices: vec![],
        ports: vec![8000],
        host: text("127.0.0.1"),
        folder: text("/run/0"),
        engine_version: None,
    };
    assert!(breach(ADAPTER.launch(&launch)).contains("program `sh` is not in the manifest"));
    assert!(breach(ADAPTER.server(&mode("elsewhere"))).contains("no path"));
}

fn requests(n: u64) -> Vec<RequestSpec> {
    let one = |id| RequestSpec {
        id,
        prompt: Prompt::Text("hello ".repeat(1000)),
        max_tokens: 1,
        min_tokens: None,
        ignore_eos: false,
        sampling: Sampling::default(),
        stop: vec![],
        streaming: true,
        tools: None,
        json_schema: None,
        extra: vec![],
    };
    (0..n).map(one).collect()
}

#[test]
fn requests_keep_their_order_over_batches() {
    let encoded = ADAPTER.encode("m", &mode(""), &requests(3000)).unwrap();
    let ids: Vec<String> = encoded.into_iter().map(|e| String::from_utf8(e.body).unwrap()).collect();
    assert_eq!(ids, (0..3000).map(|i| i.to_string()).collect::<Vec<_>>());
}

#[test]
fn lies_about_requests_are_noticed() {
    assert!(breach(ADAPTER.encode("m", &mode("fewer"), &requests(3))).contains("2 requests came back for 3"));
    assert!(breach(ADAPTER.encode("m", &mode("more"), &requests(3))).contains("4 requests came back for 3"));
    assert!(breach(ADAPTER.encode("m", &mode("elsewhere"), &requests(3))).contains("endpoint 7 of 1"));
}

fn response(frames: &[&str]) -> FramedResponse {
    let frames = frames.iter().map(|f| (*f).to_owned()).collect();
    FramedResponse { id: 0, status: 200, frames, lossy: false }
}

#[test]
fn a_guest_decodes_what_no_plan_covers() {
    let format = ADAPTER.decoding(&mode("")).unwrap();
    assert_eq!((format.framing, format.plan), (Framing::JsonLines, None));
    let decoded = ADAPTER.decoder().decode(vec![response(&["ä", "bc", "d"]), response(&["x"])]);
    let first = decoded[0].as_ref().unwrap();
    assert_eq!((first.text.as_str(), first.reasoning.as_str()), ("bc", "äd"));
    assert_eq!(first.text_ends, [2, 2, 3]);
    assert_eq!(first.kinds, [EventKind::Reasoning, EventKind::Text, EventKind::Reasoning]);
    assert_eq!(first.tokens, [None, Some(1), Some(2)]);
    assert_eq!(decoded[1].as_ref().unwrap().reasoning, "x");
}

#[test]
fn lies_about_an_answer_are_kept_with_it() {
    let wrong = |frames: &[&str]| {
        let mut decoded = ADAPTER.decoder().decode(vec![response(&["fine"]), response(frames)]);
        assert!(decoded[0].is_ok());
        decoded.pop().unwrap().unwrap_err().message
    };
    assert!(wrong(&["columns", "x"]).contains("differ in length"));
    assert!(wrong(&["frames", "x"]).contains("order of the frames"));
    assert!(wrong(&["ends", "x"]).contains("ends before it starts"));
    assert!(wrong(&["cut", "ä"]).contains("inside a character"));
    assert_eq!(wrong(&["error"]), "response at byte 7: no JSON");
}

#[test]
fn a_decoder_that_failed_is_not_called_again() {
    let mut decoder = ADAPTER.decoder();
    for frames in [&["trap"], &["fine"]] {
        let message = decoder.decode(vec![response(frames)]).remove(0).unwrap_err().message;
        assert_eq!(message, "adapter `bench_engine_misbehaving.wasm` 0.1.0 failed in `decode`: it panicked");
    }
    let fewer = ADAPTER.decoder().decode(vec![response(&["fewer"]), response(&["x"])]);
    assert!(fewer.iter().all(|d| d.as_ref().is_err_and(|e| e.message.contains("1 responses came back for 2"))));
}
