#!/usr/bin/env python3
"""Writes a tiny Qwen3-architecture model in GGUF form whose weights spell one known text: ground truth for text, token
counts and finish reasons on a real engine.

    scripted_gguf.py TOKENIZER_DIR OUT.gguf     (writes OUT.json beside it: the text, its parts and its token ids)

Attention and feed-forward outputs are zero, so a layer passes its input on. The embedding of the k-th token of the
script is the k-th unit vector, and the output row of its successor is a multiple of the same vector: the most likely
next token of each token is its successor, by far. Every token outside the script (all of a prompt's) has the zeroth unit
vector, whose successor is the script's first token. Greedy and sampled output are therefore the script. After the
end-of-text token it starts over, for requests that ignore it.
"""
import json
import pathlib
import sys

import gguf
import numpy as np
from tokenizers import Tokenizer

REASONING = "The user wants numbers, so I will list them."
ANSWER = (
    " One two three four five six seven eight nine ten! Grüße Привет 你好世界 naïve — 😀 👩\u200d👧 𓁕 𝄞 "
    '"quoted" back\\slash\ttab data: [DONE] end?'
)
EMBEDDING = 128
HEADS, KV_HEADS, HEAD = 4, 2, 32
FEED_FORWARD = 64
SHARPNESS = 20.0
VOCABULARY = 151_936


def script(tokenizer: Tokenizer, end: int) -> list[int]:
    ids = tokenizer.encode(f"<think>{REASONING}</think>{ANSWER}", add_special_tokens=False).ids
    # A token has one successor, so a second occurrence would start a loop.
    unique = list(dict.fromkeys(ids))
    return [*unique, end]


def add_vocabulary(w: gguf.GGUFWriter, folder: pathlib.Path, tokenizer: Tokenizer, end: int) -> None:
    raw = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokens = [f"[PAD{i}]" for i in range(VOCABULARY)]
    types = [gguf.TokenType.UNUSED] * VOCABULARY
    for text, i in raw["model"]["vocab"].items():
        tokens[i], types[i] = text, gguf.TokenType.NORMAL
    for added in raw["added_tokens"]:
        tokens[added["id"]] = added["content"]
        types[added["id"]] = gguf.TokenType.CONTROL if added["special"] else gguf.TokenType.USER_DEFINED
    merges = [m if isinstance(m, str) else " ".join(m) for m in raw["model"]["merges"]]
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("qwen2")
    w.add_token_list(tokens)
    w.add_token_types(types)
    w.add_token_merges(merges)
    w.add_eos_token_id(end)
    w.add_pad_token_id(tokenizer.token_to_id("<|endoftext|>"))
    w.add_add_bos_token(False)
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    w.add_chat_template(config["chat_template"])


def add_weights(w: gguf.GGUFWriter, ids: list[int]) -> None:
    embedding = np.zeros((VOCABULARY, EMBEDDING), np.float16)
    output = np.zeros((VOCABULARY, EMBEDDING), np.float16)
    embedding[:, 0] = 1
    output[ids[0], 0] = SHARPNESS
    for k, token in enumerate(ids, 1):
        embedding[token] = 0
        embedding[token, k] = 1
        output[ids[k % len(ids)], k] = SHARPNESS
    ones = np.ones(EMBEDDING, np.float32)
    head_ones = np.ones(HEAD, np.float32)

    def zeros(rows: int, columns: int) -> np.ndarray:
        return np.zeros((rows, columns), np.float16)

    tensors = {
        "token_embd.weight": embedding,
        "output_norm.weight": ones,
        "output.weight": output,
        "blk.0.attn_norm.weight": ones,
        "blk.0.ffn_norm.weight": ones,
        "blk.0.attn_q.weight": zeros(HEADS * HEAD, EMBEDDING),
        "blk.0.attn_k.weight": zeros(KV_HEADS * HEAD, EMBEDDING),
        "blk.0.attn_v.weight": zeros(KV_HEADS * HEAD, EMBEDDING),
        "blk.0.attn_output.weight": zeros(EMBEDDING, HEADS * HEAD),
        "blk.0.attn_q_norm.weight": head_ones,
        "blk.0.attn_k_norm.weight": head_ones,
        "blk.0.ffn_gate.weight": zeros(FEED_FORWARD, EMBEDDING),
        "blk.0.ffn_up.weight": zeros(FEED_FORWARD, EMBEDDING),
        "blk.0.ffn_down.weight": zeros(EMBEDDING, FEED_FORWARD),
    }
    for name, tensor in tensors.items():
        w.add_tensor(name, tensor)


def main() -> None:
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    end = tokenizer.token_to_id("<|im_end|>")
    ids = script(tokenizer, end)
    assert len(ids) < EMBEDDING

    w = gguf.GGUFWriter(str(out) + ".part", "qwen3")
    w.add_name("scripted")
    w.add_block_count(1)
    w.add_context_length(32_768)
    w.add_embedding_length(EMBEDDING)
    w.add_feed_forward_length(FEED_FORWARD)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV_HEADS)
    w.add_key_length(HEAD)
    w.add_value_length(HEAD)
    w.add_rope_freq_base(10_000.0)
    w.add_layer_norm_rms_eps(1e-6)
    w.add_vocab_size(VOCABULARY)
    w.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    add_vocabulary(w, folder, tokenizer, end)
    add_weights(w, ids)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()

    text = tokenizer.decode(ids[:-1], skip_special_tokens=False)
    reasoning, _, answer = text.removeprefix("<think>").partition("</think>")
    facts = {"token_ids": ids, "tokens": len(ids), "reasoning": reasoning, "answer": answer}
    out.with_suffix(".json").write_text(json.dumps(facts, ensure_ascii=False, indent=1), encoding="utf-8")
    pathlib.Path(str(out) + ".part").rename(out)


if __name__ == "__main__":
    main()
