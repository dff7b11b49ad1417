//! An engine adapter for tests of the sandbox: does wrong what the setting `mode` names.

#![cfg_attr(not(target_family = "wasm"), allow(dead_code, reason = "only the sandbox calls it"))]

use bench_sdk::engine::{
    Check, DecodeError, Decoded, Decoder, Encoded, Endpoint, Engine, EventKind, Features, Framing, LaunchRequest,
    Manifest, Method, Plan, Probe, Process, Request, Response, Server, Signal, StopRule, VersionProbe,
};
use bench_sdk::{Error, Setting, Settings};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

struct Misbehaving;

static CALLS: AtomicU32 = AtomicU32::new(0);

impl Engine for Misbehaving {
    fn describe() -> Manifest {
        Manifest {
            info: bench_sdk::info!("misbehaving", "Misbehaving"),
            engine: "none".into(),
            engine_versions: "*".into(),
            programs: vec![],
            launchable: true,
            default_port: None,
            env: vec![],
            secrets: vec![],
            settings: vec![Setting::text("mode").doc("What to do wrong.")],
            features: Features::CHAT,
        }
    }

    fn ports_needed(settings: &Settings) -> Result<u32, Error> {
        match mode(settings) {
            "trap" => trap(),
            "loop" => loop {
                black_box(0);
            },
            "grow" => grow(),
            "recurse" => Ok(recurse(0)),
            "recurse-wide" => Ok(recurse_wide(0)),
            "remember" => Ok(CALLS.fetch_add(1, Ordering::Relaxed) + 1),
            "log" => {
                for i in 0..5000 {
                    bench_sdk::log::warn(&format!("{i} \u{1b}[31m{}", "x".repeat(5000)));
                }
                Ok(1)
            }
            "no-ports" => Ok(0),
            "refuse" => Err(Error::Unsupported("odd numbers \u{7}of ports".into())),
            _ => Ok(1),
        }
    }

    fn launch(launch: &LaunchRequest, _settings: &Settings) -> Result<Plan, Error> {
        Ok(Plan {
            processes: vec![Process {
                name: "server".into(),
                program: "sh".into(),
                args: vec!["-c".into(), "true".into()],
                bind_args: vec![],
                env: vec![],
                files: vec![],
                devices: vec![],
                port: launch.ports[0],
                ready: Probe { check: Check::Tcp, interval_ms: 10, timeout_ms: 10, fatal_log: vec![] },
                stop: StopRule { signal: Signal::Kill, grace_ms: 0 },
            }],
            serving: 0,
            facts: vec![],
        })
    }

    fn server(settings: &Settings) -> Result<Server, Error> {
        let ready = match mode(settings) {
            "huge" => "/".repeat(40 << 20),
            "elsewhere" => "http://elsewhere/".into(),
            _ => "/health".into(),
        };
        Ok(Server { ready, models: None, version: VersionProbe::None, metrics: vec![] })
    }

    fn endpoints(settings: &Settings) -> Result<Vec<Endpoint>, Error> {
        let one = Endpoint { method: Method::Post, path: "/".into(), headers: vec![] };
        // Small in the guest, three times as large outside.
        let n = if mode(settings) == "many" { 600_000 } else { 1 };
        Ok(vec![one; n])
    }

    fn encode(_served_as: &str, settings: &Settings, requests: Vec<Request>) -> Result<Vec<Encoded>, Error> {
        let body = |r: &Request| Encoded { endpoint: 0, body: r.id.to_string().into_bytes() };
        let mut encoded: Vec<Encoded> = requests.iter().map(body).collect();
        match mode(settings) {
            "fewer" => drop(encoded.pop()),
            "more" => encoded.push(Encoded { endpoint: 0, body: vec![] }),
            "elsewhere" => encoded[0].endpoint = 7,
            _ => {}
        }
        Ok(encoded)
    }

    fn decoding(_settings: &Settings) -> Result<Decoder, Error> {
        Ok(Decoder::Guest(Framing::JsonLines))
    }

    /// Each frame is one event; the text of the first frame says what is wrong with the answer.
    fn decode(mut responses: Vec<Response>) -> Vec<Result<Decoded, DecodeError>> {
        let first = responses.first().map(|r| r.frames[0].clone()).unwrap_or_default();
        match first.as_str() {
            "trap" => trap(),
            "fewer" => drop(responses.pop()),
            _ => {}
        }
        responses.iter().map(decoded).collect()
    }
}

fn decoded(response: &Response) -> Result<Decoded, DecodeError> {
    let n = response.frames.len() as u32;
    let mut d = Decoded {
        frames: (0..n).collect(),
        kinds: (0..n).map(|i| if i % 2 == 0 { EventKind::Reasoning } else { EventKind::Text }).collect(),
        tokens: (0..n).collect(),
        text_ends: vec![],
        text: String::new(),
        tool_calls: vec![],
        usage: None,
        finish: None,
        failure: None,
    };
    for frame in &response.frames {
        d.text.push_str(frame);
        d.text_ends.push(d.text.len() as u32);
    }
    match response.frames[0].as_str() {
        "columns" => drop(d.tokens.pop()),
        "frames" => d.frames[0] = n,
        "ends" => d.text_ends[0] = u32::MAX,
        "cut" => d.text_ends[1] -= 1,
        "error" => {
            return Err(DecodeError { what: "response".into(), offset: Some(7), message: "no JSON".into() });
        }
        _ => {}
    }
    Ok(d)
}

fn mode(settings: &Settings) -> &str {
    settings.text("mode").unwrap_or("")
}

fn trap() -> ! {
    #[cfg(target_family = "wasm")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_family = "wasm"))]
    std::process::abort();
}

fn grow() -> Result<u32, Error> {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1u8; 1 << 20]));
    }
}

/// Takes the call stack of the runtime.
#[inline(never)]
fn recurse(n: u32) -> u32 {
    if n == u32::MAX { 0 } else { recurse(n + 1).wrapping_mul(3) ^ n }
}

/// Takes the stack that lies in the guest's memory.
#[expect(unconditional_recursion, reason = "it is what this mode does wrong")]
fn recurse_wide(n: u32) -> u32 {
    black_box([n; 1024]);
    black_box(recurse_wide(n + 1)) + n
}

bench_sdk::export_engine!(Misbehaving);
