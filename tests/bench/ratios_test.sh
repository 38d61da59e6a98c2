#!/bin/bash
# The table of the comparison says what the figures say, and bench.sh refuses what it does not know.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh

table() { awk "$@" -f tests/bench/table.awk -f tests/bench/ratios.awk; }

# Three rounds: PVM's direct route is its best, and Covey's packing "array".
figures='
1 pvm daemon/default ping 1 40
1 pvm direct/raw ping 1 30
1 covey auto/pack ping 1 12
1 covey auto/array ping 1 11
1 pvm daemon/default ping 1 50
1 pvm direct/raw ping 1 9
1 covey auto/pack ping 1 2
1 covey auto/array ping 1 10
1 pvm daemon/default ping 1 60
1 pvm direct/raw ping 1 20
1 covey auto/pack ping 1 99
1 covey auto/array ping 1 4
2 pvm daemon/default ping 1048576 16000
2 pvm direct/inplace ping 1048576 2000
2 covey auto/array ping 1048576 2500
2 covey udp/array ping 1048576 4000
2 pvm daemon/default cpustream 1048576 20
2 covey auto/array cpustream 1048576 2
2 covey auto/pack barrier 8 120'
says() { # text that one line of the table begins with, blanks squeezed
    table <<<"$figures" | tr -s ' ' | grep -qxF -- "$1" || { table <<<"$figures" && false; }
}

expect "medians, the best way, the best rounds, both ratios" \
    says "half round trip, 1 B, us 20.0 direct/raw 50.0 10.0 - - 2.00 4.50 5.00 ahead"
expect "bandwidth, with a route of its own" \
    says "round trips, 1 MiB, MB/s 524 direct/inplace 66 419 262 - 0.80 0.80 6.40 BEHIND"
expect "processor time" says "CPU s/GB, stream of 1 MiB 20.0 daemon/default 20.0 2.00 - - 10.00 10.00 10.00 ahead"
expect "without PVM Covey's figure stands alone" says "barrier of 8, us - - 120 - - - - - no PVM"
expect "lines are counted" says "2 lines ahead of PVM's best, 1 behind"
markdown_has() { table -v markdown=1 <<<"$figures" | grep -qF -- "$1"; }
expect "the same in Markdown" markdown_has "| half round trip, 1 B, us | 20.0 | direct/raw | 50.0 | 10.0 | - | - | 2.00 | 4.50 | 5.00 | ahead |"

one_program='
2 pvm daemon/default ring 8 30
2 covey daemon/default ring 8 20
2 pvm direct/default netpipe 65536 200
2 covey direct/default netpipe 65536 100
2 covey direct/default netpipe 65536 400
2 pvm direct/psend ring 8 10
2 covey direct/psend ring 8 40'
drop_in_says() { table -v drop_in=1 <<<"$one_program" | tr -s ' ' | grep -qxF -- "$1"; }
expect "one program on both, by each of its ways" \
    drop_in_says "ring of 8, us a step of 1 KiB daemon/default 30.0 20.0 1.50 1.50 ahead"
expect "NetPIPE, too" drop_in_says "NetPIPE, 64 KiB, MB/s direct/default 328 262 0.80 2.00 BEHIND"
expect "and where it is slower" drop_in_says "ring of 8, us a step of 1 KiB direct/psend 10.0 40.0 0.25 0.25 BEHIND"

refuses() { # ARG...: status 2 and how to use it
    local said
    said=$(scripts/bench.sh "$@" 2>&1)
    [ $? = 2 ] && grep -q 'Parts: latency' <<<"$said"
}
expect "an unknown part is refused" refuses --only speed
expect "an unknown option is refused" refuses --fast
finish
