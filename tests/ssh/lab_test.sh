#!/bin/bash
# lab_test.sh - the ssh launcher between the hosts of a lab, each with an OpenSSH server.
# timeout: 180
#
# One `covey start --hosts` calls ten hosts at once: some are well, over IPv4 and IPv6; one is cut
# off in silence, one has another host key, one wants a password, one has no coveyd, one an older
# one, one no server, one a full disk. All is told within 30 s, and those that are well form a VM.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/report.sh
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
if [ "$(id -u)" != 0 ]; then
    skip "ssh in a lab" "needs root"
    finish
elif ! unshare --net --uts --mount true 2>/dev/null; then
    skip "ssh in a lab" "namespaces are not allowed here"
    finish
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-ssh-lab.XXXXXX")
# shellcheck source=tests/ssh/servers.sh
. tests/ssh/servers.sh
export LAB=ssh-$$ COVEY_VM=ssh$$
unset COVEY_SOCKET COVEY_ROUTE COVEYD
lab=$PWD/tests/lab/lab

cleanup() {
    servers_stop
    "$lab" down
    rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

on_h1() { "$lab" exec h1 "$@"; }

# A line of the hosts file, and the server of the host if there is one.
host() { # NAME 4|6 KEY [PREPARATION in the host's own view of the file system [LINE FOR SSHD...]]
    local address
    address=$("$lab" addr "$1" "$2")
    echo "$1 hostname=$address user=$(id -un) port=22 coveyd=$dir/there/coveyd" >>"$dir/pool"
    [ "$3" = - ] || echo "$address $(cut -d' ' -f1,2 "$dir/ssh/$3.pub")" >>"$dir/ssh/known"
    [ $# -gt 3 ] || return 0
    server_configure "$1" < <(
        printf '%s\n' 'ListenAddress 0.0.0.0:22' 'ListenAddress [::]:22' "${@:5}" 'Match all' \
            "SetEnv XDG_RUNTIME_DIR=/run/covey-lab/$LAB/run/$1 COVEY_TEST_SUITE=${COVEY_TEST_SUITE:-}"
        shell sh
    )
    # shellcheck disable=SC2016
    server_start "$1" "$lab" exec "$1" unshare --mount sh -c "$4"' && exec "$0" "$@"'
}

pool_up() {
    "$lab" up --hosts 11 --rate 1G && servers_prepare || return 1
    mkdir "$dir/there" "$dir/old" "$dir/full"
    cp "$BUILD/coveyd" "$dir/there/coveyd"
    printf '#!/bin/sh\necho "coveyd 0.0.9 (protocol 1)"\n' >"$dir/old/coveyd"
    chmod 755 "$dir/old/coveyd"
    host h2 4 host true
    host h3 6 host true
    host h4 4 other true
    host h5 6 host true 'Match all' 'PubkeyAuthentication no' 'PasswordAuthentication yes'
    host h6 4 host "mount -t tmpfs none $dir/there"
    host h7 4 host "mount --bind $dir/old $dir/there"
    host h8 4 host true
    "$lab" cut h8
    host h9 6 host
    host h10 4 host "mount -t tmpfs -o size=4k,nr_inodes=2 none $dir/full && { dd if=/dev/zero of=$dir/full/data bs=4k 2>/dev/null; mount --bind $dir/full /run/covey-lab/$LAB/run/h10; }"
    host h11 4 host true
}

# ---- what is seen from h1 ----

# A machine that stands still for half a minute, as a busy one may, is no fault of the launcher's:
# then it is done once more, and what the servers saw is told.
all_at_once() {
    local status took
    call_all
    if grep -q 'timed out after .* no shell answered' "$dir/err"; then
        tail -n 20 "$dir"/ssh/h*.log
        on_h1 "$BUILD/covey" halt && until_so only_servers && call_all
    fi
    [ $status = 1 ] && [ $took -le 30 ] && [ "$(wc -l <"$dir/err")" = 7 ]
}

call_all() {
    local begun=$EPOCHREALTIME
    on_h1 env COVEYD="$dir/there/coveyd" "$BUILD/covey" start --as h1 --hosts "$dir/pool" >"$dir/out" 2>"$dir/err"
    status=$?
    took=$(((${EPOCHREALTIME/./} - ${begun/./}) / 1000000))
    echo "took $took s"
    cat "$dir/out" "$dir/err"
}

well() { grep -q "^$1 joined ($2" "$dir/out"; }
up_hosts() { [ "$(on_h1 "$BUILD/covey" hosts | grep -cw up)" = "$1" ]; }
run_on_each() { [ "$(on_h1 "$BUILD/covey" run --each hostname | sort | tr '\n' ' ')" = "$1" ]; }

# `covey add` of a host in the pool, as its line there says, asked for on another host.
add_from() { # ASKER HOST
    local line
    line=$(grep "^$2 " "$dir/pool" | sed 's/^[^ ]* /--/; s/ / --/g; s/=/ /g')
    # shellcheck disable=SC2086 # options of `covey add` are the fields of a hosts file
    exec "$lab" exec "$1" env --default-signal=INT "$BUILD/covey" add "$2" $line
}

asked_elsewhere() {
    (add_from h2 h9) 2>"$dir/err"
    told h9 'did not join: from h1: ssh: connect to host .*: Connection refused'
}

clients_on_h1() { [ "$("$lab" ps | awk '$2 == "h1"' | grep -c 'ssh -F')" = "$1" ]; }

until_so() { # command
    within 10 "$@" && return 0
    "$lab" ps
    return 1
}

interrupted_elsewhere() {
    local job
    add_from h2 h8 2>/dev/null &
    job=$!
    until_so clients_on_h1 1 || return 1
    kill -INT $job
    wait $job
    [ $? = 130 ] && until_so clients_on_h1 0
}

back_again() {
    "$lab" heal h8
    (add_from h1 h8) && up_hosts 5
}

only_servers() { [ -z "$("$lab" ps | grep -v sshd)" ]; }

halts() {
    on_h1 "$BUILD/covey" halt || return 1
    until_so only_servers
}

version=$("$BUILD/coveyd" --version | sed 's/^coveyd //; s/[()]/\\&/g')
expect "eleven hosts with OpenSSH servers" pool_up
expect "one start calls them all and ends within 30 s" all_at_once
expect "h2 is well, over IPv4" well h2 10.77.
expect "h3 is well, over IPv6" well h3 ''
expect "h4 has another host key" told h4 'Host key for .* has changed'
expect "h5 wants a password" told h5 'Permission denied \(password\); it wants a password'
expect "h6 has no coveyd" told h6 "there is no coveyd; tried: $dir/there/coveyd"
expect "h7 has an older one" told h7 "h7 has coveyd 0.0.9 \(protocol 1\), this VM runs $version"
expect "h8 does not answer" told h8 'connect to host .*: Connection timed out; is it up'
expect "h9 has no server" told h9 'connect to host .*: Connection refused; does sshd run there'
expect "h10 has a full disk" told h10 'coveyd: .*: No space left on device'
expect "those that are well form a VM" up_hosts 4
expect "tasks run on each" run_on_each "h1 h11 h2 h3 "
expect "who asks on another host is told where ssh ran" asked_elsewhere
expect "Ctrl-C on another host leaves no ssh" interrupted_elsewhere
expect "a host that was cut off joins when it is back" back_again
expect "halt leaves nothing but the servers" halts
finish
