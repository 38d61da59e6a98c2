#!/bin/bash
# bag.sh - load from outside on some hosts of a lab: what a bag makes of it, and what a static division
# of the work (Schmidt & Sunderam, section 4.1). Eight hosts, two with a hog each; needs root.
#
#   tests/lab/bag.sh       CPU=0.1 RATE=1G SIZE=640x480 N=1024 from the environment, by default
#
# The ideal time with hogs is the time without, times 8 over what is left: 6, and of each hogged host
# what a task gets there, measured by the same picture on that host alone.
set -u
here=$(cd "$(dirname "$0")" && pwd)

inside() {
    total_of() { # command...: seconds
        "$@" --json 2>/dev/null | sed -n 's/.*"total_s": \([0-9.]*\).*/\1/p' | head -n 1
    }
    bags_and_grid() { # when
        echo "$1 mandel $(total_of mandel --bag --size "$SIZE" -b 0)"
        echo "$1 matmul-bag $(total_of matmul --bag -q 6 -N "$N" -b 0)"
        echo "$1 matmul-pmr $(total_of matmul -N "$N" -q 4 -b 0)"
    }
    alone() { # host
        total_of mandel --bag --size 160x120 -b 0 -n 1 -H "$1"
    }
    bags_and_grid free
    local free hogged
    free=$(alone h7)
    "$LAB_PROGRAM" hog h7
    "$LAB_PROGRAM" hog h8
    hogged=$(alone h7)
    echo "share $free $hogged"
    bags_and_grid hogs
    "$LAB_PROGRAM" calm
}

if [ "${1:-}" = inside ]; then
    inside
    exit
fi
export CPU=${CPU:-0.1} RATE=${RATE:-1G} SIZE=${SIZE:-640x480} N=${N:-1024} LAB_PROGRAM=$here/lab
"$here/vm.sh" --hosts 8 --rate "$RATE" --cpu "$CPU" -- bash "$here/bag.sh" inside |
    awk '
        $1 == "share" { share = $2 / $3; ideal = 8 / (6 + 2 * share) }
        $1 == "free" { free[$2] = $3; order[++n] = $2 }
        $1 == "hogs" { hogs[$2] = $3 }
        END {
            printf "a task on a host with a hog gets %.0f %% of it\n", 100 * share
            printf "%-12s %10s %10s %10s %8s\n", "", "free s", "hogs s", "ideal s", "over"
            for (i = 1; i <= n; i++) {
                w = order[i]
                printf "%-12s %10.2f %10.2f %10.2f %6.0f %%\n", w, free[w], hogs[w], free[w] * ideal,
                       100 * (hogs[w] / (free[w] * ideal) - 1)
            }
        }'
