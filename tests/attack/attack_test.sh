#!/bin/bash
# timeout: 240
# What an outsider on the network, another user of the host and a task gone wrong can do to a live
# VM: nothing. Runs in a network namespace of its own, the VM belongs to an ordinary user, so it
# needs root. With SOAK=1 ten million datagrams, stream bytes and frames each.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export BUILD

if [ "${1:-}" != --inside ]; then
    [ "$(id -u)" = 0 ] || { echo "needs root, for a network and users of its own"; exit 77; }
    unshare --net true 2>/dev/null || { echo "no network namespaces here"; exit 77; }
    exec unshare --net bash tests/attack/attack_test.sh --inside
fi

owner=$((1000000 + 2 * $$)) other=$((1000001 + 2 * $$)) # users that nobody is
datagrams=100000 bytes=100000 frames=100000
[ -n "${SOAK:-}" ] && datagrams=10000000 bytes=10000000 frames=10000000
top=$(mktemp -d "${TMPDIR:-/tmp}/covey-attack-test.XXXXXX")
run=$top/run/covey/attack
unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE COVEY_VM

as() { # USER COMMAND..., from a folder that the user may enter
    setpriv --reuid="$1" --regid="$1" --clear-groups env -C / HOME="$top/run" XDG_RUNTIME_DIR="$top/run" \
        XDG_CONFIG_HOME="$top/config" "${@:2}"
}
covey() { as $owner COVEY_VM=attack "$top/bin/covey" "$@"; }
echo_task() { as $owner COVEY_VM=attack "$top/bin/echo" "$@"; }
frames() { as $owner SOCKET="$run/$host.sock" "$top/bin/frames" "$@"; }

cleanup() {
    [ -n "${recorder:-}" ] && kill "$recorder" 2>/dev/null
    covey halt >/dev/null 2>&1
    wait
    rm -rf "$top"
    rmdir "/tmp/covey-$owner" 2>/dev/null
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

ip link set lo up
chmod 755 "$top"
mkdir -m 700 "$top/run"
mkdir -p "$top/bin" "$top/config/covey"
cp "$BUILD"/coveyd "$BUILD"/covey "$BUILD"/tests/attack/{echo,frames,pry} "$top/bin" || exit 1
printf '[daemon]\nport = 17000-17020\njoin_timeout = 2\n' >"$top/config/covey/covey.conf"
chown $owner "$top/run"

# ---- looking at the VM

stat_of() { # HOST NAME
    covey stats --all | awk -v host="$1" -v name="$2" '$1 == host && $2 == name { print $3 }'
}
pid_at() { ss -Hulnp "sport = :$1" | sed -n 's/.*pid=\([0-9]*\).*/\1/p'; } # h0: 17000, h1: 17001; below those that others are given
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
descriptors() { ls "/proc/$1/fd" | wc -l; }
hosts_up() { [ "$(covey hosts --json | grep -c '"up"')" = "$1" ]; }

serve() { # HOST; sets tid and pid of the task, which sends back what it gets
    local said=$top/serve.$1
    : >"$said"
    covey run -n 1 --host "$1" "$top/bin/echo" serve >"$said" 2>&1 &
    within 20 grep -q 't[0-9a-f]*$' "$said" || return 1
    tid=$(grep -o 't[0-9a-f]*$' "$said" | head -n 1)
    pid=$(ps -o pid=,args= -u $owner | awk -v path="$top/bin/echo" '$2 == path && $3 == "serve" { pid = $1 } END { print pid }')
}

works() { # the VM carries messages, over every route
    local route
    for route in udp tcp; do
        echo_task ask "$tid" $route 20 || return 1
    done
    [ "$(covey run -n 2 true >/dev/null 2>&1; echo $?)" = 0 ]
}

same_memory() { # NAME PID BEFORE
    local after
    after=$(rss "$2")
    echo "# $1: $3 kB before, $after kB after"
    sanitized "$BUILD/coveyd" || [ "$after" -le $(($3 + 3072)) ]
}

# ---- outsiders

start_recording() {
    : >"$top/recorder"
    "$BUILD/tests/attack/wire" record "$top/packets" >"$top/recorder" &
    recorder=$!
    within 20 grep -q ready "$top/recorder"
}
stop_recording() {
    kill -TERM "$recorder" && wait "$recorder"
    recorder=
}

# What replayed frames would change: sessions, tasks started on the hosts.
marks() { for h in h0 h1; do echo "$(stat_of $h session.opened) $(stat_of $h tasks.spawned)"; done; }

replay_changes_nothing() {
    local before after
    before=$(marks)
    for _ in 1 2; do "$BUILD/tests/attack/wire" replay "$top/packets" >"$top/replayed" || return 1; done
    after=$(marks)
    echo "# $(cat "$top/replayed") datagrams played twice; refused at h1: $(stat_of h1 udp.refused_replay)" \
        "replays, $(stat_of h1 udp.refused_mac) not authentic, $(stat_of h1 udp.refused_session) of no session," \
        "$(stat_of h1 udp.refused_vm) of another VM, $(stat_of h1 udp.refused_host) for another host"
    [ "$before" = "$after" ] || { echo "$before, then $after"; return 1; }
    [ $(($(stat_of h1 udp.refused_replay) + $(stat_of h1 udp.refused_session) + $(stat_of h1 udp.refused_vm) +
        $(stat_of h1 udp.refused_host))) -gt 10 ] && hosts_up 2
}

new_h1() {
    covey remove h1 >/dev/null && covey add h1 --launcher local >/dev/null && [ -n "$(pid_at 17001)" ]
}

cannot_join() { # bootstrap line on standard input
    as $owner "$top/bin/coveyd" --join --local >"$top/joiner" 2>&1 && { cat "$top/joiner"; return 1; }
    [ "$(wc -l <"$top/joiner")" = 1 ] || { cat "$top/joiner"; return 1; }
    hosts_up 2
}
guessed_key_joins_not() { frames invitation attack 17000 | cannot_join; }
nonsense_joins_not() {
    local line
    for line in "" xyz 00 "$(head -c 5000 /dev/zero | tr '\0' a)" "$(frames invitation attack 1 | cut -c1-200)"; do
        echo "$line" | cannot_join || return 1
    done
}

flood() { # PORT HOST
    local pid before read
    pid=$(pid_at "$1")
    SEED=2 "$BUILD/tests/attack/wire" flood "$top/packets" "$1" 5000 >/dev/null # what is made once is made
    before=$(rss "$pid") read=$(stat_of "$2" udp.datagrams_received)
    echo "# $("$BUILD/tests/attack/wire" flood "$top/packets" "$1" "$datagrams") datagrams to port $1," \
        "$(($(stat_of "$2" udp.datagrams_received) - read)) of them read by $2"
    same_memory "daemon of $2" "$pid" "$before"
}

streams_at_task() {
    local port before
    port=$(ss -Htlnp | grep "pid=$pid," | sed -n 's/.*:\([0-9]*\) .*/\1/p' | head -n 1)
    before=$(rss "$pid")
    echo "# $("$BUILD/tests/attack/wire" streams "$port" "$bytes") bytes to port $port of a task"
    same_memory "task" "$pid" "$before"
}

outsiders() {
    host=h0
    start_recording && covey start --local 2 >/dev/null && serve h1 || { bad "the VM starts"; return; }
    expect "the VM works while it is recorded" works
    stop_recording
    expect "a recording changes nothing in the daemons it was made of" replay_changes_nothing
    expect "nobody joins with a guessed key" guessed_key_joins_not
    expect "nobody joins with nonsense" nonsense_joins_not
    expect "h0 takes $datagrams random and mutated datagrams" flood 17000 h0
    expect "h1 takes $datagrams random and mutated datagrams" flood 17001 h1
    expect "a task takes $bytes random bytes on streams" streams_at_task
    expect "the VM still works" works
    expect "refusals are counted" test "$(stat_of h0 udp.refused_size)" -gt 0
    expect "the log has few lines of them" test "$(grep -c refused "$run/h0.log")" -le $((10 + SECONDS / 5))
    expect "h1 starts anew, with the same key and port" new_h1
    expect "the recording changes nothing in a daemon that was started anew" replay_changes_nothing
    covey halt >/dev/null
    covey start --local 2 >/dev/null
    expect "the recording changes nothing in a VM of another key" replay_changes_nothing
}

# ---- other users

sees_nothing() { as $other "$top/bin/pry" "$@"; }
no_way_in() {
    as $other ls "$run" >/dev/null 2>&1 && echo "the directory can be listed" && return 1
    as $other cat "$run/h0.log" >/dev/null 2>&1 && echo "the log can be read" && return 1
    as $other COVEY_VM=attack "$top/bin/covey" hosts >/dev/null 2>&1 && echo "covey works" && return 1
    as $other COVEY_SOCKET="$run/h0.sock" "$top/bin/echo" ask t40001 udp 1 >/dev/null 2>&1 && return 1
    sees_nothing "$(pid_at 17000)" "$run/h0.sock" && sees_nothing "$pid"
}
# Even when the directories are opened by mistake the daemon looks who calls.
kernel_says_who_calls() {
    local before after
    before=$(stat_of h0 stream.callers_refused)
    chmod 755 "$top/run" "$top/run/covey" "$run" && chmod 666 "$run/h0.sock"
    sees_nothing "$(pid_at 17000)" "$run/h0.sock"
    local seen=$?
    chmod 600 "$run/h0.sock" && chmod 700 "$run" "$top/run/covey" "$top/run"
    after=$(stat_of h0 stream.callers_refused)
    [ $seen = 0 ] && [ "$after" -gt "$before" ] && grep -q "of user $other not admitted" "$run/h0.log"
}
nothing_lies_about() {
    local left
    left=$(find /dev/shm /tmp -user $owner -not -path "$top/*" 2>/dev/null)
    [ -z "$left" ] || { echo "$left"; return 1; }
    for p in $(ps -o pid= -u $owner); do
        # a process that has ended meanwhile shows nothing
        { tr '\0' '\n' <"/proc/$p/cmdline"; tr '\0' '\n' <"/proc/$p/environ"; } 2>/dev/null |
            grep -qE '[0-9a-f]{64}' && echo "a key among arguments or environment" && return 1
    done
    left=$(grep -rlE '[0-9a-f]{64}' "$top/run")
    [ -z "$left" ] || { echo "a key in $left"; return 1; }
}
directory_of_another() { # what makes it
    local said
    "$@" "/tmp/covey-$owner"
    said=$(setpriv --reuid=$owner --regid=$owner --clear-groups env -C / -u XDG_RUNTIME_DIR HOME="$top/run" \
        "$top/bin/coveyd" --local --vm other 2>&1)
    local status=$?
    rm -rf "/tmp/covey-${owner:?}"
    [ $status = 1 ] && [[ $said == coveyd:*"/tmp/covey-$owner"* ]] || { echo "$status: $said"; return 1; }
}

others() {
    serve h0
    expect "another user neither sees nor uses daemon and task" no_way_in
    expect "the daemon hears no other user even through an open directory" kernel_says_who_calls
    expect "no key, file or memory lies about" nothing_lies_about
    expect "a directory made by another user is not used" directory_of_another as $other mkdir -m 777
    expect "nor a link to one's own" directory_of_another as $other ln -s "$top/run"
}

# ---- tasks

forges_nothing() {
    local before
    before=$(descriptors "$(pid_at 17000)")
    frames forge "$tid" || return 1
    within 5 eval '[ "$(descriptors "$(pid_at 17000)")" -le "$before" ]'
    local result=$?
    echo "# descriptors of h0: $before before, $(descriptors "$(pid_at 17000)") after"
    return $result
}
takes_frames() {
    local daemon=$(pid_at 17000) before counted
    frames flood 5000 >/dev/null
    before=$(rss "$daemon") counted=$(stat_of h0 stream.frames_in)
    echo "# $(frames flood "$frames"); $(($(stat_of h0 stream.frames_in) - counted)) were read," \
        "$(stat_of h0 stream.refused) connections ended, $(stat_of h0 stream.callers_refused) callers refused"
    same_memory "daemon of h0" "$daemon" "$before"
}

tasks() {
    host=h0
    expect "a task cannot speak as another one, as a host or as a daemon" forges_nothing
    expect "memory and descriptors that are none are refused, rings may be scribbled over" frames links "$tid"
    expect "the task that was attacked still works" works
    expect "h0 takes $frames frames of tasks gone wrong" takes_frames
    expect "the VM still works" works
    expect "all hosts are still up" hosts_up 2
    expect "the log has few lines of it" test "$(wc -l <"$run/h0.log")" -le $((100 + 2 * SECONDS))
}

outsiders
others
tasks
finish
