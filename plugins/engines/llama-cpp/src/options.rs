//! The options of `llama-server` that change what a benchmark measures, by their own names.

use bench_sdk::command::CommandOption as Opt;

/// In the order in which they stand in the command.
pub(crate) fn all() -> Vec<Opt> {
    [capacity(), devices(), memory(), speculative(), serving()].concat()
}

fn capacity() -> Vec<Opt> {
    vec![
        Opt::integer("--ctx-size", "Tokens of context of all slots together; 0 is what the model was trained with.")
            .min(0),
        Opt::integer("--parallel", "Slots: requests that run at a time.").min(1),
        Opt::integer("--threads", "Threads that decode.").min(1),
        Opt::integer("--threads-batch", "Threads that read prompts.").min(1),
        Opt::integer("--threads-http", "Threads that take requests.").min(1),
        Opt::integer("--batch-size", "Most tokens of one step.").min(1),
        Opt::integer("--ubatch-size", "Most tokens of a step that are computed at a time.").min(1),
        Opt::switch("--no-cont-batching", "Don't let a request join a running batch."),
    ]
}

fn devices() -> Vec<Opt> {
    let modes = [
        ("none", "One device."),
        ("layer", "Layers are spread over the devices."),
        ("row", "Rows of each layer are spread over the devices."),
    ];
    vec![
        Opt::integer("--n-gpu-layers", "Layers that run on devices.").min(0),
        Opt::choice("--split-mode", &modes, "How the model is spread over several devices."),
        Opt::text("--tensor-split", "Share of each device: `3,1`."),
        Opt::integer("--main-gpu", "Device for what is not split.").min(0),
        Opt::switch("--cpu-moe", "Keep the weights of all experts in main memory."),
        Opt::integer("--n-cpu-moe", "Layers whose experts' weights stay in main memory.").min(0),
        Opt::text("--numa", "How threads are spread over memory nodes: `distribute`, `isolate`, `numactl`."),
    ]
}

fn memory() -> Vec<Opt> {
    let switches = [("on", "Always."), ("off", "Never."), ("auto", "Where the device can.")];
    let cache = "`f32`, `f16`, `bf16`, `q8_0`, `q4_0`, `q4_1`, `iq4_nl`, `q5_0`, `q5_1`";
    vec![
        Opt::choice("--flash-attn", &switches, "Flash attention."),
        Opt::text("--cache-type-k", &format!("Type of the keys of the KV cache: {cache}.")),
        Opt::text("--cache-type-v", &format!("Type of the values of the KV cache: {cache}.")),
        Opt::toggle("--cache-prompt", "Keep the KV cache of a slot's last prompt for one that begins alike."),
        Opt::integer("--cache-reuse", "Least tokens of a piece of a cached prompt that is used elsewhere.").min(0),
        Opt::switch("--kv-unified", "One KV cache for all slots."),
        Opt::switch("--mlock", "Keep the model in main memory."),
        Opt::switch("--no-mmap", "Read the model in place of mapping its file."),
    ]
}

fn speculative() -> Vec<Opt> {
    vec![
        Opt::text("--model-draft", "Draft model of speculative decoding: a path."),
        Opt::integer("--draft-max", "Most tokens that are drafted at a time.").min(0),
        Opt::integer("--draft-min", "Least tokens that are drafted at a time.").min(0),
    ]
}

fn serving() -> Vec<Opt> {
    let formats = [
        ("none", "Reasoning stays in the answer."),
        ("auto", "As the model's chat template says."),
        ("deepseek", "In `reasoning_content`."),
        ("deepseek-legacy", "In `reasoning_content`, and in the answer too."),
    ];
    vec![
        Opt::toggle("--jinja", "Apply the model's own chat template."),
        Opt::text("--chat-template", "Name of a built-in chat template in place of the model's own."),
        Opt::text("--chat-template-file", "File of a chat template in place of the model's own."),
        Opt::choice("--reasoning-format", &formats, "Where reasoning goes."),
        Opt::integer("--reasoning-budget", "-1: as much reasoning as the model likes; 0: none.").min(-1),
        Opt::switch("--no-warmup", "Run nothing empty at the start."),
        Opt::integer("--seed", "Seed of sampling, where a request gives none; -1 is a random one.").min(-1),
        Opt::switch("--metrics", "Offer metrics, so that counts can be checked against the engine's own.")
            .default(true),
    ]
}
