#!/bin/bash
# timeout: 180
# Debian's programs of PVM, as they were built for PVM's own libraries, by library path alone: the
# examples, a timetable by tablix2, NetPIPE, and the module of S-Lang; on one host, and some on
# three. Where they are not installed there is nothing to run.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

if sanitized "$BUILD/pvm3/libpvm3.so" || nm -D "$BUILD/pvm3/libpvm3.so" 2>/dev/null | grep -q '__[at]san'; then
    skip "Debian's programs" "they cannot load a library with a sanitizer"
    finish
fi
export LD_LIBRARY_PATH=$BUILD/pvm3 PVM_WD=$dir

# Ends whatever goes wrong: some examples print without end when there is no input.
# The first word of what it is called is the program that must be installed.
prints() { # what, the line as a regular expression, program...
    local name=$1 line=$2
    shift 2
    if ! command -v "$1" >/dev/null || ! command -v "${name%% *}" >/dev/null; then
        skip "$name" "${name%% *} is not installed"
        return
    fi
    (cd "$dir" && timeout 30 "$@" 2>&1) | head -c 1000000 >"$dir/printed"
    if grep -qE "$line" "$dir/printed"; then
        ok "$name"
    else
        tail -n 15 "$dir/printed" | cut -c1-200
        bad "$name" "no line like '$line'"
    fi
}

examples() {
    prints "hello.pvm ($1)" '^from t[0-9a-f]+: hello, world from ' hello.pvm
    prints "master1 ($1)" '^I got [0-9.]+ from 0; \(expecting' master1
    prints "gexamp ($1)" '^gexamp 0: sync' gexamp 4
    prints "ge ($1)" '^done' ge 4
    prints "thb ($1)" '^done' thb 4
    prints "tst ($1)" 'left prognosis' tst
    prints "joinleave ($1)" '^Joined 200 times' joinleave 200
    prints "hitc ($1)" 'Program Finished' hitc
    prints "inherita ($1)" 'END - sent from inherit1' inherita inherit1
    prints "inheritb ($1)" '^5:inheritb' inheritb
    prints "timing ($1)" '^done' timing
    prints "fmaster1 ($1)" 'SUCCESSFUL' bash -c 'echo 3 | fmaster1'
    prints "gexample ($1)" 'The 1-Norm is 820' bash -c 'printf "40\n4\n" | gexample'
    prints "fgexample ($1)" 'The 1-Norm is +5050' bash -c 'printf "10\n3\n" | fgexample'
    prints "trsg ($1)" 'Sum of Squares of first 30 integers is 9455' bash -c 'printf "3\n10\n" | trsg'
    prints "frsg ($1)" 'Sum of Squares of first +30 +integers is +9455' bash -c 'printf "3\n10\n" | frsg'
}

# Several tasks that the console starts; it ends when one of them has printed the line.
together() { # what, number of tasks, line, program
    command -v "$4" >/dev/null || { skip "$1" "$4 is not installed"; return; }
    mkfifo "$dir/commands"
    (cd "$dir" && exec timeout 30 "$BUILD/pvm3/pvm") <"$dir/commands" >"$dir/said" 2>&1 &
    local console=$!
    exec 7>"$dir/commands"
    rm "$dir/commands"
    echo "spawn -$2 -> $4" >&7
    if within 20 grep -qE "$3" "$dir/said"; then ok "$1"; else tail -n 15 "$dir/said"; bad "$1" "no line like '$3'"; fi
    exec 7>&-
    wait $console
}

mailboxes() {
    command -v task0 >/dev/null || { skip "task0 and task1" "task0 is not installed"; return; }
    (cd "$dir" && exec timeout 15 task0 svc m) >"$dir/task0" 2>&1 &
    local server=$!
    within 10 lists_service
    prints "gmbi lists a service" 'class name: <svc>' gmbi
    prints "task1 is the service's first" 'you are service request number 1' task1 svc
    prints "task1 is the service's second" 'you are service request number 2' task1 svc
    kill $server 2>/dev/null
    wait $server 2>/dev/null
}
lists_service() { gmbi | grep -q 'class name: <svc>'; }

timetable() {
    cp tests/pvm3/timetable.xml "$dir"
    prints "tablix2 makes a timetable" 'All results were received' tablix2 -n 2 -d 3 -t 1 timetable.xml
    command -v tablix2 >/dev/null && expect "and it is a good one" grep -q 'fitness="0"' "$dir/result0.xml"
}

netpipe() {
    command -v NPpvm >/dev/null || { skip "NPpvm" "it is not installed"; return; }
    (cd "$dir" && exec timeout 30 NPpvm -u 10000 -n 10) >/dev/null 2>&1 &
    local other=$!
    sleep 0.5 # it takes the two tasks that there are
    prints "NPpvm measures" '8195 bytes .* Mbps in' NPpvm -h h0 -u 10000 -n 10
    kill $other 2>/dev/null
    wait $other 2>/dev/null
}

slang() {
    local from=/usr/share/doc/slang-pvm/examples
    command -v slsh >/dev/null && [ -e $from/hello_master ] ||
        { skip "S-Lang's module" "slang-pvm or slsh is not installed"; return; }
    cp $from/* "$dir" && chmod +x "$dir"/*master "$dir"/*slave
    sed -i 's/"pirx"/"h0"/' "$dir/hello_master"
    prints "slsh runs hello_master" '^here says Hello World' env HOST=here PVM_EXPORT=HOST ./hello_master
    prints "slsh runs master" '^hostname \[exit 0\]' env ./master hostname 3
}

# The sources of the examples, as they are. starter.c compiles with PVM's headers no more than with ours.
sources() {
    local archive=/usr/share/doc/pvm-examples source said
    [ -e $archive/examples.tar.gz ] || { skip "the examples' sources" "pvm-examples is not installed"; return; }
    tar -C "$dir" -xzf $archive/examples.tar.gz && tar -C "$dir" -xzf $archive/gexamples.tar.gz
    said=
    for source in "$dir"/examples/*.c "$dir"/gexamples/*.c; do
        case $source in */starter.c) continue ;; esac
        ${CC:-cc} -w -std=gnu89 -Ilib/pvm3/include -fsyntax-only "$source" 2>&1 || said=failed
    done
    expect "the examples in C compile unchanged" test -z "$said"
    command -v gfortran >/dev/null || return
    for source in "$dir"/examples/*.f "$dir"/gexamples/*.f; do
        gfortran -w -std=legacy -Ilib/pvm3/include -fsyntax-only "$source" 2>&1 || said=failed
    done
    expect "the examples in Fortran compile unchanged" test -z "$said"
}

sources
covey start --local 1 >/dev/null || bad "a virtual machine starts"
examples "one host"
together spmd 4 'token ring done' spmd
together fspmd 3 'token ring done' fspmd
for test in dbwtest ibwtest pbwtest rbwtest; do
    together $test 2 '100000 doubles received correctly' $test
done
mailboxes
timetable
netpipe
slang
covey halt >/dev/null

covey start --local 3 >/dev/null || bad "a virtual machine of three hosts starts"
examples "three hosts"
together "spmd on three hosts" 6 'token ring done' spmd
finish
