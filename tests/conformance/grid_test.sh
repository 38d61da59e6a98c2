#!/bin/bash
# timeout: 180
# Grids divided among one to nine tasks on three hosts: halos beside a global array, sums, whole grids at one
# member, what is refused, and the death of a member.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
run_members "by the route of each pair" grid 10
run_members "by udp" grid 5 --route udp
finish
