#!/bin/bash
# goals.sh ROOT: what bench/goals makes of what a program says. The program is a stand-in that prints
# fixed results, so that met, not met and failed can be told apart, and no figure depends on a device.
set -u
root=${1:?usage: goals.sh ROOT}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0

# A row of a sweep: share of the roofline, time in ms.
cat >"$folder/scratchscope" <<'PROGRAM'
#!/bin/bash
[ -z "${SAYS_NOTHING:-}" ] || exit 0
row() {
    printf '{\n"context": {\n  "roofline": {\n    "memory_gb_per_s": 40.0\n  },\n  "seconds": {\n'
    printf '    "reference": %s,\n    "check": 1e-4,\n    "timing": 1e-4,\n    "pairs": 1e-4\n  },\n' \
        "${REFERENCE_S:-1e-4}"
    printf '  "ratios": [\n'
    ratio scoped/unscoped 1 false
    printf ',\n'
    ratio scoped/unscoped 8 "${NOT_SLOWER:-true}"
    printf ',\n'
    ratio nested/unscoped 1024 true
    printf ',\n'
    ratio nested/scoped 1024 false
    printf ',\n'
    ratio scoped/scoped 1024 true
    printf '\n  ]\n},\n"benchmarks": [\n'
    printf '{"run_name": "a", "aggregate_name": "mean", "fma_peak_fraction": 0.1, "real_time": 1.0},\n'
    printf '{"run_name": "a", "aggregate_name": "median", "gflops": 100.0, "real_time": %s, ' "$1"
    printf '"fma_peak_fraction": %s, "roofline_fraction": %s, "block_m": 32, "block_n": 64}\n]\n}\n' \
        "${SHARE:-0.9}" "${SHARE:-0.9}"
}
ratio() {
    printf '    {\n      "policies": "%s",\n      "tiles": %s,\n      "ratio": 0.8,\n' "$1" "$2"
    printf '      "interval": [\n        0.7,\n        0.9\n      ],\n'
    printf '      "noise_floor": 0.02,\n      "not_slower": %s,\n' "$3"
    printf '      "conclusive": %s\n    }' "${CONCLUSIVE:-true}"
}
case "$*" in
*--version*) echo 'scratchscope 0.0' ;;
roofline*) 
    printf '{\n  "device": "stand-in",\n  "pes": 2,\n  "fma_gflops": 200.0,\n'
    printf '  "memory_gb_per_s": 40.0\n}\n'
    ;;
plan*) echo '  1000000  nested' ;;
profile*) printf '%s\n' run_name,kind,name,results,share,lower,upper a,twice,table,right,0.5,0.4,0.6 \
    "a,tax,table,right,${TABLE_SHARE:-0.005},${TABLE_LOWER:-0.004},${TABLE_UPPER:-0.006}" \
    a,tax,staging,right,0.3,0.2,0.4 \
    a,tax,copy_to,right,0.02,0.01,0.03 ;;
*"$FAIL_ON"*) exit 3 ;;
*--causal*) row 5.0 ;;
*simt*) row 40.0 ;;
*) row 10.0 ;;
esac
PROGRAM
chmod +x "$folder/scratchscope"

# says CODE TEXT ARGUMENT...: bench/goals must exit so, and its output hold a line that matches.
says() {
    local code=$1 text=$2 got=0
    shift 2
    FAIL_ON=${FAIL_ON:-never} SCRATCHSCOPE_PYTHON=no-such-python "$root/bench/goals" \
        --program "$folder/scratchscope" "$@" >"$folder/said" 2>"$folder/stderr" || got=$?
    if [ "$got" -ne "$code" ] || ! grep -qE -e "$text" "$folder/said" "$folder/stderr"; then
        echo "bench/goals $*: exit code $got, not $code with \"$text\" in:"
        cat "$folder/said" "$folder/stderr"
        failed=1
    fi
}

says 0 '^  --only NAME' --help
says 0 '^not_slower$' --list
says 2 "no goal is called 'nothing'" --only plan,nothing
says 2 "'0' is not a number" --rounds 0
says 2 'no such option' --all
says 0 'stand-in, 2 PEs; FMA peak 200.0' --only plan
says 0 'head_dim 128: of FMA peak +>= 0.80 +0.900 \(100.0 GFLOP/s, 32 x 64\) +met$' --only square_f32
SHARE=0.7 says 1 'head_dim 64: of FMA peak +>= 0.75 +0.700 .* not met$' --only square_f32
SHARE=0.7 says 0 'head_dim 128: of FMA peak +>= 0.70 +0.700 .* met$' --only square_f16
says 0 '<= 0.55 +0.500 \(5.0 ms to 10.0 ms\) +met$' --only causal
says 0 '>= 0.70 +0.900 \(36.0 of 40.0 GB/s, 4 x 64\) +met$' --only decode
SHARE=0.69 says 1 '>= 0.70 +0.690 .* not met$' --only decode
says 0 'left out: no-such-python' --only torch
says 0 ': copy_to +<= 8 % +2.00 % \[1.00, 3.00\] +met$' --only tax
says 0 ': staging +30.00 % \[20.00, 40.00\] +reported$' --only tax
TABLE_LOWER=0.02 TABLE_SHARE=0.03 TABLE_UPPER=0.04 says 1 ': table +<= 1 % +3.00 % .* not met$' --only tax
TABLE_UPPER=0.02 says 0 ': table +<= 1 % +0.50 % .* met, within noise$' --only tax
says 0 'not slower +all +2 of 2 +met$' --only not_slower
says 0 'time +- +nested 0.800 \[0.700, 0.900\] +reported$' --only not_slower
NOT_SLOWER=false says 1 '1 of 2; slower: scoped/unscoped at S = 8 +not met$' --only not_slower
says 0 'simt / simd, .* 4.000 \(40.0 ms to 10.0 ms\) +met$' --only simt
CONCLUSIVE=false says 0 'not slower +all +2 of 2 +met, 2 within noise$' --only not_slower
REFERENCE_S=100 says 0 '<= 1.3 .* met$' --only start
REFERENCE_S=0.0001 says 1 '<= 1.3 .* not met$' --only start
says 0 'three policies: time .* met$' --only plan
FAIL_ON=--causal says 1 '<= 0.55 +- +FAILED: exit code 3' --only causal
FAIL_ON=--causal says 1 '^  scratchscope sweep --device cpu .* --causal$' --only causal
SAYS_NOTHING=1 says 1 'S = 1024: of FMA peak +>= 0.50 +- +FAILED: the output lacks' --only tile
for goal in square_f32 square_f16 causal decode tile tax not_slower simt start plan; do
    SAYS_NOTHING=1 says 1 'FAILED: the output lacks the figure$' --only "$goal"
    ! grep -E ' (met|not met|reported)$' "$folder/said" || failed=1
done
says 0 '1 round each' --only tile --rounds 1
says 0 '3 rounds each' --only tile,tile
[ "$(grep -c 'met$' "$folder/said")" -eq 1 ] || { echo 'a goal that is named twice is measured twice'; failed=1; }
exit "$failed"
