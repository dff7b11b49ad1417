//! What adapters say of themselves, whatever version of the contract they were built for.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an adapter says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdapterInfo {
    /// Stable identifier, kebab-case.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Semantic version of the adapter, not of the engine.
    pub version: String,
    /// One sentence.
    pub summary: String,
    /// SPDX expression.
    pub license: String,
    /// Where to report problems.
    pub homepage: Option<String>,
}

/// One documented setting of an adapter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Kebab-case; a dot groups keys as a TOML table would.
    pub key: String,
    /// CommonMark; the first sentence is the summary.
    pub doc: String,
    /// What values it takes.
    pub kind: SettingKind,
    /// Used when the user gives none. Without one an absent setting stays absent.
    pub default: Option<SettingValue>,
    /// The user has to give it.
    pub required: bool,
    /// Engine option that it turns into.
    pub engine_option: Option<String>,
    /// Set when the setting is going away; says what to use instead.
    pub deprecated: Option<String>,
}

/// What values a setting takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingKind {
    /// `true` or `false`.
    Boolean,
    /// A whole number, bounds inclusive.
    Integer {
        /// Least.
        min: Option<i64>,
        /// Greatest.
        max: Option<i64>,
    },
    /// A number, bounds inclusive.
    Number {
        /// Least.
        min: Option<f64>,
        /// Greatest.
        max: Option<f64>,
    },
    /// Any text.
    Text,
    /// One of these: name and documentation.
    Choice(Vec<(String, String)>),
    /// Zero or more texts, order kept.
    TextList,
    /// Key = text pairs.
    TextMap,
    /// A length of time, `"1.5s"`; milliseconds in the value.
    Duration,
    /// A number of bytes, `"16GiB"`.
    Size,
    /// A file that the user grants, as a path.
    Source,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SettingValue {
    /// Of kind boolean.
    Boolean(bool),
    /// Of kind integer, duration (milliseconds) and size (bytes).
    Integer(i64),
    /// Of kind number.
    Number(f64),
    /// Of kind text and choice.
    Text(String),
    /// Of kind text-list.
    TextList(Vec<String>),
    /// Of kind text-map.
    TextMap(BTreeMap<String, String>),
}

/// Validated settings by key, defaults filled in. Sources are not among them.
pub type Settings = BTreeMap<String, SettingValue>;

/// How bad a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Probably not what was meant.
    Warning,
    /// Can't work.
    Error,
}

/// What an adapter has to say of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterDiagnostic {
    /// How bad.
    pub severity: Severity,
    /// Setting at fault, if one is.
    pub key: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// What an engine can be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[allow(missing_docs, reason = "each field is the name of what the engine can do")]
pub struct Features {
    pub chat: bool,
    pub text_prompt: bool,
    pub token_prompt: bool,
    pub streaming: bool,
    pub ignore_eos: bool,
    pub min_tokens: bool,
    pub stop_texts: bool,
    pub seed: bool,
    pub logprobs: bool,
    pub tools: bool,
    pub reasoning: bool,
    pub usage_in_stream: bool,
    pub token_ids_out: bool,
    pub json_schema: bool,
    pub images: bool,
}

/// A program that an engine adapter may name in a launch plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The name: `vllm`.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// How to learn its version.
    pub version: crate::launch::VersionProbe,
}

/// All that an engine adapter may ever ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineManifest {
    /// Who it is.
    pub info: AdapterInfo,
    /// Name of the engine.
    pub engine: String,
    /// Versions known to work, as a Cargo-like requirement.
    pub engine_versions: String,
    /// Programs that a plan may name.
    pub programs: Vec<Program>,
    /// The engine can be launched; else it can only be attached to.
    pub launchable: bool,
    /// Port that the engine takes when told none.
    pub default_port: Option<u16>,
    /// Environment variables that a plan may set; a trailing `*` is a wildcard.
    pub env: Vec<String>,
    /// Secrets that a plan may use.
    pub secrets: Vec<String>,
    /// Its options.
    pub settings: Vec<Setting>,
    /// What the engine can be asked for.
    pub features: Features,
}

/// What is known of the data behind a setting of kind `source`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceNeed {
    /// Key of the setting.
    pub id: String,
    /// What it is.
    pub doc: String,
    /// Where people get it.
    pub origin: Option<String>,
    /// Its licence.
    pub license: Option<String>,
    /// SHA-256 of the one file known to work, lower-case hex.
    pub digest: Option<String>,
}

/// Whether a dataset needs the tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenizerNeed {
    /// It has no use for one.
    Never,
    /// It takes one where there is one.
    IfPresent,
    /// It can't do without.
    Required,
}

/// All that a dataset adapter may ever ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetManifest {
    /// Who it is.
    pub info: AdapterInfo,
    /// Its options.
    pub settings: Vec<Setting>,
    /// What is known of its data.
    pub sources: Vec<SourceNeed>,
}
