#!/bin/bash
# leaving_test.sh - hosts leave a VM in which others have just died: the VM goes on, and who leaves
# waits for as long as it must.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
printf "[daemon]\nfail_timeout = 3\n" >"$dir/config/covey/covey.conf"

ended() { ! grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"; } # PID
states() { covey hosts | awk 'NR > 1 { print $4 }' | xargs; }
votes() { [ "$(grep -c ' votes$' "$dir/run/covey/$COVEY_VM/h0.log")" -ge "$1" ]; }
no_daemon() { [ -z "$(daemons)" ]; }
runs() { [ -n "$(COVEY_SOCKET=$(socket_of "$1") covey run hostname)" ]; } # HOST

start() { # hosts, voters
    covey start --local "$1" >"$dir/out" 2>&1 || { bad "$1 hosts start" "$(cat "$dir/out")"; finish; }
    within 60 votes $(($2 - 1)) || bad "$2 of $1 hosts vote"
}

stop() {
    covey halt >/dev/null 2>&1
    within 60 no_daemon
}

# ---- one of three is killed, and at once another is removed
start 3 3
kill -9 "$(daemon_pid h2)"
expect "a host is removed while another one is dead" covey remove h1
expect "the VM goes on without them" test "$(states)" = "up down down"
expect "and runs tasks" runs h0
stop

# ---- two of five are killed; one of the rest leaves by a signal, another is removed
start 5 5
leaver=$(daemon_pid h2)
kill -9 "$(daemon_pid h3)" "$(daemon_pid h4)"
kill "$leaver"
expect "a host is removed while two are dead and one leaves" covey remove h1
expect "the one that leaves ends" within 60 ended "$leaver"
expect "the VM goes on with the last one" test "$(states)" = "up down down down down"
stop

# ---- the coordinator leaves when another one has just died
start 3 3
leaver=$(daemon_pid h0)
kill -9 "$(daemon_pid h1)"
kill "$leaver"
expect "the coordinator ends" within 60 ended "$leaver"
expect "the last host runs tasks" within 30 runs h2
stop
expect "nothing is left" within 30 no_daemon
finish
