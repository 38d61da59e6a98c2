#!/bin/bash
# timeout: 600
# The route ether in a lab: it keeps the promises of a route at MTU 1500, with jumbo frames, in a VM
# that encrypts and under faults; an ordinary user's coveyd carries it by covey-raw, which then is gone
# unless the user's own covey.conf says direct = yes, or by a capability of its own, which it then gives
# up, and says what is missing without; hosts that are not on one segment are told so. What tasks agree on goes by raw frames, too. SOAK=1: all cases of the conformance
# suite, with all their sizes. Needs root.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
. tests/lab/deaf.sh
BUILD=$(realpath "${BUILD:-build}")
export BUILD
[[ ${1:-} = --crowd || ${1:-} = --dead || ${1:-} = --services ]] || unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE COVEY_VM
conformance=$BUILD/tests/conformance/conformance
inside=${1:-} scratch=
[ "$(id -u)" = 0 ] || { echo "needs root, for hosts in network namespaces"; exit 77; }
[ -n "$inside" ] || scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-lab-ether.XXXXXX")

# ---- the conformance suite ----

conforms() { # CONF MIB CASES, options of vm.sh
    local conf=$1 mib=$2 cases=$3
    shift 3
    [ "${SOAK:-0}" = 1 ] && mib=0 cases=
    mkdir -p "$scratch/config/covey"
    printf '%s\n' "$conf" >"$scratch/config/covey/covey.conf"
    XDG_CONFIG_HOME=$scratch/config tests/lab/vm.sh --hosts 2 "$@" -- bash -c '
        if [ -z "$3" ]; then "$1" --route ether --host h2 --gib 1 --mib "$2"; fi &&
        for case in $3; do "$1" --route ether --host h2 --gib 1 --mib "$2" --case $case || exit; done
        status=$?
        covey stats
        exit $status' - "$conformance" "$mib" "$cases" >"$scratch/out" 2>&1 ||
        { cat "$scratch/out"; return 1; }
}
counted() { # counter, over both hosts
    awk -v name="$1" '$2 == name { sum += $3 } END { printf "%.0f\n", sum }' "$scratch/out"
}
used() { # it was ether, in frames as large as they may be
    echo "# $(counted ether.datagrams_sent) frames with $(counted ether.bytes_sent) bytes," \
        "$(counted window.packets_lost) lost; $(counted udp.bytes_sent) bytes over udp"
    [ "$(counted ether.bytes_sent)" -gt 1000000 ] && [ "$(counted ether.refused_size)" = 0 ]
}
faulty() {
    [ "$(counted fault.lost)" -gt 100 ] && [ "$(counted ether.refused_mac)" -gt 0 ] &&
        [ "$(counted ether.refused_mac)" -le "$(counted fault.corrupted)" ]
}
all="sizes types matching order threads progress death parting"
few="sizes order death"
faults="loss=0.05,dup=0.01,reorder=0.05,corrupt=0.01,hold=0.002,seed=7"

suite() {
    expect "it keeps its promises at MTU 1500" conforms "" 16 "$all"
    expect "over ether" used
    expect "it keeps them with jumbo frames" conforms "" 8 "$few" --mtu 9000
    expect "over ether" used
    expect "it keeps them in a VM that encrypts" conforms "" 2 "$few" --encrypt
    expect "over ether" used
    expect "it keeps them at 5 % loss" conforms "[daemon]
fault = $faults" 2 "$few"
    expect "over ether, and what was corrupted was refused" faulty
}

# ---- seven hosts at once talk to one, whose daemon stands still for a while in the middle ----

crowd() { # on h1
    local echo=$BUILD/tests/attack/echo tid serving daemon
    daemon=$(tests/lab/lab ps --name "$LAB" | awk '$2 == "h1" && /coveyd/ { print $1; exit }')
    : >"$1" # another step's tid may be in it, until the shell that runs the command has emptied it
    covey run -n 1 --route ether --host h1 "$echo" serve >"$1" &
    serving=$!
    within 20 grep -q 't[0-9a-f]*$' "$1" || return 1
    tid=$(grep -o 't[0-9a-f]*$' "$1" | head -n 1)
    (sleep 0.5; kill -STOP "$daemon"; sleep 1; kill -CONT "$daemon") &
    covey run -n 7 --host h2,h3,h4,h5,h6,h7,h8 "$echo" ask "$tid" ether 50
    local status=$?
    "$echo" stop "$tid" || kill $serving
    wait $serving
    covey stats
    return $status
}
crowded() {
    tests/lab/vm.sh --hosts 8 -- bash tests/lab/ether_test.sh --crowd "$scratch/tid" >"$scratch/out" 2>&1 ||
        { cat "$scratch/out"; return 1; }
    echo "# $(counted ether.datagrams_received) frames, $(counted ether_socket.overflowed) found no room," \
        "$(counted window.retransmitted_bytes) bytes sent again"
}

# ---- the segment carries no frames of ours any more, while IP goes on ----

opened() { grep "session with host 2 open, path" "/run/covey-lab/$LAB/run/h1"/covey/*/h1.log; }
dead() { # on h1
    local echo=$BUILD/tests/attack/echo tid serving asking
    : >"$1"
    covey run -n 1 --route ether --host h2 "$echo" serve >"$1" &
    serving=$!
    within 20 grep -q 't[0-9a-f]*$' "$1" || return 1
    tid=$(grep -o 't[0-9a-f]*$' "$1" | head -n 1)
    "$echo" ask "$tid" ether 50 "$1.go" &
    asking=$!
    within 20 test -e "$1.go" || return 2
    deaf yes h1 h2 && rm "$1.go" || return 3
    wait $asking || return 4
    opened | tail -n 1 | grep 'goes there meanwhile' || return 5
    "$echo" ask "$tid" ether 1 2>&1 | grep 'h2 does not answer on eth0' || return 6
    deaf no h1 h2 || return 7
    "$echo" ask "$tid" ether 50 || return 8
    opened | tail -n 1 | grep 'path 02:' || return 9
    "$echo" stop "$tid" || kill $serving
    wait $serving
}
outlived() {
    mkdir -p "$scratch/config/covey"
    printf '[daemon]\nfail_timeout = 2\n' >"$scratch/config/covey/covey.conf"
    XDG_CONFIG_HOME=$scratch/config tests/lab/vm.sh --hosts 2 -- bash tests/lab/ether_test.sh --dead "$scratch/tid" \
        >"$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }
}

# ---- what is agreed travels in raw frames, over UDP while the segment is dead, and comes back ----

load=$BUILD/tests/bench/services_load
rounds() { covey run -n 3 --host h2,h3,h4 "$load" "$1"; }
by() { # MEDIUM: frames of services that all hosts sent by it
    covey stats | awk -v name="$1.service_frames" '$2 == name { sum += $3 } END { printf "%.0f\n", sum }'
}
spent() { # ROUNDS; sets frames by ether and udp
    local ether_before udp_before
    ether_before=$(by ether) udp_before=$(by udp)
    rounds "$1" || return
    ether=$(($(by ether) - ether_before)) udp=$(($(by udp) - udp_before))
    echo "# $ether frames of services by ether, $udp by udp"
}
raw() { spent 5 && [ "$ether" -gt $((10 * udp)) ]; }
services() { # on h1
    local running
    within 20 raw || return 1
    rounds 200 >"$1" &
    running=$!
    within 20 grep -q lock "$1" || return 2
    deaf yes h1 h2 h3 h4 || return 3
    wait $running && [ "$(wc -l <"$1")" = 6 ] || return 4
    spent 20 && [ "$udp" -gt $((10 * ether)) ] || return 5
    deaf no h1 h2 h3 h4 || return 6
    within 30 raw || return 7
    covey hosts | grep -c ' up ' | grep -qx 4 || return 8
    covey hosts | grep 'h1 .*coordinator' || return 9
}
agreed() {
    mkdir -p "$scratch/config/covey"
    printf '[daemon]\nfail_timeout = 4\n' >"$scratch/config/covey/covey.conf"
    XDG_CONFIG_HOME=$scratch/config tests/lab/vm.sh --hosts 4 -- bash tests/lab/ether_test.sh --services "$scratch/said" \
        >"$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }
    grep '^#' "$scratch/out" | tail -n 3
}
by_udp() { # `services = no`
    printf '[ether]\nservices = no\n' >"$scratch/config/covey/covey.conf"
    XDG_CONFIG_HOME=$scratch/config tests/lab/vm.sh --hosts 4 -- bash -c '
        covey run -n 3 --host h2,h3,h4 "$1" 5 && covey stats' - "$load" >"$scratch/out" 2>&1 ||
        { cat "$scratch/out"; return 1; }
    [ "$(counted ether.service_frames) $(counted ether_socket.frames_sent)" = "0 0" ] && [ "$(counted udp.service_frames)" -gt 50 ]
}

# ---- root's daemon: it keeps the capability, but lowered, and its tasks have what root has ----

lowered() {
    tests/lab/vm.sh --hosts 2 -- bash -c '
        for daemon in $("$1" ps --name "$LAB" | awk "/coveyd/ { print \$1 }"); do
            [ "$(cat "/proc/$daemon/comm" 2>/dev/null)" = coveyd ] || continue
            echo "daemon $(sed -n "s/^CapEff:[[:space:]]*//p" "/proc/$daemon/status")"
        done
        covey run --each sed -n "s/^CapEff:[[:space:]]*/task /p" /proc/self/status' - tests/lab/lab >"$scratch/out" 2>&1
    local kind mask daemons=0 tasks=0
    while read -r kind mask; do
        case $kind in
        daemon) [ $((0x$mask & 0x2000)) = 0 ] && daemons=$((daemons + 1)) ;;
        task) [ $((0x$mask & 0x2000)) != 0 ] && tasks=$((tasks + 1)) ;;
        esac
    done <"$scratch/out"
    [ "$daemons $tasks" = "2 2" ] || { cat "$scratch/out"; return 1; }
}

# ---- two hosts with two tasks each: the pairs of one host have no segment between them ----

mixed() {
    tests/lab/vm.sh --hosts 2 -- matmul -N 128 -q 2 --route ether -c >"$scratch/out" 2>&1 &&
        grep -q 'shm+ether' "$scratch/out" && grep -q 'check: passed' "$scratch/out" ||
        { cat "$scratch/out"; return 1; }
}

# ---- an ordinary user's VM: a daemon that root starts for him in the namespace of h2 ----

[ -n "$inside" ] || export LAB=ether-$$
owner=$((1000000 + 2 * $$)) # a user that nobody is
top=$scratch/user

as_on() { # HOST COMMAND..., from a folder that the user may enter
    tests/lab/lab exec "$1" setpriv --reuid=$owner --regid=$owner --clear-groups \
        env -C / HOME="$top/run" XDG_RUNTIME_DIR="$top/run" XDG_CONFIG_HOME="$top" COVEY_VM=ether "${@:2}"
}
user_covey() { as_on h1 "$top/bin/covey" "$@"; }

# The launcher's other end: what it would run goes through FIFOs to root, and becomes the user again.
serve_launches() {
    local command
    while read -r command <"$top/command"; do
        [ "$command" = end ] && return
        as_on h2 sh -c "$command" <"$top/in" >"$top/out" 2>&1
    done
}

user_up() {
    mkdir -m 755 "$top" && mkdir -m 700 "$top/run" && mkdir "$top/bin" || return 1
    chmod 755 "$scratch"
    cp "$BUILD"/coveyd "$BUILD"/covey "$BUILD"/covey-raw "$BUILD"/tests/attack/echo "$top/bin" &&
        mkfifo "$top/command" "$top/in" "$top/out" || return 1
    cat >"$top/launch" <<END
exec 3<&0
echo "\$1" >$top/command
cat <&3 >$top/in &
cat $top/out
kill \$! 2>/dev/null
exit 0
END
    chown -R $owner "$top" && chown root:root "$top/bin/covey-raw" && chmod 750 "$top/bin/covey-raw" || return 1
    tests/lab/lab up --hosts 2 || return 1
    serve_launches &
    launches=$!
}
user_down() {
    [ -n "${launches:-}" ] && timeout 5 sh -c "echo end >'$top/command'"
    wait
    tests/lab/lab down
}
start() {
    user_covey start --name ether --launcher exec --template "sh $top/launch '{command}'" h2 >"$top/started" 2>&1 ||
        { cat "$top/started"; return 1; }
}
daemon_of() { tests/lab/lab ps | awk -v host="$1" '$2 == host && /coveyd/ { print $1; exit }'; }
no_capabilities() { # PID
    [ "$(grep -cE '^Cap(Inh|Prm|Eff|Amb):[[:space:]]*0+$' "/proc/$1/status")" = 4 ] ||
        { grep ^Cap "/proc/$1/status"; return 1; }
}
talks() { # ROUTE; with_socket=1: the task has a packet socket
    rm -f "$top/tid"
    user_covey run -n 1 --route "$1" --host h2 "$top/bin/echo" serve >"$top/tid" 2>&1 &
    serving=$!
    within 20 grep -q 't[0-9a-f]*$' "$top/tid" || return 1
    tid=$(grep -o 't[0-9a-f]*$' "$top/tid" | head -n 1)
    as_on h1 "$top/bin/echo" ask "$tid" "$1" 5 >"$top/said" 2>&1
    local status=$?
    task=$(pgrep -u $owner -f "^$top/bin/echo serve")
    no_capabilities "$task" || status=2
    if packet_sockets "$task"; then [ "${with_socket:-}" = 1 ] || status=3; else [ -z "${with_socket:-}" ] || status=4; fi
    as_on h1 "$top/bin/echo" stop "$tid"
    wait $serving
    return $status
}
# Whether the process has one: the table of its namespace names them by inode.
packet_sockets() {
    local inode
    for inode in $(awk 'NR > 1 { print $NF }' "/proc/$1/net/packet"); do
        find "/proc/$1/fd" -lname "socket:\[$inode\]" 2>/dev/null | grep -q . && return 0
    done
    return 1
}
refuses() { # WORDS: the route, and udp works
    talks ether && return 1
    cat "$top/said"
    grep -q "$1" "$top/said" && talks udp
}

configured() { mkdir -p "$top/covey" && printf '%s\n' "$@" >"$top/covey/covey.conf"; }
covey_raw_of() { pgrep -u $owner -P "$(daemon_of h1)" -x covey-raw; }
only_raw_lowered() { # PID: what covey-raw has left
    grep -qE '^CapPrm:[[:space:]]*0*2000$' "/proc/$1/status" && grep -qE '^NoNewPrivs:[[:space:]]*1$' "/proc/$1/status" &&
        [ "$(grep -cE '^Cap(Inh|Eff|Amb):[[:space:]]*0+$' "/proc/$1/status")" = 3 ] || { cat "/proc/$1/status"; return 1; }
}
no_covey_raw() { ! pgrep -u $owner -x covey-raw; }
refuses_to_start() { # WORDS
    user_covey start --name ether h1 >"$top/started" 2>&1 && return 1
    cat "$top/started"
    grep -q "$1" "$top/started"
}

by_covey_raw() {
    expect "a VM of covey-raw" start
    expect "the daemon has no capability" no_capabilities "$(daemon_of h1)"
    expect "the daemon has its socket" packet_sockets "$(daemon_of h1)"
    expect "covey-raw has ended" within 5 no_covey_raw
    expect "the route works, and tasks have neither capability nor sockets" talks ether
    user_covey halt >/dev/null

    configured '[ether]' 'direct = yes'
    expect "a VM whose user wants direct links" start
    expect "covey-raw stays, with one capability, lowered" only_raw_lowered "$(covey_raw_of)"
    with_socket=1 expect "the route works, and a task has a socket of its own" talks ether
    mapfile -t helpers < <(pgrep -u $owner -x covey-raw)
    expect "there is one a host, and both are ended" eval "[ ${#helpers[@]} = 2 ] && kill ${helpers[*]}"
    expect "the route works as before, through the daemons" talks ether
    user_covey halt >/dev/null

    expect "a VM of it again" start
    user_covey halt >/dev/null
    expect "covey-raw ends with its daemon" within 5 no_covey_raw

    configured '[ether]' 'direct = yes' 'ethertype = 0x9000'
    expect "a VM of another EtherType" start
    expect "covey-raw has no sockets of it" refuses "and covey-raw gives sockets of EtherType 0x88b5 or 0x88b6 alone$"
    user_covey halt >/dev/null

    configured '[ether]' 'direct = yes'
    setcap -r "$top/bin/covey-raw" && setcap cap_net_raw+ep "$top/bin/coveyd"
    expect "a coveyd that could gives no task a socket because its user says so" refuses_to_start \
        "direct = yes counts only in /etc/covey.conf.* or with covey-raw: covey-raw has none"
    rm "$top/covey/covey.conf"
}

user() {
    user_up || { bad "a lab"; user_down; return; }
    expect "a VM without the capability" start
    expect "the route says that the user may not execute covey-raw" refuses \
        "h1 has no CAP_NET_RAW, and this user may not execute $top/bin/covey-raw$"
    user_covey halt >/dev/null
    chgrp $owner "$top/bin/covey-raw"
    expect "a VM whose covey-raw has no capability" start
    expect "the route says what is missing, and how to get it" refuses \
        "h1 has no CAP_NET_RAW, and covey-raw has none: as root, setcap cap_net_raw+ep $top/bin/covey-raw$"
    user_covey halt >/dev/null
    if setcap cap_net_raw+ep "$top/bin/covey-raw" 2>/dev/null; then
        by_covey_raw
        expect "a VM with its own" start
        expect "the daemon has given it up" no_capabilities "$(daemon_of h1)"
        expect "the daemon has its sockets" packet_sockets "$(daemon_of h1)"
        expect "the route works, and tasks have neither capability nor sockets" talks ether
        user_covey halt >/dev/null
        printf '[ether]\nethertype = 0x88b6\n' >"$top/other.conf"
        sed -i "s|^echo .*|echo \"\$1\" \| sed 's,coveyd ,coveyd --config $top/other.conf ,' >$top/command|" "$top/launch"
        expect "a VM whose hosts do not hear each other's frames" start
        expect "the route says so" refuses "h2 does not answer on eth0"
        user_covey halt >/dev/null
    else
        skip "a VM with it" "this file system keeps no capabilities"
    fi
    user_down
}

[ "$inside" = --crowd ] && { crowd "$2"; exit; }
[ "$inside" = --dead ] && { dead "$2"; exit; }
[ "$inside" = --services ] && { services "$2"; exit; }

cleanup() {
    tests/lab/lab down >/dev/null 2>&1
    rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

user
suite
expect "root's daemons have lowered the capability, their tasks have it" lowered
expect "forced for all tasks it is taken between hosts, and shm within one" mixed
expect "what is under way when the segment dies goes over UDP, what begins then is told, and it comes back" outlived
expect "what tasks agree on goes by raw frames, goes on over UDP when the segment dies, and comes back" agreed
expect "with services = no none of it goes by raw frames" by_udp
expect "seven at once talk to one whose daemon stands still for a second" crowded
finish
