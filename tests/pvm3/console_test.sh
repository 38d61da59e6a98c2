#!/bin/bash
# console_test.sh - the pvm console says what PVM's says, on a virtual machine that it starts itself.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
export COVEYD=$BUILD/coveyd HOME=$dir
unset PVM_ROOT PVM_ARCH PVM_PATH PVM_WD PVM_EXPORT PVM_VMID

# Lines to the console, and what it says but for the lines themselves.
console() { # LINE...
    printf '%s\n' "$@" | timeout 300 "$BUILD/pvm3/pvm" "${arguments[@]}" 2>&1 | grep -v '^pvm> $'
}
arguments=()
# The console says this line when it is given these ones.
says() { # LINE, LINES of input...
    local line=$1
    shift
    console "$@" >"$dir/said"
    grep -qE -- "$line" "$dir/said" || { cat "$dir/said" && return 1; }
}

# So does a console that stays until it has said it, of a job that takes as long as it takes.
comes() { # LINE, LINES of input...
    local line=$1 console result
    shift
    rm -f "$dir/commands"
    mkfifo "$dir/commands"
    LD_LIBRARY_PATH=$BUILD/pvm3:$BUILD timeout 300 "$BUILD/pvm3/pvm" <"$dir/commands" >"$dir/said" 2>&1 &
    console=$!
    exec 7>"$dir/commands"
    printf '%s\n' "$@" >&7
    within 30 grep -qE -- "$line" "$dir/said" || { cat "$dir/said" && false; }
    result=$?
    exec 7>&-
    wait $console
    return $result
}

printf 'alias two spawn -2 ->\nsetenv COLOUR blue\n' >"$HOME/.pvmrc"
printf '# one more\n* sp=2000\nb launcher=local address=127.0.0.1\n' >"$dir/hosts"
arguments=(-na "$dir/hosts")
begins() {
    says '^ +a +40000 +[A-Z0-9]+ +1000 0x[0-9a-f]{8}$' conf && grep -qE '^ +b +80000 +[A-Z0-9]+ +2000 ' "$dir/said" &&
        grep -qxF '2 hosts, 1 data format' "$dir/said" && grep -qx 'pvmd still running.' "$dir/said"
}
expect "it begins a virtual machine with a name and a host file" begins
arguments=()
expect "it finds the one that runs" says '^pvmd already running\.$' id
expect "the architecture that pvmgetarch prints" says "^ +a +40000 +$("$BUILD/pvm3/pvmgetarch") +1000 " conf
expect "its own tid" says '^t40[0-9a-f]{3}$' id
expect "the version" says '^3\.4\.6$' version
expect "a host is there" says '^ +b  ok$' 'mstat b'
expect "a host is not there" says '^ +nohost  No such host$' 'mstat nohost'

runs_job() {
    comes '\[1\] finished' 'spawn -2 -> /bin/echo one two' && grep -qE '^(pvm> )?\[1\]$' "$dir/said" && grep -qE '^(pvm> )?2 successful$' "$dir/said" &&
        [ "$(grep -cE '^(pvm> )?\[1:t(4|8)0[0-9a-f]{3}\] one two$' "$dir/said")" = 2 ] &&
        [ "$(grep -cE '^(pvm> )?\[1:t(4|8)0[0-9a-f]{3}\] EOF$' "$dir/said")" = 2 ]
}
expect "a job writes to the console" runs_job
# what a program asks that is master and slave in one
masters() { comes '^(pvm> )?\[1:t[48]0[0-9a-f]{3}\] its parent < 0: -35$' "spawn -> $BUILD/tests/pvm3/task end"; }
expect "who asks for its parent has none" masters
on_host() { comes '\[1:t80[0-9a-f]{3}\] /$' 'spawn -b:/ -> /bin/pwd'; }
expect "on a host, in a folder" on_host
to_file() {
    comes '\[1\] finished' "spawn ->$dir/out /bin/echo first" && comes '\[1\] finished' "spawn ->>$dir/out /bin/echo second" || return 1
    { grep -qE '^\[1:t[0-9a-f]+\] first$' "$dir/out" && grep -qE '^\[1:t[0-9a-f]+\] second$' "$dir/out"; } ||
        { cat "$dir/said" "$dir/out" && false; }
}
expect "a job writes to a file" to_file
expect "but not over one" says "^$dir/out: File exists\$" "spawn ->$dir/out /bin/echo third"
expect "an alias of ~/.pvmrc, and quotes" comes '\[1:t[0-9a-f]+\] a  b$' "two /bin/echo 'a  b'"
expect "a variable of ~/.pvmrc" says '^blue$' 'setenv COLOUR'
exports() { comes '\[1:t[0-9a-f]+\] COLOUR=blue$' 'export COLOUR' 'spawn -> /usr/bin/env'; }
expect "and tasks get it that is exported" exports
expect "a program that is not there" says '^No such file$' 'spawn no-such-program'
expect "tasks are listed" says '^ +[ab] +[48]0[0-9a-f]{3} +6/c,f /bin/sleep  $' 'spawn /bin/sleep 20' 'ps -a'
tid=$(sed -n 's/^t\([48]0[0-9a-f]*\)$/\1/p' "$dir/said")
expect "one of them runs" says "^t +$tid  run\$" "pstat t$tid"
expect "is listed with its parent and process" says "^ +[ab] +$tid +40[0-9a-f]{3} +[0-9]+ +6/c,f /bin/sleep  \$" 'ps -al'
ended() { says "^t +$tid  No such task\$" "pstat $tid"; }
gone() { console "sig 15 t$tid" >/dev/null && within 5 ended; }
expect "and ends by a signal" gone
resets() {
    console 'spawn -3 /bin/sleep 20' reset >/dev/null
    within 5 no_tasks
}
no_tasks() { ! console 'ps -a' | grep sleep; }
expect "reset ends all tasks" resets
boxes() { says '^<box>:$' 'put box 1' names && grep -qE '^	index=0 owner=0x[0-9a-f]+/[0-9]+ flags=0x1$' "$dir/said"; }
expect "mailboxes have names" boxes
traced() { # EVENTS..., as the console lists those that are traced
    [ "$(grep -oE '\* [a-z_]+' "$dir/said" | tr -d '*\n')" = "$(printf ' %s' "$@")" ]
}
masks() {
    says '^   addhosts           gettid             pkfloat            setopt         $' 'trace - *' 'trace + pvm_send recv nothing' trace &&
        grep -qx 'no such event "nothing"' "$dir/said" && traced recv send
}
expect "the mask of what is traced" masks
expect "and what it begins with" says '^ \* addmhf             gettmask           pkint              setrbuf        $' trace
expect "how it is traced" says '^Trace Options set to "count"$' 'trace opt count' 'trace opt'
expect "and with how large a buffer" says '^Trace Buffering set to 1000 bytes$' 'trace buf 1000' 'trace buf'
expect "an option" says '^PvmRoute Changed from [0-9] to 3$' 'setopt PvmRoute 3'
expect "all options" says '^PvmNoReset Currently Set to 1$' getopt
expect "one that there is not" says '^PVM Option "PvmSpeed" Unknown\.$' 'getopt PvmSpeed'
expect "a command that there is not" says '^bogus: not found$' bogus
expect "too few words" says '^kill: wrong #args$' kill
expect "a quote that is not closed" says '^a quote is not closed' "echo 'a"
expect "a tid that is none" says '^kill: x9: not a tid$' 'kill x9'
expect "help" says '^Syntax:  spawn ' 'help spawn'
expect "the mask of the log is kept" says '^(pvm> )?\( 3 \)$' 'tickle 6 3' 'tickle 5'
expect "a number that is none" says '^tickle: x: not a number$' 'tickle x'
expect "a host is let go" says '^ +b  deleted$' 'delete b'
halts() {
    console halt >/dev/null
    within 5 no_daemons
}
no_daemons() { [ -z "$(daemons)" ]; }
expect "halt ends the virtual machine" halts
no_option() { "$BUILD/pvm3/pvmd" -q 2>"$dir/said"; [ $? = 2 ] && grep -q '^usage: pvmd' "$dir/said"; }
expect "pvmd refuses an option that it does not know" no_option
gives() { # seconds, environment...
    mkdir -p "$dir/fake/bin"
    cp "$BUILD/pvm3/pvmd" "$dir/fake/bin"
    printf '#!/bin/sh\necho "$@"\n' >"$dir/fake/covey"
    chmod +x "$dir/fake/covey"
    env "${@:2}" "$dir/fake/bin/pvmd" | grep -q -- "--fail-timeout $1\>"
}
expect "pvmd gives a silent host a minute" gives 60
expect "or what it is told to" gives 9.5 PVM_FAIL_TIMEOUT=9.5
no_file() { "$BUILD/pvm3/pvmd" "$dir/none" 2>"$dir/said"; [ $? = 1 ] && grep -q 'no such host file' "$dir/said"; }
expect "and a host file that is not there" no_file
refuses() { # line, word or NAME=VALUE...
    env "${@:2}" "$BUILD/pvm3/pvmd" "${word[@]}" >"$dir/said" 2>&1
    [ $? = 2 ] && grep -qxE -- "$1" "$dir/said" || { cat "$dir/said" && return 1; }
}
long=$(printf '%064d' 0)
for name in 'bad name' -x "$long"; do
    word=(-n"$name")
    expect "pvmd names its own option: ${name:0:9}" refuses "pvmd: -n$name: not a host name"
done
word=()
for time in never 0 86401 1.2.3; do
    expect "and its own variable: $time" refuses "pvmd: PVM_FAIL_TIMEOUT=$time: must be seconds, .*" PVM_FAIL_TIMEOUT=$time
done

# A host that does not join is no reason to be without the others.
lacks_one() {
    printf 'c launcher=local address=127.0.0.1 dx=%s/none\n' "$dir" >"$dir/one.lacks"
    arguments=("$dir/one.lacks")
    says '^1 host, 1 data format$' conf
    local result=$?
    arguments=()
    grep -q '^covey: c: did not join' "$dir/said" && [ $result = 0 ] && console halt >/dev/null && within 5 no_daemons
}
expect "it begins without a host that does not join" lacks_one

# PVM begins on a host that is not on any network.
alone() { # program
    unshare --net sh -c 'ip link set lo up && echo conf | "$0" && covey hosts' "$1" >"$dir/said" 2>&1
    grep -q ' 127\.0\.0\.1:' "$dir/said" || { cat "$dir/said" && return 1; }
    covey halt && within 5 no_daemons
}
if unshare --net true 2>/dev/null; then
    expect "pvm begins where only the loopback has an address" alone "$BUILD/pvm3/pvm"
    expect "pvmd likewise" alone "$BUILD/pvm3/pvmd"
else
    skip "pvm where only the loopback has an address" "it needs a network namespace"
fi
group_server() { "$BUILD/pvm3/pvmgs" | grep -qx 'pvmgs: groups need no server here'; }
expect "pvmgs says that it is not needed" group_server
finish
