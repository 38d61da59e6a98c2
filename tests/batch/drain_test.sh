#!/bin/bash
# drain_test.sh - the time of hosts that is over, and bags that go into files and come out of them.
# timeout: 200
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
# A host that is drained, or withheld, gets tasks only by its name, unless all others are.
# shellcheck disable=SC2016 # for the shell of the task
went() { covey run "$@" sh -c 'basename "$COVEY_SOCKET" .sock' 2>why | sort -u | xargs; } # options: the hosts
are() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'" && cat why && return 1; }; }
placed() {
    covey drain h1 --in 1000 && are "$(went -n 6 --explain)" "h0 h2" && grep -Eq '^h1 +0 +it is drained$' why &&
        are "$(went --each)" "h0 h2" && are "$(went --host h1)" h1 && are "$(went --each --host h1,h2)" "h1 h2" &&
        covey hosts | grep -Eq '^h1 .* drained +0:1[0-9]:' && covey hosts --json | grep -q '"withheld": *"drained"' || return 1
    covey run -n auto --explain true 2>why && grep -Eq '^h1 +0 +it is drained$' why || { cat why && return 1; }
    covey drain --all && are "$(went -n 6 --explain)" "h0 h1 h2" && grep -q 'it is drained, and no other is left' why || return 1
    covey drain --all --undo && are "$(went -n 6)" "h0 h1 h2" && ! covey hosts | grep -q drained
}
withheld() {
    covey start --local 3 --withhold --quiet || return 1
    covey hosts | grep -Eq '^h0 .* coordinator, withheld$' && are "$(went -n 6 --explain)" "h1 h2" && grep -q 'its owner withholds it' why &&
        are "$(went --each)" "h1 h2" && are "$(went --host h0)" h0 || return 1
    covey drain h1 h2 && are "$(went -n 6 --each)" "h1 h2" && covey remove h1 h2 && are "$(went -n 2)" h0
}
wrong_words() {
    says 'no host h9' covey drain h9 && says 'no number' covey drain h1 --in x && says 'no host is named' covey drain && says 'goes not with' covey drain h1 --all &&
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
    covey halt && covey start --local 2 --quiet && covey bag load left.bag &&
        says 'was loaded before' covey bag load left.bag && says 'was loaded before' covey bag load left.bag other &&
        says 'goes with load alone' covey bag save --again items x && says 'already' covey bag load --again left.bag &&
        covey run "$items" 4000 1000 squares && each_once squares 4000 || return 1
    # that failed, and so may be loaded; what was is not, in whatever VM, unless one says so
    covey bag load left.bag third && covey halt && covey start --local 2 --quiet && says 'was loaded before' covey bag load left.bag &&
        covey bag load --again left.bag && covey bags | grep -q '^items' && covey bag save items left.bag
}
# Who saves is killed when the file is there and the bag has not ended: the bag goes on, and the file is not loaded.
killed() {
    local pid
    rm -f left.bag squares
    covey halt && covey start --local 2 --quiet || return 1
    covey run "$items" 1000 4000 squares &
    pid=$!
    within 20 grep -qs . squares && covey drain h0 h1 && ! wait $pid || return 1
    strace -qq -f -o traced -e trace=fsync -e inject=fsync:signal=KILL:when=2 covey bag save items left.bag
    [ -s left.bag ] && covey bags && says 'may go on' covey bag load left.bag other || return 1
    covey bag save items left.bag && ! covey bags | grep -q '^items' && covey drain --undo h0 h1 && covey bag load left.bag &&
        covey run "$items" 1000 1000 squares && each_once squares 1000
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
    covey add --launcher local h7 && is_known h7 && covey add --launcher local --env COVEY_UNTIL= h8 && ! is_known h8 || return 1
    covey halt && covey with --local 2 --until "$(date -d '+1 hour' +%FT%T)" -- covey hosts | grep -Ec ' 0:59:[0-9]+$' | grep -qx 2 || return 1
    says 'is no time' covey with --local 1 --until tomorrow true && says 'goes not with' covey start --service --until 3000000000 || return 1
    says 'is no time' covey start --local 1 --until tomorrow && says 'is no time' env COVEY_UNTIL=x covey start --local 1
}

covey start --local 3 --quiet || bad "a VM of three hosts starts"
expect "covey hosts shows a drain, and that it is taken back" shown
expect "a host that is drained gets no task but by its name" placed
expect "words that are wrong have an error of one line" wrong_words
expect "a bag whose time is over goes into a file, and on in another VM: each result once" over
expect "files that are cut off or damaged are refused" bad_files
if command -v strace >/dev/null; then
    expect "who is killed while saving a bag leaves it, and a file that says so" killed
else
    skip "who is killed while saving a bag leaves it, and a file that says so" "there is no strace"
fi
expect "a host whose daemon is ended loses no item" preempted
expect "--until and COVEY_UNTIL" until_then
expect "a host that is withheld gets no task but by its name" withheld
finish
