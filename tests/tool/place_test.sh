#!/bin/bash
# place_test.sh - where tasks go: round robin over equal hosts, not to a loaded one, and why.
#
# A virtual machine of four virtual hosts; for one of them /proc is a folder that tells of another
# machine and of its load.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
work=$dir

# A /proc of a machine of its own; without /proc/stat the load average is all that is known.
proc_of() { # folder, load
    mkdir -p "$work/$1/sys/kernel/random"
    echo "$1" >"$work/$1/sys/kernel/random/boot_id"
    echo "$2 $2 $2 1/100 1" >"$work/$1/loadavg"
    printf 'MemTotal: 8000000 kB\nMemAvailable: %s kB\n' "${3:-4000000}" >"$work/$1/meminfo"
    printf '[monitor]\nprocfs = %s\n' "$work/$1" >"$work/$1.conf"
}
start() { # hosts, each with a covey.conf
    local host
    for host; do echo "$host launcher=local address=127.0.0.1 config=$work/$host.conf"; done >"$work/hosts"
    covey start --as "$1" --hosts "$work/hosts" >"$work/said" 2>&1 || { cat "$work/said" && return 1; }
}
# How many of n tasks went to each host: "a 2 b 1"
# shellcheck disable=SC2016 # for the shell of the task
went() { # n, options
    local n=$1
    shift
    covey run -n "$n" "$@" sh -c 'basename "$COVEY_SOCKET" .sock' 2>"$work/why" | sort | uniq -c |
        awk '{ printf "%s%s %s", sep, $2, $1; sep = " " }'
}
is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'" && cat "$work/why" && return 1; }; }

proc_of a 0.00
proc_of b 8.00
proc_of c 0.00 1000000
proc_of d 0.00
cores=$(nproc)

avoids() { is "$(went 3)" "a 1 c 1 d 1" && is "$(went 3)" "a 1 c 1 d 1"; }
says_why() {
    is "$(went 3 --explain)" "a 1 c 1 d 1" && cat "$work/why" &&
        grep -qE '^b +0 +others end earlier: 0\.[0-9]+ of a core \(8\.0 compete for [0-9.]+ cores?\)(, speed [0-9.]+)?$' "$work/why" &&
        grep -qE '^a +1 +in turn with equal ones: ' "$work/why"
}
is_not_asked() { is "$(went 4 --host b --explain)" "b 4" && grep -qE '^b +4 +named' "$work/why"; }
has_no_room() {
    is "$(went 2 --memory 2G --explain)" "a 1 d 1" && grep -qE '^c +0 +it has 977 MiB of free memory' "$work/why"
}
# A host that swaps, or whose link is full; rates are of the time between two looks, and a look is no
# older than half a second.
looks() { covey top --once >"$work/top" && sleep 0.6 && covey top --once >"$work/top"; }
swaps() {
    cp "$work/d/loadavg" "$work/b/loadavg"
    printf 'pswpin 0\npswpout 0\npgmajfault 0\n' >"$work/b/vmstat"
    looks
    printf 'pswpin 900000000\npswpout 0\npgmajfault 0\n' >"$work/b/vmstat"
    sleep 0.6
    is "$(went 3 --explain)" "a 1 c 1 d 1" && cat "$work/why" && grep -qE '^b +0 +it pages$' "$work/why"
}
is_full() {
    rm "$work/b/vmstat"
    mkdir -p "$work/b/net"
    echo "eth0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" >"$work/b/net/dev"
    looks
    echo "eth0: 0 0 0 0 0 0 0 0 9000000000000 0 0 0 0 0 0 0" >"$work/b/net/dev"
    sleep 0.6
    is "$(went 3 --explain)" "a 1 c 1 d 1" && cat "$work/why" &&
        grep -qE '^b +0 +others end earlier: .* 100 % of its link used$' "$work/why" || return 1
    echo "8.00 8.00 8.00 1/100 1" >"$work/b/loadavg"
    sleep 0.6
}
arch=$(uname -m)
takes_arch() {
    is "$(went 3 --arch "$arch")" "a 1 c 1 d 1" && is "$(went 1 --arch "$arch" --host d)" "d 1"
}
refuses_arch() {
    covey run --arch pdp11 true 2>"$work/why" && return 1
    grep -q 'spawn: no host is pdp11' "$work/why" || { cat "$work/why" && return 1; }
    covey run --arch pdp11 --host d true 2>"$work/why" && return 1
    grep -q "host d is $arch, not pdp11" "$work/why" || { cat "$work/why" && return 1; }
}
adds_arch() {
    printf '* launcher=local address=127.0.0.1\ne arch=pdp11\nf arch=%s\n' "$arch" >"$work/more"
    covey add --hosts "$work/more" >"$work/added" 2>"$work/why" && return 1
    cat "$work/added" "$work/why"
    grep -q "e: did not join: it is $arch, not pdp11" "$work/why" && grep -q '^f joined' "$work/added" &&
        [ "$(covey hosts | grep -cE '^(e|f) .* up ')" = 1 ] && covey remove f
}

bad_memory() {
    covey run --memory lots true 2>"$work/why" && return 1
    grep -q 'covey: run: --memory lots: must be a size' "$work/why"
}
# A task for each processor that is free: b has none.
takes_what_is_free() {
    is "$(went auto --explain)" "a $cores c $cores d $cores" && cat "$work/why" &&
        grep -qE '^b +0 +8\.0 compete for [0-9.]+ cores?$' "$work/why" && grep -qE "^a +$cores +0\.0 compete" "$work/why" &&
        is "$(went auto --host b,c)" "c $cores" && is "$(went auto --each --host b,c)" "b 1 c $cores"
}
takes_one_where_nothing_is_free() {
    is "$(went auto --host b --explain)" "b 1" && grep -qE '^b +1 +no processor is free, a task ends first here' "$work/why"
}
takes_what_fits() { # c has 977 MiB, d 3906
    is "$(went auto --host c,d --memory 900M --explain)" "c 1 d $((cores < 4 ? cores : 4))" && grep -qE '^c +1 +it has 977 MiB' "$work/why"
}
bad_auto() {
    covey run -n automatic true 2>"$work/why" && return 1
    grep -q 'covey: run: -n automatic: must be a number in 1 .. [0-9]*, or auto' "$work/why" || return 1
    covey run -n auto --traffic t40001:1G true 2>"$work/why" && return 1
    grep -q 'covey: run: --traffic is not for -n auto' "$work/why"
}
silent() { # one that does not answer at all
    local pid
    pid=$(daemon_pid d)
    [ -n "$pid" ] || return 1
    kill -STOP "$pid"
    went 2 --explain --no-descendants >"$work/two"
    kill -CONT "$pid"
    cat "$work/why"
    is "$(cat "$work/two")" "a 1 c 1" && grep -qE '^d +0 +it does not answer' "$work/why"
}

# Two hosts between which messages are free, and others between which they are slow.
calibrated() {
    {
        echo "date 2026-11-22T05:00:00Z"
        echo "route tcp 1e-4 1e-8 1 0 0 0"
        printf 'host %s 1 1 1\n' a b c d
        echo "peers tcp a d 1e-4 1e-8"
        echo "peers tcp c d 1e-4 1e-13"
    } >"$work/calibration"
    export COVEY_CALIBRATION=$work/calibration
}
goes_near() { # where another task is that it talks to
    local tid status=0
    calibrated
    covey run --host d sleep 60 &
    until tid=$(covey ps --json | grep -o '"tid": "t[0-9a-f]*"' | grep -o 't[0-9a-f]*"$'); do sleep 0.1; done
    is "$(went 1 --traffic "${tid%\"}:4G" --explain)" "c 1" && grep -qE '^a .* 42\.9 s for its traffic' "$work/why" || status=1
    covey kill "${tid%\"}" && wait $!
    return $status
}
shows_pairs() {
    calibrated
    covey hosts --peers >"$work/peers" && cat "$work/peers" &&
        grep -qE '^c +d +- +- +100\.00 +0\.0001 +- +-$' "$work/peers" && grep -q '^Measured 2026-11-22T05:00:00Z' "$work/peers" &&
        [ "$(covey hosts --peers --json | grep -c '"route": "tcp"')" = 2 ]
}
shows_no_pairs() {
    COVEY_CALIBRATION=$work/none covey hosts --peers 2>"$work/why" && return 1
    grep -q 'covey: hosts: .*there is no calibration; run covey calibrate' "$work/why"
}
bad_traffic() {
    covey run --traffic 5G true 2>"$work/why" && return 1
    grep -q 'covey: run: --traffic 5G: must be TID:BYTES' "$work/why"
}

if expect "four hosts, one of them loaded" start a b c d; then
    expect "spawn avoids the loaded host" avoids
    expect "--explain says why" says_why
    expect "a host that was named is taken" is_not_asked
    expect "no task goes where it has no room" has_no_room
    expect "a size that is none is refused" bad_memory
    expect "hosts of an architecture are asked for" takes_arch
    expect "an architecture that no host has is refused" refuses_arch
    expect "a host of another architecture does not join" adds_arch
    expect "a task goes where it talks fastest to another" goes_near
    expect "covey hosts shows alpha and beta between each two" shows_pairs
    expect "without a calibration it says so" shows_no_pairs
    expect "traffic with nobody is refused" bad_traffic
    expect "-n auto: a task for each processor that is free" takes_what_is_free
    expect "one where none is free" takes_one_where_nothing_is_free
    expect "no more than there is memory for" takes_what_fits
    expect "auto alone is meant by auto, and takes no traffic" bad_auto
    unset COVEY_CALIBRATION
    expect "a host that pages gets nothing" swaps
    expect "a host whose link is in use is avoided" is_full
    expect "a silent host is left out" silent
    covey halt
fi

round_robin() {
    is "$(went 8)" "h0 2 h1 2 h2 2 h3 2" &&
        is "$(went 5 --explain | wc -w)" 8 && ! grep -q 'does not answer' "$work/why"
}
speeds() { # virtual hosts that play unequal ones
    printf 'slow launcher=local address=127.0.0.1\nfast launcher=local address=127.0.0.1 speed=3000\n' >"$work/hosts"
    covey start --as slow --hosts "$work/hosts" >/dev/null || return 1
    is "$(went "$cores" --explain)" "fast $cores" && grep -q 'speed 3.00' "$work/why" && covey halt
}
# Whatever load the machine has: no more tasks than it has processors, and one at least.
shares_processors() {
    local n
    n=$(covey run -n auto --explain echo started 2>"$work/why" | grep -c started)
    cat "$work/why" && [ "$n" -ge 1 ] && [ "$n" -le "$cores" ] && grep -qE '^h3 +[0-9]+ .*, which 4 hosts share$' "$work/why"
}
ended() {
    local status=0
    proc_of e 0.00
    echo 'period = 3600' >>"$work/e.conf"
    start e && "$BUILD/tests/tool/ended" "$work/e/stat" || status=1
    covey halt && return $status
}
expect "what a task used that has ended is no demand" ended

covey start --local 4 >/dev/null || bad "four virtual hosts start"
expect "equal hosts take turns" round_robin
expect "-n auto knows that they share processors" shares_processors
covey halt
expect "the fast host gets the first tasks" speeds
finish
