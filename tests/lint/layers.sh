#!/bin/sh
# layers.sh ROOT: a file includes only from its own or a lower layer, and only that layer's libraries.
# Prints each include that breaks the order; exits 1 if there is one.
set -u
here=$(cd "$(dirname "$0")" && pwd -P) || exit 2
. "$here/files.sh"
cd "${1:?usage: layers.sh ROOT}" || exit 2

# allowed LAYER: the folders and the libraries that its files may include.
allowed() {
    case $1 in
    kernels) echo "kernels" ;;
    host/base) echo "host/base" ;;
    host/scratch) echo "host/base host/scratch" ;;
    host/device) echo "host/base kernels host/device CL hwloc" ;;
    host/attention) echo "host/base host/scratch kernels host/device host/attention CL hwloc" ;;
    bench) echo "host/base host/scratch kernels host/device host/attention bench CL hwloc benchmark" ;;
    host/app)
        echo "host/base host/scratch kernels host/device host/attention bench host/app CL hwloc jansson"
        ;;
    *) ;;
    esac
}

layer_of() {
    case $1 in
    host/*/*) printf '%s\n' "$1" | cut -d / -f 1,2 ;;
    *) printf '%s\n' "${1%%/*}" ;;
    esac
}

# source_of FILE INCLUDE: the layer or library that an include names; empty for the C and C++ libraries.
source_of() {
    case $2 in
    CL/*) echo CL ;;
    hwloc.h | hwloc/*) echo hwloc ;;
    jansson.h) echo jansson ;;
    benchmark/*) echo benchmark ;;
    ../* | */../* | ./*) echo "a relative path" ;;
    host/*/* | bench/* | kernels/* | tests/*) layer_of "$2" ;;
    *) [ ! -f "$(dirname "$1")/$2" ] || layer_of "$1" ;;
    esac
}

bad=0
files=$(project_files 'host/*.[ch]' 'bench/*.[ch]' 'bench/*.cc' 'kernels/*.h' 'kernels/*.cl' \
    'kernels/*.clh')
if [ -z "$files" ]; then
    echo "no sources under $PWD" >&2
    exit 2
fi
includes=$(printf '%s\n' "$files" | tr '\n' '\0' |
    xargs -0 grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]')
while IFS= read -r line; do
    [ -n "$line" ] || continue
    file=${line%%:*}
    rest=${line#*:}
    include=$(printf '%s\n' "$rest" | sed 's/^[^<"]*[<"]\([^>"]*\)[>"].*$/\1/')
    from=$(source_of "$file" "$include")
    [ -n "$from" ] || continue
    layer=$(layer_of "$file")
    case " $(allowed "$layer") " in
    *" $from "*) ;;
    *)
        echo "$file:${rest%%:*}: $layer may not include $include ($from)"
        bad=1
        ;;
    esac
done <<EOF
$includes
EOF
exit $bad
