#!/bin/bash
# bench.sh PROGRAM... - runs the compiled benchmarks given and every tests/bench/NAME_bench.sh;
# each prints its own figures.
set -u
cd "$(dirname "$0")/.."
status=0
for bench in "$@" tests/bench/*_bench.sh; do
    [ -e "$bench" ] || continue
    echo "== $(basename "$bench")"
    case $bench in
    *.sh) bash "$bench" ;;
    *) "$bench" ;;
    esac || status=1
    echo
done
exit $status
