#!/bin/bash
# timeout: 120
# Casts on hosts of one machine, over UDP: in total order, and to all or none when a task or a daemon
# is killed in the middle; and, as root, in a lab: over raw Ethernet, with every multicast one frame
# for all hosts. SOAK=1: kills for minutes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
programs=$BUILD/tests/conformance
rounds=${SOAK:+100} storms=${SOAK:+60}

# A host that dies is missed soon; and as datagrams are lost, survivors have got unequally far.
printf '[daemon]\nfail_timeout = 2\nfault = loss=0.1,dup=0.02,reorder=0.05\n' >"$dir/config/covey/covey.conf"

covey start --local 4 >/dev/null || bad "a virtual machine starts"
count_lines "one machine" < <(covey run --host h0 "$programs/cast" h1 h2 h1 2>&1)
count_lines "one machine" < <(covey run --host h0 "$programs/cast" kill "${rounds:-8}" h1 h2 h3 h2 2>&1)
for ((i = 1; i <= ${storms:-1}; i++)); do
    count_lines "one machine" < <(covey run --host h0 "$programs/cast" storm h3 h1 h2 h0 h1 2>&1)
    [ -n "$storms" ] && covey halt >/dev/null 2>&1 && covey start --local 4 >/dev/null
done
covey halt >/dev/null 2>&1
rm "$dir/config/covey/covey.conf"

if [ "$(id -u)" = 0 ] && "$BUILD/covey" version >/dev/null; then
    count_lines "raw Ethernet" < <(timeout 300 tests/lab/vm.sh --hosts 5 -- bash -c '
        covey run --host h1 "$0/cast" h2 h3 h4 2>&1
        covey run --host h1 "$0/mcast" --route ether h2 h3 h4 2>&1
        covey run --host h1 "$0/cast" storm h5 h2 h3 h4 2>&1
        covey stats | awk "
            \$2 == \"cast.fragments_sent\" { sent += \$3 }
            \$2 == \"cast.fragments_received\" { received += \$3 }
            END { print (received > 2.5 * sent && sent > 500 ? \"ok\" : \"not ok\"),
                  \"one frame serves all: \" sent \" sent, \" received \" received\" }"' \
        "$programs" 2>&1)
    count_lines "some by UDP" < <(timeout 300 tests/lab/vm.sh --hosts 5 --plain h3 -- bash -c '
        covey run --host h1 "$0/cast" kill 3 h2 h1 h3 h4 2>&1
        covey run --host h1 "$0/cast" storm h5 h2 h3 h4 h1 2>&1' "$programs" 2>&1)
    count_lines "many sets" < <(timeout 300 tests/lab/vm.sh --hosts 6 -- \
        covey run --host h1 "$programs/cast" sets h2 h3 h4 h5 h6 2>&1)
else
    skip "raw Ethernet" "this needs root"
fi
finish
