//! The block that the tool prints.

use super::{Figures, Version};
use crate::stats::Population;

/// What the tool was told, as far as it shows in the block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockOptions {
    /// `--max-concurrency`.
    pub max_concurrency: Option<u32>,
    /// `--request-rate`, where finite.
    pub request_rate: Option<f64>,
}

const WIDTH: usize = 50;

/// The block, byte for byte in form: labels 40 wide, values 10 wide with two decimals, trailing blanks and all.
pub fn block<P: Population>(version: Version, options: &BlockOptions, figures: &Figures<P>) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    let whole = |label: &str, n: u64| format!("{label:<40} {n:<10}");
    let number = |label: &str, x: f64| format!("{label:<40} {x:<10.2}");
    line(format!("{:=^WIDTH$}", " Serving Benchmark Result "));
    line(whole("Successful requests:", figures.completed));
    if version == Version::V0_33 {
        line(whole("Failed requests:", figures.failed));
    }
    if let Some(n) = options.max_concurrency {
        line(whole("Maximum request concurrency:", u64::from(n)));
    }
    if let Some(rate) = options.request_rate {
        line(number("Request rate configured (RPS):", rate));
    }
    line(number("Benchmark duration (s):", figures.duration_s));
    line(whole("Total input tokens:", figures.total_input));
    line(whole("Total generated tokens:", figures.total_output));
    line(number("Request throughput (req/s):", figures.request_throughput()));
    if let Some(goodput) = figures.request_goodput {
        line(number("Request goodput (req/s):", goodput));
    }
    line(number("Output token throughput (tok/s):", figures.output_throughput()));
    line(number("Peak output token throughput (tok/s):", figures.max_output_tokens_per_s as f64));
    line(number("Peak concurrent requests:", figures.max_concurrent_requests as f64));
    line(number(version.total_label(), figures.total_token_throughput()));
    let sections: [(&str, &str, &dyn Population, f64); 3] = [
        ("Time to First Token", "TTFT", &figures.ttft, 1.0),
        ("Time per Output Token (excl. 1st token)", "TPOT", &figures.tpot, 1.0),
        ("Inter-token Latency", "ITL", &figures.itl, figures.itl_per_second),
    ];
    for (title, name, population, per_second) in sections {
        let ms = |value: Option<f64>| value.map_or(0.0, |v| v / per_second * 1e3);
        line(format!("{title:-^WIDTH$}"));
        line(number(&format!("Mean {name} (ms):"), ms(population.mean())));
        line(number(&format!("Median {name} (ms):"), ms(population.percentile(50.0))));
        line(number(&format!("P99 {name} (ms):"), ms(population.percentile(99.0))));
    }
    line("=".repeat(WIDTH));
    out
}
