#!/bin/bash
# many_test.sh - a VM of many virtual hosts on this machine: more than are started at once, and a
# start that fails. SOAK=1, for runs by hand: more than one request holds.
# timeout: 180
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

up() { [ "$(covey hosts | awk '$4 == "up"' | wc -l)" = "$1" ]; } # hosts
no_daemon() { [ -z "$(daemons)" ]; }

many() { # hosts
    expect "covey start --local $1" covey start --local "$1" >"$dir/out"
    expect "each of $1 hosts is said to have joined" test "$(grep -c ' joined ' "$dir/out")" = "$1"
    expect "$1 hosts are up" within 30 up "$1" # one that was slow to answer is a suspect for a moment
    covey halt >/dev/null 2>&1
    expect "all of $1 have ended" within 60 no_daemon
}

many 100
[ -z "${SOAK:-}" ] || for n in 1500 2000; do many "$n"; done

# ---- the nursery: it starts daemons, is missed by nobody, and leaves with the first daemon
nursery() { local pid; for pid in $(daemons); do grep -qx covey-nursery "/proc/$pid/comm" 2>/dev/null && echo "$pid"; done; }
no_nursery() { [ -z "$(nursery)" ]; }
sessions() { local pid; for pid in $(daemons); do cut -d' ' -f6 "/proc/$pid/stat"; done | sort -u | wc -l; }
words_of() { tr '\0' ' ' <"/proc/$(daemon_pid "$1")/cmdline"; }

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
expect "the first daemon has a nursery" test "$(nursery | wc -l)" = 1
expect "what was born there shows what it is" grep -q '^coveyd --join --local *$' <<<"$(words_of h2)"
expect "and is in a session of its own" test "$(sessions)" = 4
nurse=$(nursery)
kill -KILL "$nurse"
ended() { ! grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"; } # pid
within 10 ended "$nurse" # until then it may still be asked
expect "without a nursery a host starts by its program" covey add --launcher local x >/dev/null
expect "which shows that" grep -q '/coveyd --join --local' <<<"$(words_of x)"
covey halt >/dev/null
covey start --local 2 >/dev/null
kill -KILL "$(daemon_pid h0)"
expect "the nursery of a daemon that was killed ends" within 30 no_nursery
covey halt >/dev/null 2>&1
expect "and the other host, of two, too" within 60 no_daemon

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
