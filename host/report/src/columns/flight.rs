//! Requests in flight.

use crate::window::Window;
use bench_core::record::RequestRecord;

/// When requests were in flight: from `sent` until the attempt was over.
#[derive(Clone, Debug, Default)]
pub struct Flight {
    starts: Vec<u64>,
    ends: Vec<u64>,
}

impl Flight {
    /// Takes a row in; one that was never sent was never in flight.
    pub fn add(&mut self, row: &RequestRecord) {
        if let Some(sent) = row.sent {
            self.starts.push(sent.0);
            self.ends.push(row.end.0.max(sent.0));
        }
    }

    /// Requests that were sent.
    pub fn sent(&self) -> u64 {
        self.starts.len() as u64
    }

    /// Time in flight of all requests over the window's length (Little's law).
    pub fn mean(&self, window: Window) -> Option<f64> {
        let busy: u128 = self.starts.iter().zip(&self.ends).map(|(s, e)| u128::from(e - s)).sum();
        window.seconds().map(|seconds| busy as f64 / 1e9 / seconds)
    }

    /// Most at one moment; one that ends when another starts does not overlap it.
    pub fn peak(&self) -> u64 {
        let (mut starts, mut ends) = (self.starts.clone(), self.ends.clone());
        starts.sort_unstable();
        ends.sort_unstable();
        let (mut over, mut peak) = (0usize, 0usize);
        for (begun, start) in starts.iter().enumerate() {
            while ends.get(over).is_some_and(|end| end <= start) {
                over += 1;
            }
            // One that took no time at all is over as soon as it began.
            peak = peak.max((begun + 1).saturating_sub(over));
        }
        peak as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_core::clock::Nanos;

    #[test]
    fn overlap_by_hand() {
        let flight = Flight { starts: vec![0, 10, 20, 20], ends: vec![20, 30, 25, 40] };
        assert_eq!(flight.peak(), 3);
        let window = Window { start: Nanos(0), end: Nanos(40) };
        assert!((flight.mean(window).unwrap() - 65.0 / 40.0).abs() < 1e-12);
        assert_eq!(Flight::default().peak(), 0);
    }
}
