#!/usr/bin/env python3
"""Writes the tokenizer of a GGUF model as `tokenizer.json`: byte-level BPE whose digits stand alone (`smollm`).

    gguf_tokenizer.py MODEL.gguf OUT/tokenizer.json
"""
import json
import pathlib
import sys

import gguf


def strings(reader: gguf.GGUFReader, key: str) -> list[str]:
    field = reader.fields[key]
    return [bytes(field.parts[i]).decode("utf-8") for i in field.data]


def missing_bytes(tokens: list[str]) -> list[str]:
    """Symbols of bytes that the model has no token for; a byte-level tokenizer has one for each byte."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [chr(0x100 + n) for n in range(256 - len(plain))]
    known = set(tokens)
    return [symbol for symbol in [*map(chr, plain), *moved] if symbol not in known]


def main() -> None:
    reader = gguf.GGUFReader(sys.argv[1])
    pre = strings(reader, "tokenizer.ggml.pre")[0]
    if pre != "smollm":
        sys.exit(f"the model splits text by `{pre}`; only `smollm` is known here")
    tokens = strings(reader, "tokenizer.ggml.tokens")
    types = reader.fields["tokenizer.ggml.token_type"]
    kinds = [int(types.parts[i][0]) for i in types.data]
    special = [i for i, kind in enumerate(kinds) if kind == gguf.TokenType.CONTROL]
    added = [
        {"id": i, "content": tokens[i], "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        for i in special
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level]},
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {text: i for i, text in enumerate([*tokens, *missing_bytes(tokens)])},
            "merges": strings(reader, "tokenizer.ggml.merges"),
        },
    }
    out = pathlib.Path(sys.argv[2])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
