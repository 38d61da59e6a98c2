#!/bin/bash
# timeout: 120
# A virtual machine of two daemons, one for this machine and one for another under an emulator: the
# formats between daemons, and between a daemon and its tasks, are the same on both; and tasks of both
# exchange every type over every route. check-portable.sh runs this and says where the programs are.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
: "${COVEY_NATIVE:?make check-portable runs this}" "${COVEY_FOREIGN:?}" "${COVEY_FOREIGN_ARCH:?}"
covey=$COVEY_NATIVE/covey
native=$COVEY_NATIVE/tests/portable/exchange
foreign=$COVEY_FOREIGN/exchange
export COVEY_VM=portable-$$
trap '"$covey" halt >/dev/null 2>&1' EXIT
trap 'exit 130' INT TERM

exchange() { # host, program, options: runs it as a task there and counts its cases
    local host=$1 log
    shift
    log=$("$covey" run -n 1 --host "$host" "$@" 2>&1)
    if grep -q '[1-9][0-9]* passed, 0 failed' <<<"$log"; then
        ok "on $host: ${*//*\/portable\//}: $(tail -n 2 <<<"$log" | head -n 1)"
    else
        bad "on $host: $*" "$log"
    fi
}

same_order() { # does the other machine have the byte order of this one?
    [ "$COVEY_FOREIGN_ARCH" != s390x ]
}

host_field() { # host, field of covey hosts --json
    "$covey" hosts --json | tr -d ' \n' | grep -o "{[^}]*\"name\":\"$1\"[^}]*}" |
        grep -o "\"$2\":[^,}]*" | cut -d: -f2-
}

start() { # options of covey start
    expect "a native daemon starts ${*:2}" "$covey" start --local "$@"
    expect "a foreign daemon joins" "$covey" add other --launcher local --coveyd "$COVEY_FOREIGN/coveyd"
    "$covey" hosts
    expect "both are up" test "$(host_field h0 state)$(host_field other state)" = '"up""up"'
}

start 1
same_order && order=little || order=big
expect "hosts tells the byte order" test "$(host_field other byte_order)" = "\"$order\""

echo "# between the daemons, each with tasks of its own kind"
for route in udp tcp auto; do
    exchange h0 "$native" --route $route --peer "$foreign" --host other
    exchange other "$foreign" --route $route --peer "$native" --host h0
done

echo "# both kinds of task on one host, with a daemon of either kind"
for host in h0 other; do
    for route in udp tcp auto; do
        exchange $host "$native" --route $route --peer "$foreign"
    done
    exchange $host "$foreign" --route auto --peer "$native"
    if same_order; then
        exchange $host "$native" --route shm --peer "$foreign"
    else
        exchange $host "$native" --route shm --peer "$foreign" --refused "byte order"
        exchange $host "$foreign" --route shm --peer "$native" --refused "byte order"
    fi
done

echo "# foreign tasks among themselves"
exchange other "$foreign" --route shm --peer "$foreign"
exchange h0 "$foreign" --route tcp --peer "$foreign" --host other
expect "the VM ends" "$covey" halt

echo "# encrypted between the hosts"
start 1 --encrypt
for route in udp tcp; do
    exchange h0 "$native" --route $route --peer "$foreign" --host other
done
expect "the VM ends" "$covey" halt
finish
