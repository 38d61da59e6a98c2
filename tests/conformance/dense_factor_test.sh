#!/bin/bash
# timeout: 240
# Cholesky, QR and least squares on teams of one to nine tasks on three hosts: every algorithm, type
# and half with ScaLAPACK's sizes and ratios, what is refused, and the death of a member.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

if [ ! -x "$BUILD/tests/conformance/dense_factor" ]; then
    skip "Cholesky and QR" "Covey is built without LAPACKE"
    finish
    exit
fi

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
run_members "by the route of each pair" dense_factor 10
finish
