#!/bin/bash
# timeout: 120
# C++: programs that call each call of covey.h by covey.hpp, on a virtual machine of two hosts.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/language_vm.sh
needs tests/cxx/messages "Covey was built without its header for C++"

expect "a call that cannot be mapped is an error" \
    refuses_the_unknown scripts/cxx.py lib/cxx/covey.hpp.in "$dir/covey.hpp"
calls_all < <(nm -u "$BUILD"/tests/cxx/*.o | sed -n 's/^ *U \(covey_\)/\1/p')

program "without a VM" "$BUILD/tests/cxx/networks"
covey start --local 2 >"$dir/started" || bad "a virtual machine of two hosts starts"
COVEY_SOCKET=$(socket_of h0)
export COVEY_SOCKET
program "one task" "$BUILD/tests/cxx/messages"
program "three tasks" covey run -n 3 "$BUILD/tests/cxx/team"
program "services" "$BUILD/tests/cxx/services"
finish
