#!/bin/bash
# timeout: 1200
# Runs the conformance suite over udp between two local hosts whose daemons lose, double, reorder and
# corrupt the datagrams that they send: at 1 %, 5 % and 30 % loss. SOAK=1: with the sizes of the
# suite without faults; otherwise smaller ones.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
program=$BUILD/tests/conformance/conformance

start() { # faults
    printf '[daemon]\nfault = %s\n' "$1" >"$dir/config/covey/covey.conf"
    covey start --local 2 >/dev/null
}

conforms() { # MiB at most, 0: no limit
    local gib=1
    sanitized "$program" && gib=0 # sanitizers want many times the memory
    covey run -n 1 --host h0 "$program" --route udp --host h1 --gib $gib --mib "$1" </dev/null >"$dir/out" 2>&1
    local status=$?
    cat "$dir/out"
    add_sum "$dir/out"
    [ $status = 0 ]
}

sum() { # counter, over both hosts
    awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) sum += $(i + 1) } END { print sum + 0 }' "$dir/stats"
}

# What was corrupted was refused: nothing that was sent as it was meant to be can fail the MAC.
happened() {
    covey stats >"$dir/stats" || return 1
    local counter
    for counter in fault.lost fault.duplicated fault.reordered fault.corrupted udp.refused_mac; do
        echo "# $counter $(sum $counter)"
        [ "$(sum $counter)" -gt 0 ] || return 1
    done
    # daemons are asked one after the other: what is corrupted meanwhile counts, too
    local refused
    refused=$(sum udp.refused_mac)
    covey stats >"$dir/stats" && [ "$refused" -le "$(sum fault.corrupted)" ]
}

# chance of loss, MiB at most
while read -r loss mib; do
    faults=loss=$loss,dup=0.01,reorder=0.05,corrupt=0.01,hold=0.002,seed=$((${SEED:-1}))
    [ "${SOAK:-0}" = 1 ] && mib=0
    expect "a VM with $faults" start "$faults"
    expect "udp keeps its promises" conforms "$mib"
    expect "the faults happened, and what was corrupted was refused" happened
    expect "it halts" covey halt
done <<END
0.01 16
0.05 8
0.30 1
END
finish
