#!/bin/bash
# predict_test.sh - covey calibrate and covey predict: what they print, keep and refuse, and that
# demos show the prediction where there is a calibration, and only there.
# timeout: 120
#
# No time is tested.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh
BUILD=${BUILD:-$PWD/build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-predict-test.XXXXXX")
export COVEY_VM=predict-$$ XDG_RUNTIME_DIR=$dir/run XDG_STATE_HOME=$dir/state COVEY_SOLVERS=$dir/solvers PATH=$BUILD/apps:$BUILD:$PATH
unset COVEY_SOCKET COVEY_ROUTE COVEYD COVEY_CALIBRATION
mkdir -m 700 "$dir/run"
trap 'covey halt >/dev/null 2>&1; rm -rf "$dir"' EXIT
file=$dir/state/covey/calibration.$COVEY_VM

says() { # status, pattern, command...
    local status
    timeout 300 "${@:3}" >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
    [ $status -eq "$1" ] && cat "$dir/out" "$dir/err" | grep -qE -- "$2" && return
    echo "${*:3}: status $status, said:" && cat "$dir/out" "$dir/err" && false
}
refuses() { # status, pattern, command...: one line
    says "$@" && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" -eq 1 ]
}

# ---- a calibration by hand: 2 hosts, 1 ns an operation, 100 Mbit/s ----

by_hand() {
    echo "date 2026-11-21T22:15:00Z"
    echo "route tcp 1e-4 8e-8 0.999 0.01 0 0"
    for host in h0 h1; do
        echo "host $host 1 1 1"
        for block in 64 128 256 512 1024 2048; do echo "matmul $host $block 1e-9"; done
        echo "sort $host 1e-9 1e-9"
        echo "mandel $host 1e-9"
    done
}

expect "without a calibration it says so" refuses 1 "$file: there is no calibration; run covey calibrate" covey predict matmul
mkdir -p "$dir/state/covey" && by_hand >"$file"
expect "and names another VM" refuses 1 "there is no calibration; run covey --vm other calibrate" covey --vm other predict matmul
expect "matmul alone takes N^3 operations" says 0 '^ +1 +1 +1\.000 +1\.000 ' covey predict matmul --size 1000 --procs 1
expect "matmul on 4 hosts is 2 x 2" says 0 '^ +4 +4 ' covey predict matmul --procs 1,4
expect "sort alone takes N log2 N" says 0 '^ +1 +1 +0\.020972 ' covey predict sort --size 1M --procs 1
expect "break-even and most efficient number" says 0 '^most efficient: 1 host ' covey predict sort --procs 1-8
expect "more hosts than gain anything" says 0 '^break-even: 1 host; more hosts gain no time' covey predict sort --procs 1-8
expect "mandel has a prediction" says 0 '^ +8 +8 ' covey predict mandel --size 64x48 --iterations 100 --procs 8
expect "the paper's equations" says 0 "the paper's equations" covey predict matmul --paper --procs 1,4
expect "they add communication up" says 0 '^ +4 +4 +1\.211 +0\.250 +0\.961 +0\.000000 ' \
    covey predict matmul --size 1000 --paper --procs 1,4
# ---- solvers, by kernels by hand: 10 ns to sort a key, 5 to merge, 1 to copy ----

kernels() { # of this machine
    for log2 in 10 12 14 16 18 20; do
        printf "$(uname -n) sort.n8.%s.$log2.x1 %s\n" sort 1e-8 merge 5e-9 copy 1e-9
    done
}

expect "a solver whose kernels were not measured" refuses 1 "was not measured.*run covey calibrate" covey predict sort --hosts 1
kernels >"$dir/solvers"
expect "one member sorts alone" says 0 '^local +0\.012000  taken' covey predict sort --hosts 1 --size 1000000
expect "all algorithms of a solver" says 0 '^hypercube +[0-9.]+' covey predict sort --hosts 2 --size 1M --route tcp
expect "hosts by name, as JSON" says 0 '"members": 4, "hosts": 2,.*"name": "sample", "total_s"' \
    covey predict sort --hosts h1,h0 --tasks 4 --json
expect "a host that is none" refuses 1 "host h7 was not calibrated" covey predict sort --hosts h0,h7
expect "a size that is none" refuses 1 "a size of '3x': it must be a number of keys" covey predict sort --hosts 1 --size 3x
expect "fewer tasks than hosts" refuses 2 "\-\-tasks 1: must be a number" covey predict sort --hosts 2 --tasks 1
expect "--hosts of a program" refuses 2 "\-\-hosts is for solvers alone" covey predict matmul --hosts 2
expect "an option that is no solver's" refuses 2 "sort takes \-\-size" covey predict sort --hosts 2 --procs 2

expect "matmul out of a bag" says 0 '^ +4 +4 ' covey predict matmul --form bag --procs 4
expect "and with blocks that are fetched" says 0 '^ +4 +4 ' covey predict matmul --form fetch --procs 4
expect "matmul in two levels" says 0 '^ +4 +16 ' covey predict matmul --form hierarchical --procs 4
expect "matmul in phases" says 0 '^ +4 +4 ' covey predict matmul --form phases --procs 4
expect "sort out of a bag" says 0 '^ +2 +2 ' covey predict sort --form bag --procs 2
expect "mandel out of a bag" says 0 '^ +2 +2 ' covey predict mandel --form bag --size 64x48 --procs 2
expect "a form that there is not" refuses 2 '--form x: must be' covey predict matmul --form x
expect "a form of matmul alone" refuses 2 'are for matmul alone' covey predict sort --form fetch
expect "the paper knows one form" refuses 2 '--form is not for --paper' covey predict matmul --form bag --paper
sed -E 's/^(host|link) .*/& 50M/' conf/topologies/faraj-c >"$dir/faraj-c"
expect "alltoall on one switch" says 0 '^ +4 +3 ' covey predict alltoall --procs 2-4
expect "alltoall on a network" says 0 '^ +32 +256 ' covey predict alltoall --topology conf/topologies/faraj-c --procs 32
for size in 16K 64K; do
    covey predict alltoall --topology "$dir/faraj-c" --procs 32 --size $size --json >"$dir/all.$size" 2>/dev/null
done
expect "each algorithm by its name" grep -qE '"scheduled_s": [0-9.]+, *"ring_s": [0-9.]+, *"pairwise_s": [0-9.]+' <(tr -d '\n' <"$dir/all.64K" | tr -s ' ')
slower() { # FILE RING|PAIRWISE: than the schedule, by a tenth and more
    tr ',{}' '\n' <"$1" | awk -v name="\"$2_s\":" '$1 == "\"scheduled_s\":" { s = $2 } $1 == name { t = $2 } END { exit !(s > 0 && t > 1.1 * s) }'
}
expect "the ring is slower than the schedule on four switches" slower "$dir/all.64K" ring
expect "and for shorter blocks" slower "$dir/all.16K" ring
expect "packing that was not measured" refuses 1 'the calibration has no packing' covey predict packing
echo "packing h0 double pack 1e-6 1e-9 1 0" >>"$file"
expect "a table as the paper's first one" says 0 '^131072 +132\.072 +0\.000 +0\.000 +10585\.760$' covey predict packing
expect "T_comm is T_pack and T_send" says 0 '^T_comm, tcp: 101\.000 us \+ 81\.0000 ns N, of it T_pack 1\.000 us' covey predict packing
expect "packing as JSON" says 0 '"pack_s": 0\.00013207' covey predict packing --json
for line in "double unpack 0 1e-9" "double convert 0 9e-9" "int64 unpack 0 1e-9" "int64 convert 0 9e-9"; do
    for host in h0 h1; do echo "packing $host $line 1 0"; done
done >>"$file"
total_of() { # FILE ARGUMENT...: of a prediction by that calibration
    COVEY_CALIBRATION=$1 covey predict "${@:2}" --json | sed -n 's/^ *"total_s": \([0-9.eE+-]*\),*$/\1/p'
}
turned() { # SECONDS ARGUMENT...: what a host of the other byte order makes longer, by what is turned
    local one other
    { cat "$file" && echo "order h0 little" && echo "order h1 little"; } >"$dir/one"
    { cat "$file" && echo "order h0 little" && echo "order h1 big"; } >"$dir/other"
    one=$(total_of "$dir/one" "${@:2}") && other=$(total_of "$dir/other" "${@:2}") &&
        awk -v more="$1" -v one="$one" -v other="$other" 'BEGIN { off = other - one - more; exit !(one > 0 && off < 1e-6 && off > -1e-6) }'
}
expect "half of the keys are turned on each host" turned 0.067108864 sort --size 1M --procs 2
expect "and packing says what turning takes" says 0 '^h1, where h0 has the other byte order, turns: 0\.000 us \+ 8\.0000 ns N more$' \
    env COVEY_CALIBRATION="$dir/other" covey predict packing
expect "hosts whose order is not known turn none" test "$(total_of "$file" sort --size 1M --procs 2)" = "$(total_of "$dir/one" sort --size 1M --procs 2)"
expect "a size of packing" refuses 2 'packing takes no option' covey predict packing --size 4
by_hand >"$file"
expect "JSON" says 0 '"efficient": 1,' covey predict sort --procs 1-3 --json
expect "a problem of three numbers of hosts" test "$(grep -c '"hosts":' "$dir/out")" = 3

# ---- what was measured ----

run='{"program": "sort", "hosts": 2, "total_s": 0.5}'
echo "$run $run" >"$dir/runs"
expect "measured beside predicted" says 0 '^ +2 +2 .* 0\.500 +\+?-?[0-9]+ %$' covey predict sort --procs 1,2 --measured "$dir/runs"
expect "runs of another program" refuses 1 'holds something else than runs of matmul' covey predict matmul --measured "$dir/runs"
echo "$run {" >"$dir/runs"
expect "half a run" refuses 1 'holds something else than runs of sort' covey predict sort --measured "$dir/runs"
expect "no such file" refuses 1 'none: cannot be read' covey predict sort --measured "$dir/none"
if command -v gnuplot >/dev/null; then
    expect "a picture" says 0 break-even covey predict sort --procs 1-4 --plot "$dir/sort.png"
    expect "it is a PNG" grep -q PNG "$dir/sort.png"
    expect "a picture of an all-to-all" says 0 BOUND covey predict alltoall --procs 2-4 --plot "$dir/all.png"
else
    skip "pictures" "gnuplot is not installed"
fi
expect "a picture where there is no folder" refuses 1 '--plot .*: No such file' covey predict sort --plot "$dir/no/x.png"

# ---- tiles: 4 x 4 tasks, a point takes a microsecond, messages 100 us + 80 ns a byte ----

# 4 x 4 x 1024 points a tile: 16 steps, of which the first are 3 + 3 ahead; P'(g) = 2 (3 + 3) + 15 + 1
expect "a step of the overlapping schedule" says 0 '^ +1024 +0\.459 ' covey predict tiles --point 1000
expect "and it names the paper's equations" says 0 'OVERLAP by \(5\) and \(7\), BLOCK by \(3\)' covey predict tiles --point 1000
expect "the program is asked what a point takes" says 0 'chosen height' covey predict tiles --procs 4 --size 8x8x512
expect "heat" says 0 '^tiles: heat' covey predict tiles --loop heat --size 64x16x16 --procs 4 --point 5
expect "the chosen height is the least predicted" says 0 '^overlap: chosen height [0-9]+, least predicted [0-9.]+ s$' covey predict tiles --point 1000
expect "a size in K" says 0 '16 x 16 x 16384 on' covey predict tiles --point 1000 --size 16x16x16K
expect "a calibration without start-up times says so" says 0 'all is taken for latency. Calibrate again' covey predict tiles --point 1000
chosen() { covey predict tiles --point 1000 | sed -n 's/^overlap: chosen height \([0-9]*\),.*/\1/p'; }
by_hand | sed '2a start tcp 2e-5' >"$dir/started"
expect "start-up that occupies the processor makes tiles high" \
    test "$(COVEY_CALIBRATION=$dir/started chosen)" -gt "$((2 * $(chosen)))"
expect "it is shown" says 0 'of which 20 \+ 0 N occupy a task' env COVEY_CALIBRATION="$dir/started" covey predict tiles --point 1000
expect "heat in tiles of least communication" says 0 '^tiles: heat' covey predict tiles --loop heat --shape columns --size 64x16x16 --procs 4 --point 5
expect "a shape that there is not" refuses 2 '--shape round: must be' covey predict tiles --shape round
expect "a shape of sort" refuses 2 '--shape is for tiles' covey predict sort --shape each
expect "its JSON" says 0 '"chosen": \{' covey predict tiles --point 1000 --json
cat >"$dir/sweep" <<'TEXT'
{"program": "tiles", "loop": "sqrt", "size": [16, 16, 4096], "grid": [4, 4, 1], "tasks": 16,
 "costs": {"point_s": 1e-6, "alpha_s": 1e-4, "beta_s": 8e-8, "start_s": 1e-5, "drag_s": 1e-9},
 "trials": [{"schedule": "overlap", "height": 100, "total_s": 0.25}, {"schedule": "block", "height": 300, "total_s": 0.5}]}
TEXT
expect "what was measured says the rest" says 0 '^ +100 .* 0\.250 +[0-9.]+ +[0-9.]+ +-$' covey predict tiles --measured "$dir/sweep"
expect "the least time measured" says 0 '^block: .* measured 0\.5 s at 300' covey predict tiles --measured "$dir/sweep"
sed 's/"costs": .*,$/"costs": {"point_s": 0.0, "alpha_s": 0.0, "beta_s": 0.0, "start_s": 0.0, "drag_s": 0.0},/' "$dir/sweep" >"$dir/more"
expect "runs without costs beside others" says 0 '^ +100 .* 0\.250 +[0-9.]+ ' covey predict tiles --measured "$dir/sweep" --measured "$dir/more"
expect "runs without costs alone" refuses 1 'more: holds something else' covey predict tiles --measured "$dir/more"
command -v gnuplot >/dev/null && expect "a picture of tiles" says 0 HEIGHT covey predict tiles --measured "$dir/sweep" --plot "$dir/tiles.png"
sed 's/16, 16, 4096/16, 16, 4097/' "$dir/sweep" >"$dir/other"
expect "runs of two spaces" refuses 1 'other: holds something else' covey predict tiles --measured "$dir/sweep" --measured "$dir/other"
sed 's/"alpha_s": 1e-4/"alpha_s": -1/' "$dir/sweep" >"$dir/other"
expect "costs below nothing" refuses 1 'other: holds something else' covey predict tiles --measured "$dir/other"
expect "a size of two" refuses 2 'must be IxJxK' covey predict tiles --size 16x16
expect "a point of nothing" refuses 2 '--point 0: must be' covey predict tiles --point 0
expect "an unknown loop" refuses 2 'must be sqrt or heat' covey predict tiles --loop snow
expect "two numbers of tasks" refuses 2 'one number of tasks' covey predict tiles --procs 1-4
expect "a loop of sort" refuses 2 '--loop is for tiles' covey predict sort --loop sqrt
expect "tiles by other equations" refuses 2 '--paper is not for tiles' covey predict tiles --paper

# ---- what it refuses ----

expect "no program" refuses 2 'no program is named' covey predict
expect "two programs" refuses 2 'one program at a time' covey predict sort matmul
expect "an unknown one" refuses 2 'must be matmul, sort' covey predict primes
for procs in 0 257 2-1 x 1,,2 ""; do
    expect "procs '$procs'" refuses 2 "--procs $procs: must be" covey predict sort --procs "$procs"
done
for size in 0 -1 x 1T 1.5 99999999999999G ""; do
    expect "size '$size'" refuses 2 "--size $size: of sort" covey predict sort --size "$size"
done
expect "a picture's size" refuses 2 'must be WIDTHxHEIGHT' covey predict mandel --size 100
expect "a matrix that is too large" refuses 1 'N must be' covey predict matmul --size 2G
expect "a picture that is all one point" refuses 2 '--zoom 0: must be' covey predict mandel --zoom 0
expect "a tolerance" refuses 2 '--tolerance 2: must be' covey predict sort --tolerance 2
expect "shm between hosts" refuses 2 '--route shm: must be' covey predict sort --route shm
expect "a route that was not measured" refuses 1 'no route udp' covey predict sort --route udp
expect "a topology of a sort" refuses 2 '--topology is for alltoall' covey predict sort --topology x
refuses_file() { # line, pattern
    { by_hand && echo "$1"; } >"$dir/bad"
    COVEY_CALIBRATION=$dir/bad refuses 1 "$dir/bad:21: $2" covey predict sort
}
expect "a file with a word too many" refuses_file "mandel h1 1 2" "a line 'mandel' has 3 words, not 4"
expect "a file with a figure that is none" refuses_file "route udp 1 nan 1 1 1 1" "'nan' is no number"
expect "a file with a host too late" refuses_file "sort h2 1e-9 1e-9" "no line 'host h2"
expect "a route of all hosts that was not measured" refuses_file "all udp 4 1e-9 1e-7" "no line 'route udp"
expect "peers in the wrong order" refuses_file "peers tcp h1 h0 1 1" "'h0' stands before 'h1'"
expect "peers with a host that there is not" refuses_file "peers tcp h0 h7 1 1" "no line 'host h7"
expect "a start of a route that was not measured" refuses_file "start udp 1e-6" "no line 'route udp"
expect "inside of an unknown route" refuses_file "inside tls 1 1 1 1 1" "'tls' is none"
expect "a file with packing of no type" refuses_file "packing h1 int65 pack 0 1e-9 1 0" "'int65' is no type of packing"
expect "a file with another language" refuses_file "hello" "'hello' begins no line"

# ---- in a virtual machine ----

expect "no virtual machine" refuses 1 "no VM named $COVEY_VM runs here" covey calibrate
covey start --local 2 >/dev/null || bad "a virtual machine of two hosts starts"
rm -f "$file"
expect "a demo without a calibration" says 0 speed-up sort --keys 1K --baseline 0
expect "it predicts nothing" test -z "$(grep predicted "$dir/out" "$dir/err")"
by_hand >"$file"
expect "a demo with one" says 0 '^ +predicted +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[-+][0-9]+ %$' sort --keys 1K --baseline 0
expect "one out of a bag, too" says 0 '^ +predicted +[0-9.]+ ' matmul --size 64 --bag --baseline 0
expect "and in two levels" says 0 '^ +predicted +[0-9.]+ ' matmul --size 64 --hierarchical --baseline 0
expect "and in phases" says 0 '^ +predicted +[0-9.]+ ' matmul --size 64 --phases --baseline 0
expect "and a sort" says 0 '^ +predicted +[0-9.]+ ' sort --keys 1K --bag --baseline 0
expect "and as JSON" says 0 '"predicted": \{' mandel --size 64x48 --baseline 0 --json
echo nonsense >"$file"
expect "a calibration that is none" says 0 "nothing is predicted: $file:1: 'nonsense' begins no line" \
    matmul --size 100 --baseline 0
rm -f "$file"
at_terminal() { # answer: what covey predict says to it at a terminal
    echo "$1" | timeout 100 script -qec "covey predict matmul --procs 1" /dev/null >"$dir/out"
}
expect "at a terminal it asks" eval '! at_terminal n'
expect "and takes a no" grep -q 'measure its hosts now?.*\[y/N\].*' "$dir/out"
expect "which makes no calibration" test ! -e "$file"
expect "a yes" at_terminal y
expect "makes one and goes on" grep -qE '^ +1 +1 ' "$dir/out"
expect "for all hosts" grep -q '^host h1 ' "$file"
expect "an unknown host" refuses 1 'host h9 is not in the virtual machine' covey calibrate --host h9
expect "an operand" refuses 2 'x: there are no operands' covey calibrate x
expect "no route between hosts" refuses 2 '--route shm: must be udp, tcp or ether' covey calibrate --route shm
expect "calibrate two hosts" says 0 "^h0 +h1 +[0-9.]+ " covey calibrate
expect "packing is part of it" grep -qE '^complex_double( +[0-9.]+){10} ' "$dir/out"
expect "new memory, too" grep -qE '^touch h1 [0-9.e-]+$' "$file"
expect "and the byte order" grep -qxE 'order h1 (little|big)' "$file"
expect "the file has each pair" grep -q '^peers tcp h0 h1 ' "$file"
expect "and each way to pack each type" test "$(grep -c '^packing h1 ' "$file")" = 36
expect "one route" says 0 "^Written: $file" covey calibrate --host h0,h1 --route tcp
expect "and no other" test "$(awk '$1 == "route" { print $2 }' "$file" | tr '\n' ' ')" = "shm tcp "
expect "calibrate" says 0 "^Written: $file" covey calibrate --host h0
expect "it finds shared memory" grep -q '^shm ' "$dir/out"
expect "the file names the VM" grep -qx "vm $COVEY_VM" "$file"
expect "and the host" grep -q '^host h0 ' "$file"
expect "and no other one" test "$(grep -c '^host ' "$file")" = 1
expect "what it wrote can be read" says 0 '^ +1 +1 ' covey predict matmul --procs 1
expect "a host that was not calibrated is not predicted" says 0 speed-up sort --keys 1K --baseline 0
expect "nothing stands there" test -z "$(grep predicted "$dir/out" "$dir/err")"
expect "the virtual machine ends" covey halt

# ---- all solvers that were built, by their own kernels ----

export COVEY_SOLVERS=$dir/measured
by_hand >"$file"
expect "this machine measures the kernels of all solvers" covey-solvers calibrate
while read -r library _; do
    expect "$library is predicted on two hosts" says 0 '^[^ ]+ +[0-9.]+  taken$' covey predict "$library" --hosts 2
    expect "$library refuses a size" refuses 1 "a size of 'none'" covey predict "$library" --hosts 2 --size none
done < <(covey-solvers list)

finish
