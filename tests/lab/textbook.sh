# shellcheck shell=bash
# textbook.sh - sourced by what runs matmul with textbook.c for its BLAS.

# Makes the library below DIR and prints its name.
textbook_make() { # DIR
    local cflags
    cflags=$(pkg-config --cflags openblas 2>/dev/null || pkg-config --cflags blas-openblas 2>/dev/null)
    # shellcheck disable=SC2086 # one word a flag
    ${CC:-cc} -std=c17 -O2 -shared -fPIC $cflags -o "$1/textbook.so" "$(dirname "${BASH_SOURCE[0]}")/textbook.c" || return
    echo "$1/textbook.so"
}
