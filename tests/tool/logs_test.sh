#!/bin/bash
# covey logs, and what is said of a VM that is not there any more: what its daemons left tells how
# it ended, and nothing of that outlives the next start, or a halt.
# timeout: 120
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
vm=$dir/run/covey/$COVEY_VM

says() { # status, pattern of a line that is said, command...
    local status
    timeout 60 "${@:3}" >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
    [ $status -eq "$1" ] && cat "$dir/out" "$dir/err" | grep -qE -- "$2" && return
    echo "${*:3}: status $status, said:" && tail -n 5 "$dir/out" "$dir/err" && false
}
refuses() { says "$@" && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" -eq 1 ]; } # as says: one line
start() { covey start --local "$1" --fail-timeout 1 >"$dir/started" || cat "$dir/started"; }
kill_hosts() { # signal, host...: all at once, for who is left alone ends by itself
    local host pids=()
    for host in "${@:2}"; do pids+=("$(daemon_pid "$host")"); done
    kill "-$1" "${pids[@]}"
}
all_ended() { [ -z "$(daemons)" ]; }
nothing_left() { [ ! -e "$dir/run/covey" ] || { find "$dir/run/covey" && false; }; }

# ---- of daemons that run ----

start 3 || bad "a virtual machine starts"
expect "the log of this host" says 0 "host h0 is host 1 of VM $COVEY_VM: " covey logs
expect "of another" says 0 'host h2 is host 3 of VM' covey logs h2
expect "through its daemon" says 0 'host h0 is host 1 of VM' env COVEY_SOCKET="$(socket_of h2)" covey logs h0
all_hosts() { covey logs >"$dir/out" && [ "$(awk '{ print $1 }' "$dir/out" | sort -u | xargs)" = "h0 h1 h2" ]; }
expect "all hosts" all_hosts
in_order() { sort -s -k2,3 "$dir/out" | cmp - "$dir/out"; }
expect "in the order of time" in_order
for i in $(seq 4000); do echo "2026-11-22 18:40:01.123 line $i of many"; done >>"$vm/h1.log"
same_as_file() { covey logs h1 | cmp - "$vm/h1.log"; }
expect "piece by piece" same_as_file
last_is() { [ "$(covey logs -n "$1" h1 | head -n 1)" = "2026-11-22 18:40:01.123 line $2 of many" ]; }
expect "the last line" last_is 1 4000
expect "the last 3000" last_is 3000 1001
expect "more lines than there are" says 0 'host h1 is host 2' covey logs -n 10000 h1
expect "an unknown host" refuses 1 "no host 'h7' is in this VM; see: covey hosts" covey logs h7
expect "two hosts" says 0 '^h2  20[0-9-]+ [0-9:]{8}\.[0-9]{3} host h2 is host 3 of VM' covey logs h2 h0
only_two() { [ "$(awk '{ print $1 }' "$dir/out" | sort -u | xargs)" = "h0 h2" ]; }
expect "and no other" only_two
other_zone() { # the times are those of who reads
    local hour
    hour=$(TZ=UTC+0 covey logs --level info -n 1 h0 h2 | awk '{ print substr($3, 1, 2) + 0 }')
    [ "$(TZ=UTC-9 covey logs --level info -n 1 h0 h2 | awk '{ print substr($3, 1, 2) + 0 }')" = $(((hour + 9) % 24)) ]
}
expect "in another time zone" other_zone
echo "2026-11-22 19:00:00.000 error: it $(printf '\033[2J')broke" >>"$vm/h2.log"
harmless() { covey logs --level error >"$dir/out" && grep -q '^h2 .* error: it ?\[2Jbroke$' "$dir/out" && ! grep -q 'is host' "$dir/out"; }
expect "errors alone, made harmless" harmless
since() { covey logs --since "$1" h1 h2 >"$dir/out" && ! grep -q 'of many' "$dir/out" && grep -q "$2" "$dir/out"; }
expect "since a while" since 1h 'host h1 is host 2'
nothing_since() { covey logs --since '2090-01-01 00:00' >"$dir/out" && [ ! -s "$dir/out" ]; }
expect "since what has not been" nothing_since
last_of_all() { covey logs -n 3 >"$dir/out" && [ "$(wc -l <"$dir/out")" = 3 ]; }
expect "the last lines of all" last_of_all
expect "a bad time" refuses 2 '--since soon: must be such as' covey logs --since soon
expect "a bad level" refuses 2 '--level warning: must be' covey logs --level warning
expect "no lines" refuses 2 '-n 0: must be a number in 1 .. 10000' covey logs -n 0
covey logs -f h0 >"$dir/followed" &
follower=$!
within 30 grep -q 'is host 1' "$dir/followed" || bad "a log is followed"
covey add late --launcher local >/dev/null || bad "a host joins"
expect "what is logged later" within 30 grep -q 'host late .*: joining -> up' "$dir/followed"
kill $follower
wait $follower 2>/dev/null
covey logs -f -n 1 >"$dir/followed" &
follower=$!
within 30 grep -q . "$dir/followed" || bad "all logs are followed"
covey add later --launcher local >/dev/null || bad "another host joins"
expect "a host that joins is followed, too" within 30 grep -q '^later .* is host 5 of VM' "$dir/followed"
kill $follower
wait $follower 2>/dev/null
covey remove later >/dev/null || bad "it is removed"

# ---- of daemons that do not ----

kill_hosts KILL late
is_down() { covey hosts | grep -qE '^late .* down '; }
expect "a host that was killed goes down" within 30 is_down
expect "its log is on this machine" says 0 'host late is host 4 of VM' covey logs late
kill_hosts KILL h0 h1 h2
expect "all were killed" within 30 all_ended
at='20[0-9-]+ [0-9:]{8}'
expect "it is said" refuses 1 "no VM named $COVEY_VM runs here: the daemon of h[0-2] was killed or crashed after $at; its log: covey --vm $COVEY_VM logs; start another with" covey hosts
expect "a log of it is there" says 0 'is host [1-4] of VM' covey logs
expect "that of a named host" says 0 'host h1 is host 2 of VM' covey logs h1
expect "but of no other" refuses 1 "no log of h7 is left" covey logs h7
echo "coveyd: daemon/spawn/spawn.c:7: give: Assertion failed" >>"$vm/h2.log"
expect "what a library said last" refuses 1 "of h2 was killed or crashed after $at: coveyd: daemon/spawn/spawn.c:7: give: Assertion failed;" covey ps

start 2 || bad "a virtual machine starts anew"
expect "the next start removes what was left" test "$(echo "$vm"/*.log)" = "$vm/h0.log $vm/h1.log"
kill_hosts KILL h0
expect "of two hosts the second ends" within 30 all_ended
expect "it is said why" refuses 1 "the daemon of h1 ended at $at: .*of two hosts the second cannot tell" covey hosts
expect "and logged" says 0 'ending: ' covey logs

start 1 || bad "a virtual machine starts again"
kill_hosts TERM h0
expect "a signal ends it" within 30 all_ended
expect "which is said" refuses 1 "the daemon of h0 ended at $at: asked to by SIGTERM; " covey run true

start 3 || bad "a virtual machine starts once more"
kill_hosts KILL h2
covey halt
expect "a halt ends it" within 30 all_ended
expect "a halt leaves nothing" nothing_left
expect "and needs no words" refuses 1 "no VM named $COVEY_VM runs here; start one with" covey hosts
expect "nor is there a log" refuses 1 "no VM named $COVEY_VM runs here, and no log of it is left" covey logs

# ---- of a daemon in the foreground ----

coveyd --foreground --local --vm "$COVEY_VM" --name h0 2>"$dir/foreground" &
within 30 covey hosts || bad "a daemon runs in the foreground"
expect "its log goes elsewhere" refuses 1 'the daemon of host h0 runs in the foreground: its log is its standard error' covey logs
covey halt
wait
expect "nothing is left" nothing_left
finish
