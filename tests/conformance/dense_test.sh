#!/bin/bash
# timeout: 240
# Dense algebra on teams of one to nine tasks on three hosts: every algorithm, grid, broadcast and
# swap, with ScaLAPACK's sizes and ratios and HPL's; what is refused, and the death of a member.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

if [ ! -x "$BUILD/tests/conformance/dense" ]; then
    skip "dense algebra" "Covey is built without LAPACKE"
    finish
    exit
fi

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
run_members "by the route of each pair" dense 10
finish
