#!/bin/bash
# class_test.sh - two classes on one network: teachers and students on laptops of their own, each an ordinary user
# without any privilege, all joined to one switch. No ssh, no host names, no address is typed.
# timeout: 240
#
# A lab of ten hosts: h1 and h2 are the teachers' laptops, h3 to h10 the students'. On each another user runs
# everything.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh

BUILD=$(realpath "${BUILD:-build}")
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-lab-class.XXXXXX")
chmod 755 "$work"
export LAB=class-$$
unset COVEY_SOCKET COVEY_ROUTE COVEY_VM XDG_RUNTIME_DIR XDG_CONFIG_HOME COVEYD
lab=$PWD/tests/lab/lab

tidy() {
    "$lab" down
    rm -rf "$work"
}
if [ "$(id -u)" != 0 ] || ! unshare --net --uts --mount true 2>/dev/null; then
    skip "two classes in a lab" "needs root and namespaces"
    rm -rf "$work"
    finish
fi
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A user may not be able to read the folder of the build.
mkdir -m 755 "$work/bin"
cp "$BUILD"/covey "$BUILD"/coveyd "$BUILD"/covey-measure "$work/bin" || exit 1
"$lab" up --hosts 10 || exit 1

# Runs a command on a host as its user: 20001 on h1, and so on, with no group, capability or directory of others.
as() { # host, command...
    local host=$1 user=$((20000 + ${1#h}))
    shift
    [ -d "$work/$host" ] || { mkdir -m 700 "$work/$host" && chown "$user:$user" "$work/$host"; }
    "$lab" exec "$host" setpriv --reuid $user --regid $user --clear-groups --inh-caps=-all --bounding-set=-all \
        --no-new-privs env -i PATH="$work/bin:/usr/bin:/bin" HOME="$work/$host" XDG_RUNTIME_DIR="$work/$host" \
        timeout 100 "$@"
}
says() { # pattern of a line, command...
    "${@:2}" >"$work/out" 2>&1
    grep -qE -- "$1" "$work/out" || { tail -n 5 "$work/out" && false; }
}
leaves() { # name of h3's host: and waits until its daemon has ended
    as h3 covey remove "$1" >/dev/null 2>&1
    within 20 h3_has_left
}
h3_has_left() { ! as h3 covey hosts; }
code_of() { as "$1" covey class | sed -n 's/^code //p'; }
hosts_up() { [ "$(as "$1" covey hosts --json | grep -c '"state": "up"')" = "$2" ] || { as "$1" covey hosts && false; }; }

expect "nobody here has a privilege" says '^CapEff:.*0000000000000000$' as h3 grep CapEff /proc/self/status
expect "a teacher opens a class" says '^code [A-Z]+-[0-9]{4}$' as h1 covey start --as desk --class
expect "another one, too" says '^code [A-Z]+-[0-9]{4}$' as h2 covey start --as lectern --class
one=$(code_of h1) two=$(code_of h2)
echo "codes: $one, $two"

# All students at once; odd ones are of the first class. All laptops are called alike.
begun=$(date +%s%N)
for i in 3 4 5 6 7 8 9 10; do
    code=$one
    [ $((i % 2)) = 0 ] && code=$two
    as h$i covey join --code "$code" --as laptop >"$work/out.h$i" 2>&1 &
    pids[i]=$!
done
bad=0
for i in 3 4 5 6 7 8 9 10; do wait "${pids[i]}" || { bad=$((bad + 1)) && sed "s/^/h$i: /" "$work/out.h$i"; }; done
echo "eight students joined two classes in $((($(date +%s%N) - begun) / 1000000)) ms"
expect "eight students join at once" test $bad = 0
expect "the first class has five hosts" hosts_up h1 5
expect "the second class has five hosts" hosts_up h2 5
teacher_of() { sed -n 's/.* of the class on //p' "$work/out.$1"; }
expect "the odd ones are in the first" test "$(for i in 3 5 7 9; do teacher_of h$i; done | uniq)" = desk
expect "the even ones are in the second" test "$(for i in 4 6 8 10; do teacher_of h$i; done | uniq)" = lectern
expect "neither class lost a try" test -z "$(as h1 covey class | grep wrong; as h2 covey class | grep wrong)"

# In a class all can be reached from all.
everywhere() { as "$1" env -C / covey run -n 5 sh -c 'echo "$COVEY_SOCKET"' | sort -u | grep -c sock; }
expect "tasks run on all hosts of the first class" test "$(everywhere h1)" = 5
expect "a student starts tasks on them, too" test "$(everywhere h5)" = 5

own=$(sed -n 's/ joined VM.*//p' "$work/out.h3")
comes_back() {
    leaves "$own"
    says "joined VM default of the class on desk" as h3 covey join --code "$one" || return
    own=$(sed -n 's/ joined VM.*//p' "$work/out")
}
expect "who has left joins again" comes_back
quickly() { # once, for the machine may be busy
    local begun took_ms _
    for _ in 1 2 3 4 5; do
        begun=$(date +%s%N)
        comes_back || return
        took_ms=$((($(date +%s%N) - begun) / 1000000))
        echo "leaving and joining took $took_ms ms"
        [ $took_ms -ge 5000 ] || return 0
    done
    return 1
}
expect "in less than 5 s" quickly

# Three wrong codes from the network; the student's old code is no try of the new one.
wrong=${one%-*}-$(printf '%04d' $(((10#${one##*-} + 1) % 10000)))
leaves h3
for _ in 1 2 3; do as h3 covey join --code "$wrong" >>"$work/wrong" 2>&1; done
expect "three wrong codes do not join" test "$(grep -c 'the code is wrong' "$work/wrong")" = 3
expect "the class has another code" test "$(code_of h1)" != "$one"
expect "the other class has the same one" test "$(code_of h2)" = "$two"
expect "the void code finds no class" says 'no class with this code answers' as h3 covey join --code "$one"
expect "the new one does" says 'joined VM' as h3 covey join --code "$(code_of h1)"

# A class may be on any host: the launcher runs where the VM is coordinated, and finds it by a message.
leaves h3
as h1 covey class close >/dev/null
no_class() { as h1 covey class | grep -q 'has no class' || ! as h1 covey class >/dev/null 2>&1; }
expect "the teacher closes the class" within 10 no_class
expect "a host that does not coordinate opens it" says '^code ' as h5 covey class open
expect "its students join" says 'joined VM default of the class on laptop' as h3 covey join --code "$(code_of h5)"
expect "any host shows its code" test "$(code_of h1)" = "$(code_of h5)"
as h5 covey class close >/dev/null
expect "and closes it" within 10 no_class
expect "the teacher opens it again" says '^code ' as h1 covey class open

# Where a network drops broadcasts, the teacher's address is enough.
leaves h3
"$lab" exec h1 nft 'add table inet class; add chain inet class in { type filter hook input priority 0; }; add rule inet class in udp dport 26839 drop' ||
    skip "without broadcasts" "needs nft"
expect "without broadcasts no class answers" says 'no class with this code answers' as h3 covey join --code "$(code_of h1)"
expect "by the teacher's address the class is joined" says 'joined VM' \
    as h3 covey join --code "$(code_of h1)" --at "$("$lab" addr h1 4)"
as h1 covey halt
as h2 covey halt
nothing_left() { [ -z "$("$lab" ps | grep -E 'coveyd|class serve')" ]; }
expect "nothing is left" within 15 nothing_left
finish
