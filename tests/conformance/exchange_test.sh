#!/bin/bash
# timeout: 120
# Unstructured exchange between 16 tasks on four hosts: every algorithm and synchrony, teams of 1 to
# 9 and of 16 members, and the death of one.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=${BUILD:-$PWD/build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export COVEY_VM=exchange-$$ PATH=$BUILD:$PATH
unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE
runtime=$(mktemp -d "${TMPDIR:-/tmp}/covey-exchange.XXXXXX")
export XDG_RUNTIME_DIR=$runtime XDG_CONFIG_HOME=$runtime/config
trap 'covey halt >/dev/null 2>&1; rm -rf "$runtime"' EXIT
trap 'exit 130' INT TERM

# The members end by themselves, but for one that kills itself: the status says nothing.
run() { # name, options of covey run
    local name=$1
    shift
    covey run -n 1 --host h0 "$@" "$BUILD/tests/conformance/exchange" 16 >"$runtime/out" 2>&1
    sed 's/^/    /' "$runtime/out"
    if grep -q ': *ok 16 members\|^ok 16 members' "$runtime/out" && ! grep -q 'not ok' "$runtime/out"; then
        ok "$name: $(grep -o 'ok 16 members.*' "$runtime/out")"
    else
        bad "$name"
    fi
}

# An alltoallv by the longest first, among all collective calls, alone and several at once.
vectors() { # name, options of covey run, arguments
    covey run -n 1 --host h0 "$BUILD/tests/conformance/collective" "${@:2}" >"$runtime/out" 2>&1
    if grep -q '^ok' "$runtime/out" && ! grep -q '^not ok' "$runtime/out"; then
        ok "$1"
    else
        sed 's/^/    /' "$runtime/out"
        bad "$1"
    fi
}

mkdir -p "$XDG_CONFIG_HOME/covey"
echo 'alltoallv * * longest' >"$XDG_CONFIG_HOME/covey/collectives"
covey start --local 4 >/dev/null || bad "a virtual machine of four hosts starts"
run "by the route of each pair"
run "by udp" --route udp
vectors "an alltoallv of the longest first" --rounds 40 random 1 2 5 8
vectors "several at once" --rounds 6 flight 2 5
vectors "a death in the middle" death 5 3
finish
