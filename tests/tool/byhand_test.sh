#!/bin/bash
# byhand_test.sh - a program that is started by hand, and not by covey run: what its tasks print, and
# that they crash, reaches who started it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
unset COVEY_OUTPUT
spawner=$BUILD/tests/tool/spawner

covey start --local 2 >/dev/null || exit 1

run() { # arguments: as the program, with its output in $dir/out and $dir/err
    "$spawner" "$@" >"$dir/out" 2>"$dir/err" </dev/null || echo "ended with $?"
}

out_is() { # text: sorted, as tasks print side by side
    [ "$(sort "$dir/out")" = "$1" ] || { echo "out: $(cat "$dir/out")"; return 1; }
}

err_is() { # regular expression for each line, and how many
    [ "$(grep -cxE -- "$1" "$dir/err")" -eq "$2" ] && [ "$(wc -l <"$dir/err")" -eq "$2" ] && return
    echo "err: $(cat "$dir/err")"
    return 1
}

both_streams() {
    run -n 2 sh -c 'echo a line; echo an error >&2; printf "no newline"' &&
        out_is 'a line
a line
no newline
no newlinespawner done' && err_is 'an error' 2
}

descendants() {
    run -n 2 "$spawner" -n 2 sh -c 'echo deep; echo error >&2' &&
        out_is "$(printf 'deep\n%.0s' {1..4}; printf 'spawner done\n%.0s' {1..3})" && err_is error 4
}

crashes() {
    # shellcheck disable=SC2016
    run -n 2 "$spawner" sh -c 'echo last words; kill -SEGV $$' &&
        out_is "$(printf 'last words\n%.0s' {1..2}; printf 'spawner done\n%.0s' {1..3})" &&
        err_is 'covey: task t[0-9a-f]+ \(sh\) on h[01] was killed by signal 11 \(Segmentation fault\)' 2
}

task_of() { covey ps | awk -v command="$2" -v column="$1" '$0 ~ "(starting|running) .*- +" command "$" { print $column }'; }

killed() {
    local tid
    "$spawner" sleep 1000 >"$dir/out" 2>"$dir/err" &
    local pid=$!
    within 30 eval 'tid=$(task_of 1 "sleep 1000"); [ -n "$tid" ]' &&
        covey kill "$tid" && wait $pid &&
        err_is 'covey: task t[0-9a-f]+ \(sleep\) on h[01] was killed by signal 15 \(Terminated\)' 1
}

# That a task exits with a status is for the program to tell.
well_ended() {
    run sh -c 'exit 3' && err_is . 0 && run -k sleep 1000 && err_is . 0 && run -t sleep 1000 && err_is . 0
}

# What was written before a message that the program has got.
before_leaving() {
    run -n 8 -m "$spawner" -w &&
        out_is "$(printf 'out of a worker\n%.0s' {1..8}; echo spawner done)" && err_is 'error of a worker' 8
}

set_by_environment() {
    COVEY_OUTPUT=none run sh -c 'echo never; kill -9 $$' && out_is 'spawner done' && err_is . 0 &&
        COVEY_OUTPUT=tag run -n 2 sh -c 'echo x; echo y' &&
        [ "$(grep -cxE '\[t[0-9a-f]+\] [xy]' "$dir/out")" -eq 4 ] &&
        [ "$(COVEY_OUTPUT=maybe run true)" = 'ended with 1' ] && grep -q "COVEY_OUTPUT is 'maybe'" "$dir/err"
}

whole_lines() {
    local wide
    wide=$(printf 'x%.0s' {1..300})
    run -n 6 sh -c "i=0; while [ \$i -lt 500 ]; do echo \"<\$i $wide>\"; i=\$((i+1)); done" &&
        [ "$(grep -cxE '<[0-9]+ x{300}>' "$dir/out")" -eq 3000 ]
}

much() { [ "$("$spawner" -n 2 sh -c 'yes | head -c 20000000' | grep -c '^y$')" -eq 20000000 ]; }

# Nobody reads: the task stops writing, after what pipes hold and what may be under way.
written() { sed -n 's/^wchar: //p' "/proc/$1/io"; } # pid
stands_still() {
    local before
    before=$(written "$1") && sleep 1 && [ "$(written "$1")" = "$before" ] && [ "$before" -gt 100000 ]
}
held_back() {
    mkfifo "$dir/pipe"
    "$spawner" yes >"$dir/pipe" 2>"$dir/err" &
    local program=$! task bytes
    exec 4<"$dir/pipe"
    within 30 eval 'task=$(task_of 4 yes); [ -n "$task" ]' &&
        within 60 stands_still "$task"
    local result=$?
    bytes=$(written "$task")
    covey kill "$(task_of 1 yes)"
    exec 4<&- # what is left cannot be printed
    wait $program
    [ $result -eq 0 ] && [ "$bytes" -lt 2000000 ] || { echo "written: $bytes"; return 1; }
}

# Of many tasks together no more is kept than of a few: by covey run, too.
quiet() { # pid: its memory grows no more
    local before
    before=$(resident "$1") && sleep 1 && [ "$(resident "$1")" = "$before" ] && [ "$(covey ps | grep -c ' yes$')" -eq 300 ]
}
resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status"; } # pid
many_held_back() {
    local kb pid result
    mkfifo "$dir/many"
    covey run --host h0 -n 300 yes </dev/null >"$dir/many" 2>"$dir/err" &
    pid=$!
    exec 4<"$dir/many"
    within 90 quiet $pid
    result=$?
    kb=$(resident $pid)
    kill $pid
    exec 4<&-
    wait $pid
    [ $result -eq 0 ] && [ "$kb" -lt 60000 ] || { echo "resident: $kb kB"; return 1; }
}

expect "what a task prints comes out of the program that was started by hand" both_streams
expect "and what the tasks of its tasks print" descendants
expect "a task that crashes is reported" crashes
expect "and one that is killed" killed
expect "tasks that end otherwise, or that their parents end, are not" well_ended
expect "what was written before the program leaves is printed" before_leaving
expect "COVEY_OUTPUT switches it off, or tags the lines" set_by_environment
expect "no line is torn" whole_lines
expect "40 MB of output" much
expect "a task whose output nobody reads is held back" held_back
if sanitized "$BUILD/covey"; then
    skip "and 300 tasks" "a sanitizer takes memory itself"
else
    expect "and 300 tasks" many_held_back
fi
finish
