#!/bin/bash
# A task that starts the others of its host in the daemon's place, and dies.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

covey start --local 1 >/dev/null || bad "a virtual machine starts"
count_lines tasker < <(covey run -n 1 "$BUILD/tests/conformance/tasker" 2>&1 || echo "not ok ended with $?")
finish
