//! One attempt as a row.

use super::outcome::{Ending, classify};
use super::secrets::Secrets;
use super::tokens;
use crate::job::RowContext;
use crate::stream::{Frames, Mark};
use bench_core::clock::Nanos;
use bench_core::decode::{DecodeError, Decoded, EventKind};
use bench_core::outcome::Outcome;
use bench_core::record::{Events, RequestRecord, Stamp};
use bench_core::request::PreparedRequest;
use bench_core::tokens::TokenCounter;

/// How long the parts of opening a connection took; for an attempt whose connection was there, nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) dns: Option<Nanos>,
    pub(crate) connect: Option<Nanos>,
    pub(crate) tls: Option<Nanos>,
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) ending: Ending,
    pub(crate) sent: Option<Nanos>,
    pub(crate) first_byte: Option<Nanos>,
    pub(crate) end: Nanos,
    pub(crate) status: Option<u16>,
    /// The body was a stream of events by its content type.
    pub(crate) streamed: bool,
    pub(crate) frames: Frames,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
}

impl Answer {
    /// Nothing was sent.
    pub(crate) fn unsent(ending: Ending, end: Nanos) -> Answer {
        Answer {
            ending,
            sent: None,
            first_byte: None,
            end,
            status: None,
            streamed: false,
            frames: Frames::default(),
            bytes_sent: 0,
            bytes_received: 0,
        }
    }

    /// The status says that it worked.
    pub(crate) fn is_success(&self) -> bool {
        self.status.is_some_and(|s| (200..300).contains(&s))
    }
}

/// One attempt, before it is decoded.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// Number of the request.
    pub(crate) request: u64,
    pub(crate) attempt: u32,
    pub(crate) replica: u32,
    pub(crate) worker: u32,
    pub(crate) scheduled: Nanos,
    pub(crate) admitted: Option<Nanos>,
    pub(crate) connection_reused: Option<bool>,
    pub(crate) opening: Opening,
    pub(crate) answer: Answer,
}

/// What every row of a job shares.
pub(crate) struct Rows<'a> {
    pub(crate) context: &'a RowContext,
    pub(crate) counter: Option<&'a dyn TokenCounter>,
    pub(crate) keep_text: bool,
    pub(crate) secrets: Secrets,
}

/// Counts over the events of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventCounts {
    pub(crate) events: u64,
    pub(crate) merged: u64,
}

impl Rows<'_> {
    /// The row of an attempt, with what its answer says.
    pub(crate) fn row(
        &self,
        attempt: Attempt,
        prepared: &PreparedRequest,
        decoded: Decoded,
        fault: Option<DecodeError>,
    ) -> (RequestRecord, EventCounts) {
        let answer = &attempt.answer;
        let (outcome, error) =
            classify(&answer.ending, answer.status, &|| body(answer), &decoded, fault.map(|f| f.to_string()));
        let tokens = tokens::count(&decoded, answer.streamed, self.counter);
        let success = answer.is_success();
        let times = Times::of(answer, &decoded);
        let events = (success && answer.streamed).then(|| Events {
            gap_us: Events::gaps_from_times(answer.sent.unwrap_or(attempt.scheduled), &times.at),
            tokens: tokens.events,
            merged: times.merged,
            kind: decoded.kinds.clone(),
        });
        let counts = events.as_ref().map_or_else(EventCounts::default, |e| EventCounts {
            events: e.merged.len() as u64,
            merged: e.merged.iter().filter(|m| **m).count() as u64,
        });
        let has_output = success && (outcome == Outcome::Complete || !decoded.text.is_empty());
        let usage = decoded.usage.unwrap_or_default();
        let context = self.context;
        let kept = |text: String| (self.keep_text && success).then(|| self.secrets.mask(text));
        let record = RequestRecord {
            scenario: context.scenario.clone(),
            stage: context.stage.clone(),
            candidate: context.candidate.clone(),
            repeat: context.repeat,
            request: attempt.request,
            attempt: attempt.attempt,
            session: prepared.session.clone(),
            turn: prepared.turn,
            replica: attempt.replica,
            worker: attempt.worker,
            phase: context.phase,
            dataset_sample: Some(prepared.dataset_sample.clone()),
            prompt_sha256: Some(prepared.prompt_sha256),
            scheduled: attempt.scheduled,
            admitted: attempt.admitted,
            sent: answer.sent,
            first_byte: answer.first_byte,
            first_token: times.first_token,
            first_content: times.first_content,
            last_token: times.last_token,
            end: answer.end,
            stamp: times.stamp,
            stamp_lag: times.lag,
            events,
            streamed: success.then_some(answer.streamed),
            prompt_tokens_asked: prepared.prompt_tokens_asked,
            prompt_tokens: usage.prompt_tokens,
            cached_tokens: usage.cached_tokens,
            output_tokens_asked: prepared.output_tokens_asked,
            output_tokens: tokens.output,
            reasoning_tokens: usage.reasoning_tokens,
            token_source: tokens.source,
            outcome,
            http_status: answer.status,
            finish_reason: decoded.finish.map(|(word, _)| self.secrets.mask(word)),
            error: error.map(|e| self.secrets.mask(e)),
            bytes_sent: answer.bytes_sent,
            bytes_received: answer.bytes_received,
            connection_reused: attempt.connection_reused,
            dns: attempt.opening.dns,
            connect: attempt.opening.connect,
            tls: attempt.opening.tls,
            output_sha256: has_output.then(|| bench_core::sha256(&decoded.text)),
            prompt_text: if self.keep_text { prepared.prompt_text.clone() } else { None },
            output_text: kept(decoded.text),
            reasoning_text: kept(decoded.reasoning).filter(|r| !r.is_empty()),
        };
        (record, counts)
    }
}

/// The body of an answer that is one frame.
fn body(answer: &Answer) -> Vec<u8> {
    answer.frames.reader().next().map_or_else(Vec::new, |frame| frame.bytes.to_vec())
}

/// Times of an answer's events.
#[derive(Default)]
struct Times {
    at: Vec<Nanos>,
    merged: Vec<bool>,
    first_token: Option<Nanos>,
    first_content: Option<Nanos>,
    last_token: Option<Nanos>,
    stamp: Option<Stamp>,
    lag: Option<Nanos>,
}

impl Times {
    fn of(answer: &Answer, decoded: &Decoded) -> Times {
        let frames = &answer.frames;
        let marks: Vec<Mark> = frames.marks();
        let mut times = Times::default();
        if !marks.is_empty() {
            let kernel = marks.iter().all(|m| m.kernel);
            times.stamp = Some(if kernel { Stamp::Kernel } else { Stamp::Read });
            times.lag = marks.iter().filter(|m| m.kernel).map(|m| m.read.saturating_sub(m.stamp)).max();
        }
        if !answer.streamed {
            return times;
        }
        for (i, (&frame, &kind)) in decoded.frames.iter().zip(&decoded.kinds).enumerate() {
            let at = frame as usize;
            let Some(mark) = marks.get(at) else { continue };
            let shares = |other: Option<&Mark>| other.is_some_and(|m| m.number == mark.number);
            let before = at.checked_sub(1).and_then(|b| marks.get(b));
            let same_frame = |j: Option<usize>| j.is_some_and(|j| decoded.frames.get(j) == Some(&frame));
            times.at.push(mark.stamp);
            times.merged.push(
                shares(before) || shares(marks.get(at + 1)) || same_frame(i.checked_sub(1)) || same_frame(Some(i + 1)),
            );
            if kind.is_content() {
                times.first_token.get_or_insert(mark.stamp);
                times.last_token = Some(mark.stamp);
                if kind != EventKind::Reasoning {
                    times.first_content.get_or_insert(mark.stamp);
                }
            }
        }
        times
    }
}
