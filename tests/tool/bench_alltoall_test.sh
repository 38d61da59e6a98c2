#!/bin/bash
# timeout: 120
# covey bench alltoall: each algorithm that suits and the library's choice, the peak of the network
# by hand, what it refuses, and the table that it writes. No time of a run is tested.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tool/bench.sh

quick() { bench alltoall --rounds 2 --batch 1 "$@" || { cat "$dir/err"; return 1; }; }
# Rows of JSON on one line each.
rows() { tr -d ' \n' <"$dir/out" | sed 's/{"bytes":/\n&/g' | grep '^{"bytes"'; }
# The series of every row, and that many rows.
series() { # rows, names
    rows | sed 's/.*"algorithms"://; s/"name":"\([a-z]*\)"/\n@\1\n/g; s/$/\n;/' |
        sed -n 's/^@//p; /^;/p' | tr '\n' ' ' >"$dir/names"
    [ "$(cat "$dir/names")" = "$(for ((i = 0; i < $1; i++)); do printf '%s ; ' "$2"; done)" ] ||
        { cat "$dir/names"; return 1; }
}
# microseconds of the row of that size at the peak
peak() { rows | sed -n "s/^{\"bytes\":$1,\"peak_us\":\([0-9.]*\),.*/\1/p"; }
near() { # wanted, got
    awk -v a="$1" -v b="${2:-0}" 'BEGIN { exit !(b > 0.999 * a && b < 1.001 * a) }' || { echo "$2, not $1"; return 1; }
}
# The share of the peak is the peak's time over the median, and the throughput is of all blocks.
figures_agree() { # tasks
    rows | sed 's/{"name"/\n&/g' | awk -v n="$1" '
        function number(key) { return match($0, "\"" key "\":[0-9.e+-]*") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 : -1 }
        /^{"bytes"/ { bytes = number("bytes"); peak = number("peak_us"); next }
        /^{"name"/ {
            us = number("us"); count++
            wrong += !(us > 0 && number("min_us") <= us && us <= number("max_us"))
            wrong += !(number("quartile1_us") <= us && us <= number("quartile3_us"))
            share = number("peak") * us / peak; rate = number("mbit_s") * us / (n * (n - 1) * bytes * 8)
            wrong += !(share > 0.999 && share < 1.001 && rate > 0.999 && rate < 1.001)
        }
        END { print count + 0 " series, " wrong + 0 " wrong"; exit !(count && !wrong) }'
}
verdicts_agree() {
    rows | awk -F'"' '{ best = $8; chosen = $12; said = ($15 ~ /true/); print best, chosen, said; wrong += (best == chosen) != said } END { exit !(NR && !wrong) }'
}

printf 'switch s t\nlink s t 100M\nhost h0 s 1G\nhost h1 s 1G\nhost h2 t 1G\nhost h3 t 1G\n' >"$dir/four"
expect "density is for exchange" refuses 2 'is for exchange alone' alltoall --density 4
expect "a rate of a broadcast" refuses 2 '--rate is for exchange' bcast --rate 1G
expect "one task" refuses 2 'at least 2' alltoall -n 1

expect "four virtual hosts that have a topology" covey start --local 4 --topology "$dir/four" >/dev/null
expect "one task on each host" quick --sizes 7,16K --json --write "$dir/table"
expect "each algorithm, and the choice" series 2 "bruck linear pairwise scheduled choice"
expect "the schedule's phases and time" eval "tr -d ' \n' <'$dir/out' | grep -qE '\"tasks\":4,.*\"schedule\":\{\"phases\":4,\"made_us\":[0-9.]+\}'"
# 2 x 2 blocks each way over 100 Mbit/s, 1448 of 1538 bytes
expect "the link between the switches is the bottleneck" near 5568.4 "$(peak 16384)"
expect "the figures agree" figures_agree 4
expect "the verdicts agree with the times" verdicts_agree
expect "the table has the sizes, one after the other" grep -qE '^alltoall +\* \* [a-z]+$' "$dir/table"
expect "and neither other operations nor the choice" eval "! grep -v '^#' '$dir/table' | grep -qvE '^alltoall +\* [0-9*]+ (bruck|linear|pairwise|scheduled)\$'"
expect "six tasks, and a rate of all links" quick -n 6 --rate 50M --sizes 1K --json
# h0 and h1 have two tasks each: 4 x 2 blocks
expect "whose peak is by that" near 1392.1 "$(peak 1024)"
expect "collectives measure the schedule, too" bench collectives -n 4 --sizes 8 --rounds 1 --batch 1 --json
expect "on teams of all sizes" eval "[ \$(grep -c '\"scheduled\"' '$dir/out') -ge 2 ]"
expect "for people" quick --sizes 1K
expect "with a word on the choice" grep -qE "^1 KiB: [a-z]+ is the best(, and the library's choice|; the library's choice, [a-z]+, takes [0-9.]+ times)" "$dir/out"
expect "blocks that are too large for a task" refuses 1 'too large' alltoall --sizes 64M

expect "no topology" covey topology --use none
expect "without one" quick --sizes 1K --json
expect "there is no schedule" series 1 "bruck linear pairwise choice"
expect "nor a peak" eval "tr -d ' \n' <'$dir/out' | grep -q '\"schedule\":null.*\"peak_us\":null.*\"peak\":null'"
expect "with a rate" quick --sizes 1K --rate 1G --json
# 3 blocks of a host
expect "the peak is that of one switch" near 26.10 "$(peak 1024)"
covey halt >/dev/null

echo 'alltoall * * scheduled' | cat - "$dir/table" >"$dir/mine"
export COVEY_COLLECTIVES=$dir/mine
expect "a virtual machine whose tasks have a table" covey start --local 2 --topology "$dir/four" >/dev/null
expect "it is measured again" quick --sizes 8 --json
expect "the library goes by it" eval "tr -d ' \n' <'$dir/out' | grep -q '\"chosen\":\"scheduled\"'"
finish
