//! Nouns of `bench-core` as an adapter of this version takes them.

use super::bindings::engine::bench::adapter::types;
use super::bindings::engine::bench::engine::{launch, requests, responses};
use bench_core::adapter::{SettingValue, Settings};
use bench_core::decode::FramedResponse;
use bench_core::launch::{Device, LaunchRequest, Model, Vendor};
use bench_core::request::RequestSpec;
use bench_core::sample::{Message, Part, Prompt, Role};

pub(super) fn settings(settings: &Settings) -> Vec<types::SettingValue> {
    let value = |v: &SettingValue| match v {
        SettingValue::Boolean(v) => types::Value::Boolean(*v),
        SettingValue::Integer(v) => types::Value::Integer(*v),
        SettingValue::Number(v) => types::Value::Number(*v),
        SettingValue::Text(v) => types::Value::Text(v.clone()),
        SettingValue::TextList(v) => types::Value::TextList(v.clone()),
        SettingValue::TextMap(v) => types::Value::TextMap(v.iter().map(|(k, v)| (k.clone(), v.clone())).collect()),
    };
    settings.iter().map(|(key, v)| types::SettingValue { key: key.clone(), value: value(v) }).collect()
}

pub(super) fn launch(r: &LaunchRequest) -> launch::Request {
    launch::Request {
        model: model(&r.model),
        settings: settings(&r.settings),
        replica: r.replica,
        replicas: r.replicas,
        devices: r.devices.iter().map(device).collect(),
        ports: r.ports.clone(),
        host: r.host.clone(),
        folder: r.folder.clone(),
        engine_version: r.engine_version.clone(),
    }
}

fn model(m: &Model) -> launch::Model {
    launch::Model {
        name: m.name.clone(),
        location: m.location.clone(),
        revision: m.revision.clone(),
        served_as: m.served_as.clone(),
    }
}

fn device(d: &Device) -> launch::Device {
    let vendor = match d.vendor {
        Vendor::Nvidia => launch::Vendor::Nvidia,
        Vendor::Amd => launch::Vendor::Amd,
        Vendor::Intel => launch::Vendor::Intel,
        Vendor::Apple => launch::Vendor::Apple,
        Vendor::Other => launch::Vendor::Other,
    };
    launch::Device {
        index: d.index,
        uuid: d.uuid.clone(),
        vendor,
        name: d.name.clone(),
        // This version of the contract has no way to say that it is not known.
        memory_bytes: d.memory_bytes.unwrap_or(0),
    }
}

pub(super) fn request(r: &RequestSpec) -> requests::Request {
    requests::Request {
        id: r.id,
        prompt: prompt(&r.prompt),
        max_tokens: r.max_tokens,
        min_tokens: r.min_tokens,
        ignore_eos: r.ignore_eos,
        sampling: requests::Sampling {
            temperature: r.sampling.temperature,
            top_p: r.sampling.top_p,
            top_k: r.sampling.top_k,
            seed: r.sampling.seed,
        },
        stop: r.stop.clone(),
        streaming: r.streaming,
        tools: r.tools.clone(),
        json_schema: r.json_schema.clone(),
        extra: r.extra.clone(),
    }
}

fn prompt(p: &Prompt) -> requests::Prompt {
    match p {
        Prompt::Text(t) => requests::Prompt::Text(t.clone()),
        Prompt::Tokens(ids) => requests::Prompt::Tokens(ids.clone()),
        Prompt::Messages(m) => requests::Prompt::Messages(m.iter().map(message).collect()),
    }
}

fn message(m: &Message) -> requests::Message {
    let role = match m.role {
        Role::System => requests::Role::System,
        Role::User => requests::Role::User,
        Role::Assistant => requests::Role::Assistant,
        Role::Tool => requests::Role::Tool,
    };
    let part = |p: &Part| match p {
        Part::Text(t) => requests::Part::Text(t.clone()),
        Part::Image(url) => requests::Part::Image(url.clone()),
    };
    requests::Message { role, content: m.content.iter().map(part).collect(), tool_call_id: m.tool_call_id.clone() }
}

pub(super) fn response(r: FramedResponse) -> responses::Response {
    responses::Response { id: r.id, status: r.status, frames: r.frames, lossy: r.lossy }
}
