//! The arguments of the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Find out which LLM serving set-up does most for a given traffic, and prove it.
#[derive(Debug, Parser)]
#[command(name = "bench-host", version, max_term_width = 100, propagate_version = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Options of every command.
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// Say more on stderr (-v: what happens, -vv: every detail).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Colour the output.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,

    /// Where compiled adapters are kept between runs [default: bench-host in the user's cache folder].
    #[arg(long, global = true, env = "BENCH_HOST_CACHE", value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a workload: launch the engine, drive the load, write the trace, print the figures.
    Run(Run),
    /// Print all that `run` would do, without contacting anything.
    Plan(Plan),
    /// Check workload files: all mistakes at once, each underlined.
    Check(Check),
    /// Print the prompts that `run` would send, one line each.
    Samples(Samples),
    /// Compute the figures of a run from its trace and print them.
    Report(Report),
    /// Show the adapters of engines and datasets.
    Plugins(Plugins),
    /// Serve the simulated engine: a real HTTP server with known timings and faults.
    Sim(Box<crate::command::sim::SimArgs>),
    /// Find out how far the client can be trusted on this machine: its own errors at rising load.
    Selftest(SelfTest),
    /// Print the JSON Schema of workload files, the adapters' options included.
    Schema(Schema),
}

/// A workload file and changes to it.
#[derive(Clone, Debug, Args)]
pub(crate) struct WorkloadFile {
    /// The workload file (TOML).
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Override a key: `engine.options.tensor-parallel-size=2`, `scenario.NAME.load.rate=4`. The value is TOML; a bare
    /// word is a string. May be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Options of `selftest`.
#[derive(Debug, Args)]
pub(crate) struct SelfTest {
    /// Load threads, as `client.threads` of a workload.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,

    /// Cores that the load threads are pinned to, as `client.cores` of a workload.
    #[arg(long, value_name = "CORE", value_delimiter = ',')]
    pub(crate) cores: Vec<u32>,

    /// How bytes come and go, as `client.transport` of a workload.
    #[arg(long, value_name = "NAME", value_parser = ["io_uring", "epoll", "hyper"])]
    pub(crate) transport: Option<String>,

    /// A few short trials; nothing is stored.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    #[allow(missing_docs, reason = "documented where it is defined")]
    pub(crate) workload: WorkloadFile,

    /// Where the trace, the logs and the summary go; must not hold a run already [default: runs/NAME-TIME].
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Also print the block that another tool would print.
    #[arg(long, value_enum, value_name = "TOOL")]
    pub(crate) compat: Option<Compat>,

    /// Print no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Tools whose printed block can be imitated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// `vllm bench serve` 0.11, its role-chunk rule included.
    #[value(name = "vllm-0.11")]
    Vllm011,
}

/// Options of `plan`.
#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    #[allow(missing_docs, reason = "documented where it is defined")]
    pub(crate) workload: WorkloadFile,

    /// The form.
    #[arg(long, value_enum, default_value_t = PlanFormat::Text, value_name = "FORMAT")]
    pub(crate) format: PlanFormat,
}

/// Forms of a printed plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The workload files.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Override a key, as for `run`.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Options of `samples`.
#[derive(Debug, Args)]
pub(crate) struct Samples {
    #[command(flatten)]
    #[allow(missing_docs, reason = "documented where it is defined")]
    pub(crate) workload: WorkloadFile,

    /// Only this scenario.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,

    /// The form.
    #[arg(long, value_enum, default_value_t = SamplesFormat::Jsonl, value_name = "FORMAT")]
    pub(crate) format: SamplesFormat,

    /// Print the prompts' texts too.
    #[arg(long)]
    pub(crate) text: bool,
}

/// Forms of printed samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SamplesFormat {
    /// A JSON object a line: `index`, `sha256` of the UTF-8 prompt, `prompt_tokens`, `output_tokens`.
    Jsonl,
    /// The same in columns.
    Text,
}

/// Options of `report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The run's folder.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,

    /// The form.
    #[arg(long, value_enum, default_value_t = ReportFormat::Text, value_name = "FORMAT")]
    pub(crate) format: ReportFormat,

    /// Print the block that another tool would print instead.
    #[arg(long, value_enum, value_name = "TOOL", conflicts_with = "format")]
    pub(crate) compat: Option<Compat>,
}

/// Forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people.
    Text,
    /// The whole summary, as in `summary.json`.
    Json,
    /// A line for each figure and statistic.
    Csv,
    /// Tables for a page.
    #[value(alias = "markdown")]
    Md,
}

/// Options of `plugins`.
#[derive(Debug, Args)]
pub(crate) struct Plugins {
    /// What to do with them.
    #[command(subcommand)]
    pub(crate) action: PluginsAction,
}

/// What to do with adapters.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginsAction {
    /// List the adapters that there are.
    List,
    /// Show one adapter: what it is, what it asks for, its options, its digest.
    Inspect {
        /// Name of a bundled adapter, or path of a component (`.wasm`).
        #[arg(value_name = "ADAPTER")]
        adapter: String,
        /// The form.
        #[arg(long, value_enum, default_value_t = PlanFormat::Text, value_name = "FORMAT")]
        format: PlanFormat,
    },
}

/// Options of `schema`.
#[derive(Debug, Args)]
pub(crate) struct Schema {}
