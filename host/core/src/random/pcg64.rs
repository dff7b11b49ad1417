//! numpy's `default_rng`: PCG64 (XSL-RR, O'Neill 2014) seeded by `SeedSequence`.

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

/// `np.random.default_rng(seed)`.
#[derive(Clone, Debug)]
pub struct NumpyGenerator {
    state: u128,
    increment: u128,
    /// The high half of a 64-bit draw, kept for the next 32-bit draw.
    kept: Option<u32>,
}

impl NumpyGenerator {
    /// `default_rng(int)`.
    pub fn new(seed: u64) -> NumpyGenerator {
        let [w0, w1, w2, w3] = seed_words(seed);
        let initial = (u128::from(w0) << 64) | u128::from(w1);
        let sequence = (u128::from(w2) << 64) | u128::from(w3);
        let mut g = NumpyGenerator { state: 0, increment: (sequence << 1) | 1, kept: None };
        g.step();
        g.state = g.state.wrapping_add(initial);
        g.step();
        g
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// The next 32 bits: the low half of a 64-bit draw, then its high half.
    pub fn next_u32(&mut self) -> u32 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        let both = self.next_u64();
        self.kept = Some((both >> 32) as u32);
        both as u32
    }

    /// `random()`: uniform in `[0, 1)`, 53 bits.
    pub fn random(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// `integers(low, high)`, `high` not included, by Lemire's rule; `low` where `high` is not above it.
    /// Consumes nothing where only one value is possible. The range is at most 2^32 - 1 wide.
    pub fn integers(&mut self, low: i64, high: i64) -> i64 {
        let range = high.saturating_sub(low).saturating_sub(1).clamp(0, i64::from(u32::MAX) - 1) as u64;
        if range == 0 {
            return low;
        }
        let width = range + 1;
        let mut m = u64::from(self.next_u32()) * width;
        if (m as u32 as u64) < width {
            let threshold = (u64::from(u32::MAX) - range) % width;
            while (m as u32 as u64) < threshold {
                m = u64::from(self.next_u32()) * width;
            }
        }
        low + (m >> 32) as i64
    }

    /// Exponential with mean 1, by inversion.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.random()).ln()
    }
}

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_words(seed: u64) -> [u64; 4] {
    const INIT_A: u32 = 0x43b0_d7e5;
    const MULT_A: u32 = 0x931e_8875;
    const INIT_B: u32 = 0x8b51_f9dd;
    const MULT_B: u32 = 0x58f3_8ded;
    const MIX_L: u32 = 0xca01_f9dd;
    const MIX_R: u32 = 0x4973_f715;

    let mut constant = INIT_A;
    let mut hash = |v: u32| {
        let mut v = v ^ constant;
        constant = constant.wrapping_mul(MULT_A);
        v = v.wrapping_mul(constant);
        v ^ (v >> 16)
    };
    let mut pool = [hash(seed as u32), hash((seed >> 32) as u32), hash(0), hash(0)];
    for src in 0..4 {
        for dst in 0..4 {
            if src != dst {
                let mixed = MIX_L.wrapping_mul(pool[dst]).wrapping_sub(MIX_R.wrapping_mul(hash(pool[src])));
                pool[dst] = mixed ^ (mixed >> 16);
            }
        }
    }
    let mut constant = INIT_B;
    let mut out = [0u32; 8];
    for (i, word) in out.iter_mut().enumerate() {
        let mut v = pool[i % 4] ^ constant;
        constant = constant.wrapping_mul(MULT_B);
        v = v.wrapping_mul(constant);
        *word = v ^ (v >> 16);
    }
    std::array::from_fn(|i| u64::from(out[2 * i]) | (u64::from(out[2 * i + 1]) << 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_what_numpy_draws() {
        let mut g = NumpyGenerator::new(42);
        assert_eq!([g.next_u64(), g.next_u64()], [14_276_969_152_011_380_360, 8_095_878_257_575_067_585]);
        let mut g = NumpyGenerator::new(42);
        let got: Vec<i64> = (0..6).map(|_| g.integers(0, 151_643)).collect();
        assert_eq!(got, [13534, 117_365, 99261, 66552, 65663, 130_200]);
    }

    #[test]
    fn the_kept_half_survives_between_ranges() {
        let mut g = NumpyGenerator::new(42);
        let mut draw = |low, high, n: usize| -> Vec<i64> { (0..n).map(|_| g.integers(low, high)).collect() };
        assert_eq!(draw(64, 193, 3), [75, 163, 148]);
        assert_eq!(draw(2, 7, 3), [4, 4, 6]);
        assert_eq!(draw(0, 151_643, 3), [13033, 105_750, 30551]);
        assert_eq!(draw(0, 151_643, 2), [14281, 79836]);
    }

    #[test]
    fn one_possible_value_consumes_nothing() {
        let mut g = NumpyGenerator::new(42);
        assert_eq!(g.integers(5, 6), 5);
        assert_eq!(g.next_u64(), 14_276_969_152_011_380_360);
    }
}
