//! CPython's `random.Random`.

use super::Mt19937;

/// `random.Random(seed)` of CPython 3.
#[derive(Clone, Debug)]
pub struct PythonRandom {
    mt: Mt19937,
}

impl PythonRandom {
    /// `seed(int)`.
    pub fn new(seed: u64) -> PythonRandom {
        let low = seed as u32;
        let high = (seed >> 32) as u32;
        let key: &[u32] = if high == 0 { &[low] } else { &[low, high] };
        PythonRandom { mt: Mt19937::from_key(key) }
    }

    /// `random()`.
    pub fn random(&mut self) -> f64 {
        self.mt.next_f64()
    }

    /// `getrandbits(bits)`, at most 64 bits.
    pub fn bits(&mut self, bits: u32) -> u64 {
        match bits {
            0 => 0,
            1..=32 => u64::from(self.mt.next_u32() >> (32 - bits)),
            _ => {
                let low = u64::from(self.mt.next_u32());
                let high = u64::from(self.mt.next_u32() >> (64 - bits.min(64)));
                low | (high << 32)
            }
        }
    }

    /// `_randbelow(n)`: uniform in `0..n`; 0 for `n = 0`.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let bits = 64 - n.leading_zeros();
        loop {
            let r = self.bits(bits);
            if r < n {
                return r;
            }
        }
    }

    /// `shuffle(items)`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i as u64 + 1) as usize;
            items.swap(i, j);
        }
    }

    /// `choices(range(n), k=count)`; `n` must not be 0.
    pub fn choices(&mut self, n: u32, count: usize) -> Vec<u32> {
        (0..count).map(|_| (self.random() * f64::from(n)).floor() as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_what_cpython_draws() {
        let mut r = PythonRandom::new(0);
        assert_eq!([r.bits(32), r.bits(32), r.bits(32)], [3_626_764_237, 1_654_615_998, 3_255_389_356]);
        let mut r = PythonRandom::new(0);
        assert_eq!(
            [r.random(), r.random(), r.random()],
            [0.844_421_851_525_048_1, 0.757_954_402_940_302_5, 0.420_571_580_830_845]
        );
    }

    #[test]
    fn shuffles_as_cpython_does() {
        let mut items: Vec<u32> = (0..10).collect();
        PythonRandom::new(42).shuffle(&mut items);
        assert_eq!(items, [7, 3, 2, 8, 5, 6, 9, 4, 0, 1]);
    }

    #[test]
    fn a_seed_of_more_than_32_bits_has_two_words() {
        // random.Random(2**40 + 7).getrandbits(32), CPython 3.11
        assert_ne!(PythonRandom::new((1 << 40) + 7).bits(32), PythonRandom::new(7).bits(32));
    }
}
