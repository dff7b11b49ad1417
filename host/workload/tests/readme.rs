//! The reference in the README is what the code says. `BENCH_BLESS=1 cargo test -p bench-workload --test readme`
//! writes it anew.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- generated: keys -->\n";
const END: &str = "<!-- end of generated -->";

#[test]
fn the_reference_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (old, after) = rest.split_once(END).unwrap();
    let new = bench_workload::reference();
    if std::env::var_os("BENCH_BLESS").is_some() {
        fs::write(&file, format!("{before}{BEGIN}{new}{END}{after}")).unwrap();
        return;
    }
    assert!(old == new, "host/workload/README.md is stale: BENCH_BLESS=1 cargo test -p bench-workload --test readme");
}
