#!/bin/bash
# timeout: 240
# Whole problems of one task, solved by workers that the call starts on three hosts: results beside
# those of one process, options, what is wrong, how long workers stay, and that none outlives its
# caller, who is started by hand, or is a task, or is killed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
program=$BUILD/tests/conformance/door stops=$dir/covey-domain-worker-that-stops
ln -s "$program" "$stops"

workers() { covey ps 2>/dev/null | grep -c covey-domain-worker; }
none_is_left() {
    while [ "$(workers)" -gt 0 ]; do sleep 0.05; done
}
passes() { # command...
    "$@" >"$dir/out" 2>&1
    local status=$?
    sed 's/^/    /' "$dir/out"
    [ $status = 0 ] && grep -q "^ok door\|: *ok door" "$dir/out" && ! grep -q 'not ok' "$dir/out"
}
starts_and_says() { # words, command...: in the background, until its output has the words
    : >"$dir/out" # which may still have those of another command
    "${@:2}" >"$dir/out" 2>&1 &
    pid=$!
    until grep -q "$1" "$dir/out" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
    grep "$1" "$dir/out"
}

# nobody has the folder of Covey's own programs in PATH: the daemon knows where the workers' is
expect "a virtual machine of three hosts starts" env PATH=/usr/bin:/bin "$BUILD/covey" start --local 3
expect "of a program that was started by hand" passes env STOPS="$stops" "$program"
none_is_left
expect "of a task" passes covey run -n 1 --host h1 "$program"
none_is_left

expect "a program has a worker that waits" starts_and_says "ok, 1 workers" "$program" sleep 3600
kill -KILL $pid
wait $pid 2>/dev/null
none_is_left
ok "the worker of a caller that is killed ends"
expect "a program has a worker that waits" starts_and_says "ok, 1 workers" "$program" sleep 3600
covey halt >/dev/null 2>&1
kill -KILL $pid 2>/dev/null
wait $pid 2>/dev/null
no_process() { ! grep -lszxF "XDG_RUNTIME_DIR=$dir/run" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 |
    while read -r p; do readlink "/proc/$p/exe"; done | grep covey-domain-worker; }
expect "when the VM is halted no worker is left" within 10 no_process
finish
