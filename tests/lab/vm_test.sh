#!/bin/bash
# timeout: 900
# vm_test.sh - a Covey VM on the hosts of a lab: 2, 4 and 8 hosts, each over IPv4 or IPv6 (2, and with SOAK=1
# all, over both), then 64.
#
# On each: all hosts are up under addresses of the right family, tasks run everywhere, the demos'
# results are right and the conformance suite passes over udp and tcp between the first and the
# last host; the suite's two cases that move gigabytes run only when LAB_FULL=1. On 4 hosts one is
# cut off and comes back.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh

BUILD=$(realpath "${BUILD:-build}")
export BUILD
cases="sizes types matching wrong cancel order threads progress death"
# sanitizers want many times the memory: no case that measures it
gib=1
sanitized "$BUILD/tests/conformance/conformance" && gib=0
[ "${LAB_FULL:-0}" = 1 ] && cases="$cases crossing sleeper"

# ---- inside: on the first host of a VM ----------------------------------------------------------

count() { echo "$LAB_HOSTS" | wc -w; }

all_hosts_up() { [ "$(covey hosts --json | grep -c '"state": *"up"')" = "$(count)" ]; }

addresses_are() { # the beginning of every address
    [ "$(covey hosts --json | grep -cF "\"addr\": \"$1")" = "$(count)" ]
}

tasks_run_everywhere() { # tasks a host
    local hosts
    hosts=$(covey run -n $(($(count) * $1)) hostname | uniq | tr ' ' '\n' | awk '!seen[$0]++' | wc -l)
    [ "$hosts" = "$(count)" ]
}

conforms() { # ROUTE
    local case last said
    last=${LAB_HOSTS% }
    for case in $cases; do
        said=$("$BUILD/tests/conformance/conformance" --route "$1" --host "${last##* }" --gib $gib --case "$case" 2>&1) ||
            { echo "$said" && return 1; }
    done
}

demo() { # ROUTE, program and arguments
    local said
    said=$("$BUILD/apps/$2" --route "$1" --check --baseline 1 "${@:3}" 2>&1) || { echo "$said" && return 1; }
}

inside() { # family, address prefix
    local on="$(count) hosts, $1" route
    expect "$on: all are up" all_hosts_up
    expect "$on: they are known by $1" addresses_are "$2"
    expect "$on: tasks run everywhere" tasks_run_everywhere 2
    for route in udp tcp; do
        expect "$on, $route: matmul is right" demo $route matmul --size 256
        expect "$on, $route: mandel is right" demo $route mandel --size 200x100
        expect "$on, $route: sort is right" demo $route sort --keys 100K
        expect "$on, $route: the route keeps its promises" conforms $route
    done
}

# ---- a host is cut off and comes back

state_of() { covey hosts --json | tr -d '\n' | sed 's/}/}\n/g' | sed -n 's/.*"name": *"'"$1"'".*"state": *"\([a-z]*\)".*/\1/p'; }

is() { [ "$(state_of "$1")" = "$2" ]; } # HOST STATE
becomes() { # HOST STATE
    within 15 is "$@" && return 0
    echo "$1 is $(state_of "$1")"
    return 1
}

processes_on() { tests/lab/lab ps | awk -v host="$1" '$2 == host'; }

is_empty() { [ -z "$(processes_on "$1")" ]; } # HOST
has_no_process() { # HOST
    within 15 is_empty "$1" && return 0
    processes_on "$1"
    return 1
}

# The shell that tests runs on the first host, too (and so does the grep here).
runs_nothing() { ! processes_on "$1" | grep -qE '[c]oveyd|[s]leep'; } # HOST
has_no_task() { # HOST
    within 15 runs_nothing "$1" && return 0
    processes_on "$1"
    return 1
}

run_tells_the_loss() { # PID FILE
    within 10 grep -q "lost" "$2"
    kill -TERM "$1"
    wait "$1" && echo "the run ended with 0" && return 1
    grep "lost" "$2"
}

inside_cut() {
    local said pid
    said=$(mktemp)
    covey run -n 4 sleep 1000 >"$said" 2>&1 &
    pid=$!
    until [ "$(covey ps --json | grep -c sleep)" = 4 ]; do sleep 0.1; done
    tests/lab/lab cut h3
    expect "a host that is cut off is declared down" becomes h3 down
    expect "who waits for a task there is told" run_tells_the_loss $pid "$said"
    expect "the host that was cut off runs nothing on" has_no_process h3
    tests/lab/lab heal h3
    expect "it can join again" covey add h3 --launcher exec --template "$LAB_TEMPLATE" --coveyd "$BUILD/coveyd"
    expect "it is up again" becomes h3 up
    expect "tasks run on it again" covey run -n 2 --host h3 true
    rm -f "$said"
}

# ---- hosts are cut off for less than the fail timeout, one after the other, the coordinator too

nobody_was_gone() { ! grep -h ' gone' /run/covey-lab/"$LAB"/run/*/covey/*/*.log; }

# Tasks on h2 and h3 talk all the time.
inside_short_cuts() {
    local said pid host
    said=$(mktemp)
    (until [ -e "$said.end" ]; do
        covey run -n 1 --host h2 "$BUILD/tests/conformance/conformance" --route udp --host h3 --mib 4 --gib $gib || exit
    done) >"$said" 2>&1 &
    pid=$!
    for host in h2 h3 h1 h4 h2 h3; do
        sleep 0.7
        tests/lab/lab cut $host
        sleep 1.6 # of 6: what a slow machine takes for an answer is not to be added up to a loss
        tests/lab/lab heal $host
    done
    touch "$said.end"
    expect "who was cut off for less than the timeout lost nothing" wait $pid
    grep -v '^ok' "$said"
    expect "and nobody was gone for anybody" nobody_was_gone
    expect "all hosts are up" all_hosts_up
    rm -f "$said" "$said.end"
}

# ---- the host that coordinates is cut off and comes back

on_other() { tests/lab/lab exec h2 "$@"; }

coordinator_lost() { # as h2 sees it
    within 15 eval 'on_other covey hosts | grep -q "^h1 .* down "' && return 0
    on_other covey hosts
    return 1
}

inside_coordinator_cut() {
    local pid
    covey run -n 4 sleep 1000 >/dev/null 2>&1 &
    pid=$!
    until [ "$(covey ps --json | grep -c sleep)" = 4 ]; do sleep 0.1; done
    tests/lab/lab cut h1
    expect "a coordinator that is cut off is declared down" coordinator_lost
    expect "another coordinates" eval 'on_other covey hosts | grep -q coordinator'
    expect "the host that was cut off runs nothing on" has_no_task h1
    wait $pid # its console: the daemon of the host ended
    tests/lab/lab heal h1
    expect "it can join again" on_other covey add h1 --launcher exec --template "$LAB_TEMPLATE" --coveyd "$BUILD/coveyd"
    expect "all hosts are up" all_hosts_up
    expect "tasks run everywhere" tasks_run_everywhere 1
}

# Of two hosts, the first goes on without the second, but not the second without the first.
inside_two() {
    tests/lab/lab cut h2
    expect "of two hosts the first goes on" becomes h2 down
    expect "the second runs nothing on" has_no_process h2
    tests/lab/lab heal h2
    expect "it can join again" covey add h2 --launcher exec --template "$LAB_TEMPLATE" --coveyd "$BUILD/coveyd"
    expect "tasks run everywhere" tasks_run_everywhere 1
}

inside_many() {
    expect "64 hosts: all are up" all_hosts_up
    expect "64 hosts: tasks run everywhere" tasks_run_everywhere 1
}

inside_loaded() {
    expect "beside load from outside all are up" all_hosts_up
}

if [ "${1:-}" = --inside ]; then
    "${@:2}"
    finish
fi

# ---- outside --------------------------------------------------------------------------------------

log=$(mktemp "${TMPDIR:-/tmp}/covey-vm-test.XXXXXX")
conf=
trap 'rm -rf "$log" ${conf:+"$conf"}' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Runs tests inside a VM and adds up what they report; its start, halt and tidying are a test, too.
in_vm() { # name, vm.sh's arguments, --, function and arguments
    case $1 in *"${TEST:-}"*) ;; *) return ;; esac
    local name=$1 options=() sum
    shift
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    tests/lab/vm.sh "${options[@]}" -- bash tests/lab/vm_test.sh --inside "$@" >"$log" 2>&1
    local status=$?
    sed '/^h[0-9]* joined/d; $d' "$log"
    sum=$(tail -n 1 "$log")
    case $sum in
    *passed,*failed,*skipped)
        read -r p _ f _ <<<"$sum"
        passed=$((passed + p)) failed=$((failed + f))
        [ $status = 0 ] || [ "$f" -gt 0 ] || bad "$name" "vm.sh ended with status $status" ;;
    *) bad "$name" "$sum" ;;
    esac
}

if [ "$(id -u)" != 0 ]; then
    skip "a VM in a lab" "needs root"
    finish
elif ! unshare --net --uts true 2>/dev/null; then
    skip "a VM in a lab" "network namespaces are not allowed here"
    finish
fi

soak=${SOAK:-0}
for n in 2 4 8; do
    [ "$soak$n" = 04 ] || in_vm "$n hosts, IPv4" --hosts $n --ipv4-only -- inside IPv4 10.77.
    [ "$soak$n" = 08 ] || in_vm "$n hosts, IPv6" --hosts $n --ipv6-only -- inside IPv6 '[fd77:'
done
in_vm "load from outside" --hosts 2 --hog h2 --traffic h1:h2:1M -- inside_loaded # which ends with the lab
# shorter, so that less time is spent on waiting for it
conf=$(mktemp -d)
mkdir "$conf/covey"
printf '[daemon]\nfail_timeout = 2\n' >"$conf/covey/covey.conf"
export XDG_CONFIG_HOME=$conf
in_vm "a host cut off" --hosts 4 -- inside_cut
in_vm "the coordinator cut off" --hosts 4 -- inside_coordinator_cut
in_vm "two hosts" --hosts 2 -- inside_two
printf '[daemon]\nfail_timeout = 6\n' >"$conf/covey/covey.conf"
in_vm "hosts cut off for less than the timeout" --hosts 4 -- inside_short_cuts
unset XDG_CONFIG_HOME
rm -rf "$conf"
in_vm "64 hosts" --hosts 64 --rate 100M -- inside_many
finish
