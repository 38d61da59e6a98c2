#!/bin/bash
# loaded_test.sh - solvers leave out a member whose host computes for somebody else where waiting
# for it costs more than its help is worth, and are right then: a lab of hosts of a fifth of a core.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh
. tests/lab/crowd.sh
BUILD=$(realpath "${BUILD:-build}")
needs_lab "solvers beside a load"
if [ ! -x "$BUILD/tests/lab/loaded" ]; then
    skip "solvers beside a load" "Covey is built without LAPACKE"
    finish
fi

export COVEY_SOLVERS=$dir/solvers
crowded_vm "solvers beside a load" -- covey run -n 4 "$BUILD/tests/lab/loaded"
cat "$dir/said"
says() { grep -qx "$1: right" "$dir/said"; }
for what in "equations leave the busy host out" "who has which element" "the solution of equations" \
    "Poisson's equation leaves it out" "the solution of Poisson's equation"; do
    expect "$what" says "$what"
done
finish
