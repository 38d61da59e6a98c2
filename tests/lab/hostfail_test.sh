#!/bin/bash
# timeout: 240
# A host is cut off while members of a team on it and elsewhere are in the middle of collective
# calls, a scheduled all-to-all and exchanges among them, over each route; then the host that
# coordinates the VM is. All members elsewhere end with an error that says so, the host itself runs
# nothing on, and when it is back a team of all hosts works. Needs root. SOAK=1: eleven times.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
export BUILD
program=$BUILD/tests/conformance/collective
hosts=h1,h2,h3,h4
fail_timeout=2

# ---- within the lab, on its first host

becomes() { # host, which is watched; host, state
    within 20 eval "tests/lab/lab exec $1 covey hosts | grep -q '^$2 .* $3 '"
}
no_task() { ! tests/lab/lab ps | awk -v host="$1" -v program="$program" '$2 == host && $3 == program' | grep .; } # host
runs_nothing() { within 20 no_task "$1"; }

# The calls of a program on host $1 while $2 is cut off.
lose() { # host, host that is lost, options of the program
    local from=$1 lost=$2 name="$2 is cut off, ${*:3}" run said
    said=$(mktemp)
    tests/lab/lab exec "$from" covey run -n 1 --host "$from" "$program" --host $hosts --lost "$lost" "${@:3}" lost 8 >"$said" 2>&1 &
    run=$!
    within 20 grep -q '^begun' "$said" || bad "$name: it begins"
    tests/lab/lab cut "$lost"
    wait $run
    count_lines "$name" <"$said"
    expect "$name: some are told that the host failed" grep -q '^ended: host failed' "$said"
    expect "$name: it is down" becomes "$from" "$lost" down
    expect "$name: it runs nothing on" runs_nothing "$lost"
    tests/lab/lab heal "$lost"
    expect "$name: it can join again" tests/lab/lab exec "$from" covey add "$lost" --launcher exec \
        --template "$LAB_TEMPLATE" --coveyd "$BUILD/coveyd"
    count_lines "$name, and is back" < <(tests/lab/lab exec "$from" covey run -n 1 --host "$from" "$program" --host $hosts --rounds 3 random 8 2>&1)
    rm -f "$said"
}

if [ "${1:-}" = --inside ]; then
    printf 'switch s\nhost h1 s\nhost h2 s\nhost h3 s\nhost h4 s\n' >"$2/network"
    covey topology --use "$2/network"
    for ((seed = 1; seed <= ${SOAK:+1}1; seed++)); do
        for route in auto udp ${SOAK:+tcp} ether; do
            lose h1 h4 --seed "$seed" --route $route
        done
    done
    lose h2 h1 --seed 3
    finish
fi

# ---- outside

[ "$(id -u)" = 0 ] || { echo "needs root, for hosts in network namespaces"; exit 77; }
unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE COVEY_VM COVEY_COLLECTIVES COVEY_TOPOLOGY
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-lab-hostfail.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/config/covey"
printf '[daemon]\nfail_timeout = %s\n[ether]\nenabled = yes\n' $fail_timeout >"$scratch/config/covey/covey.conf"
XDG_CONFIG_HOME=$scratch/config tests/lab/vm.sh --hosts 4 -- bash tests/lab/hostfail_test.sh --inside "$scratch" 2>&1 | tee "$scratch/out"
add_sum "$scratch/out"
finish
