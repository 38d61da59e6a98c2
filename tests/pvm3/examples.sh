# examples.sh - to be sourced by a suite that runs Debian's programs of PVM, as they were built for
# PVM's own libraries, by library path alone. Each is a test, and skipped where it is not installed.
# The suite has a virtual machine, and $dir for what they write.
#
#   loads_into_programs     whether these programs can load the library; otherwise the suite ends
#   examples WHERE          those that run by themselves; WHERE goes into the names of the tests
#   together NAME N LINE PROGRAM    N tasks that the console starts, until one has printed LINE
#   mailboxes, handlers, timetable  the programs that need more
#   slang HOST                      HOST is one to spawn on
#   netpipe HOST [COMMAND...]       NetPIPE with its other end on HOST, where COMMAND runs it
export LD_LIBRARY_PATH=$BUILD/pvm3 PVM_WD=$dir

loads_into_programs() {
    sanitized "$BUILD/pvm3/libpvm3.so" || nm -D "$BUILD/pvm3/libpvm3.so" 2>/dev/null | grep -q '__[at]san' || return
    skip "Debian's programs" "they cannot load a library with a sanitizer"
    finish
}

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
    prints "gs.pvm ($1)" '^all met' bash -c 'gs.pvm 4 2>/dev/null && echo all met'
    prints "tjf ($1)" '^joined group31' tjf
    prints "tjl ($1)" '^joined group31' tjl
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
    # its own first sum begins with a variable that nobody sets; the second is the one of pvmfreduce()
    prints "frsg ($1)" '(Sum of Squares of first +30 +integers is|by Sum2 as) +9455' bash -c 'printf "3\n10\n" | frsg'
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

lists() { gmbi | grep -qE "class name: <$1>"; } # mailbox

mailboxes() {
    command -v task0 >/dev/null || { skip "task0 and task1" "task0 is not installed"; return; }
    (cd "$dir" && exec timeout 15 task0 svc m) >"$dir/task0" 2>&1 &
    local server=$!
    within 10 lists svc
    prints "gmbi lists a service" 'class name: <svc>' gmbi
    prints "task1 is the service's first" 'you are service request number 1' task1 svc
    prints "task1 is the service's second" 'you are service request number 2' task1 svc
    prints "task_end ends it" '^service name <svc> of index 0' task_end svc 0
    wait $server
    expect "task0 has ended" grep -q 'handled 3 service requests' "$dir/task0"
    prints "lmbi leaves entries" 'flags 1 = PvmMboxPersistent' lmbi 2 p e
    local entry
    entry=$(gmbi | sed -n 's/.*class name: <\(t[0-9a-f]*lmbi0\)>.*/\1/p')
    prints "rme may not remove one" 'Key locked by another task' rme "$entry" 0
}

handlers() {
    command -v mhf_server >/dev/null || { skip "mhf_server" "it is not installed"; return; }
    (cd "$dir" && exec timeout 15 mhf_server) >"$dir/mhf_server" 2>&1 &
    local server=$!
    within 10 lists mhf_server
    prints "mhf_tickle sends to handlers" '^mhf_tickle: SEAT' bash -c 'printf "0\n9\n" | mhf_tickle'
    wait $server
    expect "mhf_server shows nine" grep -qF 'dhandles[ 8].mhid =  8' "$dir/mhf_server"
}

timetable() {
    cp tests/pvm3/timetable.xml "$dir"
    prints "tablix2 makes a timetable" 'All results were received' tablix2 -n 2 -d 3 -t 1 timetable.xml
    command -v tablix2 >/dev/null && expect "and it is a good one" grep -q 'fitness="0"' "$dir/result0.xml"
}

netpipe() { # host, command...
    command -v NPpvm >/dev/null || { skip "NPpvm" "it is not installed"; return; }
    (cd "$dir" && exec timeout 30 "${@:2}" NPpvm -u 10000 -n 10) >/dev/null 2>&1 &
    local other=$!
    within 10 receiver_there # it takes the two tasks that there are
    prints "NPpvm measures" '8195 bytes .* Mbps in' NPpvm -h "$1" -u 10000 -n 10
    kill $other 2>/dev/null
    wait $other 2>/dev/null
}
receiver_there() { covey ps | grep -q NPpvm; }

slang() { # the first host's name
    local from=/usr/share/doc/slang-pvm/examples
    command -v slsh >/dev/null && [ -e $from/hello_master ] ||
        { skip "S-Lang's module" "slang-pvm or slsh is not installed"; return; }
    cp $from/* "$dir" && chmod +x "$dir"/*master "$dir"/*slave
    sed -i 's/"pirx"/"'"$1"'"/' "$dir/hello_master"
    prints "slsh runs hello_master" '^here says Hello World' env HOST=here PVM_EXPORT=HOST ./hello_master
    prints "slsh runs master" '^hostname \[exit 0\]' env ./master hostname 3
}
