//! For the tests of adapters: launch requests, and plans and requests as JSON for golden files. Not
//! there on wasm.

use crate::engine::{
    Check, Device, Encoded, Engine, EnvValue, LaunchRequest, Model, Plan, Process, Prompt, Request, Sampling, Vendor,
};
use crate::{Error, Settings};
use serde_json::{Value, json};
use std::path::Path;

/// A launch of `model` on 127.0.0.1:40000 with this many devices.
pub fn launch_request(model: &str, devices: u32) -> LaunchRequest {
    let device = |index| Device {
        index,
        uuid: None,
        vendor: Vendor::Nvidia,
        name: "NVIDIA H100 80GB HBM3".to_owned(),
        memory_bytes: 80 << 30,
    };
    LaunchRequest {
        model: Model {
            name: model.to_owned(),
            location: model.to_owned(),
            revision: None,
            served_as: model.to_owned(),
        },
        settings: Vec::new(),
        replica: 0,
        replicas: 1,
        devices: (0..devices).map(device).collect(),
        ports: vec![40_000],
        host: "127.0.0.1".to_owned(),
        folder: "replica-0".to_owned(),
        engine_version: None,
    }
}

/// A streamed greedy request of 16 tokens.
pub fn request(prompt: Prompt) -> Request {
    Request {
        id: 0,
        prompt,
        max_tokens: 16,
        min_tokens: None,
        ignore_eos: false,
        sampling: Sampling { temperature: 0.0, top_p: None, top_k: None, seed: None },
        stop: Vec::new(),
        streaming: true,
        tools: None,
        json_schema: None,
        extra: Vec::new(),
    }
}

/// What the host would give an engine: its defaults, and these values.
pub fn settings<E: Engine>(values: &[(&str, crate::Value)]) -> Settings {
    let defaults = Settings::defaults(&E::describe().settings);
    values.iter().fold(defaults, |settings, (key, value)| settings.with(key, value.clone()))
}

/// The command of a plan's serving process as people write it: no address, no port.
pub fn command_line(plan: &Plan) -> String {
    let server = &plan.processes[plan.serving as usize];
    std::iter::once(&server.program).chain(&server.args).map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// A plan as JSON.
pub fn plan_json(plan: &Plan) -> Value {
    json!({
        "processes": plan.processes.iter().map(process_json).collect::<Vec<_>>(),
        "serving": plan.serving,
        "facts": plan.facts.iter().map(|(name, value)| json!([name, value])).collect::<Vec<_>>(),
    })
}

fn process_json(process: &Process) -> Value {
    let check = match &process.ready.check {
        Check::Http(path) => json!({ "http": path }),
        Check::Tcp => json!("tcp"),
        Check::Log(text) => json!({ "log": text }),
        Check::Exit => json!("exit"),
    };
    let env = process.env.iter().map(|var| match &var.value {
        EnvValue::Text(text) => json!([var.name, { "text": text }]),
        EnvValue::Secret(name) => json!([var.name, { "secret": name }]),
    });
    let files = process.files.iter().map(|file| json!([file.path, String::from_utf8_lossy(&file.contents)]));
    json!({
        "name": process.name,
        "program": process.program,
        "args": process.args,
        "bind-args": process.bind_args,
        "env": env.collect::<Vec<_>>(),
        "files": files.collect::<Vec<_>>(),
        "devices": process.devices,
        "port": process.port,
        "ready": {
            "check": check,
            "interval-ms": process.ready.interval_ms,
            "timeout-ms": process.ready.timeout_ms,
            "fatal-log": process.ready.fatal_log,
        },
        "stop": { "signal": format!("{:?}", process.stop.signal), "grace-ms": process.stop.grace_ms },
    })
}

/// The bodies that an engine makes of these requests, as text.
///
/// # Errors
/// What the engine says.
pub fn bodies<E: Engine>(settings: &Settings, requests: Vec<Request>) -> Result<Vec<String>, Error> {
    let encoded = E::encode("served", settings, requests)?;
    Ok(encoded.into_iter().map(|Encoded { body, .. }| String::from_utf8_lossy(&body).into_owned()).collect())
}

/// Compares with a golden file, or writes it anew where `update` says so.
///
/// # Panics
/// Where they differ: this is an assertion.
pub fn assert_golden(path: &Path, value: &Value, update: bool) {
    let text = format!("{value:#}\n");
    if update {
        std::fs::write(path, text).unwrap_or_else(|error| panic!("can't write `{}`: {error}", path.display()));
        return;
    }
    let golden =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("can't read `{}`: {error}", path.display()));
    assert_eq!(golden, text, "`{}` differs; set UPDATE_GOLDEN=1 to write it anew", path.display());
}
