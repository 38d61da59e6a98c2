#!/bin/bash
# timeout: 120
# Tiled loops on 16 tasks on four hosts: random spaces and dependences, both schedules, teams of 1,
# 2, 4, 9 and 16, and the death of one. SOAK: more loops.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

loops=12
[ -z "${SOAK:-}" ] || loops=500

# The members end by themselves, but for one that kills itself: the status says nothing.
run() { # name, options of covey run
    local name=$1
    shift
    covey run -n 1 --host h0 "$@" "$BUILD/tests/conformance/tiles" 16 "$loops" >"$dir/out" 2>&1
    sed 's/^/    /' "$dir/out"
    if grep -q ': *ok 16 members\|^ok 16 members' "$dir/out" && ! grep -q 'not ok' "$dir/out"; then
        ok "$name: $(grep -o 'ok 16 members.*' "$dir/out")"
    else
        bad "$name"
    fi
}

covey start --local 4 >/dev/null || bad "a virtual machine of four hosts starts"
run "by the route of each pair"
run "by udp" --route udp
finish
