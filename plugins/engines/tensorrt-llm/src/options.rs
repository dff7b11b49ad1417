//! The options of `trtllm-serve`, by their own names, and those that it takes from a file alone.

use bench_sdk::command::CommandOption as Opt;
use bench_sdk::engine::File;
use bench_sdk::{Diagnostic, Error, Setting, Settings, Value};
use serde_json::{Map, Value as Json};

/// Name of the file in the replica's folder.
const FILE: &str = "extra-llm-api-options.yaml";

/// In the order in which they stand in the command.
pub(crate) fn command() -> Vec<Opt> {
    let size = |option, doc| Opt::integer(option, doc).min(1).omit(1);
    let backends = [
        ("pytorch", "PyTorch."),
        ("_autodeploy", "PyTorch, the model rewritten automatically."),
        ("tensorrt", "An engine file of TensorRT."),
    ];
    let options = vec![
        Opt::choice("--backend", &backends, "What runs the model."),
        size("--tp_size", "Devices over which each layer is split."),
        size("--pp_size", "Stages of layers, each on devices of its own."),
        size("--cp_size", "Devices over which the context is split."),
        size("--ep_size", "Devices over which whole experts are spread."),
        Opt::integer("--gpus_per_node", "Devices of a machine.").min(1),
        Opt::integer("--max_batch_size", "Most requests that run at a time.").min(1),
        Opt::integer("--max_num_tokens", "Most tokens of one step.").min(1),
        Opt::integer("--max_seq_len", "Longest prompt and answer together, in tokens.").min(1),
        Opt::switch("--enable_chunked_prefill", "Split long prompts over several steps."),
        Opt::text("--tokenizer", "Tokenizer, where it isn't the model's own."),
        Opt::switch("--trust_remote_code", "Run code that comes with the model."),
        Opt::integer("--num_postprocess_workers", "Processes that turn tokens into text.").min(0),
        Opt::text("--reasoning_parser", "Tells reasoning from the answer: `qwen3`, `deepseek-r1`, ..."),
        Opt::text("--tool_parser", "Reads calls of tools out of the answer."),
        Opt::text("--log_level", "What goes to the log: `info`, `warning`, ..."),
    ];
    options.into_iter().map(Opt::joined).collect()
}

/// Share of the memory that the KV cache takes. An option of the command, but where the file has other
/// keys of the KV cache it has to stand with them, because the file's table replaces the command's.
fn kv_fraction() -> Opt {
    let doc = "Share of the memory left after the weights that the KV cache takes.";
    Opt::number("--kv_cache_free_gpu_memory_fraction", doc).between(0.0, 1.0).joined()
}

/// Options of the file: setting, and the place in the file.
fn file() -> Vec<(Setting, &'static [&'static str])> {
    let text = |key: &str, doc: &str| Setting::text(key).doc(doc);
    let switch = |key: &str, doc: &str| Setting::boolean(key).doc(doc);
    let count = |key: &str, doc: &str| Setting::integer(key).min(1).doc(doc);
    let draft = "Speculative decoding, as JSON: `{\"decoding_type\": \"MTP\", \"num_nextn_predict_layers\": 1}`.";
    vec![
        (
            text("quantization", "How to quantize the weights: `FP8`, `NVFP4`, `W4A16_AWQ`, ..."),
            &["quant_config", "quant_algo"],
        ),
        (text("attn-backend", "Attention kernels: `TRTLLM`, `FLASHINFER`, `VANILLA`, ..."), &["attn_backend"]),
        (
            text("moe-backend", "Kernels of the experts: `CUTLASS`, `TRTLLM`, `DEEPGEMM`, ..."),
            &["moe_config", "backend"],
        ),
        (
            switch("enable-attention-dp", "Attention data parallel, all else tensor parallel, on the same devices."),
            &["enable_attention_dp"],
        ),
        (text("kv-cache-dtype", "Type of the KV cache: `auto`, `fp8`, ..."), &["kv_cache_config", "dtype"]),
        (
            switch("enable-block-reuse", "Keep the KV cache of prompts that begin alike."),
            &["kv_cache_config", "enable_block_reuse"],
        ),
        (
            count("cuda-graph-max-batch-size", "Largest batch that runs as a captured graph."),
            &["cuda_graph_config", "max_batch_size"],
        ),
        (
            switch("cuda-graph-enable-padding", "Run batches between two captured sizes as the greater one."),
            &["cuda_graph_config", "enable_padding"],
        ),
        (
            switch("disable-overlap-scheduler", "Don't plan the next step while one runs."),
            &["disable_overlap_scheduler"],
        ),
        (count("stream-interval", "Tokens that an event of a stream carries."), &["stream_interval"]),
        (text("load-format", "Format of the weights: `auto`, `dummy` (random weights)."), &["load_format"]),
        (text("speculative-config", draft), &["speculative_config"]),
    ]
}

/// All settings, for the manifest.
pub(crate) fn settings() -> Vec<Setting> {
    let in_file = file().into_iter().map(|(setting, place)| {
        let option = format!("{} of --extra_llm_api_options", place.join("."));
        setting.engine_option(&option)
    });
    let mut settings = bench_sdk::command::settings(&command());
    settings.push(kv_fraction().setting().clone());
    settings.extend(in_file);
    settings
}

/// The arguments, and the file where an option needs one.
///
/// # Errors
/// A text that should be JSON and isn't.
pub(crate) fn build(settings: &Settings) -> Result<(Vec<String>, Option<File>), Error> {
    let mut args = bench_sdk::command::args(&command(), settings);
    let mut options = Map::new();
    for (setting, place) in file() {
        if let Some(value) = settings.get(&setting.key) {
            put(&mut options, place, json(&setting.key, value)?);
        }
    }
    match settings.number("kv-cache-free-gpu-memory-fraction") {
        Some(share) if options.contains_key("kv_cache_config") => {
            put(&mut options, &["kv_cache_config", "free_gpu_memory_fraction"], share.into());
        }
        _ => args.extend(bench_sdk::command::args(&[kv_fraction()], settings)),
    }
    if options.is_empty() {
        return Ok((args, None));
    }
    args.push(format!("--extra_llm_api_options={FILE}"));
    // JSON is YAML.
    let contents = format!("{:#}\n", Json::Object(options)).into_bytes();
    Ok((args, Some(File { path: FILE.to_owned(), contents })))
}

/// Puts a value at its place: a key, or a key in a table.
fn put(options: &mut Map<String, Json>, place: &[&str], value: Json) {
    match place {
        [key] => _ = options.insert((*key).to_owned(), value),
        [table, rest @ ..] => {
            let table = options.entry(*table).or_insert_with(|| Json::Object(Map::new()));
            if let Json::Object(table) = table {
                put(table, rest, value);
            }
        }
        [] => {}
    }
}

fn json(key: &str, value: &Value) -> Result<Json, Error> {
    Ok(match value {
        Value::Text(text) if key == "speculative-config" => serde_json::from_str(text).map_err(|error| {
            Error::from(Diagnostic::error(format!("`{key}` is no JSON: {error}")).key(key).help("write a JSON object"))
        })?,
        Value::Text(text) => Json::from(text.as_str()),
        Value::Boolean(value) => Json::from(*value),
        Value::Integer(value) => Json::from(*value),
        Value::Number(value) => Json::from(*value),
        Value::TextList(_) | Value::TextMap(_) => Json::Null,
    })
}
