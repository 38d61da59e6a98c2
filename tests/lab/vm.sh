#!/bin/bash
# vm.sh - runs a command on the first host of a lab whose hosts form one Covey VM.
#
#   tests/lab/vm.sh [--hosts N | --topology FILE] [--rate R | --segment R] [--cpu SHARE]
#                   [--mtu BYTES] [--no-offload] [--wires] [--pin] [--hog HOST]... [--traffic FROM:TO:RATE]... [--conf FILE]
#                   [--name NAME] [--ipv4-only | --ipv6-only] [--encrypt] [--plain HOST]... [--keep]
#                   [--] COMMAND [ARG...]
#
# Brings the lab up, starts a daemon on its first host and the others through the exec launcher,
# runs COMMAND there, halts the VM and takes the lab down; the exit status is COMMAND's. COMMAND
# finds covey of $BUILD (build/) and the demos of $BUILD/apps first in PATH (sort is the demo then), COVEY_VM set,
# the names of the lab and its hosts in LAB and LAB_HOSTS, and in LAB_TEMPLATE what the exec
# launcher needs. A VM that cannot be started or halted, and a process or a socket that outlives
# halt, is a failure: status 1. Without root: status 77.
# --segment: the hosts share one medium of that rate. --hog, --traffic: load from outside, begun
# once the VM is up (see lab help). --conf: the daemons' covey.conf. A VM of a lab with --topology
# has that topology when the file has `contention` lines.
# --plain: that host has no raw Ethernet (not the first one).
# --keep leaves lab and VM as they are after COMMAND, for a look.
set -u

here=$(cd "$(dirname "$0")" && pwd)
lab=$here/lab
build=${BUILD:-$here/../../build}
build=$(cd "$build" 2>/dev/null && pwd) || { echo "vm.sh: nothing is built yet: make" >&2; exit 1; }
export LAB=vm-$$
keep=0
encrypt=
conf=
export LAB_PLAIN=
up=(--hosts 4)
limits=()
load=()
topology=

die() {
    echo "vm.sh: $*" >&2
    exit 1
}

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --hosts) up=(--hosts "${2:?}") && shift ;;
    --topology) up=("${2:?}") && topology=$2 && shift ;;
    --hog) load+=("hog ${2:?}") && shift ;;
    --traffic) load+=("traffic ${2//:/ }") && shift ;;
    --conf) conf=${2:?} && shift ;;
    --rate | --segment | --cpu | --mtu) limits+=("$1" "${2:?}") && shift ;;
    --name) LAB=${2:?} && shift ;;
    --ipv4-only | --ipv6-only | --no-offload | --wires | --pin) limits+=("$1") ;;
    --encrypt) encrypt=--encrypt ;;
    --plain) LAB_PLAIN="$LAB_PLAIN ${2:?}" && shift ;;
    --keep) keep=1 ;;
    --) shift && break ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || usage

on_first() { "$lab" exec "$first" "$@"; }

finish() {
    local status=$?
    trap - EXIT
    trap '' INT TERM HUP # what is begun here is ended
    if [ "$keep" = 1 ]; then
        echo "vm.sh: left up: LAB=$LAB COVEY_VM=$COVEY_VM PATH=$build:$build/apps:\$PATH $lab exec $first ..." >&2
    else
        "$lab" down || status=1
    fi
    exit "$status"
}

start_vm() {
    # shellcheck disable=SC2086 # one word a host
    on_first covey start --name "$COVEY_VM" --launcher exec --template "$LAB_TEMPLATE" \
        --coveyd "$build/coveyd" $encrypt $others || return
    [ -z "$topology" ] || ! grep -q '^[[:space:]]*contention' "$topology" || on_first covey topology --use "$topology"
}

start_load() {
    local words
    for words in "${load[@]}"; do
        # shellcheck disable=SC2086 # a command of lab
        "$lab" $words || return
    done
}

# The daemons find their covey.conf below a directory of the lab's.
use_conf() {
    local directory=/run/covey-lab/$LAB/conf
    mkdir -p "$directory/covey" && cp "$conf" "$directory/covey/covey.conf" || die "$conf cannot be read"
    export XDG_CONFIG_HOME=$directory
}

# What halt leaves running or lying about. A daemon may need a moment to end.
remains() {
    local _
    for _ in {1..20}; do
        [ -z "$("$lab" ps)" ] && break
        sleep 0.1
    done
    "$lab" ps
    find "/run/covey-lab/$LAB/run" -mindepth 2 ! -type d ! -name '*.log' # the log of a failure stays
}

halt_vm() {
    local left
    "$lab" calm # load from outside is none of what is left behind
    on_first covey halt >/dev/null || die "the VM did not halt"
    left=$(remains)
    [ -z "$left" ] || die "left behind by halt: $left"
}

"$lab" up "${up[@]}" "${limits[@]}" || exit
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
LAB_HOSTS=$("$lab" hosts | cut -d' ' -f1 | tr '\n' ' ')
export LAB_HOSTS COVEY_VM=$LAB PATH="$build/apps:$build:$PATH" LD_LIBRARY_PATH="$build"
export LAB_TEMPLATE="$lab exec --name $LAB {host} {command}"
[ -z "$LAB_PLAIN" ] || LAB_TEMPLATE="$here/plain.sh {host} {command}"
read -r first others <<<"$LAB_HOSTS"

[ -z "$conf" ] || use_conf
start_vm >&2 || die "the VM did not start"
start_load || die "the load was not begun"
on_first "$@"
status=$?
[ "$keep" = 1 ] || halt_vm
exit $status
