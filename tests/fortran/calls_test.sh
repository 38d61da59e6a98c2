#!/bin/bash
# timeout: 120
# Fortran: programs that call each call of covey.h by module covey, on a virtual machine of two hosts.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/language_vm.sh
needs tests/fortran/messages "Covey was built without its modules for Fortran"

mkdir "$dir/modules"
expect "a call that cannot be mapped is an error" refuses_the_unknown scripts/fortran.py "$dir/modules"
calls_all < <(nm -u "$BUILD"/tests/fortran/*.o | sed -n 's/.*__covey_MOD_//p; s/.*U covey_fortran_/covey_/p')

program "without a VM" "$BUILD/tests/fortran/networks"
covey start --local 2 >"$dir/started" || bad "a virtual machine of two hosts starts"
COVEY_SOCKET=$(socket_of h0)
export COVEY_SOCKET
program "one task" "$BUILD/tests/fortran/messages"
program "three tasks" covey run -n 3 "$BUILD/tests/fortran/team"
program "services" "$BUILD/tests/fortran/services"
finish
