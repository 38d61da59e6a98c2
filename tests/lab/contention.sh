#!/bin/bash
# contention.sh - what keeping bulk messages out of contention is worth, on a segment of a lab: matmul by
# pipe-multiply-roll, as in sections 3.1 and 5 of Schmidt & Sunderam, and many senders to one.
#
#   tests/lab/contention.sh [--hosts 9] [--segment 100M] [--cpu 0.2] [--size N] [--route tcp]
#                           [--modes "off token"] [--quantum 1M] [--burst BYTES] [--rounds N]
#                           [--blas LIBRARY]
#
# Every mode is a lab and a VM of its own (vm.sh). matmul multiplies N x N matrices on as many tasks
# as there are hosts, each result checked by Freivalds' method; printed are total, computation,
# communication and idle seconds, means of the tasks. Then every other host sends BYTES to the first
# one at once, --rounds times (make tests builds what does it): mean and worst milliseconds of a burst
# are printed. --size 0 and --burst 0 leave one out. --modes are those of covey.conf, and "turns":
# receivers take bulk messages in turn. --blas preloads a slower library (libblas.so.3, the
# reference), with which a fifth of a core is nearer to a workstation of then.
# Tables, in Markdown, go to standard output. Status 0: all ran, with right results; 77: no root.
set -u

here=$(cd "$(dirname "$0")" && pwd)
programs=$(realpath "${BUILD:-$here/../../build}")/tests/conformance
hosts=9 segment=100M cpu=0.2 size=1536 route=tcp modes="off token" quantum=1M burst=262144 rounds=10 blas=

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# A top-level number of the JSON that the demo prints: two blanks deep.
figure() { # KEY FILE
    sed -n 's/^  "'"$1"'": \(-\{0,1\}[0-9][0-9.eE+-]*\),\{0,1\}$/\1/p' "$2"
}

granted() { covey stats | awk '$2 == "contention.granted" { sum += $3 } END { print sum + 0 }'; }

run_matmul() { # MODE
    local json=$work/$1.json
    matmul --tasks "$hosts" --size "$size" --route "$route" --json --check --freivalds >"$json" || return 1
    echo "$1 $(figure total_s "$json") $(figure computation_s "$json") $(figure communication_s "$json")" \
        "$(figure idle_s "$json") $(granted)" | tee -a "$work/figures" >&2
}

run_burst() { # MODE
    echo "$1 $(covey run --route "$route" "$programs/bulk" "$rounds" burst "$burst" | sed -n 's/^burst //p')" |
        tee -a "$work/bursts" >&2
}

run_all() { # MODE
    [ "$size" = 0 ] || run_matmul "$1" || { echo "contention.sh: matmul with $1 failed" >&2 && return 1; }
    [ "$burst" = 0 ] || run_burst "$1"
}

conf_of() { # MODE
    echo "[contention]"
    echo "quantum = $quantum"
    if [ "$1" = turns ]; then echo "turns = yes"; else echo "mode = $1"; fi
}

print_bursts() {
    printf '\n%s bytes from each of the others to one of %s hosts, %s, %s bursts\n\n' "$burst" "$hosts" "$route" "$rounds"
    echo "| contention | mean ms | worst ms |"
    echo "|---|---:|---:|"
    awk '{ printf "| %s | %.1f | %.1f |\n", $1, $2, $3 }' "$work/bursts"
}

print_table() {
    printf 'matmul N = %s on %s hosts of %s core, one segment of %sbit/s, %s, quantum %s\n\n' \
        "$size" "$hosts" "$cpu" "$segment" "$route" "$quantum"
    echo "| contention | total s | computation s | communication s | idle s | total, of the first | grants |"
    echo "|---|---:|---:|---:|---:|---:|---:|"
    awk '{ first = first ? first : $2
        printf "| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %d |\n", $1, $2, $3, $4, $5, $2 / first, $6 }' "$work/figures"
}

while [ $# -gt 0 ]; do
    case $1 in
    --hosts) hosts=${2:?} && shift ;;
    --segment) segment=${2:?} && shift ;;
    --cpu) cpu=${2:?} && shift ;;
    --size) size=${2:?} && shift ;;
    --route) route=${2:?} && shift ;;
    --modes) modes=${2:?} && shift ;;
    --quantum) quantum=${2:?} && shift ;;
    --burst) burst=${2:?} && shift ;;
    --rounds) rounds=${2:?} && shift ;;
    --blas) blas=${2:?} && shift ;;
    --run) work=${2:?} && run_all "${3:?}" && exit 0 || exit 1 ;; # inside a VM, see below
    *) usage ;;
    esac
    shift
done

export OPENBLAS_NUM_THREADS=1
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-contention.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

status=0
for mode in $modes; do
    conf_of "$mode" >"$work/conf"
    LD_PRELOAD=$blas "$here/vm.sh" --hosts "$hosts" --segment "$segment" --cpu "$cpu" --conf "$work/conf" -- \
        bash "$here/contention.sh" --hosts "$hosts" --size "$size" --route "$route" --burst "$burst" --rounds "$rounds" \
        --run "$work" "$mode"
    ended=$?
    [ $ended != 77 ] || exit 77
    [ $ended = 0 ] || status=1
done
[ ! -f "$work/figures" ] || print_table
[ ! -f "$work/bursts" ] || print_bursts
exit $status
