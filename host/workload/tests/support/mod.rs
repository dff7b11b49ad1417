//! Adapters for tests: manifests only, with a setting of every kind.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use bench_core::adapter::{
    AdapterInfo, DatasetManifest, EngineManifest, Features, Program, Setting, SettingKind, SettingValue, SourceNeed,
};
use bench_core::launch::VersionProbe;
use bench_workload::{AdapterCatalog, CatalogError};

/// Knows `vllm`, `sim`, `openai`; `sharegpt`, `random`, `jsonl`.
pub(crate) struct TestCatalog;

impl AdapterCatalog for TestCatalog {
    fn engine(&self, adapter: &str) -> Result<EngineManifest, CatalogError> {
        let known = engines();
        let ids: Vec<&str> = known.iter().map(|m| m.info.id.as_str()).collect();
        let unknown = unknown("engine", adapter, &ids);
        known.into_iter().find(|m| m.info.id == adapter).ok_or(unknown)
    }

    fn dataset(&self, adapter: &str) -> Result<DatasetManifest, CatalogError> {
        let known = datasets();
        let ids: Vec<&str> = known.iter().map(|m| m.info.id.as_str()).collect();
        let unknown = unknown("dataset", adapter, &ids);
        known.into_iter().find(|m| m.info.id == adapter).ok_or(unknown)
    }
}

fn unknown(kind: &str, adapter: &str, ids: &[&str]) -> CatalogError {
    CatalogError {
        message: format!("there is no {kind} adapter `{adapter}`"),
        help: Some(format!("bundled: {}", ids.join(", "))),
    }
}

pub(crate) fn engines() -> Vec<EngineManifest> {
    vec![
        engine("vllm", true, vllm_settings(), all_features()),
        engine("sim", true, sim_settings(), Features { seed: false, min_tokens: false, ..all_features() }),
        engine("openai", false, Vec::new(), all_features()),
    ]
}

fn vllm_settings() -> Vec<Setting> {
    let gpu_memory = SettingKind::Number { min: Some(0.0), max: Some(1.0) };
    let dtypes = ["auto", "bfloat16", "float16"].map(|name| (name.to_owned(), format!("Weights as {name}.")));
    vec![
        with_default(
            setting("tensor-parallel-size", SettingKind::Integer { min: Some(1), max: Some(64) }),
            SettingValue::Integer(1),
        ),
        setting("max-num-batched-tokens", SettingKind::Integer { min: Some(1), max: None }),
        setting("gpu-memory-utilization", gpu_memory),
        with_default(setting("dtype", SettingKind::Choice(dtypes.to_vec())), SettingValue::Text("auto".to_owned())),
        setting("enable-chunked-prefill", SettingKind::Boolean),
        setting("load-format", SettingKind::Text),
        setting("allowed-origins", SettingKind::TextList),
        setting("labels", SettingKind::TextMap),
        setting("swap-space", SettingKind::Size),
        setting("parallel.pipeline", SettingKind::Integer { min: Some(1), max: None }),
        Setting { deprecated: Some("use `dtype`".to_owned()), ..setting("half", SettingKind::Boolean) },
    ]
}

fn sim_settings() -> Vec<Setting> {
    vec![
        with_default(setting("ttft", SettingKind::Duration), SettingValue::Integer(50)),
        with_default(setting("itl", SettingKind::Duration), SettingValue::Integer(10)),
        with_default(setting("kv-cache", SettingKind::Size), SettingValue::Integer(16 << 30)),
    ]
}

pub(crate) fn datasets() -> Vec<DatasetManifest> {
    let path = || Setting { required: true, ..setting("path", SettingKind::Source) };
    let samplers = ["vllm-0.11", "vllm-0.33", "dialogue"].map(|name| (name.to_owned(), format!("Rules of {name}.")));
    let sampler = || {
        with_default(
            setting("sampler", SettingKind::Choice(samplers.to_vec())),
            SettingValue::Text("vllm-0.11".to_owned()),
        )
    };
    let length = |key| Setting { required: true, ..setting(key, SettingKind::Integer { min: Some(1), max: None }) };
    let ratio = SettingKind::Number { min: Some(0.0), max: Some(1.0) };
    vec![
        dataset("sharegpt", vec![path(), sampler()]),
        dataset(
            "random",
            vec![
                length("input-len"),
                length("output-len"),
                with_default(setting("range-ratio", ratio), SettingValue::Number(0.0)),
                sampler(),
            ],
        ),
        dataset("jsonl", vec![path()]),
    ]
}

fn all_features() -> Features {
    Features {
        chat: true,
        text_prompt: true,
        token_prompt: true,
        streaming: true,
        ignore_eos: true,
        min_tokens: true,
        stop_texts: true,
        seed: true,
        ..Features::default()
    }
}

fn info(id: &str) -> AdapterInfo {
    AdapterInfo {
        id: id.to_owned(),
        name: id.to_owned(),
        version: "0.1.0".to_owned(),
        summary: format!("The adapter {id} of the tests."),
        license: "MIT".to_owned(),
        homepage: None,
    }
}

fn setting(key: &str, kind: SettingKind) -> Setting {
    Setting {
        key: key.to_owned(),
        doc: format!("Sets {key}."),
        kind,
        default: None,
        required: false,
        engine_option: None,
        deprecated: None,
    }
}

fn with_default(setting: Setting, default: SettingValue) -> Setting {
    Setting { default: Some(default), ..setting }
}

fn engine(id: &str, launchable: bool, settings: Vec<Setting>, features: Features) -> EngineManifest {
    EngineManifest {
        info: info(id),
        engine: id.to_owned(),
        engine_versions: ">=0.1".to_owned(),
        programs: vec![Program { name: id.to_owned(), doc: "The server.".to_owned(), version: VersionProbe::None }],
        launchable,
        default_port: None,
        env: Vec::new(),
        secrets: Vec::new(),
        settings,
        features,
    }
}

fn dataset(id: &str, settings: Vec<Setting>) -> DatasetManifest {
    let source = |s: &Setting| SourceNeed {
        id: s.key.clone(),
        doc: "The data.".to_owned(),
        origin: None,
        license: None,
        digest: None,
    };
    let sources = settings.iter().filter(|s| s.kind == SettingKind::Source).map(source).collect();
    DatasetManifest { info: info(id), settings, sources }
}
