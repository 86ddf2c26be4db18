#!/bin/sh
# compare_torch.sh ROOT: what bench/compare_torch.py does without numpy and torch. Left out (exit 77)
# where there is no python3.
set -u
script=${1:?usage: compare_torch.sh ROOT}/bench/compare_torch.py

if ! command -v python3 >/dev/null 2>&1; then
    echo "left out: python3 is not here"
    exit 77
fi
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0

# says CODE TEXT ARGUMENT...: the script, with no package but Python's own, must exit so and say so.
says() {
    code=$1
    text=$2
    shift 2
    python3 -I -S "$script" "$@" >"$folder/said" 2>&1
    got=$?
    if [ "$got" -ne "$code" ] || ! grep -qF -e "$text" "$folder/said"; then
        echo "compare_torch.py $*: exit code $got, not $code with \"$text\" in:"
        cat "$folder/said"
        failed=1
    fi
}

PYTHONPYCACHEPREFIX=$folder python3 -m py_compile "$script" || failed=1
says 0 'pip install numpy torch' --help
says 0 '--shape' --help
says 2 'numpy: not to be had' --shape decode
says 2 'pip install numpy torch' --seq-q 64 --seq-kv 64
says 2 "invalid choice: 'cube'" --shape cube
says 2 'is not at least 1' --rounds 0
says 2 'invalid block value' --block 64
says 2 "numpy: not to be had" --block 64x32
says 2 'exclude each other' --shape decode --head-dim 64
says 2 '3 key and value heads do not divide 4 heads' --q-heads 4 --kv-heads 3
says 2 'torch aligns its mask' --causal --seq-q 16
says 2 'unrecognized arguments: --scale' --scale 1
exit "$failed"
