#!/bin/bash
# pvm.sh - a PVM 3 virtual machine on the hosts of a lab, for the comparison with Covey.
#
#   pvm.sh start DIR      starts a daemon on every host of lab $LAB; prints their process ids
#   pvm.sh halt DIR       ends it
#   pvm.sh exec DIR PROGRAM [ARG...]
#                         runs PROGRAM on the first host, as its user would who knows this PVM
#   pvm.sh on DIR HOST PROGRAM [ARG...]
#                         the same on another host
#   pvm.sh reset DIR      ends all its tasks, the group server among them
#   pvm.sh rsh DIR HOST COMMAND...
#                         what PVM calls to start a daemon on another host
#   pvm.sh names DIR      the hosts' names in PVM
#
# DIR keeps what PVM wants to write: each host gets a home and a PVM_TMP of its own, and PVM_VMID
# keeps this PVM apart from any other of the same user. Hosts go by their addresses, for the names
# of a lab cannot be looked up.
set -u

here=$(cd "$(dirname "$0")" && pwd)
lab=$here/../lab/lab

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

address_of() { "$lab" addr "$1" 4; }

# Runs a command on a host in the environment that PVM needs there.
on_host() { # HOST COMMAND...
    local host=$1
    shift
    export PVM_ROOT=/usr/lib/pvm3 PVM_ARCH=LINUX64 PVM_ALLOW_ROOT=1 PVM_VMID="$LAB" PVM_RSH="$dir/rsh"
    export HOME="$dir/$host" PVM_TMP="$dir/$host"
    unset PVMSOCK PVMEPID
    exec "$lab" exec "$host" "$@"
}

make_files() {
    local host
    printf '* ep=%s:/usr/bin wd=/tmp\n' "$dir" >"$dir/hosts"
    for host in $LAB_HOSTS; do
        mkdir -p "$dir/$host"
        address_of "$host" >>"$dir/hosts"
    done
    printf '#!/bin/bash\nexec "%s/pvm.sh" rsh "%s" "$@"\n' "$here" "$dir" >"$dir/rsh"
    chmod +x "$dir/rsh"
}

pids() { "$lab" ps | awk '$3 ~ /(^|\/)pvmd$/ { print $1 }'; }

hosts_up() { # how many hosts this PVM has
    (on_host "$first" pvm <<<conf) 2>/dev/null | sed -n 's/^\([0-9]*\) hosts*, .*/\1/p'
}

start() {
    local _
    make_files
    # shellcheck disable=SC2094 # the output has a file of its own
    (on_host "$first" pvmd -n"$(address_of "$first")" "$dir/hosts" </dev/null >"$dir/pvmd.out" 2>&1 &)
    for _ in {1..50}; do
        sleep 0.2
        [ -f "$dir/$first/pvmd.$(id -u).$LAB" ] || continue
        [ "$(hosts_up)" = "$(wc -w <<<"$LAB_HOSTS")" ] && pids && return
    done
    cat "$dir/pvmd.out" "$dir"/*/pvml.* >&2
    echo "pvm.sh: PVM did not start" >&2
    return 1
}

halt() {
    local _
    { (on_host "$first" pvm <<<halt); } >/dev/null 2>&1 # which ends the console by a signal
    for _ in {1..25}; do
        [ -z "$(pids)" ] && return
        sleep 0.2
    done
    # shellcheck disable=SC2046 # one word a process
    kill -KILL $(pids)
}

action=${1:-}
dir=${2:-}
[ -d "$dir" ] || usage
shift 2
: "${LAB:?names the lab}"
LAB_HOSTS=${LAB_HOSTS:-$("$lab" hosts | cut -d' ' -f1 | tr '\n' ' ')}
first=${LAB_HOSTS%% *}
case $action in
start) start ;;
halt) halt ;;
exec) on_host "$first" "$@" ;;
on) on_host "$@" ;;
reset) (on_host "$first" pvm <<<reset) >/dev/null 2>&1 ;;
rsh)
    address=${1:?}
    shift
    on_host "$("$lab" at "$address")" "$*"
    ;;
names) for host in $LAB_HOSTS; do address_of "$host"; done ;;
*) usage ;;
esac
