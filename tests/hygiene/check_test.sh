#!/bin/bash
# check.sh adds up what suites report, and nothing that goes wrong in a suite is lost.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/scripts" "$tree/tests/shell"
cp scripts/check.sh "$tree/scripts/"

suite() { # name, what it does
    echo "$2" >"$tree/tests/shell/$1_test.sh"
}
check() { # suites -> what check.sh prints
    (cd "$tree" && BUILD=$tree/build scripts/check.sh "${@/#/tests/shell/}" 2>&1)
}
last_line_is() { # line, suites
    local line=$1 said
    shift
    said=$(check "$@")
    [ "$(tail -n 1 <<<"$said")" = "$line" ] || { echo "$said" && false; }
}
says() { # text, suites
    local text=$1
    shift
    check "$@" | grep -qF "$text"
}
fails() { ! check "$@" >/dev/null; }

suite good 'echo "3 passed, 0 failed, 2 skipped"'
suite silent 'true'
suite bad 'echo "the reason"; echo "1 passed, 2 failed, 0 skipped"; exit 1'
suite crash 'echo "5 passed, 0 failed, 0 skipped"; kill -SEGV $$'
suite liar 'echo "5 passed, 0 failed, 0 skipped"; exit 1'
suite unable 'exit 77'
suite hang '# timeout: 1
sleep 60'
suite orphan 'setsid sleep 60 >/dev/null 2>&1 & exit 0'
suite litter 'echo x >"$XDG_RUNTIME_DIR/litter"'

expect "suites are added up" last_line_is "4 passed, 0 failed, 2 skipped" good_test.sh silent_test.sh
expect "failures are counted" last_line_is "4 passed, 2 failed, 2 skipped" good_test.sh bad_test.sh
expect "a failure is the exit status" fails good_test.sh bad_test.sh
expect "a failing suite's words are shown" says "the reason" bad_test.sh
expect "a crash after the last line is a failure" last_line_is "5 passed, 1 failed, 0 skipped" crash_test.sh
expect "an exit status beats the line" last_line_is "5 passed, 1 failed, 0 skipped" liar_test.sh
expect "status 77 is a skip" last_line_is "1 passed, 0 failed, 1 skipped" silent_test.sh unable_test.sh
expect "a hang is a failure" last_line_is "0 passed, 1 failed, 0 skipped" hang_test.sh
expect "a hang is called one" says "ran out of time" hang_test.sh
expect "a process left behind is named" says "sleep 60" orphan_test.sh
expect "a file left behind is a failure" last_line_is "1 passed, 1 failed, 0 skipped" litter_test.sh
expect "no suite at all is a failure" fails
finish
