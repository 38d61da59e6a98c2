#!/bin/bash
# timeout: 240
# kill_test.sh - kill -9 at random instants: of tasks that send, receive, spawn, enrol and wait at
# barriers over every route, and of daemons, the coordinating one among them.
#
# Survivors go on, get the right notices, and nothing is left: see chaos.c. SEED=N replays; SOAK=1
# kills thousands. TEST=text runs only the stories whose names contain the text.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
chaos=$BUILD/tests/chaos/chaos
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-kill-test.XXXXXX")
export XDG_RUNTIME_DIR=$dir/run COVEY_VM=chaos$$ HOME=$dir
unset COVEY_SOCKET COVEY_ROUTE
seed=${SEED:-$RANDOM$RANDOM}
mkdir -m 700 "$dir/run"
trap '"$BUILD/covey" halt 2>/dev/null; rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

printf '[daemon]\nfail_timeout = %s\n' "${FAIL_TIMEOUT:-2}" >"$dir/fast.conf"

start() { # hosts besides h0
    local names=() i
    "$BUILD/coveyd" --local --config "$dir/fast.conf" || return 1
    for ((i = 1; i <= $1; i++)); do names+=("h$i"); done
    "$BUILD/covey" add --launcher local "${names[@]}" >/dev/null
}

# What daemons that were killed left is removed by the last one that ends in order.
nothing_left() {
    local _
    for _ in {1..100}; do
        [ -z "$(find "$dir/run" -mindepth 1)" ] && return 0
        sleep 0.1
    done
    find "$dir/run" -mindepth 1
    return 1
}

story() { # name, own host, hosts besides h0, arguments of chaos...
    local name=$1 own=$2 hosts=$3 status=0
    shift 3
    case $name in *"${TEST:-}"*) ;; *) return ;; esac
    start "$hosts" || { bad "$name" "the VM does not start"; return; }
    COVEY_SOCKET=$dir/run/covey/$COVEY_VM/$own.sock "$chaos" "$@" || status=$?
    [ $status -eq 0 ] || tail -n 20 "$dir"/run/covey/*/*.log
    "$BUILD/covey" halt || status=1
    nothing_left || status=1
    if [ $status -eq 0 ]; then ok "$name"; else bad "$name" "replay with SEED=$seed"; fi
}

if [ -n "${SOAK:-}" ]; then kills=${KILLS:-10000} rounds=${ROUNDS:-500}; else kills=250 rounds=5; fi
story "tasks are killed" h0 1 tasks "$seed" $kills
story "daemons are killed" h4 4 daemons "$seed" $rounds 5
finish
