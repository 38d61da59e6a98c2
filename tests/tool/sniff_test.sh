#!/bin/bash
# sniff_test.sh - covey sniff on recordings and live, beside the dissector for Wireshark; its manual.
# timeout: 120
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-sniff-test.XXXXXX")
export COVEY_VM=sniff-$$ XDG_RUNTIME_DIR=$work/run XDG_CONFIG_HOME=$work/config COVEYD=$BUILD/coveyd
unset COVEY_SOCKET COVEY_ROUTE
mkdir -m 700 "$work/run" "$work/config"
PATH=$BUILD:$PATH
recordings=tests/fuzz/corpus/sniff

# Inside a network of its own that the suite made: a VM on its loopback, watched.
if [ "${1:-}" = --live ]; then
    trap 'rm -rf "$work"' EXIT
    ip link set lo up
    covey sniff lo --write "$2/live.pcap" >"$2/live" 2>"$2/error" &
    eye=$!
    captures() { awk '$6 == 1 { n = 1 } END { exit !n }' /proc/net/packet; } # of this network: a packet socket is in use
    within 10 captures || exit
    covey start --local 2 >/dev/null && covey run --host h1 true && covey sniff lo -c 1 --kind ping >"$2/ping"
    status=$?
    covey halt
    within 10 grep -q SHUTDOWN "$2/live" # packets wait in the kernel for a while
    kill $eye && wait $eye && exit $status
    exit
fi
trap 'rm -rf "$work"' EXIT

# ---- recordings: the same in text, JSON and the dissector -----------------------------------------

# Lines of JSON in the words of the dissector: the datagram's kind, "encrypted", the frames' kinds.
words() {
    sed -E 's/"encrypted": true/"kind": "encrypted"/; s/"kind": "stream"/"kind": ""/' |
        awk '{
            line = ""
            while (match($0, /"kind": "[^"]*"/)) {
                line = line " " substr($0, RSTART + 9, RLENGTH - 10)
                $0 = substr($0, RSTART + RLENGTH)
            }
            gsub(/^ +| +$/, "", line)
            print line
        }'
}
text_agrees() { # recording: as many lines, and every frame of the JSON has its word
    covey sniff --json "$1" | words | tr ' ' '\n' | grep '^[A-Z]' | sort >"$work/json"
    covey sniff "$1" | grep -oE '[ ,|] [A-Z_]{3,} t[0-9a-f]+>t' | tr -d ',|' | awk '{ print $1 }' | sort >"$work/text"
    diff "$work/json" "$work/text" && [ "$(covey sniff "$1" | wc -l)" -gt 4 ]
}
nothing_strange() { ! covey sniff "$1" | grep -E 'refused|unknown|lost'; }
dissector_agrees() {
    diff <(covey sniff --json "$1" | words) <(lua5.4 tests/tool/dissect.lua "$BUILD/covey.lua" "$1" | sed 's/; /\n/g')
}
wireshark_agrees() {
    tshark -X "lua_script:$BUILD/covey.lua" -r "$1" -T fields -e _ws.col.Info -Y "covey or covey_ether" \
        2>"$work/tshark" | sed 's/; /\n/g' >"$work/info"
    ! grep -i 'lua.*error' "$work/tshark" && diff <(covey sniff --json "$1" | words) "$work/info"
}
[ -n "$(ls $recordings/*.pcap)" ] || bad "there are recordings"
for file in "$recordings"/*.pcap; do
    name=$(basename "$file" .pcap)
    expect "$name: text and JSON show the same" text_agrees "$file"
    expect "$name: all is understood" nothing_strange "$file"
    if command -v lua5.4 >/dev/null; then
        expect "$name: the dissector finds the same" dissector_agrees "$file"
    else
        skip "$name: the dissector finds the same" "lua5.4 is not installed"
    fi
    if [ "$name" = encrypt ]; then
        : # segments that came twice are not given to dissectors
    elif command -v tshark >/dev/null; then
        expect "$name: Wireshark shows the same" wireshark_agrees "$file"
    else
        skip "$name: Wireshark shows the same" "tshark is not installed"
    fi
done

kinds_of() { covey sniff "$recordings/$1.pcap" | awk '{ print $7 }' | sort -u | tr '\n' ' '; }
has() { covey sniff "$recordings/$1.pcap" | grep -qE "$2"; }
expect "join: a handshake and heartbeats" test "$(kinds_of join)" = "challenge confirm data hello ping pong response welcome "
expect "join: who joins, and what it is told" has join "JOIN t80000>t40000 'h2'.*"
expect "join: names are learnt" has join "h1\(1\)>h2\(2\) data"
expect "halt: the end of the VM" has halt "SHUTDOWN t40000>t80000.*"
expect "tcp: the handshake of a stream" has tcp "t[0-9a-f]+>t[0-9a-f]+ stream-proof 16 bytes"
expect "tcp: messages" has tcp "stream [0-9]+ bytes \| DATA .* tag 1[0-9] message [0-9]+ size 24 .* last"
expect "ether: by MAC addresses" has ether "^[0-9:.]+ ether 02:77:00:00:00:01 > 02:77:00:00:00:02 \(1\)>\(2\) data"
expect "direct: between tasks" has direct "ether [0-9a-f:]+ > [0-9a-f:]+ t4[0-9a-f]+>t8[0-9a-f]+ data #0 "
expect "mcast: frames for several tasks" has mcast "MCAST .* to 2 tasks"
expect "loss: what is missing" has loss " ack [0-9]+-[0-9]+,[0-9]+"
expect "detour: of raw Ethernet, over UDP" has detour " udp .* \(1\)>\(2\) data #[0-9]+ [0-9]+ bytes detour .*DATA t"
expect "astray: what tasks would have sent straight" has astray "DETOUR t4[0-9a-f]+>t8[0-9a-f]+ #[0-9]+ of session"
nothing_said() { ! covey sniff "$recordings/encrypt.pcap" | grep -E '\| [A-Z]|stream [0-9]+\+'; }
expect "encrypt: nothing of what is said" nothing_said

# ---- filters ----------------------------------------------------------------------------------------

lines() { covey sniff "$@" | wc -l; }
join=$recordings/join.pcap mcast=$recordings/mcast.pcap
expect "-c 3" test "$(lines -c 3 "$join")" = 3
expect "--kind hello" test "$(covey sniff --kind hello "$join" | awk '{ print $7 }' | sort -u)" = hello
only_h3() { ! covey sniff --host "$1" "$join" | grep -vE '\(3\)|10\.77\.0\.3:' && [ "$(lines --host "$1" "$join")" -gt 3 ]; }
expect "--host by index" only_h3 3
expect "--host by address" only_h3 10.77.0.3
nobody() {
    covey sniff --host "$1" "$join" >"$work/out" 2>"$work/err"
    [ $? = 1 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep "no host $1 is known" "$work/err"
}
expect "--host of a name that nobody has" nobody h9
expect "--host of an index that nobody has" nobody 99
expect "--host of a name that is learnt" test "$(lines --host h2 "$join")" -gt 3
expect "--host of an address that says nothing" test "$(covey sniff --host 10.9.9.9 "$join" 2>&1 | wc -l)" = 0
expect "a filter of libpcap" test "$(covey sniff "$join" ip6 | grep -c ' udp \[fd77')" = "$(lines "$join" ip6)"
expect "--tid" test "$(covey sniff --tid t80001 "$mcast" | grep -vc t80001)" = 0
expect "--lane" test "$(lines --lane tcp "$mcast")" = 0
written() { # what is shown is written, and can be read again
    covey sniff --kind hello --write "$work/hellos.pcap" "$join" >"$work/hellos"
    diff <(covey sniff "$work/hellos.pcap" | cut -d' ' -f1-5) <(cut -d' ' -f1-5 "$work/hellos")
}
expect "--write" written
expect "from standard input" test "$(covey sniff - <"$join" | wc -l)" = "$(lines "$join")"

# ---- errors -------------------------------------------------------------------------------------------

complains() { # words, arguments: one line, and a failure
    local words=$1
    shift
    covey sniff "$@" >"$work/out" 2>&1 && echo "it succeeded" && return 1
    cat "$work/out"
    [ "$(wc -l <"$work/out")" = 1 ] && grep -qF -- "$words" "$work/out"
}
expect "no such file" complains "No such file" "$work/none/x"
expect "not a capture" complains "cannot read a capture from Makefile" Makefile
expect "no such kind" complains "'Hello' is no kind" --kind Hello "$join"
wrong_arguments() { covey sniff "$@" 2>"$work/out"; [ $? = 2 ]; }
expect "the status is 2 for wrong arguments" wrong_arguments --kind Hello "$join"
expect "a file is named once" complains "from $work/none/x: No such file" "$work/none/x"
expect "no such lane" complains "is no lane" --lane shm "$join"
expect "no tid" complains "is no tid" --tid x "$join"
expect "no number" complains "not a number of lines" -c x "$join"
expect "no filter" complains "the filter 'foo bar' is refused" "$join" foo bar
silent_cut() { head -c 3000 "$join" >"$work/cut.pcap" && covey sniff "$work/cut.pcap" 2>&1 >"$work/lines" | grep -q truncated && [ -s "$work/lines" ]; }
expect "a file cut short is read as far as it goes" silent_cut

# ---- the manual -----------------------------------------------------------------------------------------

# Lines of an example, with tids, figures, names and all frames but the first taken away: the form is left.
form() { sed -E "s/\\bt[0-9a-f]+\\b/T/g; s/, [A-Z_]+ T>T.*//; s/[0-9]+(\.[0-9]+)*/N/g; s/h?N?\(N\)/HOST/g; s/\?/HOST/g; s/'[^']*'/NAME/"; }
example_of_manual() { sed -n '/^\$ covey sniff -c/,/^\.Ed/p' tools/wire/covey-sniff.1 | grep '^[0-9]'; }
forms_are_real() {
    cat <(covey sniff "$join") <(covey sniff "$recordings/pingpong.pcap") <(covey sniff "$recordings/tcp.pcap") | form | sort -u >"$work/real"
    example_of_manual | form | sort -u >"$work/manual"
    [ -s "$work/manual" ] && [ -z "$(comm -23 "$work/manual" "$work/real")" ] ||
        { comm -23 "$work/manual" "$work/real" && false; }
}
expect "the example of the manual has the form of what is printed" forms_are_real
kinds_in_manual() { sed -n '/^\.Sh KINDS/,/^\.Sh JSON/p' tools/wire/covey-sniff.1 | grep -oE '[A-Z_]{3,}' | grep -vxE 'KINDS|JSON' | sort -u; }
kinds_on_wire() { # those that go from host to host, not only between a task and its own daemon
    grep -oE 'X\([0-9]+, [A-Z_]+, ' proto/wire/frame.h | awk '{ print $2 }' | tr -d , |
        grep -vxE 'ENROL|LEAVE|HOST_EVENT|LINK_KEY|SERVICE|HOSTS' | sort -u
}
all_are_described() {
    local missing
    missing=$(comm -13 <(kinds_in_manual) <(kinds_on_wire))
    [ -z "$missing" ] || { echo "not described: $missing" && false; }
}
expect "the manual names every kind of frame" all_are_described
options_in_manual() { grep -oE '^\.It Fl . Fl -[a-z-]+' tools/wire/covey-sniff.1 | awk '{ print substr($5, 2) }' | sort; }
options_of_sniff() { covey help sniff | grep -oE -- '^  -., --[a-z-]+' | awk '{ print substr($2, 3) }' | sort; }
expect "the manual has every option" test "$(options_in_manual)" = "$(options_of_sniff)"

# ---- live -------------------------------------------------------------------------------------------------

if [ "$(id -u)" != 0 ] || ! unshare --net true 2>/dev/null; then
    skip "live" "needs root and network namespaces"
    finish
fi
expect "a VM is watched on its loopback" unshare --net bash tests/tool/sniff_test.sh --live "$work"
cat "$work/error"
live_has() { grep -qE "$1" "$work/live" || { head -50 "$work/live" && false; }; }
expect "live: a host joins" live_has "JOIN t80000>t40000 'h1'"
expect "live: a task is spawned and ends" live_has "GONE t80000>t[0-9a-f]+ t8000[0-9a-f]+"
expect "live: the VM is halted" live_has "SHUTDOWN t40000>t80000"
known_at_once() { grep -q "h[01]([12])>h[01]([12]) ping" "$work/ping" || { cat "$work/ping" && false; }; }
expect "live: hosts of the VM that runs are known by name at once" known_at_once
warned() { # before anything is captured
    timeout 300 env COVEY_VM=nobody-$$ "$BUILD/covey" sniff --host h9 lo >"$work/out" 2>"$work/err" </dev/null &
    local pid=$!
    within 10 grep -q 'no host h9 is known' "$work/err"
    local status=$?
    kill $pid
    wait $pid
    return $status
}
expect "live: a host that nobody knows is named at once" warned
expect "live: what was written is what was shown" diff <(covey sniff "$work/live.pcap") "$work/live"
chmod 755 "$work"
without_privilege() {
    cp "$BUILD/covey" "$BUILD/covey-sniff" "$work" && rm -rf "$work/run" && mkdir -m 777 "$work/run"
    setpriv --reuid 65534 --regid 65534 --clear-groups env -C / "$work/covey" sniff lo >"$work/out" 2>&1 && return 1
    cat "$work/out"
    [ "$(wc -l <"$work/out")" = 1 ] && grep -q "needs root, or CAP_NET_RAW.*sudo covey sniff lo" "$work/out"
}
expect "without privilege: one line with the remedy" without_privilege
with_capability() { # of the file alone: one to inherit, as make install sets it, or by mistake one to have
    command -v setcap >/dev/null || return 0
    setcap cap_net_raw+ep "$work/covey-sniff" && without_privilege_again &&
        setcap cap_net_raw+ei "$work/covey-sniff" && without_privilege_again
}
without_privilege_again() {
    ! setpriv --reuid 65534 --regid 65534 --clear-groups env -C / "$work/covey" sniff lo >"$work/out" 2>&1 &&
        grep -q "needs root" "$work/out"
}
expect "the file's own capability does not let everybody watch" with_capability
handed_on() { # CAP_NET_RAW that was given to whoever asks; and once more without the file's own
    watches && { setcap -r "$work/covey-sniff" 2>/dev/null || true; } && watches
}
watches() { # one that was ended before it watched, on a slow machine, begins once more and has longer
    timeout 300 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +net_raw --ambient-caps +net_raw \
        env -C / bash -c '
            for s in 1 2 4 8; do "$0" sniff lo & eye=$!; sleep $s; kill $eye; wait $eye; status=$?; [ $status = 143 ] || break; done
            exit $status' "$work/covey" >"$work/out" 2>&1
    local status=$?
    [ $status = 0 ] || { cat "$work/out" && false; }
}
expect "a capability that was handed on does" handed_on
finish
