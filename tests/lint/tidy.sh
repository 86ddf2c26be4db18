#!/bin/sh
# tidy.sh ROOT BUILD: clang-tidy 14 with the .clang-tidy of ROOT over every C file that BUILD compiles from
# ROOT, several at once. Without that version the check is left out (exit 77).
set -u
here=$(cd "$(dirname "$0")" && pwd -P) || exit 2
. "$here/files.sh"
root=${1:?usage: tidy.sh ROOT BUILD}
build=$(cd "${2:?usage: tidy.sh ROOT BUILD}" && pwd -P) || exit 2
cd "$root" || exit 2

if ! command -v clang-tidy-14 >/dev/null 2>&1; then
    echo "left out: clang-tidy-14 is not here"
    exit 77
fi
if [ ! -f "$build/compile_commands.json" ]; then
    echo "no compile_commands.json in $build" >&2
    exit 2
fi
files=$(project_files 'host/*.c' 'bench/*.c' 'tests/*.c' | while IFS= read -r file; do
    grep -qF "\"file\": \"$PWD/$file\"" "$build/compile_commands.json" && printf '%s\n' "$file"
done)
if [ -z "$files" ]; then
    echo "$build compiles no C file of $root" >&2
    exit 2
fi
# One file a process: several in one mislead the analyzer about va_list. Warnings go to stdout; stderr
# only counts those that were suppressed in system headers.
printf '%s\n' "$files" | tr '\n' '\0' |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p "$build" --quiet --warnings-as-errors='*' 2>/dev/null ||
    exit 1
