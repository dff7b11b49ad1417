//! `[scenario.load]`: each kind takes its own keys.

use crate::nearest::list;
use crate::reader::{Given, Section};
use crate::value::{Context, Draft};
use bench_core::clock::Nanos;
use bench_core::load::{ArrivalProcess, LoadKind, LoadSpec, RampShape};

/// A kind of load.
pub(crate) struct KindKeys {
    pub(crate) kind: &'static str,
    /// Keys that it needs.
    pub(crate) needs: &'static [&'static str],
    /// Keys that it takes beside those and `kind` and `requests`.
    pub(crate) takes: &'static [&'static str],
}

/// What each kind takes; also for the schema.
pub(crate) static KINDS: &[KindKeys] = &[
    KindKeys { kind: "burst", needs: &["requests"], takes: &["max-concurrency"] },
    KindKeys { kind: "closed", needs: &["concurrency"], takes: &["duration", "think-time"] },
    KindKeys { kind: "constant", needs: &["rate"], takes: &["duration", "max-concurrency"] },
    KindKeys { kind: "poisson", needs: &["rate"], takes: &["duration", "max-concurrency", "process"] },
    KindKeys { kind: "gamma", needs: &["rate", "burstiness"], takes: &["duration", "max-concurrency", "process"] },
    KindKeys {
        kind: "ramp",
        needs: &["start-rate", "end-rate"],
        takes: &["duration", "burstiness", "shape", "max-concurrency", "process"],
    },
];

/// `None` where something was said.
pub(crate) fn resolve(cx: &mut Context<'_>, load: &Section<'_>) -> Option<LoadSpec> {
    let kind = load.text("kind")?;
    let keys = KINDS.iter().find(|k| k.kind == kind.value)?;
    foreign_keys(cx, load, &kind, keys);
    for name in keys.needs.iter().filter(|n| !load.has(n)) {
        let example = match *name {
            "requests" => "requests = 1000",
            "concurrency" => "concurrency = 8",
            "burstiness" => "burstiness = 0.5",
            "rate" => "rate = 4.0",
            "start-rate" => "start-rate = 1.0",
            _ => "end-rate = 8.0",
        };
        let draft = Draft::error(format!("a `{}` load needs `{name}`", kind.value)).at(&kind.at, "this kind");
        cx.push(draft.help(format!("write for example: {example}")));
    }
    if keys.kind != "burst" && !load.has("requests") && !load.has("duration") {
        let draft = Draft::error("the load has no end: neither `requests` nor `duration`").at(&kind.at, "this load");
        cx.push(draft.help("write `requests = 1000`, `duration = \"5m\"`, or both"));
    }
    let requests = load.integer("requests");
    let process = process(cx, load, requests.is_some());
    let max_concurrency = load.small("max-concurrency");
    for slots in [load.small("concurrency"), max_concurrency.clone()].into_iter().flatten() {
        too_many_slots(cx, &slots, requests.as_ref());
    }
    Some(LoadSpec {
        kind: kind_of(cx, load, keys.kind)?,
        requests: requests.map(|r| r.value),
        duration: load.time("duration").map(|d| d.value),
        max_concurrency: max_concurrency.map(|m| m.value),
        process,
    })
}

fn foreign_keys(cx: &mut Context<'_>, load: &Section<'_>, kind: &Given<String>, keys: &KindKeys) {
    for key in crate::keys::LOAD.keys {
        let own = ["kind", "requests"].contains(&key.name)
            || keys.needs.contains(&key.name)
            || keys.takes.contains(&key.name);
        let Some(at) = load.place(key.name).filter(|_| !own) else { continue };
        let takers: Vec<&str> = KINDS
            .iter()
            .filter(|k| k.needs.contains(&key.name) || k.takes.contains(&key.name))
            .map(|k| k.kind)
            .collect();
        let help = match (kind.value.as_str(), key.name) {
            ("closed", "max-concurrency") => "`concurrency` is the cap already".to_owned(),
            ("closed", "rate") => {
                "a closed load has no rate of its own: use `poisson` for one, or leave it out".to_owned()
            }
            _ => format!("leave it out, or use kind {}", list(&takers)),
        };
        let draft = Draft::error(format!("a `{}` load has no `{}`", kind.value, key.name));
        cx.push(draft.at(at, "not for this kind").at(&kind.at, "the kind").help(help));
    }
}

fn kind_of(cx: &mut Context<'_>, load: &Section<'_>, kind: &str) -> Option<LoadKind> {
    let number = |name: &str| load.number(name).map(|n| n.value);
    Some(match kind {
        "closed" => LoadKind::Closed {
            concurrency: load.small("concurrency")?.value,
            think_time: load.time("think-time").map_or(Nanos::ZERO, |t| t.value),
        },
        "constant" => LoadKind::Constant { rate: number("rate")? },
        "poisson" => LoadKind::Poisson { rate: number("rate")? },
        "gamma" => LoadKind::Gamma { rate: number("rate")?, burstiness: number("burstiness")? },
        "ramp" => ramp(cx, load)?,
        _ => LoadKind::Burst,
    })
}

fn ramp(cx: &mut Context<'_>, load: &Section<'_>) -> Option<LoadKind> {
    let shape = load.text("shape");
    let exponential = shape.as_ref().is_some_and(|s| s.value == "exponential");
    let start = load.number("start-rate")?;
    let end = load.number("end-rate")?;
    if exponential && start.value == 0.0 {
        let mut draft = Draft::error("an exponential ramp can't start at 0").at(&start.at, "starts here");
        if let Some(shape) = &shape {
            draft = draft.at(&shape.at, "by equal factors");
        }
        cx.push(draft.help("start above 0, or use `shape = \"linear\"`"));
    }
    let vllm = load.text("process").filter(|p| p.value == "vllm-0.11");
    if let Some(vllm) = vllm.filter(|_| start.value > end.value) {
        let draft = Draft::error("`process = \"vllm-0.11\"` has no falling ramps");
        cx.push(
            draft.at(&start.at, "starts above its end").at(&vllm.at, "this rule").help("use `process = \"bench\"`"),
        );
    }
    Some(LoadKind::Ramp {
        start_rate: start.value,
        end_rate: end.value,
        shape: if exponential { RampShape::Exponential } else { RampShape::Linear },
        burstiness: load.number("burstiness").map_or(1.0, |b| b.value),
    })
}

fn process(cx: &mut Context<'_>, load: &Section<'_>, counted: bool) -> ArrivalProcess {
    let Some(process) = load.text("process").filter(|p| p.value == "vllm-0.11") else { return ArrivalProcess::Bench };
    if !counted && !load.has("requests") {
        let draft = Draft::error("`process = \"vllm-0.11\"` needs `requests`").at(&process.at, "this rule");
        cx.push(draft.help("it draws all arrival times beforehand: write for example `requests = 1000`"));
    }
    ArrivalProcess::Vllm011
}

fn too_many_slots(cx: &mut Context<'_>, slots: &Given<u32>, requests: Option<&Given<u64>>) {
    if let Some(requests) = requests.filter(|r| r.value < u64::from(slots.value)) {
        let draft = Draft::warning(format!("no more than {} requests will ever be in flight", requests.value))
            .at(&slots.at, "room for more")
            .at(&requests.at, "all there are");
        cx.push(draft.help("raise `requests`: many times the concurrency gives a steady state"));
    }
}

#[cfg(test)]
mod tests {
    use super::KINDS;
    use crate::keys::{Kind, LOAD};

    #[test]
    fn every_kind_and_every_key_has_its_row() {
        let words = LOAD.keys.iter().find_map(|k| if let Kind::Choice(w) = k.kind { Some(w) } else { None }).unwrap();
        let words: Vec<&str> = words.iter().filter(|w| w.later.is_none()).map(|w| w.word).collect();
        assert_eq!(words, KINDS.iter().map(|k| k.kind).collect::<Vec<_>>());
        for key in LOAD.keys.iter().filter(|k| !["kind", "requests"].contains(&k.name)) {
            assert!(KINDS.iter().any(|k| k.needs.contains(&key.name) || k.takes.contains(&key.name)), "{}", key.name);
        }
        for name in KINDS.iter().flat_map(|k| k.needs.iter().chain(k.takes)) {
            assert!(LOAD.keys.iter().any(|k| k.name == *name), "{name}");
        }
    }
}
