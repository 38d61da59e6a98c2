#!/bin/bash
# bench_exchange_test.sh - covey bench exchange: what it refuses, the numbers of phases that the
# paper states, in virtual time and between tasks, and the map. No time of a real run is tested.
# timeout: 120
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tool/bench.sh

for list in 0 x 1, 1024 "$(printf '1,%.0s' {1..16})1"; do
    expect "density ${list:0:12}" refuses 2 '--density .*: must be' exchange --simulated 8 --density "$list"
done
expect "a density of more than there are" refuses 2 '8 ranks has 7 others' exchange --simulated 8 --density 8
expect "one rank" refuses 2 '--simulated 1: must be' exchange --simulated 1
for rate in 0 -1 50X M 1e99; do
    expect "rate $rate" refuses 2 "--rate $rate: must be" exchange --simulated 8 --rate=$rate
done
expect "alpha without virtual time" refuses 2 '--alpha is for --simulated' exchange --alpha 5
expect "a topology that is not there" refuses 1 'nowhere' exchange --simulated 8 --topology "$dir/nowhere"
printf 'switch s\nhost a s\nhost b s\n' >"$dir/net"
expect "a topology of other hosts" refuses 2 'the topology has 2 hosts|8 ranks, but the topology has 2' \
    exchange --simulated 8 --topology "$dir/net"
for option in "--density 4" --unequal "--simulated 8" "--map x" "--plot x"; do
    # shellcheck disable=SC2086
    expect "${option% *} of a ping-pong" refuses 2 'is for exchange alone' pingpong $option
done
expect "a map that cannot be written" refuses 1 '--map /nowhere/x: No such' \
    exchange --simulated 4 --sizes 64 --rounds 1 --map /nowhere/x
PATH=$BUILD expect "a map without gnuplot" "$(command -v bash)" -c "! '$BUILD/covey' bench exchange \
    --simulated 4 --sizes 64 --rounds 1 --map '$dir/none.png' >/dev/null 2>'$dir/err' &&
    while read -r line; do case \$line in *'gnuplot, which draws it'*) exit 0 ;; esac; done <'$dir/err'; exit 1"

# Rows of JSON on one line each: density, bytes, phases by algorithm, best.
rows() {
    tr -d ' \n' <"$dir/out" | sed 's/{"density":/\n&/g' | grep '^{"density"'
}
phases() { # algorithm, in the row on standard input
    sed -E 's/.*"name":"'"$1"'"[^}]*"phases":([0-9.]+).*/\1/'
}

# Section 4.2 of Wang & Ranka: RS_N takes d + log2 d at most on average; colouring takes d.
phases_are_right() { # densities
    local d n row
    for d; do
        row=$(rows | grep "^{\"density\":$d,") || return
        n=$(phases RS_N <<<"$row")
        awk -v d="$d" -v n="$n" 'BEGIN { exit !(n >= d && n <= d + log(d) / log(2)) }' ||
            { echo "d = $d: RS_N takes $n phases" && return 1; }
        n=$(phases COLOUR <<<"$row")
        awk -v d="$d" -v n="$n" 'BEGIN { exit n != d }' || { echo "d = $d: COLOUR takes $n" && return 1; }
    done
}
expect "64 ranks in virtual time" bench exchange --simulated 64 --density 4,8,16,32,48 --sizes 64 --rounds 20 --json
expect "as many phases as the paper states" phases_are_right 4 8 16 32 48

# Equal sizes take in virtual time what they must: d times alpha and bytes, and a signal.
expect "large messages" bench exchange --simulated 16 --density 8 --sizes 1M --rounds 3 --rate 1G --json
near_the_bound() {
    rows | sed -E 's/.*"bound_us":([0-9.]+).*"name":"COLOUR","us":([0-9.]+).*"name":"LONGEST","us":([0-9.]+).*/\1 \2 \3/' |
        awk '{ exit !(NF == 3 && $2 >= $1 && $2 < 1.02 * $1 && $3 >= $1 && $3 < 1.02 * $1) }'
}
expect "colouring and longest first come near the bound" near_the_bound
expect "each has what ordering costs beside it" test "$(grep -o '"order_fraction": [0-9.e-]*' "$dir/out" | sort -u | wc -l)" -gt 2
# messages that take seconds cost more than any order: what saves time saves it the first time
expect "an order that is worth it at once" bench exchange --simulated 16 --density 8 --sizes 8M --rounds 2 --rate 1M
expect "is said to be" grep -qE '^ *8 +8388608 .* (COLOUR|LONGEST) +-[0-9]+ % +1$' "$dir/out"
expect "and counted" grep -q 'worth it in 1 of 1 rows if an order is used once, in 0 more' "$dir/out"
# one message a rank: no order is better than none
expect "an order that is not" bench exchange --simulated 4 --density 1 --sizes 64 --rounds 1
expect "is said not to be" grep -qE '^ *1 +64 .* - +- +never$' "$dir/out"
expect "unequal sizes, over the links of a topology" bench exchange --simulated 8 --topology conf/topologies/switch-8 --rounds 2 \
    --sizes 4K --unequal
is_picture() {
    head -c 8 "$1" | od -An -c | grep -q 'P *N *G' && [ "$(wc -c <"$1")" -gt 5000 ]
}
if command -v gnuplot >/dev/null; then
    expect "a map" bench exchange --simulated 16 --rounds 2 --map "$dir/map.png"
    expect "the map is a picture" is_picture "$dir/map.png"
    expect "what ordering costs" bench exchange --simulated 16 --rounds 2 --density 2,4 --plot "$dir/plot.png"
    expect "it is a picture, too" is_picture "$dir/plot.png"
else
    skip "a map" "gnuplot is not installed"
fi

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
expect "between tasks" bench exchange --tasks 6 --density 1,4 --sizes 64,64K --rounds 2 --json
expect "between tasks colouring takes the density" test "$(rows | grep '^{"density":4' | phases COLOUR | uniq)" = 4.0
expect "it learns and orders apart" grep -q '"order_us"' "$dir/out"
expect "unequal sizes between tasks" bench exchange --tasks 5 --density 3 --sizes 40K --unequal --rounds 1 --route udp
expect "the tables have a bound" grep -qE 'D \+?LOG2|D\+LOG2' "$dir/out"
expect "a table for the library" bench exchange --tasks 4 --density 1,3 --sizes 64,1K --rounds 1 --write "$dir/table"
# rows of d = 1 first, and the last one for any density and size
table_is_right() {
    awk '!/^#/ && ($1 != "exchange" || NF != 4) { bad = 1 } !/^#/ { n++; d = $2; b = $3 } n == 1 && $2 != 1 { bad = 1 }
         END { exit bad || n < 2 || d != "*" || b != "*" }' "$dir/table" || { cat "$dir/table" && false; }
}
expect "the table has rows for each density" table_is_right
echo 'exchange * * RS_N' | cat - "$dir/table" >"$dir/mine"
COVEY_COLLECTIVES=$dir/mine expect "the library reads it" bench collectives -n 2 --sizes 8 --rounds 1 --batch 1
expect "more messages than tasks" refuses 1 'not so many other tasks' exchange --tasks 3 --density 3 --sizes 64
expect "the VM ends" covey halt
finish
