#!/bin/bash
# trace.sh - what a trace costs: a ring of 8 tasks with messages of 1 KiB, and a demo, on this machine, by turns without a
# trace and with one. Prints both times, of ROUNDS runs each, and what the trace adds: the median of the pairs.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-bench-trace.XXXXXX")
export XDG_RUNTIME_DIR=$dir COVEY_VM=bench-trace-$$ PATH=$BUILD:$PATH
unset COVEY_SOCKET COVEY_ROUTE COVEY_TRACE
trap 'covey halt >/dev/null 2>&1; rm -rf "$dir"' EXIT
covey start --local 1 >/dev/null || exit 1

ring() { covey run -n 8 "$@" "$BUILD/tests/bench/trace_load" "${HOPS:-20000}"; } # options of covey run...
demo() { # a file, or nothing
    COVEY_TRACE=${1:-} "$BUILD/apps/mandel" -n 2 | awk '$3 ~ /^(shm|udp|tcp)/ { print $4 }'
}

say() { # name, unit; lines "off on" on standard input
    /usr/bin/sort -n | awk -v name="$1" -v unit="$2" '
        { off[NR] = $1; on[NR] = $2; more[NR] = 100 * ($2 / $1 - 1) }
        function median(list, n,    i, k, t) {
            for (i = 1; i <= n; i++) for (k = i + 1; k <= n; k++)
                if (list[k] < list[i]) { t = list[i]; list[i] = list[k]; list[k] = t }
            return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
        }
        END { printf "%-28s %10.3f %s without, %10.3f with a trace: %+.1f %%\n",
            name, median(off, NR), unit, median(on, NR), median(more, NR) }'
}

for ((i = 0; i < ${ROUNDS:-9}; i++)); do
    echo "$(ring) $(ring --trace "$dir/trace")"
done | say "ring of 8, 1 KiB, a hop" us
covey trace "$dir/trace" 2>&1 >/dev/null | sed 's/^/  /'
for ((i = 0; i < ${ROUNDS:-9}; i++)); do
    echo "$(demo) $(demo "$dir/trace")"
done | say "mandel, 2 workers" s
