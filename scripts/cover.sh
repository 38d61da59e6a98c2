#!/bin/bash
# cover.sh BUILD - prints for each file of ours how many of its lines the suites reached.
set -eu
cd "$(dirname "$0")/.."
find "$1/obj" -name '*.gcda' ! -path '*/tests/*' | sort | while read -r counts; do
    gcov -n -o "$(dirname "$counts")" "$counts" 2>/dev/null
done | awk '
    /^File / { file = $2; gsub(/\047/, "", file) }
    /^Lines executed:/ && file ~ /^(cipher|proto|lib|daemon|tools|apps)\/.*\.c$/ {
        split($2, part, /[:%]/)
        lines[file] = $4
        reached[file] = part[2] * $4 / 100
        file = ""
    }
    END {
        for (f in lines) {
            folder = f; sub(/\/.*/, "", folder)
            sum[folder] += lines[f]; hit[folder] += reached[f]
            printf "%5.1f %% of %5d lines  %s\n", 100 * reached[f] / lines[f], lines[f], f | "sort -k5"
            all += lines[f]; all_hit += reached[f]
        }
        close("sort -k5")
        for (d in sum) printf "%5.1f %% of %5d lines  %s/\n", 100 * hit[d] / sum[d], sum[d], d
        if (all) printf "%5.1f %% of %5d lines  in all\n", 100 * all_hit / all, all
    }'
