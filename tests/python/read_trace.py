"""Reads the trace of a run with DuckDB, pandas and polars, and compares what they make of it.

    python read_trace.py RUN_DIRECTORY... [--readme host/trace/README.md]

DuckDB runs the queries of the README as they stand. All three readers must agree with each other and with the run's
summary.json, where there is one. Ends with status 1 and a list of differences if they do not.
"""

import argparse
import json
import math
import os
import pathlib
import re
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl

CONTENT = ["text", "reasoning", "tool"]
SPREADS = ["ttft", "tpot", "itl", "e2e"]
VALUES = ["output_tokens", "request_throughput", "output_throughput"]
README = pathlib.Path(__file__).resolve().parents[2] / "host" / "trace" / "README.md"


def blocks(readme):
    """The SQL blocks of the README by the name in their first line."""
    text = readme.read_text(encoding="utf-8")
    found = re.findall(r"^```sql\n-- (\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if len(found) != text.count("```sql"):
        sys.exit(f"{readme}: every SQL block must begin with `-- name`")
    return dict(found)


def key(row):
    return (row["scenario"], int(row["repeat"]))


def spread(values):
    values = np.asarray(values, dtype=np.float64)
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return {"n": 0}
    return {
        "n": len(values),
        "mean": float(values.mean()),
        "median": float(np.percentile(values, 50)),
        "p99": float(np.percentile(values, 99)),
    }


def starts(run):
    """Start of the load's clock by scenario and repeat, where run.json has it."""
    found = {}
    for window in run["windows"]:
        if window["phase"] == "measure":
            at = key(window)
            found[at] = min(found.get(at, window["start"]), window["start"])
    return found


def by_duckdb(queries):
    groups = {}
    rows = {name: duckdb.sql(query).pl().to_dicts() for name, query in queries.items()}
    for row in rows["outcomes"]:
        groups.setdefault(key(row), {"outcomes": {}})["outcomes"][row["outcome"]] = row["n"]
    for name in SPREADS:
        for row in rows[name]:
            groups[key(row)][name] = {k: row[k] for k in ("n", "mean", "median", "p99") if row[k] is not None}
    for row in rows["totals"]:
        groups[key(row)].update({name: row[name] for name in VALUES})
    slowest = [row["ttft_ms"] for row in rows["slowest"] if row["ttft_ms"] is not None]
    assert slowest == sorted(slowest, reverse=True)
    return groups


def by_pandas(files, run):
    table = pd.concat([pd.read_parquet(f) for f in files], ignore_index=True)
    measured = table[table.phase == "measure"]
    groups = {}
    for at, rows in measured.groupby(["scenario", "repeat"]):
        at = (at[0], int(at[1]))
        complete = rows[rows.outcome == "complete"]
        tpot, itl = [], []
        for row in complete[complete.event_gap_us.notna()].itertuples():
            content = np.isin(np.asarray(row.event_kind, dtype=object), CONTENT)
            times = np.cumsum(row.event_gap_us)[content]
            itl.extend(np.diff(times) / 1e3)
            if len(times) > 1:
                first = 1 if row.event_tokens is None else int(row.event_tokens[content][0])
                later = row.output_tokens - first
                if later > 0:
                    tpot.append((row.last_token_ns - row.first_token_ns) / later / 1e6)
        last = complete.last_token_ns.where(complete.last_token_ns.notna() | (complete.streamed == True), complete.end_ns)  # noqa: E712
        first = min(rows.scheduled_ns.min(), rows.sent_ns.min())
        seconds = (rows.end_ns.max() - min(first, starts(run).get(at, first))) / 1e9
        tokens = int(complete.output_tokens.sum()) if complete.output_tokens.notna().all() else None
        groups[at] = {
            "outcomes": {k: int(v) for k, v in rows.outcome.value_counts().items()},
            "ttft": spread((complete.first_token_ns - complete.sent_ns) / 1e6),
            "e2e": spread((last - complete.sent_ns) / 1e6),
            "tpot": spread(tpot),
            "itl": spread(itl),
            "output_tokens": tokens,
            "request_throughput": len(complete) / seconds,
            "output_throughput": None if tokens is None else tokens / seconds,
        }
    return groups


def polars_spread(frame):
    """Statistics of the column `ms` by scenario and repeat."""
    ms = pl.col("ms").drop_nulls()
    rows = frame.group_by("scenario", "repeat").agg(
        n=ms.len(), mean=ms.mean(), median=ms.median(), p99=ms.quantile(0.99, "linear")
    )
    return {key(r): {k: r[k] for k in ("n", "mean", "median", "p99") if r[k] is not None} for r in rows.to_dicts()}


def by_polars(files, run):
    table = pl.concat([pl.read_parquet(f) for f in files]).with_row_index("row")
    measured = table.filter(pl.col("phase") == "measure")
    complete = measured.filter(pl.col("outcome") == "complete")
    c = pl.col
    last = pl.when(c("last_token_ns").is_null() & ~c("streamed").fill_null(False)).then("end_ns").otherwise("last_token_ns")
    events = (
        complete.filter(c("event_gap_us").is_not_null())
        .select("row", "scenario", "repeat", "event_gap_us", "event_kind", us=c("event_gap_us").list.eval(pl.element().cum_sum()))
        .explode("event_gap_us", "event_kind", "us")
        .filter(c("event_kind").is_in(CONTENT))
        .with_columns(ms=c("us").diff().over("row") / 1e3)
    )
    is_content = c("event_kind").list.eval(pl.element().is_in(CONTENT))
    tokens = c("event_tokens").list.get(is_content.list.eval(pl.element().arg_true().first()).list.first(), null_on_oob=True)
    tpot = (
        complete.filter(c("event_gap_us").is_not_null())
        .with_columns(content=is_content.list.sum(), later=c("output_tokens") - tokens.cast(pl.Int64).fill_null(1))
        .filter((c("content") > 1) & (c("later") > 0))
        .with_columns(ms=(c("last_token_ns") - c("first_token_ns")) / c("later") / 1e6)
    )
    spreads = {
        "ttft": polars_spread(complete.with_columns(ms=(c("first_token_ns") - c("sent_ns")) / 1e6)),
        "e2e": polars_spread(complete.with_columns(ms=(last - c("sent_ns")) / 1e6)),
        "itl": polars_spread(events),
        "tpot": polars_spread(tpot),
    }
    groups = {}
    for row in measured.group_by("scenario", "repeat", "outcome").len().to_dicts():
        groups.setdefault(key(row), {"outcomes": {}})["outcomes"][row["outcome"]] = row["len"]
    done = c("outcome") == "complete"
    totals = measured.group_by("scenario", "repeat").agg(
        complete=done.sum(),
        output_tokens=pl.when(c("output_tokens").filter(done).is_not_null().all()).then(c("output_tokens").filter(done).sum()),
        first=pl.min_horizontal(c("scheduled_ns").min(), c("sent_ns").min()),
        last=c("end_ns").max(),
    )
    for row in totals.to_dicts():
        at = key(row)
        seconds = (row["last"] - min(row["first"], starts(run).get(at, row["first"]))) / 1e9
        groups[at].update({name: spreads[name].get(at, {"n": 0}) for name in SPREADS})
        groups[at]["output_tokens"] = row["output_tokens"]
        groups[at]["request_throughput"] = row["complete"] / seconds
        tokens = row["output_tokens"]
        groups[at]["output_throughput"] = None if tokens is None else tokens / seconds
    return groups


def by_summary(path):
    groups = {}
    for result in json.loads(path.read_text(encoding="utf-8"))["results"]:
        figures = result["figures"]
        group = {"outcomes": {k: n for k, n in result["outcomes"].items() if n}}
        for name in SPREADS:
            distribution = figures[name]["distribution"] or {}
            group[name] = {"n": figures[name]["n"]}
            group[name].update({k: distribution[k] for k in ("mean", "median", "p99") if k in distribution})
        group.update({name: figures[name]["value"] for name in VALUES})
        groups[key(result)] = group
    return groups


def differences(a, b, where=""):
    """Where two nested results differ by more than the last few bits of a double."""
    if isinstance(a, dict) and isinstance(b, dict):
        found = []
        for k in sorted(a.keys() | b.keys(), key=str):
            if k not in a or k not in b:
                found.append(f"{where}/{k}: only one of them has it")
            else:
                found += differences(a[k], b[k], f"{where}/{k}")
        return found
    if a is None or b is None:
        return [] if a is b else [f"{where}: {a} and {b}"]
    return [] if math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) else [f"{where}: {a} and {b}"]


def check(directory, queries):
    os.chdir(directory)
    here = pathlib.Path(".")
    run = json.loads((here / "run.json").read_text(encoding="utf-8"))
    files = sorted(here.glob("requests*.parquet"))
    readers = {"DuckDB": by_duckdb(queries), "pandas": by_pandas(files, run), "polars": by_polars(files, run)}
    summary = here / "summary.json"
    if summary.exists():
        readers["summary.json"] = by_summary(summary)
    base = readers["DuckDB"]
    if not base:
        return ["no measured rows"]
    found = []
    for name, groups in readers.items():
        found += [f"DuckDB and {name}: {d}" for d in differences(base, groups)]
    print(f"{directory}: {len(base)} groups, {' = '.join(readers)}" if not found else f"{directory}: {len(found)} differences")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=pathlib.Path, metavar="RUN_DIRECTORY")
    parser.add_argument("--readme", type=pathlib.Path, default=README)
    arguments = parser.parse_args()
    queries = blocks(arguments.readme)
    found = []
    for directory in [run.resolve() for run in arguments.runs]:
        found += check(directory, queries)
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
