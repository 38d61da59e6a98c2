#!/bin/bash
# timeout: 120
# What an onlooker on the wire between two hosts of a lab reads: everything in a VM in the clear,
# nothing in one that encrypts. Needs root.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
export BUILD
programs=$BUILD/tests/attack
output=what-this-task-printed
texts=(the-secret-of-this-message "$output" attack/echo serve argument-of-a-task)

# Talks over udp and tcp while the first host's interface is recorded.
talk() { # FILE
    local recorder serving tid
    IFACE=eth0 "$programs/wire" record "$1" >"$1.ready" &
    recorder=$!
    within 20 grep -q ready "$1.ready" || return 1
    covey run -n 1 --host h2 "$programs/echo" serve >"$1.tid" &
    serving=$!
    within 20 grep -q 't[0-9a-f]*$' "$1.tid" || return 1
    tid=$(grep -o 't[0-9a-f]*$' "$1.tid" | head -n 1)
    "$programs/echo" ask "$tid" udp 5 && "$programs/echo" ask "$tid" tcp 5 &&
        covey run -n 1 --host h2 sh -c "echo $output" argument-of-a-task >/dev/null &&
        "$programs/echo" stop "$tid"
    local status=$?
    wait $serving
    kill -TERM $recorder && wait $recorder
    return $status
}

if [ "${1:-}" = --inside ]; then
    talk "$2" || exit 1
    "$programs/wire" find "$2" "${texts[@]}" >"$2.found"
    exit
fi

[ "$(id -u)" = 0 ] || { echo "needs root, for hosts in network namespaces"; exit 77; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-wire-test.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

on_the_wire() { # NAME, options of vm.sh
    tests/lab/vm.sh --hosts 2 "${@:2}" -- bash tests/attack/wire_test.sh --inside "$scratch/$1" \
        >"$scratch/$1.log" 2>&1 || { cat "$scratch/$1.log"; return 1; }
    sed "s/^/# $1: /" "$scratch/$1.found"
}
all_found() { [ "$(grep -c ' 0 of' "$scratch/clear.found")" = 0 ]; }
none_found() {
    [ "$(grep -c ' 0 of' "$scratch/encrypted.found")" = "$(wc -l <"$scratch/encrypted.found")" ] &&
        [ "$(sed -n '1s/.* of //p' "$scratch/encrypted.found")" -ge 50 ]
}

expect "a VM in the clear is watched" on_the_wire clear
expect "its messages, programs, arguments, names and output are read" all_found
expect "a VM that encrypts is watched" on_the_wire encrypted --encrypt
expect "none of them is read" none_found
finish
