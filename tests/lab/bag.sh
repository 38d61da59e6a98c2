#!/bin/bash
# bag.sh - load from outside on some hosts of a lab: what bags make of it, and what a static division
# of the work (Schmidt & Sunderam, section 4.1). Eight hosts, two of them with a hog; needs root.
#
#   tests/lab/bag.sh [--rate 1G] [--cpu 0.2] [--mtu 1500] [--size DEMO=N] [--blas LIBRARY] [--hogs "h3 h4"]
#                    [--runs N]
#
# A host with a hog has a share of itself left, measured by the same picture there and on a free one;
# what remains of all is 6 hosts and twice that share. The ideal time is that on the 8 free hosts times
# 8 over what remains. Beside it stands the time of one task alone over what remains: nothing is sent,
# nobody waits, and no other host of the lab uses the caches. Times are means of --runs. matmul computes
# with textbook.c unless --blas names another library, or none (--blas '').
# The status is 0 when mandel and matmul out of a bag are within 15 % of the ideal. Without root: 77.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lab/demos.sh
. "$here/demos.sh"
rate=1G cpu=0.2 mtu=1500 hogs="h3 h4" runs=1 blas=textbook
declare -A size=([mandel]=1200x900 [matmul]=1536)
export OPENBLAS_NUM_THREADS=1

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# ---- inside the VM, on its first host ---------------------------------------------------------

run() { # WHEN FORM ALONE COMMAND...: a line of figures
    local when=$1 form=$2 alone=$3
    shift 3
    "$@" --json ${alone:+--baseline "$alone"} >"$dir/run" || exit 1
    echo "$when $form $(figure sequential_s "$dir/run") $(figure total_s "$dir/run")"
}

all_forms() { # WHEN
    local turn
    for ((turn = 0; turn < runs; turn++)); do
        run "$1" mandel-bag "${alone[mandel]}" mandel --bag --size "${size[mandel]}"
        run "$1" matmul-bag "${alone[matmul]}" matmul --bag --size "${size[matmul]}"
        run "$1" matmul-bag-fetch "${alone[matmul]}" matmul --bag --fetch --size "${size[matmul]}"
        run "$1" matmul-pmr "${alone[matmul]}" matmul --size "${size[matmul]}"
    done
}

on_one() { # HOST: seconds for a small picture
    mandel --bag --size 400x300 --baseline 0 --hosts "$1" --json >"$dir/run" && figure total_s "$dir/run"
}

sequential() { # DEMO SIZE: seconds
    "$1" --bag --size "$2" --json >"$dir/run" && figure sequential_s "$dir/run"
}

measure() {
    local host free hogged
    declare -A alone
    alone[mandel]=$(sequential mandel "${size[mandel]}")
    alone[matmul]=$(sequential matmul "${size[matmul]}")
    all_forms free
    free=$(on_one "${hogs%% *}")
    for host in $hogs; do "$here/lab" hog "$host"; done
    hogged=$(on_one "${hogs%% *}")
    echo "share $(wc -w <<<"$hogs") $free $hogged"
    all_forms hogs
    "$here/lab" calm
}

print_table() {
    awk -v cpu="$cpu" -v rate="$rate" -v mtu="$mtu" -v runs="$runs" '
        $1 == "share" { hogs = $2; share = $3 / $4 }
        $1 == "free" { if (!($2 in alone)) order[++n] = $2; alone[$2] = $3; free[$2] += $4 / runs }
        $1 == "hogs" { hogged[$2] += $4 / runs }
        END {
            left = 8 - hogs + hogs * share
            printf "8 hosts of %s core, links of %sbit/s, MTU %s; a hog on %d of them leaves a task %.0f %% of the host; %d run(s)\n\n",
                   cpu, rate, mtu, hogs, 100 * share, runs
            print "| | one task alone s | 8 hosts s | with hogs s | ideal s | over it | one alone over what remains s |"
            print "|---|---:|---:|---:|---:|---:|---:|"
            for (i = 1; i <= n; i++) {
                w = order[i]; ideal = free[w] * 8 / left; over = 100 * (hogged[w] / ideal - 1)
                printf "| %s | %.2f | %.2f | %.2f | %.2f | %+.0f %% | %.2f |\n",
                       w, alone[w], free[w], hogged[w], ideal, over, alone[w] / left
                if (w ~ /bag$/ && over > 15) worse = 1
            }
            exit n == 0 || worse
        }'
}

# ---- the whole --------------------------------------------------------------------------------

arguments=("$@")
inside=0
while [ $# -gt 0 ]; do
    case $1 in
    --rate) rate=${2:?} && shift ;;
    --cpu) cpu=${2:?} && shift ;;
    --mtu) mtu=${2:?} && shift ;;
    --hogs) hogs=${2:?} && shift ;;
    --size) size_take size "${2:?}" || usage; shift ;;
    --runs) runs=${2:?} && shift ;;
    --blas) blas=${2?} && shift ;;
    --inside) inside=1 && dir=${2:?} && shift ;; # a VM
    *) usage ;;
    esac
    shift
done
[ $inside = 0 ] || { measure; exit; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-bag.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
preload=$(blas_preload "$blas" "$dir") || exit 1
LD_PRELOAD=$preload "$here/vm.sh" --hosts 8 --rate "$rate" --cpu "$cpu" --mtu "$mtu" -- \
    "$here/bag.sh" "${arguments[@]}" --inside "$dir" >"$dir/figures"
status=$?
[ $status = 77 ] && exit 77
print_table <"$dir/figures" || status=1
exit $status
