#!/bin/bash
# timeout: 200
# All-to-all by schedules over random trees, on virtual hosts of this machine: one task a host and
# several, over each route, with a death in the middle, and the VM's topology. SOAK=1: more trees.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

run() { # route, arguments
    count_lines "$*" < <(timeout 300 covey run -n 1 --host h0 --route "$1" \
        "$BUILD/tests/conformance/alltoall" "${@:2}" 2>&1 || echo "not ok ended with $?")
}

says() { # what it says, command...
    local words=$1
    shift
    "$@" 2>&1 | grep -qF -- "$words"
}
members() { # number, environment
    timeout 300 covey run -n 1 --host h0 env "${2:-_=}" "$BUILD/tests/conformance/alltoall" vm "$1" 1
}

printf 'switch s t\nlink s t 1G\nhost h0 s 1G\nhost h1 s 1G\nhost h2 t 1G\nhost h3 t 1G\n' >"$dir/four"
printf 'switch s\nhost h0 s\nhost h1 s\n' >"$dir/two"
printf 'switch s\nhost h0 s\nhost h1 t\n' >"$dir/wrong"

if [ "${SOAK:-0}" = 1 ]; then
    covey start --local 8 >/dev/null || bad "a virtual machine of eight hosts starts"
    for seed in {1..40}; do
        for route in auto tcp udp; do
            run $route check $((2 + seed % 24)) "$seed"
        done
        run auto die $((2 + seed % 12)) "$seed"
    done
    covey halt >/dev/null
fi
covey start --local 4 --topology "$dir/four" >/dev/null || bad "a virtual machine of four hosts starts"
for n in 2 3 5 9; do
    run auto check $n $n
done
run tcp check 4 2
run tcp check 16 5
run udp check 6 4
run auto die 4 1
run tcp die 7 2
run auto owe 3 0
run tcp owe 3 0
run udp owe 3 0
run tcp cut 3 0

expect "a team takes the VM's topology" says "scheduled: 4 phases, scheduled hosts" members 4
expect "and it is carried out" says "ok it is carried out" members 9
covey topology --use "$dir/two" 2>"$dir/said"
expect "another topology is set" test $? = 0
expect "hosts that it lacks are named" grep -qE 'h2.*h3' "$dir/said"
expect "a team with tasks there is not scheduled, and says why" says "unscheduled: the topology has no host h2" members 4
expect "a wrong one is refused" says "wrong:3:9" covey topology --use "$dir/wrong"
expect "the VM's is printed" says "# switches=1 hosts=2" covey topology --vm
expect "none is set" covey topology --use none
expect "then there is none" says "no topology" covey topology --vm
expect "a team is not scheduled" says "unscheduled: the VM has no topology" members 4
expect "the environment names one" says "scheduled: 4 phases" members 4 COVEY_TOPOLOGY="$dir/four"
expect "which must suit" says "the topology has no host h2" members 4 COVEY_TOPOLOGY="$dir/two"
covey halt >/dev/null
covey start --local 1 >/dev/null || bad "a virtual machine of one host starts"
run auto plain 3 0
run auto plain 5 0
finish
