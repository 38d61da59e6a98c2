#!/bin/bash
# encrypt.sh [ROUNDS] - what encryption costs: bandwidth at 1 MiB and half the round trip of 1 byte
# between two hosts of a lab, over udp and tcp, in VMs in the clear and encrypted by turns (default
# 3 of each); medians and their ratios. Needs root; BUILD and vm.sh's MTU= and RATE= as usual.
set -u
cd "$(dirname "$0")/../.."
export BUILD=${BUILD:-$PWD/build}
rounds=${1:-3}

if [ "${1:-}" = --inside ]; then # prints "ROUTE MB/s us", a line each
    for route in udp tcp; do
        echo "$route $(covey bench stream --route $route --host h1,h2 --sizes 1M --rounds 9 --json |
            jq '.rows[0].series[0].mb_per_s') $(covey bench pingpong --route $route --host h1,h2 --sizes 1 \
            --rounds 9 --json | jq '.rows[0].series[0].us')"
    done
    exit
fi

[ "$(id -u)" = 0 ] || { echo "encrypt.sh: needs root, for hosts in network namespaces" >&2; exit 77; }
command -v jq >/dev/null || { echo "encrypt.sh: jq is not installed" >&2; exit 77; }
for ((i = 0; i < rounds; i++)); do
    for how in "" --encrypt; do
        tests/lab/vm.sh --hosts 2 ${MTU:+--mtu "$MTU"} ${RATE:+--rate "$RATE"} $how -- \
            bash tests/bench/encrypt.sh --inside 2>/dev/null | grep -E '^(udp|tcp) ' | sed "s/^/${how:-clear} /"
    done
done | awk '
    function median(list,    a, n, i, j, t) {
        n = split(list, a, " ")
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
        return a[int((n + 1) / 2)]
    }
    { mb[$1, $2] = mb[$1, $2] " " $3 + 0; us[$1, $2] = us[$1, $2] " " $4 + 0 }
    END {
        printf "%-5s %22s %22s\n", "", "MB/s at 1 MiB", "us at 1 B"
        printf "%-5s %7s %9s %5s %6s %9s %5s\n", "route", "clear", "encrypted", "ratio", "clear", "encrypted", "ratio"
        for (i = 1; i <= 2; i++) {
            r = i == 1 ? "udp" : "tcp"
            a = median(mb["clear", r]); b = median(mb["--encrypt", r])
            c = median(us["clear", r]); d = median(us["--encrypt", r])
            printf "%-5s %7.0f %9.0f %5.2f %6.1f %9.1f %5.2f\n", r, a, b, b / a, c, d, d / c
        }
    }'
