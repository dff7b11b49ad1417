//! What a plan tells: its hash, its size, and what it is made of.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use bench_core::clock::Nanos;
use bench_workload::{Override, Plan, read};
use std::path::Path;
use support::TestCatalog;

const TEXT: &str = r#"
name = "x"
[engine]
adapter = "vllm"
model = "m"
model-path = "models/m"
launch.programs = { vllm = "/opt/a/vllm" }
[tokenizer]
path = "tokenizer.json"
[[scenario]]
name = "a"
dataset = { adapter = "sharegpt", options = { path = "data.json" } }
load = { kind = "poisson", rate = 4, requests = 100 }
"#;

fn plan_at(text: &str, base: &str, overrides: &[&str]) -> Plan {
    let overrides: Vec<Override> = overrides.iter().map(|o| o.parse().unwrap()).collect();
    let (plan, _) = read("x.toml", text, Path::new(base), &overrides, &TestCatalog).unwrap_or_else(|r| panic!("{r:?}"));
    plan
}

fn plan(overrides: &[&str]) -> Plan {
    plan_at(TEXT, "/base", overrides)
}

#[test]
fn the_hash_knows_no_machine() {
    let here = plan(&[]).hash();
    assert_eq!(here.len(), 64);
    assert_eq!(plan_at(TEXT, "/elsewhere", &[]).hash(), here);
    assert_eq!(plan(&["engine.launch.programs.vllm=/opt/b/vllm"]).hash(), here);
    let absolute = plan(&["scenario.a.dataset.options.path=/one/data.json"]).hash();
    assert_eq!(plan(&["scenario.a.dataset.options.path=/two/data.json"]).hash(), absolute);
}

#[test]
fn the_hash_knows_what_is_done_and_not_how_it_was_said() {
    let here = plan(&[]).hash();
    let same =
        ["repeat.count=1", "engine.launch.runtime=process", "scenario.a.sampling.temperature=0", "seeds.samples=0"];
    for o in same {
        assert_eq!(plan(&[o]).hash(), here, "{o}");
    }
    let others = [
        "name=y",
        "seeds.samples=1",
        "scenario.a.seeds.arrival=1",
        "scenario.a.load.rate=5",
        "scenario.a.dataset.options.path=other.json",
        "engine.options.tensor-parallel-size=2",
        "engine.model-path=models/other",
        "engine.launch.extra-args=[\"-x\"]",
        "scenario.a.warmup.requests=0",
        "scenario.a.limits.max-failure-rate=0.5",
        "trace.text=true",
        "tokenizer.path=other.json",
    ];
    for o in others {
        assert_ne!(plan(&[o]).hash(), here, "{o}");
    }
}

#[test]
fn a_golden_hash() {
    // Computed apart from this code, in Python, from `every-key-launch.json` by the rule in the README. Changes only
    // together with what a plan is made of.
    let plan: Plan = serde_json::from_str(include_str!("../../../tests/ui/valid/every-key-launch.json")).unwrap();
    assert_eq!(plan.hash(), "b9cac812d9edfc16051db7237bb79e9c9d0c23fc72de87fdbf871fd621f8c7e9");
}

#[test]
fn the_size_of_a_plan() {
    let s = Some;
    for (load, requests, time) in [
        (r#"{ kind = "burst", requests = 100 }"#, 100, None),
        (r#"{ kind = "closed", concurrency = 4, requests = 100 }"#, 100, None),
        (r#"{ kind = "closed", concurrency = 4, duration = "1m" }"#, 4, s(60.0)),
        (r#"{ kind = "closed", concurrency = 4, requests = 100, duration = "1m" }"#, 4, None),
        (r#"{ kind = "poisson", rate = 4, requests = 100 }"#, 100, s(25.0)),
        (r#"{ kind = "constant", rate = 0.5, duration = "1m" }"#, 30, s(60.0)),
        (r#"{ kind = "constant", rate = 10, duration = "1m", requests = 100 }"#, 100, s(10.0)),
        (r#"{ kind = "ramp", start-rate = 0, end-rate = 10, requests = 100 }"#, 100, s(20.0)),
        (r#"{ kind = "ramp", start-rate = 2, end-rate = 2, shape = "exponential", requests = 100 }"#, 100, s(50.0)),
    ] {
        let plan = plan(&[&format!("scenario.a.load={load}")]);
        let scenario = &plan.scenarios[0];
        assert_eq!(scenario.requests_at_least(), requests, "{load}");
        assert_eq!(scenario.least_duration(), time.map(Nanos::from_secs_f64), "{load}");
    }
    let twice = plan(&["repeat.count=2"]);
    assert_eq!(twice.requests_at_least(), 200);
    assert_eq!(twice.least_duration(), Nanos::from_secs(50));
}

#[test]
fn warm_up_by_default() {
    for (change, requests) in [
        (r#"scenario.a.load={ kind = "burst", requests = 3 }"#, 3),
        (r#"scenario.a.load={ kind = "burst", requests = 1000 }"#, 8),
        (r#"scenario.a.load={ kind = "burst", requests = 1000, max-concurrency = 2 }"#, 2),
        (r#"scenario.a.load={ kind = "closed", concurrency = 4, duration = "1m" }"#, 4),
    ] {
        assert_eq!(plan(&[change]).scenarios[0].warmup_requests, requests, "{change}");
    }
    let attached = TEXT.replace("launch.programs = { vllm = \"/opt/a/vllm\" }", "attach.urls = [\"http://a\"]");
    assert_eq!(plan_at(&attached, "/base", &[]).scenarios[0].warmup_requests, 0);
}

/// Each line of the file with every key is in the plan: without it the plan is another, or none.
#[test]
fn no_key_is_read_in_vain() {
    let all = include_str!("../../../tests/ui/valid/every-key-launch.toml");
    let without_asked = |text: &str| {
        let (mut plan, _) = read("x", text, Path::new("/base"), &[], &TestCatalog).ok()?;
        plan.asked.clear();
        Some(plan)
    };
    let whole = without_asked(all).unwrap();
    // Two say what holds by default; the scenario has a seed of its own.
    let is_default = ["runtime = \"process\"", "stream = true", "samples = 18446744073709551615"];
    let lines: Vec<&str> = all.lines().collect();
    let keys = lines.iter().enumerate().filter(|(_, l)| l.contains(" = ") && !is_default.contains(l));
    for (i, line) in keys {
        let rest: Vec<&str> = lines.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, l)| *l).collect();
        assert_ne!(without_asked(&rest.join("\n")), Some(whole.clone()), "{line}");
    }
}

/// Whatever the text, reading it ends with a plan or with diagnostics inside the text.
#[test]
fn no_text_is_too_odd() {
    let mut texts: Vec<String> = Vec::new();
    let all = include_str!("../../../tests/ui/valid/every-key-launch.toml");
    texts.extend(all.char_indices().step_by(5).map(|(i, _)| all[..i].to_owned()));
    texts.extend(all.char_indices().step_by(3).map(|(i, c)| format!("{}{}", &all[..i], &all[i + c.len_utf8()..])));
    let lines: Vec<&str> = all.lines().collect();
    for i in 0..lines.len() {
        let others: Vec<&str> = lines.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, l)| *l).collect();
        texts.push(others.join("\r\n"));
    }
    texts.push(format!("name = {}1{}", "[".repeat(100_000), "]".repeat(100_000)));
    texts.push(format!("{} = 1", vec!["a"; 50_000].join(".")));
    texts.push(format!("\u{feff}{all}"));
    texts.push("name = \"\u{1f600}\"\n[engine]\nadapter = \"\u{1f600}\"".to_owned());
    for text in texts {
        if let Err(report) = read("x", &text, Path::new(""), &[], &TestCatalog) {
            assert!(!report.diagnostics.is_empty());
            for d in &report.diagnostics {
                for (span, _) in &d.labels {
                    assert!(text.get(span.clone()).is_some(), "{span:?} of {d:?}");
                }
            }
        }
    }
}

#[test]
fn a_byte_order_mark_shifts_nothing() {
    let report = read("x", "\u{feff}name = 3", Path::new(""), &[], &TestCatalog).unwrap_err();
    let wrong = report.diagnostics.iter().find(|d| d.message.contains("takes a string")).unwrap();
    let (span, _) = &wrong.labels[0];
    assert_eq!(&report.text[span.clone()], "3");
}
