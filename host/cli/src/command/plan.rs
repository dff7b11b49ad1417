//! `bench-host plan`.

use crate::args::{Global, Plan as PlanArgs, PlanFormat};
use crate::catalog::{self, Adapters};
use crate::diagnostics::Failure;
use crate::engine_plan;
use crate::exit::Exit;
use crate::session::remark;
use crate::terminal::Terminal;
use crate::workload;
use bench_core::launch::{LaunchPlan, ProcessPlan};
use bench_core::load::LoadKind;
use bench_launch::shell_line;
use bench_workload::{EngineTarget, LaunchSettings, Plan, ScenarioPlan};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) fn run(args: &PlanArgs, global: &Global, terminal: &Terminal) -> Result<Exit, Failure> {
    let adapters = Adapters::of_workload(global, &args.workload.file)?;
    let plan = workload::read(&args.workload.file, &args.workload.set, &adapters, terminal)?;
    let launches = launches(&plan, &adapters, terminal)?;
    let text = match args.format {
        PlanFormat::Text => text(&plan, &launches),
        PlanFormat::Json => json_text(&plan, &launches)?,
    };
    terminal.print(&text)?;
    Ok(Exit::Success)
}

/// The launch plan of each replica. Ports that will be free ones stand as the engine's own port.
fn launches(plan: &Plan, adapters: &Adapters, terminal: &Terminal) -> Result<Vec<LaunchPlan>, Failure> {
    let EngineTarget::Launch(launch) = &plan.engine.target else { return Ok(Vec::new()) };
    let engine = adapters
        .engine_adapter(&plan.engine.adapter.written)
        .map_err(|e| catalog::failure("failed to load the engine's adapter", &e))?;
    let count = engine_plan::ports_needed(&engine, &plan.engine)?;
    let first = launch.port.or(engine.adapter.manifest().default_port).unwrap_or(8000);
    let mut plans = Vec::new();
    for replica in 0..launch.replicas {
        let ports = engine_plan::fixed_ports(first, replica, count)?;
        let folder = format!("replica-{replica}");
        let planned = engine_plan::replica(&engine, &plan.engine, launch, replica, ports, &folder)?;
        for d in &planned.said {
            terminal.say(&remark(d));
        }
        plans.push(planned.plan);
    }
    Ok(plans)
}

/// The command as a person would write it: without address and port.
fn command(plan: &LaunchPlan, place: usize, process: &ProcessPlan, launch: &LaunchSettings) -> String {
    shell_line(&process.program, plan.args(place, &launch.extra_args))
}

fn json_text(plan: &Plan, launches: &[LaunchPlan]) -> Result<String, Failure> {
    let commands: Vec<Value> = match &plan.engine.target {
        EngineTarget::Attach(_) => Vec::new(),
        EngineTarget::Launch(launch) => launches
            .iter()
            .enumerate()
            .flat_map(|(replica, plan)| {
                plan.processes.iter().enumerate().map(move |(place, process)| {
                    let argv: Vec<&String> =
                        std::iter::once(&process.program).chain(plan.args(place, &launch.extra_args)).collect();
                    json!({
                        "replica": replica,
                        "process": process.name,
                        "command": command(plan, place, process, launch),
                        "argv": argv,
                        "bind_args": process.bind_args,
                    })
                })
            })
            .collect(),
    };
    let all = json!({
        "plan": plan,
        "plan_sha256": plan.hash(),
        "requests_at_least": plan.requests_at_least(),
        "least_duration_s": plan.least_duration().as_secs_f64(),
        "commands": commands,
    });
    serde_json::to_string_pretty(&all)
        .map(|text| text + "\n")
        .map_err(|e| Failure::internal("failed to write the plan").because(&e))
}

fn text(plan: &Plan, launches: &[LaunchPlan]) -> String {
    let mut out = String::new();
    let engine = &plan.engine;
    let _ = writeln!(out, "plan      {} ({})", plan.name, plan.hash());
    let _ = writeln!(out, "engine    {} {}, model {}", engine.adapter.id, engine.adapter.version, engine.model.name);
    match &engine.target {
        EngineTarget::Attach(attach) => {
            let _ = writeln!(out, "attach    {}", attach.urls.join(", "));
        }
        EngineTarget::Launch(launch) => {
            for (replica, plan) in launches.iter().enumerate() {
                for (place, process) in plan.processes.iter().enumerate() {
                    let _ = writeln!(out, "launch    replica {replica}, process {}:", process.name);
                    let _ = writeln!(out, "{}", command(plan, place, process, launch));
                    let bind = match launch.port {
                        Some(_) => process.bind_args.join(" "),
                        None => format!("the address and a free port, as in {}", process.bind_args.join(" ")),
                    };
                    let _ = writeln!(out, "          started with {bind}");
                }
            }
        }
    }
    for scenario in &plan.scenarios {
        scenario_text(&mut out, scenario);
    }
    let _ = writeln!(out, "repeats   {}", plan.repeats);
    let _ =
        writeln!(out, "in all    at least {} requests, at least {}", plan.requests_at_least(), plan.least_duration());
    out
}

fn scenario_text(out: &mut String, scenario: &ScenarioPlan) {
    let load = &scenario.load;
    let _ = writeln!(out, "scenario  {}", scenario.name);
    let _ = writeln!(out, "  dataset   {} {}", scenario.dataset.adapter.id, json!(scenario.dataset.settings));
    for (key, path) in &scenario.dataset.sources {
        let _ = writeln!(out, "            {key} = {}", path.written);
    }
    let shape = match load.kind {
        LoadKind::Burst => "all at once".to_owned(),
        LoadKind::Closed { concurrency, think_time } => format!("{concurrency} in flight, think time {think_time}"),
        LoadKind::Constant { rate } | LoadKind::Poisson { rate } => format!("{rate} requests/s"),
        LoadKind::Gamma { rate, burstiness } => format!("{rate} requests/s, burstiness {burstiness}"),
        LoadKind::Ramp { start_rate, end_rate, shape, .. } => {
            format!("{start_rate} to {end_rate} requests/s, {}", format!("{shape:?}").to_lowercase())
        }
    };
    let _ = writeln!(out, "  load      {}: {shape}", load.kind.word());
    let ends = [
        load.requests.map(|n| format!("{n} requests")),
        load.duration.map(|d| format!("{d}")),
        load.max_concurrency.map(|n| format!("at most {n} in flight")),
    ];
    let ends: Vec<String> = ends.into_iter().flatten().collect();
    let _ = writeln!(out, "            {}", ends.join(", "));
    let seeds = scenario.seeds;
    let order = seeds.order.map_or_else(|| "as the dataset yields".to_owned(), |s| s.to_string());
    let _ = writeln!(out, "  seeds     samples {}, order {order}, arrival {}", seeds.samples, seeds.arrival);
    let _ = writeln!(out, "  warm-up   {} requests", scenario.warmup_requests);
}
