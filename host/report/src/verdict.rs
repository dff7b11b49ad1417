//! Whether figures may be used, and why not.

mod answers;
mod client;
mod requests;
mod status;

pub use status::{Level, Reason, Status, Verdict};

use crate::columns::Columns;
use crate::facts::{ScenarioFacts, Trust, WindowFacts};
use crate::summary::Figures;

/// What a verdict is made from.
#[derive(Debug)]
pub(crate) struct Case<'a> {
    pub(crate) columns: &'a Columns,
    pub(crate) figures: &'a Figures,
    pub(crate) scenario: &'a ScenarioFacts,
    pub(crate) window: Option<&'a WindowFacts>,
    /// How far the client is known to be right on the machine.
    pub(crate) trust: Option<&'a Trust>,
}

/// Judges one scenario and repeat.
pub(crate) fn judge(case: &Case<'_>) -> Verdict {
    if case.columns.requests == 0 {
        let message = "nothing was measured".to_owned();
        return Verdict::new(vec![Reason::new(Level::Invalid, "nothing-measured", message, "see the log of the run")]);
    }
    let mut reasons = Vec::new();
    requests::judge(case, &mut reasons);
    client::judge(case, &mut reasons);
    answers::judge(case, &mut reasons);
    Verdict::new(reasons)
}
