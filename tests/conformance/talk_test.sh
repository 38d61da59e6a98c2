#!/bin/bash
# timeout: 300
# The tasks of a run as a team: messages by rank, sends and receives at once, and waiting for several
# things, by each route; and what a task that was started by hand is told.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
program=$BUILD/tests/conformance/talk

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
run() { # what, options of covey run
    local what=$1
    shift
    count_lines "$what" < <(timeout 250 covey run "$@" "$program" 2>&1)
}
run "three tasks on three hosts" -n 3
run "five tasks on one host" -n 5 --host h0
run "three tasks by udp" -n 3 --route udp
run "three tasks by tcp" -n 3 --route tcp
count_lines < <("$program" alone 2>&1)
finish
