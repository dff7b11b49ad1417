//! `bench-host samples`.

use crate::args::{Global, Samples, SamplesFormat};
use crate::catalog::Adapters;
use crate::diagnostics::Failure;
use crate::exit::Exit;
use crate::samples::{self, Drawn, LazyTokenizer};
use crate::terminal::Terminal;
use crate::workload;
use bench_core::hex;
use bench_core::sample::Sample;
use bench_workload::{Plan, ScenarioPlan};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

pub(super) fn run(args: &Samples, global: &Global, terminal: &Terminal) -> Result<Exit, Failure> {
    let adapters = Adapters::of_workload(global, &args.workload.file)?;
    let plan = workload::read(&args.workload.file, &args.workload.set, &adapters, terminal)?;
    let tokenizer = LazyTokenizer::of(&plan);
    let chosen = chosen(&plan, args.scenario.as_deref())?;
    let many = chosen.len() > 1;
    for scenario in chosen {
        let drawn = samples::draw(&adapters, scenario, &tokenizer)?;
        let name = many.then_some(scenario.name.as_str());
        // One write for a scenario: a million lines are some hundred MB at the most with texts, and the samples are
        // in memory as it is.
        let mut out = String::new();
        for (index, sample) in drawn.samples.iter().enumerate() {
            line(&mut out, args, name, index, sample);
        }
        terminal.print(&out)?;
        tell(terminal, scenario, &drawn);
    }
    Ok(Exit::Success)
}

fn chosen<'a>(plan: &'a Plan, name: Option<&str>) -> Result<Vec<&'a ScenarioPlan>, Failure> {
    let Some(name) = name else { return Ok(plan.scenarios.iter().collect()) };
    let found = plan.scenarios.iter().find(|s| s.name == name).ok_or_else(|| {
        let names: Vec<String> = plan.scenarios.iter().map(|s| format!("`{}`", s.name)).collect();
        Failure::input(format!("the workload has no scenario `{name}`")).help(format!("it has {}", names.join(", ")))
    })?;
    Ok(vec![found])
}

fn line(out: &mut String, args: &Samples, scenario: Option<&str>, index: usize, sample: &Sample) {
    let prompt = sample.prompt.digest_text();
    let sha256 = hex(bench_core::sha256(prompt.as_bytes()));
    match args.format {
        SamplesFormat::Jsonl => {
            let mut object = Map::new();
            if let Some(scenario) = scenario {
                object.insert("scenario".into(), json!(scenario));
            }
            object.insert("index".into(), json!(index));
            object.insert("sha256".into(), json!(sha256));
            object.insert("prompt_tokens".into(), json!(sample.prompt_tokens));
            object.insert("output_tokens".into(), json!(sample.output_tokens));
            if args.text {
                object.insert("text".into(), json!(prompt));
            }
            let _ = writeln!(out, "{}", Value::Object(object));
        }
        SamplesFormat::Text => {
            let count = |n: Option<u32>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
            let prefix = scenario.map_or(String::new(), |s| format!("{s} "));
            let (input, output) = (count(sample.prompt_tokens), count(sample.output_tokens));
            let _ = write!(out, "{prefix}{index:>7} {sha256} {input:>8} {output:>8}");
            if args.text {
                let _ = write!(out, " {}", prompt.escape_debug());
            }
            out.push('\n');
        }
    }
}

/// Totals and notes go to stderr: stdout is one line a request.
fn tell(terminal: &Terminal, scenario: &ScenarioPlan, drawn: &Drawn) {
    let total = |of: fn(&Sample) -> Option<u32>| -> String {
        let known: Option<u64> = drawn.samples.iter().map(|s| of(s).map(u64::from)).sum();
        known.map_or_else(|| "an unknown number of".to_owned(), |n| n.to_string())
    };
    let (input, output) = (total(|s| s.prompt_tokens), total(|s| s.output_tokens));
    terminal.say(&format!(
        "{}: {} samples, {input} prompt tokens, {output} output tokens",
        scenario.name,
        drawn.samples.len()
    ));
    for text in samples::remarks(drawn) {
        terminal.say(&format!("{}: {text}", scenario.name));
    }
}
