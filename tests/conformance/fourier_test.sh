#!/bin/bash
# timeout: 180
# Distributed Fourier transforms on teams of one to six tasks on three hosts: every algorithm, order
# and layout beside FFTW on the whole array, what is refused, and the death of a member.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

if [ ! -x "$BUILD/tests/conformance/fourier" ]; then
    skip "Fourier transforms" "Covey is built without FFTW 3"
    finish
    exit
fi

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
run_members "by the route of each pair" fourier 7
run_members "by udp" fourier 7 --route udp
finish
