#!/bin/bash
# daemon_test.sh - coveyd on this machine: start, refusals, tasks, hosts, failures, end.
# timeout: 180
#
# Each test is a story of one VM of local hosts. Nothing waits for a fixed time: what takes a moment
# is asked for until it is so. TEST=text runs only the stories whose names contain the text.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
coveyd=$BUILD/coveyd
export HOME=$dir

# ---- helpers ----

until_so() { # command
    within 15 "$@" && return 0
    covey ps
    covey hosts
    return 1
}

alive() { # pid; a zombie is not
    grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"
}
dead() { ! alive "$1"; }

no_daemon() { [ -z "$(daemons)" ]; }
nothing_left() {
    no_daemon && [ -z "$(find "$dir/run" -mindepth 1)" ]
}

up_hosts() { [ "$(covey hosts | grep -cw up)" -eq "$1" ]; }
host_is() { covey hosts | grep -q "^$1 .* $2 "; } # HOST STATE
tasks() { [ "$(covey ps | tail -n +2 | wc -l)" -eq "$1" ]; }
task_pid() { covey ps | awk '/sleep/ { print $4 }' | sed -n "${1}p"; }

refuses() { # regular expression, command...: fails with one line that has it
    local want=$1 said status input=${INPUT:-/dev/null}
    shift
    said=$("$@" 2>&1 >/dev/null <"$input")
    status=$?
    [ $status -ne 0 ] && [ "$(echo "$said" | wc -l)" -eq 1 ] && [[ $said =~ $want ]] && return 0
    echo "$*: status $status, said: $said"
    return 1
}

start() { # hosts besides h0
    local names=() i
    "$coveyd" --local "${options[@]}" || return 1
    for ((i = 1; i <= $1; i++)); do names+=("h$i"); done
    [ "$1" -eq 0 ] || covey add --launcher local "${names[@]}" >/dev/null
}

options=()
printf '[daemon]\nfail_timeout = 1.5\n' >"$dir/fast.conf"

said_failed() {
    sed 's/^/    /' "$dir/said"
    tail -n 40 "$dir"/run/covey/*/*.log 2>/dev/null
}

story() { # name, function
    case $1 in *"${TEST:-}"*) ;; *) return ;; esac
    if "$2" >"$dir/said" 2>&1 </dev/null; then
        ok "$1"
    else
        bad "$1"
        said_failed
    fi
    covey halt 2>/dev/null
    until_so nothing_left || bad "$1" "left behind: $(daemons) $(find "$dir/run" -mindepth 1)"
}

# ---- stories ----

# What SIGTERM leaves is the log, which says so, until the next start.
starts_and_ends() {
    local log=$dir/run/covey/$COVEY_VM/h0.log
    start 0 || return 1
    [ -S "$dir/run/covey/$COVEY_VM/h0.sock" ] || return 1
    [ "$(stat -c %a "$dir/run/covey/$COVEY_VM")" = 700 ] || return 1
    up_hosts 1 || return 1
    kill -TERM "$(daemon_pid h0)"
    until_so no_daemon || return 1
    [ "$(find "$dir/run" ! -type d)" = "$log" ] && grep -q 'ending: asked to by SIGTERM' "$log" || return 1
    start 0 && covey halt || return 1
    until_so nothing_left
}

second_start() {
    start 0 || return 1
    refuses "a daemon of VM '$COVEY_VM' for host 'h0' already runs here \(pid $(daemon_pid h0)\)" \
        "$coveyd" --local || return 1
    refuses "already runs here: a daemon for host 'h0'" "$coveyd" --local --name other || return 1
    "$coveyd" --local --vm "$COVEY_VM-2" || return 1
    covey --vm "$COVEY_VM-2" halt
}

bad_starts() {
    printf '[daemon]\nspeed = fast\n' >"$dir/bad.conf"
    refuses 'bad.conf:2: speed must be 1 to' "$coveyd" --config "$dir/bad.conf" || return 1
    printf '[daemon]\ncolour = red\n' >"$dir/bad.conf"
    refuses "unknown setting 'colour'" "$coveyd" --config "$dir/bad.conf" || return 1
    refuses 'cannot read .*: No such file' "$coveyd" --config "$dir/none" || return 1
    refuses 'fail-timeout must be seconds' "$coveyd" --local --fail-timeout never || return 1
    refuses 'for the daemon that starts the VM' "$coveyd" --join --fail-timeout 9 || return 1
    refuses 'loopback is for the daemon that starts the VM' "$coveyd" --join --loopback || return 1
    refuses 'bad option --nonsense' "$coveyd" --nonsense || return 1
    refuses "unexpected argument 'x'" "$coveyd" x || return 1
    refuses "cannot be a VM's name" "$coveyd" --vm ../x --local || return 1
    refuses "cannot be a VM's name" "$coveyd" --vm '' --local || return 1
    refuses "cannot be a host's name" "$coveyd" --name a/b --local || return 1
    refuses 'must be an IP address' "$coveyd" --address nowhere || return 1
    refuses 'must be a port' "$coveyd" --port 70000 || return 1
    refuses 'standard input' "$coveyd" --join || return 1
    echo hello >"$dir/hello"
    INPUT=$dir/hello refuses 'not a line of hex' "$coveyd" --join || return 1
    refuses "would have [0-9]* bytes" env XDG_RUNTIME_DIR="$dir/run" "$coveyd" --local \
        --name "$(printf 'n%.0s' {1..60})" --vm "$(printf 'v%.0s' {1..60})" || return 1
    mkdir -m 755 "$dir/run/covey"
    refuses 'open to others' "$coveyd" --local || return 1
    rmdir "$dir/run/covey"
    ln -s /tmp "$dir/run/covey"
    refuses 'is not a directory' "$coveyd" --local || return 1
    rm "$dir/run/covey"
}

stale_socket() {
    local daemon
    start 0 || return 1
    daemon=$(daemon_pid h0)
    kill -KILL "$daemon"
    until_so dead "$daemon" # only then it has closed what it locked
    [ -S "$dir/run/covey/$COVEY_VM/h0.sock" ] || return 1
    start 0 && up_hosts 1
}

many_tasks() {
    start 3 || return 1
    up_hosts 4 || return 1
    # shellcheck disable=SC2016
    covey run -n 200 /bin/sh -c 'echo "begin $COVEY_TASK end"; exit 0' >"$dir/lines" || return 1
    [ "$(grep -cE '^begin [0-9a-f]{16} end$' "$dir/lines")" -eq 200 ] || return 1
    [ "$(sort -u "$dir/lines" | wc -l)" -eq 200 ] || return 1
    tasks 0
}

much_output() {
    start 1 || return 1
    # shellcheck disable=SC2016
    covey run -n 2 /bin/sh -c 'i=0; while [ $i -lt 20000 ]; do echo "line $i of $COVEY_TASK"; i=$((i + 1)); done; printf tail' \
        >"$dir/lines" || return 1
    [ "$(grep -cE '^line [0-9]+ of [0-9a-f]{16}$' "$dir/lines")" -ge 39999 ] || return 1
    covey run /bin/sh -c 'head -c 3000000 /dev/zero | tr "\0" x' >"$dir/long" || return 1
    [ "$(tr -d '\n' <"$dir/long" | wc -c)" -eq 3000000 ]
}

spawn_errors() {
    start 0 || return 1
    echo 'echo no interpreter line' >"$dir/plain"
    printf '#!/no/such/interpreter\n' >"$dir/orphan"
    chmod 755 "$dir/plain" "$dir/orphan"
    : >"$dir/data"
    refuses 'No such file' covey run no-such-program || return 1
    refuses 'No such file' covey run /no/such/program || return 1
    refuses "program '$dir/data': Permission denied" covey run "$dir/data" || return 1
    refuses 'Exec format error' covey run "$dir/plain" || return 1
    refuses 'its interpreter is not there' covey run "$dir/orphan" || return 1
    tasks 0
}

exit_statuses() {
    start 1 || return 1
    covey run -n 2 /bin/sh -c 'exit 7'
    [ $? -eq 7 ] || return 1
    covey run -n 2 /bin/sh -c 'kill -KILL $$'
    [ $? -eq 137 ]
}

# Fields 5 and 6 of a process's stat: its group and its session.
sessions_of_tasks() { # whether each leads its group; is in its daemon's session; leads one
    covey run -n 2 /bin/sh -c 'read -r pid comm state parent group session rest </proc/$$/stat
        read -r d1 d2 d3 d4 d5 daemon rest </proc/$parent/stat
        echo $((group == pid)) $((session == daemon)) $((session == pid))' >"$dir/sessions" || return 1
    sort -u "$dir/sessions"
}

# By yielding they pass the processor on to those of their own session alone.
one_session() {
    start 0 || return 1
    [ "$(sessions_of_tasks)" = "1 1 0" ] || return 1
    covey halt && until_so nothing_left || return 1
    script -qec "'$coveyd' --local --foreground" /dev/null &
    until_so up_hosts 1 || return 1
    [ "$(sessions_of_tasks)" = "1 0 1" ] || return 1
    covey halt
    wait $!
}

killed_task() {
    start 1 || return 1
    covey run -n 4 sleep 1000 &
    local run=$!
    until_so tasks 4 || return 1
    kill -KILL "$(task_pid 1)"
    until_so tasks 3 || return 1
    covey ps | awk '/sleep/ { print $1 }' | xargs covey kill || return 1
    wait $run
    [ $? -gt 128 ] && tasks 0
}

stubborn_task() {
    start 0 || return 1
    covey run /bin/sh -c 'trap "" TERM; while :; do sleep 1; done' &
    until_so tasks 1 || return 1
    covey halt || return 1
    wait $!
    until_so nothing_left
}

grandchild() {
    start 0 || return 1
    # the background child keeps the output open; the end of the task is told nevertheless
    covey run /bin/sh -c 'sleep 1000 & echo $! >'"$dir/grandchild"'; echo end of task' >"$dir/lines" || return 1
    [ "$(cat "$dir/lines")" = "end of task" ] || return 1
    tasks 0 && alive "$(cat "$dir/grandchild")" || return 1
    kill "$(cat "$dir/grandchild")"
}

killed_daemon() {
    options=(--config "$dir/fast.conf")
    start 3 || return 1
    options=()
    covey run -n 4 sleep 1000 &
    local run=$! pid
    until_so tasks 4 || return 1
    pid=$(covey ps | awk '/ h2 .*sleep/ { print $4 }')
    kill -KILL "$(daemon_pid h2)"
    until_so dead "$pid" || return 1
    until_so up_hosts 3 || return 1
    until_so tasks 3 || return 1
    covey run -n 6 true || return 1
    kill -TERM $run
    wait $run
    until_so tasks 0
}

ended_daemon() {
    start 3 || return 1
    covey run -n 4 sleep 1000 &
    local run=$! pid daemon
    until_so tasks 4 || return 1
    pid=$(covey ps | awk '/ h3 .*sleep/ { print $4 }')
    daemon=$(daemon_pid h3)
    kill -TERM "$daemon"
    until_so dead "$daemon" || return 1
    dead "$pid" || return 1
    [ ! -e "$dir/run/covey/$COVEY_VM/h3.sock" ] || return 1
    until_so up_hosts 3 || return 1
    kill -TERM $run
    wait $run
    until_so tasks 0
}

lost_coordinators() {
    options=(--config "$dir/fast.conf")
    start 3 || return 1
    options=()
    kill -TERM "$(daemon_pid h0)"
    until_so up_hosts 3 || return 1
    until_so covey add --launcher local h4 || return 1 # somebody else coordinates
    local second
    second=$(covey hosts | awk '/ coordinator/ { print $1 }')
    echo "then $second coordinates"
    kill -KILL "$(daemon_pid "$second")"
    until_so up_hosts 3 || return 1
    until_so covey add --launcher local h5 || return 1
    covey run -n 8 true
}

# A daemon that was stopped so long that the others went on without it ends when it runs again.
cut_off_daemon() {
    options=(--config "$dir/fast.conf")
    start 3 || return 1
    options=()
    local daemon pid
    daemon=$(daemon_pid h2)
    covey run -n 4 sleep 1000 &
    until_so tasks 4 || return 1
    pid=$(covey ps | awk '/ h2 .*sleep/ { print $4 }')
    kill -STOP "$daemon"
    COVEY_SOCKET=$dir/run/covey/$COVEY_VM/h0.sock until_so host_is h2 down || return 1
    alive "$pid" || return 1
    kill -CONT "$daemon"
    until_so dead "$daemon" || return 1
    dead "$pid" || return 1
    [ ! -e "$dir/run/covey/$COVEY_VM/h2.sock" ] || return 1
    grep -q 'ending: ' "$dir/run/covey/$COVEY_VM/h2.log" || return 1 # the log is kept
    rm "$dir/run/covey/$COVEY_VM/h2.log"
    kill -TERM $!
    wait $!
    up_hosts 3
}

removed_host() {
    start 3 || return 1
    local daemon
    daemon=$(daemon_pid h1)
    covey remove h1 || return 1
    up_hosts 3 || return 1
    until_so dead "$daemon" || return 1
    refuses 'nosuch' covey remove nosuch || return 1
    covey add --launcher local h1 && up_hosts 4
}

failing_launchers() {
    start 0 || return 1
    refuses 'already' covey add --launcher local h0 || return 1
    refuses 'no way to h5' covey add --launcher exec --template 'echo no way to {host} >&2; exit 3; {command}' h5 || return 1
    refuses 'status 4' covey add --launcher exec --template 'exit 4; {command}' h5 || return 1
    refuses 'needs a template' covey add --launcher exec --template 'true' h5 || return 1
    # one that fails does not hold the others back
    covey add --launcher exec --template 'test {host} != h7 && {command} --local' h6 h7 h8 >"$dir/lines" 2>&1 && return 1
    up_hosts 3
}

foreground_launcher() {
    start 0 || return 1
    covey add --launcher exec --template '{command} --local --foreground' h1 || return 1
    up_hosts 2 && covey run -n 2 true
}

# A daemon that cannot reach the VM it was started for: consoles pass it by, and it ends as soon as
# the coordinator that launched it is dead.
unjoined_daemon() {
    "$coveyd" --local --name z0 --fault loss=1 || return 1
    covey add --launcher local a1 &
    local adding=$! socket=$dir/run/covey/$COVEY_VM/a1.sock
    until_so [ -S "$socket" ] || return 1
    up_hosts 1 || return 1
    COVEY_SOCKET=$socket refuses 'has not joined' covey hosts || return 1
    kill -KILL "$(daemon_pid z0)"
    wait $adding
    within 5 no_daemon && rm "$dir/run/covey/$COVEY_VM/z0.log" # that of a daemon that was killed is kept
    rmdir "$dir/run/covey/$COVEY_VM" "$dir/run/covey"
}

# A daemon alone with its tasks has nothing to do until somebody calls: it never wakes up.
idle() {
    start 0 || return 1
    covey run sleep 1000 &
    until_so tasks 1 || return 1
    local run=$! result
    until_so sleeps "$(daemon_pid h0)"
    result=$?
    kill -TERM $run
    wait $run
    return $result
}
sleeps() { # pid; where it still has to do with the last call, the next time
    local before after
    before=$(awk '/voluntary_ctxt/ { n += $2 } END { print n }' "/proc/$1/status")
    sleep 1.5
    after=$(awk '/voluntary_ctxt/ { n += $2 } END { print n }' "/proc/$1/status")
    [ "$before" -eq "$after" ]
}

# Where each start takes long, as in a PATH of thousands of folders, many take longer than a host may
# be silent: the daemon hears and says in between what it has to.
long_path() { printf '/none/%d:' {1..8000}; }
many_slow_starts() {
    options=(--fail-timeout 1)
    PATH=$(long_path)$PATH start 1 || return 1
    options=()
    covey run -n 200 --host h1 true || return 1
    up_hosts 2 && ! grep suspect "$dir/run/covey/$COVEY_VM/h0.log"
}

some_tasks() { ! tasks 0; }
spawned() { covey stats "$1" | awk '$2 == "tasks.spawned" { n = $3 } END { print n + 0 }'; } # HOST
# What nobody waits for any more is not started: neither for a console of this host, nor of another.
orphaned_starts() {
    local host console before
    PATH=$(long_path)$PATH start 1 || return 1
    for host in h1 h0; do
        before=$(spawned h1)
        COVEY_SOCKET=$(socket_of $host) covey run -n 1000 --host h1 sleep 1000 &
        console=$!
        until_so some_tasks || return 1
        kill -KILL $console
        until_so tasks 0 || return 1
        [ $(($(spawned h1) - before)) -lt 900 ] || return 1
    done
    covey run --host h1 true
}

# The daemon ends while it starts tasks: who waits for them hears so.
ended_starts() {
    PATH=$(long_path)$PATH start 1 || return 1
    covey run -n 1000 --host h1 sleep 1000 2>"$dir/refused" &
    local console=$!
    until_so some_tasks || return 1
    kill -TERM "$(daemon_pid h1)"
    wait $console && return 1
    cat "$dir/refused"
    grep -q "host h1 is leaving the VM" "$dir/refused" && until_so up_hosts 1
}

# The first daemon's covey.conf gives the VM its topology, of more bytes than one decision holds.
named_topology() {
    { echo "switch s" && printf 'host node-%d s 100M\n' {1..400}; } >"$dir/network"
    printf '[daemon]\ntopology = %s\n' "$dir/network" >"$dir/named.conf"
    options=(--config "$dir/named.conf")
    start 1 || return 1
    options=()
    covey topology --vm --file | cmp - <(covey topology --file "$dir/network") || return 1
    covey topology --use none && covey halt || return 1
    until_so nothing_left || return 1
    printf 'switch s\nhost a t\n' >"$dir/network"
    refuses "network:2:8: 't' is no switch" "$coveyd" --local --config "$dir/named.conf" || return 1
    head -c 300000 /dev/zero | tr '\0' '#' >"$dir/network"
    refuses "network cannot be read: File too large" "$coveyd" --local --config "$dir/named.conf" || return 1
    rm "$dir/network"
    refuses "network cannot be read: No such file" "$coveyd" --local --config "$dir/named.conf" || return 1
    printf '[daemon]\ntopology = network\n' >"$dir/named.conf"
    refuses "named.conf:2: topology must be the path of a file, from / on" "$coveyd" --config "$dir/named.conf"
}

story "starts, and SIGTERM leaves its log alone" starts_and_ends
story "a second start says so" second_start
story "bad starts are one clear line" bad_starts
story "a dead daemon's socket is replaced" stale_socket
story "200 tasks over 4 hosts, whole lines" many_tasks
story "much output arrives whole" much_output
story "exec failures are told apart" spawn_errors
story "exit statuses and signals come back" exit_statuses
story "tasks share a session, but not a terminal" one_session
story "kill -9 of a task" killed_task
story "a task that ignores SIGTERM ends with the VM" stubborn_task
story "a grandchild holds the output open" grandchild
story "kill -9 of a daemon" killed_daemon
story "SIGTERM of a daemon: its tasks end, the VM goes on" ended_daemon
story "coordinators end and die, the VM goes on" lost_coordinators
story "a daemon that was cut off ends" cut_off_daemon
story "remove and add again" removed_host
story "launchers that fail say why" failing_launchers
story "a launcher that stays in the foreground" foreground_launcher
story "a daemon that has not joined" unjoined_daemon
story "an idle daemon sleeps" idle
story "starting many tasks keeps no host waiting" many_slow_starts
story "tasks whose parent died are not started" orphaned_starts
story "a daemon that starts tasks ends" ended_starts
story "the first daemon's covey.conf names the topology" named_topology
finish
