#!/bin/bash
# class_test.sh - a class on this machine, by real sockets: students join by its code and nobody else does,
# two classes do not mix, wrong codes are counted, strangers' bytes keep nobody out, and all ends with the VM.
# timeout: 240
#
# Each student has a runtime directory of his own, as a user of his own would.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/local_vm.sh
. tests/local_vm.sh
guess=$BUILD/tests/tool/class_guess
port=$((20000 + $$ % 10000))
teacher=$COVEY_VM

students=()
student() { # name: makes its directory
    mkdir -p "$dir/$1" && chmod 700 "$dir/$1" && students+=("$1")
}
as() { # student, command...
    XDG_RUNTIME_DIR=$dir/$1 timeout 100 "${@:2}"
}
tidy_class() {
    covey --vm "$teacher" halt >/dev/null 2>&1
    covey --vm "$teacher-b" halt >/dev/null 2>&1
    [ -n "${idler:-}" ] && kill "$idler" 2>/dev/null
}
trap 'case $BASHPID in $$) tidy_class; rm -rf "$dir" ;; esac' EXIT

says() { # status, pattern of a line that is said, command or function...
    local status
    "${@:3}" >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
    [ $status -eq "$1" ] && cat "$dir/out" "$dir/err" | grep -qE -- "$2" && return
    echo "${*:3}: status $status, said:" && tail -n 5 "$dir/out" "$dir/err" && false
}
code_of() { covey --vm "${1:-$teacher}" class | sed -n 's/^code //p'; }
tcp_of() { covey --vm "$teacher" class | sed -n 's/.*TCP port \([0-9]*\);.*/\1/p'; }
hosts_of() { covey --vm "${1:-$teacher}" hosts --json | grep -c '"state": "up"'; }
are_up() { [ "$(hosts_of "$2")" = "$1" ]; }
has_hosts() { within 10 are_up "$@" || { covey --vm "$2" hosts && false; }; } # one that is slow to answer is a suspect for a moment
least_ms=999999
timed() { # command...: least_ms is of the quickest; a machine that is busy for a moment says nothing
    local begun status ms
    begun=$(date +%s%N)
    "$@"
    status=$?
    ms=$((($(date +%s%N) - begun) / 1000000))
    [ $ms -ge $least_ms ] || least_ms=$ms
    return $status
}
other_than() { # a code with the same word
    local digits=${1##*-}
    printf '%s-%04d\n' "${1%-*}" $(((10#$digits + 1) % 10000))
}

# ---- what is typed ------------------------------------------------------------------------------

expect "no VM: no class" says 1 'no VM named' covey class
expect "a code is needed" says 2 'code is missing' covey join
expect "what is no code is refused" says 2 'a word and four digits' covey join --code MAPLE
expect "a word that no code has is found out at once" says 1 'no code has this word' covey join --code MAPEL-1234
expect "a name that is none is refused" says 2 'not a host name' covey join --code MAPLE-1234 --as -x
expect "an address that is none is refused" says 1 'no such address' covey join --code MAPLE-1234 --at '[::'
expect "virtual hosts are no class" says 2 'no other machine reaches' covey start --local 2 --class
expect "serve and bring are no commands of a user" says 2 'for Covey itself' covey class bring 1

# ---- one class ----------------------------------------------------------------------------------

expect "covey start --class starts a VM and prints a code" \
    says 0 '^code [A-Z]+-[0-9]{4}$' covey start --loopback --as desk --class
expect "it is closed again" says 0 'the class is closed' covey class close
ended() { ! covey class >/dev/null 2>&1; }
expect "then there is no class" within 10 ended
expect "what has a class shows no other" says 1 'has no class' covey class watch
expect "covey class open opens one, at another port" says 0 "UDP port $port" covey class open --port $port
code=$(code_of)

student anna
expect "the right code joins" says 0 "anna joined VM $teacher of the class on desk" \
    timed as anna covey join --code "$code" --port $port --as anna
expect "the student sees the VM" as anna covey --vm "$teacher" hosts
expect "there are two hosts" has_hosts 2 "$teacher"
expect "the class knows who joined" says 0 '^joined: 1: anna$' covey class
student nobody
expect "a coveyd that does not run is named" says 1 'coveyd has ended|cannot run' \
    as nobody env COVEYD=/bin/false covey join --code "$code" --port $port --as nobody
expect "and leaves no host" has_hosts 2 "$teacher"
expect "once is enough" says 1 'runs on this machine already' as anna covey join --code "$code" --port $port

# shellcheck disable=SC2016 # it is the task's
expect "a program runs on the student's host" says 0 '^anna$' \
    covey run -n 1 --host anna sh -c 'basename "${COVEY_SOCKET%.sock}"'

# Laptops of a class are called alike, and come all at once; the code is typed in any way.
typed=$(echo "$code" | tr 'A-Z-' 'a-z ')
for i in 1 2 3 4 5 6; do
    student "s$i"
    as "s$i" covey join --code "$typed" --port $port --as ubuntu >"$dir/out.s$i" 2>&1 &
    pids[i]=$!
done
failures=0
for i in 1 2 3 4 5 6; do wait "${pids[i]}" || { cat "$dir/out.s$i"; failures=$((failures + 1)); }; done
expect "six at once, all with one name, join" test $failures = 0
expect "each has a name of its own" test "$(sort -u "$dir"/out.s* | grep -c '^ubuntu.* joined')" = 6
expect "there are eight hosts" has_hosts 8 "$teacher"

own=$(sed -n 's/ joined VM.*//p' "$dir/out.s1") # who came first is called ubuntu, the others ubuntu-2 and so on
expect "a student leaves by himself" says 0 "^$own removed" as s1 covey --vm "$teacher" remove "$own"
has_left() { ! as s1 covey --vm "$teacher" hosts; }
expect "his daemon ends" within 20 has_left
expect "and comes again" says 0 'joined VM' timed as s1 covey join --code "$code" --port $port --as ubuntu
student at
expect "a class is joined by its address, too" says 0 'at joined VM' \
    timed as at covey join --code "$code" --at "127.0.0.1:$(tcp_of)" --as at

# ---- two classes on one network -----------------------------------------------------------------

second_class() {
    covey start --name "$teacher-b" --loopback --as desk-b && covey --vm "$teacher-b" class open --port $port
}
expect "a second class at the same port" says 0 "UDP port $port" \
    second_class
code_b=$(code_of "$teacher-b")
student boris && student carla
before=$(hosts_of "$teacher")
expect "its code leads to it" says 0 "boris joined VM $teacher-b of the class on desk-b" \
    timed as boris covey join --code "$code_b" --port $port --as boris
expect "the other's code leads to the other" says 0 "carla joined VM $teacher of the class on desk\$" \
    as carla covey join --code "$code" --port $port --as carla
expect "who joined quickest took less than 5 s ($least_ms ms)" test $least_ms -lt 5000
expect "the second has its own two hosts" has_hosts 2 "$teacher-b"
expect "the first has one more" has_hosts $((before + 1)) "$teacher"
not_there() { ! covey --vm "$2" hosts | grep -q "^$1 "; }
expect "boris is not in the first" not_there boris "$teacher"
expect "carla is not in the second" not_there carla "$teacher-b"
no_try_lost() { ! covey --vm "$1" class | grep -q 'wrong tries'; }
expect "the first lost no try" no_try_lost "$teacher"
expect "the second lost no try" no_try_lost "$teacher-b"
covey --vm "$teacher-b" halt

# ---- wrong codes --------------------------------------------------------------------------------

student dora
expect "a wrong code does not join" says 1 'the code is wrong' \
    as dora covey join --code "$(other_than "$code")" --port $port
expect "the class has counted it, once" says 0 'wrong tries of this code: 1 of 3; codes void: 0 of 10' covey class
tried() { # how many were: wrong, void, closed, in
    "$guess" guess "127.0.0.1:$(tcp_of)" "$(code_of)" 40 >>"$dir/tried" || echo "failed" >>"$dir/tried"
}
where=127.0.0.1:$(tcp_of)
"$guess" guess "$where" "$code" 40 >"$dir/first"
expect "two more void it, and 38 that come then are told so" grep -qx 'wrong 2 void 38 closed 0 in 0' "$dir/first"
expect "the code is another one" test "$(code_of)" != "$code"
expect "the void one is not taken for a wrong one" says 1 'no class with this code answers|has another code' \
    as dora covey join --code "$code" --port $port
expect "and costs no try" says 0 'codes void: 1 of 10' covey class
for i in 2 3 4 5 6 7 8 9 10; do tried; done
sums() { awk '{w += $2; v += $4; c += $6; i += $8} END {print w, v, c, i}' "$dir/first" "$dir/tried"; }
echo "wrong, void, closed, in: $(sums)"
expect "of 400 codes by real sockets 29 were compared, none got in" test "$(sums)" = "29 334 37 0"
expect "ten void codes close the class" says 0 'closed: somebody tried wrong codes' covey class
watched() { # until it has said so
    env --default-signal=INT covey class watch >"$dir/out" &
    local pid=$!
    within 20 grep -q 'a wrong code came from 127.0.0.1' "$dir/out" || { kill $pid; return 1; }
    kill -INT $pid
    wait $pid
}
expect "what went on is told" watched
expect "the teacher opens it again" says 0 '^code ' covey class open
expect "and the right code joins" says 0 'dora joined' as dora covey join --code "$(code_of)" --port $port --as dora

# ---- strangers ----------------------------------------------------------------------------------

coproc "$guess" idle "$where" 300
idler=$COPROC_PID
read -r -u "${COPROC[0]}" _
student emil
expect "300 connections that say nothing keep nobody out" says 0 'emil joined' \
    as emil covey join --code "$(code_of)" --port $port --as emil
kill "$idler"
wait "$idler" 2>/dev/null
idler=
expect "nor do 300 that say nonsense" "$guess" noise "$where" 300
student fritz
expect "the next one joins" says 0 'fritz joined' as fritz covey join --code "$(code_of)" --port $port --as fritz
expect "neither was taken for a try" no_try_lost "$teacher"

# ---- a recording --------------------------------------------------------------------------------

student greta
code=$(code_of)
coproc "$guess" tap 0 "$where" "$dir/recording"
tapper=$COPROC_PID
read -r -u "${COPROC[0]}" _ tap_port
expect "somebody joins through one who records" says 0 'greta joined' \
    as greta covey join --code "$code" --at "127.0.0.1:$tap_port" --as greta
wait "$tapper"
expect "the recording has neither the code nor the invitation" "$guess" reads "$dir/recording" "$code"

# ---- its end ------------------------------------------------------------------------------------

expect "a class that is open for a second closes" says 0 '^code ' covey class open --for 1
closed() { covey class | grep -q 'its time is over'; }
expect "by itself" within 5 closed
server_pid() { grep -lszF "serve" /proc/[0-9]*/cmdline 2>/dev/null | while read -r f; do
    { tr '\0' ' ' <"$f"; } 2>/dev/null | grep -qF -- "--vm $teacher class serve" && echo "$f"; done; }
expect "the class is a process beside the daemon" test -n "$(server_pid)"
covey halt
no_server() { [ -z "$(server_pid)" ]; }
no_socket() { [ -z "$(find "$dir" -name '*.sock')" ]; }
expect "which ends with the VM" within 10 no_server
expect "so do the students' daemons" within 10 no_socket
finish
