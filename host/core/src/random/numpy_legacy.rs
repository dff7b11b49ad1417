//! numpy's legacy global state (`np.random.seed`, `RandomState`).

use super::Mt19937;

/// `np.random.RandomState(seed)`.
#[derive(Clone, Debug)]
pub struct NumpyLegacy {
    mt: Mt19937,
    /// The second half of a pair of normal draws.
    kept_gauss: Option<f64>,
}

impl NumpyLegacy {
    /// `seed(int)`.
    pub fn new(seed: u32) -> NumpyLegacy {
        NumpyLegacy { mt: Mt19937::from_seed(seed), kept_gauss: None }
    }

    /// `uniform()`: in `[0, 1)`, 53 bits.
    pub fn random(&mut self) -> f64 {
        self.mt.next_f64()
    }

    /// `randint(0, n)`: masked rejection; draws nothing for `n` of 0 or 1.
    pub fn below(&mut self, n: u64) -> u64 {
        let greatest = n.saturating_sub(1);
        if greatest == 0 {
            return 0;
        }
        let mask = u64::MAX >> greatest.leading_zeros();
        loop {
            let draw = if greatest <= u64::from(u32::MAX) {
                u64::from(self.mt.next_u32())
            } else {
                (u64::from(self.mt.next_u32()) << 32) | u64::from(self.mt.next_u32())
            };
            let r = draw & mask;
            if r <= greatest {
                return r;
            }
        }
    }

    /// `permutation(n)`.
    pub fn permutation(&mut self, n: u32) -> Vec<u32> {
        let mut items: Vec<u32> = (0..n).collect();
        for i in (1..items.len()).rev() {
            let j = self.below(i as u64 + 1) as usize;
            items.swap(i, j);
        }
        items
    }

    /// `standard_exponential()`.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.random()).ln()
    }

    /// `standard_normal()`: the polar Box-Muller method, the second of each pair kept.
    pub fn gauss(&mut self) -> f64 {
        if let Some(kept) = self.kept_gauss.take() {
            return kept;
        }
        loop {
            let x1 = 2.0 * self.random() - 1.0;
            let x2 = 2.0 * self.random() - 1.0;
            let r2 = x1 * x1 + x2 * x2;
            if r2 < 1.0 && r2 != 0.0 {
                let f = (-2.0 * r2.ln() / r2).sqrt();
                self.kept_gauss = Some(f * x1);
                return f * x2;
            }
        }
    }

    /// `gamma(shape, scale)`, both above 0.
    pub fn gamma(&mut self, shape: f64, scale: f64) -> f64 {
        scale * self.standard_gamma(shape)
    }

    fn standard_gamma(&mut self, shape: f64) -> f64 {
        if shape == 1.0 {
            return self.exponential();
        }
        if shape < 1.0 {
            loop {
                let u = self.random();
                let v = self.exponential();
                if u <= 1.0 - shape {
                    let x = u.powf(1.0 / shape);
                    if x <= v {
                        return x;
                    }
                } else {
                    let y = -((1.0 - u) / shape).ln();
                    let x = (1.0 - shape + shape * y).powf(1.0 / shape);
                    if x <= v + y {
                        return x;
                    }
                }
            }
        }
        let b = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * b).sqrt();
        loop {
            let (x, v) = loop {
                let x = self.gauss();
                let v = 1.0 + c * x;
                if v > 0.0 {
                    break (x, v);
                }
            };
            let v = v * v * v;
            let u = self.random();
            if u < 1.0 - 0.0331 * (x * x) * (x * x) || u.ln() < 0.5 * x * x + b * (1.0 - v + v.ln()) {
                return b * v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_what_numpy_draws() {
        let mut r = NumpyLegacy::new(0);
        let got: Vec<u64> = (0..6).map(|_| r.below(151_643)).collect();
        assert_eq!(got, [43567, 117_952, 95939, 97639, 41993, 122_579]);
    }

    #[test]
    fn gammas_are_numpys() {
        let draw = |shape: f64| {
            let mut r = NumpyLegacy::new(0);
            [r.gamma(shape, 0.25), r.gamma(shape, 0.25), r.gamma(shape, 0.25)]
        };
        assert_eq!(draw(1.0), [0.198_968_627_040_777_5, 0.313_982_690_741_459_46, 0.230_805_786_451_017_2]);
        assert_eq!(draw(0.3), [0.033_834_204_645_694_345, 0.046_248_345_165_239_325, 0.014_277_333_717_431_734]);
        assert_eq!(draw(2.5), [1.484_675_175_811_27, 0.702_667_410_421_177_4, 1.560_530_581_224_665_5]);
    }
}
