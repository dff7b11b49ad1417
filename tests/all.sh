#!/usr/bin/env bash
# Sets up and passes every check on a fresh machine: format, lints, tests, generated files, example workloads, real engines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
step() { printf '\n== %s\n' "$*"; }

step "set up"
tests/setup.sh

step "format"
cargo fmt --all --check

step "lints"
cargo clippy --locked --release --workspace --all-targets -- -D warnings

step "tests (generated files, dependency order, examples and real engines among them)"
# Not after a build of the program alone: other features of shared crates would be built anew.
cargo test --locked --release --workspace --no-fail-fast
