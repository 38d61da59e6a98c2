#!/bin/bash
# timeout: 120
# Unstructured exchange between 16 tasks on four hosts: every algorithm and synchrony, teams of 1 to
# 9 and of 16 members, and the death of one.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

# An alltoallv by the longest first, among all collective calls, alone and several at once.
vectors() { # name, options of covey run, arguments
    count_lines "$1" < <(covey run -n 1 --host h0 "$BUILD/tests/conformance/collective" "${@:2}" 2>&1 || echo "not ok ended with $?")
}

echo 'alltoallv * * longest' >"$XDG_CONFIG_HOME/covey/collectives"
covey start --local 4 >/dev/null || bad "a virtual machine of four hosts starts"
run_members "by the route of each pair" exchange 16
run_members "by udp" exchange 16 --route udp
vectors "an alltoallv of the longest first" --rounds 40 random 1 2 5 8
vectors "several at once" --rounds 6 flight 2 5
vectors "a death in the middle" death 5 3
finish
