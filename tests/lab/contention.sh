#!/bin/bash
# contention.sh - what keeping bulk messages out of contention is worth, on a segment of a lab: matmul by
# pipe-multiply-roll, as in sections 3.1 and 5 of Schmidt & Sunderam, and many senders to one.
#
#   tests/lab/contention.sh [--hosts 9] [--segment 100M | --rate 100M] [--mtu 9000] [--cpu 0.2] [--size N] [--runs N]
#                           [--route tcp] [--strategy phases|ahead|hierarchical|bag]
#                           [--modes "off token"] [--quantum 8M] [--burst BYTES] [--rounds N]
#                           [--blas LIBRARY]
#
# Every mode is a lab and a VM of its own (vm.sh). matmul multiplies N x N matrices on as many tasks
# as there are hosts, --runs times, each result checked by Freivalds' method; printed are total,
# computation, communication and idle seconds, each the mean of the tasks and of the runs. Then every
# other host sends BYTES to the first one at once, --rounds times (make tests builds what does it): mean
# and worst milliseconds of a burst are printed. --size 0 and --burst 0 leave one out. --modes are those
# of covey.conf, and "turns": receivers take bulk messages in turn. --rate instead of --segment: a
# switch with a port of that rate for each host.
#
# The paper's hosts took some 10 times as long for the product of two blocks as for sending one; OpenBLAS
# on a core of today takes a hundredth of it. So tasks compute with textbook.c, three loops, unless
# --blas names another library (or none: --blas ''). --strategy: phases is matmul --phases, the paper's; ahead is
# what matmul does unless told otherwise.
# Tables, in Markdown, go to standard output. Status 0: all ran, with right results; 77: no root.
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lab/demos.sh
. "$here/demos.sh"
programs=$(realpath "${BUILD:-$here/../../build}")/tests/conformance
hosts=9 medium="--segment 100M" mtu=9000 cpu=0.2 size=1944 runs=1 route=tcp strategy=phases modes="off token" quantum=8M
burst=262144 rounds=10 blas=textbook

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

granted() { covey stats | awk '$2 == "contention.granted" { sum += $3 } END { print sum + 0 }'; }

run_matmul() { # MODE
    local json=$work/$1.json options=(--tasks "$hosts") before
    [ "$strategy" = ahead ] || options+=("--$strategy")
    before=$(granted)
    matmul "${options[@]}" --size "$size" --route "$route" --baseline 0 --json --check --freivalds >"$json" || return 1
    echo "$1 $(figure total_s "$json") $(figure computation_s "$json") $(figure communication_s "$json")" \
        "$(figure idle_s "$json") $(($(granted) - before))" | tee -a "$work/figures" >&2
}

run_matmuls() { # MODE
    local i
    for ((i = 0; i < runs; i++)); do
        run_matmul "$1" || return
    done
}

run_burst() { # MODE
    echo "$1 $(covey run --host "${LAB_HOSTS%% *}" --route "$route" "$programs/bulk" "$rounds" burst "$burst" | sed -n 's/^burst //p')" |
        tee -a "$work/bursts" >&2
}

run_all() { # MODE
    [ "$size" = 0 ] || run_matmuls "$1" || { echo "contention.sh: matmul with $1 failed" >&2 && return 1; }
    [ "$burst" = 0 ] || run_burst "$1"
}

conf_of() { # MODE
    echo "[contention]"
    echo "quantum = $quantum"
    if [ "$1" = turns ]; then echo "turns = yes"; else echo "mode = $1"; fi
}

print_bursts() {
    printf '\n%s bytes from each of the others to one of %s hosts (%s), %s, %s bursts\n\n' \
        "$burst" "$hosts" "${medium#--}" "$route" "$rounds"
    echo "| contention | mean ms | worst ms |"
    echo "|---|---:|---:|"
    awk '{ printf "| %s | %.1f | %.1f |\n", $1, $2, $3 }' "$work/bursts"
}

print_table() {
    printf 'matmul N = %s (%s) on %s hosts of %s core (%s), MTU %s, %s, quantum %s, %s runs\n\n' \
        "$size" "$strategy" "$hosts" "$cpu" "${medium#--}" "$mtu" "$route" "$quantum" "$runs"
    echo "| contention | total s | least to most | computation s | communication s | idle s | total, of the first | grants |"
    echo "|---|---:|---:|---:|---:|---:|---:|---:|"
    awk '
        !($1 in n) { order[++modes] = $1; least[$1] = most[$1] = $2 }
        { n[$1]++; total[$1] += $2; computed[$1] += $3; talked[$1] += $4; idle[$1] += $5; grants[$1] += $6 }
        $2 < least[$1] { least[$1] = $2 }
        $2 > most[$1] { most[$1] = $2 }
        END {
            for (i = 1; i <= modes; i++) {
                m = order[i]
                printf "| %s | %.2f | %.2f to %.2f | %.2f | %.2f | %.2f | %.2f | %d |\n", m, total[m] / n[m], least[m], most[m],
                    computed[m] / n[m], talked[m] / n[m], idle[m] / n[m], (total[m] / n[m]) / (total[order[1]] / n[order[1]]), grants[m] / n[m]
            }
        }' "$work/figures"
}

while [ $# -gt 0 ]; do
    case $1 in
    --hosts) hosts=${2:?} && shift ;;
    --segment | --rate) medium="$1 ${2:?}" && shift ;;
    --mtu) mtu=${2:?} && shift ;;
    --cpu) cpu=${2:?} && shift ;;
    --size) size=${2:?} && shift ;;
    --runs) runs=${2:?} && shift ;;
    --strategy) strategy=${2:?} && shift ;;
    --route) route=${2:?} && shift ;;
    --modes) modes=${2:?} && shift ;;
    --quantum) quantum=${2:?} && shift ;;
    --burst) burst=${2:?} && shift ;;
    --rounds) rounds=${2:?} && shift ;;
    --blas) blas=${2?} && shift ;;
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

preload=$(blas_preload "$blas" "$work") || exit 1

status=0
for mode in $modes; do
    conf_of "$mode" >"$work/conf"
    # shellcheck disable=SC2086 # medium is an option and its value
    LD_PRELOAD=$preload "$here/vm.sh" --hosts "$hosts" $medium --mtu "$mtu" --cpu "$cpu" --conf "$work/conf" -- \
        bash "$here/contention.sh" --hosts "$hosts" --size "$size" --runs "$runs" --strategy "$strategy" --route "$route" \
        --burst "$burst" --rounds "$rounds" --run "$work" "$mode"
    ended=$?
    [ $ended != 77 ] || exit 77
    [ $ended = 0 ] || status=1
done
[ ! -f "$work/figures" ] || print_table
[ ! -f "$work/bursts" ] || print_bursts
exit $status
