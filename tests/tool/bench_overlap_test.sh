#!/bin/bash
# timeout: 90
# covey bench overlap: its rows, what is hidden worked out from the times of a program beside, and what
# it refuses. No time of a run is tested.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tool/bench.sh

quick() { bench overlap --rounds 3 --batch 1 "$@" || { cat "$dir/err"; return 1; }; }
said() { tr -d ' \n' <"$dir/out" | grep -qE -- "$1" || { cat "$dir/out"; return 1; }; }

expect "beside is for overlap" refuses 2 'beside is for overlap alone' pingpong --beside 'x=true'
for beside in x =true x= "$(printf 'x%.0s' {1..24})=true"; do
    expect "--beside $beside" refuses 2 'NAME=COMMAND' overlap --beside "$beside"
done
expect "five of them" refuses 2 'at most 4' overlap --beside a=b --beside a=b --beside a=b --beside a=b --beside a=b
expect "three tasks" refuses 2 'overlap has two' overlap -n 3

covey start --local 2 >/dev/null || bad "a virtual machine of two hosts starts"
expect "two routes and sizes" quick --route tcp,udp --sizes 1,64K --json
expect "are four rows" eval "[ \$(grep -c '\"route\"' '$dir/out') = 4 ]"
expect "of either route" said '"route":"tcp","bytes":65536,.*"route":"udp","bytes":1,.*"beside":\[\]'
expect "within a host" quick --route shm --sizes 1K
expect "as a table" grep -qE '^shm +1024( +[0-9.]+){3}( +[0-9]+ %){3}$' "$dir/out"

# a program that is told rounds, batch and sizes, and hides 3 of 4, then too much, then less than nothing
printf '%s\n' 'echo "# args: $*"' 'for size; do :; done' \
    'echo $size 400 800 900; echo $size 400 800 500; echo $size 400 800 1400; echo 7 1 1 1; echo $size 1 1 1' >"$dir/beside"
expect "a program beside" quick --sizes 1K --json --beside "other one=sh $dir/beside"
expect "what it hides" said '"program":"otherone","bytes":1024,"communication_us":400.0,"computation_us":800.0,"both_us":900.0,"hidden":0.75,"quartile1":0.375,"quartile3":0.875'
expect "one that fails" refuses 1 'x measured 0 of 3 rounds of 1024 bytes, and failed' overlap --rounds 3 --sizes 1K --beside x=false
covey halt >/dev/null
finish
