#!/bin/bash
# poisson: methods, borders and numbers of tasks, each checked by the matrix and the known solution; what is
# wrong is refused, and what does not converge is said.
# timeout: 120
set -u
cd "$(dirname "$0")/../.."
. tests/apps/app.sh

checked() { run poisson --baseline 0 --check "$@" && grep -q '^check: passed' "$work/out"; }
says() { tr -d ' \n' <"$work/out" | grep -qE -- "$1" || { cat "$work/out" && false; }; }

expect "four axes" fails_with 2 "--dims" poisson --dims 4
expect "no cells" fails_with 2 "--size" poisson --size 0
expect "an unknown border" fails_with 2 "none of value, slope and periodic" poisson --border wall
expect "a tolerance of nothing" fails_with 2 "--tolerance" poisson --tolerance 0
expect "an arithmetic that can be timed" run poisson --kernel

covey start --local 3 >/dev/null || bad "a virtual machine starts"
for method in local jacobi sor chebyshev cg pipecg mg mg-cg; do
    expect "$method" checked -n 4 -N 12 -m $method
done
for border in value slope periodic; do
    expect "$border at borders of a cube" checked -n 3 -N 20 -B $border
    expect "$border at borders of a square" checked -n 5 -N 33 -d 2 -B $border -m mg-cg
done
for tasks in 1 2 9; do
    expect "$tasks tasks" checked -n $tasks -N 16 -m mg -O cycle=f,sweeps=2
done
expect "more tasks than cells" checked -n 9 -N 2 -d 2 -m mg-cg
expect "one cell" checked -n 2 -N 1 -m cg
for route in udp tcp; do
    expect "over $route" checked --route $route -n 3 -N 16 -m mg-cg
done
expect "JSON" run poisson --baseline 0 -n 2 -N 16 -m mg-cg --json
expect "has the figures" says '"method":"mg-cg".*"iterations":[0-9]+,"converged":true,"residual":[0-9.e-]+'
expect "what was predicted" run poisson --baseline 0 -n 2 -N 16 --explain
expect "is a table of all methods" test "$(grep -cE '^(local|jacobi|sor|chebyshev|cg|pipecg|mg|mg-cg|fft) ' "$work/err")" = 9
no_convergence() { ! timeout 60 poisson --baseline 0 -n 2 -N 16 -m sor -O iterations=2 >"$work/out" 2>"$work/err"; }
expect "too few iterations are a failure" no_convergence
expect "which is said" grep -q 'did not converge: after 2 iterations' "$work/err"
expect "an unknown method is a failure" eval '! timeout 60 poisson --baseline 0 -n 2 -m guess >"$work/out" 2>"$work/err"'
expect "which is said, too" grep -q "has no 'guess'" "$work/err"
expect "the virtual machine ends" covey halt
trap 'rm -rf "$work"' EXIT
finish
