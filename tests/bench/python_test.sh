#!/bin/bash
# The table of the package for Python beside C and mpi4py says what the figures say.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh

figures='
2 covey 1 ping 1 0.5
2 python 1 ping 1 1.5
2 mpi4py 1 ping 1 3
2 python 2 ping 1 2
2 python 3 ping 1 40
2 python 1 object 1048576 30
2 mpi4py 1 object 1048576 300
8 python 1 futures.map 0 60000
8 mpi4py 1 futures.map 0 6000
8 python 1 futures.map100 0 10
8 mpi4py 1 futures.map100 0 20'
says() { # text that one line of the table begins with, blanks squeezed
    awk -f tests/bench/table.awk -f tests/bench/python.awk <<<"$figures" | tr -s ' ' | grep -qxF -- "$1" ||
        { awk -f tests/bench/table.awk -f tests/bench/python.awk <<<"$figures" && false; }
}
expect "medians, what Python adds, and both ratios" says "half round trip, array, 1 B 0.50 2.00 3.00 1.50 4.00 1.50"
expect "C has no objects" says "half round trip, object, 1 MiB - 30.0 300 - - 10.00"
expect "of futures more is better" says "futures a second, map - 60000 6000 - - 10.00"
expect "also where it is behind" says "futures a second, map, 100 a message - 10.0 20.0 - - 0.50"
expect "lines are counted" says "ahead of mpi4py on 3 of 4 lines"
finish
