#!/bin/sh
# oclgrind.sh PROGRAM [ARGUMENT...]: runs a device test under Oclgrind and fails when the test does, or
# when Oclgrind reports anything. Oclgrind itself exits with the program's status whatever it found.
#
# What it finds in kernels goes to its log, which is empty for a clean run, so that no kind of report
# needs to be known here. API errors, fatal errors and its own troubles it prints among the program's
# output, each with its name in front.
set -u
if [ $# -eq 0 ]; then
    echo "usage: oclgrind.sh PROGRAM [ARGUMENT...]" >&2
    exit 2
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"${OCLGRIND:-oclgrind}" --log "$work/log" --max-errors 20 \
    --data-races --uninitialized --check-api "$@" >"$work/output" 2>&1
status=$?
cat "$work/output"
if [ -s "$work/log" ]; then
    cat "$work/log"
    echo
    echo "oclgrind.sh: Oclgrind reports errors in a kernel (above)" >&2
    exit 1
fi
if grep -q -E '^(Oclgrind - |\[Oclgrind\]|OCLGRIND FATAL ERROR)' "$work/output"; then
    echo "oclgrind.sh: Oclgrind reports errors in the program (above)" >&2
    exit 1
fi
exit "$status"
