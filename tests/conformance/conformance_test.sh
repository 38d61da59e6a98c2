#!/bin/bash
# timeout: 600
# Runs the conformance suite over every route on a VM of two local hosts: shm, udp and tcp on one
# host and between two, and the automatic choice; then between two hosts in a VM that encrypts.
# SOAK=1: with all its sizes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
program=$BUILD/tests/conformance/conformance

covey start --local 2 >/dev/null || exit 1

# GiB that are offered to the sleeping receiver: all ten once a route, and there 1 GiB crosses another one;
# where a route is used again, or time is short, less. Sanitizers want many times the memory: smaller
# sizes there.
run() { # route host gib
    [ "${SOAK:-0}" = 1 ] || set -- "$1" "$2" 1
    sanitized "$program" && set -- "$1" "$2" 0
    echo "# route $1 to $2"
    # started by the console, so that what the other task prints is seen too
    covey run -n 1 --host h0 "$program" --route "$1" --host "$2" --gib "$3" 2>&1 |
        tee "$dir/out"
    add_sum "$dir/out"
}

run shm h0 10
run udp h1 10
run tcp h1 10
run auto h1 1
run auto h0 1
run udp h0 1
run tcp h0 1

# what the daemons needed at most
for pid in $(daemons); do
    echo "# peak memory of daemon $pid: $(awk '/VmHWM/ {print $2, $3}' "/proc/$pid/status")"
done

# the same between hosts in a VM that encrypts
covey halt >/dev/null && covey start --local 2 --encrypt >/dev/null ||
    bad "a virtual machine that encrypts starts"
run udp h1 1
run tcp h1 1
finish
