#!/bin/bash
# timeout: 300
# Poisson's equation on teams of one to nine tasks on three hosts: every method beside the direct one, as many
# iterations on any number of members, the order of convergence, what is refused, and the death of a member.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
run_members "by the route of each pair" poisson 10
finish
