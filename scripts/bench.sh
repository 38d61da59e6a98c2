#!/bin/bash
# bench.sh - the same loads on Covey and on PVM 3, side by side, and the ratios of the figures.
#
#   scripts/bench.sh [--only PART[,PART...]] [--hosts 1|2] [--rounds N] [--covey WAYS] [--pvm WAYS]
#                    [--drop-in] [--markdown] [--keep FILE]
#
# Parts: latency, bandwidth, stream, cpu, spawn, barrier, ring, mcast, and with --drop-in netpipe, which
# is Debian's NetPIPE for PVM (netpipe-pvm); all by default, on one host (1), between
# two (2), or both. A lab of two hosts (tests/lab; needs root) runs a Covey VM and a PVM with a daemon
# on each host. In every round each system gives one figure for each line, by each way that its
# program could choose, one after the other, so that a drift of the machine's speed meets them all;
# what is printed is the median of the rounds. Ways of PVM that took three times its best or more on
# every line of a part are left out after the first round. --covey and --pvm take regular expressions which
# the ways (ROUTE/PACKING) must match, such as --covey '^udp/' or --pvm 'direct/(psend|raw)$';
# --pvm none leaves PVM out. --keep adds the single figures to FILE. With --drop-in it is one program,
# PVM's, on both: on Covey by way of build/pvm3.
#
# Without Debian's PVM (packages pvm and pvm-dev) only Covey's figures are printed. Status 77: no root.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
parts="latency bandwidth stream cpu spawn barrier ring mcast"
hosts="1 2"
rounds=5
covey_ways=.
pvm_ways=.
drop_in=no
only=
table=()
figures=
work=

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# ---- What is measured --------------------------------------------------------------------------

# The loads of a part, each with its sizes.
loads_of() { # PART
    case $1 in
    latency) echo ping 1 1024 ;;
    bandwidth) echo ping 16384 65536 262144 1048576 16777216 ;;
    stream) echo stream 65536 1048576 ;;
    cpu) printf '%s\n' "cpuping 1048576" "cpustream 1048576" ;;
    spawn) echo spawn 100 ;;
    barrier) echo barrier 8 ;;
    ring) echo ring 8 ;;
    mcast) echo mcast 1 65536 1048576 ;;
    netpipe) echo netpipe 1 1024 65536 1048576 ;;
    *) usage ;;
    esac
}

# The ways that a program of the system could choose and that make a difference for the part.
all_ways() { # SYSTEM PART
    local program=$1
    [ $drop_in = no ] || program=both
    case $program/$2 in
    both/spawn | both/barrier) echo daemon/default ;;
    both/mcast) echo daemon/{default,raw} ;;
    both/netpipe) [ ! -x "$(command -v NPpvm)" ] || echo direct/inplace ;; # as it is written
    */netpipe) ;;
    both/*) echo {daemon,direct}/{default,raw} direct/psend ;;
    covey/spawn | covey/barrier) echo auto/pack ;;
    covey/*) echo {auto,udp,tcp}/{pack,array} ;;
    pvm/spawn | pvm/barrier) echo daemon/default ;;
    pvm/mcast) echo daemon/{default,raw,inplace}{,+big} each/{raw,inplace,psend}{,+big} ;;
    pvm/*) echo {daemon,direct}/{default,raw,inplace,psend}{,+big} ;;
    esac | tr ' ' '\n'
}

ways_of() { # SYSTEM PART HOSTS
    local pattern=$covey_ways
    [ "$1" = covey ] || pattern=$pvm_ways
    all_ways "$1" "$2" | grep -E -- "$pattern" | grep -vxFf "$work/hopeless.$1.$2.$3"
}

# PVM's ways that are not worth another round: never within three times its best, and not its default.
find_hopeless() { # PART HOSTS
    local loads
    loads=$(loads_of "$1" | cut -d' ' -f1 | tr '\n' ' ')
    awk -v hosts="$2" -v loads=" $loads" '
        $1 == hosts && $2 == "pvm" && index(loads, " " $4 " ") {
            line = $4 " " $5
            ways[$3]
            took[$3, line] = $6
            if (!(line in best) || $6 < best[line]) best[line] = $6
        }
        END {
            for (way in ways) {
                hopeful = way == "daemon/default"
                for (line in best) if ((way, line) in took && took[way, line] < 3 * best[line]) hopeful = 1
                if (!hopeful) print way
            }
        }' "$work/figures" >"$work/hopeless.pvm.$1.$2"
}

# ---- Inside the virtual machine ----------------------------------------------------------------

# The arguments that put the workers on as many hosts as asked for.
place() { # SYSTEM PART HOSTS
    local names=$LAB_HOSTS
    [ "$1" = covey ] || names=$("$root/tests/bench/pvm.sh" names "$work")
    case $2/$3 in
    */1) echo "--host $(head -n 1 <<<"${names// /$'\n'}")" ;;
    spawn/2 | barrier/2 | ring/2 | mcast/2) ;; # over all hosts
    *) echo "--host $(sed -n 2p <<<"${names// /$'\n'}")" ;;
    esac
}

# The daemons and the threads of the kernel that work for a system, as --daemons takes them.
helpers() { # SYSTEM
    local daemons=$pvm_pids
    [ "$1" = covey ] && daemons=$("$root/tests/lab/lab" ps | awk '$3 ~ /\/coveyd$/ { print $1 }')
    # shellcheck disable=SC2086,SC2046 # one word a process
    echo $daemons $(pgrep ksoftirqd) | tr ' ' ,
}

# NetPIPE on a host of a system.
netpipe_on() { # SYSTEM HOST ARG...
    case $1 in
    covey) LD_LIBRARY_PATH=$build/pvm3:$build "$root/tests/lab/lab" exec "$2" timeout 20 NPpvm "${@:3}" ;;
    pvm) "$root/tests/bench/pvm.sh" on "$work" "$2" timeout 20 NPpvm "${@:3}" ;;
    esac
}

# It wants a virtual machine without any other task, and finds its other end there.
netpipe() { # SYSTEM NAME-OF-THE-HOST SIZES...
    local size first=${LAB_HOSTS%% *} second=$2
    [ "$1" = covey ] || second=$("$root/tests/lab/lab" at "$2")
    for size in "${@:3}"; do
        [ "$1" = covey ] || "$root/tests/bench/pvm.sh" reset "$work"
        netpipe_on "$1" "$second" -p 0 -l "$size" -u "$size" >/dev/null 2>&1 &
        sleep 0.5
        (cd "$work" && netpipe_on "$1" "$first" -h "$2" -p 0 -l "$size" -u "$size" 2>&1) |
            awk -v size="$size" '/times -->/ { print "netpipe", size, $(NF - 1) }'
        wait $!
    done
}

on_system() { # SYSTEM ARG...
    [ "$2" != netpipe ] || { netpipe "$1" "${@:3}" && return; }
    case $1/$drop_in in
    covey/no) "$build/tests/bench/covey_load" "${@:2}" ;;
    covey/yes) LD_LIBRARY_PATH=$build/pvm3:$build "$build/tests/bench/pvm_load" "${@:2}" ;;
    pvm/*) "$root/tests/bench/pvm.sh" exec "$work" "$build/tests/bench/pvm_load" "${@:2}" ;;
    esac
}

run_one() { # SYSTEM PART HOSTS WAY LOAD SIZES...
    # shellcheck disable=SC2206 # words
    local words=(--way "$4" ${place_of[$1/$2/$3]} --daemons "${helpers_of[$1]}" "${@:5}")
    [ "$5" != netpipe ] || words=(netpipe "${place_of[$1/$2/$3]#--host }" "${@:6}")
    timeout 60 "$0" "${mode[@]}" --on "$work" "$1" "${words[@]}" </dev/null |
        sed "s|^|$3 $1 $4 |" | tee -a "$work/figures" >&3
    [ "${PIPESTATUS[0]}" = 0 ] || echo "bench.sh: $1 $4 $5 on $3 hosts failed" >&2
}

run_part() { # PART HOSTS
    local system way load
    for system in covey pvm; do
        [ "$system" = covey ] || [ "$pvm_there" = yes ] || continue
        place_of[$system/$1/$2]=$(place "$system" "$1" "$2")
        for way in $(ways_of "$system" "$1" "$2"); do
            loads_of "$1" | while read -r -a load; do
                run_one "$system" "$1" "$2" "$way" "${load[@]}"
            done
        done
    done
}

run_rounds() {
    local round part n
    for round in $(seq "$rounds"); do
        echo "round $round of $rounds" >&2
        for n in $hosts; do
            for part in $parts; do
                [ "$round" != 1 ] || : >"$work/hopeless.covey.$part.$n" >"$work/hopeless.pvm.$part.$n"
                run_part "$part" "$n"
                [ "$round" != 1 ] || find_hopeless "$part" "$n"
            done
        done
    done
}

pvm_there=no
pvm_pids=
declare -A place_of helpers_of
mode=() # which of the two --on needs to know

start_pvm() {
    [ "$pvm_ways" != none ] || return
    if [ ! -x "$build/tests/bench/pvm_load" ] || ! command -v pvmd >/dev/null; then
        echo "PVM is not installed here (Debian packages pvm and pvm-dev): Covey's figures alone"
        return
    fi
    pvm_pids=$("$root/tests/bench/pvm.sh" start "$work") && pvm_there=yes
}

stop_pvm() { [ "$pvm_there" = no ] || "$root/tests/bench/pvm.sh" halt "$work"; }

# All that happens on the first host of the lab.
run_inside() {
    trap 'stop_pvm' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    start_pvm
    helpers_of[covey]=$(helpers covey)
    helpers_of[pvm]=$(helpers pvm)
    run_rounds
}

# ---- Arguments ---------------------------------------------------------------------------------

options=("$@")
while [ $# -gt 0 ]; do
    case $1 in
    --only) only=${2:?} && parts=${only//,/ } && shift ;;
    --hosts) hosts=${2:?} && shift ;;
    --rounds) rounds=${2:?} && shift ;;
    --covey) covey_ways=${2:?} && shift ;;
    --pvm) pvm_ways=${2:?} && shift ;;
    --keep) figures=${2:?} && shift ;;
    --drop-in) drop_in=yes && mode=(--drop-in) && table+=(-v drop_in=1) ;;
    --markdown) table+=(-v markdown=1) ;;
    --inside) work=${2:?} && shift ;; # on the first host
    --on) work=${2:?} && shift 2 && on_system "$@"; exit ;; # one measurement
    *) usage ;;
    esac
    shift
done
[ $drop_in = no ] || [ -n "$only" ] || parts="netpipe $parts" # before there is a group server
for part in $parts; do
    loads_of "$part" >/dev/null
done
if [ -n "$work" ]; then
    exec 3>&2
    [ -n "${VERBOSE:-}" ] || exec 3>/dev/null
    run_inside
    exit
fi

[ -x "$build/tests/bench/covey_load" ] || { echo "bench.sh: nothing is built yet: make bench" >&2; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
BUILD=$build "$root/tests/lab/vm.sh" --hosts 2 -- "$root/scripts/bench.sh" "${options[@]}" --inside "$work"
status=$?
[ -z "$figures" ] || cat "$work/figures" >>"$figures"
[ ! -f "$work/figures" ] || awk "${table[@]}" -f "$root/tests/bench/table.awk" -f "$root/tests/bench/ratios.awk" "$work/figures"
exit $status
