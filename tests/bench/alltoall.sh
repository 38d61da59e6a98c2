#!/bin/bash
# alltoall.sh - Figures 6, 7 and 8 of Faraj & Yuan again: all-to-all on their three networks, by Covey, by
# Open MPI and MPICH as they come, and by both with the generated MPI_Alltoall preloaded.
#
#   tests/bench/alltoall.sh [--predicted] [--report FIGURES]
#
# The networks are labs (tests/lab; needs root) of 24 hosts on one switch (a) and of 32 on four switches, in a
# star (b) and a chain (c). In every round each system runs all sizes once, one system after the other;
# what is printed is the median of the rounds: completion times, aggregate throughput and its part of
# the peak that the bottleneck link allows net of headers, and how much of this machine's processors was
# idle meanwhile: where that is not much, the machine was measured and not the network. Then rounds of
# a few sizes while another program keeps one processor busy. PNGs and the single figures go below
# OUT; --report draws and prints figures that are there already. All takes some 20 minutes, in pieces of
# at most two, most of them for 128 and 256 KiB; NETWORKS=a, then KEEP=1 NETWORKS=b and so on, and likewise
# ROUNDS=1 and some of SIZES, or ROUNDS=0 for a busy processor alone, do it in parts that add up to one report.
#
# --predicted: Covey's algorithms scheduled, ring (linear) and pairwise instead of these systems, each at
# all of SIZES="1 4 16 64 256", beside what covey predict says of them, from a calibration that covey calibrate
# makes in each lab and the skew with which the ranks began, with the deviations, their median and the worst, and a
# picture (predicted.png). The links are wires (lab up --wires), at a quarter of the usual rates: at those this machine's processors do not keep up
# with short blocks.
#
# From the environment, by default:
#   ROUNDS=3 SIZES="1 2 4 8 16 32 64 128 256" (KiB)
#   LONG_ROUNDS=2 LONG_SYSTEMS: all but plain; from 128 KiB on
#   BUSY_ROUNDS=3 (0: none) BUSY_SIZES="16 64" BUSY_NETWORKS=c BUSY_SYSTEMS: all but plain
#   NETWORKS="a b c"  SYSTEMS="covey plain openmpi openmpi+ mpich mpich+" (plain: Covey without the schedule)
#   RATE= (of a link; a: 10M, b: 40M, c: 50M; --predicted: a quarter of these)  OUT=$BUILD/alltoall
#   ALONE= a command that runs each piece, for machines that others use, too: flock FILE
#   KEEP=1 adds to the figures that are there
#
# The ranks of both MPIs wait by patience.c in the place of polling: they would use this machine's
# processors up, which do the work of 32 hosts. POLL=1 lets them poll. TCP is CUBIC, and segments leave
# a host two by two at most, so that the port queues of 128 KiB see what queues of switches see.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-$root/build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
export BUILD=$build
if [ "${1:-}" = --predicted ]; then
    shift
    export PREDICTED=1 SYSTEMS=${SYSTEMS:-scheduled ring pairwise} BUSY_ROUNDS=0
    export LONG_SYSTEMS=$SYSTEMS
    SIZES=${SIZES:-1 4 16 64 256}
    OUT=${OUT:-$build/alltoall-predicted}
fi
export PREDICTED=${PREDICTED:-}
export ROUNDS=${ROUNDS:-3} SIZES=${SIZES:-1 2 4 8 16 32 64 128 256}
export BUSY_ROUNDS=${BUSY_ROUNDS:-3} BUSY_SIZES=${BUSY_SIZES:-16 64} BUSY_NETWORKS=${BUSY_NETWORKS:-c}
export SYSTEMS=${SYSTEMS:-covey plain openmpi openmpi+ mpich mpich+}
export LONG_SYSTEMS=${LONG_SYSTEMS:-${SYSTEMS/plain/}} BUSY_SYSTEMS=${BUSY_SYSTEMS:-${SYSTEMS/plain/}}
export LONG_ROUNDS=${LONG_ROUNDS:-2}
LONG_KIB=128 SHORTEST_KIB=1
NETWORKS=${NETWORKS:-a b c}
export OUT=${OUT:-$build/alltoall}
case $OUT in /*) ;; *) OUT=$PWD/$OUT ;; esac

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

rate_of() { # NETWORK
    local rate
    case $1 in a) rate=10000 ;; b) rate=40000 ;; *) rate=50000 ;; esac
    [ -z "$PREDICTED" ] || rate=$((rate / 4))
    echo "${RATE:-${rate}K}"
}

# ---- On the first host of a lab ----------------------------------------------------------------

# Two segments in one packet of the kernel's, and the congestion control that Linux comes with.
set_hosts() {
    local host
    for host in $LAB_HOSTS; do
        nsenter --net="/run/netns/covey-lab.$LAB.$host" sh -c 'ip link set eth0 gso_max_size 3000 &&
            ip route change 10.77.0.0/16 dev eth0 congctl cubic' || return
    done
}

# Losses make a short call take now one time, now another.
short_calls=5
[ -z "$PREDICTED" ] || short_calls=21

rounds_of() { # KIB... -> ROUNDS:BYTES..., more than one where a call is short
    local kib
    for kib; do
        echo "$((kib <= 4 ? short_calls : kib <= 16 ? 2 : 1)):$((kib * 1024))"
    done
}

run_mpi() { # MPI ROUNDS:BYTES...
    local mpi=${1%+} preload=()
    [ -n "${POLL:-}" ] || preload+=(--preload "$build/tests/bench/patience.so")
    [ "$1" = "$mpi" ] || preload+=(--preload "$work/alltoall.$mpi.so")
    "$here/mpi.sh" "$mpi" "${preload[@]}" "$build/tests/bench/alltoall.$mpi" "${@:2}"
}

# The schedule is chosen by size where there is one, as it would be in a VM that has this topology. All
# take TCP.
run_covey() { # covey|plain ROUNDS:BYTES...
    unset COVEY_TOPOLOGY
    export COVEY_ROUTE=${COVEY_ROUTE:-tcp}
    [ "$1" = plain ] || export COVEY_TOPOLOGY="$work/topology"
    "$build/tests/bench/alltoall_covey" "${@:2}"
}

# The ring is what the table calls linear.
run_algorithm() { # scheduled|ring|pairwise ROUNDS:BYTES...
    echo "alltoall * * ${1/ring/linear}" >"$work/collectives"
    export COVEY_COLLECTIVES="$work/collectives"
    if [ "$1" = scheduled ]; then run_covey covey "${@:2}"; else run_covey plain "${@:2}"; fi
}

run_system() { # SYSTEM ROUNDS:BYTES...
    case $1 in
    covey | plain) run_covey "$@" ;;
    scheduled | ring | pairwise) run_algorithm "$@" ;;
    *) run_mpi "$@" ;;
    esac
}

# The figures are what counts: MPICH over UCX may not come back from MPI_Finalize.
measure() { # NETWORK LOAD SYSTEM ROUNDS:BYTES...
    local wanted had
    timeout 150 "$0" --on "$work" "${@:3}" >"$work/out" 2>"$work/errors" </dev/null
    wanted=$(printf '%s\n' "${@:4}" | awk -F: '{ n += $1 } END { print n }')
    had=$(grep -cE '^[0-9]+( [0-9.]+){3}$' "$work/out")
    [ "$had" = "$wanted" ] || {
        echo "alltoall.sh: $3 on network $1 gave $had figures of $wanted:" >&2
        tail -n 5 "$work/errors" >&2
    }
    grep -E '^[0-9]+( [0-9.]+){3}$' "$work/out" | sed "s|^|$1 $2 $3 |" >>"$OUT/figures"
}

takes_part() { # SYSTEM LOAD
    case " $SYSTEMS " in *" $1 "*) ;; *) return 1 ;; esac
    [ "$2" = quiet ] || case " $BUSY_SYSTEMS " in *" $1 "*) ;; *) return 1 ;; esac
    can_run "$1"
}

sizes_of() { # SYSTEM KIB...
    local kib
    for kib in "${@:2}"; do
        [ "$kib" -lt $LONG_KIB ] || case " $LONG_SYSTEMS " in *" $1 "*) ;; *) continue ;; esac
        echo "$kib"
    done
}

# A program that keeps one processor busy, as long as this script runs.
keep_busy() {
    taskset -c 0 sh -c 'while :; do :; done' &
    trap "kill $!" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

run_round() { # NETWORK LOAD KIB...
    local system sizes
    [ "$2" = quiet ] || keep_busy
    for system in $SYSTEMS; do
        takes_part "$system" "$2" || continue
        sizes=$(sizes_of "$system" "${@:3}")
        # shellcheck disable=SC2046,SC2086 # words
        [ -z "$sizes" ] || measure "$1" "$2" "$system" $(rounds_of $sizes)
    done
}

# What is measured in one go, a line each: short sizes together, a long one by itself. PREDICTED: the shortest three times, for
# what the first calls of a start lose decides about those behind them.
parts_of() { # KIB...
    local kib short=() shortest=()
    for kib; do [ "$kib" -ge $LONG_KIB ] || short+=("$kib"); done
    for kib; do [ "$kib" -gt $SHORTEST_KIB ] || shortest+=("$kib"); done
    [ ${#short[@]} = 0 ] || echo "${short[@]}"
    [ -z "$PREDICTED" ] || [ ${#shortest[@]} = 0 ] || printf '%s\n' "${shortest[*]}" "${shortest[*]}"
    for kib; do [ "$kib" -lt $LONG_KIB ] || echo "$kib"; done
}

run_rounds() { # NETWORK LOAD ROUNDS KIB...
    local round part
    for round in $(seq "$3"); do
        while read -r part; do
            [ "$round" -le "$LONG_ROUNDS" ] || [ "${part%% *}" -lt $LONG_KIB ] || continue
            echo "network $1, $2, round $round of $3: $part KiB" >&2
            # shellcheck disable=SC2086 # words
            ${ALONE:-} "$0" --round "$work" "$1" "$2" $part </dev/null
        done < <(parts_of "${@:4}")
    done
}

can_run() { # SYSTEM
    case $1 in
    covey | plain | scheduled | ring | pairwise) [ -x "$build/tests/bench/alltoall_covey" ] ;;
    *) command -v "mpirun.${1%+}" >/dev/null && [ -x "$build/tests/bench/alltoall.${1%+}" ] ;;
    esac
}

make_routines() { # TOPOLOGY
    local mpi
    "$build/covey" schedule --emit mpi "$1" >"$work/alltoall.c" || return
    for mpi in openmpi mpich; do
        can_run $mpi || continue
        "mpicc.$mpi" -O2 -w -shared -fPIC -o "$work/alltoall.$mpi.so" "$work/alltoall.c" || return
    done
}

calibrate() {
    export COVEY_CALIBRATION="$work/calibration"
    covey calibrate --host "$(awk '$1 == "host" && n++ < 2 { printf "%s%s", comma, $2; comma = "," }' "$work/topology")" \
        --route tcp >&2
}

skew_of() { # NETWORK ALGORITHM BYTES -> the median, in ms
    awk -v key="$1 quiet $2 $3" '$1 " " $2 " " $3 " " $4 == key { print 1000 * $7 }' "$OUT/figures" | /usr/bin/sort -g |
        awk '{ line[NR] = $1 } END { print line[int((NR + 1) / 2)] + 0 }'
}

# A line to the figures for each algorithm and size, such as those measured: what covey predict says.
predict() { # NETWORK
    local kib algorithm skew
    for kib in $SIZES; do
        for algorithm in $SYSTEMS; do
            skew=$(skew_of "$1" "$algorithm" $((kib * 1024)))
            covey predict alltoall --topology "$work/topology" --size "${kib}K" --skew "$skew" \
                --procs "$(grep -c ^host "$work/topology")" --json |
                sed -n "s/.*\"${algorithm}_s\": \([0-9.e-]*\).*/$1 predicted $algorithm $((kib * 1024)) \1 0 0/p"
        done
    done >>"$OUT/figures"
}

run_inside() { # NETWORK TOPOLOGY
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    awk -v rate="$(rate_of "$1")" '$1 == "host" || $1 == "link" { $4 = rate } 1' "$2" >"$work/topology"
    set_hosts || exit 1
    if [ -n "$PREDICTED" ]; then
        calibrate || exit 1
    else
        make_routines "$2" || exit 1
    fi
    # shellcheck disable=SC2086 # words
    run_rounds "$1" quiet "$ROUNDS" $SIZES
    [ -z "$PREDICTED" ] || predict "$1"
    [ "$BUSY_ROUNDS" -gt 0 ] || return 0
    case " $BUSY_NETWORKS " in *" $1 "*) ;; *) return 0 ;; esac
    # shellcheck disable=SC2086
    run_rounds "$1" busy "$BUSY_ROUNDS" $BUSY_SIZES
}

# ---- Outside -----------------------------------------------------------------------------------

# A line a network: NETWORK HOSTS LOAD BITS, LOAD of the bottleneck link in messages.
describe() {
    local network
    for network in $NETWORKS; do
        "$build/covey" schedule --check "$root/conf/topologies/faraj-$network" |
            sed -n "s/^# hosts=\([0-9]*\) .*bound=\([0-9]*\) .*/$network \1 \2 $(rate_of "$network")/p"
    done | sed 's/K$/000/; s/M$/000000/; s/G$/000000000/'
}

draw_predicted() {
    if command -v gnuplot >/dev/null; then
        (cd "$OUT" && gnuplot "$here/alltoall_predicted.gp" && echo "drawn: $OUT/predicted.png")
    else
        echo "gnuplot (Debian package gnuplot-nox) is not installed: nothing is drawn"
    fi
}

report() { # FIGURES
    describe >"$OUT/networks"
    if [ -n "$PREDICTED" ]; then
        awk -v out="$OUT" -f "$here/alltoall_predicted.awk" "$OUT/networks" "$1" || return
        draw_predicted
        return
    fi
    awk -v out="$OUT" -f "$here/alltoall.awk" "$OUT/networks" "$1" || return
    if command -v gnuplot >/dev/null; then
        (cd "$OUT" && for data in *.quiet.dat; do
            [ -e "$data" ] || continue
            gnuplot -e "network='${data%%.*}'" "$here/alltoall.gp" 2> >(grep -v 'no valid points' >&2) && echo "drawn: $OUT/${data%%.*}.png"
        done)
    else
        echo "gnuplot (Debian package gnuplot-nox) is not installed: nothing is drawn"
    fi
}

case ${1:-} in
'') ;;
--report) [ $# = 2 ] || usage; mkdir -p "$OUT" && report "$2"; exit ;;
--inside) # NETWORK TOPOLOGY, on the first host
    work=$(mktemp -d)
    run_inside "$2" "$3"
    exit ;;
--round) work=$2; run_round "${@:3}"; exit ;; # of all systems
--on) work=$2; run_system "${@:3}"; exit ;;   # one measurement
*) usage ;;
esac

[ "$(id -u)" = 0 ] || { echo "alltoall.sh: needs root, for hosts in network namespaces" >&2; exit 77; }
mkdir -p "$OUT" || exit
# On wires, for a packet in a shaper is still its socket's, which then sends nothing again, as no socket would of one that is in a switch.
wires=${PREDICTED:+--wires}
[ -n "${KEEP:-}" ] || : >"$OUT/figures"
for network in $NETWORKS; do
    topology=$root/conf/topologies/faraj-$network
    "$root/tests/lab/vm.sh" --topology "$topology" --rate "$(rate_of "$network")" --ipv4-only $wires -- \
        "$0" --inside "$network" "$topology" 2> >(grep -v ' joined (' >&2) || exit
done
report "$OUT/figures"
