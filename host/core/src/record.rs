//! One request attempt as a row of the trace.

use crate::clock::Nanos;
use crate::decode::EventKind;
use crate::outcome::{Outcome, UnknownWord};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::sync::Arc;

/// One attempt of one request: a row of the trace. `None` is "did not happen" or "not known".
#[derive(Clone, Debug, PartialEq)]
pub struct RequestRecord {
    /// Scenario of the workload.
    pub scenario: Arc<str>,
    /// Stage of the study.
    pub stage: Option<Arc<str>>,
    /// Candidate of the stage.
    pub candidate: Option<Arc<str>>,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Number of the request in its scenario and repeat, from 0.
    pub request: u64,
    /// Number of the attempt, from 0: more than 0 only after a stale connection.
    pub attempt: u32,
    /// Session.
    pub session: Option<Arc<str>>,
    /// Place in the session.
    pub turn: Option<u32>,
    /// Server that it went to, from 0.
    pub replica: u32,
    /// Load thread that sent it, from 0.
    pub worker: u32,
    /// What it was for.
    pub phase: Phase,
    /// Id of the sample in its dataset.
    pub dataset_sample: Option<Arc<str>>,
    /// SHA-256 of the prompt's text.
    pub prompt_sha256: Option<[u8; 32]>,

    /// When it was due.
    pub scheduled: Nanos,
    /// When a slot was free for it.
    pub admitted: Option<Nanos>,
    /// When it was handed to the kernel.
    pub sent: Option<Nanos>,
    /// First byte of the answer.
    pub first_byte: Option<Nanos>,
    /// First generated content on any channel; `None` where the answer was not streamed.
    pub first_token: Option<Nanos>,
    /// First text or tool call.
    pub first_content: Option<Nanos>,
    /// Last generated content.
    pub last_token: Option<Nanos>,
    /// When the attempt was over.
    pub end: Nanos,
    /// Where the times of events come from.
    pub stamp: Option<Stamp>,
    /// Greatest time from the kernel's stamp to our read among its events, ns.
    pub stamp_lag: Option<Nanos>,

    /// The stream's events; `None` where the answer was not streamed (or there was none).
    pub events: Option<Events>,
    /// The answer came as a stream of events.
    pub streamed: Option<bool>,

    /// Tokens of the prompt as the dataset counted them.
    pub prompt_tokens_asked: Option<u32>,
    /// Tokens of the prompt as the server counted them.
    pub prompt_tokens: Option<u32>,
    /// Of them cached.
    pub cached_tokens: Option<u32>,
    /// Length asked for.
    pub output_tokens_asked: Option<u32>,
    /// Tokens generated.
    pub output_tokens: Option<u32>,
    /// Of them reasoning.
    pub reasoning_tokens: Option<u32>,
    /// Where `output_tokens` comes from.
    pub token_source: Option<TokenSource>,

    /// How it ended.
    pub outcome: Outcome,
    /// HTTP status.
    pub http_status: Option<u16>,
    /// The engine's own word for the end.
    pub finish_reason: Option<String>,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// Bytes handed to the kernel.
    pub bytes_sent: u64,
    /// Bytes of the answer on the wire.
    pub bytes_received: u64,
    /// The connection had served a request before.
    pub connection_reused: Option<bool>,
    /// How long it took to look up the server's name; `None` where no connection was opened for this attempt, or the
    /// address was known.
    pub dns: Option<Nanos>,
    /// How long the TCP connection took; `None` where none was opened for this attempt.
    pub connect: Option<Nanos>,
    /// How long the TLS handshake took; `None` where there was none for this attempt.
    pub tls: Option<Nanos>,
    /// SHA-256 of the answer's text (content, not reasoning).
    pub output_sha256: Option<[u8; 32]>,
    /// Texts, where the trace keeps them.
    pub prompt_text: Option<Arc<str>>,
    /// The answer's text.
    pub output_text: Option<String>,
    /// The answer's reasoning.
    pub reasoning_text: Option<String>,
}

/// The events of a stream: columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Differences of the events' times, each rounded to whole µs since `sent`, so that sums never drift;
    /// the first from `sent`.
    pub gap_us: Vec<i64>,
    /// New tokens of each event; `None` where not known for the row.
    pub tokens: Option<Vec<u16>>,
    /// Came in one read with another event.
    pub merged: Vec<bool>,
    /// Kind of each event.
    pub kind: Vec<EventKind>,
}

impl Events {
    /// Gaps in µs from times: each time is rounded to µs since `sent`, and the differences taken.
    /// Times before `sent` give negative gaps.
    pub fn gaps_from_times(sent: Nanos, times: &[Nanos]) -> Vec<i64> {
        let mut before = 0i64;
        times
            .iter()
            .map(|t| {
                let ns = t.0 as i64 - sent.0 as i64;
                let us = (ns + 500).div_euclid(1000);
                let gap = us - before;
                before = us;
                gap
            })
            .collect()
    }

    /// Times of the events in µs since `sent`.
    pub fn times_us(&self) -> impl Iterator<Item = i64> + '_ {
        self.gap_us.iter().scan(0i64, |t, g| {
            *t += g;
            Some(*t)
        })
    }
}

/// What a request was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the measurement.
    Warmup,
    /// Measured.
    Measure,
    /// After the measurement.
    Cooldown,
    /// Asked only whether the server is there.
    Probe,
}

/// Where the times of events come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stamp {
    /// The kernel's receive stamp.
    Kernel,
    /// The moment of our read.
    Read,
}

/// Where the number of output tokens comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The server's final usage.
    Usage,
    /// The server's running usage, the last that came.
    UsageCumulative,
    /// The client's tokenizer.
    Tokenizer,
    /// One for each event with content.
    Events,
}

macro_rules! words {
    ($type:ident, $list:literal, $($variant:ident = $word:literal),+) => {
        impl $type {
            /// The word that stands in the trace.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $word),+ }
            }
        }
        impl FromStr for $type {
            type Err = UnknownWord;
            fn from_str(s: &str) -> Result<$type, UnknownWord> {
                match s {
                    $($word => Ok($type::$variant),)+
                    _ => Err(UnknownWord { word: s.to_owned(), list: $list }),
                }
            }
        }
    };
}
words!(Phase, "phases", Warmup = "warmup", Measure = "measure", Cooldown = "cooldown", Probe = "probe");
words!(Stamp, "stamps", Kernel = "kernel", Read = "read");
words!(
    TokenSource,
    "token sources",
    Usage = "usage",
    UsageCumulative = "usage_cumulative",
    Tokenizer = "tokenizer",
    Events = "events"
);
