#!/bin/bash
# bench.sh - runs every benchmark tests/bench/NAME_bench.sh; each prints its own table.
set -u
cd "$(dirname "$0")/.."
status=0
found=no
for bench in tests/bench/*_bench.sh; do
    [ -e "$bench" ] || continue
    found=yes
    bash "$bench" || status=1
done
[ $found = yes ] || echo "there is no benchmark in tests/bench yet"
exit $status
