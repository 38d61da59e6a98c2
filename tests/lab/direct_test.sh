#!/bin/bash
# timeout: 300
# Raw Ethernet straight between two tasks (direct = yes, as conf/ether.conf shows): the route keeps its
# promises at MTU 1500, with jumbo frames, in a VM that encrypts and while frames get lost, and the
# frames do not pass the daemons; when the segment dies under it, in one direction or both, what is
# under way takes the detour over UDP, and comes back. SOAK=1: all cases of the conformance suite. Needs root.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
. tests/lab/deaf.sh
BUILD=$(realpath "${BUILD:-build}")
export BUILD
[ "$(id -u)" = 0 ] || { echo "needs root, for hosts in network namespaces"; exit 77; }

# ---- on h1 ----

conformance=$BUILD/tests/conformance/conformance

talk() { # ROUTE CASES
    local route=$1 case
    shift
    [ -n "$1" ] || { "$conformance" --route "$route" --host h2 --gib 1; return; }
    for case in $1; do
        "$conformance" --route "$route" --host h2 --gib 1 --mib 8 --case "$case" || return
    done
}
# Loses every twentieth frame or so that comes.
lossy() { # HOST
    nsenter --net="/run/netns/covey-lab.$LAB.$1" nft -f - <<'END'
table netdev lossy {
    chain in {
        type filter hook ingress device eth0 priority 0
        ether type 0x88b5 numgen random mod 100 < 5 counter drop
    }
}
END
}
lost() { # HOST
    nsenter --net="/run/netns/covey-lab.$LAB.$1" nft list table netdev lossy | sed -n 's/.*packets \([0-9]*\).*/lost \1/p'
}
frames() { # that went over the wire
    nsenter --net="/run/netns/covey-lab.$LAB.$1" awk '/eth0:/ { print $11 }' /proc/net/dev
}
detoured() { covey stats | awk '$2 == "route.frames_detoured" { sum += $3 } END { print sum + 0 }'; }
# A conversation during which these hosts hear nothing any more, and later do again.
outlive() { # DIR ROUTE HOST...
    local echo=$BUILD/tests/attack/echo dir=$1 route=$2 tid serving asking begun middle end
    shift 2
    begun=$(detoured)
    rm -f "$dir/tid" # the last conversation's
    covey run -n 1 --route "$route" --host h2 "$echo" serve >"$dir/tid" &
    serving=$!
    within 20 grep -q 't[0-9a-f]*$' "$dir/tid" || return 1
    tid=$(grep -o 't[0-9a-f]*$' "$dir/tid" | head -n 1)
    "$echo" ask "$tid" "$route" 120 "$dir/die" "$dir/heal" >"$dir/routes" &
    asking=$!
    within 20 test -e "$dir/die" || return 2
    [ "$(detoured)" = "$begun" ] || return 3
    deaf yes "$@" && rm "$dir/die" || return 4
    within 40 test -e "$dir/heal" || return 5
    middle=$(detoured)
    deaf no "$@" || return 6
    sleep 0.5 # whoever takes the detour may ask again with the next datagram
    rm "$dir/heal"
    wait $asking || return 7
    end=$(detoured)
    echo "deaf: $*; $((middle - begun)) datagrams took the detour, $((end - middle)) when it was over"
    [ "$(tr '\n' ' ' <"$dir/routes")" = "$routes" ] || { cat "$dir/routes"; return 8; }
    if [ "$route" = ether ]; then
        [ $((middle - begun)) -gt 200 ] && [ $((end - middle)) -lt $(((middle - begun) / 3)) ] || return 9
    else # only what was under way
        [ $((middle - begun)) -gt 0 ] && [ $((middle - begun)) -lt 100 ] && [ $((end - middle)) -lt 50 ] || return 10
    fi
    "$echo" stop "$tid"
    wait $serving
}
if [ "${1:-}" = --die ]; then
    route=$3
    routes="ether ether ether "
    [ "$route" = ether ] || routes="ether tcp ether "
    outlive "$2" "$route" h1 h2 && outlive "$2" "$route" h2 && outlive "$2" "$route" h1
    exit
fi
if [ "${1:-}" = --inside ]; then
    before=$(frames h1)
    [ "$3" = 0 ] || { lossy h1 && lossy h2; } || exit
    talk "$4" "$2"
    status=$?
    echo "frames $(($(frames h1) - before))"
    [ "$3" = 0 ] || { lost h1 && lost h2; }
    covey stats
    exit $status
fi

# ---- outside ----

unset COVEY_SOCKET COVEY_TASK COVEY_ROUTE COVEY_VM
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-lab-direct.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir -p "$scratch/config/covey" "$scratch/quick/covey"
export XDG_CONFIG_HOME=$scratch/config
{ sed "s/^; direct/direct/" conf/ether.conf; echo "services = no"; } >"$scratch/config/covey/covey.conf"

conforms() { # LOSS CASES, options of vm.sh
    local loss=$1 cases=$2 route=${route:-ether}
    shift 2
    [ "${SOAK:-0}" = 1 ] && cases=
    tests/lab/vm.sh --hosts 2 "$@" -- bash tests/lab/direct_test.sh --inside "$cases" "$loss" "$route" >"$scratch/out" 2>&1 ||
        { cat "$scratch/out"; return 1; }
}
counted() { # counter of the daemons, over both hosts
    awk -v name="$1" '$2 == name { sum += $3 } END { print sum + 0 }' "$scratch/out"
}
said() { awk -v word="$1" '$1 == word { sum += $2 } END { print sum + 0 }' "$scratch/out"; }
straight() { # many frames, and the daemons sent few of them
    echo "# $(said frames) frames of h1; the daemons sent $(counted ether.bytes_sent) bytes over ether"
    [ "$(said frames)" -gt 1000 ] && [ "$(counted ether.bytes_sent)" -lt 100000 ]
}
were_lost() {
    echo "# $(said lost) frames lost"
    [ "$(said lost)" -gt 100 ]
}

outlived() { # ROUTE, options of vm.sh
    local route=$1
    shift
    printf '[daemon]\nfail_timeout = 2\n' | cat "$scratch/config/covey/covey.conf" - >"$scratch/quick/covey/covey.conf"
    XDG_CONFIG_HOME=$scratch/quick tests/lab/vm.sh --hosts 2 "$@" -- bash tests/lab/direct_test.sh --die "$scratch" "$route" \
        >"$scratch/out" 2>&1 || { cat "$scratch/out"; return 1; }
    sed -n 's/^deaf/# &/p' "$scratch/out"
}

few="sizes order death parting"
expect "it keeps its promises at MTU 1500" conforms 0 "sizes types matching order threads progress death parting"
expect "no daemon between" straight
expect "it keeps them with jumbo frames" conforms 0 "$few" --mtu 9000
expect "no daemon between" straight
expect "it outlives its segment, whichever direction dies" outlived ether
expect "where the route is chosen it takes short messages, and streams all while the segment is dead" outlived auto
expect "it outlives it with jumbo frames that are encrypted" outlived ether --mtu 9000 --encrypt
route=auto expect "what is chosen keeps them" conforms 0 "$few types"
expect "it keeps them in a VM that encrypts" conforms 0 "$few" --encrypt
expect "no daemon between" straight
expect "it keeps them while 5 % of the frames get lost" conforms 5 "$few"
expect "no daemon between, and frames were lost" eval "straight && were_lost"
finish
