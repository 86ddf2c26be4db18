# Set-up that bench/run and tests/run share: Debian packages, then the build. Sourced by bash, after
# `set -euo pipefail`. Everything here speaks on stderr; stdout belongs to the results.
#
# A need is one package, or several that serve as well, `A|B`: the first is installed when none is
# there. (gnuplot's packages exclude each other, so that one a user has must not be replaced.)

setup_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
setup_strict=no
setup_name=$(basename "$(dirname "$0")")/$(basename "$0")

# What the program and all tests are built from, and what the plot is drawn with.
setup_needs=(gcc g++ cmake make 'pkgconf|pkg-config' ocl-icd-opencl-dev pocl-opencl-icd
             libhwloc-dev libbenchmark-dev libjansson-dev libcmocka-dev
             'gnuplot-nox|gnuplot-qt|gnuplot-x11')

setup_say() {
    printf '%s: %s\n' "$setup_name" "$*" >&2
}

setup_fail() {
    setup_say "error: $*"
    exit 2
}

setup_has() {
    local package status
    local -a alternatives
    IFS='|' read -ra alternatives <<<"$1"
    for package in "${alternatives[@]}"; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || continue
        if [ "$status" = installed ]; then
            return 0
        fi
    done
    return 1
}

# setup_missing NEED...: one line for each need that nothing installed serves.
setup_missing() {
    local need
    for need in "$@"; do
        setup_has "$need" || printf '%s\n' "${need%%|*}"
    done
}

# setup_packaged PACKAGE...: those among them that the package lists know.
setup_packaged() {
    local package
    for package in "$@"; do
        apt-cache show --no-all-versions "$package" >/dev/null 2>&1 && printf '%s\n' "$package"
    done
    return 0
}

# setup_apt ARGUMENT...: apt-get as root, asking nothing of a caller without a terminal.
setup_apt() {
    local -a command=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y
                      -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@")
    if [ "$(id -u)" -ne 0 ]; then
        if [ -t 0 ]; then
            command=(sudo "${command[@]}")
        else
            command=(sudo -n "${command[@]}")
        fi
    fi
    "${command[@]}" </dev/null >&2
}

setup_may_install() {
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null 2>&1
}

# setup_install [WANT...]: brings in what is missing, says what it is, and asks for root only then.
# The packages WANT are installed where Debian has them and the user may; setup_strict=yes makes a
# failure there an error.
setup_install() {
    local -a needs=("${setup_needs[@]}") missing wanted found
    if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
        setup_say "no Debian packages here; these must be there already: ${needs[*]%%|*}"
        return 0
    fi
    mapfile -t missing < <(setup_missing "${needs[@]}")
    mapfile -t wanted < <(setup_missing "$@")
    if [ "${#missing[@]}" -gt 0 ]; then
        setup_get_needed "${missing[@]}"
    fi
    if [ "${#wanted[@]}" -gt 0 ] && setup_may_install; then
        [ -n "$(setup_packaged pocl-opencl-icd)" ] || setup_apt update || true
        mapfile -t found < <(setup_packaged "${wanted[@]}")
        setup_get_wanted "${found[@]}"
    fi
}

# setup_get_needed PACKAGE...: installs them, or ends the set-up with the line that would.
setup_get_needed() {
    local line="apt-get update && apt-get install --no-install-recommends $*"
    if ! setup_may_install; then
        setup_fail "packages are missing, and there is neither root nor sudo to install them:" \
            "have an administrator run: $line"
    fi
    setup_say "installing: $*"
    if ! setup_apt update || ! setup_apt install --no-install-recommends "$@"; then
        setup_fail "packages could not be installed (see above); by hand: $line"
    fi
}

# setup_get_wanted PACKAGE...: installs them if it can.
setup_get_wanted() {
    if [ $# -eq 0 ]; then
        return 0
    fi
    setup_say "installing: $*"
    if ! setup_apt install --no-install-recommends "$@"; then
        [ "$setup_strict" = no ] || setup_fail "packages could not be installed (see above)"
        setup_say "going on without: $*"
    fi
}

setup_jobs() {
    nproc 2>/dev/null || echo 2
}

# setup_build_dir NAME: where the build NAME goes: SCRATCHSCOPE_BUILD_DIR, else a folder of the
# repository, else (a read-only checkout) one of the user's cache.
setup_build_dir() {
    if [ -n "${SCRATCHSCOPE_BUILD_DIR:-}" ]; then
        mkdir -p "$SCRATCHSCOPE_BUILD_DIR"
        (cd "$SCRATCHSCOPE_BUILD_DIR" && printf '%s%s\n' "$(pwd -P)" "${1#build}")
    elif [ -w "$setup_root" ]; then
        printf '%s/%s\n' "$setup_root" "$1"
    else
        printf '%s/scratchscope/%s\n' \
            "${XDG_CACHE_HOME:-${HOME:-${TMPDIR:-/tmp}}/.cache}" "$1"
    fi
}

# setup_configure PRESET DIR: configures, starting afresh where DIR holds another checkout's build.
setup_configure() {
    local -a fresh=()
    local home=
    if [ -f "$2/CMakeCache.txt" ]; then
        home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$2/CMakeCache.txt")
        [ "$home" = "$setup_root" ] || fresh=(--fresh)
    fi
    setup_say "configuring $2"
    (cd "$setup_root" && cmake "${fresh[@]}" --preset "$1" -B "$2") >&2 ||
        setup_fail "configuring failed (see above)"
}

# setup_build DIR TARGET...: builds those targets, or everything.
setup_build() {
    local dir=$1
    local -a targets=()
    shift
    [ $# -eq 0 ] || targets=(--target "$@")
    setup_say "building"
    cmake --build "$dir" --parallel "$(setup_jobs)" "${targets[@]}" >&2 ||
        setup_fail "the build failed (see above)"
}
