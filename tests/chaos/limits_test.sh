#!/bin/bash
# timeout: 240
# limits_test.sh - what runs out: disk, descriptors, processes, memory, ports. Whoever is short says so
# in one line that names what is short; nothing else is harmed, and once there is enough again all is
# as before.
#
# Root makes small file systems (in a mount namespace of its own) and control groups; without it
# those stories are skipped. TEST=text runs only the stories whose names contain the text.
set -u
cd "$(dirname "$0")/../.." || exit 1
if [ "$(id -u)" = 0 ] && [ -z "${LIMITS_MOUNTS:-}" ] && unshare -m true 2>/dev/null; then
    LIMITS_MOUNTS=1 exec unshare -m --propagation private bash "$0" "$@"
fi
. tests/chaos/vm.sh
mounts=${LIMITS_MOUNTS:-}

# ---- helpers ----

one_line() { # regular expression, command...: fails with one line on standard error that has it
    local want=$1 said status
    shift
    said=$(timeout 300 "$@" 2>&1 >/dev/null </dev/null)
    status=$?
    [ $status -ne 0 ] && [ $status -ne 124 ] && [ "$(echo "$said" | wc -l)" -eq 1 ] && [[ $said =~ $want ]] &&
        return 0
    echo "$*: status $status, said: $said (wanted: $want)"
    return 1
}

small_disk() { # directory, options: 64 KiB, empty
    mkdir -p "$1" && mount -t tmpfs -o "size=64k,mode=700${2:+,$2}" covey-limits "$1"
}

fill() { dd if=/dev/zero of="$1/ballast" bs=1k status=none 2>/dev/null; true; } # directory

two_up() { [ "$(covey hosts | grep -cw up)" = 2 ]; } # one that is slow to answer is a suspect for a moment
works() { # the VM does what it should
    covey run -n 4 true && covey run -n 2 "$BUILD/tests/chaos/many" --child && within 10 two_up
}

# ---- stories ----

full_runtime() {
    small_disk "$dir/small" nr_inodes=3 || return 1 # room for two directories
    one_line 'No space left on device' env XDG_RUNTIME_DIR="$dir/small" "$BUILD/coveyd" --local
    local status=$?
    within 15 umount "$dir/small"
    return $status
}

full_log() {
    small_disk "$dir/run" || return 1
    echo 'log_level = debug' >>"$dir/fast.conf"
    start_vm 1 || return 1
    local before
    fill "$dir/run"
    covey run -n 200 true && works || return 1
    rm "$dir/run/ballast"
    before=$(stat -c %s "$dir/run/covey/$COVEY_VM/h0.log")
    works || return 1
    [ "$(stat -c %s "$dir/run/covey/$COVEY_VM/h0.log")" -gt "$before" ] || { echo "the log does not go on"; return 1; }
    grep -q 'lines could not be written: No space left' "$dir/run/covey/$COVEY_VM/h0.log" ||
        { tail -n 3 "$dir/run/covey/$COVEY_VM/h0.log"; return 1; }
    works && halt_vm
    local status=$?
    within 15 umount "$dir/run" # a daemon may be writing its last line
    return $status
}

full_output() {
    small_disk "$dir/small" || return 1
    fill "$dir/small"
    one_line 'No space left on device' "$BUILD/apps/mandel" --size 300x200 --baseline 0 --output "$dir/small/picture.png" &&
        one_line 'No space left on device' "$BUILD/apps/matmul" --size 200 --baseline 0 --output "$dir/small/product" &&
        one_line 'No space left on device' "$BUILD/apps/sort" --keys 100K --baseline 0 --output "$dir/small/keys" &&
        one_line 'No space left on device' bash -c "'$BUILD/covey' run -n 1 seq 100000 >$dir/small/lines"
    local status=$?
    within 15 umount "$dir/small"
    return $status && works
}

no_descriptors_at_start() {
    one_line 'limit on open files is 20' prlimit --nofile=20:20 "$BUILD/coveyd" --local
}

descriptors_at_most() { [ "$(find "/proc/$1/fd" | wc -l)" -le "$2" ]; }

# 60 descriptors: some tasks fit, the others are refused by name
few_descriptors() {
    local pid before
    pid=$(daemon_pid h0)
    before=$(find "/proc/$pid/fd" | wc -l)
    : >"$dir/said"
    COVEY_SOCKET=$(socket_of h0) "$BUILD/covey" run -n 40 --host h0 sleep 1000 2>"$dir/said" &
    local run=$!
    within 15 grep -q 'tasks could not start' "$dir/said" || { cat "$dir/said"; return 1; }
    cat "$dir/said"
    grep -q 'Too many open files' "$dir/said" || return 1
    kill -TERM $run
    wait $run
    within 15 works || return 1
    within 15 descriptors_at_most "$pid" "$before" || { ls -l "/proc/$pid/fd"; return 1; }
}

# Callers beyond the limit are told so; those that are there go on.
few_descriptors_for_callers() {
    local i callers=() refused
    : >"$dir/said"
    COVEY_SOCKET=$(socket_of h0)
    export COVEY_SOCKET
    for i in {1..60}; do
        "$BUILD/tests/chaos/hold" 2>>"$dir/said" &
        callers+=($!)
    done
    within 15 grep -q 'no descriptors left' "$dir/said" || { cat "$dir/said"; return 1; }
    refused=$(sort "$dir/said" | uniq -c)
    kill "${callers[@]}" 2>/dev/null
    wait "${callers[@]}" 2>/dev/null
    echo "$refused"
    unset COVEY_SOCKET
    [ "$(grep -vc 'no descriptors left' "$dir/said")" = 0 ] && within 15 works
}

# Another program of this user has more descriptors on their way than the daemon may open: those of
# links and of who joins go on later, and nobody is told that a daemon ended.
descriptors_on_their_way() {
    local hold=$BUILD/tests/chaos/hold status=0
    "$hold" --descriptors 100 >"$dir/said" &
    local holder=$!
    within 15 grep -q 'on their way' "$dir/said" || return 1
    (sleep 1; kill $holder) &
    COVEY_SOCKET=$(socket_of h0) "$hold" --ask shm 100000 || status=1
    wait $holder
    wait
    works && [ $status -eq 0 ]
}

few_descriptors_in_a_task() {
    local hold=$BUILD/tests/chaos/hold
    export COVEY_SOCKET
    COVEY_SOCKET=$(socket_of h0)
    one_line 'out of descriptors' prlimit --nofile=4:4 "$hold" &&
        one_line 'out of descriptors' prlimit --nofile=8:8 "$hold" --ask shm 100 &&
        prlimit --nofile=10:10 "$hold" --ask auto 100000 && # through the daemon then
        prlimit --nofile=10:10 "$hold" --ask udp 100000 &&
        "$hold" --ask shm 100000
    local status=$?
    unset COVEY_SOCKET
    return $status
}

little_memory_in_a_task() {
    local hold=$BUILD/tests/chaos/hold
    export COVEY_SOCKET
    COVEY_SOCKET=$(socket_of h0)
    one_line 'memory' prlimit --as=200000000 "$hold" --ask shm 400000000 &&
        "$hold" --offer 400000000
    local status=$?
    unset COVEY_SOCKET
    return $status
}

few_processes() {
    local user=$((1000000 + 2 * $$)) run limit=() # a user that nobody is
    mkdir -m 700 "$dir/user"
    chown $user "$dir/user"
    chmod 711 "$dir"
    mkdir "$dir/programs" && cp "$BUILD"/covey{,d} "$dir/programs" # that user may not enter the folder of the build
    as_user() {
        "${limit[@]}" setpriv --reuid $user --regid $user --clear-groups \
            env -C / XDG_RUNTIME_DIR="$dir/user" HOME=/ "$dir/programs/$1" "${@:2}"
    }
    limit=(prlimit --nproc=8:8)
    as_user coveyd --local --name u0 || return 1
    limit=()
    : >"$dir/said"
    as_user covey run -n 20 sleep 1000 2>"$dir/said" &
    run=$!
    within 15 grep -q 'tasks could not start' "$dir/said" || { cat "$dir/said"; return 1; }
    cat "$dir/said"
    grep -q 'limit on processes' "$dir/said" || return 1
    pkill -TERM -u $user -x covey
    wait $run
    within 15 as_user covey run -n 3 true || return 1
    as_user covey halt
}

few_pids_in_a_group() {
    local group=/sys/fs/cgroup/pids/covey-limits-$$ pid run
    mkdir $group || return 1
    pid=$(daemon_pid h0)
    echo "$pid" >$group/cgroup.procs
    echo 10 >$group/pids.max
    : >"$dir/said"
    COVEY_SOCKET=$(socket_of h0) "$BUILD/covey" run -n 20 --host h0 sleep 1000 2>"$dir/said" &
    run=$!
    within 15 grep -q 'tasks could not start' "$dir/said"
    cat "$dir/said"
    kill -TERM $run
    wait $run
    echo max >$group/pids.max
    echo "$pid" >/sys/fs/cgroup/pids/cgroup.procs
    within 15 rmdir $group || return 1
    grep -q 'limit on processes' "$dir/said" && works
}

port_taken() {
    local port
    port=$(covey hosts | awk '/ coordinator/ { sub(".*:", "", $3); print $3 }')
    one_line "cannot open UDP port $port-$port: Address already in use" \
        env COVEY_VM="$COVEY_VM-2" "$BUILD/coveyd" --local --port "$port"
}

# A task that ignores credit sends to one of another host that is stopped: that host's daemon holds a
# bounded part of it and tells both.
endless_sender() { # option: how it sends
    local pid task before after status=0
    pid=$(daemon_pid h1)
    COVEY_SOCKET=$(socket_of h1) "$BUILD/tests/chaos/hold" 2>"$dir/said" &
    task=$!
    within 15 eval 'covey ps | grep -q hold' || return 1
    kill -STOP $task
    before=$(awk '/VmRSS/ { print $2 }' "/proc/$pid/status")
    COVEY_SOCKET=$(socket_of h0) timeout 300 "$BUILD/tests/chaos/flood" \
        "$(covey ps | awk '/hold/ { print substr($1, 2) }')" 2000 "$@" || status=1
    after=$(awk '/VmHWM/ { print $2 }' "/proc/$pid/status")
    echo "the daemon that received: $before KiB before, at most $after KiB"
    kill -CONT $task
    works || status=1
    kill -KILL $task
    wait $task
    [ "$after" -lt $((before + 60000)) ] && [ $status -eq 0 ]
}

# A task asks the daemon of another host, and then its own, again and again and reads no answer: it is
# not read any more, and both daemons hold a bounded part of the answers.
endless_asker() {
    local host name after status=0
    for host in 2 1; do
        COVEY_SOCKET=$(socket_of h0) timeout 300 "$BUILD/tests/chaos/flood" $host 200000 --ask || status=1
    done
    for name in h0 h1; do
        after=$(awk '/VmHWM/ { print $2 }' "/proc/$(daemon_pid $name)/status")
        echo "the daemon of $name: at most $after KiB"
        sanitized "$BUILD/coveyd" || [ "$after" -lt 200000 ] || status=1
    done
    works && [ $status -eq 0 ]
}

# A task puts more into a bag than a daemon may hold: it is told which option says so, what was taken
# is done all the same, and neither the daemon that holds the bag nor those with copies grow beyond.
endless_putter() {
    local name after status=0
    COVEY_SOCKET=$(socket_of h0) timeout 60 "$BUILD/tests/chaos/hold" --bag 400000000 || status=1
    for name in h0 h1 h2; do
        after=$(awk '/VmHWM/ { print $2 }' "/proc/$(daemon_pid $name)/status")
        echo "the daemon of $name: at most $after KiB"
        sanitized "$BUILD/coveyd" || [ "$after" -lt 100000 ] || status=1
    done
    [ $status -eq 0 ] && [ "$(covey stats | awk '$1 == "h1" && $2 == "memory.limit" { print $3 }')" = 33554432 ]
}

# ---- the stories ----

alone() { # name, command...: without a VM
    case $1 in *"${TEST:-}"*) ;; *) return ;; esac
    if "${@:2}"; then ok "$1"; else bad "$1"; fi
}

alone "a daemon needs some descriptors" no_descriptors_at_start
limited=(prlimit --nofile=60:60)
story "few descriptors in a daemon" 1 few_descriptors
story "few descriptors for callers" 1 few_descriptors_for_callers
if [ "$(id -u)" = 0 ]; then
    skip "descriptors on their way" "the limit is not for root; an ordinary user runs this"
else
    story "descriptors on their way" 1 descriptors_on_their_way
fi
limited=()
story "few descriptors in a task" 0 few_descriptors_in_a_task
if sanitized "$BUILD/tests/chaos/hold"; then
    skip "little memory in a task" "a sanitizer needs more"
else
    story "little memory in a task" 0 little_memory_in_a_task
fi
story "a port that is taken" 0 port_taken
story "a task that ignores credit" 1 endless_sender
story "a task that ignores credit, to many" 1 endless_sender --mcast
story "a task that asks and does not read" 1 endless_asker
echo "memory = 32M" >>"$dir/fast.conf"
story "a bag that takes no more" 2 endless_putter
sed -i /^memory/d "$dir/fast.conf"
if [ -n "$mounts" ]; then
    alone "a full disk for sockets" full_runtime
    alone "a full disk for the log" full_log
    story "a full disk for results" 1 full_output
else
    skip "full disks" "needs root and mount namespaces"
fi
if [ "$(id -u)" = 0 ]; then
    alone "few processes for a user" few_processes
else
    skip "few processes for a user" "needs root"
fi
if [ -w /sys/fs/cgroup/pids/cgroup.procs ]; then
    story "few processes in a control group" 1 few_pids_in_a_group
else
    skip "few processes in a control group" "no control group of processes can be made here"
fi
finish
