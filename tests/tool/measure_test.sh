#!/bin/bash
# measure_test.sh - how fast cores are: measured once, and again when somebody asks.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

figures() { # host, file: its three figures, each of a likely size
    grep -A 4 "\"name\": \"$1\"" "$2" | awk -F ': ' '
        /per_s/ { gsub(/[ ",]/, "", $1); value[$1] = $2 + 0 }
        END { exit !(value["integer_per_s"] > 1e6 && value["float_per_s"] > 1e6 && value["pack_bytes_per_s"] > 1e7) }'
}
alone() { covey-measure "$@" | grep -qE '^integer [0-9.e+]+ float [0-9.e+]+ pack [0-9.e+]+$'; }
misused() { covey-measure --yield twice 2>"$dir/err" && return 1; grep -q "unexpected argument 'twice'" "$dir/err"; }
not_yet() { [ "$(covey top --json | grep -c '"integer_per_s": null')" = 3 ]; }
one() {
    covey measure --json h1 >"$dir/out" && [ "$(grep -c '"name"' "$dir/out")" = 1 ] && figures h1 "$dir/out" &&
        [ "$(covey top --json | grep -c '"integer_per_s": null')" = 2 ]
}
all() {
    covey measure --json >"$dir/out" && figures h0 "$dir/out" && figures h1 "$dir/out" && figures h2 "$dir/out" &&
        [ "$(covey measure | awk 'NR > 1 && $2 > 1 && $3 > 1 && $4 > 10' | wc -l)" = 3 ]
}
at_once() { # several who ask
    local i
    for i in 1 2 3 4 5; do covey measure --json >"$dir/out.$i" & done
    wait
    for i in 1 2 3 4 5; do figures h2 "$dir/out.$i" || return 1; done
}
nobody() { covey measure h7 2>"$dir/err" && return 1; grep -q "measure: no host 'h7' is in this VM" "$dir/err"; }
by_itself() { # a daemon that is not one of virtual hosts
    local measured
    measured() { covey top --json | grep -q '"integer_per_s": [1-9]'; }
    coveyd --name self --address 127.0.0.1 && within 10 measured && covey halt
}

expect "covey-measure prints a line" alone
expect "it prints it where others go first" alone --yield
expect "it takes nothing else" misused
covey start --local 3 >/dev/null || bad "three virtual hosts start"
expect "virtual hosts do not measure by themselves" not_yet
expect "one host measures" one
expect "all hosts measure" all
expect "five ask at once" at_once
expect "a host that is none is named" nobody
expect "the VM ends" covey halt
expect "a host that joins measures by itself" by_itself
finish
