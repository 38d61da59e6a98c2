#!/bin/bash
# Tasks that just exit, with handlers, threads and children that still use the library; and a daemon
# that takes nobody in.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

run() { # how, what else
    count_lines "$1" < <(timeout 90 "$BUILD/tests/conformance/leave" "$@" 2>&1 || echo "not ok ended with $?")
}

covey start --local 1 >/dev/null || bad "a virtual machine starts"
run handler
run thread
run fork
run deaf "$dir/run"
within 30 sh -c '[ "$(covey ps --json)" = "[]" ]' && ok "nobody is left" || bad "nobody is left" "$(covey ps)"
finish
