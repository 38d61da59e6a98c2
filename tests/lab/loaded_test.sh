#!/bin/bash
# loaded_test.sh - solvers leave out a member whose host computes for somebody else where waiting
# for it costs more than its help is worth, and are right then: a lab of hosts of a fifth of a core.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-loaded.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
if [ "$(id -u)" != 0 ] || ! unshare --net --uts true 2>/dev/null; then
    skip "solvers beside a load" "needs root and network namespaces"
    finish
fi
if [ ! -x "$BUILD/tests/lab/loaded" ]; then
    skip "solvers beside a load" "Covey is built without LAPACKE"
    finish
fi

export COVEY_SOLVERS=$dir/solvers
BUILD=$BUILD tests/lab/vm.sh --hosts 4 --cpu 0.2 -- covey run -n 4 "$BUILD/tests/lab/loaded" >"$dir/said" 2>&1
if grep -q "controller, which is not mounted" "$dir/said"; then
    skip "solvers beside a load" "there is no cpu cgroup controller here"
    finish
fi
cat "$dir/said"
says() { grep -qx "$1: right" "$dir/said"; }
for what in "equations leave the busy host out" "who has which element" "the solution of equations" \
    "Poisson's equation leaves it out" "the solution of Poisson's equation"; do
    expect "$what" says "$what"
done
finish
