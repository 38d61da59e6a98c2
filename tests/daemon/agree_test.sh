#!/bin/bash
# agree_test.sh - the calls about sessions, election and consensus, through the first daemon of three
# and through the last: agree.c.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/chaos/vm.sh

take() { # host: what agree found counts as found here
    local line
    COVEY_SOCKET=$(socket_of "$1") "$BUILD/tests/daemon/agree" >"$dir/$1.found" 2>&1 ||
        bad "agree on $1" "it ended with $?"
    while read -r line; do
        case $line in
        "ok: "*) ok "$1: ${line#ok: }" ;;
        *) bad "$1: ${line#FAILED: }" ;;
        esac
    done <"$dir/$1.found"
}

start_vm 2 || bad "the VM starts"
take h0
take h2
expect "the VM halts" halt_vm
finish
