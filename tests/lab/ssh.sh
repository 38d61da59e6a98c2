#!/bin/bash
# ssh.sh - prints how long covey start takes for hosts that it reaches by ssh, and how long ssh takes alone.
#
#   tests/lab/ssh.sh [--hosts N] [--runs N] [--rate R] [--kex ALGORITHM]
#
# A lab of N hosts (64) and a first one; each of the N has an OpenSSH server at its own address. On the
# first host there run, one after the other and --runs times (3):
#   ssh     one `ssh HOST true` for each of the N hosts, all at once: what the machine needs for that
#   covey   covey start --hosts FILE, until all are up; then covey halt
#   exec    the same by the launcher exec, which enters a host without ssh: what Covey needs for itself
# A line for each: seconds; processor seconds of the whole machine; and of these what the commands, the
# launchers and the daemon of the first host took. On a machine of few processors the hosts take each
# other's time: seconds are no fewer than processor seconds over processors. Between machines only the
# last column is left of that.
# --kex: the client's KexAlgorithms, see ssh_config(5), for its default may take most of the time.
# Needs root and openssh-server; without root: status 77.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
hosts=64 runs=3 rate=() kex=''
while [ $# -gt 0 ]; do
    case $1 in
    --hosts) hosts=${2:?} && shift ;;
    --runs) runs=${2:?} && shift ;;
    --rate) rate=(--rate "${2:?}") && shift ;;
    --kex) kex=${2:?} && shift ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    esac
    shift
done
[ "$(id -u)" = 0 ] || { echo "ssh.sh: needs root" >&2 && exit 77; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-lab-ssh.XXXXXX")
# shellcheck source=tests/ssh/servers.sh
. tests/ssh/servers.sh
export LAB=ssh-$$ COVEY_VM=ssh$$
unset COVEY_SOCKET COVEY_ROUTE COVEYD
lab=$PWD/tests/lab/lab
[ -n "$sshd" ] || { echo "ssh.sh: sshd is missing: install openssh-server" >&2 && exit 1; }

cleanup() {
    trap '' INT TERM HUP
    servers_stop
    "$lab" down
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

die() {
    echo "ssh.sh: $*" >&2
    exit 1
}

on_first() { "$lab" exec h1 "$@"; }

# The user is this machine's, but with a home of its own: what somebody's start files take is no figure of Covey.
server() { # HOST
    local address
    address=$("$lab" addr "$1" 4) || return
    echo "$1 hostname=$address" >>"$dir/pool"
    echo "$address $(cut -d' ' -f1,2 "$dir/ssh/host.pub")" >>"$dir/ssh/known"
    server_configure "$1" <<END
ListenAddress $address:22
SetEnv HOME=$dir XDG_RUNTIME_DIR=/run/covey-lab/$LAB/run/$1
END
    server_start "$1" "$lab" exec "$1"
}

# ---- what is measured ----

busy_ticks() { awk '$1 == "cpu" { print $2 + $3 + $4 + $7 + $8 }' /proc/stat; }

# What the processes of the first host have used, with their children.
first_ticks() {
    local pid
    for pid in $("$lab" ps | awk '$2 == "h1" { print $1 }'); do
        sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null
    done | awk '{ sum += $12 + $13 + $14 + $15 } END { print sum + 0 }'
}

measure() { # NAME COMMAND...
    local before status ticks
    local TIMEFORMAT='%R %U %S'
    before=$(busy_ticks)
    { time "${@:2}" >"$dir/out" 2>"$dir/err"; } 2>"$dir/time"
    status=$?
    ticks=$(($(busy_ticks) - before))
    [ $status = 0 ] || { cat "$dir/out" "$dir/err" >&2 && die "$1 failed"; }
    awk -v name="$1" -v machine=$ticks -v first="$(first_ticks)" -v hz="$(getconf CLK_TCK)" '
        { printf "%-5s %6.2f %8.2f %6.2f\n", name, $1, machine / hz, $2 + $3 + first / hz }' "$dir/time"
}

all_at_once() {
    # shellcheck disable=SC2016
    on_first bash -c '
        status=0
        while read -r name address; do
            ssh -F "$0" -o BatchMode=yes "${address#hostname=}" true </dev/null &
            jobs+=($!)
        done
        for job in "${jobs[@]}"; do wait "$job" || status=1; done
        exit $status' "$dir/ssh/config" <"$dir/pool"
}

halt() {
    local up
    up=$(on_first "$BUILD/covey" hosts | grep -cw up)
    [ "$up" = $((hosts + 1)) ] || die "$up hosts are up, not $((hosts + 1))"
    on_first "$BUILD/covey" halt || die "the VM did not halt"
}

by_exec() {
    # shellcheck disable=SC2046 # one word a host
    on_first "$BUILD/covey" start --as h1 --launcher exec --coveyd "$BUILD/coveyd" \
        --template "$lab exec {host} {command}" $(cut -d' ' -f1 "$dir/pool")
}

"$lab" up --hosts $((hosts + 1)) "${rate[@]}" || die "the lab cannot be made"
servers_prepare || die "there are no keys"
[ -z "$kex" ] || echo "KexAlgorithms $kex" >>"$dir/ssh/config"
for ((i = 2; i <= hosts + 1; i++)); do
    server h$i || die "h$i has no server"
done
echo "what       s  machine  first"
for ((run = 0; run < runs; run++)); do
    measure ssh all_at_once
    measure covey on_first "$BUILD/covey" start --as h1 --hosts "$dir/pool"
    halt
    measure exec by_exec
    halt
done
