#!/bin/bash
# timeout: 120
# Bulk messages between eight tasks on four hosts, with each way to keep out of contention: all of
# them come, over each route between hosts, whoever dies: a task that holds a token, the daemon that
# gives them.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
program=$BUILD/tests/conformance/bulk
conf=$dir/config/covey/covey.conf

start() { # lines of [contention]
    covey halt >/dev/null 2>&1
    printf '[daemon]\nfail_timeout = 2\n[contention]\n' >"$conf"
    printf '%s\n' "$@" >>"$conf"
    covey start --local 4 >/dev/null || bad "a virtual machine starts"
}

run() { # name, options of covey run, --, arguments
    local name=$1 options=()
    shift
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    count_lines "$name" < <(timeout 300 covey run "${options[@]}" "$program" "$@" 2>&1)
}

stat() { covey stats | awk -v name="contention.$1" '$2 == name { sum += $3 } END { print sum + 0 }'; }

rests() { [ "$(stat waiting)" = 0 ] && [ "$(stat granted)" -gt 0 ]; }

start 'mode = token' 'quantum = 1M'
run "token" -- 3
run "token, udp" --route udp -- 2
run "token, its holder dies" -- 3 5
expect "nobody waits for a token any more" within 10 rests
asked=$(stat asked)
[ "$asked" -le 1000 ] && ok "a question for a quantum ($asked)" || bad "a question for a quantum" "$asked questions"

# the daemon that gives tokens dies, with the tasks of its host: ranks 0 and 1 of 8
pid=$(daemon_pid h0)
granted=$(stat granted)
goes_on() { [ "$(stat granted)" -gt $((granted + 20)) ]; }
COVEY_SOCKET=$(socket_of h3) timeout 300 covey run --host h3 "$program" 30 -2 >"$dir/out" 2>&1 &
within 10 goes_on
kill -KILL "$pid"
wait $!
count_lines "token, the daemon that gives it dies" <"$dir/out"

start 'mode = stagger' 'rate = 1G'
run "stagger" -- 2

start 'mode = stagger'
run "stagger, members of a team" -- 2 stagger 500000
run "stagger, members of a team, udp" --route udp -- 2 stagger 500000

start 'turns = yes'
run "turns" -- 3
run "turns, udp" --route udp -- 3
run "turns, a sender dies" -- 3 5

start 'mode = token' 'turns = yes' 'threshold = 1K' 'quantum = 64K'
run "token and turns, small quanta" -- 3 2

start 'mode = topology'
printf 'switch s\nhost h0 s\nhost h1 s\nhost h2 s\nhost h3 s\ncontention token s h0\n' >"$dir/net"
covey topology --use "$dir/net" || bad "the topology is taken"
run "a link of the topology" -- 3
expect "tokens of the link are given" within 10 rests
finish
