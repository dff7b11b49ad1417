//! Figures of the floor and of bench-host side by side.

use crate::quantiles::Quantiles;
use std::fmt;

/// A figure, a value for each run that gave one.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    name: String,
    floor: Vec<f64>,
    ours: Vec<f64>,
}

/// Figures in the order of their first value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    figures: Vec<Figure>,
}

impl Table {
    /// A value of the floor. `None` adds nothing.
    pub fn floor(&mut self, name: &str, value: Option<f64>) {
        self.figure(name).floor.extend(value);
    }

    /// A value of bench-host. `None` adds nothing.
    pub fn ours(&mut self, name: &str, value: Option<f64>) {
        self.figure(name).ours.extend(value);
    }

    fn figure(&mut self, name: &str) -> &mut Figure {
        let place = self.figures.iter().position(|f| f.name == name).unwrap_or_else(|| {
            self.figures.push(Figure { name: name.to_owned(), floor: Vec::new(), ours: Vec::new() });
            self.figures.len() - 1
        });
        &mut self.figures[place]
    }
}

impl Figure {
    /// bench-host's median over the floor's.
    fn ratio(&self) -> Option<f64> {
        Some(median(&self.ours)? / median(&self.floor).filter(|m| *m > 0.0)?)
    }
}

fn median(values: &[f64]) -> Option<f64> {
    Quantiles::of(values.iter().copied()).median()
}

/// The median, and least and greatest where there are several.
fn cell(values: &[f64]) -> String {
    let all = Quantiles::of(values.iter().copied());
    match (all.median(), all.at(0.0), all.at(1.0)) {
        (Some(median), Some(low), Some(high)) if all.len() > 1 => {
            format!("{} ({}..{})", number(median), number(low), number(high))
        }
        (Some(median), ..) => number(median),
        _ => "not given".to_owned(),
    }
}

/// Three digits that mean something.
fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        v if v >= 0.1 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<38} {:>26} {:>26} {:>7}", "", "floor", "bench-host", "ratio")?;
        for figure in &self.figures {
            let ratio = figure.ratio().map_or_else(|| "-".to_owned(), number);
            let (floor, ours) = (cell(&figure.floor), cell(&figure.ours));
            writeln!(f, "{:<38} {floor:>26} {ours:>26} {ratio:>7}", figure.name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_ranges_and_ratios() {
        let mut table = Table::default();
        for (floor, ours) in [(4.0, 6.0), (2.0, 9.0), (3.0, 150.25)] {
            table.floor("CPU, µs/token", Some(floor));
            table.ours("CPU, µs/token", Some(ours));
        }
        table.floor("system calls/token", Some(0.0189));
        table.ours("system calls/token", None);
        table.ours("CPU share", Some(0.5));
        let text = table.to_string();
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["floor", "bench-host", "ratio"]);
        assert_eq!(lines[1][2..], ["3.00", "(2.00..4.00)", "9.00", "(6.00..150)", "3.00"]);
        assert_eq!(lines[2][2..], ["0.0189", "not", "given", "-"]);
        assert_eq!(lines[3][2..], ["not", "given", "0.500", "-"]);
    }
}
