#!/bin/bash
# timeout: 120
# Collective calls between hosts of a lab, over raw Ethernet and over what tasks choose: right, and
# ended by a death; broadcasts and barriers over raw Ethernet are cast. Needs root.
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
printf '[ether]\nenabled = yes\n' >"$scratch/config/covey/covey.conf"
XDG_CONFIG_HOME=$scratch/config tests/lab/vm.sh --hosts 3 -- bash -c '
    for route in ether auto; do
        "$1" --rounds 20 --route $route random 3 5
        "$1" --rounds 4 --route $route flight 4
        "$1" --route $route death 5 4 3
    done
    "$1" --rounds 20 --route ether cast 5
    covey stats' - "$BUILD/tests/conformance/collective" >"$scratch/out" 2>&1 || bad "the lab's virtual machine runs"
while read -r line; do
    case $line in
    "ok "*) ok "${line#ok }" ;;
    "not ok "*) bad "${line#not ok }" ;;
    esac
done <"$scratch/out"
sent=$(awk '$2 == "cast.messages_sent" { sum += $3 } END { print sum + 0 }' "$scratch/out")
expect "over raw Ethernet messages are cast ($sent)" test "$sent" -ge 40
finish
