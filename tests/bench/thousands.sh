#!/bin/bash
# thousands.sh - what a VM of thousands of virtual hosts costs this machine, and what it survives.
#
#   tests/bench/thousands.sh [HOSTS [DEAD]]
#
# Starts HOSTS (4000) virtual hosts, and prints how long that takes; what all processors do in ten
# seconds in which nobody asks anything, as a share of one processor for each daemon; the memory that
# a daemon has for itself and its share of what it has in common (Pss), the mean of 40; how long
# `covey run --each` takes. Then it kills the first host and DEAD - 1 (a tenth in all) others by
# chance, at once, and prints when the hosts that are left say so: the first of them, half, the last,
# by their logs; how long `covey run --each` takes then, and `covey halt`. Seconds. The daemons' folder
# is in memory where there is a /dev/shm, for the deletion of thousands of sockets keeps a disk busy.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
hosts=${1:-4000} dead=${2:-$((${1:-4000} / 10))}
[[ "$hosts" =~ ^[0-9]+$ && "$dead" =~ ^[0-9]+$ && "$dead" -ge 1 && "$dead" -lt $((hosts / 2)) ]] ||
    { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
parent=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || parent=/dev/shm
export XDG_RUNTIME_DIR COVEY_VM=thousands$$
XDG_RUNTIME_DIR=$(mktemp -d "$parent/covey-thousands.XXXXXX") || exit 1
unset COVEY_SOCKET COVEY_ROUTE COVEYD
logs=$XDG_RUNTIME_DIR/covey/$COVEY_VM

pids() { # of this VM's daemons, by their sockets, the first host's first
    ss -xlpH | sed -n "s|.* $logs/h\([0-9]*\)\.sock .*pid=\([0-9]*\).*|\1 \2|p" | sort -n | cut -d' ' -f2
}

finish() {
    local left
    "$build/covey" halt >/dev/null 2>&1
    left=$(pids)
    # shellcheck disable=SC2086 # numbers
    [ -z "$left" ] || kill -KILL $left 2>/dev/null
    rm -rf "$XDG_RUNTIME_DIR"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

since() { # TIME: seconds
    echo "$1 $(date +%s.%N)" | awk '{ printf "%.2f", $2 - $1 }'
}

each() {
    local begin lines
    begin=$(date +%s.%N)
    lines=$("$build/covey" run --each --no-input -- true 2>"$XDG_RUNTIME_DIR/errors"; echo $?)
    echo "run --each: $(since "$begin") s, status $lines $(tail -n 1 "$XDG_RUNTIME_DIR/errors")"
}

busy() { # processor seconds of all processors so far
    awk -v hertz="$(getconf CLK_TCK)" '/^cpu / { print ($2 + $3 + $4 + $7 + $8) / hertz }' /proc/stat
}

begin=$(date +%s.%N)
"$build/covey" start --local "$hosts" >"$XDG_RUNTIME_DIR/started" 2>&1 ||
    { tail -n 3 "$XDG_RUNTIME_DIR/started" >&2 && exit 1; }
echo "start of $hosts: $(since "$begin") s"
sleep 8
before=$(busy)
sleep 10
echo "$before $(busy) $hosts" | awk '{ printf "idle: %.4f %% of a processor for each daemon\n", ($2 - $1) / 10 / $3 * 100 }'
for pid in $(pids | shuf -n 40); do
    awk '/^Pss:/ { print $2 }' "/proc/$pid/smaps_rollup"
done | awk '{ sum += $1 } END { if (NR > 0) printf "memory: %.0f KiB a daemon\n", sum / NR }'
each
mapfile -t all < <(pids)
doomed=("${all[0]}")
mapfile -t -O 1 doomed < <(printf '%s\n' "${all[@]:1}" | shuf -n $((dead - 1)))
killed=$(date +%s.%N)
kill -KILL "${doomed[@]}"
sleep 15
# each host writes of some of those that are gone only, and its clock is this machine's
grep -h -m 1 -e '-> down' -e "; $((hosts - dead)) are up" "$logs"/*.log | while read -r day time _; do
    date -d "$day $time" +%s.%N
done | awk -v killed="$killed" '$1 > killed { print $1 - killed }' | sort -n |
    awk -v dead="$dead" '{ at[NR] = $1 } END { if (NR > 0)
        printf "%d killed: %d hosts said who is gone, the first after %.1f s, half after %.1f, the last after %.1f\n",
            dead, NR, at[1], at[int((NR + 1) / 2)], at[NR] }'
each
begin=$(date +%s.%N)
"$build/covey" halt && echo "halt: $(since "$begin") s"
