#!/bin/bash
# timeout: 150
# council_test.sh - twelve tasks on five hosts share a session, elect a leader and decide on one
# number after the other, while one after the other is killed with kill -9; then the first daemon
# is killed, and after it whoever leads in what the VM agrees on. All members that ever lived saw
# the same views, one leader a term and one decision a number. SOAK=1: ten times as many numbers.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/chaos/vm.sh
if [ -n "${SOAK:-}" ]; then rounds=10000; else rounds=1000; fi

daemon_of() { ss -Hxlp | grep -F "$(socket_of "$1") " | sed -n 's/.*pid=\([0-9]*\).*/\1/p'; }
came_to() { [ "$(sed -n 's/^round //p' "$dir/council" | tail -n 1)" -ge "$1" ]; }

two_are_down() { [ "$(COVEY_SOCKET=$(socket_of h4) "$BUILD/covey" hosts | grep -c ' down ')" = 2 ]; }

# The host that leads the log of what is agreed, as h4 was told last; never h4, where the judge is.
leader() {
    local last
    last=$(sed -n 's/.*host \([0-9]*\) leads the log of what is agreed.*/\1/p' \
        "$dir/run/covey/$COVEY_VM/h4.log" | tail -n 1)
    case $last in '' | 1 | 5) echo h2 ;; *) echo "h$((last - 1))" ;; esac
}

council() {
    local pid status=0
    : >"$dir/log"
    COVEY_SOCKET=$(socket_of h4) "$BUILD/tests/chaos/council" $rounds "$dir/log" >"$dir/council" 2>&1 &
    pid=$!
    within 60 came_to $((rounds / 5)) || status=1
    kill -KILL "$(daemon_of h0)"
    within 60 came_to $((rounds / 2)) || status=1
    kill -KILL "$(daemon_of "$(leader)")"
    wait $pid || status=1
    tail -n 4 "$dir/council"
    within 20 two_are_down || status=1 # the numbers may have come to an end sooner
    [ $status -eq 0 ] || grep '^e' "$dir/log"
    return $status
}

# From h4: h0 is gone.
halt_vm() {
    COVEY_SOCKET=$(socket_of h4) "$BUILD/covey" halt || return 1
    within 15 nothing_left || { find "$dir/run" -mindepth 1; return 1; }
}

story "members and daemons are killed" 4 council
finish
