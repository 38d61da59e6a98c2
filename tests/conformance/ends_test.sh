#!/bin/bash
# timeout: 300
# ends_test.sh - the exit status of every task is told to who spawned it, however many have ended
# since: of more than a daemon remembers (4096), in a row on another host and at once on the own one.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

covey start --local 2 >/dev/null || exit 1

all_known() { # host tasks
    local known
    known=$(COVEY_SOCKET=$(socket_of h0) "$BUILD/tests/conformance/ends" "$1" "$2") &&
        [ "$known" = "$2 of $2" ] || { echo "known: $known"; return 1; }
}

expect "the ends of 5000 tasks of another host are known when all have ended" all_known h1 5000

covey run -n 4600 --host h0 true </dev/null >"$dir/out" 2>&1
status=$?
expect "covey run of 4600 tasks on one host ends with 0" [ "$status" -eq 0 ]
says_nothing() { [ ! -s "$dir/out" ] || { head -n 5 "$dir/out" && false; }; }
expect "and says nothing" says_nothing
finish
