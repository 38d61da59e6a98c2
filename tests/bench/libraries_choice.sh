#!/bin/bash
# libraries_choice.sh - how far the algorithm that a solver chooses is from the best of its own.
#
#   tests/bench/libraries_choice.sh
#
# Each program below measures all algorithms and the choice in turns, in one team, so that what changes
# on the machine meanwhile meets all of them. A line a size: the choice, its time over that of the best
# algorithm, and that over one host alone (local at one member), its milliseconds, by how much the first of
# these may be off, what was chosen before anything had run, and that over the best. In the end it is counted
# how many are within 5 % of the best, and how many more may be, by what the first figure may be off. Another one
# whose algorithm is within 5 % when it is forced, in the same turns, is counted for itself: what it takes more is
# what the same thing takes more or less from one time to the next. What is left is slower.
#
# From the environment, by default:
#   NETWORKS="host switch chain"   one host by shared memory; 8 hosts on one switch; 8 on a chain of four
#   LIBRARIES="sort fft gemm solve cholesky qr poisson"  RATE=100M (of a link)  HOSTS=8  MEMBERS=2 (of `host`)
#   SIZES_sort, SIZES_fft ...      four sizes each
#   OUT= (a folder: the lines are added to those that are there, and for each network a picture is drawn of what was
#   measured beside what was predicted before anything had run, NETWORK.png)
#   HOGS= (hosts that are loaded from outside, on switch and chain)  CPU= (each host's part of a processor there)
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${BUILD:-$root/build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
export BUILD=$build RATE=${RATE:-100M} HOSTS=${HOSTS:-8} MEMBERS=${MEMBERS:-2} HOGS=${HOGS:-}
export LIBRARIES=${LIBRARIES:-sort fft gemm solve cholesky qr poisson}
export SIZES_sort=${SIZES_sort:-10000 50000 250000 1000000}
export SIZES_fft=${SIZES_fft:-16x16x16 32x32x32 64x64x32 64x64x64}
export SIZES_gemm=${SIZES_gemm:-100 300 600 1200}
export SIZES_solve=${SIZES_solve:-100 300 600 1200} SIZES_cholesky=${SIZES_cholesky:-100 300 600 1200}
export SIZES_qr=${SIZES_qr:-100 300 600 1200}
export SIZES_poisson=${SIZES_poisson:-8x8x8 16x16x16 32x32x32 48x48x48}

# A program that takes sizes and prints "choice LIBRARY SIZE NAME OVER_BEST OVER_ONE" among other lines.
measure() { # NETWORK MEMBERS
    local library sizes
    for library in $LIBRARIES; do
        sizes=SIZES_$library
        # shellcheck disable=SC2086 # words
        covey run -n "$2" "$build/tests/bench/choice_times" "$library" ${!sizes} |
            sed "s/^/$1 /"
    done
}

chain() { # a topology of four switches in a row
    local s h
    echo "switch s0 s1 s2 s3"
    for h in $(seq 0 $((HOSTS - 1))); do echo "host h$h s$((h % 4)) $RATE"; done
    for s in 0 1 2; do echo "link s$s s$((s + 1)) $RATE"; done
}

in_lab() { # NETWORK OPTION...
    local hog
    for hog in $HOGS; do set -- "$@" --hog "$hog"; done
    [ -z "${CPU:-}" ] || set -- "$@" --cpu "$CPU" --pin
    "$root/tests/lab/vm.sh" "${@:2}" --ipv4-only -- "$0" --on "$1" "$HOSTS" 2> >(grep -v ' joined (' >&2)
}

case ${1:-} in
--on)
    measure "$2" "$3"
    exit
    ;;
'') ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/covey-choice.XXXXXX")
trap 'rm -rf "$work"' EXIT
status=0
for network in ${NETWORKS:-host switch chain}; do
    export COVEY_SOLVERS=$work/$network.solvers # of the daemons, whose environment the tasks have
    case $network in
    host)
        export COVEY_VM=choice-$$ PATH=$build:$PATH
        covey start --local 1 >/dev/null && measure host "$MEMBERS" || status=1
        covey halt >/dev/null
        unset COVEY_VM
        ;;
    switch) in_lab switch --hosts "$HOSTS" --rate "$RATE" || status=$? ;;
    chain)
        chain >"$work/topology"
        in_lab chain --topology "$work/topology" --rate "$RATE" || status=$?
        ;;
    *) echo "libraries_choice.sh: there is no network $network" >&2; status=2 ;;
    esac
done | tee "$work/lines"
awk '$2 != "choice" && ($6 == "ms,") {
         forced[$2, $3, $4] = $5
         if (!(($2, $3) in least) || $5 < least[$2, $3]) least[$2, $3] = $5
     }
     $2 == "choice" {
         n++
         over = $6
         if (over <= 1.05) good++
         else if (over - $9 <= 1.05) near++
         else if (forced[$3, $4, $5] <= 1.05 * least[$3, $4]) same++
         else print "slower: " $0
         if (over > worst) worst = over
         delete least[$3, $4]
         first += $11 <= 1.05
         alone += $5 != "local" && $7 > 1.03 && $7 - $9 > 1
     }
     END {
         if (n) printf "%d of %d choices are within 5 %% of the best, %d more may be, %d took an algorithm that is within 5 %% when forced; the worst takes %.2f of it; %d take more than 1.03 of one host; before anything had run %d were within 5 %%\n", good, n, near, same, worst, alone, first
     }' "$work/lines"
if [ -n "${OUT:-}" ]; then
    mkdir -p "$OUT" && cat "$work/lines" >>"$OUT/lines" && cd "$OUT" || exit 1
    cut -d' ' -f1 lines | sort -u | while read -r network; do
        gnuplot -e "network='$network'" "$here/choice.gp" && echo "drawn: $OUT/$network.png"
    done
fi
exit $status
