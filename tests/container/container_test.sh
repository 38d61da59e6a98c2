#!/bin/bash
# container_test.sh - tasks in containers, by covey run --in, and hosts that are containers. Images are made of files of
# this machine, so that no registry is asked; the suite is skipped where podman is missing or starts no container.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/local_vm.sh
. tests/local_vm.sh
# shellcheck source=tests/container/podman.sh
. tests/container/podman.sh
trap 'case $BASHPID in $$) covey halt >/dev/null 2>&1; podman_end; rm -rf "$dir" ;; esac' EXIT
sanitized "$BUILD/coveyd" && skip containers "a program with a sanitizer needs more of the system" && finish
why=$(podman_usable) || { skip containers "$why"; finish; }

tree_add /bin/cat /bin/sleep /usr/bin/env /usr/bin/id /bin/pwd "$BUILD/covey" "$BUILD/apps/sort" "$BUILD/coveyd"
tree_crypto
echo inside >"$dir/tree/only-inside"
image_make localhost/app
mkdir "$dir/work"
cd "$dir/work" || exit 1

says() { # words..., behind `--` the command: its output is those words
    local wanted=$1
    shift
    "$@" >"$dir/out" 2>&1
    grep -qxF -- "$wanted" "$dir/out" || { sed 's/^/    /' "$dir/out"; return 1; }
}
fails_with() { # status, text, command...: ends so, and the text is all that is said
    local status=$1 text=$2
    shift 2
    "$@" >"$dir/out" 2>&1
    [ $? = "$status" ] && [ "$(wc -l <"$dir/out")" = 1 ] && grep -qF -- "$text" "$dir/out" ||
        { sed 's/^/    /' "$dir/out"; return 1; }
}
run() { covey run --in localhost/app "$@"; }

expect "a VM starts" covey start --local 2

in_all() {
    run --each cat /only-inside >"$dir/out" 2>&1
    [ "$(grep -cx inside "$dir/out")" = 2 ]
}
expect "a program of the image runs on every host" in_all
expect "its exit status is the task's" fails_with 7 last run sh -c 'echo last; exit 7'
by_input() { [ "$(printf 'a\nb\n' | run cat)" = $'a\nb' ]; }
expect "standard input reaches it" by_input
expect "it is in the working directory, which is that of the host" says "$dir/work" run pwd
own_files() { run sh -c 'echo from inside >made' && [ "$(cat made)" = "from inside" ] && [ "$(stat -c %u made)" = "$(id -u)" ]; }
expect "what it writes there is the user's" own_files
expect "it is the same user" says "$(id -u)" run id -u
expect "where that would hide the image's system, the working directory is the image's own" says / run --cwd /usr/bin pwd
expect "a variable of --env goes in" says "value with blanks" run --env "GIVEN=value with blanks" sh -c 'echo "$GIVEN"'
other_variables() { run env >"$dir/out" 2>&1 && grep -q '^COVEY_VM=' "$dir/out" && ! grep -q '^XDG_RUNTIME_DIR=' "$dir/out"; }
expect "and the host's other variables do not" other_variables
not_in_arguments() {
    covey run --in localhost/app --env SECRET=abcdef-1 sh -c 'echo up; sleep 60' >"$dir/out" 2>&1 &
    within 20 grep -q up "$dir/out"
    local seen
    seen=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -c '^SECRET=')
    # the one that was called with it has it
    kill -TERM $!
    wait $! 2>/dev/null
    [ "$seen" = 1 ]
}
expect "a value is in the arguments of none but the caller" not_in_arguments

expect "a program that is not in the image" fails_with 127 nonesuch run nonesuch
expect "an image that is not there, in one line" fails_with 127 "covey-in: host h0 has no image localhost/none; there: podman pull, build or load" \
    covey run --in localhost/none true
expect "podman that is not there, in one line" fails_with 127 "covey-in: host h0 has no program no-podman: No such file or directory; install podman there" \
    covey run --env COVEY_PODMAN=no-podman --in localhost/app true
expect "no name of an image" fails_with 2 "--in --rm: must be the name of an image" covey run --in --rm true

# a member of the VM in a container: it starts others, in the same image, and some outside
expect "what a task in a container starts is in the same image" says inside run covey run cat /only-inside
expect "unless it says otherwise" says "$dir/work" run covey run --env COVEY_IN= sh -c 'test ! -e /only-inside && pwd'
sorts() { run sort -k 200K -n 4 >"$dir/out" 2>&1; local status=$?; sed 's/^/    /' "$dir/out"; return $status; }
expect "a demo in containers: sort, its tasks in memory and from host to host" sorts

containers() { "$dir/podman" ps -aq; }
none_left() { [ -z "$(containers)" ]; }
expect "no container is left behind" within 10 none_left
ended_by() { # signal, words of the task's: no container is left
    covey run --in localhost/app --each sh -c "$2 echo up; while :; do sleep 0.1; done" >"$dir/out" 2>&1 &
    local pid=$!
    within 20 eval '[ "$(grep -c up "$dir/out")" = 2 ]' || return 1
    kill "-$1" "$pid"
    wait "$pid" 2>/dev/null
    local status=$?
    echo "    its status: $status"
    [ $status = "$3" ] && within 20 none_left
}
expect "SIGTERM to covey run ends the containers" ended_by TERM "" 143
expect "covey run is killed: those that pass over SIGTERM end, too" ended_by KILL "trap : TERM;" 137
signal_inside() {
    covey run --in localhost/app sh -c 'trap "echo got it; exit 5" TERM; echo "$COVEY_VM" up; while :; do sleep 0.1; done' >"$dir/out" 2>&1 &
    local pid=$! tid
    within 20 grep -q up "$dir/out" || return 1
    listed() { tid=$(covey ps | awk '/covey-in/ {print $1}') && [ "$(wc -w <<<"$tid")" = 1 ]; } # others may be ending
    within 10 listed || return 1
    covey kill "$tid" || kill "$pid"
    wait "$pid"
    [ $? = 5 ] && grep -qx "got it" "$dir/out"
}
expect "the SIGTERM of covey kill reaches the program, which may catch it" signal_inside
by_death() {
    covey run --in localhost/app --host h1 sh -c 'echo up; while :; do sleep 0.1; done' >"$dir/out" 2>&1 &
    local pid=$!
    within 20 grep -q up "$dir/out" || return 1
    kill -KILL "$(daemon_pid h1)"
    wait "$pid" 2>/dev/null
    within 30 none_left
}
expect "the host's daemon is killed: the container goes with it" by_death

# ---- hosts that are containers: the launcher exec, with podman as its program ---------------------------------------
# shellcheck disable=SC2016
template='exec "$COVEY_PODMAN" run --rm --interactive --pull=never --network=host --log-driver=none --entrypoint= $COVEY_PODMAN_RUN localhost/app {command} --attached'
expect "a container becomes a host" covey add c1 --template "$template" --coveyd /bin/coveyd
expect "a task of it is inside" says inside covey run --host c1 --cwd / cat /only-inside
removed() { covey remove c1 && within 20 none_left; }
expect "covey remove ends the container" removed

finish
