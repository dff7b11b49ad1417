#!/usr/bin/env python3
"""The tokenizer work of `vllm bench serve`'s random sampler on 500 prompts of 4000 tokens, with the tokenizer that it
uses: what the same work costs in Python on this machine, now. Prints the number of tokens.

    encode_random.py TOKENIZER.json
"""
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
vocabulary = tokenizer.get_vocab_size(with_added_tokens=False)
total = 0
for i in range(500):
    ids = [(i * 7919 + k) % vocabulary for k in range(4000)]
    text = tokenizer.decode(ids, skip_special_tokens=False)
    ids = tokenizer.encode(text, add_special_tokens=False).ids[:4000]
    tokenizer.decode(ids, skip_special_tokens=False)
    total += len(ids)
print(total)
