#!/bin/bash
# overlap.sh - how much of its communication a task hides behind its computation: covey bench overlap
# over each route between two hosts of a lab, beside Open MPI and MPICH, one after the other.
#
#   tests/bench/overlap.sh [--json]
#
# Needs root (tests/lab). From the environment, by default:
#   RATE=50M (of the hosts' links)  MTU=1500  CPU= (a share of a core for each host, such as 0.5)
#   ROUTES=tcp,udp,ether  SIZES=64K,256K,1M  ROUNDS=15
#   SYSTEMS="openmpi mpich"  ALONE= a command that runs it all, for machines that others use, too
#
# Each host has a processor of this machine for all that runs on it, the first host the first one: a
# task that computes, its progress thread and the daemon share it. Both MPIs poll while they wait, as
# they come. PIN=0 leaves the processors to the kernel. What the lab's switch and shapers need for each
# frame is taken from the same processors, above all a timer of a virtual processor: 16 ms for a face of
# 1 MiB each way in frames of 1500 bytes. At RATE=100M that is a sixth of the time in which the face
# travels, at 50M a twelfth; MTU=9000 has a sixth of the frames.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build}
build=$(cd "$build" && pwd) || exit 1
export BUILD=$build

besides() { # prints an argument a line
    local mpi
    for mpi in ${SYSTEMS:-openmpi mpich}; do
        [ -x "$build/tests/bench/overlap.$mpi" ] || continue
        printf -- '--beside\n%s=exec %s %s %s\n' "$mpi" "$here/mpi.sh" "$mpi" "$build/tests/bench/overlap.$mpi"
    done
}

if [ "${1:-}" = --inside ]; then
    mapfile -t beside < <(besides)
    exec covey bench overlap --route "${ROUTES:-tcp,udp,ether}" --host "$(tr ' ' ',' <<<"${LAB_HOSTS% }")" \
        --sizes "${SIZES:-64K,256K,1M}" --rounds "${ROUNDS:-15}" "${beside[@]}" "${@:2}"
fi
pin=(--pin)
[ "${PIN:-1}" = 1 ] || pin=()
conf=$(mktemp) || exit 1
trap 'rm -f "$conf"' EXIT
printf '[ether]\nenabled = yes\ndirect = yes\n' >"$conf"
${ALONE:-} "$here/../lab/vm.sh" --hosts 2 "${pin[@]}" --rate "${RATE:-50M}" --mtu "${MTU:-1500}" ${CPU:+--cpu "$CPU"} --conf "$conf" -- \
    "$here/overlap.sh" --inside "$@"
