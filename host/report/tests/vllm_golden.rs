//! Figures that the tool's own code computed of synthetic requests, by our functions.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use bench_core::clock::Nanos;
use bench_core::decode::EventKind;
use bench_core::load::Slo;
use bench_core::outcome::Outcome;
use bench_core::record::RequestRecord;
use bench_report::compat::vllm::{Figures, Success, Tally, Version, blocks};
use bench_report::stats::Population;
use bench_report::{Facts, ScenarioFacts, WindowFacts, summarize_rows};
use serde_json::Value;
use support::{close, data, failed, streamed};

const EXACT: f64 = 1e-12;

fn cases(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(data("fidelity").join(file)).unwrap();
    let Value::Array(cases) = serde_json::from_str(&text).unwrap() else { panic!("not a list") };
    assert_eq!(cases.len(), 4);
    cases
}

fn number(v: &Value, key: &str) -> f64 {
    v[key].as_f64().unwrap_or_else(|| panic!("no number `{key}` in {v}"))
}

fn slo(case: &Value) -> Slo {
    let limit = |key: &str| case["goodput_slo_ms"][key].as_f64().map(|ms| Nanos::from_secs_f64(ms / 1e3));
    Slo { ttft: limit("ttft"), tpot: limit("tpot"), itl: None, e2e: limit("e2el") }
}

/// The successes, with the output lengths that the tool settled on.
fn successes(case: &Value, version: Version) -> Vec<Success> {
    let prompt = if version == Version::V0_11 { "prompt_len" } else { "usage_prompt_len" };
    let requests = case["requests"].as_array().unwrap().iter().zip(case["output_lens"].as_array().unwrap());
    requests
        .filter(|(r, _)| r["success"].as_bool().unwrap())
        .map(|(r, output)| Success {
            prompt_tokens: r[prompt].as_u64().unwrap(),
            output_tokens: output.as_u64().unwrap(),
            start_s: number(r, "start_s"),
            ttft_s: number(r, "ttft_s"),
            itl_s: r["itl_s"].as_array().unwrap().iter().map(|g| g.as_f64().unwrap()).collect(),
            latency_s: number(r, "latency_s"),
        })
        .collect()
}

fn figures(case: &Value, version: Version) -> Figures<bench_report::stats::Sorted> {
    let successes = successes(case, version);
    let first = successes.iter().map(|s| s.start_s).fold(f64::INFINITY, f64::min);
    let mut tally = Tally::<Vec<f64>>::new(first, slo(case));
    successes.iter().for_each(|s| tally.add(s));
    let failed = case["requests"].as_array().unwrap().len() - successes.len();
    tally.finish(number(case, "duration_s"), failed as u64)
}

#[test]
fn every_figure_of_both_versions() {
    for (file, version) in [("metrics_golden_v011.json", Version::V0_11), ("metrics_golden_v033.json", Version::V0_33)]
    {
        for case in cases(file) {
            let (f, golden) = (figures(&case, version), &case["metrics"]);
            assert_eq!(f.completed, golden["completed"].as_u64().unwrap());
            assert_eq!(f.total_input, golden["total_input"].as_u64().unwrap());
            assert_eq!(f.total_output, golden["total_output"].as_u64().unwrap());
            if let Some(failed) = golden.get("failed") {
                assert_eq!(f.failed, failed.as_u64().unwrap());
            }
            assert_eq!(f.max_output_tokens_per_s as f64, number(golden, "max_output_tokens_per_s"));
            assert_eq!(f.max_concurrent_requests, golden["max_concurrent_requests"].as_u64().unwrap());
            close(f.request_throughput(), number(golden, "request_throughput"), EXACT, "request throughput");
            close(f.output_throughput(), number(golden, "output_throughput"), EXACT, "output throughput");
            close(f.total_token_throughput(), number(golden, "total_token_throughput"), EXACT, "total throughput");
            close(f.request_goodput.unwrap_or(0.0), number(golden, "request_goodput"), EXACT, "goodput");
            for (name, population) in [("ttft", &f.ttft), ("tpot", &f.tpot), ("itl", &f.itl), ("e2el", &f.e2el)] {
                let ms = |value: Option<f64>| value.unwrap() * 1e3;
                close(ms(population.mean()), number(golden, &format!("mean_{name}_ms")), EXACT, name);
                close(ms(population.std()), number(golden, &format!("std_{name}_ms")), EXACT, name);
                close(ms(population.percentile(50.0)), number(golden, &format!("median_{name}_ms")), EXACT, name);
                let percentiles = golden[format!("percentiles_{name}_ms")].as_array().unwrap();
                assert_eq!(percentiles.len(), 4);
                for pair in percentiles {
                    let (q, value) = (pair[0].as_f64().unwrap(), pair[1].as_f64().unwrap());
                    close(ms(population.percentile(q)), value, EXACT, &format!("p{q} {name}"));
                }
            }
        }
    }
}

/// The requests as rows; `usage_at_end` adds the usage event that ends the tool's latency in 0.11.
fn rows(case: &Value, usage_at_end: bool) -> Vec<RequestRecord> {
    let ns = |s: f64| (s * 1e9).round() as u64;
    let requests = case["requests"].as_array().unwrap().iter().zip(case["output_lens"].as_array().unwrap());
    requests
        .enumerate()
        .map(|(i, (r, output))| {
            let sent = ns(number(r, "start_s") - 990.0);
            if !r["success"].as_bool().unwrap() {
                return failed(i as u64, sent, 1_000_000, Outcome::Reset);
            }
            let mut at = number(r, "ttft_s");
            let mut events = vec![(ns(at), EventKind::Text, Some(1))];
            for gap in r["itl_s"].as_array().unwrap() {
                at += gap.as_f64().unwrap();
                events.push((ns(at), EventKind::Text, Some(1)));
            }
            if usage_at_end {
                events.push((ns(number(r, "latency_s")), EventKind::Usage, Some(0)));
            }
            RequestRecord {
                prompt_tokens_asked: Some(r["prompt_len"].as_u64().unwrap() as u32),
                prompt_tokens: Some(r["usage_prompt_len"].as_u64().unwrap() as u32),
                output_tokens: Some(output.as_u64().unwrap() as u32),
                ..streamed(i as u64, sent, sent, &events)
            }
        })
        .collect()
}

fn facts(case: &Value) -> Facts {
    let scenario = ScenarioFacts { name: "s".into(), slo: slo(case), ..ScenarioFacts::default() };
    Facts { scenarios: vec![scenario], ..Facts::default() }
}

/// Our own figures where the rule is the same: 0.33's times and totals. Gaps are whole µs in a trace.
#[test]
fn our_figures_through_rows() {
    for case in cases("metrics_golden_v033.json") {
        let golden = &case["metrics"];
        let summary = summarize_rows(rows(&case, false).as_slice(), &facts(&case)).unwrap();
        let result = &summary.results[0];
        let value = |id: &str| result.figures[id].value.unwrap();
        assert_eq!(result.requests.complete, golden["completed"].as_u64().unwrap());
        assert_eq!(value("prompt_tokens"), number(golden, "total_input"));
        assert_eq!(value("output_tokens"), number(golden, "total_output"));
        let window = result.window.as_ref().unwrap().duration_s;
        let scale = number(&case, "duration_s") / window;
        close(value("request_throughput"), number(golden, "request_throughput") * scale, EXACT, "requests");
        close(value("total_throughput"), number(golden, "total_token_throughput") * scale, EXACT, "tokens");
        let good = result.figures["goodput"].value.unwrap_or(0.0);
        close(good, number(golden, "request_goodput") * scale, EXACT, "goodput");
        // The tool has a TPOT of 0 for an answer of one event, which for us has none.
        let successes = successes(&case, Version::V0_33);
        let single = successes.iter().filter(|s| s.itl_s.is_empty() && s.output_tokens > 1).count() as f64;
        let (tpot, theirs) = (&result.figures["tpot"], successes.iter().filter(|s| s.output_tokens > 1).count() as f64);
        assert_eq!(tpot.n as f64, theirs - single);
        let scaled = number(golden, "mean_tpot_ms") * theirs / (theirs - single);
        let mean = tpot.distribution.as_ref().unwrap().mean;
        assert!((mean - scaled).abs() <= 2e-6, "tpot: {mean} against {scaled}");
        // A stamp is a whole ns, a gap a whole µs; TPOT divides two stamps' difference.
        for (id, name, resolution_ms) in
            [("ttft", "ttft", 1e-6), ("e2e", "e2el", 1e-6), ("tpot", "tpot", 2e-6), ("itl", "itl", 1e-3)]
        {
            if id == "tpot" && single > 0.0 {
                continue;
            }
            let d = result.figures[id].distribution.as_ref().unwrap();
            let percentiles = golden[format!("percentiles_{name}_ms")].as_array().unwrap();
            let pairs = [
                (d.mean, number(golden, &format!("mean_{name}_ms"))),
                (d.std, number(golden, &format!("std_{name}_ms"))),
                (d.median, number(golden, &format!("median_{name}_ms"))),
                (d.p90, percentiles[1][1].as_f64().unwrap()),
                (d.p99, percentiles[2][1].as_f64().unwrap()),
                (d.p99_9, percentiles[3][1].as_f64().unwrap()),
            ];
            for (ours, theirs) in pairs {
                assert!((ours - theirs).abs() <= resolution_ms, "{id}: {ours} against {theirs}");
            }
        }
    }
}

/// The block of rows, number by number against the tool's figures.
#[test]
fn the_block_of_rows_has_the_tools_figures() {
    for (file, version) in [("metrics_golden_v011.json", Version::V0_11), ("metrics_golden_v033.json", Version::V0_33)]
    {
        for case in cases(file) {
            let golden = &case["metrics"];
            let rows = rows(&case, version == Version::V0_11);
            // The case's own duration is made up; rows have the one from a schedule's zero to the last end.
            let zero = rows.iter().filter_map(|r| r.sent).min().unwrap().0 - 250_000_000;
            let seconds = (rows.iter().map(|r| r.end.0).max().unwrap() - zero) as f64 / 1e9;
            let scale = number(&case, "duration_s") / seconds;
            let window = WindowFacts { scenario: "s".into(), start: Some(Nanos(zero)), ..WindowFacts::default() };
            let facts = Facts { windows: vec![window], ..facts(&case) };
            let [(_, block)] = blocks(rows.as_slice(), &facts, version).unwrap().try_into().unwrap();
            let printed = |label: &str| -> f64 {
                let line = block.lines().find(|l| l.starts_with(label)).unwrap_or_else(|| panic!("{label}: {block}"));
                line.rsplit_once(':').unwrap().1.trim().parse().unwrap()
            };
            assert_eq!(printed("Successful requests:"), number(golden, "completed"));
            assert_eq!(printed("Total input tokens:"), number(golden, "total_input"));
            assert_eq!(printed("Total generated tokens:"), number(golden, "total_output"));
            assert_eq!(printed("Peak concurrent requests:"), number(golden, "max_concurrent_requests"));
            assert_eq!(printed("Peak output token throughput"), number(golden, "max_output_tokens_per_s"));
            for (label, key) in [("Request throughput", "request_throughput"), ("Output token", "output_throughput")] {
                assert!((printed(label) - number(golden, key) * scale).abs() <= 0.011, "{label}");
            }
            for name in ["ttft", "tpot", "itl"] {
                let label = format!("{} (ms):", name.to_uppercase());
                for (what, key) in [("Mean", "mean"), ("Median", "median")] {
                    let theirs = number(golden, &format!("{key}_{name}_ms"));
                    assert!((printed(&format!("{what} {label}")) - theirs).abs() <= 0.011, "{what} {label}");
                }
                let p99 = golden[format!("percentiles_{name}_ms")][2][1].as_f64().unwrap();
                assert!((printed(&format!("P99 {label}")) - p99).abs() <= 0.011, "P99 {label}");
            }
        }
    }
}

/// Byte for byte what Python's `str.format` makes of the tool's own figures.
#[test]
fn the_block_byte_for_byte() {
    use bench_report::compat::vllm::{BlockOptions, block};
    let case = &cases("metrics_golden_v011.json")[3];
    let options = BlockOptions { max_concurrency: Some(200), request_rate: Some(12.5) };
    let printed = block(Version::V0_11, &options, &figures(case, Version::V0_11));
    assert_eq!(printed, include_str!("golden/vllm-0.11.txt"));
}
