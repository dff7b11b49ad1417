//! Seeded numbers that never change with a library: texts and jitter repeat for ever.

use bench_core::clock::Nanos;

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014): one step from a state.
pub(crate) fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a over bytes, 64 bits (draft-eastlake-fnv).
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Varies times evenly by up to a width, either way.
pub(crate) struct Jitter {
    state: u64,
    width: u64,
}

impl Jitter {
    pub(crate) fn new(seed: u64, width: Nanos) -> Jitter {
        Jitter { state: mix(seed), width: width.0 }
    }

    /// `time` plus or minus up to the width; never below zero.
    pub(crate) fn vary(&mut self, time: Nanos) -> Nanos {
        if self.width == 0 {
            return time;
        }
        self.state = self.state.wrapping_add(1);
        // The remainder's bias is under width / 2^64.
        let shift = mix(self.state) % (2 * self.width + 1);
        Nanos((time.0 + shift).saturating_sub(self.width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // First outputs of SplitMix64 from seed 0, as published with its reference code.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(digest(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(digest(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
