#!/bin/bash
# timeout: 240
# Collective calls on virtual hosts of this machine, over each route: against a computation in one
# place, several at once, with a death in the middle, and what is refused. SOAK=1: more of all.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

run() { # arguments
    count_lines "$*" < <(covey run -n 1 --host h0 "$BUILD/tests/conformance/collective" "$@" 2>&1 || echo "not ok ended with $?")
}

# The same where members on one host have memory in common, but cannot read each other's.
run_unread() { # arguments
    count_lines "unread: $*" < <(covey run -n 1 --host h0 env COVEY_SINGLE_COPY=no "$BUILD/tests/conformance/collective" "$@" 2>&1 || echo "not ok ended with $?")
}

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
if [ "${SOAK:-0}" = 1 ]; then
    for seed in 1 2 3 4 5; do
        for route in auto udp tcp; do
            run --seed $seed --rounds 300 --route $route random 1 2 3 4 5 6 7 8 9 16 17
            run --seed $seed --rounds 100 --route $route flight 1 2 3 5 8 9 17
            run --seed $seed --route $route death 9 8 7 6 5 4 3 2
        done
        run --seed $seed --rounds 300 --route shm --host h0 random 1 2 3 4 5 6 7 8 9 16 17
    done
else
    run --rounds 25 random 1 2 3 4 5 6 7 8 9
    run --rounds 8 random 16 17
    run --rounds 15 --route udp random 3 5
    run --rounds 15 --route tcp random 4 7
    run --rounds 25 --route shm --host h0 random 3 5 6
    run --rounds 40 --host h0 random 2 4
    run_unread --rounds 10 --host h0 random 3
    run --rounds 6 --host h0 flight 4
    run --host h0 death 5 3 2
    run --rounds 6 flight 1 2 5
    run death 5 4 3 2
fi
run --rounds 5 refuse 1 2 3 5
run --rounds 3 --host h0 refuse 3

# The first member reads the table; all must end when it cannot.
echo "no table" >"$dir/config/covey/collectives"
said=$(timeout 300 covey run -n 1 --host h0 "$BUILD/tests/conformance/collective" random 3 2>&1)
status=$?
if [ $status = 124 ]; then
    bad "a table that makes no sense leaves members waiting"
elif [ $status != 0 ] && [[ $said == *collectives:1:* ]]; then
    ok "a table that makes no sense ends all members"
else
    bad "a table that makes no sense: status $status: $said"
fi
finish
