//! Parquet's DELTA_BINARY_PACKED: differences of whole numbers, packed by the bits that they need.

/// Values of a block, and of each of its parts, which have a width of their own.
const BLOCK: usize = 128;
const MINIBLOCK: usize = 32;

/// Encodes the values of a page.
pub(crate) fn encode(values: &[i64], out: &mut Vec<u8>) {
    for number in [BLOCK, BLOCK / MINIBLOCK, values.len()] {
        varint(number as u64, out);
    }
    varint(zigzag(values.first().copied().unwrap_or_default()), out);
    let mut deltas = [0; BLOCK];
    let mut before = values.first().copied().unwrap_or_default();
    for block in values.get(1..).unwrap_or_default().chunks(BLOCK) {
        for (delta, value) in deltas.iter_mut().zip(block) {
            *delta = value.wrapping_sub(before);
            before = *value;
        }
        encode_block(&mut deltas[..block.len()], out);
    }
}

fn encode_block(deltas: &mut [i64], out: &mut Vec<u8>) {
    let least = deltas.iter().copied().fold(i64::MAX, i64::min);
    varint(zigzag(least), out);
    // A part of the block that has no values has no width either.
    let widths = out.len();
    out.resize(widths + BLOCK / MINIBLOCK, 0);
    for (part, deltas) in deltas.chunks_mut(MINIBLOCK).enumerate() {
        let mut bits = 0;
        for delta in &mut *deltas {
            *delta = delta.wrapping_sub(least);
            bits |= *delta as u64;
        }
        let width = 64 - bits.leading_zeros();
        out[widths + part] = width as u8;
        if width > 0 {
            pack(deltas, width, out);
        }
    }
}

/// The bits of a whole part, the first value lowest; values that are not there are zeros.
fn pack(values: &[i64], width: u32, out: &mut Vec<u8>) {
    let end = out.len() + MINIBLOCK / 8 * width as usize;
    let (mut bits, mut filled) = (0u128, 0);
    for value in values {
        bits |= u128::from(*value as u64) << filled;
        filled += width;
        if filled >= 64 {
            out.extend_from_slice(&(bits as u64).to_le_bytes());
            bits >>= 64;
            filled -= 64;
        }
    }
    out.extend_from_slice(&(bits as u64).to_le_bytes());
    out.resize(end, 0);
}

/// Small numbers of either sign as small ones without.
const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Seven bits a byte, the lowest first; the eighth says that more follow.
pub(crate) fn varint(mut rest: u64, out: &mut Vec<u8>) {
    while rest > 0x7f {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A decoder that follows the format's text and knows nothing of the encoder.
    fn decode(mut bytes: &[u8]) -> Vec<i64> {
        let mut number = || {
            let (mut n, mut shift) = (0u64, 0);
            loop {
                let byte = bytes[0];
                bytes = &bytes[1..];
                n |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    return (n, bytes);
                }
            }
        };
        let signed = |n: u64| (n >> 1) as i64 ^ -((n & 1) as i64);
        let (block, parts, count) = (number().0 as usize, number().0 as usize, number().0 as usize);
        let (first, mut rest) = number();
        let mut values = vec![signed(first); count.min(1)];
        while values.len() < count {
            let (mut least, mut shift) = (0u64, 0);
            while rest[0] & 0x80 != 0 {
                least |= u64::from(rest[0] & 0x7f) << shift;
                shift += 7;
                rest = &rest[1..];
            }
            least |= u64::from(rest[0]) << shift;
            let widths = &rest[1..=parts];
            rest = &rest[1 + parts..];
            for width in widths {
                let length = usize::from(*width) * (block / parts) / 8;
                let bit = |at: usize| u64::from(rest[at / 8] >> (at % 8) & 1);
                for i in 0..block / parts {
                    let start = i * usize::from(*width);
                    let delta = (0..usize::from(*width)).fold(0, |n, b| n | bit(start + b) << b);
                    if values.len() < count {
                        let last = *values.last().unwrap();
                        values.push(last.wrapping_add(signed(least)).wrapping_add(delta as i64));
                    }
                }
                rest = &rest[length..];
            }
        }
        assert!(rest.is_empty());
        values
    }

    #[test]
    fn values_come_back() {
        let mixed = |i: i64| match i % 7 {
            0 => i64::MAX,
            1 => i64::MIN,
            2 => -i,
            _ => i.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) >> (i % 60),
        };
        let kinds: [&dyn Fn(i64) -> i64; 5] = [&|_| 7, &|i| i, &|i| -3 * i, &mixed, &|i| (i * i) % 1_000];
        for kind in kinds {
            for length in [0, 1, 2, 32, 33, 34, 128, 129, 130, 257, 1_000] {
                let values: Vec<i64> = (0..length).map(kind).collect();
                let mut out = Vec::new();
                encode(&values, &mut out);
                assert_eq!(decode(&out), values, "{length} values");
            }
        }
    }

    #[test]
    fn a_constant_takes_a_few_bytes_a_block() {
        let mut out = Vec::new();
        encode(&[5; 129], &mut out);
        assert_eq!(out, [0x80, 0x01, 4, 0x81, 0x01, 10, 0, 0, 0, 0, 0]);
    }
}
