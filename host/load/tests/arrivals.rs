//! Arrival times equal those of `vllm bench serve` 0.11, bit for bit.

use bench_core::load::{ArrivalProcess, LoadKind, LoadSpec, RampShape};
use serde_json::Value;

#[test]
fn golden_offsets_are_bit_equal() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/fidelity/arrivals_golden_v011.json");
    let golden: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(golden.len(), 12);
    for case in golden {
        let args = &case["args"];
        let number = |key: &str| args[key].as_f64();
        let burstiness = number("burstiness").unwrap_or(1.0);
        let kind = match (number("request_rate"), args["ramp_up_strategy"].as_str()) {
            (_, Some(shape)) => LoadKind::Ramp {
                start_rate: number("ramp_up_start_rps").unwrap(),
                end_rate: number("ramp_up_end_rps").unwrap(),
                shape: if shape == "linear" { RampShape::Linear } else { RampShape::Exponential },
                burstiness,
            },
            (Some(rate), None) if burstiness == 1.0 => LoadKind::Poisson { rate },
            (Some(rate), None) => LoadKind::Gamma { rate, burstiness },
            (None, None) => LoadKind::Burst,
        };
        let spec = LoadSpec {
            kind,
            requests: case["n"].as_u64(),
            duration: None,
            max_concurrency: None,
            process: ArrivalProcess::Vllm011,
        };
        let got = bench_load::arrival::offsets(&spec, case["seed"].as_u64().unwrap(), None);
        let expected: Vec<f64> =
            case["send_offset_s"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        assert_eq!(got.len(), expected.len(), "{args}");
        for (i, (g, e)) in got.iter().zip(&expected).enumerate() {
            assert_eq!(g.to_bits(), e.to_bits(), "{args}: request {i}: {g} is not {e}");
        }
    }
}
