#!/bin/bash
# The manual agrees with covey.h, is well formed, and every example in it compiles and runs.
# timeout: 180
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=${BUILD:-$PWD/build}
read -ra compiler <<<"${CC:-cc}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pages=$(find lib daemon tools apps conf -name '*.[1-8]' 2>/dev/null | sort)

# ---- every public function is described ----

headers=(lib/covey.h lib/covey/*.h lib/domain/covey_domain/*.h)
scripts/public-names.sh "${headers[@]}" >"$work/names"
# The synopses of all pages, without macros and blanks: `int covey_x(covey_t *vm);` per line.
sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' lib/*/*.3 lib/domain/*/*.3 |
    sed -E '/^\.(PP|nf|fi|SH .*|B #include.*)$/d; /^[^.]/d; s/^\.[A-Z]+ //; s/"//g' | tr -d ' \n' | tr ';' '\n' >"$work/synopses"

"${compiler[@]}" -Ilib -E -P lib/domain/covey_domain.h | tr '\n' ' ' >"$work/covey.h" # without comments
prototype_of() { # name -> the prototype in covey.h without blanks
    <"$work/covey.h" grep -oE "[a-z][a-z0-9_ *]*[ *]$1\([^;]*\);" | head -n 1 | tr -d ' ;'
}
is_commented() { # name: a comment ends right above it or above its neighbours in a block
    awk -v name="$1" '
        /^$/ { commented = 0 }
        /\*\/ *$/ { commented = 1 }
        $0 ~ "[ *]" name "\\(" { if (commented) found = 1 }
        END { exit !found }' "${headers[@]}"
}
total=0 in_header=0 in_manual=0
while read -r name; do
    total=$((total + 1))
    if is_commented "$name"; then in_header=$((in_header + 1)); else echo "$name: no comment in covey.h"; fi
    if grep -qxF "$(prototype_of "$name")" "$work/synopses"; then
        in_manual=$((in_manual + 1))
    else
        echo "$name: no synopsis in lib/ as covey.h declares it"
    fi
done <"$work/names"
echo "of $total public functions $in_header are described in covey.h, $in_manual in the manual"
expect "90 % are described in covey.h" test $((in_header * 100)) -ge $((total * 90))
expect "90 % are described in the manual" test $((in_manual * 100)) -ge $((total * 90))

# ---- the pages are well formed, and found by each name they describe ----

well_formed() {
    local said
    said=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$1" 2>&1 >/dev/null)
    [ -z "$said" ] || { echo "$said" && false; }
}
for page in $pages; do
    if [ -x /usr/bin/man ]; then
        expect "$page is well formed (man)" well_formed "$page"
    else
        skip "$page" "man-db is not installed"
    fi
    if command -v mandoc >/dev/null; then
        expect "$page is well formed (mandoc)" mandoc -T lint -W error "$page"
    else
        skip "$page" "mandoc is not installed"
    fi
done
# shellcheck disable=SC2086
scripts/install-man.sh "$work/man" $pages
while read -r name; do
    [ -e "$work/man/man3/$name.3" ] || echo "$name"
done <"$work/names" >"$work/not-found"
expect "man finds every public function" test ! -s "$work/not-found"
cat "$work/not-found"
expect "man sort is the system's" test ! -e "$work/man/man1/sort.1" -a -e "$work/man/man1/covey-sort.1"

# ---- every example is a program that compiles and runs ----

example_of() { # page -> the program of its EXAMPLES section
    sed -n '/^\.SH EXAMPLES/,$p' "$1" | sed -n '/^\.EX/,/^\.EE/p' |
        sed -e '/^\.E[XE]/d' -e 's/\\&//g; s/\\-/-/g; s/\\e/\\/g'
}
runner_of() { # page -> what its example is started by, besides its name, as the text before it says
    sed -n '/^\.SH EXAMPLES/,/^\.EX/p' "$1" | sed 's/\\-/-/g' | grep -om1 'covey run -n [0-9]*'
}
export COVEY_VM=manual.$$ PATH=$BUILD:$PATH
covey start --local 2 || bad "a virtual machine for the examples starts"
shopt -s nullglob
for page in $(ls lib/*/*.[37] lib/domain/*/*.[37] | grep -v covey-pvm); do
    name=$(basename "${page%.[37]}")
    example_of "$page" >"$work/$name.c"
    if "${compiler[@]}" -std=c99 -Wall -Wextra -pedantic -Werror -Ilib -Ilib/domain "$work/$name.c" -o "$work/$name" \
        "$BUILD/libcovey_domain.a" "$BUILD/libcovey.a" $(cat /dev/null lib/domain/*/libs) -lsodium -lpthread -lm; then
        ok "the example of $name compiles"
        # shellcheck disable=SC2046
        expect "the example of $name runs" timeout 300 $(runner_of "$page") "$work/$name"
    else
        bad "the example of $name compiles"
    fi
done
expect "the virtual machine ends" covey halt
finish
