//! Parquet's hybrid of runs and packed bits (RLE), for numbers of at most 8 bits.

use crate::delta::varint;

/// Eights of one value from which on they are a run. Shorter ones stay among the packed bits: each change between the
/// two costs a header.
const RUN_EIGHTS: usize = 4;

/// Numbers given as runs, encoded as runs only.
#[derive(Default)]
pub(crate) struct Runs {
    encoded: Vec<u8>,
    value: u8,
    length: u32,
}

impl Runs {
    /// Adds `length` times a value.
    pub(crate) fn push(&mut self, value: u8, length: u32) {
        if value != self.value {
            self.end();
            self.value = value;
        }
        self.length += length;
    }

    /// Ends the last run. The caller takes what is encoded, and leaves it empty for the runs that follow.
    pub(crate) fn end(&mut self) -> &mut Vec<u8> {
        if self.length > 0 {
            run(self.length as usize, self.value, &mut self.encoded);
            self.length = 0;
        }
        &mut self.encoded
    }
}

/// Encodes numbers that fit into `width` bits, at most 8.
pub(crate) fn encode(numbers: &[u8], width: u8, out: &mut Vec<u8>) {
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut at = 0;
    // Where the packed bits begin that are not written yet.
    let mut packed = 0;
    while at < eights.len() {
        let length = run_length(&eights[at..]);
        if length >= RUN_EIGHTS {
            pack(&eights[packed..at], width, out);
            run(8 * length, eights[at][0], out);
            packed = at + length;
        }
        at += length.max(1);
    }
    pack(&eights[packed..], width, out);
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        pack(&[last], width, out);
    }
}

/// Eights at the begin that are all of one value.
fn run_length(eights: &[[u8; 8]]) -> usize {
    let same = u64::from(eights[0][0]) * 0x0101_0101_0101_0101;
    eights.iter().take_while(|eight| u64::from_le_bytes(**eight) == same).count()
}

/// A run: its length, shifted by one, and the value.
fn run(length: usize, value: u8, out: &mut Vec<u8>) {
    varint((length as u64) << 1, out);
    out.push(value);
}

/// Packed bits: the number of eights, shifted by one, with the lowest bit set, and the bits.
fn pack(eights: &[[u8; 8]], width: u8, out: &mut Vec<u8>) {
    if eights.is_empty() {
        return;
    }
    varint((eights.len() as u64) << 1 | 1, out);
    for eight in eights {
        let bits = eight.iter().rev().fold(0u64, |bits, number| bits << width | u64::from(*number));
        out.extend_from_slice(&bits.to_le_bytes()[..usize::from(width)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_those_of_the_format() {
        let mut runs = Runs::default();
        runs.push(1, 0);
        runs.push(0, 1);
        runs.push(0, 2);
        runs.push(2, 200);
        assert_eq!(*runs.end(), [6, 0, 0x90, 0x03, 2]);
        runs.end().clear();
        runs.push(2, 1);
        assert_eq!(*runs.end(), [2, 2]);
    }

    /// A decoder that follows the format's text and knows nothing of the encoder.
    fn decode(mut bytes: &[u8], width: u8, count: usize) -> Vec<u8> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let (mut head, mut shift) = (0usize, 0);
            loop {
                let byte = bytes[0];
                bytes = &bytes[1..];
                head |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            if head & 1 == 0 {
                numbers.extend(std::iter::repeat_n(bytes[0], head >> 1));
                bytes = &bytes[1..];
                continue;
            }
            let (packed, rest) = bytes.split_at((head >> 1) * usize::from(width));
            bytes = rest;
            let bit = |at: usize| packed[at / 8] >> (at % 8) & 1;
            let number = |i: usize| (0..usize::from(width)).fold(0, |n, b| n | bit(i * usize::from(width) + b) << b);
            numbers.extend((0..(head >> 1) * 8).map(number));
        }
        assert!(bytes.is_empty());
        numbers.truncate(count);
        numbers
    }

    #[test]
    fn numbers_come_back() {
        // Stretches of one value and of changing ones, of all lengths and at all places within an eight.
        for width in 1..=8u8 {
            let mut numbers = Vec::new();
            for i in 0..200u32 {
                let value = (i * 37) as u8 & (0xff >> (8 - width));
                numbers.extend(std::iter::repeat_n(value, (i * i % 61) as usize));
                numbers.extend((0..i % 11).map(|j| (j * 5 + i) as u8 & (0xff >> (8 - width))));
            }
            for length in [0, 1, 7, 8, 9, 31, 32, 33, 1_000, numbers.len()] {
                let mut out = Vec::new();
                encode(&numbers[..length], width, &mut out);
                assert_eq!(decode(&out, width, length), numbers[..length], "width {width}, {length} numbers");
            }
        }
    }

    #[test]
    fn one_value_is_one_run() {
        let mut out = Vec::new();
        encode(&[3; 800], 3, &mut out);
        assert_eq!(out, [0xc0, 0x0c, 3]);
    }
}
