# Sourced by the lint scripts after `cd` to the root of the tree that they check.

# project_files PATTERN...: the project's files whose names match a shell pattern, one a line,
# relative to the root: what git tracks or would track; in a tree without git, all that is not a build.
project_files() {
    {
        git ls-files --cached --others --exclude-standard 2>/dev/null ||
            find . -path './build*' -prune -o -path ./.git -prune -o -type f -print |
            sed 's|^\./||'
    } | sort -u | while IFS= read -r file; do
        [ -f "$file" ] || continue
        for pattern in "$@"; do
            case $file in
            $pattern)
                printf '%s\n' "$file"
                break
                ;;
            esac
        done
    done
}

# without_comments FILE: the file with its comments blanked out, line numbers kept.
without_comments() {
    awk '
    {
        line = $0
        kept = ""
        while (line != "") {
            if (inside) {
                end = index(line, "*/")
                if (end == 0)
                    break
                line = substr(line, end + 2)
                inside = 0
                kept = kept " "
            } else if (match(line, /"([^"\\]|\\.)*"|\/\*|\/\//)) {
                kept = kept substr(line, 1, RSTART - 1)
                found = substr(line, RSTART, RLENGTH)
                line = substr(line, RSTART + RLENGTH)
                if (found == "//")
                    break
                if (found == "/*")
                    inside = 1
                else
                    kept = kept found
            } else {
                kept = kept line
                break
            }
        }
        print kept
    }' "$1"
}
