#!/bin/bash
# covey topology and covey schedule: the example files, what is refused, and the C that is made.
# timeout: 180
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=${BUILD:-$PWD/build}
read -ra compiler <<<"${CC:-cc}"
PATH=$BUILD:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- topologies ----

for file in conf/topologies/*; do
    expect "$file: printed as a file and read again it is the same network" cmp -s \
        <(covey topology --json "$file") <(covey topology --file "$file" | covey topology --json -)
    expect "$file: what the lab reads is what covey reads" cmp -s \
        <(awk -f tests/lab/topology.awk "$file" | sed 's/ 0$//' | sort) \
        <(covey topology --file "$file" | awk -f tests/lab/topology.awk | sed 's/ 0$//' | sort)
    if grep -q '^segment' "$file"; then
        expect "$file: a segment is not scheduled" grep -q "segment 's1' share one medium" \
            <(covey schedule --check "$file" 2>&1)
    else
        expect "$file: its schedule is proven" covey schedule --check "$file"
    fi
done
tree=$(covey topology conf/topologies/faraj-figure-1)
expect "a topology is printed as a tree" test "$tree" = "s0
|-- n0
|-- n1
|-- s1
|   |-- n5
|   \`-- s3
|       |-- n3
|       \`-- n4
\`-- s2
    \`-- n2
# switches=4 hosts=6"
expect "and for Graphviz" grep -qx '    "s1" -- "s0";' <(covey topology --dot conf/topologies/faraj-figure-1)

# What is wrong is refused by both readers, at the same place.
refuses() { # text
    local ours theirs
    printf '%b' "$1" >"$work/net"
    ours=$(covey topology "$work/net" 2>&1 >/dev/null) && return 1
    theirs=$(awk -f tests/lab/topology.awk "$work/net" 2>&1 >/dev/null) && return 1
    [ "$(wc -l <<<"$ours")" = 1 ] && [ "$ours" = "covey: topology: $theirs" ] ||
        { echo "covey: $ours"; echo "lab: $theirs"; false; }
}
expect "an empty file is refused" refuses ''
expect "a line of another kind is refused" refuses 'switch s\n\nhosts a s\n'
expect "a word too many is refused" refuses 'switch s\nhost a s 1G 2G # no\n'
expect "a word too few is refused" refuses 'switch s\nlink s\n'
expect "a rate that is none is refused" refuses 'switch s\nhost a s 1T\n'
expect "a name twice is refused" refuses 'switch s\nhost a s\nhost a s\n'
expect "a switch that is not there is refused" refuses 'switch s\nhost a t\n'
expect "a host for a switch is refused" refuses 'switch s\nhost a s\nlink s a\n'
expect "a loop is refused" refuses 'switch s t u\nhost a s\nlink s t\nlink t u\nlink u s\n'
expect "a switch apart is refused" refuses 'switch s t\nhost a s\n'

# ---- schedules ----

figure=conf/topologies/faraj-figure-1
covey schedule $figure >"$work/text"
expect "the text has a line a message" test "$(grep -cE '^phase [0-9]+ n[0-5] n[0-5]$' "$work/text")" = 30
expect "and a line a synchronisation" test \
    "$(grep -cE '^sync [0-9]+ n[0-5] n[0-5] [0-9]+ n[0-5] n[0-5]$' "$work/text")" = 26
expect "and the sum at the end" test "$(tail -n 1 "$work/text")" = "# hosts=6 messages=30 phases=9 bound=9 syncs=26"
expect "four tasks on each host are 24 ranks" grep -q '^# hosts=24 .* phases=144 bound=144 ' \
    <(covey schedule --check --tasks 4 $figure)
expect "their names tell them apart" grep -q '^phase [0-9]* n0:0 n0:3$' <(covey schedule --tasks 4 $figure)

says() { # words, command...
    local words=$1 said
    shift
    said=$("$@" 2>&1 >/dev/null)
    [ $? -ne 0 ] && [ "$(wc -l <<<"$said")" = 1 ] && [[ $said == *"$words"* ]] || { echo "$said"; false; }
}
expect "a form that is none is refused" says "text, covey or mpi" covey schedule --emit c $figure
expect "a file that is not there is named" says "no-such: No such file" covey schedule no-such
expect "too many tasks are refused" says "at most 2048 ranks" covey schedule --tasks 400 $figure
expect "no file is refused" says "no topology is named" covey schedule

# ---- the C that is made ----

covey schedule --emit covey $figure >"$work/alltoall.c"
# shellcheck disable=SC2086 # libcovey.a may need the flags of its build
if "${compiler[@]}" ${SANITIZE:-} -std=c99 -Wall -Wextra -Werror -Ilib "$work/alltoall.c" tests/tool/schedule/alltoall_tasks.c \
    -o "$work/tasks" "$BUILD/libcovey.a" -lsodium -lpthread -lm; then
    ok "the function for covey.h compiles"
    export COVEY_VM=schedule.$$
    covey start --local 3 >/dev/null || bad "a virtual machine starts"
    expect "six tasks exchange by it" test "$(timeout 300 "$BUILD/covey" run -n 6 "$work/tasks" 6 | sort | uniq -c | tr -s ' ')" = " 6 same"
    expect "the virtual machine ends" covey halt
else
    bad "the function for covey.h compiles"
fi
finish
