//! The options of `sglang.launch_server` that change what a benchmark measures, by their own names.

use bench_sdk::command::CommandOption as Opt;

/// In the order in which they stand in the command.
pub(crate) fn all() -> Vec<Opt> {
    [parallel(), model(), memory(), scheduler(), kernels(), speculative(), serving()].concat()
}

fn parallel() -> Vec<Opt> {
    let size = |option, doc| Opt::integer(option, doc).min(1).omit(1);
    let a2a = "How expert parallel devices exchange tokens: `none`, `deepep`, `mooncake`, `flashinfer`, ...";
    let modes = [
        ("auto", "`low_latency` for decoding, `normal` for prompts."),
        ("normal", "For throughput."),
        ("low_latency", "For latency."),
    ];
    vec![
        size("--tp-size", "Devices over which each layer is split."),
        size("--pp-size", "Stages of layers, each on devices of its own."),
        size("--dp-size", "Copies of the engine, or of its attention with `enable-dp-attention`."),
        size("--ep-size", "Devices over which whole experts are spread."),
        Opt::switch("--enable-dp-attention", "Attention data parallel, all else tensor parallel, on the same devices."),
        Opt::text("--moe-a2a-backend", a2a),
        Opt::choice("--deepep-mode", &modes, "How DeepEP exchanges tokens."),
        Opt::switch("--enable-two-batch-overlap", "Overlap two half batches."),
    ]
}

fn model() -> Vec<Opt> {
    let dtypes = [
        ("auto", "BF16 for BF16 models, FP16 for FP16 and FP32 ones."),
        ("bfloat16", "BF16."),
        ("float16", "FP16."),
        ("half", "FP16."),
        ("float32", "FP32."),
        ("float", "FP32."),
    ];
    let quantization = "How to quantize the weights where the model doesn't say: `fp8`, `w8a8_int8`, `awq`, ...";
    vec![
        Opt::text("--quantization", quantization),
        Opt::choice("--dtype", &dtypes, "Type of weights and activations."),
        Opt::text(
            "--load-format",
            "Format of the weights: `auto`, `safetensors`, `dummy` (random weights), `gguf`, ...",
        ),
        Opt::integer("--context-length", "Longest prompt and answer together, in tokens.").min(1),
        Opt::text("--tokenizer-path", "Tokenizer, where it isn't the model's own."),
        Opt::text("--json-model-override-args", "Changes to the model's configuration, as JSON."),
        Opt::switch("--trust-remote-code", "Run code that comes with the model."),
        Opt::text("--device", "What it runs on: `cuda`, `cpu`, `xpu`, ..."),
        Opt::integer("--random-seed", "Seed of the engine.").min(0),
    ]
}

fn memory() -> Vec<Opt> {
    let fraction = "Share of a device's memory for weights and KV cache.";
    vec![
        Opt::number("--mem-fraction-static", fraction).between(0.0, 1.0),
        Opt::text("--kv-cache-dtype", "Type of the KV cache: `auto`, `fp8_e5m2`, `fp8_e4m3`, `bf16`, ..."),
        Opt::integer("--page-size", "Tokens in a page of the KV cache.").min(1),
        Opt::switch("--disable-radix-cache", "Keep no KV cache of prompts that begin alike."),
        Opt::integer("--max-total-tokens", "Tokens that the KV cache holds.").min(1),
    ]
}

fn scheduler() -> Vec<Opt> {
    vec![
        Opt::integer("--max-running-requests", "Most requests that run at a time.").min(1),
        Opt::integer("--chunked-prefill-size", "Most tokens of a piece of a prompt; -1 splits none.").min(-1),
        Opt::integer("--max-prefill-tokens", "Most tokens of prompts in one step.").min(1),
        Opt::switch("--enable-mixed-chunk", "Prompts and decoding in one step."),
        Opt::switch("--disable-overlap-schedule", "Don't plan the next step while one runs."),
        Opt::text("--schedule-policy", "Who comes first: `fcfs`, `lpm` (longest cached prefix), `random`, ..."),
        Opt::number("--schedule-conservativeness", "Greater values admit fewer requests at a time.").between(0.0, 1e6),
        Opt::integer("--stream-interval", "Tokens that an event of a stream carries.").min(1),
    ]
}

fn kernels() -> Vec<Opt> {
    let attention = "Attention kernels: `fa3`, `flashinfer`, `triton`, `trtllm_mha`, ...";
    let nsa = "Kernels of sparse attention: `fa3`, `flashmla_sparse`, `flashmla_kv`, ...";
    vec![
        Opt::text("--attention-backend", attention),
        Opt::text("--prefill-attention-backend", "The same for prompts only."),
        Opt::text("--decode-attention-backend", "The same for decoding only."),
        Opt::text("--nsa-prefill-backend", nsa),
        Opt::text("--nsa-decode-backend", nsa),
        Opt::text("--sampling-backend", "Kernels of sampling: `flashinfer`, `pytorch`."),
        Opt::text(
            "--moe-runner-backend",
            "Kernels of the experts: `auto`, `triton`, `deep_gemm`, `flashinfer_cutlass`, ...",
        ),
        Opt::switch("--enable-torch-compile", "Compile the model by `torch.compile`."),
        Opt::integer("--torch-compile-max-bs", "Largest batch that is compiled for.").min(1),
        Opt::integer("--cuda-graph-max-bs", "Largest batch that runs as a captured graph.").min(1),
        Opt::switch("--disable-cuda-graph", "Capture no graphs."),
    ]
}

fn speculative() -> Vec<Opt> {
    let topk = "Candidates that the draft model follows in each step.";
    vec![
        Opt::text("--speculative-algorithm", "Speculative decoding: `EAGLE`, `EAGLE3`, `NEXTN`, `NGRAM`, ..."),
        Opt::text("--speculative-draft-model-path", "Draft model: a name or a path."),
        Opt::integer("--speculative-num-steps", "Steps of the draft model.").min(1),
        Opt::integer("--speculative-eagle-topk", topk).min(1),
        Opt::integer("--speculative-num-draft-tokens", "Tokens that are checked at a time.").min(1),
    ]
}

fn serving() -> Vec<Opt> {
    vec![
        Opt::text("--reasoning-parser", "Tells reasoning from the answer: `qwen3`, `deepseek-r1`, `gpt-oss`, ..."),
        Opt::text("--tool-call-parser", "Reads calls of tools out of the answer: `qwen25`, `deepseekv3`, ..."),
        Opt::text("--chat-template", "Chat template in place of the model's own: a name or a path."),
        Opt::switch("--enable-metrics", "Offer metrics, so that the engine's own counts can be recorded."),
        Opt::switch("--enable-cache-report", "Say in the usage how many tokens of a prompt were cached."),
        Opt::switch("--skip-server-warmup", "Send no request to itself at the start."),
        Opt::switch("--sleep-on-idle", "Use less of the processor while idle."),
        Opt::text("--log-level", "What goes to the log: `info`, `warning`, ..."),
    ]
}
