#!/usr/bin/env python3
"""Stands in for the `llama-server` program in tests: takes the same flags, and serves with the llama.cpp server that
is inside the `xllamacpp` wheel. The HTTP server, the scheduler and the kernels are llama.cpp's own; only the reading of
flags is ours.
"""
import argparse
import signal
import threading

import xllamacpp

FLASH = {
    "on": "LLAMA_FLASH_ATTN_TYPE_ENABLED",
    "off": "LLAMA_FLASH_ATTN_TYPE_DISABLED",
    "auto": "LLAMA_FLASH_ATTN_TYPE_AUTO",
}
REASONING = {
    "none": "COMMON_REASONING_FORMAT_NONE",
    "auto": "COMMON_REASONING_FORMAT_AUTO",
    "deepseek": "COMMON_REASONING_FORMAT_DEEPSEEK",
    "deepseek-legacy": "COMMON_REASONING_FORMAT_DEEPSEEK_LEGACY",
}


def flags() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="llama-server")
    p.add_argument("--version", action="version", version="version: xllamacpp 2026.10.11549")
    p.add_argument("-m", "--model", required=True)
    p.add_argument("-a", "--alias")
    p.add_argument("--host", default="127.0.0.1")
    p.add_argument("--port", type=int, default=8080)
    p.add_argument("-c", "--ctx-size", type=int, default=4096)
    p.add_argument("-np", "--parallel", type=int, default=1)
    p.add_argument("-t", "--threads", type=int, default=1)
    p.add_argument("-tb", "--threads-batch", type=int)
    p.add_argument("-ngl", "--n-gpu-layers", "--gpu-layers", type=int)
    p.add_argument("-b", "--batch-size", type=int)
    p.add_argument("-ub", "--ubatch-size", type=int)
    p.add_argument("-fa", "--flash-attn", choices=FLASH)
    p.add_argument("--reasoning-format", choices=REASONING)
    p.add_argument("--jinja", action=argparse.BooleanOptionalAction, default=True)
    p.add_argument("--cache-prompt", action=argparse.BooleanOptionalAction, default=True)
    p.add_argument("--cont-batching", action=argparse.BooleanOptionalAction, default=True)
    p.add_argument("--warmup", action=argparse.BooleanOptionalAction, default=True)
    p.add_argument("--metrics", action="store_true")
    p.add_argument("--slots", action=argparse.BooleanOptionalAction, default=True)
    return p


def parameters(a: argparse.Namespace) -> xllamacpp.CommonParams:
    p = xllamacpp.CommonParams()
    p.model.path = a.model
    p.hostnames = [a.host]
    p.port = a.port
    p.n_ctx = a.ctx_size
    p.n_parallel = a.parallel
    p.cpuparams.n_threads = a.threads
    p.cpuparams_batch.n_threads = a.threads_batch or a.threads
    p.use_jinja = a.jinja
    p.cache_prompt = a.cache_prompt
    p.cont_batching = a.cont_batching
    p.warmup = a.warmup
    p.endpoint_metrics = a.metrics
    p.endpoint_slots = a.slots
    p.endpoint_props = True
    if not a.cache_prompt:
        # What this module keeps between requests apart from the flag, so that every prompt is cold.
        p.cache_ram_mib = 0
        p.n_ctx_checkpoints = 0
        p.slot_prompt_similarity = 0.0
    if a.alias:
        p.model_alias = {a.alias}
    if a.n_gpu_layers is not None:
        p.n_gpu_layers = a.n_gpu_layers
    if a.batch_size:
        p.n_batch = a.batch_size
    if a.ubatch_size:
        p.n_ubatch = a.ubatch_size
    if a.flash_attn:
        p.flash_attn_type = getattr(xllamacpp.llama_flash_attn_type, FLASH[a.flash_attn])
    if a.reasoning_format:
        p.reasoning_format = getattr(xllamacpp.common_reasoning_format, REASONING[a.reasoning_format])
    return p


def main() -> None:
    a = flags().parse_args()
    # SIGINT and SIGTERM end the process at once, also while the module loads the model.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server = xllamacpp.Server(parameters(a))
    print("listening on", server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
