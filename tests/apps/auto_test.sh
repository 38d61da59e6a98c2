#!/bin/bash
# auto_test.sh - the demos start as many tasks as are worth it, by calibrations that are written here: the
# network of one is slow beside its hosts, so that a sort is best left where its keys are. And covey
# run -n auto: as many tasks as processors are free.
# timeout: 90
#
# No time is tested: what is predicted depends on the file alone.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/apps/app.sh
export XDG_STATE_HOME=$work/state COVEY_CALIBRATION=$work/calibration
says() { grep -qE -- "$1" "$work/out" || { cat "$work/out" && false; }; } # on standard output
explains() { grep -qE -- "$1" "$work/err" || { cat "$work/err" && false; }; } # on standard error

# Hosts of one processor, 1 ns an operation, 10 of matmul; 100 Mbit/s are 8e-8 s a byte.
calibration() { # SECONDS-A-BYTE HOST...
    local host block
    echo "route tcp 1e-4 $1 0.999 0.01 0 0"
    for host in "${@:2}"; do
        echo "host $host 1 1 1"
        for block in 64 128 256 512 1024 2048; do echo "matmul $host $block 1e-8"; done
        echo "sort $host 1e-9 1e-9"
        echo "mandel $host 1e-9"
    done
}
chooses() { # TASKS HOSTS DEMO ARGUMENT...: it starts so many, on so many
    run "${@:3}" --baseline 0 --json && says "^  \"tasks\": $1,?\$" && says "^  \"hosts\": $2,?\$"
}

covey start --local 4 >/dev/null || bad "a virtual machine starts"
all=(h0 h1 h2 h3)

# ---- without a calibration ----

expect "without a calibration: one a host" chooses 4 4 sort --keys 1K --explain
expect "the table says why" explains '^sort: 4 tasks on 4 hosts: .*there is no calibration'
expect "-n auto is an error then" fails_with 1 "-n auto: $COVEY_CALIBRATION: there is no calibration; run covey calibrate" sort -n auto
expect "auto is no number of hosts" fails_with 2 "is not an integer" sort -n automatic

# ---- with one ----

calibration 8e-8 "${all[@]}" >"$COVEY_CALIBRATION"
expect "sort of 1M keys on a slow network takes one host" chooses 1 1 sort --keys 1M
expect "JSON says why" says '"why": "1 task on 1 of 4 hosts: .*more hosts gain no time'
expect "and has a row for each number of hosts" test "$(grep -c '"slope":' "$work/out")" = 4
expect "matmul of a large size takes all" chooses 4 4 matmul -N 1500
expect "and a small one does not" chooses 1 1 matmul -N 16
expect "mandel takes all" chooses 4 4 mandel --size 300x200 -m 4000
expect "two levels have their number of tasks" chooses 16 4 matmul -N 64 --hierarchical
expect "whose hosts -n auto chooses" chooses 16 1 matmul -N 64 --hierarchical -n auto
expect "a number that is given holds" chooses 3 3 sort --keys 1K -n 3
expect "hosts that are named do" chooses 2 2 sort --keys 1K --hosts h1,h3
expect "unless -n is auto" chooses 1 1 sort --keys 1K --hosts h3,h1 -n auto
expect "of equal hosts the first" says '"h3"'
expect "--explain" run sort --keys 1M --explain --baseline 0
expect "has the rows" test "$(grep -cE '^ +[1-4] +[1-4]( +-?[0-9.]+){4} +(chosen|-?[0-9.]+)$' "$work/err")" = 4
expect "of which one is chosen" explains '^ +1 +1 .* chosen$'
expect "and the reason" explains '^sort: 1 task on 1 of 4 hosts: predicted 0.021 s; more hosts gain no time'
expect "which stands below the figures" says '^chosen: 1 task on 1 of 4 hosts'

calibration 1e-12 "${all[@]}" >"$COVEY_CALIBRATION"
expect "on a quick network sort takes more" chooses 4 4 sort --keys 1M
sed -i 's/^sort h0 .*/sort h0 9e-9 9e-9/' "$COVEY_CALIBRATION"
expect "but not a slow host" chooses 3 3 sort --keys 1M
expect "which is not the first one" eval '! says "\"host\": \"h0\""'
sed -i 's/^host h1 .*/host h1 2 2 1/' "$COVEY_CALIBRATION"
expect "two processors are two tasks" chooses 2 1 mandel --size 300x200 -m 4000 --hosts h1 -n auto
calibration 1e-12 h1 h2 >"$COVEY_CALIBRATION"
expect "a host that was not calibrated is not left out without a word" chooses 4 4 sort --keys 1M --explain
expect "which says so" explains 'not all hosts were calibrated'
expect "-n auto leaves it out" chooses 2 2 sort --keys 1M -n auto --explain
expect "and says so" explains '^2 hosts were not calibrated and left out$'
expect "hosts that were not calibrated" fails_with 1 "-n auto: none of the hosts was calibrated" sort -n auto --hosts h0,h3
expect "tiles has no model" fails_with 1 "-n auto: there is no model" tiles -n auto
echo nonsense >"$COVEY_CALIBRATION"
expect "a calibration that is none" fails_with 1 "-n auto: $COVEY_CALIBRATION:1: 'nonsense' begins no line" sort -n auto

expect "the virtual machine ends" covey halt
trap 'rm -rf "$work"' EXIT
finish
