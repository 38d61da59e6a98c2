# report.sh - to be sourced by a suite in shell: counts its tests and prints the line of the sum.
#
#   expect "covey.h is C99" cc -std=c99 ...     a test: the command must succeed
#   within 15 test -S "$socket"                 waits, for 15 s at most, until the command succeeds
#   ok NAME, bad NAME [WHY], skip NAME WHY      what a suite found by itself
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
    local within_end=$((SECONDS + $1))
    shift
    while [ $SECONDS -le $within_end ]; do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.05
    done
    echo "in vain: $*"
    return 1
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
    exit
}
