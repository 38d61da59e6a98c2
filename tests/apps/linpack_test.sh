#!/bin/bash
# linpack: every algorithm and some grids, each solution checked by its residual; what is wrong is refused.
# timeout: 120
set -u
cd "$(dirname "$0")/../.."
. tests/apps/app.sh

if [ ! -x "$BUILD/apps/linpack" ]; then
    skip "linpack" "Covey is built without LAPACKE"
    finish
    exit
fi

checked() { run linpack --baseline 0 --check "$@" && grep -q '^check: passed' "$work/out"; }
says() { tr -d ' \n' <"$work/out" | grep -qE -- "$1" || { cat "$work/out" && false; }; }

expect "no equations" fails_with 2 "--size" linpack --size 0
expect "a long name" fails_with 2 "more than" linpack --algorithm "$(printf 'a%.0s' {1..100})"
expect "an arithmetic that can be timed" run linpack --kernel

covey start --local 3 >/dev/null || bad "a virtual machine starts"
for algorithm in local column block tournament; do
    for tasks in 1 4; do
        expect "$algorithm, $tasks tasks" checked -n $tasks -N 150 -a $algorithm
    done
done
expect "a choice" checked -n 3 -N 200
for grid in 1x5 2x3 3x2; do
    expect "a grid of $grid" checked -n 6 -N 100 -O "grid=$grid,block=8,bcast=1ringM"
done
expect "more tasks than equations" checked -n 7 -N 3 -a block -O block=1
expect "one equation" checked -n 2 -N 1
for route in udp tcp; do
    expect "over $route" checked --route $route -n 3 -N 120 -a tournament
done
expect "with a baseline, which has no grid" run linpack -n 2 -N 300 -a tournament -O grid=2x1 --check
expect "JSON" run linpack --baseline 0 -n 2 -N 100 -a column --json
expect "has the figures" says '"algorithm":"column".*"gflops":[0-9.e-]+,"residual":[0-9.e-]+'
expect "what was predicted" run linpack --baseline 0 -n 2 -N 100 --explain
expect "is a table of all algorithms" test "$(grep -cE '^(local|column|block|tournament) ' "$work/err")" = 4
expect "an unknown algorithm is a failure" eval '! timeout 60 linpack --baseline 0 -n 2 -a guess >"$work/out" 2>"$work/err"'
expect "which is said" grep -q "has no 'guess'" "$work/err"
expect "the virtual machine ends" covey halt
trap 'rm -rf "$work"' EXIT
finish
