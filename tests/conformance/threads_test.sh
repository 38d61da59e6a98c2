#!/bin/bash
# timeout: 240
# Threads of one handle, while links end, tasks are stopped and the library's own thread is late.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

covey start --local 1 >/dev/null || bad "a virtual machine starts"
: >"$dir/board"
count_lines threads < <(covey run -n 1 "$BUILD/tests/conformance/threads" "$dir/board" 2>&1 || echo "not ok ended with $?")
finish
