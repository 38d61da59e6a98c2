#!/bin/bash
# timeout: 300
# The route ether on a segment with an onlooker: what two tasks say to each other passes in frames of
# Covey's EtherType and in nothing of IP; what was recorded and is played again, and random and
# mutated frames (20,000; SOAK=1: 10 million), change nothing. Needs root.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export BUILD
programs=$BUILD/tests/attack
mark=the-secret-of-this-message
frames=20000
[ "${SOAK:-0}" = 1 ] && frames=10000000

[ "$(id -u)" = 0 ] || { echo "needs root, for hosts in network namespaces"; exit 77; }
if [ "${1:-}" != --inside ]; then
    tests/lab/vm.sh --hosts 3 -- bash tests/attack/ether_test.sh --inside
    exit
fi

# ---- on h1, the first host of a VM of h1, h2 and h3; the attacker is on h3 ----

scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-ether-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
on_h3() { tests/lab/lab exec --name "$LAB" h3 "$@"; }

stat_of() { # HOST NAME
    covey stats --all | awk -v host="$1" -v name="$2" '$1 == host && $2 == name { print $3 }'
}
mac_of() { cat "$scratch/$1.mac"; }
daemon_pid() { # HOST: the eldest of its name there, for it has children that have not become another program yet
    tests/lab/lab ps --name "$LAB" | awk -v host="$1" '$2 == host && /coveyd/ { print $1 }' |
        while read -r pid; do echo "$(awk '{ print $22 }' "/proc/$pid/stat" 2>/dev/null) $pid"; done |
        awk 'NF == 2 && (eldest == "" || $1 < since) { since = $1; eldest = $2 } END { print eldest }'
}
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }

serve() {
    : >"$scratch/tid"
    covey run -n 1 --route ether --host h2 "$programs/echo" serve >"$scratch/tid" 2>&1 &
    within 20 grep -q 't[0-9a-f]*$' "$scratch/tid" || return 1
    tid=$(grep -o 't[0-9a-f]*$' "$scratch/tid" | head -n 1)
}
talk() { "$programs/echo" ask "$tid" ether "$1"; }

recorded_talk() {
    local recorder
    : >"$scratch/ready"
    "$programs/ether" record "$scratch/frames" >"$scratch/ready" &
    recorder=$!
    within 20 grep -q ready "$scratch/ready" || return 1
    talk 20
    local status=$?
    kill -TERM $recorder && wait $recorder
    return $status
}

# EtherType, frames, frames with the mark
only_ether_carries_data() {
    "$programs/ether" types "$scratch/frames" "$mark" >"$scratch/types" || return 1
    sed 's/^/# EtherType, frames, with the text: /' "$scratch/types"
    [ "$(awk '$1 == "88b5" { print ($3 > 20) }' "$scratch/types")" = 1 ] &&
        [ "$(awk '$1 != "88b5" { sum += $3 } END { print sum + 0 }' "$scratch/types")" = 0 ]
}

# What attackers' frames would change: sessions, tasks, hosts. A frame with the MAC of a host, sent from
# elsewhere, makes the switch believe that the host has moved there; what is for it goes astray until it
# speaks again, and its peer may by then negotiate anew. So two hosts that both have opened one more
# session is no change; one that only one of them opened is.
marks() {
    covey stats --all | awk '
        { value[$1, $2] = $3 }
        END {
            print value["h1", "session.opened"] - value["h2", "session.opened"], "more opened by h1 than by h2"
            for (h = 1; h <= 2; h++) {
                host = "h" h
                print host, "has", value[host, "session.open"], "open,", value[host, "tasks.spawned"] + 0, "tasks,",
                    value[host, "route.frames_refused"] + 0, "frames refused by its route"
            }
        }'
    echo "$(covey hosts --json | grep -c '"state": *"up"') hosts up"
}
marks_are() { [ "$1" = "$(marks)" ]; }
unchanged() { # MARKS; one end of a session has it open before the other
    within 10 marks_are "$1" || { printf '%s\nhas become\n%s\n' "$1" "$(marks)"; return 1; }
}

refusals() { # HOST
    covey stats | awk -v host="$1" '$1 == host && $2 ~ /^ether(_socket)?\.(frames_)?refused/ { sum += $3 } END { print sum + 0 }'
}

replay_changes_nothing() { # HOST
    local before refused
    before=$(marks) refused=$(refusals "$1")
    on_h3 "$programs/ether" replay "$scratch/frames" "$(mac_of "$1")" >"$scratch/sent"
    refused=$(($(refusals "$1") - refused))
    echo "# $(cat "$scratch/sent") frames played again, $refused refused by coveyd of $1"
    unchanged "$before" || return 1
    [ "$refused" -gt 20 ]
}

flood_changes_nothing() { # HOST
    local before pid memory refused
    SEED=2 on_h3 "$programs/ether" flood "$scratch/frames" "$(mac_of "$1")" 2000 >/dev/null # what is made once is made
    pid=$(daemon_pid "$1")
    before=$(marks) memory=$(rss "$pid") refused=$(refusals "$1")
    on_h3 "$programs/ether" flood "$scratch/frames" "$(mac_of "$1")" $((frames / 2)) >"$scratch/sent"
    refused=$(($(refusals "$1") - refused))
    echo "# $(cat "$scratch/sent") frames to $1, $refused refused by coveyd, the others by the kernel's filter;" \
        "$(stat_of "$1" ether_socket.overflowed) found no room; $memory kB, then $(rss "$pid") kB"
    unchanged "$before" || return 1
    [ "$refused" -gt $((frames / 4)) ] && { sanitized "$BUILD/coveyd" || [ "$(rss "$pid")" -le $((memory + 3072)) ]; }
}

for h in h1 h2; do
    tests/lab/lab exec --name "$LAB" $h ip -o link show dev eth0 |
        sed 's/.*link.ether \([0-9a-f:]*\).*/\1/' >"$scratch/$h.mac"
done
expect "a task that answers over ether" serve
expect "another talks to it over ether while the wire is watched" recorded_talk
expect "its data passes in frames of Covey's EtherType alone" only_ether_carries_data
expect "what was recorded and is played again changes nothing at h1" replay_changes_nothing h1
expect "what was recorded and is played again changes nothing at h2" replay_changes_nothing h2
expect "the two still talk" talk 5
expect "random and mutated frames change nothing at h1" flood_changes_nothing h1
expect "random and mutated frames change nothing at h2" flood_changes_nothing h2
expect "the two still talk" talk 5
"$programs/echo" stop "$tid"
wait
finish
