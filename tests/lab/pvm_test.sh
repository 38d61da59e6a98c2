#!/bin/bash
# timeout: 300
# Programs of PVM on hosts of a lab: Debian's, as they were built, on three; and one whose hosts are
# cut off from each other, for less than the fail timeout, and for longer. Needs root. SOAK=1: cut
# off for 30 s, where the fail timeout is a minute, as it is in a machine that pvmd starts.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
export BUILD
survive=$BUILD/tests/pvm3/survive

# ---- within the lab, on its first host

debians() {
    . tests/pvm3/examples.sh
    loads_into_programs
    examples "three lab hosts"
    together spmd 6 'token ring done' spmd
    together fspmd 6 'token ring done' fspmd
    for test in dbwtest ibwtest pbwtest rbwtest; do
        together $test 2 '100000 doubles received correctly' $test
    done
    mailboxes
    handlers
    timetable
    netpipe h2 "$PWD/tests/lab/lab" exec h2
    slang h2
}

ran_through() { # host that is cut off, seconds
    local said=$dir/$1 status program
    LD_LIBRARY_PATH=$BUILD/pvm3 timeout 300 "$survive" cut "$(($2 + 1))" h1 h2 h3 >"$said" 2>&1 &
    program=$!
    within 10 grep -q talking "$said"
    tests/lab/lab cut "$1"
    sleep "$2"
    tests/lab/lab heal "$1"
    wait $program
    status=$?
    cat "$said"
    return $status
}

short_cuts() {
    local host
    for host in h3 h1; do
        expect "a program goes on when $host was cut off for $1 s" ran_through $host "$1"
    done
    expect "and nobody was gone" eval '! covey hosts | grep -v " up "  | grep "^h"'
}

told() { # host that is cut off for good
    local said=$dir/told status program
    LD_LIBRARY_PATH=$BUILD/pvm3 timeout 300 "$survive" talk "$1" h1 h2 >"$said" 2>&1 &
    program=$!
    within 10 grep -q talking "$said"
    tests/lab/lab cut "$1"
    wait $program
    status=$?
    [ $status = 0 ] || cat "$said"
    return $status
}

runs_nothing() { ! tests/lab/lab ps | awk -v host="$1" '$2 == host' | grep .; } # host

cuts() { # seconds
    short_cuts "$1"
    expect "when h3 was cut off for longer, a program is told, and goes on" told h3
    tests/lab/lab heal h3
    expect "h3 runs nothing on" within 20 runs_nothing h3
}

if [ "${1:-}" = --inside ]; then
    dir=$2
    "${@:3}"
    finish
fi

# ---- outside

[ "$(id -u)" = 0 ] || { echo "needs root, for hosts in network namespaces"; exit 77; }
unshare --net --uts true 2>/dev/null || { echo "network namespaces are not allowed here"; exit 77; }
unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE COVEY_VM COVEY_COLLECTIVES COVEY_TOPOLOGY
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-lab-pvm.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

in_lab() { # fail timeout, function and arguments
    mkdir -p "$scratch/dir"
    printf '[daemon]\nfail_timeout = %s\n' "$1" >"$scratch/conf"
    tests/lab/vm.sh --hosts 3 --conf "$scratch/conf" -- bash tests/lab/pvm_test.sh --inside "$scratch/dir" "${@:2}" >"$scratch/out" 2>&1
    sed '/^h[0-9]* joined/d; $d' "$scratch/out"
    add_sum "$scratch/out"
    expect "the machine ends and leaves nothing" eval '! grep "^vm.sh:" "$scratch/out"'
}

in_lab 5 debians
if [ -n "${SOAK:-}" ]; then
    in_lab 60 short_cuts 30
else
    in_lab 7 cuts 2 # a slow machine beside load takes seconds for an answer
fi
finish
