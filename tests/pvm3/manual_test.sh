#!/bin/bash
# manual_test.sh - covey-pvm(7) says of each function that PVM's headers declare whether it is the
# same, better or different, and of no other; and each is called by some program that tests it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/report.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=lib/pvm3/covey-pvm.7
read -ra compiler <<<"${CC:-cc}" # with a launcher, perhaps
names='\b(pvm_[a-z0-9_]+|pvmgetrsh|pvmgettmp|pvmtmpnam|Pvm(Max|Min|Sum|Product))\b'

printf '#define NOTMPNAM\n#include <stdio.h>\n#include <pvm3.h>\n#include <pvmtev.h>\n' |
    "${compiler[@]}" -E -P -Ilib/pvm3/include - | tr '\n' ' ' | grep -oE "$names\)?\(" | tr -d '()' | sort -u >"$work/declared"
entries() { sed -n '/^\.SS Function by function/,/^\.SH ENVIRONMENT/p' "$page"; }
# The names of the first list, and those of which a paragraph of the others speaks.
{
    entries | sed -n '/^\.\\" same/,/^\.PP/p'
    entries | grep '^\.BR '
} | grep -oE "$names" | sort >"$work/described"

agree() { diff "$work/declared" "$work/described"; }
expect "each function is described once" agree
expect "there are more than a hundred" test "$(wc -l <"$work/declared")" -gt 100
tested() {
    local name missing=0
    # the console is what console_test.sh tests
    while read -r name; do
        grep -qE "\b$name\b" tests/pvm3/*.c lib/pvm3/console/*.c || { echo "$name is called by no test" && missing=1; }
    done <"$work/declared"
    [ $missing = 0 ]
}
expect "each is called by a test" tested
well_formed() { [ -z "$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)" ]; }
expect "the page is well formed" well_formed
finish
