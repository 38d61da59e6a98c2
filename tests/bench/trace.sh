#!/bin/bash
# trace.sh - what a trace costs: rings of 8 tasks with messages of 1 KiB and of 2 tasks with one byte, and a demo, on this
# machine, by turns without a trace and with one. Prints the medians of both times, and what the trace adds: the median of the
# pairs, their quartiles and how many they are.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-bench-trace.XXXXXX")
export XDG_RUNTIME_DIR=$dir COVEY_VM=bench-trace-$$ PATH=$BUILD:$PATH
unset COVEY_SOCKET COVEY_ROUTE COVEY_TRACE
trap 'covey halt >/dev/null 2>&1; rm -rf "$dir"' EXIT
covey start --local 1 >/dev/null || exit 1

ring() { # TASKS, ROUNDS, BYTES: RUNS times
    for ((i = 0; i < ${RUNS:-4}; i++)); do
        covey run -n "$1" "$BUILD/tests/bench/trace_load" "$2" "${PAIRS:-10}" "$dir/trace" "$3"
    done
}
demo() { # a file, or nothing
    COVEY_TRACE=${1:-} "$BUILD/apps/mandel" -n 2 | awk '$3 ~ /^(shm|udp|tcp)/ { print $4 }'
}

say() { # name, unit; lines "off on" on standard input
    awk -v name="$1" -v unit="$2" '
        { off[NR] = $1; on[NR] = $2; more[NR] = 100 * ($2 / $1 - 1) }
        function sorted(list, n,    i, k, t) {
            for (i = 1; i <= n; i++) for (k = i + 1; k <= n; k++)
                if (list[k] < list[i]) { t = list[i]; list[i] = list[k]; list[k] = t }
        }
        function part(list, n, share,    at, below) {
            at = 1 + share * (n - 1); below = int(at)
            return below == n ? list[n] : list[below] + (at - below) * (list[below + 1] - list[below])
        }
        END {
            sorted(off, NR); sorted(on, NR); sorted(more, NR)
            printf "%-26s %8.3f %s without, %8.3f with a trace: %+.1f %% (%+.1f to %+.1f, %d pairs)\n", name,
                part(off, NR, 0.5), unit, part(on, NR, 0.5), part(more, NR, 0.5), part(more, NR, 0.25), part(more, NR, 0.75), NR
        }'
}

ring 8 "${HOPS:-8000}" 1024 | say "ring of 8, 1 KiB, a hop" us
covey trace "$dir/trace" 2>&1 >/dev/null | sed 's/^/  /'
ring 2 "$((${HOPS:-8000} * 20))" 1 | say "ring of 2, 1 B, a hop" us
covey trace "$dir/trace" 2>&1 >/dev/null | sed 's/^/  /'
for ((i = 0; i < ${ROUNDS:-9}; i++)); do
    echo "$(demo) $(demo "$dir/trace")"
done | say "mandel, 2 workers" s
