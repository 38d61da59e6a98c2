#!/bin/bash
# web.sh - what the live page costs.
#
# Of 100 virtual hosts on this machine with TASKS (400) tasks that sleep, which come within the first looks: what a browser is sent,
# in the second in which it is most and on the average of SECONDS (60), and the processor time of covey web and of a daemon. Then of
# a VM that is made up, of 100 hosts with 40 tasks each: what Chromium's page takes after ten minutes and after an hour, whose looks
# come every 25 ms and not every 2 s.
#   HOSTS (100), TASKS (400), SECONDS_OF (60)
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
hosts=${HOSTS:-100} tasks=${TASKS:-400} seconds=${SECONDS_OF:-60}
export XDG_RUNTIME_DIR COVEY_VM=web$$
XDG_RUNTIME_DIR=$(mktemp -d "${TMPDIR:-/tmp}/covey-bench-web.XXXXXX") || exit 1
unset COVEY_SOCKET COVEY_ROUTE COVEYD
dir=$XDG_RUNTIME_DIR
web=
finish() {
    [ -z "$web" ] || kill "$web" 2>/dev/null
    "$build/covey" halt >/dev/null 2>&1
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM HUP

processor() { # pid: its seconds so far
    awk -v hertz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hertz }' "/proc/$1/stat"
}

"$build/covey" start --local "$hosts" >"$dir/started" 2>&1 || { tail -n 3 "$dir/started" >&2 && exit 1; }
"$build/covey" web >"$dir/url" &
web=$!
"$build/covey" run --no-input -n "$tasks" sleep 600 >"$dir/run" 2>&1 &
run=$!
sleep 4
url=$(cat "$dir/url")
daemon=$(ss -xlpH | sed -n "s|.* $dir/covey/$COVEY_VM/h1\.sock .*pid=\([0-9]*\).*|\1|p" | head -n 1)
before=$(processor $web) daemon_before=$(processor "$daemon")
timeout "$seconds" curl -sN "${url/\/\?//events?}" >"$dir/events" &
reader=$!
while kill -0 $reader 2>/dev/null; do
    echo "$(date +%s.%N) $(stat -c %s "$dir/events")"
    sleep 0.05
done >"$dir/sizes"
awk -v hosts="$hosts" -v tasks="$tasks" '
    { at[NR] = $1; size[NR] = $2 }
    END {
        for (i = first = 1; i <= NR; i++) {
            while (at[i] - at[first] > 1) first++
            if (size[i] - size[first] > most) most = size[i] - size[first]
        }
        printf "%d hosts, %d tasks: at most %.1f kB in a second, %.2f kB on the average of %.0f s\n", hosts, tasks,
            most / 1000, (size[NR] - size[1]) / (at[NR] - at[1]) / 1000, at[NR] - at[1]
    }' "$dir/sizes"
echo "$before $(processor $web) $daemon_before $(processor "$daemon")" | awk -v s="$seconds" '{
    printf "covey web took %.2f %% of a processor, the daemon of h1 %.2f %%\n", ($2 - $1) / s * 100, ($4 - $3) / s * 100 }'
grep -o '"hosts":[0-9]*,"tasks":[0-9]*,"hostsLeftOut":[0-9]*,"tasksLeftOut":[0-9]*' "$dir/events" | tail -n 1
kill $web $run
wait $web $run 2>/dev/null
web=

command -v chromium >/dev/null || { echo "web.sh: chromium is not installed: no figures of a browser" >&2; exit 0; }
rm -f "$dir/url" # of the server before
mkfifo "$dir/input"
"$build/tests/tool/web_serve" 100 40 20 25 1800 100000000 <"$dir/input" >"$dir/url" &
exec 7>"$dir/input"
until [ -s "$dir/url" ]; do sleep 0.1; done
BROWSE_S=400 "$build/tests/tool/browse" "$dir/browser" "$(cat "$dir/url")" 1300 1900 'until=newest >= 599' heap memory 'until=newest >= 2099' heap memory 'eval=draws' >"$dir/memory"
exec 7>&-
tr '\n' ' ' <"$dir/memory" | awk '{ printf "the page after ten minutes: objects and buffers %.1f MB, its process %.1f MB; after an hour, %d pictures: %.1f MB, %.1f MB\n",
    $1 / 1e6, $2 / 1e6, $5, $3 / 1e6, $4 / 1e6 }'
