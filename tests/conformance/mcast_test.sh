#!/bin/bash
# timeout: 120
# Multicasts over each route that suits them, to one host and to three.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=${BUILD:-$PWD/build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export COVEY_VM=mcast-$$ PATH=$BUILD:$PATH
unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE
runtime=$(mktemp -d "${TMPDIR:-/tmp}/covey-mcast.XXXXXX")
export XDG_RUNTIME_DIR=$runtime
trap 'covey halt >/dev/null 2>&1; rm -rf "$runtime"' EXIT
trap 'exit 130' INT TERM

# Every line that the program prints is a test.
run() { # arguments
    local line
    while read -r line; do
        case $line in
        "ok "*) ok "$*: ${line#ok }" ;;
        "not ok "*) bad "$*: ${line#not ok }" ;;
        *" passed, 0 failed,"*) ;;
        *) echo "$line" ;;
        esac
    done < <(covey run -n 1 --host h0 "$BUILD/tests/conformance/mcast" "$@" 2>&1 || echo "not ok ended with $?")
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
