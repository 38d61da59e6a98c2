#!/bin/bash
# loss.sh - prints what is left of the udp route's bandwidth when datagrams are lost.
#
#   tests/lab/loss.sh [--rate R] [--mtu BYTES] [--sizes BYTES,...] [LOSS...]
#
# For each chance of loss (default: 0 0.001 0.01 0.05) it brings up a lab of two hosts whose daemons lose
# that share of what they send (fault in covey.conf), and runs covey bench stream between them. Needs
# root. A line a loss: MB/s, and in parts of what passes without loss.
set -u
cd "$(dirname "$0")/../.." || exit 1
options=() sizes=1M
while [ $# -gt 0 ]; do
    case $1 in
    --rate | --mtu) options+=("$1" "${2:?}") && shift ;;
    --sizes) sizes=${2:?} && shift ;;
    -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || set -- 0 0.001 0.01 0.05

conf=$(mktemp -d)
trap 'rm -rf "$conf"' EXIT
trap 'exit 130' INT TERM
mkdir "$conf/covey"
export XDG_CONFIG_HOME=$conf

without=
echo "LOSS SIZE MB/s SHARE"
for loss; do
    printf '[daemon]\nfault = loss=%s,seed=1\n' "$loss" >"$conf/covey/covey.conf"
    figures=$(tests/lab/vm.sh --hosts 2 "${options[@]}" -- \
        covey bench stream --route udp --host h1,h2 --sizes "$sizes" --batch 20000 --rounds 9 --json 2>/dev/null |
        awk -F'[:,]' '/"bytes"/ { size = $2 + 0 } /"name": "covey"/ { ours = 1 }
            ours && /"mb_per_s"/ { print size, $2; ours = 0 }')
    [ -n "$figures" ] || { echo "$loss: nothing was measured" && continue; }
    [ -n "$without" ] || without=$figures
    paste -d' ' <(echo "$figures") <(echo "$without") |
        awk -v loss="$loss" '{ printf "%s %d %.1f %.2f\n", loss, $1, $2, $2 / $4 }'
done
