#!/bin/bash
# mpi.sh - runs an MPI program on the hosts of a lab, one rank a host, for the comparison with Covey.
#
#   mpi.sh openmpi|mpich [--preload FILE]... [--hosts "HOST..."] PROGRAM [ARG...]
#                         runs PROGRAM on the hosts of lab $LAB, ranks in the order of --hosts
#                         (default: all, in the order of the topology)
#   mpi.sh agent HOST COMMAND...
#                         what mpirun calls in the place of ssh; HOST is an address
#
# mpirun itself runs on the first host. Ranks talk TCP over eth0 alone: no shared memory, for hosts of a
# lab share a kernel, but those of a network do not. Hosts go by their addresses, for the names of a
# lab cannot be looked up; a rank's processor name is its host's name in the topology.
set -u

here=$(cd "$(dirname "$0")" && pwd)
lab=$here/../lab/lab

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

addresses() { # the hosts', with commas between
    "$lab" hosts | awk -v order="$hosts" '
        { at[$1] = $5; names = names " " $1 }
        END {
            n = split(order ? order : names, name, " ")
            for (i = 1; i <= n; i++) printf "%s%s", at[name[i]], i < n ? "," : "\n"
        }'
}

run_openmpi() {
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    on_first mpirun.openmpi --mca plm_rsh_agent "$here/mpi_agent.sh" --mca plm_rsh_no_tree_spawn 1 \
        --mca plm_rsh_num_concurrent 64 --mca oob_tcp_if_include eth0 \
        --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca mpi_yield_when_idle 1 \
        --bind-to none --host "$list" ${preload:+-x LD_PRELOAD="$preload"} "$@"
}

run_mpich() {
    export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 UCX_LOG_LEVEL=error MPIR_CVAR_REQUEST_POLL_FREQ=1000000
    on_first mpirun.mpich -launcher rsh -launcher-exec "$here/mpi_agent.sh" -iface eth0 -bind-to none \
        -ppn 1 -hosts "$list" -n "$(tr ',' '\n' <<<"$list" | wc -l)" \
        ${preload:+-genv LD_PRELOAD "$preload"} "$@"
}

on_first() { exec "$lab" exec "$("$lab" at "${list%%,*}")" "$@"; }

: "${LAB:?names the lab}"
action=${1:-}
[ $# -gt 1 ] || usage
shift
case $action in
agent)
    host=$("$lab" at "$1")
    shift
    exec "$lab" exec "$host" "$*"
    ;;
openmpi | mpich) ;;
*) usage ;;
esac
hosts='' preload=''
while [ $# -gt 0 ]; do
    case $1 in
    --preload) preload=${preload:+$preload:}${2:?} && shift ;;
    --hosts) hosts=${2:?} && shift ;;
    -*) usage ;;
    *) break ;;
    esac
    shift
done
list=$(addresses)
"run_$action" "$@"
