#!/bin/bash
# timeout: 600
# Runs the conformance suite over every route on a VM of two local hosts: shm, udp and tcp on one
# host and between two, and the automatic choice; then between two hosts in a VM that encrypts.
set -u
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
covey=$BUILD/covey
program=$BUILD/tests/conformance/conformance
vm=conformance-$$
export COVEY_VM=$vm
unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE
runtime=$(mktemp -d "${TMPDIR:-/tmp}/covey-conf.XXXXXX")
export XDG_RUNTIME_DIR=$runtime
passed=0 failed=0

finish() {
    "$covey" halt >/dev/null 2>&1
    rm -rf "$runtime"
}
trap finish EXIT
trap 'exit 130' INT TERM

"$covey" start --local 2 --name "$vm" >/dev/null || exit 1

# Sanitizers want many times the memory: smaller sizes there.
sanitized=$(nm "$program" 2>/dev/null | grep -c '__[at]san_init')

# GiB that are offered to the sleeping receiver: all ten once a route
run() { # route host gib
    [ "$sanitized" -gt 0 ] && set -- "$1" "$2" 0
    echo "# route $1 to $2"
    # started by the console, so that what the other task prints is seen too
    "$covey" run -n 1 --host h0 "$program" --route "$1" --host "$2" --gib "$3" 2>&1 |
        tee "$runtime/out"
    set -- $(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed.*/\1 \2/p' "$runtime/out")
    passed=$((passed + ${1:-0}))
    failed=$((failed + ${2:-1}))
}

run shm h0 10
run udp h1 10
run tcp h1 10
run auto h1 1
run auto h0 1
run udp h0 1
run tcp h0 1

# what the daemons needed at most
for pid in $(grep -lszx "XDG_RUNTIME_DIR=$runtime" /proc/[0-9]*/environ | cut -d/ -f3); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = coveyd ] &&
        echo "# peak memory of daemon $pid: $(awk '/VmHWM/ {print $2, $3}' "/proc/$pid/status")"
done

# the same between hosts in a VM that encrypts
"$covey" halt >/dev/null && "$covey" start --local 2 --encrypt --name "$vm" >/dev/null || failed=$((failed + 1))
run udp h1 1
run tcp h1 1
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
