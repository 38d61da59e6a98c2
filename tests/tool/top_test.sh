#!/bin/bash
# top_test.sh - covey top: the table, JSON, and the screen as a terminal shows it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'" && return 1; }; }
refuses() { # words, command...
    local words=$1
    shift
    "$@" >"$dir/out" 2>"$dir/err" </dev/null && return 1
    grep -q -- "$words" "$dir/err" || { cat "$dir/err" && return 1; }
}

table() {
    covey top --once >"$dir/out" || return 1
    cat "$dir/out"
    head -n 1 "$dir/out" | grep -qE '^HOST +STATE +CORES +CPU% .* NET-IN +NET-OUT +DISK-R .* TASKS$' &&
        is "$(awk 'NR > 1 { printf "%s %s ", $1, $2 }' "$dir/out")" "h0 up h1 up h2 up " &&
        is "$(awk 'NR > 1 { printf "%s ", $NF }' "$dir/out")" "1 0 1 " # TASKS
}
json() {
    covey top --json >"$dir/out" || return 1
    is "$(grep -c '"name": "h[012]"' "$dir/out")" 3 && is "$(grep -c '"known": true' "$dir/out")" 3 &&
        grep -qE '"cpu_busy": (0|1)\.' "$dir/out" && grep -qE '"memory_free_bytes": [1-9][0-9]+\.' "$dir/out" &&
        grep -qE '"interval_s": [0-9.]+' "$dir/out" && ! grep -q '"interval_s": 0.0,' "$dir/out" &&
        is "$(grep -A 40 '"name": "h2"' "$dir/out" | sed -n 's/.*"tasks": \(.*\),/\1/p')" 1.0
}
sorted() {
    covey top --once --sort tasks >"$dir/out" && is "$(awk 'NR > 1 { printf "%s ", $1 }' "$dir/out")" "h0 h2 h1 "
}
# A daemon that is stopped: it is listed, and nobody waits long for it.
silent() {
    local pid status=0
    pid=$(daemon_pid h1)
    kill -STOP "$pid"
    covey top --once --json >"$dir/out" || status=1
    kill -CONT "$pid"
    [ $status = 0 ] && is "$(grep -c '"known": false' "$dir/out")" 1 && is "$(grep -c '"state": "suspect"' "$dir/out")" 1 &&
        is "$(grep -c '"load_1m": null' "$dir/out")" 1
}

# ---- the screen ----

terminals=0 # each has a server of its own: one that is just ending takes no session
terminal() { tmux -S "$dir/tmux.$terminals" -f /dev/null "$@"; }
open_terminal() { # command: in a terminal of 80 by 24
    terminals=$((terminals + 1))
    TERM=screen terminal new-session -d -x 80 -y 24 "$1"
}
picture() { terminal capture-pane -p >"$dir/picture"; }
shows() { picture && grep -qE -- "$1" "$dir/picture"; }
fits() { # columns: no line is longer, the headings begin at the left and are whole
    picture && [ "$(awk '{ print length }' "$dir/picture" | sort -n | tail -n 1)" -le "$1" ] &&
        grep -qE '^HOST .*TASKS *$' "$dir/picture"
}
first_host() { picture && awk '/^HOST/ { getline; print $1 }' "$dir/picture" | grep -qx "$1"; }
gone() { ! terminal list-sessions; }

screen_80() { # every host, in as many columns as fit
    open_terminal "$BUILD/covey top --delay 0.5; echo status \$?; read x" &&
        within 10 shows 'covey top - VM top-[0-9]*: 3 hosts, 3 up, 2 tasks' && within 5 shows '^h2 +up ' &&
        fits 80 && shows 'of [0-9.]+ cores busy' && ! shows 'CTX/S'
}
screen_keys() {
    first_host h0 && terminal send-keys r && within 5 first_host h2 && shows 'by host, reversed' &&
        terminal send-keys r t && within 5 shows 'by tasks;' && within 5 first_host h0
}
screen_120() {
    terminal resize-window -x 120 -y 40 && within 30 eval "shows 'PAGES' && fits 120"
}
h0_and_h1() { first_host h0 && ! shows '^h2 ' && fits 50; }
h1_and_h2() { first_host h1 && shows '^h2 ' && fits 50; }
screen_small() { # three lines of hosts are one too many: one moves through them
    terminal send-keys h
    terminal resize-window -x 50 -y 6 && within 30 h0_and_h1 &&
        terminal send-keys Down && within 30 h1_and_h2 &&
        terminal send-keys Down Up && within 30 h0_and_h1
}
screen_quit() { # and the terminal is as before
    terminal resize-window -x 80 -y 24
    terminal send-keys q && within 5 shows '^status 0' && terminal send-keys Enter && within 5 gone
}
screen_interrupt() {
    open_terminal "$BUILD/covey top; echo status \$?; read x" &&
        within 10 shows '^h1 ' && terminal send-keys C-c && within 5 shows '^status 0' && terminal kill-server
}
screen_hangup() { # a terminal that goes away ends it
    open_terminal "exec $BUILD/covey top" && within 10 shows '^h1 ' || return 1
    local pid
    pid=$(terminal list-panes -F '#{pane_pid}')
    terminal kill-server
    within 10 eval "! kill -0 $pid 2>/dev/null"
}
screen_ends_with_vm() { # the last picture stays, with a line that says why
    open_terminal "$BUILD/covey top --delay 0.5; read x" && within 10 shows '^h1 ' || return 1
    covey halt
    within 10 shows 'the VM does not answer: ' && shows '^h1 ' && terminal send-keys q && terminal kill-server
}

covey start --local 3 >/dev/null || bad "three virtual hosts start"
covey run --host h0,h2 sleep 1000 &
runner=$!
two_tasks() { [ "$(covey ps --json | grep -c '"tid"')" = 2 ]; }
within 10 two_tasks
expect "a table" table
expect "JSON" json
expect "sorted as asked" sorted
expect "a silent host is listed" silent
expect "without a terminal it says so" refuses 'this is no terminal' covey top
expect "an unknown kind of terminal is named" refuses 'no terminal, or TERM names none' env TERM=none covey top
expect "a bad --sort is refused" refuses '--sort colour: must be' covey top --sort colour
expect "a bad --delay is refused" refuses '--delay 0: must be' covey top --delay 0
expect "an argument is refused" refuses 'h0: takes no argument' covey top h0
if command -v tmux >/dev/null; then
    expect "the screen at 80x24" screen_80
    expect "keys sort" screen_keys
    expect "the screen at 120x40" screen_120
    expect "a small screen, and arrows" screen_small
    expect "q gives the terminal back" screen_quit
    expect "Ctrl-C ends it" screen_interrupt
    expect "a terminal that is gone ends it" screen_hangup
    expect "the VM ends first" screen_ends_with_vm
else
    skip "the screen" "tmux is not installed"
fi
kill -TERM $runner 2>/dev/null
wait $runner
finish
