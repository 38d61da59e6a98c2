#!/bin/bash
# timeout: 180
# bag_test.sh - while a bag of many items is worked on a third of the workers are killed, a whole
# host, and the daemon that holds the bag: each item has its result, once. SOAK=1: 100,000 items.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/chaos/vm.sh
seed=""
if [ -n "${SOAK:-}" ]; then items=100000 pause=2000; else items=5000 pause=5000; fi
workers=12 leader=h4

bag() { COVEY_SOCKET=$(socket_of "$1") timeout 300 "$BUILD/tests/chaos/bag" "${@:2}"; }
declare -A daemon tasks # by host: to find them takes longer than some of the work
note_processes() {
    local host pid
    for pid in $(daemons); do
        host=$(basename "$(readlink "/proc/$pid/fd/2")" .log)
        daemon[$host]=$pid
        tasks[$host]=$(pgrep -P "$pid" | tr '\n' ' ')
    done
}
has_begun() { covey bags --json | grep -q '"leased": [1-9]'; }

# Made on h1, which holds it, and led from a host that does not die.
under() { # what happens when half of it is done
    bag h1 make chaos || return 1
    : >"$dir/out"
    bag $leader lead chaos $items $workers --attach --sleep $pause >"$dir/out" 2>&1 &
    local lead=$!
    within 20 has_begun
    note_processes
    within 100 grep -q half "$dir/out" || { cat "$dir/out"; return 1; }
    "$@" || echo "nobody was killed" >>"$dir/out"
    wait $lead
    cat "$dir/out"
    grep -q "^ok $items" "$dir/out" && ! grep -q "nobody was" "$dir/out"
}

# shellcheck disable=SC2086
kill_third() { kill -9 $(printf '%s\n' ${tasks[*]} | shuf | head -n $((workers / 3))); }
# shellcheck disable=SC2086
kill_host() { kill -9 ${tasks[$1]} "${daemon[$1]}" 2>/dev/null; } # some were killed before
kill_daemon() { kill -9 "${daemon[$1]}"; }
all_three() {
    kill_third
    kill_host h2
    kill_daemon h1
}
holder_and_next() { # the first copy is on the next host: a second one is left
    kill_daemon h1
    kill_daemon h2
}

story "a third of the workers, a host, and the daemon that holds the bag" 4 under all_three
most_voters() { # three of five: what the VM had agreed on is lost, and with it who holds the bag
    kill_daemon h0
    kill_daemon h1
    kill_daemon h4
}

# tests/sim/bag_test.c has it many times
[ -z "${SOAK:-}" ] || story "the daemon that holds the bag and the first that has a copy" 4 under holder_and_next
leader=h6
story "the daemon that holds the bag, and all that the VM had agreed on" 6 under most_voters
finish
