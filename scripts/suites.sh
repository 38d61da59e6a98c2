#!/bin/bash
# suites.sh NAME... - prints the files of the test suites that scripts/check.sh names so: unit.window is
# tests/unit/proto/window/window_test.c. A NAME may be a pattern of the shell: 'sim.*'. --name FILE prints
# the name of that file's suite, --quick the files of suites that `make quick` runs.
#
# A name is the folder below tests/ and the file without its ending. The rooms between them are left
# out, for a suite is the same one after its file has moved.
set -u
cd "$(dirname "$0")/.." || exit 1

files() { find tests -name portable -prune -o \( -name '*_test.c' -o -name '*_test.sh' -o -name '*_fuzz.c' \) -print | sort; }

name_of() { # file
    local folder=${1#tests/} file=${1##*/}
    file=${file%.*}
    file=${file%_test}
    echo "${folder%%/*}.${file%_fuzz}"
}

# Engines without a daemon, but for those that say `slow:` and why in their first lines; and as a smoke
# test of a whole VM on this machine one that sends messages between three hosts over every route.
quick() {
    local file
    for file in $(files | grep -E '^tests/(unit|sim|fuzz)/.*[.]c$'); do
        sed -n '1,20{/slow: /q1}' "$file" && echo "$file"
    done
    echo tests/conformance/mcast_test.sh
}

# The names whose part behind the dot has the asked one in it or differs from it in at most two letters.
near() { # name; names from the standard input
    awk -v asked="${1##*.}" '
        function min(a, b) { return a < b ? a : b }
        function distance(a, b,    i, j, row, above, corner) { # of Levenshtein
            for (j = 0; j <= length(b); j++) row[j] = j
            for (i = 1; i <= length(a); i++) {
                corner = row[0]
                row[0] = i
                for (j = 1; j <= length(b); j++) {
                    above = row[j]
                    row[j] = min(min(above, row[j - 1]) + 1, corner + (substr(a, i, 1) != substr(b, j, 1)))
                    corner = above
                }
            }
            return row[length(b)]
        }
        { part = $0; sub(/.*[.]/, "", part) }
        asked != "" && index(part, asked) || distance(asked, part) <= 2 { printf " %s", $0 }'
}

case ${1:-} in
--name) name_of "$2" && exit ;;
--quick) quick && exit ;;
esac

all=$(for file in $(files); do echo "$(name_of "$file") $file"; done)
status=0
for asked; do
    found=
    while read -r name file; do
        # shellcheck disable=SC2053
        [[ $name == $asked ]] && echo "$file" && found=1
    done <<<"$all"
    if [ -z "$found" ]; then
        like=$(cut -d' ' -f1 <<<"$all" | near "$asked")
        echo "suites.sh: there is no suite $asked${like:+; near it:$like}" >&2
        status=1
    fi
done
exit $status
