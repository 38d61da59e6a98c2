#!/bin/bash
# bench_test.sh - covey bench: what it prints, what it refuses, and that nothing is left behind.
# timeout: 120
#
# No time is tested. Everything that is started carries COVEY_BENCH_TEST in its environment.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tool/bench.sh
export COVEY_BENCH_TEST=$$

quick() { bench --rounds 2 --batch 100 "$@"; }

# ---- what it refuses ----

expect "without a VM it says so" refuses 1 "no VM named $COVEY_VM runs here" pingpong
covey start --local 2 >/dev/null || bad "a virtual machine of two hosts starts"
expect "no benchmark" refuses 2 'no benchmark is named; see: covey help bench'
expect "an unknown benchmark" refuses 2 'pong: must be pingpong, stream' pong
expect "two benchmarks" refuses 2 'stream: one benchmark at a time' pingpong stream
expect "an unknown route" refuses 2 '--route foo: must be' pingpong --route foo
for routes in tcp,foo tcp, ,tcp tcp,udp,tcp auto,shm,udp,tcp,ether; do
    expect "routes $routes" refuses 2 "--route $routes: must be" pingpong --route "$routes"
done
expect "two routes of a barrier" refuses 2 '--route: barrier takes one' barrier --route tcp,udp
expect "a pause of a stream" refuses 2 '--pause: only pingpong' stream --pause 10
expect "a pause of more than a second" refuses 2 '--pause 1000001: must be' pingpong --pause 1000001
expect "an unknown packing" refuses 2 '--pack foo: must be' pingpong --pack foo
for sizes in 0 -1 1,,2 1X K 2G 1T "" 99999999999999999999 "$(printf '1,%.0s' {1..41})1"; do
    expect "sizes ${sizes:0:24}" refuses 2 '--sizes .*: must be at most' pingpong --sizes "$sizes"
done
expect "rounds 0" refuses 2 '--rounds 0: must be a number' pingpong --rounds 0
expect "rounds 10001" refuses 2 '--rounds 10001: must be a number' pingpong --rounds 10001
expect "spin 101" refuses 2 '--spin 101: must be a number' pingpong --spin 101
expect "tasks of a ping-pong" refuses 2 '--tasks: pingpong has two' pingpong --tasks 3
expect "hosts of a ping-pong" refuses 2 '--host: pingpong is between two' pingpong --host h0,h1,h9
expect "a barrier of one" refuses 2 '--tasks 1: must be at least 2' barrier --tasks 1
expect "an unknown host" refuses 1 "'h9'" pingpong --host h0,h9
expect "an empty host" refuses 2 '--host h0,: must be' pingpong --host h0,
expect "shm between hosts" refuses 1 'another host' pingpong --route shm --host h0,h1
expect "ether within a host, named once" refuses 1 '^covey: bench: a peer: route ether: [^:]* same host: take shm' \
    pingpong --route ether --host h0,h0
expect "ether, which --local hosts have not" refuses 1 'ether' pingpong --route ether

# ---- what it prints ----

# The route, and the raw programs beside Covey at one byte and at a megabyte.
ROUTES="shm:futex futex-spin copies unix:futex futex-spin copies unix
udp:udp udp-spin tcp tcp-spin:tcp tcp-spin
tcp:tcp tcp-spin:tcp tcp-spin"

shows_pingpong() { # route, names, names at 1M
    quick pingpong --route "$1" --sizes 1,64K,1M --json || return
    [ "$(grep -o '"bytes": [0-9]*' "$dir/out" | tr '\n' ' ')" = '"bytes": 1 "bytes": 65536 "bytes": 1048576 ' ] || return
    command -v python3 >/dev/null || return 0
    python3 - "$dir/out" "$1" "covey $2" "covey $3" <<'EOF'
import json, sys
found = json.load(open(sys.argv[1]))
assert found["benchmark"] == "pingpong" and found["route"] == sys.argv[2], found
assert found["rounds"] == 2 and found["hosts"] == (["h0"] if sys.argv[2] == "shm" else ["h0", "h1"])
assert [row["bytes"] for row in found["rows"]] == [1, 65536, 1048576]
for row, names in (found["rows"][0], sys.argv[3]), (found["rows"][2], sys.argv[4]):
    assert " ".join(s["name"] for s in row["series"]) == names, row
    for s in row["series"]:
        assert 0 < s["min_us"] <= s["q1_us"] <= s["us"] <= s["q3_us"] <= s["max_us"], s
        assert s["ratio"] > 0 and abs(s["mb_per_s"] * s["us"] - row["bytes"]) < 1e-3 * row["bytes"]
    assert row["series"][0]["ratio"] == 1 and row["series"][0]["task_cpu_s_per_gb"] > 0
fit = found["fits"]["covey"]
assert fit["r2"] <= 1 and fit["worst"] >= 0 and {"alpha_us", "beta_ns_per_byte"} <= set(fit)
if sys.argv[2] == "udp":
    assert sum(row["series"][0]["daemon_cpu_s_per_gb"] for row in found["rows"]) > 0
EOF
}
while IFS=: read -r route names names_at_1m; do
    expect "pingpong over $route" shows_pingpong "$route" "$names" "$names_at_1m" || cat "$dir/err"
done <<<"$ROUTES"

table_has() { # pattern
    grep -qE -- "$1" "$dir/out" || { echo "no $1 in:" && cat "$dir/out" && false; }
}

shows_table() {
    quick pingpong --route tcp --host h1,h0 --sizes 1,4K,64K && [ ! -s "$dir/err" ] &&
        table_has '^pingpong on h1, h0, route tcp, messages array; 2 rounds$' &&
        table_has '^ *BYTES +US +MIN +Q1 +Q3 +MB/S +TASKS +DAEMONS +tcp +RATIO +tcp-spin +RATIO$' &&
        table_has '^ *65536( +[0-9.]+){11}$' &&
        tail -n 1 "$dir/out" | grep -qE '^covey: alpha -?[0-9.]+ us, beta -?[0-9.]+ ns/byte \(.* MB/s\), R2 '
}
expect "a table, and alpha and beta last" shows_table

shows() { # arguments, pattern
    # shellcheck disable=SC2086
    quick $1 && [ ! -s "$dir/err" ] && table_has "$2"
}
for pack in bytes in-place double; do
    expect "messages packed $pack" shows "pingpong --sizes 1,7,1K --pack $pack" "messages $pack;"
done
expect "--in-place" shows "pingpong --sizes 1K --in-place" 'messages in-place;'
shows_routes() {
    shows "pingpong --sizes 1,1K,64K --spin 0 --route tcp,udp" '^pingpong on .*, route tcp and udp,' &&
        table_has ' DAEMONS +covey-udp +RATIO +tcp +RATIO$' && table_has '^covey-udp: alpha ' &&
        tail -n 1 "$dir/out" | grep -q '^covey-tcp: alpha '
}
expect "two routes in one run" shows_routes
shows_pauses() {
    shows "pingpong --sizes 1 --pause 500 --route tcp" ' DAEMONS +tcp +RATIO$' &&
        table_has '^Each message is sent after a pause of 500 us'
}
expect "receivers that sleep" shows_pauses
expect "without spinning" shows "pingpong --sizes 1 --spin 0 --route tcp" ' +tcp +RATIO$'
expect "one host, another route" shows "pingpong --sizes 1K --route tcp --host h1,h1" '^ *1024'
for route in shm udp tcp; do
    expect "stream over $route" shows "stream --sizes 64,256K --route $route" '^ *262144( +[0-9.]+)+$'
done
expect "mcast on one host" shows "mcast --sizes 1,64K --tasks 4 --host h0" '^mcast on h0, 4 tasks, route auto;'
expect "mcast over two" shows "mcast --sizes 1,64K --tasks 3" '^ *65536( +[0-9.]+){7}'
no_cpu() { # a broadcast's is not taken
    quick bcast --sizes 1 --tasks 3 --json && [ "$(grep -c '_cpu_s_per_gb": null' "$dir/out")" -ge 2 ] &&
        ! grep -q '_cpu_s_per_gb": [0-9]' "$dir/out"
}
expect "processor time that was not taken is none" no_cpu
expect "bcast over two" shows "bcast --sizes 1,64K --tasks 3 --route udp" "^ *65536( +[0-9.]+){9}$"
expect "barrier" shows "barrier --tasks 5" '^5 tasks( +[0-9.]+){4}'
expect "spawn" shows "spawn --tasks 5" '^join( +[0-9.]+){6}$'
expect "spawn on two hosts" shows "spawn --tasks 5 --host h0,h1" '^spawn on h0, h1, 5 tasks; 2 rounds$'

# ---- what it leaves ----

ours() { # the names of our processes
    grep -lsz "^COVEY_BENCH_TEST=$$\$" /proc/[0-9]*/environ | cut -d/ -f3 | while read -r pid; do
        cat "/proc/$pid/comm" 2>/dev/null
    done | grep -xE "$1"
}
none_of_ours() { ! ours "$1"; }
wait_until_gone() { # names
    within 5 none_of_ours "$1" || { ours "$1" && false; }
}
expect "no task is left" wait_until_gone covey-bench

# A benchmark that would take an hour.
start_long() {
    env --default-signal=INT covey bench pingpong --route tcp --batch 1000000 --rounds 1000 \
        >"$dir/out" 2>"$dir/err" &
    job=$!
    within 5 eval '[ "$(ours covey-bench | wc -l)" -eq 2 ]'
}

ends_with() { # status
    local status
    wait $job
    status=$?
    [ $status -eq "$1" ] && wait_until_gone covey-bench && return
    echo "status $status" && cat "$dir/err" && false
}

is_ended_by() { # signal, expected status
    start_long
    kill "-$1" $job
    ends_with "$2" 2>/dev/null
}
expect "SIGINT ends it" is_ended_by INT 130
expect "its death ends the tasks" is_ended_by KILL 137

peer_dies() {
    start_long
    covey kill "$(covey ps | awk '/ peer$/ { print $1 }')"
    ends_with 1 && [ "$(wc -l <"$dir/err")" -eq 1 ]
}
expect "a peer's death is an error in one line" peer_dies
expect "the tasks' program says what it is for" \
    test "$(covey-bench 2>&1)" = "covey-bench: is started by: covey bench"
covey halt
expect "nothing is left" wait_until_gone 'covey|coveyd|covey-bench'

# ---- raw Ethernet beside the other routes, between two hosts that have it: as its manual page shows ----

over_ether() {
    tests/lab/vm.sh --hosts 2 -- covey bench pingpong --route ether,tcp,udp --sizes 1,1K,16K --rounds 2 --batch 100 >"$dir/out" 2>&1 &&
        grep -q '^covey-udp: alpha' "$dir/out" && return
    cat "$dir/out" && false
}
if [ "$(id -u)" = 0 ] && unshare --net true 2>/dev/null; then
    expect "ether, tcp and udp in one run" over_ether
else
    skip "ether, tcp and udp in one run" "needs root and network namespaces"
fi

finish
