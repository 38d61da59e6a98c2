#!/bin/bash
# The table of calls beside both MPIs says what the figures say, and beside.sh refuses what it does not
# know.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh

table() { awk "$@" -f tests/bench/table.awk -f tests/bench/beside.awk; }

# Three rounds of the first line; no figure of one MPI in the second, of none in the third.
figures='
1 2 covey 1 ping 1 100 2 1.5
1 2 openmpi 1 ping 1 100 1 1
1 2 openmpi+ 1 ping 1 100 4 3
1 2 mpich 1 ping 1 100 6 5
1 2 covey 2 ping 1 100 9 9
1 2 covey 3 ping 1 100 0.5 0.5
1 2 covey 1 barrier 0 10 20 10
1 2 openmpi 1 barrier 0 10 30 5
1 2 covey 1 bcast 65536 10 20 10
2 4 covey 1 pings 2097152 1 4000 100
2 4 mpich 1 pings 2097152 1 5000 4000'
says() { # text that one line of the table begins with, blanks squeezed
    table <<<"$figures" | tr -s ' ' | grep -qxF -- "$1" || { table <<<"$figures" && false; }
}

expect "medians of the rounds, and the best MPI's ratio" \
    says "half round trip, 1 B 2.00 1.00 4.00 6.00 0.50 1.50 1.00 3.00 5.00 BEHIND"
expect "an MPI without a figure" says "barrier 20.0 30.0 - - 1.50 10.0 5.00 - - ahead"
expect "without MPI Covey's figure stands alone" says "bcast, 64 KiB 20.0 - - - - 10.0 - - - no MPI"
expect "each number of hosts and tasks has a table" \
    says "4 tasks on 2 hosts Covey Open MPI yielding MPICH ratio cpu cpu cpu cpu Covey is"
expect "lines are counted" \
    says "ahead on 2 of 3 lines, and with no more processor time than the fastest MPI on 1"
markdown_has() { table -v markdown=1 <<<"$figures" | grep -qF -- "$1"; }
expect "the same in Markdown" \
    markdown_has "| half round trips, 2 MiB | 4000 | - | - | 5000 | 1.25 | 100 | - | - | 4000 | ahead |"

refuses() { # COMMAND...: status 2 and how to use it
    local said
    said=$("$@" 2>&1)
    [ $? = 2 ] && grep -q 'From the environment' <<<"$said"
}
expect "an unknown call is refused" refuses env ONLY="bcast sort" tests/bench/beside.sh
expect "an unknown option is refused" refuses tests/bench/beside.sh --fast
finish
