#!/bin/bash
# beside.sh - messages and collective calls of Covey beside those of Open MPI and MPICH, call by call.
#
#   tests/bench/beside.sh [--report FIGURES]
#
# On one host, that is this machine, and on two and four hosts of labs (tests/lab; needs root, without
# it one host is measured alone), with 2, 4, 8 and 16 tasks that take their hosts in turn. In every
# round each system makes all calls, one system after the other, from one source (beside_load.h). What
# is printed is the median of the rounds: the time of a call and the processor time that it takes all
# tasks together, in microseconds, and the ratio of the best MPI's time and Covey's: above 1 Covey is
# ahead. The figures go to OUT/figures.tsv: hosts, tasks, system, round, call, bytes, repetitions, time,
# processor time. --report prints the table of figures that are there already. All takes an hour or more,
# most of it with MPICH and more tasks than processors.
#
# From the environment, by default:
#   ROUNDS=3 HOSTS="1 2 4" TASKS="2 4 8 16" (those that are at least as many as the hosts)
#   SYSTEMS="covey openmpi openmpi+ mpich" (openmpi+: with mpi_yield_when_idle)
#   ONLY= some of: ping pings stream streams put barrier bcast reduce allreduce gather scatter allgather
#     alltoall reduce_scatter scan (pings, streams: of all pairs at once; put: one-sided, with a flush)
#   SIZES="1 1K 16K 64K 1M 16M" of messages between two tasks, "8 1K 64K 1M" of the others: of what a task
#     gives, or of a block where there is one for each task. Sums are of doubles: 1 is none of theirs
#   SAMPLE_MS=50 (a call is repeated for so long)  LIMIT_S=120 (of a system's calls in a round: no call is
#     begun after that)  RATE= MTU=1500 (of the labs' links)  MARKDOWN=1  OUT=$BUILD/beside
#
# Covey has each of these calls. Both MPIs are as Debian ships them, but for binding, which nobody does
# here. Open MPI yields by itself where a host has more ranks than processors: mpirun is told of as many as
# this machine has, shared out to the hosts, at least one for each. MPICH 4.0 never yields: its
# MPIR_CVAR_POLLS_BEFORE_YIELD does nothing there, and with more ranks than processors a barrier takes it
# tens of milliseconds. Hosts of a lab share a kernel, so UCX would take shared memory between them: it
# may take TCP alone; MPICH has shared memory of its own within a host. Hosts compute their checksums.
# They share its scheduler, too, which hosts do not: with autogroups it shares processors out to sessions,
# so a task that yields would not pass its processor to a task of another lab host until its host's slice
# is over. While a lab is measured there are none, for all systems alike.
# Daemons' processor time does not count: messages do not pass through them.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build}
build=$(cd "$build" && pwd) || exit 1
export BUILD=$build
export ROUNDS=${ROUNDS:-3} TASKS=${TASKS:-2 4 8 16} SYSTEMS=${SYSTEMS:-covey openmpi openmpi+ mpich}
export SAMPLE_MS=${SAMPLE_MS:-50} LIMIT_S=${LIMIT_S:-120}
export OUT=${OUT:-$build/beside}
PAIR_CALLS="ping pings stream streams put"
SUM_CALLS="reduce allreduce reduce_scatter scan"
CALLS="$PAIR_CALLS barrier bcast reduce allreduce gather scatter allgather alltoall reduce_scatter scan"
GRACE_S=60 # of the call that is under way at the limit, of beginning and end
export ONLY=${ONLY:-$CALLS}
AUTOGROUP=/proc/sys/kernel/sched_autogroup_enabled
grouped=
child=

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

is_one_of() { # WORD WORDS
    case " $2 " in *" $1 "*) ;; *) return 1 ;; esac
}

# In the background, for a signal is to end it at once.
run() { # COMMAND...
    "$@" </dev/null &
    child=$!
    wait "$child"
    local status=$?
    child=
    return $status
}

end_child() { # by way of timeout, or of what is inside a lab
    local pid=$child
    [ -n "$pid" ] || return
    [ ! -s "$work/inside" ] || pid=$(cat "$work/inside")
    kill -TERM "$pid" 2>/dev/null
    wait "$child"
}

# ---- One system ----------------------------------------------------------------------------------

cases() { # TASKS -> CALL:BYTES...
    local call size sizes
    for call in $ONLY; do
        [ "$call" != barrier ] || { echo barrier:0 && continue; }
        [ "$1" -gt 2 ] || case $call in pings | streams) continue ;; esac
        sizes=${SIZES:-8 1K 64K 1M}
        ! is_one_of "$call" "$PAIR_CALLS" || sizes=${SIZES:-1 1K 16K 64K 1M 16M}
        # shellcheck disable=SC2086 # words
        for size in $(numfmt --from=iec $sizes); do
            is_one_of "$call" "$SUM_CALLS" && [ $((size % 8)) != 0 ] || echo "$call:$size"
        done
    done
}

can_run() { # SYSTEM
    case $1 in
    covey) [ -x "$build/tests/bench/beside_covey" ] ;;
    *) command -v "mpirun.${1%+}" >/dev/null && [ -x "$build/tests/bench/beside.${1%+}" ] ;;
    esac
}

addresses() { # [SUFFIX] of the lab's hosts, with commas between
    "$here/../lab/lab" hosts | awk -v suffix="${1:-}" '{ printf "%s%s%s", (NR > 1 ? "," : ""), $5, suffix }'
}

# Sets `command`: what starts so many ranks, the hosts in turn.
command_of() { # SYSTEM HOSTS TASKS
    local slots=$((($(nproc) + $2 - 1) / $2))
    command=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
    case $1:$2 in
    covey:1) command=("$build/covey" run --no-input --tasks "$3") ;;
    covey:*) command=("$build/covey" run --no-input --tasks "$3" --host "$(tr ' ' ',' <<<"${LAB_HOSTS% }")") ;;
    openmpi*:1) command+=(mpirun.openmpi --host "localhost:$slots") ;;
    openmpi*) command+=(mpirun.openmpi --host "$(addresses ":$slots")" --mca plm_rsh_agent "$here/mpi_agent.sh"
        --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0) ;;
    mpich:1) command=(mpirun.mpich -n "$3") ;;
    mpich:*) command=(env "UCX_TLS=tcp,self" UCX_NET_DEVICES=eth0 UCX_LOG_LEVEL=error mpirun.mpich
        -launcher rsh -launcher-exec "$here/mpi_agent.sh" -iface eth0 -ppn 1 -hosts "$(addresses)" -n "$3") ;;
    esac
    case $1 in
    covey) command+=("$build/tests/bench/beside_covey") && return ;;
    openmpi*) command+=(-n "$3" --map-by node --bind-to none --oversubscribe) ;;
    esac
    [ "$1" != openmpi+ ] || command+=(--mca mpi_yield_when_idle 1)
    command+=("$build/tests/bench/beside.${1%+}")
}

# The figures are what counts: MPICH over UCX may not come back from MPI_Finalize.
measure() { # HOSTS TASKS SYSTEM ROUND
    local wanted had command
    mapfile -t wanted < <(cases "$2")
    [ ${#wanted[@]} != 0 ] || return 0
    command_of "$3" "$1" "$2"
    run timeout -k 10 $((LIMIT_S + GRACE_S)) "${command[@]}" "$SAMPLE_MS" "$LIMIT_S" "${wanted[@]}" \
        >"$work/out" 2>"$work/errors"
    awk -v OFS='\t' -v what="$1 $2 $3 $4" '
        BEGIN { gsub(" ", OFS, what) }
        /^[a-z_]+ [0-9]+ [0-9]+ [0-9.]+ [0-9.]+$/ { print what, $1, $2, $3, $4 * 1e6, $5 * 1e6 }' "$work/out" >"$work/lines"
    cat "$work/lines" >>"$OUT/figures.tsv"
    had=$(wc -l <"$work/lines")
    [ "$had" != ${#wanted[@]} ] || return 0
    echo "beside.sh: $3 with $2 tasks on $1 hosts gave $had figures of ${#wanted[@]} within $LIMIT_S s:" >&2
    tail -n 5 "$work/errors" >&2
    [ "$3" != covey ] || touch "$work/failed"
}

run_rounds() { # HOSTS
    local round tasks system
    for round in $(seq "$ROUNDS"); do
        for tasks in $TASKS; do
            [ "$tasks" -ge "$1" ] || continue
            echo "hosts: $1, tasks: $tasks, round $round of $ROUNDS" >&2
            for system in $SYSTEMS; do
                ! can_run "$system" || measure "$1" "$tasks" "$system" "$round"
            done
        done
    done
}

# ---- All -----------------------------------------------------------------------------------------

report() { # FIGURES
    awk -v markdown="${MARKDOWN:-}" -f "$here/table.awk" -f "$here/beside.awk" "$1"
}

run_here() {
    export COVEY_VM=beside-$$ XDG_RUNTIME_DIR=$work
    unset COVEY_SOCKET
    "$build/covey" start >/dev/null || return
    run_rounds 1
    "$build/covey" halt >/dev/null
    unset COVEY_VM
}

ungroup() { # as on hosts of their own; put back by regroup
    [ -w "$AUTOGROUP" ] && grouped=$(cat "$AUTOGROUP") && echo 0 >"$AUTOGROUP"
}

regroup() {
    [ -z "$grouped" ] || echo "$grouped" >"$AUTOGROUP"
    grouped=
}

run_in_lab() { # HOSTS
    ungroup
    run "$here/../lab/vm.sh" --hosts "$1" --no-offload ${RATE:+--rate "$RATE"} ${MTU:+--mtu "$MTU"} -- \
        "$0" --inside "$work" "$1" 2> >(grep -v ' joined (' >&2)
    local status=$?
    rm -f "$work/inside"
    regroup
    return $status
}

finish() {
    local status=$?
    trap '' INT TERM HUP # what is begun here is ended
    end_child
    regroup
    [ -z "${COVEY_VM:-}" ] || "$build/covey" halt >/dev/null 2>&1
    rm -rf "$work"
    exit "$status"
}

case ${1:-} in
'') ;;
--report) [ $# = 2 ] || usage; report "$2"; exit ;;
--inside) # WORK HOSTS, on the first host of a lab
    work=$2
    echo $$ >"$work/inside"
    trap 'trap "" INT TERM HUP; rm -f "$work/inside"; end_child; exit 143' INT TERM HUP
    run_rounds "$3"
    exit ;;
*) usage ;;
esac
for call in $ONLY; do
    is_one_of "$call" "$CALLS" || { echo "beside.sh: there is no call $call" >&2 && usage; }
done
for system in $SYSTEMS; do
    can_run "$system" || echo "beside.sh: $system is not there, and left out" >&2
done
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-beside.XXXXXX") && mkdir -p "$OUT" && : >"$OUT/figures.tsv" || exit 1
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
for hosts in ${HOSTS:-1 2 4}; do
    if [ "$hosts" = 1 ]; then
        run_here || exit
    elif [ "$(id -u)" = 0 ]; then
        run_in_lab "$hosts" || exit
    else
        echo "beside.sh: $hosts hosts need root, for network namespaces, and are left out" >&2
    fi
done
report "$OUT/figures.tsv"
[ ! -e "$work/failed" ]
