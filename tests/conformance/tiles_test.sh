#!/bin/bash
# timeout: 120
# Tiled loops on 16 tasks on four hosts: random spaces and dependences, both schedules, teams of 1,
# 2, 4, 9 and 16, and the death of one; and on one host, where all faces are put into the memory of
# neighbours. SOAK: more loops.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

loops=12
[ -z "${SOAK:-}" ] || loops=500

# The members end by themselves, but for one that kills itself: the status says nothing.
run() { # name, how faces go, loops, options of covey run
    local name=$1 faces=$2 loops=$3
    shift 3
    covey run -n 1 --host h0 "$@" "$BUILD/tests/conformance/tiles" 16 "$loops" >"$dir/out" 2>&1
    sed 's/^/    /' "$dir/out"
    if grep -q ': *ok 16 members\|^ok 16 members' "$dir/out" && ! grep -q 'not ok' "$dir/out"; then
        ok "$name: $(grep -o 'ok 16 members.*' "$dir/out")"
    else
        bad "$name"
    fi
    expect "$name: faces are $faces" grep -qE "faces of a row: $faces\$" "$dir/out"
}

covey start --local 4 >/dev/null || bad "a virtual machine of four hosts starts"
run "by the route of each pair" "[1-9][0-9]* put, [1-9][0-9]* sent" "$loops"
run "by the route of each pair, blocking" "[1-9][0-9]* put, [1-9][0-9]* sent" 1b
run "by udp" "0 put, 150 sent" "$loops" --route udp
covey halt
covey start --local 1 >/dev/null || bad "a virtual machine of one host starts"
run "on one host" "150 put, 0 sent" "$loops"
run "on one host, blocking" "150 put, 0 sent" 1b
finish
