#!/bin/bash
# metrics.sh - how long the functions are; fails when they are longer than we want to read.
#
# Counts the lines of every C function of the five folders, from the line of its name to its closing
# brace. The median function has at most 15 lines and 90 % have at most 40.
set -eu
cd "$(dirname "$0")/.."
MEDIAN_MAX=15
P90_MAX=40

command -v ctags >/dev/null || { echo "metrics.sh: universal-ctags is not installed" >&2; exit 1; }

# Prints `lines file:line name` of each function, shortest first.
measure() {
    find "$@" -name '*.c' 2>/dev/null | sort | ctags -L - -o - --kinds-C=f --fields=+ne --sort=no 2>/dev/null |
        awk -F '\t' '{
            line = end = 0
            for (i = 4; i <= NF; i++) {
                if ($i ~ /^line:/) line = substr($i, 6)
                if ($i ~ /^end:/) end = substr($i, 5)
            }
            if (end) print end - line + 1, $2 ":" line, $1
        }' | sort -n
}

summarise() { # label
    awk -v label="$1" '
        { lines[NR] = $1 }
        END {
            if (NR) printf "%-8s %5d functions, median %3d, 90 %% <= %3d, longest %3d lines\n", label, NR,
                lines[int((NR + 1) / 2)], lines[int((NR * 9 + 9) / 10)], lines[NR]
        }'
}

for folder in cipher proto lib daemon tools apps; do
    measure "$folder" | summarise "$folder"
done
all=$(measure cipher proto lib daemon tools apps)
summarise all <<<"$all"
echo "the longest:"
tail -n 5 <<<"$all" | sed 's/^/    /'

read -r median p90 < <(summarise all <<<"$all" | sed -E 's/.*median +([0-9]+), 90 % <= +([0-9]+).*/\1 \2/')
if [ "$median" -gt $MEDIAN_MAX ] || [ "$p90" -gt $P90_MAX ]; then
    echo "too long: the median may be $MEDIAN_MAX and 90 % at most $P90_MAX lines" >&2
    exit 1
fi
