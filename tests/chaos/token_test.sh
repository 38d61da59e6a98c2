#!/bin/bash
# timeout: 120
# token_test.sh - a token with 16 contenders on 4 hosts that lose 5 % of their datagrams, and its
# holder killed again and again: never two holders, and it is never lost. SOAK=1: 100,000 passes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/chaos/vm.sh
if [ -n "${SOAK:-}" ]; then passes=100000; else passes=2000; fi
mkdir -p "$dir/.config/covey"
echo "fault = loss=0.05" >>"$dir/fast.conf"
cp "$dir/fast.conf" "$dir/.config/covey/covey.conf" # of the hosts that are added

is_shown() { COVEY_SOCKET=$(socket_of h1) covey locks | grep -qE '^token +baton +'; }

token() {
    : >"$dir/log"
    cat "$dir"/run/covey/*/*.log | grep -q 'faults of what is sent: loss=0.05' || return 1
    COVEY_SOCKET=$(socket_of h1) "$BUILD/tests/chaos/token" $passes "$dir/log" "$@" &
    within 10 is_shown || return 1
    wait $!
}

# The first daemon leads: its tasks die with it, and another voter goes on with the token.
over_its_death() {
    local pid
    pid=$(daemon_pid h0)
    [ -n "$pid" ] && token "$pid" && ! kill -0 "$pid" 2>/dev/null
}

story "$passes passes, 5 % loss, the holder is killed" 3 token
story "$passes passes while the first daemon dies, too" 4 over_its_death
finish
