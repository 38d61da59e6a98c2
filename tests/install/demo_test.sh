#!/bin/bash
# `make demo` leaves nothing behind when it is interrupted, at whatever moment.
# timeout: 180
set -u -m # each demo in a process group of its own, as a terminal would have it
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
export BUILD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

processes() { # what runs of the demo that was process $1
    grep -lsz "^COVEY_DEMO=$1\$" /proc/[0-9]*/environ | cut -d/ -f3
}

interrupt_after() { # seconds, signal
    local demo status left
    mkdir "$work/tmp"
    (cd "$work" && TMPDIR=$work/tmp exec "$OLDPWD/scripts/demo.sh") >"$work/out" 2>&1 </dev/null &
    demo=$!
    until grep -qs demo.sh "/proc/$demo/cmdline"; do # bash loses what it is sent between fork and exec
        sleep 0.01
    done
    sleep "$1"
    kill "-$2" -- "-$demo"
    wait $demo
    status=$?
    left=$(processes $demo; ls -A "$work/tmp"; ls -A "$work" | grep -vx -e tmp -e out -e mandel.png)
    rm -rf "$work/tmp" "$work/mandel.png"
    [ $status -gt 128 ] || echo "exit status $status"
    [ -z "$left" ] || echo "left: $left"
    [ $status -gt 128 ] && [ -z "$left" ]
}

for seconds in 0.05 0.15 0.6 1.5 4; do
    expect "Ctrl-C after $seconds s leaves nothing" interrupt_after $seconds INT
done
expect "SIGTERM after 1 s leaves nothing" interrupt_after 1 TERM
expect "a closed terminal after 1 s leaves nothing" interrupt_after 1 HUP
finish
