#!/bin/bash
# lab_test.sh - the lab's own test: addresses, rates, shares, two labs at once, nothing left.
#
# Speeds and shares are printed. Asserted is only what a busy machine cannot break: that a link or
# a host never gets more than its limit.
set -u
cd "$(dirname "$0")/../.." || exit 1

lab=tests/lab/lab
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-lab-test.XXXXXX")
export LAB=test-$$
other=other-$$
passed=0 failed=0 skipped=0

finish() {
    trap '' INT TERM HUP
    if [ "$(id -u)" = 0 ]; then
        $lab down
        $lab down --name "$other"
    fi
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

check() { # what it shows, function or command
    local what=$1 output
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
        echo "$what ... ok${output:+ ($output)}"
    else
        failed=$((failed + 1))
        echo "$what ... FAILED"
        printf '%s\n' "$output" | sed 's/^/    /'
    fi
}

skip() { # what it shows, reason
    skipped=$((skipped + 1))
    echo "$1 ... skipped: $2"
}

result() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
    exit
}

# at_most VALUE LIMIT: decimal numbers
at_most() {
    awk -v value="$1" -v limit="$2" 'BEGIN { exit !(value > 0 && value <= limit) }' ||
        { echo "$1 is not within (0, $2]" && return 1; }
}

# ---- what needs no privilege ----------------------------------------------------------------

refuses() { # topology as printf's format, the message's end, after the file name
    printf "$1" >"$scratch/bad"
    local said
    said=$($lab check "$scratch/bad" 2>&1) && echo "it was accepted" && return 1
    case $said in
    "$scratch/bad:$2"*) ;;
    *) echo "it said: $said" && return 1 ;;
    esac
}

shipped_topologies() {
    local file
    for file in conf/topologies/*; do
        $lab check "$file" || return 1
    done
}

accepts_any_order_and_ends() {
    printf 'link a b 1G\r\nhost x a\t10M # fast\r\n\n  switch a\r\nswitch b' >"$scratch/good"
    $lab check "$scratch/good"
}

accepts() { # topology as printf's format
    printf "$1" >"$scratch/good"
    $lab check "$scratch/good"
}

misuse_is_refused() {
    local words
    for words in "" "fly" "up" "up a b" "up --rate" "up --hosts x" "exec" "exec h1" "up x --cpu 0" \
        "up --segment 10M conf/topologies/switch-2" "up --hosts 2 --segment 10M --rate 10M" \
        "down x" "list --name a.b" "up --hosts 2 conf/topologies/switch-2"; do
        $lab $words >/dev/null 2>&1
        [ $? = 2 ] || { echo "not refused: lab $words" && return 1; }
    done
}

check "the shipped topologies are right" shipped_topologies
check "any order, comments, CR LF, no last newline" accepts_any_order_and_ends
check "unknown keyword" refuses 'switch a\n fly b\n' "2:2: 'fly' is none of"
check "unknown switch" refuses 'switch a\nhost h b\n' "2:8: 'b' is no switch"
check "host in place of a switch" refuses 'switch a\nhost h a\nlink a h\n' "3:8: 'h' is a host"
check "missing word" refuses 'switch a\nhost h\n' "2:7: a word is missing"
check "word too many" refuses 'switch a\nhost h a 1M up\n' "2:13: nothing may follow"
check "bad rate" refuses 'switch a\nhost h a 10Q\n' "2:10: '10Q' is no rate"
check "name given twice" refuses 'switch a\nhost a a\n' "2:6: 'a' is declared already, in line 1"
check "bad name" refuses 'switch a/b\n' "1:8: 'a/b' cannot be a name"
check "segment without a rate" refuses 'segment a\nhost h a\n' "1:10: a word is missing"
check "a segment is a place for hosts" accepts 'segment a 10M\nswitch b\nhost h a\nhost i b\nlink a b\n'
check "contention lines" accepts 'switch a\nhost h a\ncontention token a h\n'
check "unknown way with contention" refuses 'switch a\nhost h a\ncontention maybe a\n' "3:12: 'maybe' is none of"
check "contention of what is not there" refuses 'switch a\nhost h a\ncontention token b\n' "3:18: 'b' is no switch"
check "loop" refuses 'switch a b\nhost h a\nlink a b\nlink b a\n' "4:8: the link from"
check "switch apart" refuses 'switch a b\nhost h a\n' "1:1: no link leads"
check "no host" refuses 'switch a\n' "1:1: there is no host"
check "misuse ends with status 2" misuse_is_refused

# ---- what needs root ------------------------------------------------------------------------

refused_without_root() { # command that gives root away
    local said
    said=$("$@" $lab up --hosts 1 2>&1)
    [ $? = 77 ] && [ "$(echo "$said" | wc -l)" = 1 ] && echo "$said"
}

reason=""
[ "$(id -u)" = 0 ] || reason="needs root"
[ -n "$reason" ] || unshare --net --uts true 2>/dev/null || reason="network namespaces are not allowed here"
[ -n "$reason" ] || command -v nsenter ip tc bridge >/dev/null || reason="iproute2 is not installed"
if [ -n "$reason" ]; then
    skip "a lab of 8 hosts" "$reason"
    [ "$(id -u)" = 0 ] || check "without root: one line, status 77" refused_without_root
    result
fi

cpu=0.2
grep -q 'cgroup.*[ ,]cpu[ ,]' /proc/mounts ||
    grep -qsw cpu /sys/fs/cgroup/cgroup.controllers || cpu=""
${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -o "$scratch/probe" tests/lab/probe.c || exit 1
probe=$scratch/probe

root_links() { ip -o link | wc -l; }
links_before=$(root_links)

echo_everywhere() {
    local host
    for host in $(hosts); do
        $lab exec "$host" "$probe" echo 7000 >/dev/null 2>&1 &
        disown
    done
}

hosts() { $lab hosts | cut -d' ' -f1; }

all_reach_all() { # address column of lab hosts: 5 or 6
    local host addresses
    addresses=$($lab hosts | cut -d' ' -f"$1")
    for host in $(hosts); do
        # shellcheck disable=SC2086 # one word an address
        $lab exec "$host" "$probe" ping 7000 $addresses || { echo "from $host" && return 1; }
    done
}

no_neighbour_traffic() {
    local host
    for host in $(hosts); do
        $lab exec "$host" ip neigh | grep -v PERMANENT && return 1
    done
    return 0
}

stream_rate() { # from, to, bytes, address family: prints Mbit/s
    $lab exec "$2" "$probe" sink 7001 &
    $lab exec "$1" "$probe" send "$($lab addr "$2" "$4")" 7001 "$3"
    wait $!
}

rate_is_kept() { # family
    local rate
    rate=$(stream_rate h1 h2 5000000 "$1") || return 1
    echo "$rate of 100 Mbit/s"
    at_most "$rate" 100
}

share_is_kept() {
    local share
    share=$($lab exec h3 "$probe" burn 2000) || return 1
    echo "$share of a core, limit 0.2"
    at_most "$share" 0.25
}

exec_is_transparent() {
    [ "$(printf 'a\0b' | $lab exec h1 cat | od -An -c | tr -d ' ')" = 'a\0b' ] || return 1
    [ "$($lab exec h1 sh -c 'echo out; echo err >&2' 2>/dev/null)" = out ] || return 1
    [ "$($lab exec h1 printf '%s|' 'two words' '$x' '')" = 'two words|$x||' ] || return 1
    [ "$($lab exec h1 'echo a "b  c"')" = 'a b  c' ] || return 1
    $lab exec h1 sh -c 'exit 7'
    [ $? = 7 ] || return 1
    $lab exec h1 /nonexistent 2>/dev/null
    [ $? = 127 ]
}

exec_is_another_host() {
    [ "$($lab exec h5 hostname)" = h5 ] || return 1
    [ "$($lab exec h5 printenv COVEY_LAB_HOST)" = h5 ] || return 1
    [ "$(COVEY_SOCKET=/x $lab exec h5 printenv COVEY_SOCKET)" = "" ] || return 1
    [ "$($lab exec h5 'stat -c %a "$XDG_RUNTIME_DIR"')" = 700 ] || return 1
    [ "$($lab exec h5 printenv XDG_RUNTIME_DIR)" != "$($lab exec h6 printenv XDG_RUNTIME_DIR)" ]
}

exec_names_what_is_missing() {
    $lab exec h99 true 2>&1 | grep -q "no host 'h99'" && $lab exec --name none-$$ h1 true 2>&1 |
        grep -q "lab 'none-$$' is not up"
}

cut_and_heal() {
    local address
    address=$($lab addr h2)
    [ "$($lab at "$address") $($lab at "$($lab addr h1 6)")" = "h2 h1" ] || return 1
    $lab cut h2 || return 1
    [ "$($lab exec h2 cat /proc/self/net/dev | grep -c eth0)" = 1 ] || return 1
    $lab exec h1 timeout 0.5 "$probe" ping 7000 "$address" && echo "h2 still answers" && return 1
    $lab heal h2 && $lab exec h1 "$probe" ping 7000 "$address"
}

two_labs() {
    $lab up --name "$other" --hosts 3 --ipv6-only || return 1
    [ "$($lab list | grep -c "$$")" = 2 ] || return 1
    [ "$($lab exec --name "$other" h1 ip -4 addr show eth0)" = "" ] || return 1
    # h3 of the other lab has no echo, though h3 of this one has, under the same address
    $lab exec --name "$other" h1 timeout 1 "$probe" ping 7000 fd77::3 && return 1
    $lab down --name "$other" && all_reach_all 5
}

checksums_are_computed() {
    $lab up --name "$other" --hosts 2 --no-offload || return 1
    [ "$($lab exec --name "$other" h1 ethtool -k eth0 | grep -Ec '^[rt]x-checksumming: off')" = 2 ] || return 1
    $lab down --name "$other"
}

# In turn, and so what they start.
hosts_keep_to_a_processor() {
    local i allowed processors
    mapfile -t processors < <(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr ',' '\n' |
        while IFS=- read -r from to; do seq "$from" "${to:-$from}"; done)
    $lab up --name "$other" --hosts 3 --pin || return 1
    for i in 1 2 3; do
        allowed=$($lab exec --name "$other" "h$i" sh -c "sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status")
        [ "$allowed" = "${processors[(i - 1) % ${#processors[@]}]}" ] || { echo "h$i: $allowed" && return 1; }
    done
    $lab down --name "$other"
}

# What computes for 5 ms beside a hog gets half of the share, and half of that or less where the hog may be
# on another processor.
hogs_take_half() {
    local got
    $lab up --name "$other" --hosts 2 --cpu 0.2 --pin && $lab hog --name "$other" h2 || return 1
    got=$($lab exec --name "$other" h2 "$probe" burst 5)
    $lab down --name "$other" && nothing_left "$other" || return 1
    echo "$got of a processor, where 0.1 is due"
    awk -v got="$got" 'BEGIN { exit !(got >= 0.075 && got <= 0.125) }'
}

second_up_is_refused() {
    $lab up --hosts 2 2>&1 | grep -q "is up" && $lab exec h8 true
}

failed_up_leaves_nothing() {
    printf 'switch a\nhost h a\n' >"$scratch/good"
    ! $lab up --name "$other" "$scratch/good" --rate 10Q 2>/dev/null &&
        ! $lab up --name "$other" /nonexistent 2>/dev/null && nothing_left "$other"
}

nothing_left() { # lab
    local left
    left=$(find /run/netns /run/covey-lab /sys/fs/cgroup -maxdepth 3 -name "*$1*" 2>/dev/null)
    [ -z "$left" ] || { echo "left: $left" && return 1; }
    ! grep -q "covey-lab.*$1" /proc/mounts || return 1
    [ "$(root_links)" = "$links_before" ] || { echo "links left" && return 1; }
}

probes() { grep -lsa "^$probe" /proc/[0-9]*/cmdline | wc -l; }

down_ends_processes() {
    [ "$(probes)" = 8 ] || { echo "$(probes) echoes before" && return 1; }
    $lab down || return 1
    [ "$(probes)" = 0 ] || { echo "$(probes) echoes after" && return 1; }
    nothing_left "$LAB"
}

down_twice() {
    $lab down && $lab down --name never-"$$"
}

# What two pairs get at once, in directions that share no link but the medium.
segment_is_shared() {
    local one two sum first
    $lab up --hosts 4 --segment 40M || return 1
    stream_rate h1 h2 1500000 4 >"$scratch/one" &
    first=$!
    stream_rate h4 h3 1500000 4 >"$scratch/two"
    wait $first
    one=$(cat "$scratch/one") two=$(cat "$scratch/two")
    sum=$(awk "BEGIN { print $one + $two }")
    echo "$one + $two of 40 Mbit/s"
    # either may have been alone for a while at its end
    at_most "$one" 40 && at_most "$two" 40 && at_most "$sum" 60
}

received() { $lab exec "$1" cat /sys/class/net/eth0/statistics/rx_packets; }

# Each frame comes to all other hosts, and not to its sender; from a cut host none goes.
segment_gives_to_all_others() {
    local before
    echo_everywhere
    all_reach_all 5 && all_reach_all 6 || return 1
    $lab exec h2 "$probe" hear 7004 >"$scratch/heard" &
    before=$(received h1)
    $lab exec h1 "$probe" shout 7004 # ten times; a group's report may come from another host
    wait $!
    grep -q heard "$scratch/heard" || { echo "not heard" && return 1; }
    [ $(($(received h1) - before)) -lt 8 ] || { echo "the sender got its own frames" && return 1; }
    cut_and_heal
}

soon() { # command; within what a slow machine takes
    local end=$((SECONDS + 40))
    until "$@"; do
        [ $SECONDS -le $end ] && sleep 0.1 || return 1
    done
}
runs() { [ "$($lab ps | grep -c "$2")" = "$1" ]; } # how many, pattern
arrives() { [ "$($lab exec h4 cat /sys/class/net/eth0/statistics/rx_packets)" -gt 20 ]; }

load_begins_and_ends() {
    $lab hog h2 2 && $lab traffic h3 h4 8M || return 1
    soon runs 2 'h2.*probe hog' || { echo "no hogs" && return 1; }
    soon runs 1 'h3.*probe flood' || { echo "no traffic" && return 1; }
    $lab calm h2 && soon runs 0 'probe hog' || { echo "hogs go on" && return 1; }
    runs 1 'probe flood' || { echo "no traffic" && return 1; }
    soon arrives || { echo "nothing arrives" && return 1; }
    $lab calm && soon runs 0 'probe flood' || { echo "traffic goes on" && return 1; }
    ! $lab hog h99 2>/dev/null && ! $lab traffic h1 h2 fast 2>/dev/null && $lab down && nothing_left "$LAB"
}

# On 80 kbit/s 1000 bytes and headers of 66 take 106.6 ms, twice, and their answer 8.4, twice. A lab
# without wires would let both pass at once.
wires_take_their_time() {
    local ms rate
    printf 'switch a b\nlink a b 1G\nhost h1 a 80K\nhost h2 b 80K\nhost h3 b 1M\nhost h4 b\n' >"$scratch/good"
    $lab up "$scratch/good" --wires || return 1
    echo_everywhere
    all_reach_all 5 && all_reach_all 6 || return 1
    ms=$($lab exec h1 "$probe" time 7000 "$($lab addr h2)" 1000) || return 1
    at_most 230 "$ms" || return 1
    rate=$(stream_rate h3 h4 100000 4)
    at_most "$rate" 1 || return 1
    [ -z "$($lab ps | grep -v "$probe")" ] || { $lab ps && return 1; }
    echo "$ms ms, $rate of 1 Mbit/s"
    $lab down && nothing_left "$LAB"
}

half_up_is_cleared() {
    mkdir -p "/run/covey-lab/$LAB/uts" && ip netns add "covey-lab.$LAB.h1" && ip netns add "covey-lab.$LAB" &&
        $lab down && nothing_left "$LAB"
}

trunk_and_many() {
    local seconds=$SECONDS
    $lab up conf/topologies/faraj-c --rate 50M || return 1
    echo_everywhere
    # shellcheck disable=SC2046
    $lab exec n0 "$probe" ping 7000 $($lab hosts | cut -d' ' -f5,6) || return 1
    $lab cut s1 s2 || return 1
    $lab exec n0 timeout 0.5 "$probe" ping 7000 "$($lab addr n31)" && echo "the trunk is not cut" && return 1
    $lab heal s2 s1 && $lab exec n0 "$probe" ping 7000 "$($lab addr n31)" || return 1
    $lab down && nothing_left "$LAB" && echo "$((SECONDS - seconds)) s"
}

# from a copy, for another user may not enter this folder
refused_to_nobody() {
    local copy status lab
    copy=$(mktemp -d "${TMPDIR:-/tmp}/covey-lab-copy.XXXXXX")
    chmod 755 "$copy"
    cp tests/lab/lab "$copy" && chmod 755 "$copy/lab"
    lab=$copy/lab
    refused_without_root setpriv --reuid 65534 --regid 65534 --clear-groups env -C /
    status=$?
    rm -rf "$copy"
    return $status
}
check "without root: one line, status 77" refused_to_nobody
check "up: 8 hosts at 100M${cpu:+ and $cpu core}" $lab up --hosts 8 --rate 100M ${cpu:+--cpu $cpu}
echo_everywhere
check "all hosts reach all, IPv4" all_reach_all 5
check "all hosts reach all, IPv6" all_reach_all 6
check "neighbours are permanent" no_neighbour_traffic
check "a stream keeps to the rate, IPv4" rate_is_kept 4
check "a stream keeps to the rate, IPv6" rate_is_kept 6
if [ -n "$cpu" ]; then
    check "a host keeps to its share" share_is_kept
else
    skip "a host keeps to its share" "there is no cpu cgroup controller here"
fi
check "exec passes arguments, streams and status" exec_is_transparent
check "exec is on another host" exec_is_another_host
check "exec names what is missing" exec_names_what_is_missing
check "cut and heal a host" cut_and_heal
check "two labs at once" two_labs
check "hosts that keep to a processor each" hosts_keep_to_a_processor
if [ -n "$cpu" ]; then
    check "a hog leaves a half, for short times, too" hogs_take_half
else
    skip "a hog leaves a half, for short times, too" "there is no cpu cgroup controller here"
fi
if command -v ethtool >/dev/null; then
    check "hosts that compute their checksums" checksums_are_computed
else
    skip "hosts that compute their checksums" "ethtool is not installed"
fi
check "a name in use is refused" second_up_is_refused
check "a failed up leaves nothing" failed_up_leaves_nothing
check "down ends processes and leaves nothing" down_ends_processes
check "down twice, and of nothing" down_twice
if command -v nft >/dev/null; then
    check "a segment of 40M carries no more than that for two pairs" segment_is_shared
    check "a segment gives a frame to all others" segment_gives_to_all_others
    check "load from outside begins and ends" load_begins_and_ends
    $lab down
else
    skip "a segment of 40M carries no more than that for two pairs" "nftables is not installed"
fi
check "wires of 80K take the time of each frame" wires_take_their_time
$lab down
check "half an up is cleared" half_up_is_cleared
check "32 hosts on four switches up, cut, healed, down" trunk_and_many
result
