#!/bin/bash
# drain_test.sh - the time of hosts that is over, and bags that go into files and come out of them.
# timeout: 150
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/local_vm.sh
. tests/local_vm.sh
items=$BUILD/tests/batch/items
cd "$dir" || exit 1

each_once() { # file, number: so many results, each once, each right
    awk -v n="$2" '$2 != $1 * $1 || seen[$1]++ { bad = 1 } END { exit bad || NR != n || length(seen) != n }' "$1"
}
says() { # words, command...: the command fails with one line that has the words
    local words=$1
    shift
    "$@" >out 2>&1 && return 1
    cat out
    [ "$(wc -l <out)" = 1 ] && grep -q -- "$words" out
}
is_known() { covey hosts | grep -Eq "^$1 .* [0-9]+(:[0-9]{2}){2}\$"; } # host

shown() {
    covey drain h1 --in 1000 && covey hosts && covey hosts --json | grep -q '"ends_in_s": *9' && is_known h1 && ! is_known h0 || return 1
    covey drain h1 --undo && ! is_known h1
}
wrong_words() {
    says 'no host h9' covey drain h9 && says 'no number' covey drain h1 --in x && says 'no host is named' covey drain &&
        says 'save or load' covey bag && says 'none of that name' covey bag save nobody file &&
        says 'No such file' covey bag load nothing && says 'no bag' covey bag load "$items" && ! is_known h0
}
# The time is over in the midst of a bag; what is left is done in a VM that is made anew.
over() {
    covey run "$items" 4000 4000 squares &
    local pid=$!
    within 20 grep -qs . squares && covey drain h0 h1 h2 || return 1
    wait $pid
    [ $? = 75 ] || return 1
    covey bags
    mkdir -m 500 closed
    [ "$(id -u)" = 0 ] || says 'cannot write' covey bag save items closed/left.bag || return 1
    says 'cannot write' covey bag save items none/left.bag || return 1
    covey bags | grep -q '^items' && covey bag save items left.bag && ! covey bags | grep -q '^items' || return 1
    covey halt && covey start --local 2 --quiet && covey bag load left.bag && says 'already' covey bag load left.bag &&
        covey run "$items" 4000 1000 squares && each_once squares 4000
}
bad_files() {
    local i size
    size=$(stat -c %s left.bag)
    for ((i = 0; i < 8; i++)); do
        head -c $((size * i / 8)) left.bag >cut.bag
        says 'cannot be loaded' covey bag load cut.bag other || return 1
        cp left.bag cut.bag
        printf '\377\376' | dd of=cut.bag bs=1 seek=$((size * i / 8 + i)) conv=notrunc status=none
        says 'cannot be loaded' covey bag load cut.bag other || return 1
    done
    ! covey bags | grep -q other
}
# Its daemon is ended as an engine does, of a host that works and has a copy of the bag.
preempted() {
    covey halt && covey start --local 4 --quiet || return 1
    rm -f squares
    covey run --host h3 "$items" 2000 4000 squares &
    local pid=$!
    within 20 grep -qs . squares || return 1
    kill -TERM "$(daemon_pid h1)" || return 1
    wait $pid && each_once squares 2000
}
until_then() {
    covey halt
    covey start --local 2 --quiet --until "$(date -d '+1 hour' +%FT%T)" && covey hosts && is_known h0 && is_known h1 || return 1
    covey halt && COVEY_UNTIL=$(($(date +%s) + 500)) covey start --local 2 --quiet && is_known h1 || return 1
    covey halt && says 'is no time' covey start --local 1 --until tomorrow && says 'is no time' env COVEY_UNTIL=x covey start --local 1
}

covey start --local 3 --quiet || bad "a VM of three hosts starts"
expect "covey hosts shows a drain, and that it is taken back" shown
expect "words that are wrong have an error of one line" wrong_words
expect "a bag whose time is over goes into a file, and on in another VM: each result once" over
expect "files that are cut off or damaged are refused" bad_files
expect "a host whose daemon is ended loses no item" preempted
expect "--until and COVEY_UNTIL" until_then
finish
