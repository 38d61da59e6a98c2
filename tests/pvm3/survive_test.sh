#!/bin/bash
# survive_test.sh - what a PVM does not survive, or its programs: the death of the first daemon, many
# tasks on one host (200; with SOAK=1 1000), and a receiver that is slow, for which nobody may keep
# all that comes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
program=$BUILD/tests/pvm3/survive
export LD_LIBRARY_PATH=$BUILD/pvm3 PVM_WD=$dir

on() { # host, options of the program
    COVEY_SOCKET=$(socket_of "$1") timeout 300 "$program" "${@:2}"
}

peak_kib() { awk '$1 == "VmHWM:" { print $2 }' "/proc/$(daemon_pid "$1")/status"; } # host

covey start --local 3 --fail-timeout 2 >/dev/null || bad "a virtual machine starts"

# ---- a slow receiver ----

mib=200
kept_little() {
    local host
    for host in h0 h1; do
        [ "$(peak_kib $host)" -lt $((mib * 1024 / 2)) ] || { echo "$host: $(peak_kib $host) KiB" && return 1; }
    done
}
if sanitized "$BUILD/tests/pvm3/survive"; then
    skip "what a slow receiver keeps" "a sanitizer keeps what was freed"
else
    expect "a receiver that is slow gets everything, and while it slept it had not half of it" on h0 slow h1 $mib
    expect "nor had one that was given other work all the time" on h0 busy h1 $mib
    expect "nor had the daemons" kept_little
fi

# ---- many tasks ----

count=200
[ -z "${SOAK:-}" ] || count=1000
only_h2() { covey hosts | awk '$1 == "h2" { found = $4 == "up" } END { exit !found }'; }
expect "$count tasks on a host answer" on h2 many $count
expect "and its daemon is there" only_h2

expect "tasks on three hosts stand host by host" on h1 order 7

# ---- the first daemon dies ----

survives_first() {
    local talk result
    on h1 talk h0 h1 h2 >"$dir/talk" &
    talk=$!
    within 10 grep -q talking "$dir/talk" && kill -KILL "$(daemon_pid h0)"
    wait $talk
    result=$?
    [ $result = 0 ] || cat "$dir/talk"
    return $result
}
expect "a program goes on when the first daemon dies, and learns of it" survives_first
expect "and another one begins" on h1 many 2
finish
