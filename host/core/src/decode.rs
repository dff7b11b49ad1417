//! How an answer is read: a declared plan that the host runs natively, or the adapter itself.

use serde::{Deserialize, Serialize};

/// How a body falls into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// `text/event-stream`; a frame is the data of one event.
    ServerSentEvents,
    /// One JSON text a line.
    JsonLines,
    /// The whole body is one frame.
    Whole,
}

/// How answers are framed while they arrive, and read afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamFormat {
    /// How a streamed body falls into frames. A body that isn't of this type (by its content type) is
    /// one frame.
    pub framing: Framing,
    /// Frame that ends the stream and carries nothing: `[DONE]`.
    pub done: Option<String>,
    /// The plan; `None`: the adapter decodes.
    pub plan: Option<DecodePlan>,
}

/// A declarative decoder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecodePlan {
    /// What to take from each frame.
    pub rules: Vec<Rule>,
    /// What the engine's finish reasons mean.
    pub finish_reasons: Vec<(String, FinishReason)>,
}

/// Takes one place of a frame's JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// JSON pointer (RFC 6901).
    pub pointer: String,
    /// What stands there.
    pub take: Take,
    /// Each frame repeats all that came before.
    pub cumulative: bool,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// Generated text; empty or null is no content.
    Text,
    /// Generated reasoning.
    Reasoning,
    /// Any value but null, "" and [] is content of a tool call.
    ToolCall,
    /// A frame that has it and no content is a role frame.
    Role,
    /// An array: its length is the number of new tokens.
    TokenIds,
    /// A number of new tokens.
    TokenCount,
    /// Why the answer ended.
    FinishReason,
    /// Usage: tokens of the prompt.
    PromptTokens,
    /// Usage: tokens of the prompt that were cached.
    CachedPromptTokens,
    /// Usage: tokens generated so far.
    GeneratedTokens,
    /// Usage: tokens of reasoning among them.
    ReasoningTokens,
    /// Any value but null: the server reports an error.
    Error,
}

/// What a finish reason means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    /// The model ended, or a stop text came.
    Stop,
    /// The length asked for was reached.
    Length,
    /// The model calls tools.
    ToolCalls,
    /// A filter cut it.
    ContentFilter,
    /// The server gave up.
    Aborted,
    /// Something else that is an end.
    Other,
}

/// The kind of a stream event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// Only says who speaks.
    Role,
    /// Generated text.
    Text,
    /// Generated reasoning.
    Reasoning,
    /// Generated tool call.
    Tool,
    /// Only usage.
    Usage,
    /// Anything else.
    Other,
}

impl EventKind {
    /// Every kind, in the order of the trace's documentation.
    pub const ALL: [EventKind; 6] =
        [EventKind::Role, EventKind::Text, EventKind::Reasoning, EventKind::Tool, EventKind::Usage, EventKind::Other];

    /// The word that stands in the trace.
    pub const fn as_str(self) -> &'static str {
        match self {
            EventKind::Role => "role",
            EventKind::Text => "text",
            EventKind::Reasoning => "reasoning",
            EventKind::Tool => "tool",
            EventKind::Usage => "usage",
            EventKind::Other => "other",
        }
    }

    /// Generated content, on any channel.
    pub const fn is_content(self) -> bool {
        matches!(self, EventKind::Text | EventKind::Reasoning | EventKind::Tool)
    }
}

/// The frames of one answer, as they are handed to an adapter that decodes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramedResponse {
    /// Number of its request.
    pub id: u64,
    /// HTTP status.
    pub status: u16,
    /// Frames in order, without the framing.
    pub frames: Vec<String>,
    /// Bytes that are no UTF-8 were replaced.
    pub lossy: bool,
}

/// What an answer says. The events' columns are of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Frame in which each event came.
    pub frames: Vec<u32>,
    /// Kind of each event.
    pub kinds: Vec<EventKind>,
    /// New tokens of each event; `None` where the engine doesn't say.
    pub tokens: Vec<Option<u32>>,
    /// Text of all text events.
    pub text: String,
    /// Text of all reasoning events.
    pub reasoning: String,
    /// Where each event's text ends: in `text` for text events, in `reasoning` for reasoning events, else
    /// the length so far of `text`.
    pub text_ends: Vec<usize>,
    /// What the server counted.
    pub usage: Option<Usage>,
    /// `usage` came with content before the end, so it grew event by event.
    pub usage_is_cumulative: bool,
    /// The engine's own word for the end, and its meaning.
    pub finish: Option<(String, FinishReason)>,
    /// The server's error.
    pub error: Option<String>,
}

/// What a server counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u32>,
    /// Of them cached.
    pub cached_tokens: Option<u32>,
    /// Tokens generated.
    pub generated_tokens: Option<u32>,
    /// Of them reasoning.
    pub reasoning_tokens: Option<u32>,
}

/// An answer could not be read: kept with the request, never ends the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("frame {frame}: {message}", frame = frame.map_or_else(|| "?".to_owned(), |f| f.to_string()))]
pub struct DecodeError {
    /// Frame at fault.
    pub frame: Option<u32>,
    /// What is wrong.
    pub message: String,
}

/// Reads whole answers after they came. The native plan is one, an adapter the other.
pub trait ResponseDecoder: Send {
    /// Reads answers, one result each, in order.
    fn decode(&mut self, responses: Vec<FramedResponse>) -> Vec<Result<Decoded, DecodeError>>;
}
