#!/bin/bash
# covey start --slow: links take at least what the rules say, hosts have a part of a processor, and bad rules are refused.
# timeout: 120
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
read -ra compiler <<<"${CC:-cc} ${SANITIZE:-}" # as the library is built

says() { # status, pattern of a line that is said, command...
    local status
    timeout 60 "${@:3}" >"$dir/out" 2>&1 </dev/null
    status=$?
    [ $status -eq "$1" ] && grep -qE -- "$2" "$dir/out" && return
    echo "${*:3}: status $status, said:" && tail -n 5 "$dir/out" && false
}

expect "only of virtual hosts" says 2 'goes with --local alone' covey start --slow '* alpha=1ms'
expect "a file that is not there" says 2 'neither rules .* nor a file' covey start --local 2 --slow "$dir/none"
expect "a file that is no text" says 2 'no text' covey start --local 2 --slow /dev/zero
expect "a rule that is none" says 1 "slow must be rules such as" covey start --local 2 --slow 'h0 alpha=1ms'
expect "a speed that is none" says 1 "slow must be rules such as" covey start --local 2 --slow 'h0 speed=0'

# ---- links ----

expect "a lesson compiles" "${compiler[@]}" -Ilib share/lessons/pingpong.c -o "$dir/pingpong" -L"$BUILD" -lcovey -Wl,-rpath,"$BUILD"
printf '%s\n' '# one link alone' 'h1-h0 alpha=20ms' 'h0-h1 rate=100Mbit # and later rules' >"$dir/rules"
expect "a VM with a slow link" covey start --local 3 --slow "$dir/rules"
takes() { # HOST: writes bytes and us of messages between h0 and it
    timeout 60 covey run -n 2 --host "h0,$1" "$dir/pingpong" >"$dir/out" 2>&1 && sed -nE 's/^ *([0-9]+) bytes: *([0-9.]+) us.*/\1 \2/p' "$dir/out" >"$dir/takes.$1"
    [ "$(wc -l <"$dir/takes.$1")" = 4 ] || { cat "$dir/out" && false; }
}
expect "messages over it" takes h1
expect "messages over another" takes h2
sed 's/^/    /' "$dir/takes.h1"
expect "none takes less than alpha and what its bytes take" awk '$2 < 20000 + $1 * 8 / 100 { bad = 1 } END { exit bad }' "$dir/takes.h1"
expect "those over the other link take less" awk 'NR == FNR { slow[$1] = $2; next } $2 >= slow[$1] { bad = 1 } END { exit bad }' "$dir/takes.h1" "$dir/takes.h2"
covey halt >"$dir/out"

# ---- hosts ----

expect "a VM with a slow host" covey start --local 2 --slow 'h1 speed=0.1'
burn='end=$(($(date +%s) + 2)); while [ "$(date +%s)" -lt $end ]; do i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; done; cut -d" " -f14 /proc/$$/stat'
timeout 60 covey run -n 1 --host h1 sh -c "$burn" >"$dir/ticks" 2>&1
few() { local ticks; read -r ticks <"$dir/ticks" && echo "    $ticks ticks in 2 s or more" && [ "$ticks" -ge 0 ] && [ "$ticks" -lt "$(($(getconf CLK_TCK) * 12 / 10))" ]; }
expect "a task there has a part of a processor" few
covey run -n 1 --host h1 sleep 1000 >"$dir/out" 2>&1 &
runner=$!
there() { covey ps | grep -q 'h1 .*sleep 1000'; }
gone() { ! there; }
expect "a task that is stopped again and again" within 20 there
covey kill "$(covey ps | awk '/sleep 1000/ { print $1 }')" >"$dir/out"
expect "is killed as any other" within 20 gone
wait $runner
covey halt >"$dir/out"
finish
