//! Launch plans and servers of an adapter of this version as nouns of `bench-core`.

use super::bindings::engine::bench::engine::launch;
use bench_core::launch::{
    EnvValue, LaunchPlan, MetricMeaning, MetricSeries, MetricsEndpoint, MetricsFormat, ModelList, ProcessPlan,
    ReadyCheck, ReadyProbe, ServerInfo, StopRule, StopSignal, VersionProbe,
};

pub(super) fn plan(p: launch::Plan) -> LaunchPlan {
    LaunchPlan { processes: p.processes.into_iter().map(process).collect(), serving: p.serving, facts: p.facts }
}

fn process(p: launch::Process) -> ProcessPlan {
    let env_value = |v| match v {
        launch::EnvValue::Text(t) => EnvValue::Text(t),
        launch::EnvValue::Secret(name) => EnvValue::Secret(name),
    };
    ProcessPlan {
        name: p.name,
        program: p.program,
        args: p.args,
        bind_args: p.bind_args,
        env: p.env.into_iter().map(|e| (e.name, env_value(e.value))).collect(),
        files: p.files.into_iter().map(|f| (f.path, f.contents)).collect(),
        devices: p.devices,
        port: p.port,
        ready: ready(p.ready),
        stop: StopRule {
            signal: match p.stop.signal {
                launch::Signal::Interrupt => StopSignal::Interrupt,
                launch::Signal::Terminate => StopSignal::Terminate,
                launch::Signal::Kill => StopSignal::Kill,
            },
            grace_ms: p.stop.grace_ms,
        },
    }
}

fn ready(r: launch::Probe) -> ReadyProbe {
    let check = match r.check {
        launch::Check::Http(path) => ReadyCheck::Http(path),
        launch::Check::Tcp => ReadyCheck::Tcp,
        launch::Check::Log(text) => ReadyCheck::Log(text),
        launch::Check::Exit => ReadyCheck::Exit,
    };
    ReadyProbe { check, interval_ms: r.interval_ms, timeout_ms: r.timeout_ms, fatal_log: r.fatal_log }
}

pub(super) fn version_probe(p: launch::VersionProbe) -> VersionProbe {
    match p {
        launch::VersionProbe::Command(args) => VersionProbe::Command(args),
        launch::VersionProbe::Http(h) => VersionProbe::Http { path: h.path, pointer: h.pointer },
        launch::VersionProbe::None => VersionProbe::None,
    }
}

pub(super) fn server(s: launch::Server) -> ServerInfo {
    ServerInfo {
        ready: s.ready,
        models: s.models.map(|m| ModelList { path: m.path, list: m.list, id: m.id, context: m.context }),
        version: version_probe(s.version),
        metrics: s.metrics.into_iter().map(metrics).collect(),
    }
}

fn metrics(m: launch::MetricsEndpoint) -> MetricsEndpoint {
    let format = match m.format {
        launch::MetricsFormat::Prometheus => MetricsFormat::Prometheus,
        launch::MetricsFormat::Json => MetricsFormat::Json,
    };
    let one = |s: launch::Series| MetricSeries { meaning: meaning(s.meaning), name: s.name, scale: s.scale };
    MetricsEndpoint { path: m.path, format, series: m.series.into_iter().map(one).collect() }
}

fn meaning(m: launch::Meaning) -> MetricMeaning {
    match m {
        launch::Meaning::RequestsRunning => MetricMeaning::RequestsRunning,
        launch::Meaning::RequestsWaiting => MetricMeaning::RequestsWaiting,
        launch::Meaning::RequestsPreempted => MetricMeaning::RequestsPreempted,
        launch::Meaning::KvCacheUsed => MetricMeaning::KvCacheUsed,
        launch::Meaning::PromptTokensCached => MetricMeaning::PromptTokensCached,
        launch::Meaning::PromptTokens => MetricMeaning::PromptTokens,
        launch::Meaning::GeneratedTokens => MetricMeaning::GeneratedTokens,
        launch::Meaning::DraftTokens => MetricMeaning::DraftTokens,
        launch::Meaning::DraftTokensAccepted => MetricMeaning::DraftTokensAccepted,
    }
}
