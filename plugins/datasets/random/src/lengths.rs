//! How long prompts and answers are.

/// Lengths asked for. Every drawn one lies in the interval that the range ratio spans around the one given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lengths {
    /// Tokens of a prompt, prefix not counted.
    pub(crate) input: u32,
    /// Tokens of an answer.
    pub(crate) output: u32,
    /// Tokens that all prompts begin with, besides.
    pub(crate) prefix: u32,
    /// Half width of the interval of `input`, as a part of it: at least 0, below 1.
    pub(crate) input_ratio: f64,
    /// The same of `output`.
    pub(crate) output_ratio: f64,
}

impl Lengths {
    /// Least and greatest length of a prompt, where the tokenizer adds `special` tokens to every text: both bounds
    /// are possible.
    pub(crate) fn inputs(&self, special: u32) -> (i64, i64) {
        interval(self.input.saturating_sub(special), self.input_ratio)
    }

    /// Least and greatest length of an answer, at least 1.
    pub(crate) fn outputs(&self) -> (i64, i64) {
        let (low, high) = interval(self.output, self.output_ratio);
        (low.max(1), high.max(1))
    }
}

/// `floor(n (1 - ratio))` and `ceil(n (1 + ratio))`, in the doubles that Python computes them in.
fn interval(n: u32, ratio: f64) -> (i64, i64) {
    let n = f64::from(n);
    ((n * (1.0 - ratio)).floor() as i64, (n * (1.0 + ratio)).ceil() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_python() {
        let lengths = Lengths { input: 1000, output: 3, prefix: 5, input_ratio: 0.3, output_ratio: 0.9 };
        // 1000 * (1 + 0.3) is 1300 and 1000 * (1 - 0.3) is 700 in doubles; 0.1 and 0.9 round off.
        assert_eq!(lengths.inputs(0), (700, 1300));
        assert_eq!(lengths.inputs(2), (698, 1298));
        assert_eq!(lengths.outputs(), (1, 6));
        let exact = Lengths { input_ratio: 0.0, output_ratio: 0.0, ..lengths };
        assert_eq!((exact.inputs(0), exact.outputs()), ((1000, 1000), (3, 3)));
        assert_eq!(Lengths { input: 3, ..exact }.inputs(7), (0, 0));
        // 100 * (1 + 0.1) is 110.00000000000001.
        assert_eq!(Lengths { input: 100, input_ratio: 0.1, ..exact }.inputs(0), (90, 111));
    }
}
