#!/bin/bash
# timeout: 300
# Windows, whose members put and get without a receive: through memory on one host, by orders between
# hosts by each route, and both at once.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
program=$BUILD/tests/conformance/window

covey start --local 2 >/dev/null || bad "a virtual machine of two hosts starts"
run() { # what, options of covey run
    local what=$1
    shift
    count_lines "$what" < <(timeout 250 covey run "$@" "$program" 2>&1)
}
run "four tasks on one host" -n 4 --host h0
run "four tasks on two hosts" -n 4
run "two tasks by tcp" -n 2 --route tcp
run "two tasks by udp" -n 2 --route udp
run "three tasks on one host that forces another route" -n 3 --host h0 --route tcp
finish
