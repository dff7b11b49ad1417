//! How many tokens an answer and its events have, and who says so.

use bench_core::decode::{Decoded, EventKind};
use bench_core::record::TokenSource;
use bench_core::tokens::TokenCounter;

/// Tokens of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) output: Option<u32>,
    pub(crate) source: Option<TokenSource>,
    /// New tokens of each event; 0 for an event without content.
    pub(crate) events: Option<Vec<u16>>,
}

/// The server's usage (final, else running), else the tokenizer, else one for each content event.
///
/// A usage of 0 beside content is no count. Tokens of events: the engine's own, else differences of its
/// running usage (both in `decoded.tokens`), else the tokenizer, which counts each event's text for
/// itself: an engine's events end where tokens end.
pub(crate) fn count(decoded: &Decoded, streamed: bool, counter: Option<&dyn TokenCounter>) -> Tokens {
    let content = decoded.kinds.iter().filter(|k| k.is_content()).count();
    let usage = decoded.usage.and_then(|u| u.generated_tokens).filter(|&n| n > 0 || content == 0);
    let (output, source) = if let Some(n) = usage {
        let running = decoded.usage_is_cumulative && decoded.finish.is_none();
        (Some(n), Some(if running { TokenSource::UsageCumulative } else { TokenSource::Usage }))
    } else if content == 0 {
        (None, None)
    } else if let Some(counter) = counter {
        let n = counter.count(&decoded.text) + counter.count(&decoded.reasoning);
        (Some(n), Some(TokenSource::Tokenizer))
    } else if streamed {
        (u32::try_from(content).ok(), Some(TokenSource::Events))
    } else {
        (None, None)
    };
    let events = if streamed { event_tokens(decoded, counter) } else { None };
    Tokens { output, source, events }
}

fn event_tokens(decoded: &Decoded, counter: Option<&dyn TokenCounter>) -> Option<Vec<u16>> {
    let known = decoded.kinds.iter().zip(&decoded.tokens).all(|(k, t)| !k.is_content() || t.is_some());
    if !known && counter.is_none() {
        return None;
    }
    let (mut text_from, mut reasoning_from) = (0, 0);
    let columns = decoded.kinds.iter().zip(&decoded.tokens).zip(&decoded.text_ends);
    let tokens = columns.map(|((kind, tokens), &end)| {
        let (whole, from) = match kind {
            EventKind::Reasoning => (&decoded.reasoning, &mut reasoning_from),
            _ => (&decoded.text, &mut text_from),
        };
        let piece = whole.get(*from..end).unwrap_or_default();
        *from = end.max(*from);
        let n = match (kind.is_content(), tokens, counter) {
            (false, ..) => 0,
            (true, Some(n), _) if known => *n,
            // A tool call's text is not kept: it is one token at least.
            (true, _, Some(counter)) => counter.count(piece).max(1),
            (true, ..) => 1,
        };
        u16::try_from(n).unwrap_or(u16::MAX)
    });
    Some(tokens.collect())
}
