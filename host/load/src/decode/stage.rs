//! The thread that turns attempts into rows while the load goes on.

use super::plan::PlanDecoder;
use super::record::{Attempt, Rows};
use crate::control::Control;
use bench_core::decode::{DecodeError, Decoded, FramedResponse, ResponseDecoder};
use bench_core::outcome::Outcome;
use bench_core::record::RequestRecord;
use bench_core::request::PreparedRequest;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::UnboundedReceiver;

/// Most attempts that an adapter decodes in one call.
const BATCH: usize = 64;

/// How answers are read.
pub(crate) enum Reader {
    Plan(PlanDecoder),
    Adapter(Box<dyn ResponseDecoder>),
}

/// An attempt with the memory it may hold until it is decoded.
pub(crate) struct Kept {
    pub(crate) attempt: Attempt,
    pub(crate) _memory: Option<OwnedSemaphorePermit>,
}

/// What the stage counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) rows: u64,
    pub(crate) events: u64,
    pub(crate) merged: u64,
}

/// Decodes attempts as they come and hands on their rows, until all senders are gone.
pub(crate) fn run(
    mut attempts: UnboundedReceiver<Kept>,
    mut reader: Reader,
    rows: &Rows<'_>,
    requests: &[PreparedRequest],
    control: &Arc<Control>,
    sink: &mut (dyn FnMut(RequestRecord) + Send),
) -> Tally {
    let mut tally = Tally::default();
    while let Some(first) = attempts.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH
            && let Ok(more) = attempts.try_recv()
        {
            batch.push(more);
        }
        let decoded = reader.read(&batch);
        for (kept, (decoded, fault)) in batch.into_iter().zip(decoded) {
            let prepared = &requests[(kept.attempt.request % requests.len() as u64) as usize];
            let (record, counts) = rows.row(kept.attempt, prepared, decoded, fault);
            tally.rows += 1;
            tally.events += counts.events;
            tally.merged += counts.merged;
            let failed = record.outcome.is_failure();
            if record.outcome != Outcome::StaleConnection {
                control.row(failed, record.output_tokens.unwrap_or(0));
            }
            sink(record);
        }
    }
    tally
}

impl Reader {
    /// What each attempt's answer says, and the first frame that can't be read.
    fn read(&mut self, batch: &[Kept]) -> Vec<(Decoded, Option<DecodeError>)> {
        match self {
            Reader::Plan(plan) => batch
                .iter()
                .map(|k| {
                    let answer = &k.attempt.answer;
                    if !answer.is_success() {
                        return (Decoded::default(), None);
                    }
                    plan.read(&answer.frames)
                })
                .collect(),
            Reader::Adapter(adapter) => read_by_adapter(adapter.as_mut(), batch),
        }
    }
}

fn read_by_adapter(adapter: &mut dyn ResponseDecoder, batch: &[Kept]) -> Vec<(Decoded, Option<DecodeError>)> {
    let is_readable = |k: &Kept| k.attempt.answer.is_success() && !k.attempt.answer.frames.is_empty();
    let responses: Vec<FramedResponse> = batch.iter().filter(|k| is_readable(k)).map(framed).collect();
    let asked = responses.len();
    let mut answers = if asked == 0 { Vec::new() } else { adapter.decode(responses) }.into_iter();
    batch
        .iter()
        .map(|k| {
            if !is_readable(k) {
                return (Decoded::default(), None);
            }
            match answers.next() {
                Some(Ok(decoded)) if is_consistent(&decoded) => (decoded, None),
                Some(Ok(_)) => (Decoded::default(), fault("the adapter's event columns differ in length")),
                Some(Err(e)) => (Decoded::default(), Some(e)),
                None => (Decoded::default(), fault("the adapter gave no result for this answer")),
            }
        })
        .collect()
}

fn fault(message: &str) -> Option<DecodeError> {
    Some(DecodeError { frame: None, message: message.to_owned() })
}

fn is_consistent(d: &Decoded) -> bool {
    let n = d.frames.len();
    d.kinds.len() == n && d.tokens.len() == n && d.text_ends.len() == n
}

fn framed(kept: &Kept) -> FramedResponse {
    let answer = &kept.attempt.answer;
    let mut lossy = false;
    let mut frames = Vec::with_capacity(answer.frames.len());
    let mut reader = answer.frames.reader();
    while let Some(frame) = reader.next() {
        let text = String::from_utf8_lossy(frame.bytes);
        lossy |= matches!(text, std::borrow::Cow::Owned(_));
        frames.push(text.into_owned());
    }
    FramedResponse { id: kept.attempt.request, status: answer.status.unwrap_or(0), frames, lossy }
}
