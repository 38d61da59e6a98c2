#!/bin/bash
# tiles.sh - the loop of Koziris, Sotiropoulos & Goumas on 16 hosts of a lab, overlapping and blocking, by
# the height of the tiles, as Figures 5 to 7 of the paper, or with --hosts 9 as Figures 12 to 14; as Figure 15
# what was predicted, and as Figure 11 how long the tasks computed.
#
#   tests/lab/tiles.sh [--size IxJxK] [--heights Z,...] [--roots N] [--rate 1M] [--cpu 0.1] [--hosts 16]
#                      [--route tcp] [--unchosen] [--keep DIR]
#   tests/lab/tiles.sh --report DIR
#
# One lab (vm.sh) of hosts on one switch: links of --rate that take for each frame what a wire does,
# hosts of --cpu of a core, each on one of the cores of this machine (--pin), so that all are alike.
# A host more, with a fast link, has none of the tiles: its daemon began the VM and sends heartbeats
# to all others, which would be a good part of a slow link. tiles runs the space with each of the
# heights and those that the runtime chose, by either schedule, after one short calibration.
# --roots: square roots more at each point, so that a tile takes about as long as its messages. A host
# gets its share of a core every 10 ms: what a tile takes must be more than that by far, for a host that
# has waited has one share at once.
# --keep: what it printed is added to DIR, and DIR/SIZE.png drawn; so a space may be measured in pieces,
# of which all but the first one may be --unchosen: those heights alone, and no calibration.
# --report draws and judges what is there. The table, in Markdown, goes to standard output; the status is
# 0 when the overlapping schedule took less at each height and 25 % less at its least, the chosen height
# is within 10 % of the least time, and what was predicted too. Without root: status 77.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build}
build=$(cd "$build" && pwd) || exit 1
export BUILD=$build
size=16x16x16384
heights=64,128,256,512,1024
roots=400
rate=1M
cpu=0.1
hosts=16
route=tcp
sweep=--sweep
keep=

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# ---- inside the VM, on its first host ---------------------------------------------------------

run_inside() {
    read -r _ workers <<<"$LAB_HOSTS"
    # shellcheck disable=SC2086 # one word, or none
    tiles --baseline 0 --size "$size" --route "$route" --roots "$roots" --height "$heights" $sweep --schedule both \
        --hosts "$(tr ' ' ',' <<<"${workers% }")" --json >>"$work/$size.json"
}

# ---- the whole --------------------------------------------------------------------------------

# height, then overlapping predicted and measured, blocking predicted and measured; then the chosen one
figures_of() { # FILE: of covey predict tiles --json
    tr -d ' \n' <"$1" | sed 's/"chosen"/\n&/; s/{"height"/\n&/g' | awk '
        function number(text, key) {
            if (!match(text, "\"" key "\":[0-9.e+-]+")) return 0
            return substr(text, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
        }
        /^"chosen"/ { chosen = number($0, "overlap") }
        /^{"height"/ {
            overlap = $0; sub(/"block".*/, "", overlap); block = $0; sub(/.*"block"/, "", block)
            if (number(overlap, "measured_s") + number(block, "measured_s") == 0) next
            print number($0, "height"), number(overlap, "played_s"), number(overlap, "measured_s"),
                number(block, "played_s"), number(block, "measured_s")
        }
        END { print "chosen", chosen }'
}

judge() { # figures on standard input
    awk '
        function seconds(s) { return s > 0 ? sprintf("%.2f", s) : "" }
        $1 == "chosen" { chosen = $2; next }
        {
            both = $3 > 0 && $5 > 0
            less = both ? sprintf("%.0f %%", 100 * (1 - $3 / $5)) : ""
            printf "| %d | %s | %.2f | %s | %.2f | %s |\n", $1, seconds($3), $2, seconds($5), $4, less
            if (both && $3 >= $5) above = above " " $1
            if ($3 > 0 && (!least || $3 < least)) { least = $3; at = $1; block = $5 }
            if ($5 > 0 && (!least_block || $5 < least_block)) least_block = $5
            if (!predicted || $2 < predicted) predicted = $2
            measured[$1] = $3
        }
        END {
            there = chosen in measured && measured[chosen] > 0 ? measured[chosen] : least
            block = block > 0 ? block : least_block
            printf "\nleast overlapping %.2f s at %d, blocking there %.2f s (%.0f %% less) and at its own least %.2f s (%.0f %%); ",
                least, at, block, 100 * (1 - least / block), least_block, 100 * (1 - least / least_block)
            printf "predicted %.2f s (%+.1f %%); the chosen height, %d, took %.2f s (%+.1f %%)\n", predicted,
                100 * (predicted / least - 1), chosen, there, 100 * (there / least - 1)
            off = predicted / least - 1
            exit above != "" || least > 0.75 * block || there > 1.1 * least || off > 0.1 || off < -0.1
        }'
}

# Beside messages a task computes longer: the mean of all tasks, by the height (Figure 11).
computing() { # FILE: of tiles --json
    tr -d ' \n' <"$1" | grep -o '"schedule":"[a-z]*","height":[0-9]*,"total_s":[^,]*,"computation_s":[^,]*' | tr ',:"' ' ' |
        awk '{ sum[$2, $4] += $NF; runs[$2, $4]++; if (!seen[$4]++) heights[++n] = $4 }
            function mean(how, z) { return runs[how, z] ? sprintf("%.2f", sum[how, z] / runs[how, z]) : "" }
            END {
                print "\n| height | computing s, overlapping | blocking |\n|---:|---:|---:|"
                for (i = 1; i <= n; i++) printf "| %d | %s | %s |\n", heights[i], mean("overlap", heights[i]), mean("block", heights[i])
            }' | (sed -u 3q; sort -t'|' -k2n)
}

report() { # DIR
    local file name status=0
    for file in "$1"/*.json; do
        name=$(basename "$file" .json)
        covey predict tiles --measured "$file" --plot "$1/$name.png" --json >"$1/$name.predicted" || return 1
        echo
        echo "**$name**, hosts of $cpu core, links of ${rate}bit/s"
        echo
        echo "| height | overlapping s | predicted | blocking s | predicted | less |"
        echo "|---:|---:|---:|---:|---:|---:|"
        figures_of "$1/$name.predicted" | judge || status=1
        computing "$file"
    done
    return $status
}

arguments=("$@")
inside=0
while [ $# -gt 0 ]; do
    case $1 in
    --size) size=${2:?} && shift ;;
    --heights) heights=${2:?} && shift ;;
    --roots) roots=${2:?} && shift ;;
    --rate) rate=${2:?} && shift ;;
    --cpu) cpu=${2:?} && shift ;;
    --hosts) hosts=${2:?} && shift ;;
    --route) route=${2:?} && shift ;;
    --unchosen) sweep= ;;
    --keep) keep=${2:?} && shift ;;
    --report) PATH=$build:$PATH && report "${2:?}"; exit ;;
    --inside) inside=1 && work=${2:?} && shift ;; # a VM, see below
    *) usage ;;
    esac
    shift
done

if [ $inside = 1 ]; then
    run_inside
    exit
fi

[ "$(id -u)" = 0 ] || { echo "tiles.sh: a lab needs root" >&2; exit 77; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-tiles.XXXXXX") || exit 1
work=${keep:-$scratch}
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir -p "$work" || exit 1
{
    echo "switch s"
    echo "host h0 s 100M"
    for i in $(seq "$hosts"); do echo "host h$i s $rate"; done
} >"$scratch/topology"
"$here/vm.sh" --topology "$scratch/topology" --cpu "$cpu" --wires --pin -- "$here/tiles.sh" "${arguments[@]}" --inside "$work" || exit
PATH=$build:$PATH
report "$work"
