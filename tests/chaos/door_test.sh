#!/bin/bash
# timeout: 240
# door_test.sh - workers of a sequential program (covey_door(3)) are killed at random instants, and
# so are the daemons of their hosts: calls fail in words or start again, none hangs, and no worker is
# left. SEED=N replays; SOAK=1 kills hundreds.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/chaos/vm.sh
seed=${SEED:-$RANDOM$RANDOM}
if [ -n "${SOAK:-}" ]; then kills=500 losses=20; else kills=25 losses=1; fi

worker_pids() {
    local pid
    for pid in $(grep -lszxF "XDG_RUNTIME_DIR=$dir/run" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
        [ "$(readlink "/proc/$pid/exe")" = "$BUILD/covey-domain-worker" ] && echo "$pid"
    done
}
no_workers() { [ -z "$(worker_pids)" ]; }

door() { # arguments: a program that is started by hand, as h0's
    COVEY_SOCKET=$(socket_of h0) "$BUILD/tests/chaos/door" "$@" >"$dir/out" 2>&1
    local status=$?
    grep -v '^call' "$dir/out" | sed 's/^/    /'
    [ $status -eq 0 ] && grep -q '^ok' "$dir/out"
}

tasks_die() { door tasks "$seed" $kills && within 15 no_workers; }

calls() { grep -c '^call' "$dir/out" 2>/dev/null; }

# Two of three other hosts, each some calls later and at any instant of one.
hosts_die() {
    local host before pid
    : >"$dir/out"
    door hosts "$seed" &
    pid=$!
    for host in h2 h1; do
        before=$(calls)
        until [ "$(calls)" -ge $((before + 3)) ] || ! kill -0 $pid 2>/dev/null; do sleep 0.1; done
        sleep "0.$((RANDOM % 10))"
        kill -KILL "$(daemon_pid $host)"
    done
    wait $pid && within 15 no_workers
}

caller_dies() {
    : >"$dir/out"
    COVEY_SOCKET=$(socket_of h0) "$BUILD/tests/chaos/door" hosts "$seed" >"$dir/out" 2>&1 &
    until [ "$(calls)" -ge 5 ]; do sleep 0.05; done
    [ -n "$(worker_pids)" ] || return 1
    kill -KILL $!
    wait $! 2>/dev/null
    within 15 no_workers
}

story "workers are killed" 3 tasks_die
for ((i = 0; i < losses; i++)); do story "hosts are lost" 3 hosts_die; done
story "the caller is killed" 3 caller_dies
finish
