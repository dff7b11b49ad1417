//! How a request attempt ended.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How one attempt of a request ended. Only `Complete` enters latency figures; all but
/// `StaleConnection` enter the failure rate's denominator. Where several could be said, the first of
/// this order holds: no connection, timeout, cancelled, dropped, reset before the end, status not 2xx,
/// an error object in a 2xx answer, framing or JSON that can't be read, finish reason abort, end without
/// finish reason, no content and no finish reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A finish reason came, and nothing went wrong.
    Complete,
    /// The stream ended cleanly without a finish reason.
    Truncated,
    /// The server gave a finish reason that says it gave up (`abort`, `error`).
    Aborted,
    /// An error object in a 2xx answer.
    ServerError,
    /// A status that is not 2xx.
    HttpError,
    /// The connection broke before the answer's end.
    Reset,
    /// Stopped by one of our limits.
    Timeout,
    /// Stopped by the user.
    Cancelled,
    /// A clean end with neither content nor finish reason.
    Empty,
    /// Never sent.
    Dropped,
    /// No connection.
    ConnectError,
    /// Framing or JSON that can't be read.
    InvalidResponse,
    /// The server had closed a reused connection before the first byte of the answer; the request was
    /// sent again. Outside the failure rate.
    StaleConnection,
}

impl Outcome {
    /// Every outcome, in the order of the trace's documentation.
    pub const ALL: [Outcome; 13] = [
        Outcome::Complete,
        Outcome::Truncated,
        Outcome::Aborted,
        Outcome::ServerError,
        Outcome::HttpError,
        Outcome::Reset,
        Outcome::Timeout,
        Outcome::Cancelled,
        Outcome::Empty,
        Outcome::Dropped,
        Outcome::ConnectError,
        Outcome::InvalidResponse,
        Outcome::StaleConnection,
    ];

    /// The word that stands in the trace.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Truncated => "truncated",
            Outcome::Aborted => "aborted",
            Outcome::ServerError => "server_error",
            Outcome::HttpError => "http_error",
            Outcome::Reset => "reset",
            Outcome::Timeout => "timeout",
            Outcome::Cancelled => "cancelled",
            Outcome::Empty => "empty",
            Outcome::Dropped => "dropped",
            Outcome::ConnectError => "connect_error",
            Outcome::InvalidResponse => "invalid_response",
            Outcome::StaleConnection => "stale_connection",
        }
    }

    /// Counts as a failure: everything but complete and stale connections.
    pub const fn is_failure(self) -> bool {
        !matches!(self, Outcome::Complete | Outcome::StaleConnection)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no member of its list.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{word}` is not one of the {list}")]
pub struct UnknownWord {
    /// The word.
    pub word: String,
    /// What it should have been one of.
    pub list: &'static str,
}

impl FromStr for Outcome {
    type Err = UnknownWord;
    fn from_str(s: &str) -> Result<Outcome, UnknownWord> {
        Outcome::ALL
            .into_iter()
            .find(|o| o.as_str() == s)
            .ok_or_else(|| UnknownWord { word: s.to_owned(), list: "outcomes" })
    }
}
