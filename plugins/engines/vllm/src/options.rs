//! The options of `vllm serve` that change what a benchmark measures, by their own names.

use bench_sdk::command::CommandOption as Opt;

/// In the order in which they stand in the command.
pub(crate) fn all() -> Vec<Opt> {
    [parallel(), model(), memory(), scheduler(), kernels(), serving()].concat()
}

fn parallel() -> Vec<Opt> {
    let size = |option, short, doc| Opt::integer(option, doc).min(1).spelled(short).omit(1);
    vec![
        size("--tensor-parallel-size", "-tp", "Devices over which each layer is split."),
        size("--pipeline-parallel-size", "-pp", "Stages of layers, each on devices of its own."),
        size("--data-parallel-size", "-dp", "Copies of the engine; with expert parallelism they share the experts."),
        size("--decode-context-parallel-size", "-dcp", "Tensor parallel devices that share a KV cache in decoding."),
        size("--prefill-context-parallel-size", "-pcp", "Devices over which a prompt is split."),
        Opt::switch("--enable-expert-parallel", "Spread whole experts over the devices in place of splitting each."),
        Opt::switch("--enable-eplb", "Balance the load of the experts while serving."),
        Opt::text(
            "--all2all-backend",
            "How expert parallel devices exchange tokens: `allgather_reducescatter`, `deepep_low_latency`, ...",
        ),
        Opt::text("--distributed-executor-backend", "What runs the workers: `mp`, `ray`, `uni`, `external_launcher`."),
        Opt::switch("--disable-custom-all-reduce", "Reduce by NCCL alone."),
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
    vec![
        Opt::text(
            "--quantization",
            "How to quantize the weights where the model doesn't say: `fp8`, `awq`, `gptq`, `bitsandbytes`, ...",
        ),
        Opt::choice("--dtype", &dtypes, "Type of weights and activations."),
        Opt::text(
            "--load-format",
            "Format of the weights: `auto`, `safetensors`, `dummy` (random weights), `gguf`, `bitsandbytes`, ...",
        ),
        Opt::integer("--max-model-len", "Longest prompt and answer together, in tokens.").min(1),
        Opt::text("--tokenizer", "Tokenizer, where it isn't the model's own."),
        Opt::text("--hf-overrides", "Changes to the model's configuration, as JSON."),
        Opt::text("--generation-config", "Where defaults of sampling come from: `auto` is the model, `vllm` is none."),
        Opt::switch("--trust-remote-code", "Run code that comes with the model."),
        Opt::switch("--language-model-only", "Leave out what pictures and sound need."),
        Opt::integer("--seed", "Seed of the engine.").min(0),
    ]
}

fn memory() -> Vec<Opt> {
    vec![
        Opt::number("--gpu-memory-utilization", "Share of a device's memory that the engine takes.").between(0.0, 1.0),
        Opt::text("--kv-cache-dtype", "Type of the KV cache: `auto`, `fp8`, `fp8_e4m3`, `fp8_e5m2`, ..."),
        Opt::size("--kv-cache-memory-bytes", "KV cache of each device, in place of a share of the memory."),
        Opt::integer("--block-size", "Tokens in a block of the KV cache.").min(1),
        Opt::toggle("--enable-prefix-caching", "Keep the KV cache of prompts that begin alike."),
        Opt::number("--cpu-offload-gb", "GiB of the weights of each device that stay in main memory."),
        Opt::text("--kv-transfer-config", "Connector that moves KV caches (LMCache, NIXL, ...), as JSON."),
    ]
}

fn scheduler() -> Vec<Opt> {
    let policies = [("fcfs", "First come, first served."), ("priority", "By the requests' priority.")];
    vec![
        Opt::integer("--max-num-batched-tokens", "Most tokens of one step.").min(1),
        Opt::integer("--max-num-seqs", "Most sequences of one step.").min(1),
        Opt::toggle("--enable-chunked-prefill", "Split long prompts over several steps."),
        Opt::integer("--max-num-partial-prefills", "Most prompts that are split at a time.").min(1),
        Opt::integer("--long-prefill-token-threshold", "Tokens from which a prompt counts as long.").min(0),
        Opt::toggle("--async-scheduling", "Plan the next step while one runs."),
        Opt::choice("--scheduling-policy", &policies, "Who comes first."),
        Opt::integer("--stream-interval", "Tokens that an event of a stream carries.").min(1),
        Opt::text(
            "--speculative-config",
            "Speculative decoding, as JSON: `{\"method\": \"mtp\", \"num_speculative_tokens\": 1}`.",
        ),
    ]
}

fn kernels() -> Vec<Opt> {
    let modes = [
        ("balanced", "Between the two."),
        ("interactivity", "Low latency of small batches."),
        ("throughput", "Most tokens at high concurrency."),
    ];
    vec![
        Opt::text(
            "--attention-backend",
            "Attention kernels: `FLASH_ATTN`, `FLASHINFER`, `TRITON_ATTN`, ... Versions that don't know the option \
             take the environment variable `VLLM_ATTENTION_BACKEND` in its place.",
        ),
        Opt::text("--moe-backend", "Kernels of the experts: `auto`, `triton`, `deep_gemm`, ..."),
        Opt::switch("--enforce-eager", "Neither compile nor capture graphs."),
        Opt::integer("--max-cudagraph-capture-size", "Largest batch that runs as a captured graph.").min(0),
        Opt::list("--cudagraph-capture-sizes", "Sizes of the batches that are captured as graphs."),
        Opt::text("--compilation-config", "Compilation and capture of graphs, as JSON."),
        Opt::choice("--performance-mode", &modes, "What the engine tunes itself for."),
        Opt::switch("--enable-dbo", "Overlap two half batches."),
    ]
}

fn serving() -> Vec<Opt> {
    vec![
        Opt::text(
            "--reasoning-parser",
            "Tells reasoning from the answer: `qwen3`, `deepseek_r1`, `openai_gptoss`, ...",
        ),
        Opt::switch("--enable-auto-tool-choice", "Let the model decide whether it calls a tool."),
        Opt::text("--tool-call-parser", "Reads calls of tools out of the answer: `hermes`, `qwen3_coder`, ..."),
        Opt::text("--chat-template", "Chat template in place of the model's own: a path, or the template."),
        Opt::integer("--api-server-count", "Processes that take requests.").min(1),
        Opt::toggle("--enable-prompt-tokens-details", "Say in the usage how many tokens of a prompt were cached."),
        Opt::switch("--disable-log-stats", "No statistics, and so no metrics."),
    ]
}
