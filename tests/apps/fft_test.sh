#!/bin/bash
# fft: every algorithm, order and kind of numbers against the known spectrum, of any number of tasks; what is wrong is
# refused, and a check that finds an error fails.
# timeout: 120
set -u
cd "$(dirname "$0")/../.."
. tests/apps/app.sh

if [ ! -x "$BUILD/apps/fft" ]; then
    skip "fft" "Covey is built without FFTW 3"
    finish
    exit
fi

checked() { run fft --baseline 0 --check "$@" && grep -q '^check: passed' "$work/out"; }
says() { tr -d ' \n' <"$work/out" | grep -qE -- "$1" || { cat "$work/out" && false; }; }

expect "a size of four" fails_with 2 "is not one to three numbers" fft --size 4x4x4x4
expect "a size of nothing" fails_with 2 "is not an integer" fft --size 4x0
expect "no runs" fails_with 2 "is not an integer" fft --runs 0
expect "a size beyond all" fails_with 2 "more than 2^56" fft --size 1Gx1G
expect "an arithmetic that can be timed" run fft --kernel

covey start --local 3 >/dev/null || bad "a virtual machine starts"
for numbers in "" --real; do
    for tasks in 1 2 4 7; do
        # shellcheck disable=SC2086 # none or one
        expect "three dimensions${numbers:+ of real numbers}, $tasks tasks" checked $numbers -n $tasks -S 24x17x20
    done
    for algorithm in local slab slab,order=transposed,slices=2 pencil pencil,order=transposed; do
        # shellcheck disable=SC2086
        expect "$algorithm${numbers:+ of real numbers}" checked $numbers -n 4 -S 12x18x10 -a $algorithm --seed 3
    done
    # shellcheck disable=SC2086
    expect "two dimensions${numbers:+ of real numbers}" checked $numbers -n 5 -S 100x77
done
expect "one dimension" checked -n 4 -S 1009
expect "six steps" checked -n 4 -S 4096 -a six-step
expect "six steps, in transposed order" checked -n 3 -S 720 -a six-step,order=transposed
expect "one number" checked -n 3 -S 1
expect "fewer numbers than tasks" checked -n 7 -S 2x1x3 --real
for route in shm udp tcp; do
    expect "over $route" checked --route $route -n 4 -S 16x16x16
done
refuses() { ! run "$@" >/dev/null && grep -q "planning the transform: $why" "$work/err"; }
why="pencil cannot be taken: needs 3 dimensions"
expect "an algorithm that cannot be taken" refuses fft --baseline 0 -n 3 -S 64x64 -a pencil
expect "which one task says" test "$(grep -c "$why" "$work/err")" = 1
expect "what is predicted" run fft --baseline 0 -S 64x64 --explain
expect "of each algorithm" test "$(grep -cE '^(local|slab|pencil|six-step) ' "$work/err")" = 4
expect "figures as JSON" run fft -n 2 -S 32x32x32 --check --json
expect "with a speed" says '"gflops":[0-9.e-]*[1-9]'
expect "with errors" says '"error":[0-9.]+e-1[5-9],"error_back":[0-9.]+e-1[5-9]'
expect "and the sequential time" says '"sequential_s":[0-9.e-]*[1-9]'
expect "the virtual machine ends" covey halt
trap 'rm -rf "$work"' EXIT
finish
