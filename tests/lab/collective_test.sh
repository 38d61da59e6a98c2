#!/bin/bash
# timeout: 120
# Collective calls between hosts of a lab, over raw Ethernet and over what tasks choose: right, and
# ended by a death; over raw Ethernet calls are cast, also where frames are lost, and where one host
# has none they are right, too. Needs root.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
export BUILD
unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE COVEY_VM COVEY_COLLECTIVES
[ "$(id -u)" = 0 ] || { echo "needs root, for hosts in network namespaces"; exit 77; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-lab-collective.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

mkdir -p "$scratch/config/covey"
# No host fails here. On Linux 6.18 a task that yields gives up so much of its share that one which looks
# without yielding may have a processor alone for seconds, in which its daemon is not heard of.
printf '[ether]\nenabled = yes\n[daemon]\nfail_timeout = 60\n' >"$scratch/config/covey/covey.conf"
vm() { # arguments of vm.sh
    XDG_CONFIG_HOME=$scratch/config tests/lab/vm.sh "$@" >>"$scratch/out" 2>&1 || bad "the lab's virtual machine runs: $1 $2"
}

vm --hosts 3 -- bash -c '
    for route in ether auto; do
        "$1" --rounds 20 --route $route random 3 5
        "$1" --rounds 4 --route $route flight 4
        "$1" --route $route death 5 4 3
    done
    "$1" --rounds 20 --route ether cast 5
    "$1" --rounds 20 --route ether --host h2,h3 cast 3
    covey stats' - "$BUILD/tests/conformance/collective"
vm --plain h2 --hosts 3 -- "$BUILD/tests/conformance/collective" --rounds 30 random 5
# What the table takes on one medium, once the topology says that it is one.
medium() {
    { echo "segment s1 100M" && printf 'host h%d s1\n' 1 2 3 4; } >"$scratch/medium"
    XDG_CONFIG_HOME=$scratch/config tests/lab/vm.sh --hosts 4 --segment 100M -- bash -c '
        took() { covey bench collectives -n 4 --call allgather --sizes 1K,64K --rounds 1 --batch 2000 --json; }
        took && covey topology --use "$1" && took' - "$scratch/medium" >"$scratch/medium.out" 2>&1
}
chosen() { grep -o '"chosen": *"[^"]*"' "$scratch/medium.out" | cut -d'"' -f4 | xargs; }
chooses() { [ "$(chosen)" = "$1" ] || { echo "took: $(chosen)" && tail -n 5 "$scratch/medium.out"; return 1; }; }
expect "a lab with one medium runs" medium
expect "a topology that says so has long arrays cast" chooses "ring ring bruck ring ring ring bruck cast" # of 2 and 4

printf '[daemon]\nfault = loss=0.05,dup=0.02,reorder=0.05\n' >>"$scratch/config/covey/covey.conf"
vm --hosts 4 -- bash -c '
    "$1" --rounds 24 --route ether --host h2,h3,h4 random 4
    "$1" --rounds 24 --route ether --host h2,h3,h4 cast 4
    "$1" --rounds 24 --route ether --host h2,h3,h4,h1 cast 7
    "$1" --route ether death 4 3' - "$BUILD/tests/conformance/collective"
while read -r line; do
    case $line in
    "ok "*) ok "${line#ok }" ;;
    "not ok "*) bad "${line#not ok }" ;;
    esac
done <"$scratch/out"
sent=$(awk '$2 == "cast.messages_sent" { sum += $3 } END { print sum + 0 }' "$scratch/out")
expect "over raw Ethernet messages are cast ($sent)" test "$sent" -ge 40
finish
