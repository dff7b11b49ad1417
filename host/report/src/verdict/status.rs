//! The verdict and its reasons.

use crate::facts::Facts;
use crate::summary::ScenarioResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether figures may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Nothing speaks against them.
    #[default]
    Valid,
    /// They may be used by one who has read the reasons.
    Doubtful,
    /// They must not be used.
    Invalid,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Valid => "VALID",
            Status::Doubtful => "DOUBTFUL",
            Status::Invalid => "INVALID",
        })
    }
}

/// How much a reason weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know; the figures stand.
    Note,
    /// The figures may mislead.
    Doubtful,
    /// The figures must not be used.
    Invalid,
}

/// Why a verdict is what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Stable word: `failures`, `schedule-lag`.
    pub code: String,
    /// How much it weighs.
    pub level: Level,
    /// What was seen.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Reason {
    pub(crate) fn new(level: Level, code: &str, message: String, help: &str) -> Reason {
        Reason { code: code.to_owned(), level, message, help: help.to_owned() }
    }
}

/// Whether figures may be used, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// In a word.
    pub status: Status,
    /// Heaviest first.
    pub reasons: Vec<Reason>,
}

impl Verdict {
    /// As the heaviest reason says.
    pub fn new(mut reasons: Vec<Reason>) -> Verdict {
        reasons.sort_by_key(|r| std::cmp::Reverse(r.level));
        let status = match reasons.first().map(|r| r.level) {
            None | Some(Level::Note) => Status::Valid,
            Some(Level::Doubtful) => Status::Doubtful,
            Some(Level::Invalid) => Status::Invalid,
        };
        Verdict { status, reasons }
    }

    /// That of a whole run: the worst of its results, and what concerns the run itself. Reasons name their
    /// scenario, and their repeat where there are several.
    pub(crate) fn of_run(facts: &Facts, results: &[ScenarioResult]) -> Verdict {
        let mut reasons = Vec::new();
        if facts.interrupted {
            let message = "the run was interrupted".to_owned();
            reasons.push(Reason::new(Level::Invalid, "interrupted", message, "let the run come to its end"));
        }
        if let Some(why) = &facts.broken_off {
            let message = format!("the run did not come to its end: {why}");
            reasons.push(Reason::new(
                Level::Invalid,
                "broken-off",
                message,
                "see the logs in the run directory, and run it again",
            ));
        }
        if results.iter().all(|r| r.requests.attempts == 0) {
            let message = "nothing was measured".to_owned();
            reasons.push(Reason::new(Level::Invalid, "nothing-measured", message, "see the log of the run"));
        } else {
            reasons.extend(missing(facts, results));
        }
        for r in results {
            let several = results.iter().filter(|other| other.scenario == r.scenario).count() > 1;
            let place = if several { format!("{} repeat {}", r.scenario, r.repeat) } else { r.scenario.clone() };
            reasons.extend(
                r.verdict
                    .reasons
                    .iter()
                    .map(|reason| Reason { message: format!("{place}: {}", reason.message), ..reason.clone() }),
            );
        }
        Verdict::new(reasons)
    }
}

/// Scenarios and repeats that were planned and have no measured row.
fn missing(facts: &Facts, results: &[ScenarioResult]) -> Vec<Reason> {
    let ran = |name: &str, repeat: u32| {
        results.iter().any(|r| r.scenario == name && r.repeat == repeat && r.requests.attempts > 0)
    };
    let planned = facts.scenarios.iter().flat_map(|s| (0..facts.repeats.unwrap_or(1)).map(move |n| (&s.name, n)));
    planned
        .filter(|(name, repeat)| !ran(name, *repeat))
        .map(|(name, repeat)| {
            let message = format!("scenario `{name}` repeat {repeat} has no measured request");
            Reason::new(Level::Invalid, "not-run", message, "run it again, and see the log for why it did not start")
        })
        .collect()
}
