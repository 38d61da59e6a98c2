#!/bin/bash
# timeout: 120
# Bags between the hosts of a VM: what each call promises, items of all sizes, results in order, an
# item that kills.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

bag() { COVEY_SOCKET=$(socket_of "$1") timeout 300 "$BUILD/tests/chaos/bag" "${@:2}" >"$dir/out" 2>&1; grep -q '^ok' "$dir/out" || { cat "$dir/out" && false; }; }

# what a daemon copies of items of 50 million bytes takes a slow machine seconds, beside load
printf '[daemon]\nfail_timeout = 20\n' >"$dir/config/covey/covey.conf"
covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
expect "each call, used rightly and wrongly" bag h0 calls
expect "20,000 small items" bag h0 lead small 20000 8
expect "in order, held by another host" bag h1 lead order 5000 5 --order
expect "40 items of a million bytes" bag h2 lead large 40 3 --bytes 1000000
expect "3 items of 50 million bytes" bag h0 lead huge 3 2 --bytes 50000000
expect "an item that kills is set aside" bag h0 lead poison 300 8 --kill 123
nothing_left() { [ "$(covey ps --json | grep -c '"tid"')" = 0 ]; }
expect "all workers end" within 10 nothing_left
expect "the virtual machine ends" covey halt

covey start --local 1 >/dev/null || bad "a virtual machine of one host starts"
expect "one host, and no other that has a copy" bag h0 lead alone 2000 2
expect "the virtual machine ends" covey halt
finish
