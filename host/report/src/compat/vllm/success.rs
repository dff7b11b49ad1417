//! A row as the tool would have seen it.

use super::Version;
use bench_core::decode::EventKind;
use bench_core::outcome::Outcome;
use bench_core::record::RequestRecord;

/// A request that the tool calls successful. Times in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Success {
    /// Prompt tokens.
    pub prompt_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// When it was sent.
    pub start_s: f64,
    /// First token event since the start, 0 where there is none.
    pub ttft_s: f64,
    /// Gaps between token events.
    pub itl_s: Vec<f64>,
    /// Last event since the start, 0 where there is none.
    pub latency_s: f64,
}

/// Reads a row; `None` where the tool would call it failed.
pub fn success(version: Version, row: &RequestRecord) -> Option<Success> {
    let read_to_its_end = matches!(
        row.outcome,
        Outcome::Complete | Outcome::Truncated | Outcome::Aborted | Outcome::ServerError | Outcome::Empty
    );
    if row.http_status != Some(200) || !read_to_its_end {
        return None;
    }
    let prompt = match version {
        Version::V0_11 => row.prompt_tokens_asked.or(row.prompt_tokens),
        Version::V0_33 => row.prompt_tokens.or(row.prompt_tokens_asked),
    };
    let mut seen = Success {
        prompt_tokens: prompt.map_or(0, u64::from),
        output_tokens: row.output_tokens.map_or(0, u64::from),
        start_s: row.sent?.as_secs_f64(),
        ..Success::default()
    };
    let mut before = None;
    let events = row.events.iter().flat_map(|e| e.times_us().zip(&e.kind));
    for (us, kind) in events {
        let at = us as f64 / 1e6;
        let token = is_token(version, *kind, row.outcome);
        if token {
            match before {
                None => seen.ttft_s = at,
                // From whole µs, so that a gap is what the trace holds.
                Some(earlier) => seen.itl_s.push((us - earlier) as f64 / 1e6),
            }
            before = Some(us);
        }
        if token || version == Version::V0_11 {
            seen.latency_s = at;
        }
    }
    (version == Version::V0_11 || before.is_some()).then_some(seen)
}

/// The event has choices (0.11), or content (0.33).
fn is_token(version: Version, kind: EventKind, outcome: Outcome) -> bool {
    match version {
        // An event that is nothing else is mostly an empty last chunk; in an answer with an error it is that.
        Version::V0_11 if kind == EventKind::Other => outcome != Outcome::ServerError,
        Version::V0_11 => kind != EventKind::Usage,
        Version::V0_33 => kind.is_content(),
    }
}
