#!/bin/bash
# top_test.sh - covey top: tables, JSON, and the screen as a terminal shows it; and covey ps, which shows the same of
# tasks. What tasks wait for is that of tests/tool/waiting.
# timeout: 240
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

# Figures are those of the time since the last look: what has just begun has computed, what is slow to answer is not known.
settles() { within 10 "$@" || "$@"; }

hosts() { sed '/^$/,$d' "$dir/out"; } # of the tables, the first
tasks() { sed '1,/^$/d' "$dir/out"; } # the second
table() {
    covey top --once >"$dir/out" || return 1
    cat "$dir/out"
    head -n 1 "$dir/out" | grep -qE '^HOST +STATE +CORES +CPU% .* NET-IN +NET-OUT +DISK-R .* TASKS$' &&
        is "$(hosts | awk 'NR > 1 { printf "%s %s ", $1, $2 }')" "h0 up h1 up h2 up " &&
        is "$(hosts | awk 'NR > 1 { printf "%s ", $NF }')" "1 0 1 " && # TASKS
        is "$(tasks | awk '{ printf "%s ", $2 }')" "HOST h0 h2 " &&
        tasks | head -n 1 | grep -qE '^TID +HOST +STATE +CPU% +MEM +COMP% +COMM% +IDLE% .* WAITS +COMMAND$' &&
        is "$(tasks | awk '$3 == "running" && $4 == 0 && $5 ~ /[KM]$/ && $6 == "-" && $NF == "1000"' | wc -l)" 2
}
samples() { # one after the other, though standard output is no terminal
    covey top -n 3 --delay 0.5 >"$dir/out" && is "$(grep -c '^HOST ' "$dir/out")" 3 && is "$(grep -c '^TID ' "$dir/out")" 3 &&
        covey top </dev/null >"$dir/out" && is "$(grep -c '^HOST ' "$dir/out")" 1
}
json() {
    covey top --json >"$dir/out" || return 1
    is "$(grep -c '"name": "h[012]"' "$dir/out")" 3 && is "$(grep -c '"known": true' "$dir/out")" 3 &&
        grep -qE '"cpu_busy": (0|1)\.' "$dir/out" && grep -qE '"memory_free_bytes": [1-9][0-9]+\.' "$dir/out" &&
        grep -qE '"interval_s": [0-9.]+' "$dir/out" && ! grep -q '"interval_s": 0.0,' "$dir/out" &&
        is "$(grep -A 40 '"name": "h2"' "$dir/out" | sed -n 's/.*"tasks": \([0-9].*\),/\1/p')" 1.0 &&
        is "$(grep -c '"command": "sleep 1000"' "$dir/out")" 2 && is "$(grep -c '"idle": null' "$dir/out")" 2 &&
        is "$(grep -c '"cpu": 0.0' "$dir/out")" 2 && grep -q '"tasks_left_out": 0' "$dir/out"
}
sorted() {
    covey top --once --sort tasks >"$dir/out" && is "$(hosts | awk 'NR > 1 { printf "%s ", $1 }')" "h0 h2 h1 "
}

# ---- what tasks do ----

row() { awk -v command="$1" 'index($0, command)' "$dir/out"; } # words of its row
waits() { # extended regular expression of what a task waits for
    covey ps >"$dir/out" && grep -qE -- "$1" "$dir/out" || { cat "$dir/out" && return 1; }
}
all_waits() { # two runs of nine tasks, of which the second waits for the first one's lock
    within 20 waits ' recv from t[0-9a-f]+ tag 11 ' && within 20 waits ' credit of t[0-9a-f]+ ' && within 20 waits ' bag_take empty ' &&
        within 20 waits ' lock gate ' && within 20 waits ' barrier '
}
shares() { # of who waits, who computes and who talks
    covey top --once >"$dir/out" || return 1
    tasks | awk '/recv from t[0-9a-f]+ tag 11/ { n += $8 >= 99 && $6 <= 1 && $9 == 0 && $13 != "-" }
        / barrier / { b += $8 >= 99 } / credit of / { c += $7 >= 99 && $8 <= 1 }
        $4 > 0 && $6 >= 99 && $14 == "-" { p++ }
        $9 > 0 && $10 > 0 && $11 != "0" && $12 != "0" { t++ }
        END { print n, b, c, p, t; exit !(n == 2 && b == 2 && c == 2 && p >= 1 && t >= 2) }' || { cat "$dir/out" && return 1; }
}
by_wait() { # the longest first
    covey ps --sort wait --filter 'tag 11' >"$dir/out" && is "$(wc -l <"$dir/out")" 3 &&
        covey top --once --sort wait >"$dir/out" && tasks | awk 'NR > 1 && $13 != "-" { if (last != "" && $13 > last + 0.2) exit 1; last = $13 }'
}
filtered() {
    covey ps --filter "$1" >"$dir/out" && is "$(($(wc -l <"$dir/out") - 1))" "$2"
}
json_of_tasks() {
    covey ps --json --filter "$1" >"$dir/out" && grep -qE '"waits": "recv from t[0-9a-f]+ tag 11"' "$dir/out" &&
        grep -qE '"waits_s": [1-9]' "$dir/out" && grep -qE '"idle": (0\.9|1\.0)' "$dir/out" && grep -qE '"memory_bytes": [1-9][0-9]{5}' "$dir/out"
}
# The name of a lock is a task's: a terminal gets no control character of it.
hostile() {
    local bad=$'evil\e[2J\rgate\xc2\x9b31m'
    covey run -n 9 "$BUILD/tests/tool/waiting" "$bad" >/dev/null 2>&1 &
    local first=$!
    covey run -n 9 "$BUILD/tests/tool/waiting" "$bad" >/dev/null 2>&1 &
    local second=$! status=0
    within 20 waits ' lock evil\?\[2J\?gate\?\?31m ' || status=1
    covey ps >"$dir/out"
    ! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' "$dir/out" || status=1
    covey ps --json >"$dir/json" && ! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' "$dir/json" || status=1
    kill -TERM $first $second
    wait $first $second
    return $status
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
        within 5 shows 'tasks by cpu: 1 to 2 of 2$' && within 5 shows '^t[0-9a-f]+ +h2 .* sleep 1000' &&
        within 5 fits 80 && within 5 shows 'of [0-9.]+ cores busy' && ! shows 'CTX/S'
}
screen_keys() {
    first_host h0 && terminal send-keys r && within 5 first_host h2 && within 5 shows 'tasks by cpu, reversed' &&
        terminal send-keys r t && within 5 shows 'tasks by tid:' && within 5 first_host h0 &&
        terminal send-keys h && within 5 shows 'tasks by host:'
}
screen_filter() { # typed, and taken back
    terminal send-keys / && within 5 shows 'only tasks with: _' && terminal send-keys h2x BSpace && within 5 shows 'only tasks with: h2_' &&
        terminal send-keys Enter && within 5 shows "tasks by host: 1 to 1 of 1 with 'h2', of 2" && within 5 eval "! shows '^t[0-9a-f]+ +h0 '" &&
        terminal send-keys Escape && within 5 shows 'tasks by host: 1 to 2 of 2$'
}
screen_help() {
    terminal send-keys '?' && within 5 shows 'w  wait' && within 5 shows 'hosts by load' && terminal send-keys x && within 5 first_host h0
}
screen_views() { # tasks alone, hosts alone, both
    terminal send-keys v && within 5 eval "! shows '^HOST ' && shows '^TID '" &&
        terminal send-keys v && within 5 eval "shows '^HOST ' && ! shows '^TID '" &&
        terminal send-keys v && within 5 eval "shows '^HOST ' && shows '^TID '"
}
screen_120() {
    terminal resize-window -x 120 -y 40 && within 30 eval "shows 'PAGES' && fits 120"
}
h0_and_h1() { first_host h0 && ! shows '^h2 ' && fits 50; }
h1_and_h2() { first_host h1 && shows '^h2 ' && fits 50; }
screen_small() { # three lines of hosts are one too many: one moves through them
    terminal send-keys h v v
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
screen_unknown() {
    open_terminal "TERM=none $BUILD/covey top; echo status \$?; read x" && within 10 shows 'TERM names no terminal that is known' &&
        within 10 shows '^status 1' && terminal kill-server
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
expect "a table" settles table
expect "JSON" settles json
expect "sorted as asked" sorted
expect "a silent host is listed" settles silent
expect "samples without a terminal" samples
expect "a bad number of samples is refused" refuses '-n 0: must be a number' covey top -n 0
expect "ps refuses a bad --sort" refuses '--sort colour: must be tid' covey ps --sort colour
expect "a bad --sort is refused" refuses '--sort colour: must be' covey top --sort colour
expect "a bad --delay is refused" refuses '--delay 0: must be' covey top --delay 0
expect "an argument is refused" refuses 'h0: takes no argument' covey top h0
start_waiting() { covey run -n 9 "$BUILD/tests/tool/waiting" >/dev/null 2>&1 & }
start_waiting
waiting=$!
start_waiting
waiting="$waiting $!"
expect "what tasks wait for" all_waits
expect "shares of their time" settles shares
expect "sorted by how long they wait" by_wait
expect "a filter on what is shown" filtered 'TAG 11' 2
expect "a filter that nothing passes" filtered 'no such thing' 0
expect "JSON of tasks" settles json_of_tasks 'tag 11'
# shellcheck disable=SC2086
kill -TERM $waiting
# shellcheck disable=SC2086
wait $waiting
within 20 two_tasks
expect "hostile names" hostile
within 20 two_tasks
if command -v tmux >/dev/null; then
    expect "the screen at 80x24" screen_80
    expect "keys sort" screen_keys
    expect "a filter" screen_filter
    expect "the keys are explained" screen_help
    expect "views" screen_views
    expect "the screen at 120x40" screen_120
    expect "a small screen, and arrows" screen_small
    expect "q gives the terminal back" screen_quit
    expect "Ctrl-C ends it" screen_interrupt
    expect "a terminal that is gone ends it" screen_hangup
    expect "an unknown kind of terminal is named" screen_unknown
    expect "the VM ends first" screen_ends_with_vm
else
    skip "the screen" "tmux is not installed"
fi
kill -TERM $runner 2>/dev/null
wait $runner
finish
