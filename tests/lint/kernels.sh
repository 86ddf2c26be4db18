#!/bin/sh
# kernels.sh ROOT: clang takes every kernel file as OpenCL C 1.2 without a warning, for each build in
# kernel_defines.txt; and no kernel does what the compiler lets pass but the arena does not allow.
# Without clang the parsing is left out (exit 77, if nothing else is wrong).
set -u
here=$(cd "$(dirname "$0")" && pwd -P) || exit 2
. "$here/files.sh"
cd "${1:?usage: kernels.sh ROOT}" || exit 2

defines=tests/lint/kernel_defines.txt
if [ ! -f "$defines" ]; then
    echo "no $defines under $PWD" >&2
    exit 2
fi
bad=0

complain() {
    printf '%s\n' "$*"
    bad=1
}

# refuse PATTERN WHY FILE...: complains of each line outside comments that matches.
refuse() {
    pattern=$1
    why=$2
    shift 2
    for file in "$@"; do
        found=$(without_comments "$file" | grep -nE -- "$pattern") || continue
        complain "$(printf '%s\n' "$found" | sed "s|^|$file:|"): $why"
    done
}

# parse OPTION...: to the end where clang knows the CPUs that builds of that vector width are for: what a
# call passes in registers that they lack, only code generation tells, on the user's stderr.
can_generate=no
echo '__kernel void none(void) {}' |
    clang -x cl -cl-no-stdinc -march=haswell -emit-llvm -c -o /dev/null - 2>/dev/null && can_generate=yes
parse() {
    until='-fsyntax-only'
    if [ $can_generate = yes ]; then
        case " $* " in
        *' -DVECTOR_WIDTH=16 '*) cpu=skylake-avx512 ;;
        *) cpu=haswell ;;
        esac
        until="-march=$cpu -Xclang -disable-llvm-passes -emit-llvm -c -o /dev/null"
    fi
    # shellcheck disable=SC2086
    clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -I kernels $until \
        -Wall -Wextra -Werror "$@"
}

# says_contract FILE OPTION...: contraction is off wherever the build computes in floating point.
says_contract() {
    text=$(clang -x cl -cl-std=CL1.2 -cl-no-stdinc -I kernels -E "$@" 2>/dev/null)
    case $text in
    *float* | *half*)
        printf '%s\n' "$text" | grep -qE '#pragma OPENCL FP_CONTRACT OFF'
        ;;
    esac
}

parse_builds() {
    while read -r file options; do
        case $file in
        '' | '#'*) continue ;;
        esac
        if [ ! -f "kernels/$file" ]; then
            complain "$defines: there is no kernels/$file"
            continue
        fi
        # The options are words of the list, meant to be split.
        # shellcheck disable=SC2086
        parse $options "kernels/$file" || complain "kernels/$file $options: clang warns or fails"
        # shellcheck disable=SC2086
        says_contract $options "kernels/$file" ||
            complain "kernels/$file $options: no #pragma OPENCL FP_CONTRACT OFF"
    done <"$defines"
}

kernels=$(project_files 'kernels/*.cl' 'kernels/*.clh' 'kernels/*.h')
if [ -z "$kernels" ]; then
    echo "no kernels under $PWD" >&2
    exit 2
fi
for file in $kernels; do
    case $file in
    *.cl)
        grep -q "^$(basename "$file")\( \|\$\)" "$defines" || complain "$file: not in $defines"
        ;;
    esac
done

# Pointers to the language's own types; the arena's scalar types are made to alias (arena.clh).
types='(float|half|double|u?(char|short|int|long)|size_t)([0-9]+|v)?'
cast="\\(([^()*]*[^A-Za-z0-9_()*])?$types *\\*[^()]*\\)"
# arena.clh is the one file that may spell a barrier out.
others=$(printf '%s\n' "$kernels" | grep -v '/arena\.clh$')
# shellcheck disable=SC2086
{
    refuse '(^|[^A-Za-z0-9_])(barrier|(read_|write_)?mem_fence) *\(' 'use arena_barrier()' $others
    refuse 'restrict(__)? +[A-Za-z0-9_]*arena' 'an arena is not restrict' $kernels
    refuse "\* *$cast|\($cast *([A-Za-z0-9_]+|\([^()]*\))\) *\[" \
        'use vloadn, vstoren, vload_half or the accessors of arena.clh' $kernels
}

fast='-cl-(fast-relaxed-math|finite-math-only|unsafe-math-optimizations|no-signed-zeros|mad-enable)'
fast="$fast|-cl-denorms-are-zero|-ffast-math|-ffinite-math-only|-Ofast|-funsafe-math-optimizations"
# shellcheck disable=SC2046
refuse "$fast" 'results may not depend on relaxed arithmetic' \
    $(project_files 'kernels/*' 'host/*' 'bench/*.c' 'bench/*.h' 'bench/*.cc' '*CMakeLists.txt' \
        '*.cmake' CMakePresets.json "$defines")

if command -v clang >/dev/null 2>&1; then
    parse_builds
elif [ $bad -eq 0 ]; then
    echo "left out: clang is not here"
    exit 77
fi
exit $bad
