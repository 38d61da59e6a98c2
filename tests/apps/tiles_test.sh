#!/bin/bash
# tiles: every bit that of the loop without tiles, of any number of tasks, both loops and schedules;
# what is not legal and what is wrong is refused; figures of many runs.
# timeout: 120
set -u
cd "$(dirname "$0")/../.."
. tests/apps/app.sh

checked() { run tiles --baseline 0 --check "$@" && grep -q '^check: passed' "$work/out"; }
says() { tr -d ' \n' <"$work/out" | grep -qE -- "$1" || { cat "$work/out" && false; }; }

expect "a size of two" fails_with 2 "is not three numbers" tiles --size 4x4
expect "a size of four" fails_with 2 "is not three numbers" tiles --size 4x4x4x4
expect "an unknown loop" fails_with 2 "none of sqrt and heat" tiles --loop snow
expect "an unknown schedule" fails_with 2 "none of overlap" tiles --schedule late
expect "a height of nothing" fails_with 2 "height" tiles --height 4,,5
expect "an unknown way of faces" fails_with 2 "none of any and messages" tiles --faces pigeon
expect "heat in tiles that are not skewed" fails_with 1 "HD >= 0" tiles --loop heat --unskewed
expect "an arithmetic that can be timed" run tiles --kernel

covey start --local 3 >/dev/null || bad "a virtual machine starts"
for tasks in 1 2 4 9 16; do
    expect "sqrt on $tasks tasks" checked -n $tasks -S 13x17x301 -k both -z 50
    expect "heat on $tasks tasks" checked -n $tasks -l heat -S 9x17x31 -k both -z 5,7
done
for shape in each columns; do
    expect "heat in tiles of least communication, $shape" checked -n 9 -l heat -S 19x17x31 -k both -z 5,8 --shape $shape
done
expect "a shape that there is not" fails_with 2 "none of each" tiles --shape round
for route in shm udp tcp; do
    expect "over $route" checked --route $route -n 4 -S 8x8x512 -z 64
done
on_one_host=(-n 4 --hosts h0 -S 8x8x512 -z 64 -k both)
says_faces() { grep -qx "faces: $1 in the first run" "$work/out" || { cat "$work/out" && false; }; }
expect "on one host" checked "${on_one_host[@]}"
expect "faces are put" says_faces "32 put into the memory of neighbours, 0 sent as messages"
expect "or sent" checked "${on_one_host[@]}" --faces messages
expect "if asked for" says_faces "0 put into the memory of neighbours, 32 sent as messages"
expect "both on one host and between hosts" checked -n 9 -g 9x1x1 --hosts h0,h0,h0,h1,h1,h1,h2,h2,h2 -S 9x8x512 -z 64
expect "some are put, some sent" grep -q ', overlapping, faces put and sent$' "$work/out"
expect "a grid of the user's" checked -n 4 -g 4x1x1 -S 16x5x64 -k both
expect "a grid that has more tasks" fails_with 1 "tiles" tiles -n 4 -g 3x3x1 -S 16x16x64
expect "a height that the model chose" run tiles -n 4 -S 8x8x2048 --json
expect "which was made of what was measured" says '"point_s":[0-9.e-]*[1-9]'
expect "both schedules by height" run tiles -n 4 -S 8x8x64 -k both --sweep --json
expect "with its figures" says '"trials":\[\{"schedule":"overlap","height":[0-9]+,"total_s":[0-9.e-]+,'
expect "two runs each of the chosen and four heights" test "$(grep -c '"height"' "$work/out")" = 10
# costs are measured where a height is chosen alone
has_line() { grep -qE -- "$1" "$work/out" || { cat "$work/out" && false; }; }
two_heights=(tiles --baseline 0 -n 4 -S 8x8x512 -z 32,64)
expect "runs of given heights" run "${two_heights[@]}"
expect "have no prediction" has_line '^overlap +32( +[0-9.]+){4} +- +-$'
expect "which is said" has_line '^tiles: .* tasks; no prediction: '
expect "so that none has a least time" has_line '^overlap: least [0-9.]+ s at height [0-9]+$'
expect "the same as JSON" run "${two_heights[@]}" --json
expect "has none, either" says '"predicted_s":null,"played_s":null'
expect "with the chosen height" run "${two_heights[@]}" --sweep
expect "they have" has_line '^overlap +32( +[0-9.]+){5} +[-+][0-9]+ %$'
expect "the virtual machine ends" covey halt
trap 'rm -rf "$work"' EXIT
finish
