//! The plan's digest: equal where the same is done, on whatever machine.

use crate::plan::{EngineTarget, Plan, PlanPath, portable};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

impl Plan {
    /// SHA-256 of the plan's canonical JSON (keys sorted, no blanks), lower-case hex.
    ///
    /// Machines leave no mark in it: of a relative path what the user wrote counts, of an absolute one the
    /// file name. Whether a value was asked for or is a default makes no difference either, and adapters
    /// count by id and version.
    pub fn hash(&self) -> String {
        // By way of the text, so that a number counts as it is written in the plan's JSON.
        let text = serde_json::to_string(&self.without_machine()).unwrap_or_default();
        let json = serde_json::from_str(&text).map(sorted).unwrap_or_default();
        bench_core::hex(bench_core::sha256(Value::to_string(&json)))
    }

    fn without_machine(&self) -> Plan {
        let mut plan = self.clone();
        plan.asked = BTreeSet::new();
        plan.tokenizer.iter_mut().for_each(strip);
        plan.engine.adapter.written = portable(&plan.engine.adapter.written).to_owned();
        if let Some(path) = &mut plan.engine.model_path {
            strip(path);
            plan.engine.model.location.clone_from(&path.written);
        }
        if let EngineTarget::Launch(launch) = &mut plan.engine.target {
            launch.programs.values_mut().for_each(strip);
        }
        for scenario in &mut plan.scenarios {
            scenario.dataset.sources.values_mut().for_each(strip);
            scenario.dataset.adapter.written = portable(&scenario.dataset.adapter.written).to_owned();
        }
        plan
    }
}

fn strip(path: &mut PlanPath) {
    path.written = path.portable().to_owned();
    path.path = PathBuf::new();
}

/// The same value, the keys of every object in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
