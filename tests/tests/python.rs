//! The trace read by other tools as it is: DuckDB, pandas and polars compute the figures of the summary.

mod common;

use common::{Case, cached, prompts, sim_workload};
use std::process::Command;

#[test]
fn duckdb_pandas_and_polars_agree_with_the_summary() {
    let case = Case::new(&sim_workload(
        "ttft = \"10ms\"\nttft-jitter = \"5ms\"\nitl = \"2ms\"\nitl-jitter = \"1ms\"\ntokens-per-chunk = 2\n\
         reasoning-tokens = 4\nfault = [\"reset:every=7,after=3\", \"status:every=11,code=500\"]",
        "kind = \"closed\"\nconcurrency = 4\nrequests = 60",
    ))
    .file("prompts.jsonl", &prompts(60, 15));
    // Some requests fail, as they should here.
    common::assert_exit(&case.run(&["--set", "repeat.count=2"]), 4);
    let script = common::root().join("tests/python/read_trace.py");
    let output = Command::new(cached("venv/bin/python")).arg(script).arg(case.out()).output().expect("run the script");
    common::assert_exit(&output, 0);
    assert!(common::stdout(&output).contains("DuckDB = pandas = polars = summary.json"), "{}", common::stdout(&output));
}
