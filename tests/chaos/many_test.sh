#!/bin/bash
# timeout: 240
# many_test.sh - many spawns in a row, many hosts added and removed, many tasks at once: nothing is
# left behind and nothing grows. SOAK=1: 10,000 spawns, 1000 hosts, 1000 tasks.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/chaos/vm.sh
if [ -n "${SOAK:-}" ]; then spawns=10000 hosts=1000 tasks=1000; else spawns=2000 hosts=100 tasks=300; fi

many() { COVEY_SOCKET=$(socket_of h0) "$BUILD/tests/chaos/many" "$@"; }

story "$spawns spawns in a row" 1 many spawns $spawns
story "$hosts hosts added and removed" 0 many hosts $hosts
story "$tasks tasks at once" 0 many crowd $tasks
finish
