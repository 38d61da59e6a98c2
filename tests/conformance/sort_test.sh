#!/bin/bash
# timeout: 240
# Sorting over 1 to 9 tasks on three hosts: each algorithm, type, shape of keys and sort of sizes,
# compared with qsort() of the whole; wrong arguments; and the death of a member.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
run_members "by the route of each pair" sort 9
finish
