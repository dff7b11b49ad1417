//! The rules of vLLM's `random` data set, in two versions.
//!
//! A prompt is a run of consecutive ids that starts at a drawn offset, behind the common prefix. It is turned to text,
//! and because the text of n ids need not be n tokens again, each version mends it in its own way.

use crate::host::Host;

/// How often vLLM 0.33 mends one prompt.
const MENDS: u32 = 10;

/// Which prompt to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// Number of the request, from 0.
    pub(crate) index: u64,
    pub(crate) offset: u32,
    /// Tokens behind the prefix.
    pub(crate) length: u32,
}

/// A prompt, and the number of its tokens as that version counts them.
pub(crate) type Made = (String, u32);

fn sequence(request: Request, prefix: &[u32], allowed: &[u32]) -> Vec<u32> {
    let size = allowed.len() as u64;
    let start = u64::from(request.offset) + request.index;
    let run = (0..u64::from(request.length)).filter_map(|k| allowed.get(((start + k) % size) as usize));
    prefix.iter().chain(run).copied().collect()
}

/// vLLM 0.11: encodes the text again, cuts what is too long, and leaves short what is too short. `prefix_len` is what
/// was asked for.
pub(crate) fn v011(host: &impl Host, requests: &[Request], prefix: &[u32], allowed: &[u32]) -> Vec<Made> {
    let sequences: Vec<Vec<u32>> = requests.iter().map(|r| sequence(*r, prefix, allowed)).collect();
    let mut again = host.encode(&host.decode(&sequences));
    for (ids, target) in again.iter_mut().zip(sequences.iter().map(Vec::len)) {
        ids.truncate(target);
    }
    let lengths = again.iter().map(|ids| ids.len() as u32);
    host.decode(&again).into_iter().zip(lengths).collect()
}

/// vLLM 0.33: appends fresh draws to what is too short and cuts what is too long, up to ten times. The draws of a
/// request depend on those of all earlier ones.
pub(crate) fn v033(
    host: &mut impl Host,
    requests: &[Request],
    prefix: &[u32],
    prefix_len: u32,
    (allowed, vocabulary): (&[u32], u32),
) -> Vec<Made> {
    let sequences: Vec<Vec<u32>> = requests.iter().map(|r| sequence(*r, prefix, allowed)).collect();
    let texts = host.decode(&sequences);
    let counts = host.count(&texts, false);
    let mut made = Vec::with_capacity(requests.len());
    for ((request, text), count) in requests.iter().zip(texts).zip(counts) {
        let target = prefix_len + request.length;
        // Most texts are right at once, and those consume no draws.
        made.push(if count == target {
            (text, count)
        } else {
            let (text, ids) = mend(host, text, target, vocabulary);
            (text, ids.len() as u32)
        });
    }
    made
}

/// The prefix of vLLM 0.33: mended on its own, by the same rule.
pub(crate) fn v033_prefix(host: &mut impl Host, length: u32, allowed: &[u32], vocabulary: u32) -> Vec<u32> {
    let ids = host.pick(allowed, length as usize);
    let text = host.decode_one(ids);
    mend(host, text, length, vocabulary).1
}

fn mend(host: &mut impl Host, mut text: String, target: u32, vocabulary: u32) -> (String, Vec<u32>) {
    let target = target as usize;
    let mut ids = host.encode_one(text.clone());
    for _ in 0..MENDS {
        if ids.len() == target {
            break;
        }
        if ids.len() < target {
            ids.extend(host.draw(0, vocabulary.into(), target - ids.len()));
        }
        ids.truncate(target);
        text = host.decode_one(ids);
        ids = host.encode_one(text.clone());
    }
    (text, ids)
}
