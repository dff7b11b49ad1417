//! Exact quantiles.

/// Values in order, to ask for their quantiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantiles {
    sorted: Vec<f64>,
}

impl Quantiles {
    /// Of values in any order. Those that are no numbers are left out.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Quantiles {
        let mut sorted: Vec<f64> = values.into_iter().filter(|v| !v.is_nan()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Quantiles { sorted }
    }

    /// Of times in ns, as µs.
    pub fn of_nanos(values: &[u64]) -> Quantiles {
        Quantiles::of(values.iter().map(|&ns| ns as f64 / 1e3))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The value below which the share `q` lies, with linear interpolation between two; `None` of none.
    pub fn at(&self, q: f64) -> Option<f64> {
        let place = q.clamp(0.0, 1.0) * self.sorted.len().checked_sub(1)? as f64;
        let (low, high) = (self.sorted.get(place as usize)?, self.sorted.get(place.ceil() as usize)?);
        Some(low + (high - low) * place.fract())
    }

    /// The value in the middle.
    pub fn median(&self) -> Option<f64> {
        self.at(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates() {
        let four = Quantiles::of([4.0, 1.0, f64::NAN, 3.0, 2.0]);
        assert_eq!(four.len(), 4);
        assert_eq!(four.median(), Some(2.5));
        assert_eq!((four.at(0.0), four.at(1.0)), (Some(1.0), Some(4.0)));
        assert!((four.at(0.99).unwrap() - 3.97).abs() < 1e-12);
        assert_eq!(Quantiles::of_nanos(&[1500]).median(), Some(1.5));
        assert_eq!(Quantiles::default().median(), None);
    }
}
