//! Signs that a run is not what it was meant to be.

use super::Answer;
use crate::stats::{Population, Sorted};
use bench_core::outcome::Outcome;
use bench_core::record::{RequestRecord, Stamp, TokenSource};

/// Content events from which on a stream can be told from a burst.
const EVENTS_OF_A_STREAM: u64 = 8;
/// No model generates 20 000 tokens a second for one request: events closer than this on the mean were held
/// back and handed over together.
const BUFFERED_GAP_US: i64 = 50;

/// What the verdict looks at, beside the figures.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Prompt tokens of complete rows: asked, and as the server counted.
    pub prompts: Vec<(u32, u32)>,
    /// The first eight bytes of the digests of all prompts that were sent, retries apart.
    prompt_digests: Vec<u64>,
    /// Complete streams long enough to judge.
    pub long_streams: u64,
    /// Of them, those that came at once.
    pub buffered: u64,
    /// Complete answers that were not streamed.
    pub not_streamed: u64,
    /// Events with content of complete answers.
    pub content_events: u64,
    /// Of them, those that shared a read.
    pub merged_events: u64,
    /// Complete streams whose events don't say how many tokens they carry.
    pub unweighted: u64,
    /// Rows whose times go backwards.
    pub disordered: u64,
    /// Rows stamped by the kernel.
    pub kernel_stamps: u64,
    /// Rows stamped at the read.
    pub read_stamps: u64,
    /// Complete rows whose output tokens are its events.
    pub counted_by_events: u64,
    /// Complete rows whose output tokens the client's tokenizer counted.
    pub counted_by_tokenizer: u64,
}

impl Evidence {
    /// Takes any measured row in.
    pub fn add(&mut self, row: &RequestRecord) {
        if row.attempt == 0
            && row.sent.is_some()
            && let Some([a, b, c, d, e, f, g, h, ..]) = row.prompt_sha256
        {
            self.prompt_digests.push(u64::from_be_bytes([a, b, c, d, e, f, g, h]));
        }
        let times = [
            Some(row.scheduled),
            row.admitted,
            row.sent,
            row.first_byte,
            row.first_token,
            row.last_token,
            (row.outcome != Outcome::Dropped).then_some(row.end),
        ];
        self.disordered += u64::from(!times.iter().flatten().is_sorted());
        match row.stamp {
            Some(Stamp::Kernel) => self.kernel_stamps += 1,
            Some(Stamp::Read) => self.read_stamps += 1,
            None => {}
        }
    }

    /// Takes a complete row in.
    pub fn add_complete(&mut self, row: &RequestRecord, answer: &Answer) {
        if let (Some(asked), Some(server)) = (row.prompt_tokens_asked, row.prompt_tokens) {
            self.prompts.push((asked, server));
        }
        self.not_streamed += u64::from(row.streamed == Some(false));
        self.content_events += answer.content_events;
        self.merged_events += answer.merged_events;
        self.unweighted += u64::from(answer.content_events > 0 && !answer.weighted);
        if answer.content_events >= EVENTS_OF_A_STREAM
            && let Some((first, last)) = answer.span_us
        {
            self.long_streams += 1;
            let gaps = i64::try_from(answer.content_events - 1).unwrap_or(i64::MAX);
            self.buffered += u64::from(last - first < gaps.saturating_mul(BUFFERED_GAP_US));
        }
        match row.token_source {
            Some(TokenSource::Events) => self.counted_by_events += 1,
            Some(TokenSource::Tokenizer) => self.counted_by_tokenizer += 1,
            _ => {}
        }
    }

    /// Median of server's - dataset's prompt tokens; `None` where no row has both.
    pub fn prompt_overhead(&self) -> Option<f64> {
        Sorted::new(self.prompts.iter().map(|(asked, server)| f64::from(*server) - f64::from(*asked)).collect())
            .percentile(50.0)
    }

    /// Prompts sent, and how many different ones.
    pub fn distinct_prompts(&self) -> (u64, u64) {
        let mut digests = self.prompt_digests.clone();
        digests.sort_unstable();
        let sent = digests.len();
        digests.dedup();
        (sent as u64, digests.len() as u64)
    }
}
