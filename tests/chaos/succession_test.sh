#!/bin/bash
# timeout: 180
# succession_test.sh - kill -9 of the first daemon of five while a sort and a Mandelbrot run on the
# other hosts and tasks there meet at barriers and exclude each other: all of them finish right, the
# console goes on answering, and the VM can be added to. Then the same for whoever leads next.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/chaos/vm.sh

on_h4() { COVEY_SOCKET=$(socket_of h4) "$BUILD/covey" "$@"; }
daemon_of() { ss -Hxlp | grep -F "$(socket_of "$1") " | sed -n 's/.*pid=\([0-9]*\).*/\1/p'; }
came_to() { grep -qx "round $2" "$dir/$1"; } # meet's output, round
is_down() { on_h4 hosts | grep -qE "^$1 .* down "; }
coordinator() { on_h4 hosts | sed -n 's/^\([^ ]*\) .* coordinator$/\1/p'; }

# The host that leads the log of what is agreed, as h4 was told last.
leader() {
    sed -n 's/.*host \([0-9]*\) leads the log of what is agreed.*/\1/p' "$dir/run/covey/$COVEY_VM/h4.log" |
        tail -n 1
}

start_meeting() { # name, hosts, rounds
    on_h4 run --host "$2" "$BUILD/tests/chaos/meet" "$(tr , '\n' <<<"$2" | wc -l)" "$3" \
        "$dir/$1.lock" >"$dir/$1" 2>&1 &
}

kill_first() {
    local meeting sorting drawing status=0
    start_meeting meeting h1,h2,h3,h4 250
    meeting=$!
    on_h4 run --host h4 "$BUILD/apps/sort" -H h1,h2,h3,h4 --keys 2M --check >"$dir/sort" 2>&1 &
    sorting=$!
    on_h4 run --host h4 "$BUILD/apps/mandel" -H h1,h2,h3,h4 --size 640x480 --check >"$dir/mandel" 2>&1 &
    drawing=$!
    within 30 came_to meeting 20 || { cat "$dir/meeting"; return 1; }
    kill -KILL "$(daemon_of h0)"
    COVEY_SOCKET=$(socket_of h4) timeout 2 "$BUILD/covey" hosts >/dev/null ||
        { echo "covey hosts does not answer"; status=1; }
    wait $sorting || { cat "$dir/sort"; status=1; }
    wait $drawing || { cat "$dir/mandel"; status=1; }
    wait $meeting || { cat "$dir/meeting"; status=1; }
    came_to meeting 250 || { tail -n 3 "$dir/meeting"; status=1; }
    within 10 is_down h0 || status=1
    on_h4 add --launcher local h5 >/dev/null || status=1
    return $status
}

# The leader, if no task and no console depends on its daemon; else a voter.
kill_leader() {
    local meeting status=0 victim
    start_meeting again h1,h4 150
    meeting=$!
    within 30 came_to again 20 || { cat "$dir/again"; return 1; }
    victim=h$(($(leader) - 1))
    [ "$victim" = h4 ] || [ "$victim" = h1 ] && victim=h2
    kill -KILL "$(daemon_of $victim)"
    wait $meeting || { cat "$dir/again"; status=1; }
    came_to again 150 || status=1
    within 10 is_down $victim || status=1
    return $status
}

both() { kill_first && kill_leader; }

story "the first daemon is killed, and another" 4 both
finish
