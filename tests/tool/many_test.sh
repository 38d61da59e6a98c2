#!/bin/bash
# many_test.sh - a VM of many virtual hosts on this machine: more than are started at once, and a
# start that fails. SOAK=1, for runs by hand: more than one request holds.
# timeout: 180
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

up() { covey hosts | awk '$4 == "up"' | wc -l; }
no_daemon() { [ -z "$(daemons)" ]; }

many() { # hosts
    expect "covey start --local $1" covey start --local "$1" >"$dir/out"
    expect "each of $1 hosts is said to have joined" test "$(grep -c ' joined ' "$dir/out")" = "$1"
    expect "$1 hosts are up" test "$(up)" = "$1"
    covey halt >/dev/null 2>&1
    expect "all of $1 have ended" within 60 no_daemon
}

many 100
[ -z "${SOAK:-}" ] || for n in 1500 2000; do many "$n"; done

# ---- what is asked of a host cannot be sent to the first one, which runs by then
settings=()
for i in $(seq 30); do settings+=(--env "V$i=$(printf '%0900d' 0)"); done
if covey start --as first "${settings[@]}" other >"$dir/out" 2>&1; then
    bad "a start that fails" "it did not"
else
    expect "a start that fails says so" grep -q "nothing was left running" "$dir/out"
fi
expect "and leaves nothing" within 30 no_daemon
finish
