#!/bin/sh
# format.sh ROOT: every C, C++ and OpenCL C file is as clang-format 14 with the .clang-format of ROOT
# leaves it. Other versions format otherwise, so without that one the check is left out (exit 77).
set -u
here=$(cd "$(dirname "$0")" && pwd -P) || exit 2
. "$here/files.sh"
cd "${1:?usage: format.sh ROOT}" || exit 2

if ! command -v clang-format-14 >/dev/null 2>&1; then
    echo "left out: clang-format-14 is not here"
    exit 77
fi
files=$(project_files '*.c' '*.h' '*.cc' '*.cl' '*.clh')
if [ -z "$files" ]; then
    echo "no sources under $PWD" >&2
    exit 2
fi
printf '%s\n' "$files" | tr '\n' '\0' | xargs -0 clang-format-14 --dry-run -Werror || exit 1
