#!/bin/sh
# selftest.sh: each lint script accepts a clean tree and catches each kind of offence, in trees made for it.
set -u
here=$(cd "$(dirname "$0")" && pwd -P) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
tree="$work/a tree"
wrong=0

# fresh: a small clean tree, not under git.
fresh() {
    rm -rf "$tree"
    mkdir -p "$tree/host/base" "$tree/host/scratch" "$tree/host/device" "$tree/host/app" \
        "$tree/bench" "$tree/kernels" "$tree/tests/lint"
    printf 'int status;\n' >"$tree/host/base/status.h"
    printf '#include "host/base/status.h"\n' >"$tree/host/scratch/arena.h"
    printf '#include "host/base/status.h"\n#include <CL/cl.h>\n' >"$tree/host/device/device.h"
    printf '#include "kernels/layout.h"\n' >"$tree/host/device/build.c"
    printf '#include "host/scratch/arena.h"\n' >"$tree/host/app/main.c"
    printf '#include <benchmark/benchmark.h>\n' >"$tree/bench/gbench.cc"
    printf '#define PITCH 16\n' >"$tree/kernels/layout.h"
    printf '#define arena_barrier() barrier(CLK_GLOBAL_MEM_FENCE)\n' >"$tree/kernels/arena.clh"
    cat >"$tree/kernels/walk.cl" <<'KERNEL'
#pragma OPENCL FP_CONTRACT OFF
#include "arena.clh"
#include "layout.h"
/* a bare barrier( in a comment is none */
__kernel void walk(__global uchar *arena, __global const float *restrict q, ulong at)
{
    uint n = PITCH * (uint)sizeof(float);
    float4 x = vload4(0, (__global const float *)(arena + at));
    arena_barrier();
    vstore4(x * q[n], 0, (__global float *)(arena + at));
}
KERNEL
    printf 'walk.cl -DWIDE=1\n' >"$tree/tests/lint/kernel_defines.txt"
    cp "$here/../../.clang-format" "$tree/"
}

# expect STATUS WHAT SCRIPT ARGUMENT...: runs a script on the tree.
expect() {
    want=$1
    what=$2
    script=$3
    shift 3
    output=$(sh "$script" "$@" 2>&1)
    got=$?
    if [ $got -ne "$want" ]; then
        printf '%s: %s: exit %s, not %s\n%s\n' "$(basename "$script")" "$what" $got "$want" "$output"
        wrong=1
    fi
}

# layers_refuse FILE INCLUDE
layers_refuse() {
    fresh
    printf '#include %s\n' "$2" >>"$tree/$1"
    expect 1 "$1 includes $2" "$here/layers.sh" "$tree"
}

# kernels_refuse WHAT LINE: a line of a kernel's body.
kernels_refuse() {
    fresh
    printf '__kernel void bad(__global uchar *arena, ulong at)\n{\n    %s\n}\n' "$2" \
        >>"$tree/kernels/walk.cl"
    expect 1 "$1" "$here/kernels.sh" "$tree"
}

fresh
expect 0 "clean tree" "$here/layers.sh" "$tree"
layers_refuse host/base/status.h '"host/scratch/arena.h"'
layers_refuse host/scratch/arena.h '"host/device/device.h"'
layers_refuse host/scratch/arena.h '<CL/cl.h>'
layers_refuse host/device/device.h '"host/scratch/arena.h"'
layers_refuse host/device/device.h '"../scratch/arena.h"'
layers_refuse host/device/device.h '<jansson.h>'
layers_refuse bench/gbench.cc '"host/app/options.h"'
layers_refuse kernels/layout.h '"host/base/status.h"'
layers_refuse host/app/main.c '<benchmark/benchmark.h>'
layers_refuse host/app/main.c '"tests/fake.h"'
rm -rf "$tree/host" "$tree/bench" "$tree/kernels"
expect 2 "no sources" "$here/layers.sh" "$tree"

fresh
printf 'char template[] = "name.XXXXXX";\n' >>"$tree/host/app/main.c"
expect 0 "clean tree" "$here/words.sh" "$tree"
for word in TOD""O FIXM""E XX""X /wor""k/place /roo""t/place /tmp/bas""h_jobs.0; do
    fresh
    printf '/* %s */\n' "$word" >>"$tree/host/app/main.c"
    expect 1 "$word" "$here/words.sh" "$tree"
done

if command -v clang >/dev/null 2>&1; then
    fresh
    expect 0 "clean tree" "$here/kernels.sh" "$tree"
    kernels_refuse "unused variable" 'float x;'
    if clang -march=haswell -E -x c /dev/null >/dev/null 2>&1; then
        kernels_refuse "a vector wider than the registers" 'vstore8((ulong8)(at), 0, (__global ulong *)arena);'
    fi
    fresh
    sed -i 1d "$tree/kernels/walk.cl"
    expect 1 "no FP_CONTRACT" "$here/kernels.sh" "$tree"
fi
kernels_refuse "bare barrier" 'barrier(CLK_LOCAL_MEM_FENCE);'
kernels_refuse "dereferenced cast" '*(__global float *)(arena + at) = 1.0f;'
kernels_refuse "indexed cast" '((__global const float *)(arena + at))[1] = 1.0f;'
kernels_refuse "indexed cast of a vector" '((__global float4 *)arena)[1] = 1.0f;'
fresh
printf '__kernel void bad(__global uchar *restrict arena)\n{\n    arena[0] = 0;\n}\n' \
    >>"$tree/kernels/walk.cl"
expect 1 "restrict arena" "$here/kernels.sh" "$tree"
fresh
printf 'const char *options = "-cl-%s";\n' fast-relaxed-math >>"$tree/host/device/build.c"
expect 1 "fast-math option" "$here/kernels.sh" "$tree"
fresh
printf '__kernel void unlisted(void)\n{\n}\n' >>"$tree/kernels/unlisted.cl"
expect 1 "kernel file without a build" "$here/kernels.sh" "$tree"

if command -v clang-format-14 >/dev/null 2>&1; then
    fresh
    rm "$tree/kernels/walk.cl"
    expect 0 "clean tree" "$here/format.sh" "$tree"
    printf 'int   wide;\n' >"$tree/kernels/wide.clh"
    expect 1 "badly formatted" "$here/format.sh" "$tree"
fi

if command -v clang-tidy-14 >/dev/null 2>&1; then
    fresh
    cp "$here/../../.clang-tidy" "$tree/"
    mkdir "$work/build"
    printf '[{"directory": "%s",\n"command": "cc -I. -c host/app/main.c",\n"file": "%s"}]\n' \
        "$tree" "$tree/host/app/main.c" >"$work/build/compile_commands.json"
    printf 'int main(void)\n{\n    return 0;\n}\n' >"$tree/host/app/main.c"
    expect 0 "clean tree" "$here/tidy.sh" "$tree" "$work/build"
    printf '#include <stdlib.h>\nint main(void)\n{\n    return atoi("1");\n}\n' >"$tree/host/app/main.c"
    expect 1 "atoi" "$here/tidy.sh" "$tree" "$work/build"
    printf 'static int f(void) { if (1) return 1; return 0; }\n' >"$tree/host/base/status.h"
    printf '#include "host/base/status.h"\nint main(void)\n{\n    return f();\n}\n' \
        >"$tree/host/app/main.c"
    expect 1 "no braces in a header" "$here/tidy.sh" "$tree" "$work/build"
fi

# A stand-in for Oclgrind: `log`, `api` and `fatal` report as it does, `clean` and `fail` do not.
cat >"$work/oclgrind" <<'FAKE'
#!/bin/sh
log=
while [ $# -gt 0 ]; do
    case $1 in
    --log) log=$2; shift 2 ;;
    --max-errors) shift 2 ;;
    --*) shift ;;
    *) break ;;
    esac
done
echo "Oclgrind Simulator"
case $1 in
log) echo "Read-write data race at global memory address 0x1000000000000" >"$log" ;;
api) echo "Oclgrind - OpenCL runtime error detected" >&2 ;;
fatal) echo "OCLGRIND FATAL ERROR (Kernel.cpp:1)" >&2 ;;
fail) exit 3 ;;
esac
FAKE
chmod +x "$work/oclgrind"
OCLGRIND="$work/oclgrind"
export OCLGRIND
expect 0 "clean run" "$here/../oclgrind.sh" clean
expect 3 "failing test" "$here/../oclgrind.sh" fail
expect 1 "report in the log" "$here/../oclgrind.sh" log
expect 1 "API error" "$here/../oclgrind.sh" api
expect 1 "fatal error" "$here/../oclgrind.sh" fatal

exit $wrong
