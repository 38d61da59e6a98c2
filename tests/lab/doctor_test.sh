#!/bin/bash
# doctor_test.sh - covey doctor: each finding is provoked on hosts of a lab, one at a time.
# timeout: 240
#
# A lab of three hosts; doctor runs on h1. What the kernel lets a namespace have is real: packet filters,
# interfaces, limits, files, a mount of /etc/hosts, real ssh. What is not: a host's clock, which no namespace
# moves, is moved for one coveyd by a library that is loaded before the C library; and a coveyd of another
# version or byte order is the real one with one line of its answer replaced.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh

BUILD=$(realpath "${BUILD:-build}")
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-doctor-test.XXXXXX")
chmod 755 "$work"
export LAB=doctor-$$ COVEY_VM=doctor-$$ XDG_CONFIG_HOME=$work/config HOME=$work/home COVEYD=$BUILD/coveyd
export PATH=$work/bin:$PATH
unset COVEY_SOCKET COVEY_ROUTE XDG_RUNTIME_DIR
mkdir "$work/bin" "$work/config" "$work/config/covey" "$work/home"
ln -s "$BUILD/covey" "$BUILD/coveyd" "$work/bin"
lab=$PWD/tests/lab/lab
sshd=

tidy() {
    [ -n "$sshd" ] && kill "$sshd"
    "$lab" down
    rm -rf "$work"
}

if [ "$(id -u)" != 0 ] || ! unshare --net --uts --mount true 2>/dev/null; then
    skip "covey doctor in a lab" "needs root and namespaces"
    rm -rf "$work"
    finish
fi
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

on() { "$lab" exec "$@"; }
run_dir() { echo "/run/covey-lab/$LAB/run/$1"; }

# ---- helpers: a host file, the doctor, and what it said ----------------------------------------------

template="$lab exec --name $LAB {host} {command}"
hosts() { # lines of a host file; the default is two plain hosts
    { printf '* launcher=exec template="%s" coveyd=%s\n' "$template" "$BUILD/coveyd" && printf '%s\n' "$@"; } >"$work/hosts"
}
doctor() { on h1 covey doctor "$@" >"$work/said" 2>&1; }
show() {
    cat "$work/said"
    return 1
}
finds() { # code, host, words: this is the one finding, and the exit status is 1
    doctor --hosts "$work/hosts" && echo "exit status 0" && show && return 1
    said "$@" && [ "$(wc -l <"$work/said")" = 1 ] || show
}
said() { # code, host, words: this is among what was found, with a remedy
    grep -F "[$1]; remedy: " "$work/said" | grep -E "^([^:]*, )?$2(, [^:]*)?: " | grep -qF -- "$3" || show
}
nothing() { # and nothing at all
    doctor --hosts "$work/hosts" && [ "$(cat "$work/said")" = "nothing found on ${1:-3} hosts" ] || show
}
# ---- hosts that are well ------------------------------------------------------------------------------

"$lab" up --hosts 3 || exit 1
hosts h2 h3
expect "hosts that are well: nothing is found" nothing
json_of_nothing() { doctor --hosts "$work/hosts" --json && [ "$(cat "$work/said")" = "[]" ] || show; }
expect "as JSON: an empty array" json_of_nothing
alone() { doctor && [ "$(cat "$work/said")" = "nothing found on 1 host" ] || show; }
expect "without a VM or a host file: this machine" alone

# ---- packet filters -------------------------------------------------------------------------------------

filter() { # host, rules...
    local host=$1
    shift
    on "$host" nft add table inet doctor
    on "$host" nft 'add chain inet doctor in { type filter hook input priority 0; }'
    for rule; do on "$host" nft "add rule inet doctor in $rule" || return 1; done
}
unfilter() { on "$1" nft delete table inet doctor; }
h2=$("$lab" addr h2 4) h3=$("$lab" addr h3 4) h2_6=$("$lab" addr h2 6)

one_way() {
    filter h3 "ip saddr $h2 udp dport 1-65535 drop" "ip6 saddr $h2_6 udp dport 1-65535 drop" &&
        finds udp h2 "no datagram arrives at h3 ($h3:"
    local status=$?
    unfilter h3
    return $status
}
refused() {
    filter h2 'tcp flags & (syn|ack) == syn reject with tcp reset' || return 1
    doctor --hosts "$work/hosts"
    said tcp h1 'no connection to h2' && said tcp h3 'Connection refused' && [ "$(wc -l <"$work/said")" = 1 ]
    local status=$?
    unfilter h2
    return $status
}
dropped() {
    filter h2 'tcp flags & (syn|ack) == syn drop' || return 1
    doctor --hosts "$work/hosts" --json
    [ "$(grep -c '"code": "tcp"' "$work/said")" = 2 ] && grep -q 'no answer' "$work/said"
    local status=$?
    unfilter h2
    return $status
}
both_ways() {
    "$lab" cut h3
    doctor --hosts "$work/hosts"
    # the launcher of a lab needs no network: h3 is examined, and reached by nobody
    said udp h1 'at h3' && said udp h3 'at h1' && said udp h2 'at h3' && said udp h3 'at h2' &&
        said tcp h3 'no connection to h1'
    local status=$?
    "$lab" heal h3
    return $status
}
configured_port() { # only what covey.conf names passes, and the doctor tries just that
    printf '[daemon]\nport = 40000-40009\n' >"$work/config/covey/covey.conf"
    filter h2 'udp dport 40000-40009 accept' 'meta l4proto udp drop' && nothing
    local status=$?
    unfilter h2
    rm "$work/config/covey/covey.conf"
    return $status
}
expect "UDP that is dropped in one direction" one_way
expect "TCP that is refused" refused
expect "TCP that is dropped" dropped
expect "a host that is cut off" both_ways
expect "the ports of covey.conf are those that are tried" configured_port

# ---- interfaces and addresses ----------------------------------------------------------------------------

docker0() { on "$1" ip link add docker0 type bridge && on "$1" ip address add 172.17.0.1/16 dev docker0 && on "$1" ip link set docker0 up; }
several() { docker0 h2 && finds several-interfaces h2 "2 interfaces are offered to other hosts: eth0 $h2, docker0 172.17.0.1"; }
duplicate() {
    docker0 h3
    doctor --hosts "$work/hosts" --ignore several-interfaces
    said duplicate-address h3 'h2 has the same address 172.17.0.1, on docker0' && [ "$(wc -l <"$work/said")" = 1 ]
}
chosen() { hosts 'h2 interface=eth0' "h3 address=$h3" && nothing; }
expect "several interfaces" several
expect "the same private address on two hosts" duplicate
expect "a choice is the remedy of both" chosen
on h2 ip link delete docker0
on h3 ip link delete docker0
no_address() { hosts 'h2 interface=eth7' h3 && finds no-address h2 "interface 'eth7' is not up"; }
no_ether() {
    printf '[ether]\nenabled = yes\ninterface = eth7\n' >"$work/config/covey/covey.conf"
    hosts h2
    doctor --hosts "$work/hosts"
    rm "$work/config/covey/covey.conf"
    said no-ether h2 'there is no interface eth7'
}
not_ours() {
    hosts 'h2 bind=10.9.9.9' h3
    doctor --hosts "$work/hosts"
    said udp-socket h2 'of 10.9.9.9: Cannot assign requested address'
}
expect "an interface that is not there" no_address
expect "raw Ethernet that is wanted and cannot be" no_ether
expect "an address to bind to that is another machine's" not_ours

# ---- names --------------------------------------------------------------------------------------------------

printf '127.0.0.1 localhost\n127.0.1.1 h2 h2.example\n127.0.1.1 far\n' >"$work/etc-hosts"
with_names() { unshare --mount sh -c "mount --bind $work/etc-hosts /etc/hosts && exec \"\$@\"" sh "$@"; }
called_name() {
    printf 'far\n' >"$work/hosts"
    with_names "$lab" exec h1 covey doctor --hosts "$work/hosts" >"$work/said" 2>&1
    said name-resolution h1 "host far is 127.0.1.1 here"
}

# ---- limits -------------------------------------------------------------------------------------------------

limited() { # prlimit's option, code, words
    hosts "h2 template=\"$lab exec --name $LAB {host} prlimit $1 {command}\"" h3
    finds "$2" h2 "$3"
}
expect "few files may be open" limited --nofile=500 files 'a process may open 500 files: enough for 87 tasks'
expect "few processes may be started" limited --nproc=100 processes 'the user may have 100 processes'
if grep -q __asan_init "$BUILD/coveyd"; then
    skip "little address space" "the address sanitizer needs more"
else
    expect "little address space" limited --as=900000000 memory 'the address space of a process is limited to 858 MiB'
fi
expect "small files" limited --fsize=1048576 file-size 'is limited to 1 MiB'
expect "limited processor time" limited --cpu=3600 cpu-time 'are killed after 3600 s'

in_mount() { # shell command in a mount namespace of h2, before coveyd
    printf '#!/bin/sh\n%s || exit 1\nexec "%s/coveyd" "$@"\n' "$1" "$BUILD" >"$work/bin/wrapped"
    chmod +x "$work/bin/wrapped"
    hosts "h2 template=\"$lab exec --name $LAB {host} unshare --mount {command}\" coveyd=$work/bin/wrapped" h3
}
small_shm() {
    in_mount 'mount -t tmpfs -o size=4m tmpfs /dev/shm'
    finds shm h2 '/dev/shm has 4 MiB left of 4'
}
own_name() {
    in_mount "mount --bind $work/etc-hosts /etc/hosts"
    finds name-resolution h2 "this machine's own name h2 is 127.0.1.1"
}
# in a --local VM nobody looks a name up
named_h2() { # ARG...: what coveyd --examine finds on a host called h2
    unshare --mount --uts sh -c "mount --bind $work/etc-hosts /etc/hosts && hostname h2 && exec \"\$@\"" sh \
        "$BUILD/coveyd" --examine "$@" </dev/null >"$work/said" 2>&1
}
own_name_local() {
    named_h2 --name h0 && grep -q name-resolution "$work/said" &&
        named_h2 --local --name h0 && ! grep name-resolution "$work/said"
}
expect "a small /dev/shm" small_shm
expect "a host whose own name is 127.0.1.1" own_name
expect "which matters to no host of a --local VM" own_name_local

cgroup_of() { # controller -> a directory below which groups can be made, for v1 and v2
    local path
    path=$(sed -n "s/^[0-9]*:\([^:]*,\)*$1\(,[^:]*\)*:\(.*\)/\3/p" /proc/self/cgroup)
    [ -n "$path" ] && [ -d "/sys/fs/cgroup/$1" ] && echo "/sys/fs/cgroup/$1${path%/}" && return
    path=$(sed -n 's/^0::\(.*\)/\1/p' /proc/self/cgroup)
    [ -n "$path" ] && grep -qw "$1" "/sys/fs/cgroup${path%/}/cgroup.subtree_control" && echo "/sys/fs/cgroup${path%/}"
}
in_cgroup() { # controller, file, limit, code, words
    local group status
    group=$(cgroup_of "$1")/covey-doctor-$$
    mkdir "$group" 2>/dev/null && { [ -f "$group/$2" ] || { rmdir "$group" && false; }; } || return 77
    echo "$3" >"$group/$2"
    printf '#!/bin/sh\necho $$ >%s/cgroup.procs\nexec "%s/coveyd" "$@"\n' "$group" "$BUILD" >"$work/bin/wrapped"
    chmod +x "$work/bin/wrapped"
    hosts "h2 coveyd=$work/bin/wrapped" h3
    finds "$4" h2 "$5"
    status=$?
    rmdir "$group"
    return $status
}
expect_cgroup() { # name, arguments of in_cgroup
    local name=$1 status
    shift
    in_cgroup "$@"
    status=$?
    case $status in
    0) ok "$name" ;;
    77) skip "$name" "no control group with $1 can be made here" ;;
    *) bad "$name" ;;
    esac
}
pids_limit=pids.max memory_limit=memory.max
[ -d /sys/fs/cgroup/memory ] && memory_limit=memory.limit_in_bytes
expect_cgroup "a control group of few processes" pids $pids_limit 50 processes 'more processes and threads'
expect_cgroup "a control group of little memory" memory $memory_limit 100000000 memory 'MiB of memory left'

# ---- files of dead daemons ------------------------------------------------------------------------------------

hosts h2 h3
stale_socket() {
    local pid status
    "$lab" exec h2 coveyd --vm dead --name h2 >/dev/null || return 1
    pid=$("$lab" ps | awk '/--vm dead/ { print $1 }')
    # shellcheck disable=SC2086
    kill -KILL $pid
    while kill -0 $pid 2>/dev/null; do sleep 0.01; done
    finds stale-socket h2 "$(run_dir h2)/covey/dead/h2.sock: its daemon died" &&
        grep -q "remedy: rm $(run_dir h2)/covey/dead/h2.sock" "$work/said"
    status=$?
    rm -f "$(run_dir h2)/covey/dead/h2.sock"
    return $status
}
stale_log() {
    finds stale-log h2 "$(run_dir h2)/covey/dead/h2.log is of a daemon that ended, and was not told to" || return 1
    rm -r "$(run_dir h2)/covey" && nothing
}
open_to_all() {
    mkdir -m 755 "$(run_dir h2)/covey" && finds runtime-dir h2 'is open to others (mode 755)'
}
not_our_own() {
    chmod 700 "$(run_dir h2)/covey" && chown nobody "$(run_dir h2)/covey" && finds runtime-dir h2 'belongs to user'
}
expect "the socket of a dead daemon" stale_socket
expect "the log of a dead daemon" stale_log
expect "a directory that is open to others" open_to_all
expect "a directory that belongs to another" not_our_own
rmdir "$(run_dir h2)/covey"

# ---- hosts that differ ------------------------------------------------------------------------------------------

saying() { # sed command: h2's coveyd answers with it applied
    printf '#!/bin/bash\n"%s/coveyd" "$@" | sed -u "%s"\n' "$BUILD" "$1" >"$work/bin/altered"
    chmod +x "$work/bin/altered"
    hosts "h2 coveyd=$work/bin/altered" h3
}
another_version() { saying 's/^@version.*/@version\t9.9.9\t7/' && finds version h2 'its coveyd is 9.9.9 (wire 7)'; }
older_version() {
    printf '#!/bin/sh\necho "coveyd: bad option --examine; coveyd --help lists them" >&2; exit 1\n' >"$work/bin/altered"
    finds version h2 'bad option --examine'
}
another_order() {
    saying 's/^@order.*/@order\tbig/' && finds byte-order h2 'its byte order is big-endian' &&
        doctor --hosts "$work/hosts" --ignore clock,byte-order
}
expect "a coveyd of another version" another_version
expect "a coveyd that knows no doctor" older_version
expect "a host of another byte order, and --ignore" another_order

cat >"$work/skew.c" <<'C'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += atoi(getenv("SKEW"));
    return (int)result;
}
C
skewed() { # seconds, words
    hosts "h2 template=\"$lab exec --name $LAB {host} env SKEW=$1 LD_PRELOAD=$work/skew.so ASAN_OPTIONS=verify_asan_link_order=0 {command}\"" h3
    finds clock h2 "$2"
}
"${CC:-cc}" -shared -fPIC -o "$work/skew.so" "$work/skew.c"
expect "a clock that is ahead" skewed 3600 's ahead of that of this machine'
expect "a clock that is behind" skewed -30 's behind that of this machine'

# ---- launchers that fail -------------------------------------------------------------------------------------------

misspelt() { hosts h2 "h3 coveyd=/nowhere/coveyd" && finds no-coveyd h3 'No such file or directory'; }
copied_alone() { # a coveyd that was copied without what stands beside it
    mkdir "$work/alone" && cp "$BUILD/coveyd" "$work/alone" && hosts h2 "h3 coveyd=$work/alone/coveyd" &&
        finds no-coveyd h3 'covey-probe is neither beside coveyd'
}
speechless() { hosts h2 'h3 template="exit 3; {command}"' && finds launch h3 'ended with status 3 and said nothing'; }
conf_error() {
    printf '[daemon]\ncolour = red\n' >"$work/bad.conf"
    hosts "h2 config=$work/bad.conf" h3
    finds config h2 "bad.conf:2: unknown setting 'colour'"
}
greeting() { # what a login shell prints before is passed over
    hosts "h2 template=\"echo Welcome to {host}; $template\"" h3 && nothing
}
expect "a host without coveyd" misspelt
expect "a host with coveyd alone" copied_alone
expect "a launcher that says nothing" speechless
expect "a covey.conf that cannot be read" conf_error
expect "the greeting of a login shell is no finding" greeting
expect "a host that is called and is 127.0.1.1" called_name

# ---- a launcher that hangs, and Ctrl-C ---------------------------------------------------------------------------------

interrupted() {
    hosts h2 "h3 template=\"echo \$\$ >$work/hangs; exec sleep 987; {command}\""
    # far less than it would wait for the host
    env --default-signal=INT timeout -s KILL 20 "$lab" exec h1 covey doctor --hosts "$work/hosts" >"$work/said" 2>&1 &
    local pid=$! status
    until [ -s "$work/hangs" ]; do sleep 0.05; done
    kill -INT $pid
    wait $pid
    status=$?
    [ $status = 130 ] && grep -q 'interrupted; nothing was left running' "$work/said" &&
        ! kill -0 "$(cat "$work/hangs")" 2>/dev/null && [ -z "$("$lab" ps)" ] || { echo "status $status" && "$lab" ps && show; }
}
hanging() { # half a minute
    hosts h2 "h3 template=\"echo hello; exec sleep 987; {command}\""
    finds launch h3 'did not end in time; last words: hello'
}
expect "Ctrl-C leaves nothing running" interrupted
if [ "${SOAK:-0}" = 1 ]; then
    expect "a launcher that hangs" hanging
else
    skip "a launcher that hangs" "it takes half a minute: SOAK=1"
fi

# ---- real ssh --------------------------------------------------------------------------------------------------------

ssh_server() { # options of sshd: a server on h2 that wants a password
    ssh-keygen -q -t ed25519 -N '' -f "$work/host-key"
    printf '%s\n' "Port 2222" "HostKey $work/host-key" "PidFile none" "UsePAM no" "PasswordAuthentication yes" \
        "PubkeyAuthentication no" "KbdInteractiveAuthentication no" >"$work/sshd_config"
    mkdir -p /run/sshd
    "$lab" exec h2 /usr/sbin/sshd -D -e -f "$work/sshd_config" 2>"$work/sshd.log" &
    sshd=$!
    until grep -q listening "$work/sshd.log"; do
        kill -0 $sshd 2>/dev/null || return 1
        sleep 0.05
    done
    printf '#!/bin/sh\nexec /usr/bin/ssh -F %s/ssh_config "$@"\n' "$work" >"$work/bin/ssh"
    chmod +x "$work/bin/ssh"
    : >"$work/known"
    printf '%s\n' "UserKnownHostsFile $work/known" "GlobalKnownHostsFile /dev/null" "IdentityFile none" >"$work/ssh_config"
}
ssh_host() { printf 'h2 hostname=%s port=%s\n' "$h2" "${1:-2222}" >"$work/hosts"; }
unknown_key() { ssh_host && finds host-key h2 'Host key verification failed'; }
password() {
    echo "[$h2]:2222 $(cut -d' ' -f1,2 "$work/host-key.pub")" >"$work/known"
    ssh_host && finds password h2 'Permission denied (password'
}
no_server() { ssh_host 2223 && finds launch h2 'Connection refused'; }
if [ -x /usr/sbin/sshd ] && [ -x /usr/bin/ssh ]; then
    if ssh_server; then
        expect "ssh: a host whose key is not known" unknown_key
        expect "ssh: a password is asked for" password
        expect "ssh: nobody listens" no_server
    else
        cat "$work/sshd.log"
        bad "ssh" "sshd does not start"
    fi
    kill $sshd
    wait $sshd 2>/dev/null
    sshd=
    rm "$work/bin/ssh"
else
    skip "ssh" "there is no sshd"
fi

# ---- a VM that runs ----------------------------------------------------------------------------------------------------

hosts h2 h3
in_vm() { doctor && [ "$(cat "$work/said")" = "nothing found on 3 hosts" ] || show; }
in_vm_filtered() {
    filter h3 "ip saddr $h2 meta l4proto tcp drop" "ip6 saddr $h2_6 meta l4proto tcp drop" || return 1
    doctor
    said tcp h2 'no connection to h3' && said tcp h3 'no connection to h2'
    local status=$?
    unfilter h3
    return $status
}
from_another() { # the console of any host of the VM will do
    on h3 covey doctor >"$work/said" 2>&1 && [ "$(cat "$work/said")" = "nothing found on 3 hosts" ] || show
}
down() {
    local pid
    pid=$("$lab" ps | awk '$2 == "h2" && /--join/ { print $1 }')
    # shellcheck disable=SC2086
    kill -KILL $pid
    within 10 eval "on h1 covey hosts --json | grep -q '\"state\": \"down\"'"
    doctor
    said host-state h2 'the VM holds it for down'
}
on h1 covey start --hosts "$work/hosts" >/dev/null
expect "in a VM: nothing is found" in_vm
expect "in a VM: from another host" from_another
expect "in a VM: each pair is tried" in_vm_filtered
expect "in a VM: a host that is down" down
on h1 covey halt
virtual() { # on a machine without any network as well, and what all have in common once
    on h1 ip link set eth0 down
    on h1 prlimit --nofile=500 covey start --local 3 >/dev/null || return 1
    doctor
    said files 'h0, h1, h2' 'a process may open 500 files' && [ "$(wc -l <"$work/said")" = 1 ]
    local status=$?
    on h1 covey halt
    return $status
}
expect "virtual hosts of one machine" virtual
nothing_runs() { [ -z "$("$lab" ps)" ]; }
within 5 nothing_runs # a daemon may need a moment to end
[ -z "$("$lab" ps)" ] && ok "nothing is left running" || bad "nothing is left running" "$("$lab" ps)"
finish
