//! What the simulated engine says of when it sent each event.

use bench_core::decode::{DecodeError, Decoded, EventKind, FinishReason, FramedResponse, ResponseDecoder};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// For each request, when each event was sent: ns of the real-time clock.
pub(super) type Sent = Arc<Mutex<HashMap<u64, Vec<u64>>>>;

/// Reads the times out of the events' ids (`chatcmpl-` and 19 digits). All events count as content.
pub(super) struct ReadStamps(pub(super) Sent);

impl ResponseDecoder for ReadStamps {
    fn decode(&mut self, responses: Vec<FramedResponse>) -> Vec<Result<Decoded, DecodeError>> {
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = |response: FramedResponse| {
            let stamps: Vec<u64> = response.frames.iter().filter_map(|frame| stamp(frame)).collect();
            let n = stamps.len();
            sent.insert(response.id, stamps);
            Ok(Decoded {
                frames: (0..n as u32).collect(),
                kinds: vec![EventKind::Text; n],
                tokens: vec![Some(1); n],
                text_ends: vec![0; n],
                finish: Some(("length".to_owned(), FinishReason::Length)),
                ..Decoded::default()
            })
        };
        responses.into_iter().map(&mut read).collect()
    }
}

fn stamp(frame: &str) -> Option<u64> {
    frame.split_once("chatcmpl-")?.1.get(..19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_sending_is_in_the_id() {
        assert_eq!(stamp(r#"{"id":"chatcmpl-1796083200123456789-7","choices":[]}"#), Some(1_796_083_200_123_456_789));
        assert_eq!(stamp("[DONE]"), None);
    }
}
