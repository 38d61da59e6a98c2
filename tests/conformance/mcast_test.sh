#!/bin/bash
# timeout: 120
# Multicasts over each route that suits them, to one host and to three.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

run() { # arguments
    count_lines "$*" < <(covey run -n 1 --host h0 "$BUILD/tests/conformance/mcast" "$@" 2>&1 || echo "not ok ended with $?")
}

spread_frames() { # those that the daemons made of fewer
    covey stats --json | tr -d ' \n' | grep -o '"name":"route.frames_spread","value":[0-9]*' |
        awk -F: '{ sum += $NF } END { print sum + 0 }'
}

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
for route in udp auto tcp; do
    run --route $route h1
    run --route $route h0 h1 h2
    [ $route = tcp ] || [ "$(spread_frames)" -gt 0 ] || bad "no message travelled once for several tasks"
done
finish
