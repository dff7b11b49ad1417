//! Every key of a workload: its kind, default and meaning. Reading, the JSON Schema and the reference
//! all come from these tables.

/// A table of the workload.
#[derive(Debug)]
pub(crate) struct TableDef {
    /// As it stands in brackets: `scenario.load`.
    pub(crate) path: &'static str,
    /// What it is for.
    pub(crate) doc: &'static str,
    pub(crate) keys: &'static [Key],
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// What holds where the key is absent, for people.
    pub(crate) default: &'static str,
    /// CommonMark.
    pub(crate) doc: &'static str,
}

/// What values a key takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A text that is not empty.
    Text,
    /// A path, relative to the workload file.
    Path,
    /// `true` or `false`.
    Flag,
    /// A whole number, bounds inclusive.
    Integer { min: u64, max: u64 },
    /// A finite number up to `max`, inclusive.
    Number { min: f64, or_equal: bool, max: f64 },
    /// A length of time.
    Duration { or_zero: bool },
    /// A number of bytes, at least 1.
    Size,
    /// One of these words.
    Choice(&'static [Word]),
    /// Texts, order kept.
    Texts,
    /// Lists of texts.
    Patterns,
    /// Finite numbers between these, exclusive.
    Numbers { min: f64, max: f64 },
    /// Name = text, or name = `{ env = "NAME" }`.
    Secretive,
    /// Name = path.
    Paths,
    /// A number of devices, or their indices.
    Gpus,
    /// Any table that JSON can hold.
    Extra,
    /// What the adapter defines.
    Options,
    /// A table of ours.
    Table(&'static TableDef),
    /// An array of tables.
    Tables(&'static TableDef),
}

/// A word of a choice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) word: &'static str,
    /// A word that is known but can't be used yet: what to do instead.
    pub(crate) later: Option<&'static str>,
}

const fn word(word: &'static str) -> Word {
    Word { word, later: None }
}

const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key { name, kind, required: false, default: "", doc }
}

impl Key {
    const fn required(self) -> Key {
        Key { required: true, ..self }
    }

    const fn default(self, default: &'static str) -> Key {
        Key { default, ..self }
    }
}

const COUNT: Kind = Kind::Integer { min: 1, max: 1_000_000_000 };
const SLOTS: Kind = Kind::Integer { min: 1, max: 1_000_000 };
const TOKENS: Kind = Kind::Integer { min: 1, max: 100_000_000 };
const SEED: Kind = Kind::Integer { min: 0, max: u64::MAX };
const RATE: Kind = Kind::Number { min: 0.0, or_equal: false, max: 1e6 };
const TIME: Kind = Kind::Duration { or_zero: false };

pub(crate) static ROOT: TableDef = TableDef {
    path: "",
    doc: "The file's first lines.",
    keys: &[
        key("name", Kind::Text, "What the run is called in traces and reports.").required(),
        key("engine", Kind::Table(&ENGINE), "What is measured.").required(),
        key("tokenizer", Kind::Table(&TOKENIZER), "How tokens are counted on this side."),
        key("seeds", Kind::Table(&SEEDS), "Where all that is random begins."),
        key("scenario", Kind::Tables(&SCENARIO), "One dataset under one load; they run in this order.").required(),
        key("repeat", Kind::Table(&REPEAT), "How often all is done."),
        key("trace", Kind::Table(&TRACE), "What is kept of every request."),
        key("client", Kind::Table(&CLIENT), "The load client itself."),
        key("report", Kind::Table(&REPORT), "What the report shows."),
    ],
};

pub(crate) static ENGINE: TableDef = TableDef {
    path: "engine",
    doc: "The engine, and the model that it serves. With neither `[engine.launch]` nor `[engine.attach]` the engine \
          is launched with the defaults.",
    keys: &[
        key("adapter", Kind::Text, "An adapter's id, or the path of a `.wasm` relative to the workload file.")
            .required(),
        key("model", Kind::Text, "The model, as the engine knows it: `Qwen/Qwen3-32B`.").required(),
        key("model-path", Kind::Path, "Where the engine finds the model, if not by its name: a file or folder.")
            .default("the model's name"),
        key("revision", Kind::Text, "Revision of the model: a branch, tag or commit."),
        key("served-as", Kind::Text, "Name under which the engine serves the model.").default("the model's name"),
        key("options", Kind::Options, "The adapter's own settings: `bench-host plugins inspect` lists them.")
            .default("the adapter's"),
        key("launch", Kind::Table(&LAUNCH), "Start the engine for the run, and stop it afterwards."),
        key("attach", Kind::Table(&ATTACH), "Measure servers that are already running."),
    ],
};

pub(crate) static LAUNCH: TableDef = TableDef {
    path: "engine.launch",
    doc: "How the engine is started. Not together with `[engine.attach]`.",
    keys: &[
        key(
            "runtime",
            Kind::Choice(&[
                word("process"),
                Word { word: "container", later: Some("use `runtime = \"process\"`, or start it yourself and attach") },
            ]),
            "What it runs in.",
        )
        .default("`\"process\"`"),
        key("replicas", Kind::Integer { min: 1, max: 1024 }, "Copies of the engine; requests go to them in turn.")
            .default("`1`"),
        key(
            "gpus",
            Kind::Gpus,
            "Devices of all replicas together: a number (`2`) or indices (`[0, 1]`). They are shared out evenly.",
        )
        .default("those that the engine takes"),
        key("host", Kind::Text, "Address to listen on.").default("`\"127.0.0.1\"`"),
        key(
            "port",
            Kind::Integer { min: 1, max: 65535 },
            "Port of the first replica; the next one takes the next port.",
        )
        .default("a free one"),
        key("ready-timeout", TIME, "How long the engine may take until it can serve.").default("the adapter's"),
        key("extra-args", Kind::Texts, "Arguments appended to the engine's command as they are.").default("`[]`"),
        key(
            "env",
            Kind::Secretive,
            "Environment variables of the engine. `NAME = { env = \"NAME\" }` passes one of ours on; \
             its value stands in no file of ours (what the engine itself writes into its log is the engine's).",
        )
        .default("`{}`"),
        key(
            "programs",
            Kind::Paths,
            "Executables for the adapter's programs: `vllm = \"venv/bin/vllm\"`. A name without `/` is looked up in \
             `PATH`.",
        )
        .default("looked up in `PATH`"),
        key(
            "allow",
            Kind::Patterns,
            "Commands that an adapter which is not bundled may start; `*` is one argument, `**` all that follow: \
             `[[\"python3\", \"-m\", \"my.engine\", \"**\"]]`.",
        )
        .default("`[]`"),
    ],
};

pub(crate) static ATTACH: TableDef = TableDef {
    path: "engine.attach",
    doc: "Servers that are already running. Nothing but the load is sent to them, and a GET of their model list.",
    keys: &[
        key("urls", Kind::Texts, "Roots of the servers; requests go to them in turn. A trailing `/v1` is accepted.")
            .required(),
        key(
            "api-key-env",
            Kind::Text,
            "Name of the environment variable that holds the API key (sent as a bearer token).",
        ),
        key(
            "headers",
            Kind::Secretive,
            "Headers of every request. `name = { env = \"NAME\" }` takes the value from an environment variable.",
        )
        .default("`{}`"),
    ],
};

pub(crate) static TOKENIZER: TableDef = TableDef {
    path: "tokenizer",
    doc: "Only where a dataset needs it, or a server that reports no usage.",
    keys: &[key("path", Kind::Path, "A `tokenizer.json` of the model.").required()],
};

pub(crate) static SEEDS: TableDef = TableDef {
    path: "seeds",
    doc: "Three seeds, so that one can be changed without the others.",
    keys: &[
        key("samples", SEED, "For the samples: what other tools call `--seed`.").default("`0`"),
        key("order", SEED, "Shuffles the samples before they are sent.").default("not shuffled"),
        key("arrival", SEED, "For arrival times.")
            .default("drawn from `samples`; under `process = \"vllm-0.11\"` equal to it"),
    ],
};

pub(crate) static SCENARIO: TableDef = TableDef {
    path: "scenario",
    doc: "One dataset under one load. Written `[[scenario]]`, once for each.",
    keys: &[
        key("name", Kind::Text, "Unique; letters, digits, `-`, `_` and `.`.").required(),
        key("dataset", Kind::Table(&DATASET), "Where the prompts come from.").required(),
        key("load", Kind::Table(&LOAD), "When requests are sent.").required(),
        key("seeds", Kind::Table(&SCENARIO_SEEDS), "Seeds of this scenario only."),
        key("sampling", Kind::Table(&SAMPLING), "How the model draws its tokens."),
        key("slo", Kind::Table(&SLO), "Limits that a good request keeps."),
        key("limits", Kind::Table(&LIMITS), "What ends a request, or makes the run invalid."),
        key("warmup", Kind::Table(&WARMUP), "Requests before the measurement."),
    ],
};

pub(crate) static SCENARIO_SEEDS: TableDef = TableDef {
    path: "scenario.seeds",
    doc: "Each stands for the key of `[seeds]` in this scenario.",
    keys: &[
        key("samples", SEED, "For the samples.").default("that of `[seeds]`"),
        key("order", SEED, "Shuffles the samples.").default("that of `[seeds]`"),
        key("arrival", SEED, "For arrival times.").default("that of `[seeds]`, else drawn from `samples` as there"),
    ],
};

pub(crate) static DATASET: TableDef = TableDef {
    path: "scenario.dataset",
    doc: "The dataset.",
    keys: &[
        key("adapter", Kind::Text, "An adapter's id, or the path of a `.wasm` relative to the workload file.")
            .required(),
        key("options", Kind::Options, "The adapter's own settings. Paths are relative to the workload file.")
            .default("the adapter's"),
    ],
};

pub(crate) static LOAD: TableDef = TableDef {
    path: "scenario.load",
    doc: "When requests are sent. At least one of `requests` and `duration` is given; with both, what comes first ends \
          the load. A kind takes only its own keys.",
    keys: &[
        key(
            "kind",
            Kind::Choice(&[
                word("burst"),
                word("closed"),
                word("constant"),
                word("poisson"),
                word("gamma"),
                word("ramp"),
                Word { word: "replay", later: Some("use `burst`, `closed`, `constant`, `poisson`, `gamma` or `ramp`") },
            ]),
            "`burst`: all at once. `closed`: a fixed number in flight. `constant`, `poisson`, `gamma`: a rate, with \
             even, exponential or gamma gaps. `ramp`: a rate that changes.",
        )
        .required(),
        key("requests", COUNT, "Stop after this many; also what the dataset is asked for."),
        key("duration", TIME, "Send nothing after this long. Not for `burst`."),
        key("concurrency", SLOTS, "`closed`: requests in flight."),
        key(
            "think-time",
            Kind::Duration { or_zero: true },
            "`closed`: pause of a slot between an answer and its next request.",
        )
        .default("`\"0s\"`"),
        key("rate", RATE, "`constant`, `poisson`, `gamma`: requests a second."),
        key("burstiness", RATE, "`gamma`, `ramp`: shape of the gaps; 1 is Poisson, less is burstier.")
            .default("`1` for `ramp`"),
        key(
            "start-rate",
            Kind::Number { min: 0.0, or_equal: true, max: 1e6 },
            "`ramp`: requests a second at the start.",
        ),
        key("end-rate", RATE, "`ramp`: requests a second at the end."),
        key("shape", Kind::Choice(&[word("linear"), word("exponential")]), "`ramp`: how the rate gets there.")
            .default("`\"linear\"`"),
        key(
            "max-concurrency",
            SLOTS,
            "All but `closed`: most requests in flight; further ones wait, and the wait shows.",
        )
        .default("no cap"),
        key(
            "process",
            Kind::Choice(&[word("bench"), word("vllm-0.11")]),
            "`poisson`, `gamma`, `ramp`: rule that draws arrival times. `vllm-0.11` gives those of `vllm bench serve`.",
        )
        .default("`\"bench\"`"),
    ],
};

pub(crate) static SAMPLING: TableDef = TableDef {
    path: "scenario.sampling",
    doc: "How the model draws its tokens, and what is asked of the answer.",
    keys: &[
        key("temperature", Kind::Number { min: 0.0, or_equal: true, max: 100.0 }, "0 is greedy.").default("`0`"),
        key("top-p", Kind::Number { min: 0.0, or_equal: false, max: 1.0 }, "Nucleus.").default("the engine's"),
        key("top-k", Kind::Integer { min: 1, max: 1_000_000 }, "Number of candidates.").default("the engine's"),
        key("seed", SEED, "The engine's own seed.").default("none is sent"),
        key("max-tokens", TOKENS, "Most tokens of an answer.").default("the sample's length"),
        key("min-tokens", TOKENS, "Least tokens of an answer.").default("none is sent"),
        key("ignore-eos", Kind::Flag, "Go on after an end-of-text token.").default("`false`"),
        key("stop", Kind::Texts, "Texts that end the answer.").default("`[]`"),
        key("stream", Kind::Flag, "Ask for a stream; without one there is no time to first token.")
            .default("`true`, where the engine can"),
        key("extra", Kind::Extra, "Further fields of the request's body, passed through as they are.").default("`{}`"),
    ],
};

pub(crate) static SLO: TableDef = TableDef {
    path: "scenario.slo",
    doc: "Goodput counts the complete requests that keep all of these.",
    keys: &[
        key("ttft", TIME, "Time to first token.").default("no limit"),
        key("tpot", TIME, "Time per output token after the first event.").default("no limit"),
        key("itl", TIME, "Greatest gap between two events of the answer.").default("no limit"),
        key("e2e", TIME, "End-to-end latency.").default("no limit"),
    ],
};

pub(crate) static LIMITS: TableDef = TableDef {
    path: "scenario.limits",
    doc: "What ends a request early, and what makes the run invalid.",
    keys: &[
        key("request-timeout", TIME, "Whole request, from `sent`.").default("`\"6h\"`"),
        key("connect-timeout", TIME, "Until the connection is there.").default("`\"10s\"`"),
        key("first-token-timeout", TIME, "Until the first generated content.").default("the whole request's"),
        key("inter-token-timeout", TIME, "Between two events.").default("the whole request's"),
        key("drain-timeout", TIME, "How long answers may take after the last send, or the first interrupt.")
            .default("the whole request's"),
        key("max-event", Kind::Size, "Greatest event, after decompression.").default("`\"64MiB\"`"),
        key("max-response", Kind::Size, "Greatest answer, after decompression.").default("`\"256MiB\"`"),
        key(
            "max-failure-rate",
            Kind::Number { min: 0.0, or_equal: true, max: 1.0 },
            "Greatest share of failed requests in a valid run.",
        )
        .default("`0`"),
    ],
};

pub(crate) static WARMUP: TableDef = TableDef {
    path: "scenario.warmup",
    doc: "Requests sent before the measurement and marked as such. They never change the samples.",
    keys: &[key("requests", Kind::Integer { min: 0, max: 1_000_000 }, "How many.")
        .default("under launch the least of `requests`, `concurrency` (or `max-concurrency`) and 8; under attach `0`")],
};

pub(crate) static REPEAT: TableDef = TableDef {
    path: "repeat",
    doc: "How often all scenarios are done.",
    keys: &[key("count", Kind::Integer { min: 1, max: 1000 }, "Times.").default("`1`")],
};

pub(crate) static TRACE: TableDef = TableDef {
    path: "trace",
    doc: "What is kept of every request.",
    keys: &[key("text", Kind::Flag, "Keep the texts of prompts and answers.").default("`false`")],
};

pub(crate) static CLIENT: TableDef = TableDef {
    path: "client",
    doc: "The load client itself.",
    keys: &[
        key("threads", Kind::Integer { min: 1, max: 1024 }, "Threads that send and receive.")
            .default("the client's choice"),
        key(
            "cores",
            Kind::Text,
            "Cores that the threads are pinned to in turn, as `\"2-5,8\"`. Best are cores that the engine does not use.",
        )
        .default("none: the system places them"),
        key(
            "transport",
            Kind::Choice(&[word("io_uring"), word("epoll"), word("hyper")]),
            "How bytes come and go: `io_uring` and `epoll` with the client's own HTTP/1.1, `hyper` for everything, https \
             among it.",
        )
        .default("the first that the machine and the servers allow"),
        key(
            "connections",
            Kind::Choice(&[word("warm"), word("cold")]),
            "`warm`: opened ahead and kept. `cold`: each request looks the server up and opens its own, and the trace says how \
             long that took.",
        )
        .default("`warm`"),
    ],
};

pub(crate) static REPORT: TableDef = TableDef {
    path: "report",
    doc: "What the report shows.",
    keys: &[key(
        "percentiles",
        Kind::Numbers { min: 0.0, max: 100.0 },
        "Percentiles of every latency, above 0 and below 100.",
    )
    .default("`[90, 95, 99, 99.9]`")],
};

/// Every table, in the order of the reference.
pub(crate) static TABLES: &[&TableDef] = &[
    &ROOT,
    &ENGINE,
    &LAUNCH,
    &ATTACH,
    &TOKENIZER,
    &SEEDS,
    &SCENARIO,
    &DATASET,
    &LOAD,
    &SCENARIO_SEEDS,
    &SAMPLING,
    &SLO,
    &LIMITS,
    &WARMUP,
    &REPEAT,
    &TRACE,
    &CLIENT,
    &REPORT,
];
