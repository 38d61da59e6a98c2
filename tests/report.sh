# report.sh - to be sourced by a suite in shell: counts its tests and prints the line of the sum.
#
#   expect "covey.h is C99" cc -std=c99 ...     a test: the command must succeed
#   within 15 test -S "$socket"                 waits until the command succeeds, for as long as a
#                                               machine takes that is eight times as slow as 15 s allow
#   ok NAME, bad NAME [WHY], skip NAME WHY      what a suite found by itself
#   count_lines NAME < <(program)               each line `ok ...` or `not ok ...` is a test
#   add_sum FILE                                its line `N passed, M failed...`: so many more
#   sanitized PROGRAM                           whether it is built with a sanitizer of memory or threads
#   finish                                      the last line, and the exit status
passed=0 failed=0 skipped=0

ok() {
    echo "ok: $1"
    passed=$((passed + 1))
}

bad() {
    echo "FAILED: $1${2:+: $2}"
    failed=$((failed + 1))
}

skip() {
    echo "skipped: $1: $2"
    skipped=$((skipped + 1))
}

expect() { # name, command...
    local name=$1
    shift
    if "$@"; then ok "$name"; else bad "$name" "$* ended with $?"; fi
}

within() { # seconds, command..., which sees this function's variables
    local within_end=$((SECONDS + 8 * $1))
    shift
    while [ $SECONDS -le $within_end ]; do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    echo "in vain: $*"
    return 1
}

# What else it prints is shown. That it tested nothing is a failure.
count_lines() { # name, or nothing
    local line any=
    while read -r line; do
        case $line in
        "ok "*) ok "${1:+$1: }${line#ok }" && any=1 ;;
        "not ok "*) bad "${1:+$1: }${line#not ok }" && any=1 ;;
        *) echo "$line" ;;
        esac
    done
    [ -n "$any" ] || bad "${1:+$1: }nothing was tested"
}

add_sum() { # file
    local sum
    sum=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' "$1" | tail -n 1)
    [ -n "$sum" ] || { bad "$1: it does not end with a sum"; return; }
    passed=$((passed + ${sum% *}))
    failed=$((failed + ${sum#* }))
}

sanitized() { nm "$1" 2>/dev/null | grep -q '__[at]san_init'; } # program

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
    exit
}
