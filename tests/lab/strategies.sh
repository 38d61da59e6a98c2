#!/bin/bash
# strategies.sh - four ways to multiply matrices on a segment of a lab, predicted and measured, as Figure 15 of Schmidt
# & Sunderam: pipe-multiply-roll (Figure 3(b), phase by phase), the same with tokens, in two levels, and out of a bag.
#
#   tests/lab/strategies.sh [--hosts 9] [--segment 100M] [--mtu 9000] [--cpu 0.2] [--size N] [--route tcp]
#                           [--grid Q] [--quantum 8M] [--runs N] [--blas LIBRARY]
#                           [--strategies "usual token hierarchical bag"] [--calibration FILE]
#                           [--keep DIR]
#
# Two labs (vm.sh), one without and one with `mode = token`: covey calibrate measures the first one, unless FILE, of an
# earlier run, is there. matmul then multiplies N x N matrices on all hosts in each way, --runs times, in two
# levels on --grid x --grid tasks; each result is checked by Freivalds' method. They compute with textbook.c unless
# --blas names another library, or none (--blas ''): a product of two blocks then takes several times as long as
# sending one, as in the paper, and not a fraction.
# --keep: what the demo printed stays in DIR, with strategies.png; runs that are there already count, too.
# The table, in Markdown, goes to standard output: the way that is the smallest part off stands last.
# The status is 0 when every run ended well with the right result. Without root: status 77.
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lab/demos.sh
. "$here/demos.sh"
hosts=9 segment=100M mtu=9000 cpu=0.2 size=1944 route=tcp grid=6 quantum=8M runs=1 calibration='' keep='' blas=textbook
strategies="usual token hierarchical bag"
declare -A title=([usual]="pipe-multiply-roll" [token]="the same with tokens" [hierarchical]="in two levels" [bag]="out of a bag")

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# ---- inside a VM, on its first host -----------------------------------------------------------

arguments_of() {
    case $1 in
    usual | token) echo "--phases --tasks $hosts" ;;
    hierarchical) echo "--hierarchical --grid $grid" ;;
    bag) echo "--bag --tasks $hosts" ;;
    esac
}

run_strategy() { # STRATEGY
    local turn
    for ((turn = 0; turn < runs; turn++)); do
        # shellcheck disable=SC2046 # one word an argument
        matmul --size "$size" --route "$route" --baseline 0 --json --check --freivalds $(arguments_of "$1") >"$work/run" ||
            { echo "strategies.sh: ${title[$1]} failed" >&2 && return 1; }
        is_predicted "$work/run" || return
        cat "$work/run" >>"$work/$1.json"
    done
}

run_all() { # STRATEGY...
    local strategy
    [ -f "$COVEY_CALIBRATION" ] || covey calibrate --route "$route" >&2 || return 1
    for strategy in "$@"; do
        run_strategy "$strategy" || return 1
    done
}

# ---- the whole --------------------------------------------------------------------------------

figures() { # "off" without its sign, strategy, and what figures_of prints
    local strategy
    for strategy in usual token hierarchical bag; do
        [ ! -s "$work/$strategy.json" ] || echo "$strategy $(figures_of "$work/$strategy.json")"
    done | awk '{ off = $3 > 0 ? $7 / $3 - 1 : 0; print (off < 0 ? -off : off), $0 }'
}

print_table() {
    printf 'matmul N = %s on %s hosts of %s core, one segment of %sbit/s, MTU %s, %s\n\n' "$size" "$hosts" "$cpu" "$segment" "$mtu" "$route"
    echo "| | measured s | predicted s | off by | computation | communication | idle |"
    echo "|---|---:|---:|---:|---:|---:|---:|"
    figures | sort -k1,1gr | while read -r _ strategy _ total computation communication idle predicted _; do
        awk -v title="${title[$strategy]}" -v m="$total" -v p="$predicted" -v a="$computation" -v b="$communication" -v c="$idle" 'BEGIN {
            printf "| %s | %.2f | %.2f | %+.0f %% | %.2f | %.2f | %.2f |\n", title, m, p, 100 * (p / m - 1), a, b, c }'
    done
}

draw() {
    command -v gnuplot >/dev/null || { echo "strategies.sh: no picture without gnuplot" >&2 && return; }
    {
        echo '$times << EOD'
        figures | while read -r _ strategy _ total _ _ _ predicted _; do
            echo "\"${title[$strategy]}\" $predicted $total $(awk -v m="$total" -v p="$predicted" 'BEGIN { printf "\"%+.0f %%\"", 100 * (p / m - 1) }')"
        done
        cat <<PLOT
EOD
set terminal pngcairo size 1000,560 font 'sans,12' background '#FFFFFF'
set output '$work/strategies.png'
set encoding utf8; set border 3; set tics out nomirror; set grid ytics lc rgb '#DDDDDD'
set title 'matmul, N = $size, $hosts hosts on a segment of ${segment}bit/s' noenhanced
set ylabel 'seconds'; set yrange [0:*]; set offsets 0, 0, graph 0.1, 0; set key top left Left reverse
set style data histograms; set style histogram clustered gap 1.2; set boxwidth 0.9
plot \$times using 2:xtic(1) lc rgb '#000000' fs empty border rgb '#000000' title 'predicted', \\
     '' using 3 fs solid 0.8 lc rgb '#0072B2' title 'measured', \\
     '' using 0:(\$2 > \$3 ? \$2 : \$3):4 with labels offset 0,0.8 notitle
PLOT
    } | gnuplot >&2
}

arguments=("$@")
inside=
while [ $# -gt 0 ]; do
    case $1 in
    --hosts) hosts=${2:?} && shift ;;
    --segment) segment=${2:?} && shift ;;
    --mtu) mtu=${2:?} && shift ;;
    --cpu) cpu=${2:?} && shift ;;
    --size) size=${2:?} && shift ;;
    --route) route=${2:?} && shift ;;
    --grid) grid=${2:?} && shift ;;
    --quantum) quantum=${2:?} && shift ;;
    --runs) runs=${2:?} && shift ;;
    --blas) blas=${2?} && shift ;;
    --strategies) strategies=${2?} && shift ;;
    --calibration) calibration=${2:?} && shift ;;
    --keep) keep=${2:?} && shift ;;
    --inside) inside=${2:?} && work=${3:?} && shift 2 ;; # a VM, see below
    *) usage ;;
    esac
    shift
done

if [ -n "$inside" ]; then
    export COVEY_CALIBRATION=${calibration:-$work/calibration}
    # shellcheck disable=SC2086 # one word a strategy
    run_all $inside
    exit
fi

export OPENBLAS_NUM_THREADS=1
work=${keep:-$(mktemp -d "${TMPDIR:-/tmp}/covey-strategies.XXXXXX")}
mkdir -p "$work" || exit 1
[ -n "$keep" ] || trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
preload=$(blas_preload "$blas" "$work") || exit 1
status=0

run_lab() { # MODE STRATEGY...: none, no lab
    local mode=$1 ended
    shift
    [ $# -gt 0 ] || return
    printf '[contention]\nmode = %s\nquantum = %s\n' "$mode" "$quantum" >"$work/conf"
    LD_PRELOAD=$preload "$here/vm.sh" --hosts "$hosts" --segment "$segment" --mtu "$mtu" --cpu "$cpu" --conf "$work/conf" -- \
        bash "$here/strategies.sh" "${arguments[@]}" --inside "$*" "$work"
    ended=$?
    [ $ended != 77 ] || exit 77
    [ $ended = 0 ] || status=1
}

# shellcheck disable=SC2046 # one word a strategy
run_lab off $(tr ' ' '\n' <<<"$strategies" | grep -vx token)
# shellcheck disable=SC2046
run_lab token $(tr ' ' '\n' <<<"$strategies" | grep -x token)
[ -z "$(figures)" ] || { print_table && draw; }
exit $status
