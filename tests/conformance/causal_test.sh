#!/bin/bash
# timeout: 240
# Order among the tasks of one host, by each route that they can take: many crews of tasks that have
# not talked before, so that first messages, links that come up and changes of route are in it, and
# many rounds of each.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

run() { # arguments
    count_lines "$*" < <(timeout 50 covey run -n 1 --host h0 "$BUILD/tests/conformance/causal" "$@" 2>&1 || echo "not ok ended with $?")
}

covey start --local 1 >/dev/null || bad "a virtual machine of one host starts"
for way in send isend mcast; do
    run $way 30 2
    run $way 4 600
    run --route udp $way 4 100
done
run --route shm send 10 100
run --route tcp send 10 100
run --route shm mcast 10 2
run --route shm mcast 4 100
run change 10 200
run end 50 1
run --route tcp end 10 1
run monitor 4 400
run monitor 100 12 # most links come up in the first hops
finish
