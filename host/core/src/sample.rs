//! What a dataset yields.

use serde::{Deserialize, Serialize};

/// One request to make, without the parts that the workload decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Stable: the same for the same data whatever the seed.
    pub id: String,
    /// What to send.
    pub prompt: Prompt,
    /// Tokens of the prompt where the dataset counted or made them.
    pub prompt_tokens: Option<u32>,
    /// Length that the answer should have.
    pub output_tokens: Option<u32>,
    /// Overrides the workload's sampling parameters.
    pub sampling: Option<Sampling>,
    /// JSON array of tool definitions (OpenAI's form).
    pub tools: Option<String>,
    /// JSON Schema that the answer must follow.
    pub json_schema: Option<String>,
    /// Samples of one session share it.
    pub session: Option<String>,
    /// Place in the session, from 0.
    pub turn: Option<u32>,
    /// Arrival relative to the start, for recorded traces; seconds.
    pub timestamp: Option<f64>,
    /// For grouping in the analysis.
    pub labels: Vec<(String, String)>,
}

/// A prompt in one of its three forms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prompt {
    /// Text; a chat endpoint gets it as one user message.
    Text(String),
    /// Token ids.
    Tokens(Vec<u32>),
    /// Messages of a chat.
    Messages(Vec<Message>),
}

impl Prompt {
    /// The text that stands for the prompt in digests (`prompt_sha256`) and in the trace: the text
    /// itself; messages' texts joined by a newline; token ids written in decimal, joined by a blank.
    pub fn digest_text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Prompt::Text(t) => t.as_str().into(),
            Prompt::Tokens(ids) => ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ").into(),
            Prompt::Messages(m) => {
                let texts: Vec<&str> = m
                    .iter()
                    .flat_map(|m| &m.content)
                    .map(|p| match p {
                        Part::Text(t) | Part::Image(t) => t.as_str(),
                    })
                    .collect();
                texts.join("\n").into()
            }
        }
    }
}

/// One message of a chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Vec<Part>,
    /// The tool call that a `tool` message answers.
    pub tool_call_id: Option<String>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The operator.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Text.
    Text(String),
    /// A `data:` URL or a URL that the engine can reach.
    Image(String),
}

/// How the model draws its tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 is greedy.
    pub temperature: f32,
    /// Nucleus.
    pub top_p: Option<f32>,
    /// Number of candidates.
    pub top_k: Option<u32>,
    /// The engine's own seed.
    pub seed: Option<u64>,
}

impl Default for Sampling {
    /// Greedy.
    fn default() -> Sampling {
        Sampling { temperature: 0.0, top_p: None, top_k: None, seed: None }
    }
}

/// Something the user should know of the samples, with how often it happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleNote {
    /// Kebab-case, stable: `skipped-record`, `assistant-prompt`.
    pub code: String,
    /// What it means.
    pub message: String,
    /// How often.
    pub count: u64,
    /// Byte offset of the first one in the source.
    pub offset: Option<u64>,
}
