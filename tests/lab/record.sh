#!/bin/bash
# record.sh - records what Covey says on the wire, as seeds for the fuzzers.
#
#   tests/lab/record.sh [SCENARIO...]
#
# Each scenario is one run of a VM in a lab of two hosts (multicast: three), watched by covey sniff on the
# first: join, pingpong, mcast, loss, halt, tcp, encrypt, ether, direct, cast, detour, astray. The recordings are
# tests/fuzz/corpus/sniff/SCENARIO.pcap, seeds of sniff_fuzz; what is in them becomes seeds of datagram_fuzz,
# frame_fuzz, window_fuzz and stream_fuzz, called recorded-SCENARIO. Run it again when the wire has changed.
# Needs root.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
. tests/lab/deaf.sh
export PATH=$BUILD:$PATH COVEY_VM=record-$$ LAB=record-$$ COVEYD=$BUILD/coveyd
unset COVEY_SOCKET COVEY_ROUTE
lab=$PWD/tests/lab/lab
corpus=tests/fuzz/corpus
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-record.XXXXXX")
export XDG_CONFIG_HOME=$work/config
mkdir -p "$XDG_CONFIG_HOME/covey" "$corpus/sniff"
eye=

tidy() {
    [ -n "$eye" ] && kill "$eye" 2>/dev/null
    "$lab" down
    rm -rf "$work"
}
[ "$(id -u)" = 0 ] || { echo "record.sh: needs root" >&2; exit 77; }
trap tidy EXIT
trap 'exit 130' INT TERM

on_first() { "$lab" exec h1 "$@"; }
template="$lab exec --name $LAB {host} {command}"

watch() { # filters of covey sniff...
    rm -f "$work/pcap"
    "$lab" exec h1 covey sniff eth0 --write "$work/pcap" "$@" >"$work/lines" &
    eye=$!
    for _ in {1..100}; do
        [ -e "$work/pcap" ] && sleep 0.2 && return # the file is made before the ring is read
        sleep 0.05
    done
    echo "record.sh: covey sniff does not begin" >&2
    exit 1
}
unwatch() {
    sleep 0.2 # what is in the ring is read within 20 ms
    kill "$eye" 2>/dev/null # which has ended where it counts
    wait "$eye"
    eye=
}

start() { # hosts, options of covey start
    local others=h2
    [ "$1" = 3 ] && others="h2 h3"
    shift
    # shellcheck disable=SC2086
    on_first covey start --name "$COVEY_VM" --launcher exec --template "$template" --coveyd "$BUILD/coveyd" "$@" $others >/dev/null
}
bench() { on_first covey bench "$@" --rounds 2 --batch 1 >/dev/null; }

record_join() {
    watch
    start 3
    unwatch
    on_first covey halt
}
record_halt() {
    start 3
    watch
    on_first covey halt
    unwatch
}
record_pingpong() {
    start 2
    watch --lane udp -c 60
    bench pingpong --route udp --host h1,h2 --sizes 1,3K,9K
    unwatch
    on_first covey halt
}
record_mcast() {
    start 3
    watch --lane udp -c 60
    bench mcast --tasks 5 --route udp --sizes 1,3K
    unwatch
    on_first covey halt
}
record_loss() {
    echo '[daemon]
fault = loss=0.1,dup=0.05,reorder=0.1,seed=7' >"$XDG_CONFIG_HOME/covey/covey.conf"
    start 2
    watch --lane udp -c 60
    bench pingpong --route udp --host h1,h2 --sizes 9K
    unwatch
    on_first covey halt
    rm "$XDG_CONFIG_HOME/covey/covey.conf"
}
record_tcp() {
    start 2
    watch --lane tcp -c 40
    bench pingpong --route tcp --host h1,h2 --sizes 1,3K
    unwatch
    on_first covey halt
}
record_encrypt() {
    watch -c 60
    start 2 --encrypt
    bench pingpong --route tcp --host h1,h2 --sizes 1,1K
    unwatch
    on_first covey halt
}
record_ether() { # direct or not
    printf '[ether]\ndirect = %s\n' "${1:-no}" >"$XDG_CONFIG_HOME/covey/covey.conf"
    start 2
    watch --lane ether -c 40
    bench pingpong --route ether --host h1,h2 --sizes 1,3K
    unwatch
    on_first covey halt
    rm "$XDG_CONFIG_HOME/covey/covey.conf"
}
record_direct() { record_ether yes; }
# Waits until a command holds, for as long as a program of the scenario runs.
wait_beside() { # pid, command
    until "${@:2}"; do
        kill -0 "$1" 2>/dev/null || { echo "record.sh: a program of the scenario ended too early" >&2 && exit 1; }
        sleep 0.1
    done
}
# A conversation over raw Ethernet whose segment dies: through the daemons, or straight.
record_dead() { # direct or not, which lines
    local echo=$BUILD/tests/attack/echo serving asking tid host
    printf '[daemon]\nfail_timeout = 1\n[ether]\ndirect = %s\n' "$1" >"$XDG_CONFIG_HOME/covey/covey.conf"
    start 2
    : >"$work/tid"
    on_first covey run -n 1 --route ether --host h2 "$echo" serve >"$work/tid" &
    serving=$!
    wait_beside $serving grep -q 't[0-9a-f]*$' "$work/tid"
    tid=$(grep -o 't[0-9a-f]*$' "$work/tid" | head -n 1)
    on_first "$echo" ask "$tid" ether 5 "$work/go" &
    asking=$!
    wait_beside $asking [ -e "$work/go" ]
    deaf yes h1 h2
    watch --lane udp -c 40 "${@:2}"
    rm "$work/go"
    wait $asking
    unwatch
    on_first "$echo" stop "$tid"
    wait $serving
    on_first covey halt
    deaf no h1 h2
    rm "$XDG_CONFIG_HOME/covey/covey.conf"
}
record_detour() { record_dead no 'udp[8:2] = 0xc04f'; }
record_astray() { record_dead yes --kind DETOUR; }
record_cast() {
    start 3
    watch --lane ether -c 60
    bench bcast --route ether --sizes 1,3K
    unwatch
    on_first covey halt
}

take() { # the recording and the seeds that are in it
    [ -s "$work/pcap" ] && [ -s "$work/lines" ] || { echo "$1: nothing was recorded" && return; }
    cp "$work/pcap" "$corpus/sniff/$1.pcap"
    "$BUILD/tests/lab/extract" "$corpus/sniff/$1.pcap" "recorded-$1" "$corpus" || exit
    echo "$1: $(wc -l <"$work/lines") lines, $(stat -c %s "$work/pcap") bytes"
}

"$lab" up --hosts 3 || exit
[ $# -gt 0 ] || set -- join pingpong mcast loss halt tcp encrypt ether direct cast detour astray
for scenario; do
    declare -F "record_$scenario" >/dev/null || { echo "record.sh: no scenario $scenario" >&2; exit 2; }
    rm -f "$work/pcap" "$work/lines"
    "record_$scenario"
    take "$scenario"
done
