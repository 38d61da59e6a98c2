#!/bin/bash
# check.sh SUITE... - runs test suites and adds up what they report.
#
# A suite is a source file tests/DIR/NAME_test.c (its program is $BUILD/tests/DIR/NAME_test), a
# script tests/DIR/NAME_test.sh, or tests/fuzz/NAME_fuzz.c (its seeds are replayed by
# $BUILD/tests/fuzz/NAME_fuzz); scripts/suites.sh says how it is called. A suite's last line
# `N passed, N failed, N skipped` counts; without such a line its exit status counts as one test, 77
# as one that cannot run here. What it prints goes to $BUILD/test-logs/; when it fails, what says so is
# shown, and the end. A suite fails when it runs longer than a machine takes that is four times as slow
# as 120 s (or the line `timeout: SECONDS` in its first lines) allow, and when it leaves processes,
# sockets or files of its runtime directory behind.
#
# CHECK_JOBS suites run at once (default: three more than there are processors, for most wait most of
# the time), those that may take longest first.
# CHECK_RUNNER is a command that runs compiled suites: an emulator.
set -u
cd "$(dirname "$0")/.."

BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export BUILD
export COVEY_SOLVERS= # a suite that keeps figures names a file of its own
logs=$BUILD/test-logs
jobs=${CHECK_JOBS:-$(($(nproc) + 3))}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-check.XXXXXX")
set -m # suites in process groups of their own, with the default action for SIGINT

# The processes that a suite started, told by the mark in their environment.
processes_of() { # mark, as a regular expression
    grep -lszE "^COVEY_TEST_SUITE=$1\$" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

cleanup() {
    local left
    left=$(processes_of ".*[.]$$")
    # shellcheck disable=SC2086
    [ -n "$left" ] && kill -TERM $left 2>/dev/null
    rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

suite_command() {
    case $1 in
    tests/fuzz/*) echo "${CHECK_RUNNER:-}" "$BUILD/${1%.c}" "tests/fuzz/corpus/$(basename "$1" _fuzz.c)" ;;
    *.sh) echo bash "$1" ;;
    *) echo "${CHECK_RUNNER:-}" "$BUILD/${1%.c}" ;;
    esac
}

suite_timeout() {
    local seconds
    seconds=$(sed -n '1,20s/.*timeout: *\([0-9][0-9]*\).*/\1/p' "$1" | head -n 1)
    echo $((${seconds:-120} * 4 * ${CHECK_TIMEOUT_FACTOR:-1}))
}

describe() { # pids -> "pid command, pid command"
    local pid
    for pid in $1; do
        echo -n "$pid $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -c1-100); "
    done
}

# Gives what is ending a moment to end; what then is still there is a leak: named, then ended.
find_leaks() { # mark, runtime directory
    local i left
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        left=$(processes_of "$1")
        [ -z "$left" ] && break
        sleep 0.25
    done
    if [ -n "$left" ]; then
        echo "left processes behind: $(describe "$left")"
        # shellcheck disable=SC2086
        kill -KILL $left 2>/dev/null
    fi
    left=$(find "$2" -mindepth 1 ! -path "$2/ccache-tmp*" | head -n 5) # CC="ccache gcc" keeps these
    [ -n "$left" ] && echo "left files behind: ${left//$'\n'/ }"
}

# ASan's warnings of contexts (tests/sim/ring_test.c), and of more memory than there is, which a test asks for to see it
# refused, are none of a fault.
sanitizer_reports() { # prefix of the files that sanitizers wrote
    local file
    for file in "$1".*; do
        [ -e "$file" ] && grep -v -e 'makecontext/swapcontext' -e 'AddressSanitizer failed to allocate' "$file" |
            grep -m 1 -E 'ERROR|WARNING|runtime error' && echo "    $file"
    done
}

# Prints "passed failed skipped" for a log and the exit status of its suite.
counts_of() { # log, status
    local line
    line=$(tail -n 1 "$1" | grep -Eo '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$')
    if [ -n "$line" ]; then
        # shellcheck disable=SC2086
        set -- "$1" "$2" $line
        local failed=$5
        [ "$2" -ne 0 ] && [ "$2" -ne 77 ] && [ "$failed" -eq 0 ] && failed=1
        echo "$3 $failed $7"
    elif [ "$2" -eq 0 ]; then
        echo "1 0 0"
    elif [ "$2" -eq 77 ]; then # cannot run here
        echo "0 0 1"
    else
        echo "0 1 0"
    fi
}

# The lines by which suites in shell, of CUnit and in Python tell of a failure, and what led to them.
FAILURES='^ *FAILED|\.\.\. FAILED\b|(^|[^[:alnum:]])not ok|^(FAIL|ERROR): |^[[:alpha:]_.]+(Error|Exception)\b|Assertion .* failed'
FAILURE_LINES=60
END_LINES=15

failures_of() { # log
    local lines
    lines=$(grep -aE -B 5 -A 3 "$FAILURES" "$1")
    [ -n "$lines" ] || return
    echo "what failed in $1:"
    head -n "$FAILURE_LINES" <<<"$lines" | sed 's/^/| /'
}

report() { # name, status, seconds, leaks, log
    local passed failed skipped
    read -r passed failed skipped < <(counts_of "$5" "$2")
    [ -n "$4" ] && failed=$((failed + 1))
    echo "$passed $failed $skipped" >"$scratch/$1.counts"
    local skips=""
    [ "$skipped" -gt 0 ] && skips=", $skipped skipped"
    if [ "$failed" -eq 0 ]; then
        printf 'ok      %-28s %4d passed%s (%d s)\n' "$1" "$passed" "$skips" "$3"
    else
        {
            printf 'FAILED  %-28s %4d passed, %d failed%s (%d s)\n' "$1" "$passed" "$failed" \
                "$skips" "$3"
            [ "$2" -eq 124 ] || [ "$2" -eq 137 ] && echo "    it ran out of time"
            [ -n "$4" ] && echo "    ${4//$'\n'/$'\n'    }"
            failures_of "$5" | sed 's/^/    /'
            echo "    the end of $5:"
            tail -n "$END_LINES" "$5" | sed 's/^/    | /'
        } >"$scratch/$1.report"
        cat "$scratch/$1.report"
    fi
    [ "$skipped" -gt 0 ] && grep -hE '(^|\.\.\. )skipped: ' "$5" | sed 's/^/        /' | head -n 20
}

run_suite() {
    local suite=$1 name log runtime mark start status leaks
    name=$(scripts/suites.sh --name "$suite")
    log=$logs/$name.log
    runtime=$scratch/$name
    mark=$name.$$
    start=$SECONDS
    mkdir -m 700 "$runtime"
    # what a sanitizer says of a daemon or a task counts wherever that process writes to
    local sanitizer=log_path=$logs/$name.sanitizer
    # shellcheck disable=SC2046
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u COVEY_VM -u COVEY_SOCKET -u COVEY_ROUTE \
        COVEY_TEST_SUITE="$mark" XDG_RUNTIME_DIR="$runtime" \
        ASAN_OPTIONS="${ASAN_OPTIONS:-}:allocator_may_return_null=1:$sanitizer" \
        TSAN_OPTIONS="${TSAN_OPTIONS:-}:allocator_may_return_null=1:$sanitizer" \
        LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0" \
        UBSAN_OPTIONS="${UBSAN_OPTIONS:-}:$sanitizer:print_stacktrace=1" \
        timeout -k 5 "$(suite_timeout "$suite")" $(suite_command "$suite") >"$log" 2>&1 </dev/null
    status=$?
    leaks=$(find_leaks "$mark" "$runtime"; sanitizer_reports "$logs/$name.sanitizer")
    report "$name" "$status" $((SECONDS - start)) "$leaks" "$log"
    rm -rf "$runtime"
}

longest_first() { # suites
    local suite
    for suite; do echo "$(suite_timeout "$suite") $suite"; done | sort -s -k1,1nr | cut -d' ' -f2-
}

run_side_by_side() { # suites
    local suite
    for suite; do
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
        run_suite "$suite" &
    done
    wait
}

total() {
    local passed=0 failed=0 skipped=0 p f s file
    for file in "$scratch"/*.counts; do
        [ -e "$file" ] || continue
        read -r p f s <"$file"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done
    if [ "$failed" -gt 0 ]; then
        echo "Failed suites (logs in ${logs#"$PWD"/}):"
        for file in "$scratch"/*.report; do head -n 1 "$file"; done
    fi
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

mkdir -p "$logs"
rm -f "$logs"/*.log "$logs"/*.sanitizer.*
# shellcheck disable=SC2046
run_side_by_side $(longest_first "$@")
total
