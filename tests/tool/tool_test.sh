#!/bin/bash
# tool_test.sh - the console from end to end: a VM of local hosts, each command, scripts, signals.
# timeout: 180
#
# Everything lies in a folder of its own that is removed at the end; every process it starts, the
# daemons and tasks included, carries COVEY_TOOL_TEST in its environment, by which the last check
# finds what was left running. TEST=text runs only the checks whose names contain the text.
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-tool-test.XXXXXX")
export COVEY_TOOL_TEST=$$ COVEY_VM=tool-$$
export XDG_RUNTIME_DIR=$dir/run HOME=$dir/home PATH=$BUILD:$PATH
unset COVEY_SOCKET COVEY_ROUTE COVEYD XDG_STATE_HOME
mkdir -m 700 "$dir/run" "$dir/home"
passed=0 failed=0 skipped=0

finish() {
    covey halt 2>/dev/null
    covey --vm "$COVEY_VM-2" halt 2>/dev/null
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- Helpers --------------------------------------------------------------------------------

check() { # name, function
    case $1 in *"${TEST:-}"*) ;; *) return ;; esac
    why=
    if "$2"; then
        passed=$((passed + 1))
        echo "ok $1"
    else
        failed=$((failed + 1))
        echo "not ok $1"
        [ -n "$why" ] && echo "    $why"
        head -n 12 "$dir/out" | cut -c1-160 | sed 's/^/    out: /'
        head -n 12 "$dir/err" | cut -c1-160 | sed 's/^/    err: /'
    fi
}

# Runs covey with its output in $dir/out and $dir/err; returns whether the exit status is the
# expected one.
covey_is() { # expected status, arguments
    local expected=$1 status
    shift
    covey "$@" >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
    why="covey $*: exit status $status, expected $expected"
    [ $status -eq "$expected" ] && why=
}

out_is() {
    why="output is not: $1"
    [ "$(cat "$dir/out")" = "$1" ] && why=
}

out_has() {
    why="output has no: $1"
    grep -qE -- "$1" "$dir/out" && why=
}

out_lines() {
    local lines
    lines=$(wc -l <"$dir/out")
    why="output has $lines lines, expected $1"
    [ "$lines" -eq "$1" ] && why=
}

# One line of error, and nothing but it.
error_is() { # regular expression
    why="errors are not one line with: $1"
    [ "$(wc -l <"$dir/err")" -eq 1 ] && grep -qE -- "$1" "$dir/err" && why=
}

no_error() {
    why="there are errors"
    [ ! -s "$dir/err" ] && why=
}

wait_until() { # command; for what takes a moment, of a machine that is eight times as slow
    local end=$((SECONDS + 80))
    while [ $SECONDS -le $end ]; do
        "$@" && return 0
        sleep 0.1
    done
    why="in vain: $*"
    return 1
}

tasks_are() {
    [ "$(covey ps | tail -n +2 | wc -l)" -eq "$1" ]
}

up_hosts_are() {
    [ "$(covey hosts --json | grep -c '"state": "up"')" -eq "$1" ]
}

first_tid() {
    covey ps | awk 'NR == 2 { print $1 }'
}

# Starts covey as a job that does not ignore SIGINT; its pid is in $job.
start_job() {
    env --default-signal=INT covey "$@" >"$dir/out" 2>"$dir/err" </dev/null &
    job=$!
}

job_status_is() {
    local status
    wait "$job"
    status=$?
    why="exit status $status, expected $1"
    [ $status -eq "$1" ] && why=
}

our_processes() {
    grep -lsz "^COVEY_TOOL_TEST=$COVEY_TOOL_TEST\$" /proc/[0-9]*/environ | cut -d/ -f3 |
        grep -vx "$$" | while read -r pid; do
        case $(cat "/proc/$pid/comm" 2>/dev/null) in
        coveyd | covey | sleep | yes) echo "$pid" ;;
        esac
    done
}

none_of_ours() {
    [ -z "$(our_processes)" ]
}

# ---- Without a VM ---------------------------------------------------------------------------

test_version() {
    covey_is 0 version && out_has '^covey [0-9]+\.[0-9]+\.[0-9]+$' && out_lines 1 && no_error
}

test_help() {
    local command
    covey_is 0 help && out_has '^  start ' || return 1
    for command in $(sed -n 's/^  \([a-z]*\) .*/\1/p' "$dir/out"); do
        covey_is 0 help "$command" && out_has "^usage: covey $command" && no_error || return 1
        covey_is 0 "$command" --help && out_has "^usage: covey $command" || return 1
    done
}

test_bad_arguments() {
    covey_is 2 frobnicate && error_is 'frobnicate: no such command; see: covey help' &&
        covey_is 2 strat && error_is "strat: no such command; did you mean 'covey start'\\?" &&
        covey_is 2 help prdict && error_is "prdict: no such command; did you mean 'covey predict'\\?" &&
        covey_is 2 sp && error_is "sp: no such command; did you mean 'covey ps'\\?" &&
        covey_is 2 x && error_is 'x: no such command; see: covey help' &&
        covey_is 2 --frob && error_is 'frob: unknown option' &&
        covey_is 2 hosts --jsn && error_is 'hosts: --jsn: unknown option; see: covey help hosts' &&
        covey_is 2 ps extra && error_is 'see: covey help ps' &&
        covey_is 2 start --local 0 && error_is '--local 0' &&
        covey_is 2 start --local 2 --hosts x && error_is '--local goes with' &&
        covey_is 2 add && error_is 'no host' &&
        covey_is 2 add a,b && error_is 'a,b' &&
        covey_is 2 run && error_is 'no program' &&
        covey_is 2 run -n 0 true && error_is '-n 0' &&
        covey_is 2 run --route pigeon true && error_is 'pigeon' &&
        covey_is 2 run --host h0,,h1 true && error_is 'h0,,h1' &&
        covey_is 2 kill 4000z && error_is '4000z' &&
        covey_is 2 kill && error_is 'no task' &&
        COVEY_ROUTE=pigeon covey_is 1 hosts && error_is "COVEY_ROUTE is 'pigeon', and not auto" &&
        covey_is 2 --vm '' halt && error_is "--vm '': must be a name" &&
        covey_is 2 start --name '' && error_is "--name '': must be a name" &&
        covey_is 2 help frobnicate && error_is 'frobnicate'
}

test_no_vm() {
    local command
    for command in hosts ps stats "run true" "add h9" "remove h9" "kill t40001"; do
        # shellcheck disable=SC2086
        covey_is 1 $command && error_is "no VM named $COVEY_VM runs here; start one" || return 1
    done
    covey_is 1 halt && error_is "no VM named $COVEY_VM runs here" || return 1
    for command in locks "bench pingpong"; do
        # shellcheck disable=SC2086
        covey_is 1 $command && error_is "no VM named $COVEY_VM runs here; start one" || return 1
    done
    COVEY_SOCKET=$dir/none covey_is 1 hosts && error_is "no daemon at $dir/none: .*; unset COVEY_SOCKET" &&
        covey_is 1 --vm a/b hosts && error_is "'a/b' cannot be a VM's name: 1 to 63 bytes, no slash"
}

test_bad_hosts_file() {
    printf 'h1\nh2 colour=red\n' >"$dir/hosts"
    covey_is 1 start --hosts "$dir/hosts" && error_is "$dir/hosts:2:4: colour: unknown key" &&
        covey_is 1 start --hosts "$dir/none" && error_is "$dir/none: No such file" &&
        covey_is 1 hosts
}

test_no_daemon() {
    COVEYD=$dir/none covey_is 1 start && error_is "cannot run $dir/none: .*; set COVEYD"
}

# ---- A VM of three hosts --------------------------------------------------------------------

test_start() {
    covey_is 0 start --local 3 && out_lines 3 && out_has '^h0 joined \(127\.0\.0\.1:[0-9]+\)$' &&
        out_has '^h1 joined' && out_has '^h2 joined' && no_error
}

test_start_twice() {
    covey_is 1 start --local 3 && error_is "$COVEY_VM" && up_hosts_are 3
}

test_hosts() {
    covey_is 0 hosts && out_lines 4 && out_has '^NAME +INDEX +ADDRESS +STATE' &&
        out_has '^h2 +[0-9]+ +127\.0\.0\.1:[0-9]+ +up ' && no_error
}

test_hosts_json() {
    local field
    covey_is 0 hosts --json || return 1
    for field in name id addr state cores tasks; do
        why="$field is not in each object"
        [ "$(grep -c "\"$field\": " "$dir/out")" -eq 3 ] && why= || return 1
    done
    command -v python3 >/dev/null || return 0
    python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))) == 3' "$dir/out"
}

# The daemon of a host is the process that writes its log.
daemon_of() {
    local process
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/fd/2")" = "$dir/run/covey/$COVEY_VM/$1.log" ] && echo "${process#/proc/}"
    done | head -n 1
}

# A host that is silent is not waited for: were it, it would be listed as up, as it was at first.
test_hosts_silent() {
    local daemon found
    daemon=$(daemon_of h2)
    kill -STOP "$daemon" || return 1
    covey_is 0 hosts --json
    found=$(tr -d '\n' <"$dir/out" | sed 's/}/}\n/g' | grep '"name": "h2"' | grep '"state": "suspect"' | grep -c '"tasks": null')
    kill -CONT "$daemon"
    why="h2 is not a suspect of whose tasks nothing is known"
    [ "$found" -eq 1 ] && wait_until up_hosts_are 3 && why=
}

# Neither is it by ps, which lists what runs elsewhere and names it.
test_ps_silent() {
    local daemon
    start_job run --host h1 sleep 1000
    daemon=$(daemon_of h2)
    wait_until tasks_are 1 && kill -STOP "$daemon" || return 1
    covey_is 1 ps && out_lines 2 && out_has ' h1 .* sleep 1000' && error_is 'host h2 does not answer'
    local result=$?
    kill -CONT "$daemon"
    kill -INT $job
    wait $job
    wait_until up_hosts_are 3 && return $result
}

test_stats() {
    covey_is 0 stats && out_has '^HOST +NAME +VALUE +WHAT$' && out_has '^h1 +[a-z_.]+ +[0-9]+ +[A-Z].*[.]$' &&
        why="zeros are told" && ! grep -qE '^h1 +[a-z_.]+ +0 ' "$dir/out" && why= &&
        covey_is 0 stats --all && out_has '^h1 +[a-z_.]+ +0 +[A-Z]' &&
        why="not all is explained" && [ -z "$(awk 'NF < 4' "$dir/out")" ] && why= &&
        covey_is 0 stats h2 h1 && out_has '^h1 ' && out_has '^h2 ' && why="of h0, too" && ! grep -q '^h0 ' "$dir/out" && why= &&
        covey_is 1 stats h1 h9 && error_is "no host 'h9' is in this VM" &&
        covey_is 0 stats --json && out_has '"value": [0-9]+' && out_has '"help": "Tasks started."'
}

test_ps_empty() {
    covey_is 0 ps && out_lines 1 && covey_is 0 ps --json && out_is '[]' &&
        covey_is 0 locks && out_lines 1 && covey_is 0 locks --json && out_is '[]'
}

# ---- Running --------------------------------------------------------------------------------

test_run() {
    covey_is 0 run -n 8 echo hello && out_lines 8 && no_error &&
        why="lines differ" && [ "$(sort -u "$dir/out")" = hello ] && why=
}

test_run_places() {
    covey_is 0 run --each echo x && out_lines 3 &&
        covey_is 0 run --each -n 2 echo x && out_lines 6 &&
        covey_is 0 run --host h1,h2 echo x && out_lines 2 &&
        covey_is 0 run --host h1 -n 3 echo x && out_lines 3 &&
        covey_is 0 run --host h1,h2 --each -n 2 echo x && out_lines 4 &&
        covey_is 1 run --host h77 echo x && error_is 'h77'
}

test_run_status() {
    covey_is 3 run sh -c 'exit 3' && no_error && covey_is 0 run -n 3 true &&
        covey_is 139 run sh -c 'kill -SEGV $$' && error_is 'killed by signal 11' &&
        covey_is 127 run no-such-program && error_is 'no-such-program' &&
        covey_is 127 run -n 4 "$dir/none" && error_is '4 of 4 tasks could not start' &&
        covey_is 126 run "$dir/out" && error_is 'could not start'
}

# A program that is not in PATH, though one of that name is near.
test_run_meant() {
    mkdir "$dir/here" && printf '#!/bin/sh\necho 3.14\n' >"$dir/here/pi" && chmod +x "$dir/here/pi" || return 1
    (cd "$dir/here" && covey_is 127 run pi) && error_is "program 'pi': No such file or directory; did you mean \\./pi\\?" &&
        (cd "$dir/here" && covey_is 0 run ./pi) && out_is 3.14 &&
        covey_is 127 run pi && error_is 'it must be there and executable' &&
        covey_is 127 run mandel && error_is "did you mean $BUILD/apps/mandel\\?"
}

# The worst of several: each task takes another number from a folder.
test_run_worst_status() {
    mkdir "$dir/numbers"
    touch "$dir/numbers/"{0,5,9,2}
    cat >"$dir/take" <<'END'
cd "$1" || exit 99
for i in *; do mkdir ".$i" 2>/dev/null && exit "$i"; done
END
    covey_is 9 run -n 4 sh "$dir/take" "$dir/numbers"
}

test_run_streams() {
    covey_is 0 run sh -c 'echo to-out; echo to-err >&2' && out_is to-out && error_is '^to-err$' &&
        covey_is 0 run printf 'no newline' && out_is 'no newline' &&
        covey_is 0 run cat && out_is '' &&
        covey_is 0 run sh -c 'printf "a\n\n\nb\n"' && out_lines 4
}

test_run_whole_lines() {
    local wide
    wide=$(printf 'x%.0s' {1..300})
    covey_is 0 run -n 6 sh -c "i=0; while [ \$i -lt 500 ]; do echo \"<\$i $wide>\"; i=\$((i+1)); done" &&
        out_lines 3000 && why="a line is torn" &&
        [ "$(grep -cxE '<[0-9]+ x{300}>' "$dir/out")" -eq 3000 ] && why=
}

test_run_long_lines() {
    # shellcheck disable=SC2016
    covey_is 0 run -n 4 sh -c 'for i in 1 2 3 4 5; do head -c 200000 /dev/zero | tr "\0" $$; echo; done' &&
        out_lines 20 && why="a line is torn" && [ "$(awk '{ print length }' "$dir/out" | sort -u)" = 200000 ] &&
        why=
}

# More than pipes and queues hold, and nothing of it lost.
test_run_much_output() {
    why="bytes were lost"
    [ "$(covey run -n 2 sh -c 'yes | head -c 20000000' | wc -c)" -eq 40000000 ] && why=
}

test_run_tagged() {
    covey_is 0 run --tag-output -n 2 sh -c 'echo a; echo b' && out_lines 4 &&
        why="tags are missing" && [ "$(grep -cxE '\[t[0-9a-f]+\] [ab]' "$dir/out")" -eq 4 ] && why=
}

test_run_environment() {
    # shellcheck disable=SC2016
    TOOL_PASSED=on covey_is 0 run --env TOOL_PASSED --env 'TOOL_SET=a b=c' \
        sh -c 'echo "$TOOL_PASSED,$TOOL_SET"' && out_is 'on,a b=c' &&
        covey_is 2 run --env TOOL_UNSET true && error_is TOOL_UNSET
}

test_run_folder() {
    mkdir -p "$dir/wd/sub"
    printf '#!/bin/sh\npwd\n' >"$dir/wd/where"
    chmod +x "$dir/wd/where"
    cd "$dir/wd" || return 1
    covey_is 0 run ./where && out_is "$dir/wd" && covey_is 0 run --cwd sub ./where &&
        out_is "$dir/wd/sub" && covey_is 0 run --cwd / ../wd/where && out_is / &&
        covey_is 127 run --cwd "$dir/nowhere" true
    local result=$?
    cd "$OLDPWD" || return 1
    return $result
}

test_run_arguments() {
    covey_is 0 run echo -n 3 --json -- -x && out_is '3 --json -- -x' &&
        covey_is 0 run -- printf '%s|' 'a b' '' "c'd" && out_is "a b||c'd|"
}

test_run_interrupted() {
    start_job run -n 3 sleep 1000
    wait_until tasks_are 3 && kill -INT $job && job_status_is 130 && tasks_are 0 && no_error
}

test_run_terminated() {
    start_job run -n 2 sleep 1000
    wait_until tasks_are 2 && kill -TERM $job && job_status_is 143 && tasks_are 0
}

# A task that starts another and ends, and this one the next, on another host: the last one writes
# when the others have long ended.
late='until ! covey ps | grep -q "[f]amily"; do sleep 0.1; done; echo late; printf tail'
test_run_descendants() {
    local family=$BUILD/tests/tool/family
    covey_is 0 run "$family" -o "$family" -o sh -c "$late" && out_is "started
started
late
tail" && no_error && tasks_are 0 &&
        covey_is 0 run --no-descendants "$family" sh -c "until [ -e '$dir/run-ended' ]; do sleep 0.1; done; echo late" &&
        touch "$dir/run-ended" && out_is started && wait_until tasks_are 0
}

# The first task reads standard input: all of it, to its end; the others nothing, and so does what a
# console starts, whose next commands these are.
test_run_input() {
    local seen
    head -c 3000000 /dev/urandom >"$dir/random"
    why="the bytes are others"
    covey run --host h1 cat <"$dir/random" | cmp -s - "$dir/random" || return 1
    why="the tasks read other lines"
    seen=$(printf '1\n2\n' | covey run -n 3 wc -l | sort | tr '\n' ' ')
    [ "$seen" = '0 0 2 ' ] && seen=$(printf '1\n' | covey run --no-input wc -l) && [ "$seen" = 0 ] &&
        seen=$(printf 'run wc -l\nrun echo next\n' | covey | tr '\n' ' ') && [ "$seen" = '0 next ' ] &&
        why="a task that reads little" && [ "$(yes | covey run head -n 1)" = y ] &&
        [ "$(yes | covey run sh -c 'exec <&-; echo closed')" = closed ] &&
        why="what is not read is taken" && mkfifo "$dir/never" && {
        covey run sleep 1000 <"$dir/never" >"$dir/out" 2>"$dir/err" &
        job=$!
    } && exec 3>"$dir/never" && { yes >&3 & } 2>/dev/null && wait_until tasks_are 1 || return 1
    local writer=$!
    wait_until stands_still "$writer"
    local result=$?
    seen=$(sed -n 's/^wchar: //p' "/proc/$writer/io")
    exec 3>&-
    covey kill "$(first_tid)"
    wait $job $writer 2>/dev/null
    [ $result -eq 0 ] && why="taken: $seen" && [ "$seen" -lt 1000000 ] && why=
}

stands_still() { # pid: it has written something, and no more for a second
    local before
    before=$(sed -n 's/^wchar: //p' "/proc/$1/io") && sleep 1 && [ "$before" -gt 0 ] &&
        [ "$(sed -n 's/^wchar: //p' "/proc/$1/io")" = "$before" ]
}

# A job in the background of a shell with a terminal is not stopped, whatever is typed; in front it
# reads what is.
test_run_input_terminal() {
    rm -f "$dir/keys"
    mkfifo "$dir/keys"
    : >"$dir/err"
    # the shell waits without reading the terminal, so that what is typed stays there
    cat >"$dir/jobs" <<'END'
set -m
covey run sh -c 'echo started; sleep 3; echo slept' &
wait
jobs -l
covey run sh -c 'read line; echo "read $line"'
END
    script -qfec "bash $dir/jobs" "$dir/typescript" <"$dir/keys" >"$dir/out" 2>&1 &
    job=$!
    exec 3>"$dir/keys"
    wait_until grep -q started "$dir/out" && printf 'typed\n' >&3 && wait_until grep -q '^slept' "$dir/out" &&
        wait_until grep -q '^read typed' "$dir/out" && ! grep -qi stopped "$dir/out"
    local result=$?
    exec 3>&-
    wait $job
    return $result
}

# What crashes is named, and fails the run where that is asked for; what its parent ends is not.
test_run_names() {
    local spawner=$BUILD/tests/tool/spawner
    # shellcheck disable=SC2016
    covey_is 3 run -n 2 sh -c 'exit 3' && why="errors are: $(cat "$dir/err")" &&
        [ "$(grep -cxE 'covey: run: task t[0-9a-f]+ \(sh\) on h[0-2] ended with status 3' "$dir/err")" -eq 2 ] &&
        covey_is 0 run "$spawner" sh -c 'kill -SEGV $$' && out_is 'spawner done' &&
        error_is '^covey: run: task t[0-9a-f]+ \(sh\) on h[0-2] was killed by signal 11 \(Segmentation fault\)$' &&
        covey_is 0 run "$spawner" "$spawner" sh -c 'exit 4' && error_is '\(sh\) on h[0-2] ended with status 4$' &&
        covey_is 139 run --strict "$spawner" sh -c 'kill -SEGV $$' && covey_is 0 run --strict "$spawner" true &&
        covey_is 0 run --strict "$spawner" -k sleep 1000 && no_error &&
        covey_is 0 run --strict "$spawner" -t sleep 1000 && no_error
}

test_run_descendants_interrupted() {
    start_job run "$BUILD/tests/tool/family" -o sleep 1000
    wait_until grep -q started "$dir/out" && wait_until tasks_are 1 && kill -INT $job &&
        job_status_is 130 && tasks_are 0 && no_error
}

# Ends only by SIGKILL, which the second SIGINT sends at once.
test_run_interrupted_twice() {
    start_job run sh -c 'trap "echo caught" TERM; echo ready; while :; do sleep 1000 & wait; done'
    wait_until grep -q ready "$dir/out" && kill -INT $job &&
        wait_until grep -q caught "$dir/out" && kill -INT $job && job_status_is 130 &&
        wait_until tasks_are 0
}

test_run_killed() {
    start_job run -n 2 sleep 1000
    wait_until tasks_are 2 && kill -KILL $job
    wait "$job" 2>/dev/null
    wait_until tasks_are 0
}

test_run_reader_gone() {
    local status
    covey run yes 2>"$dir/err" | head -n 1 >"$dir/out"
    status=${PIPESTATUS[0]}
    why="exit status $status, expected 141"
    [ "$status" -eq 141 ] && why= && out_is y && no_error && tasks_are 0
}

test_output_lost() {
    local status
    covey hosts >/dev/full 2>"$dir/err"
    status=$?
    why="exit status $status, expected 1"
    [ $status -eq 1 ] && error_is 'hosts: standard output could not be written' &&
        covey run echo x >/dev/full 2>"$dir/err"
    [ $? -eq 1 ] && error_is 'run: output could not be written'
}

# What is printed there must not go to the daemon, whose connection would have been descriptor 1.
test_output_closed() {
    local status
    covey run echo x >&- 2>"$dir/err"
    status=$?
    why="exit status $status, expected 1"
    [ $status -eq 1 ] && error_is 'run: output could not be written: Bad file descriptor' &&
        covey ps >&- 2>"$dir/err"
    [ $? -eq 1 ] && error_is 'ps: standard output could not be written' &&
        "$BUILD/coveyd" --version >/dev/full 2>"$dir/err"
    [ $? -eq 1 ] && error_is 'coveyd: standard output could not be written'
}

test_ps_and_kill() {
    local tid
    start_job run --host h1 sleep 1000
    wait_until tasks_are 1 || return 1
    tid=$(first_tid)
    covey ps >"$dir/ps" && covey ps --json >"$dir/ps.json"
    why="ps says: $(cat "$dir/ps")"
    grep -qE "^$tid +[^ ]+ +h1 +[0-9]+ +(starting|running) .* sleep 1000$" "$dir/ps" &&
        grep -qE "\"tid\": \"$tid\"" "$dir/ps.json" && grep -q '"host": "h1"' "$dir/ps.json" &&
        why= && covey kill "$tid" && job_status_is 143 && tasks_are 0 &&
        covey_is 1 kill "$tid" && error_is "$tid" && covey_is 1 kill 0x3fc00001 && error_is .
}

# ---- Hosts come and go ----------------------------------------------------------------------

test_add_and_remove() {
    covey_is 0 add more1 more2 --launcher local && out_lines 2 && out_has '^more2 joined' &&
        up_hosts_are 5 && covey_is 0 run --host more1,more2 echo x && out_lines 2 &&
        covey_is 0 remove more1 more2 && out_has '^more1 removed$' &&
        covey_is 1 run --host more1 true
}

# A host that is down stays in the list until it is removed, whichever daemon is asked.
test_remove_down() {
    covey_is 0 add dead --launcher local && kill -KILL "$(daemon_of dead)" || return 1
    is_down() { covey hosts | grep -qE '^dead .* down '; }
    wait_until is_down && covey_is 0 remove dead && out_is 'dead removed: it was down, and is forgotten' &&
        no_error && covey_is 0 hosts && why="dead is still there" && ! grep -q '^dead ' "$dir/out" &&
        COVEY_SOCKET=$dir/run/covey/$COVEY_VM/h2.sock covey hosts >"$dir/out" && ! grep -q '^dead ' "$dir/out" && why= &&
        covey_is 1 remove dead && error_is "dead: the VM has no host 'dead'; see: covey hosts" &&
        covey_is 0 add dead --launcher local && covey_is 0 remove dead && out_is 'dead removed'
}

test_add_one_fails() {
    covey_is 1 add good bad --launcher exec --template 'test {host} != bad && {command}' &&
        out_lines 1 && out_has '^good joined' && error_is '^covey: bad: did not join: ' &&
        covey_is 0 remove good && covey_is 1 add h1 --launcher local && error_is 'h1'
}

test_remove_ends_tasks() {
    covey_is 0 add brief --launcher local || return 1
    start_job run --host brief sleep 1000
    wait_until tasks_are 1 && covey remove brief >/dev/null && wait "$job"
    why="exit status $?"
    [ "$(grep -c . "$dir/err")" -ge 1 ] && tasks_are 0
}

# ---- The console ----------------------------------------------------------------------------

test_script() {
    printf '%s\n' '# a script' '' 'run echo "a  b"' frobnicate "run sh -c 'exit 4'" |
        covey >"$dir/out" 2>"$dir/err"
    local status=$?
    why="exit status $status, expected 4"
    [ $status -eq 4 ] && out_is 'a  b' && error_is frobnicate &&
        printf 'run false\nquit\nrun echo never\n' | covey >"$dir/out" 2>"$dir/err"
    [ $? -eq 1 ] && out_is ''
}

# A console on a pseudo terminal: what is written to descriptor 3 is typed, what it shows lands in
# $dir/out.
open_console() {
    rm -f "$dir/keys"
    mkfifo "$dir/keys"
    : >"$dir/out"
    : >"$dir/err"
    TERM=vt100 script -qfec "stty rows 50 cols 120; exec covey" "$dir/typescript" <"$dir/keys" \
        >"$dir/out" 2>&1 &
    job=$!
    exec 3>"$dir/keys"
    wait_until grep -q 'covey> ' "$dir/out"
}

typed() { # keys as printf's format
    # shellcheck disable=SC2059
    printf "$1" >&3
}

has_ended() { ! kill -0 "$1" 2>/dev/null; } # pid

# A console that does not end is ended.
close_console() {
    exec 3>&-
    wait_until has_ended "$job" || echo "$why"
    kill "$job" 2>/dev/null
    wait "$job" 2>/dev/null
    rm -f "$dir/keys" "$dir/typescript"
}

test_console() {
    open_console && typed 'ver\t\r' && wait_until grep -q '^covey 0' "$dir/out" &&
        typed 'run --ho\th\t' && wait_until grep -q 'h0 *h1 *h2' "$dir/out" && typed '\003' &&
        sleep 0.2 && typed 'hosts\r' && wait_until grep -q coordinator "$dir/out" &&
        typed 'run sleep 1000\r' && wait_until tasks_are 1 && typed '\003' && wait_until tasks_are 0 &&
        typed 'run echo fin''ished\r' && wait_until grep -q '^finished' "$dir/out" && typed 'quit\r'
    local result=$?
    close_console
    return $result
}

cpu_ticks() { # pid
    awk '{ print $14 + $15 }' "/proc/$1/stat"
}

test_idle_console() {
    open_console && typed 'hosts\r' && wait_until grep -q coordinator "$dir/out" || return 1
    local pid before after
    pid=$(our_processes | while read -r p; do
        [ "$(cat /proc/"$p"/comm)" = covey ] && echo "$p"
    done | head -n 1)
    before=$(cpu_ticks "$pid")
    sleep 1
    after=$(cpu_ticks "$pid")
    typed 'quit\r'
    close_console
    why="$((after - before)) ticks in a second"
    [ $((after - before)) -le 1 ] && why=
}

test_history() {
    why="the history is not kept"
    grep -q '^run\\040sleep' "$HOME/.local/state/covey/history" &&
        [ "$(stat -c %a "$HOME/.local/state/covey/history")" = 600 ] && why=
}

# ---- The end --------------------------------------------------------------------------------

test_halt() {
    covey_is 0 halt && no_error && covey_is 1 halt && error_is 'no VM named' &&
        wait_until none_of_ours && why="left behind: $(find "$dir/run" ! -type d)" &&
        [ -z "$(find "$dir/run" ! -type d)" ] && why=
}

test_halt_ends_run() {
    covey_is 0 start --local 2 || return 1
    start_job run -n 2 sleep 1000
    wait_until tasks_are 2 && covey halt && wait "$job"
    why="exit status $?"
    wait_until none_of_ours
}

test_hosts_file() {
    printf '* launcher=exec template="{command}"\nfirst address=127.0.0.1\n\nb # two\nc speed=500\n' \
        >"$dir/hosts"
    covey_is 0 start --name "$COVEY_VM-2" --as first --hosts "$dir/hosts" && out_lines 3 &&
        out_has '^c joined' && covey_is 0 --vm "$COVEY_VM-2" hosts && out_has '^c .* 500 ' &&
        covey_is 1 hosts && covey_is 0 --vm "$COVEY_VM-2" halt && wait_until none_of_ours
}

# The host that is being added never comes; Ctrl-C ends it all.
test_start_interrupted() {
    printf 'h1 launcher=exec template="touch %s; sleep 1000 # {command}"\n' "$dir/adding" \
        >"$dir/hosts"
    start_job start --hosts "$dir/hosts"
    wait_until test -e "$dir/adding" && kill -INT $job && job_status_is 130 &&
        error_is interrupted && covey_is 1 hosts && wait_until none_of_ours
}

check "version" test_version
check "help lists and explains every command" test_help
check "bad arguments: status 2, one line, a hint" test_bad_arguments
check "without a VM every command says so" test_no_vm
check "an error in a hosts file names file and line" test_bad_hosts_file
check "a daemon that cannot be run is named" test_no_daemon
check "start: three local hosts" test_start
check "start: a second time says so" test_start_twice
check "hosts: a table" test_hosts
check "hosts: JSON" test_hosts_json
check "hosts: one that is silent" test_hosts_silent
check "ps: a silent host" test_ps_silent
check "stats" test_stats
check "ps, locks: nothing runs" test_ps_empty
check "run: eight tasks" test_run
check "run: on named hosts and on each" test_run_places
check "run: exit statuses" test_run_status
check "run: what was meant" test_run_meant
check "run: the worst exit status" test_run_worst_status
check "run: both streams, as they are" test_run_streams
check "run: no line is torn" test_run_whole_lines
check "run: no long line is torn" test_run_long_lines
check "run: 40 MB of output" test_run_much_output
check "run: tagged lines" test_run_tagged
check "run: environment" test_run_environment
check "run: folder and relative program" test_run_folder
check "run: arguments are the program's own" test_run_arguments
check "run: SIGINT ends the tasks" test_run_interrupted
check "run: SIGTERM ends the tasks" test_run_terminated
check "run: what its tasks start is waited for" test_run_descendants
check "run: what ends badly is named" test_run_names
check "run: standard input" test_run_input
check "run: standard input is a terminal" test_run_input_terminal
check "run: SIGINT ends what its tasks started" test_run_descendants_interrupted
check "run: a second SIGINT kills" test_run_interrupted_twice
check "run: its death ends the tasks" test_run_killed
check "run: the reader goes away" test_run_reader_gone
check "output that cannot be written is an error" test_output_lost
check "output that is closed is an error, and goes nowhere else" test_output_closed
check "ps and kill" test_ps_and_kill
check "add and remove" test_add_and_remove
check "add: one fails, the other joins" test_add_one_fails
check "a host that is down is removed" test_remove_down
check "remove ends a host's tasks" test_remove_ends_tasks
check "console: a script" test_script
check "console: on a terminal" test_console
check "console: idle without CPU" test_idle_console
check "console: history" test_history
check "halt leaves nothing" test_halt
check "halt ends a run" test_halt_ends_run
check "start: a hosts file, this host in it" test_hosts_file
check "start: SIGINT rolls back" test_start_interrupted
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
