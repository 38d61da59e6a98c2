#!/bin/bash
# libraries_load.sh - what is chosen while hosts are loaded from outside: 2 of 8 hosts on one switch, by a program
# that takes all it can get; each host has a fifth of a processor.
#
#   tests/bench/libraries_load.sh
#
# Each library's choice runs on free hosts and then with the load, in one virtual machine. The ideal is the time on
# the free hosts times 8 over what remains of them: a task beside the load has half of its host. A line a size has
# the median times of both, what was chosen, and by how much the second one is over the ideal. tests/lab/bag.sh does
# this with bags. Needs root. ALL=1: all algorithms beside the choice under load, as libraries_choice.sh prints them.
#
# From the environment, by default: HOGS="h6 h7" CPU=0.2 RATE=100M HOSTS=8
#   LIBRARIES="sort fft gemm solve cholesky qr poisson"  SIZES_sort=4000000 SIZES_fft=128x128x128 SIZES_gemm=1200
#   SIZES_solve=2400 SIZES_cholesky=2400 SIZES_qr=1200 SIZES_poisson="64x64x64 128x128x128"
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export HOGS=${HOGS:-h6 h7} CPU=${CPU:-0.2} RATE=${RATE:-100M} HOSTS=${HOSTS:-8} BUILD=${BUILD:-$root/build}
[ -z "${ALL:-}" ] || NETWORKS=${NETWORKS:-switch} exec "$here/libraries_choice.sh"
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
SETTLE_S=12 # until the monitor has seen the load
declare -A size=([sort]=4000000 [fft]=128x128x128 [gemm]=1200 [solve]=2400 [cholesky]=2400 [qr]=1200 [poisson]="64x64x64 128x128x128")

measure() { # WHEN
    local library sizes
    for library in ${LIBRARIES:-sort fft gemm solve cholesky qr poisson}; do
        sizes=SIZES_$library
        # shellcheck disable=SC2086 # words
        covey run -n "$HOSTS" "$BUILD/tests/bench/choice_times" -c "$library" ${!sizes:-${size[$library]}} | sed "s/^/$1 /"
    done
}

if [ "${1:-}" = --inside ]; then
    measure free
    for host in $HOGS; do "$root/tests/lab/lab" hog "$host"; done
    sleep $SETTLE_S
    measure loaded
    "$root/tests/lab/lab" calm
    exit
fi
[ $# = 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-load.XXXXXX")
trap 'rm -rf "$work"' EXIT
export COVEY_SOLVERS=$work/solvers # of the daemons, whose environment the tasks have
"$root/tests/lab/vm.sh" --hosts "$HOSTS" --rate "$RATE" --cpu "$CPU" --ipv4-only --pin -- "$0" --inside 2> >(grep -v ' joined (' >&2) |
    awk -v hosts="$HOSTS" -v hogs="$(wc -w <<<"$HOGS")" '
        $2 != "chosen" { print; next }
        { key = $3 " " $4; took[$1, key] = $6; by[$1, key] = $5; range[$1, key] = $7 " to " $8 }
        $1 == "loaded" {
            ideal = took["free", key] * hosts / (hosts - hogs / 2)
            printf "%-22s free %10.3f ms (%s) by %s, loaded %10.3f ms (%s) by %s, ideal %10.3f ms, %+.0f %%\n", key,
                took["free", key], range["free", key], by["free", key], $6, range[$1, key], $5, ideal, 100 * ($6 / ideal - 1)
        }'
