#!/bin/sh
# words.sh ROOT: marks of unfinished work and paths of one machine have no place in the project.
# Prints each line that has one; exits 1 if there is any.
set -u
here=$(cd "$(dirname "$0")" && pwd -P) || exit 2
. "$here/files.sh"
cd "${1:?usage: words.sh ROOT}" || exit 2

# Each pattern is written so that it does not match itself.
marks='\<(TOD[O]|FIXM[E]|XX[X])\>'
paths='/wor[k]/|/roo[t]/|/tmp/bas[h]_jobs'

files=$(project_files '*')
if [ -z "$files" ]; then
    echo "no files under $PWD" >&2
    exit 2
fi
if printf '%s\n' "$files" | tr '\n' '\0' | xargs -0 grep -nHIE "$marks|$paths" /dev/null; then
    exit 1
fi
exit 0
