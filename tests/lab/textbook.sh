# shellcheck shell=bash
# textbook.sh - sourced by what runs matmul with textbook.c for its BLAS.

# Makes the library below DIR and prints its name.
textbook_make() { # DIR
    local here
    here=$(dirname "${BASH_SOURCE[0]}")
    ${CC:-cc} -std=c17 -O2 -shared -fPIC -I"$here/../.." -o "$1/textbook.so" "$here/textbook.c" || return
    echo "$1/textbook.so"
}
