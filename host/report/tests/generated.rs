//! Files that are made from the code and checked in.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use bench_report::{Summary, metric};
use support::golden;

#[test]
fn figures_reference() {
    golden("FIGURES.md", &metric::reference());
}

#[test]
fn schema_of_the_summary() {
    let schema = serde_json::to_string_pretty(&Summary::json_schema()).unwrap();
    golden("summary.schema.json", &format!("{schema}\n"));
}

#[test]
fn every_figure_has_an_id_of_its_own() {
    for figure in metric::FIGURES {
        assert!(std::ptr::eq(metric::figure(figure.id).unwrap(), figure), "{}", figure.id);
        assert!(figure.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{}", figure.id);
    }
}
