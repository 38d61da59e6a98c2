#!/bin/bash
# timeout: 900
# fault_test.sh - the daemons of a VM of four local hosts are killed, and made to stand still, while
# tasks on all of them say what they are told (witness.c): a death is told to all within the fail
# timeout and a second; nobody is given up who stands still for half of it on a machine that has four
# times more to do than it can. SOAK=1 kills 100 times.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
witness=$BUILD/tests/fault/witness
rounds=1 stops=6
[ "${SOAK:-0}" = 1 ] && rounds=20 stops=40

start() { # fail timeout, hosts
    printf '[daemon]\nfail_timeout = %s\n' "$1" >"$dir/config/covey/covey.conf"
    covey start --local "$2" >/dev/null
}

# What the program on the last host reports is added to what this suite found.
witness() { # arguments
    COVEY_SOCKET=$(socket_of h3) covey run -n 1 --host h3 "$witness" "$@" 2>&1 | tee "$dir/out"
    add_sum "$dir/out"
}

# Five times, for then the host of the witness coordinates, which is not killed.
for ((round = 0; round < rounds; round++)); do
    expect "a VM of four hosts" start 0.5 4
    witness --kill 5 --timeout 0.5
    expect "it halts" covey halt
done

expect "a VM of four hosts" start 2 4
witness --stop $stops --timeout 2 --hogs $((4 * $(nproc)))
expect "it halts" covey halt

# Of two hosts, the second cannot tell the death of the first from being cut off: it ends its tasks.
has_gone() { ! kill -0 "$1" 2>/dev/null; } # PID
gone() { within 20 has_gone "$1"; }

is_up() { # HOST
    covey hosts --json | tr -d '\n' | grep -q "\"name\": \"$1\"[^}]*\"state\": \"up\""
}

told_down() { covey hosts --json | tr -d '\n' | grep -q "\"name\": \"$1\"[^}]*\"state\": \"down\""; } # HOST
is_down() { within 10 told_down "$1"; }

says_why() { grep -q 'neither the coordinator nor a majority can be reached; .* a VM of three goes on' "$dir/run/covey/$COVEY_VM/$1.log"; }

expect "a VM of two hosts" start 0.5 2
second=$(daemon_pid h1)
kill -9 "$second"
expect "the death of the second is told" is_down h1
expect "the first goes on" covey run --host h0 true
expect "the second comes back" covey add h1 --launcher local
expect "... and works" covey run --host h1 true
first=$(daemon_pid h0) second=$(daemon_pid h1)
COVEY_SOCKET=$(socket_of h1) covey run --host h1 sleep 1000 >"$dir/out" 2>&1 &
run=$!
until covey ps | grep -q 'sleep 1000'; do sleep 0.1; done
kill -9 "$first"
expect "after the death of the first the second ends" gone "$second"
expect "it says why in its log" says_why h1
wait $run
expect "who ran a program there is told" grep -q . "$dir/out"
cat "$dir/out"
finish
