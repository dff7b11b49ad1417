//! Counts events without taking anything apart: what a client that measures nothing would do.

use memchr::memchr_iter;

const END: &[u8] = b"0\r\n\r\n";

/// Counts the blank lines that end events of a chunked answer, and sees its end.
#[derive(Clone, Debug, Default)]
pub struct FrameCount {
    events: u64,
    /// The last byte was the first of two line ends.
    open: bool,
    /// The answer's last bytes, for an end that is cut in two.
    tail: [u8; END.len()],
}

impl FrameCount {
    /// Takes what one read gave. At the answer's end: how many events it had, `[DONE]` not among them.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Option<u64> {
        // As if the byte before were at -1.
        let mut before = if self.open { 0 } else { usize::MAX };
        for at in memchr_iter(b'\n', bytes) {
            let place = at + 1;
            if before != usize::MAX && place == before + 1 {
                self.events += 1;
                before = usize::MAX;
            } else {
                before = place;
            }
        }
        self.open = before == bytes.len() && before != usize::MAX;
        let kept = bytes.len().min(END.len());
        self.tail.rotate_left(kept);
        self.tail[END.len() - kept..].copy_from_slice(&bytes[bytes.len() - kept..]);
        if self.tail != END {
            return None;
        }
        let events = self.events.saturating_sub(1);
        *self = FrameCount::default();
        Some(events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_at_every_split() {
        let answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n9\r\ndata: b\n\n\r\n\
            e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
        for i in 0..=answer.len() {
            for j in i..answer.len() {
                let mut count = FrameCount::default();
                assert_eq!(count.feed(&answer[..i.min(answer.len() - 1)]), None);
                assert_eq!(count.feed(&answer[i.min(answer.len() - 1)..j.max(i.min(answer.len() - 1))]), None);
                assert_eq!(count.feed(&answer[j.max(i.min(answer.len() - 1))..]), Some(2), "{i} {j}");
                assert_eq!(count.feed(answer), Some(2), "the next answer");
            }
        }
    }
}
