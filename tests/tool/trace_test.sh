#!/bin/bash
# covey trace: what is recorded of programs, also of PVM's and of one that dies, and what is read in it: forms, and causes that
# were put there.
# timeout: 180
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
unset COVEY_TRACE
traced=$BUILD/tests/tool/traced
file=$dir/trace

says() { # status, pattern of a line that is said, command...
    local status
    timeout 60 "${@:3}" >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
    [ $status -eq "$1" ] && cat "$dir/out" "$dir/err" | grep -qE -- "$2" && return
    echo "${*:3}: status $status, said:" && tail -n 5 "$dir/out" "$dir/err" && false
}
rows() { covey trace --to csv "$file" | grep -cE -- "$1"; } # of the table that fit a pattern
has() { [ "$(rows "$1")" -eq "$2" ] || { echo "$(rows "$1") rows $1, not $2:" && covey trace --to csv "$file" | head -n 20 && false; }; }

covey start --local 2 >"$dir/started" || bad "a virtual machine starts"

# ---- what is recorded ----

expect "a program is traced" covey run --trace "$file" -n 4 "$traced" slow
expect "by task" says 0 '^[0-9]+ events of 4 tasks on 2 hosts' covey trace "$file"
expect "each send" has ',t[0-9a-f]+,send,' 80
expect "each receive, joined with its send" has ',t[0-9a-f]+,receive,.*,[0-9.]+,[0-9.]+$' 80
causal() { covey trace --to csv "$file" | awk -F, '$5 == "receive" && ($2 < $12 || $12 == "")' | grep . && return 1; return 0; }
expect "and none arrives before it left" causal
expect "words of the program's own" says 0 'traced: 1' env COVEY_TRACE="$file" covey run "$traced" words
expect "a mark" has ',mark,"a mark, with a ""quote""",' 1
expect "numbers" has ',count,number,,,,(0|1.5|3),' 3
expect "a part" has ',(enter|leave),part,' 2
expect "nothing is traced otherwise" says 0 'traced: 0' covey run "$traced" words
expect "a program that was started by hand" says 0 'traced: 1' env COVEY_TRACE="$file" "$traced" words
expect "it is there" has ',mark,' 1
covey run --trace "$file" -n 2 "$traced" die >"$dir/out" 2>&1
expect "the last words of a task that dies" has ',mark,last words,' 1
pvm=$BUILD/tests/pvm3/route
if [ -x "$pvm" ]; then
    expect "a program of PVM" says 0 . env COVEY_TRACE="$file" LD_LIBRARY_PATH="$BUILD/pvm3:$BUILD" PVM_WD="$dir" "$pvm"
    [ "$(rows ',(send|receive),')" -gt 0 ] || bad "its messages"
fi

# ---- where the time went, at the end of a run ----

mkdir "$dir/passing"
summed() { TMPDIR=$dir/passing covey run --summary "$@" 2>"$dir/sum" </dev/null >"$dir/out"; }
expect "a run is summed up" summed -n 4 "$traced" slow
expect "by task" [ "$(grep -cE '^t[0-9a-f]+ +h[01] +[0-9.]+ +[0-9.]+ ' "$dir/sum")" = 4 ]
expect "with the longest waits, three at most" test "$(grep -cE '^  t[0-9a-f]+ waited [0-9.]+ s, ' "$dir/sum")" = 3
expect "that leaves no file" [ -z "$(ls "$dir/passing")" ]
summed --trace "$dir/kept" -n 2 "$traced" words
expect "of a file that is kept" says 0 'events of 2 tasks' covey trace "$dir/kept"
summed -n 2 sh -c 'exit 3'
expect "the exit status is the tasks'" [ $? = 3 ]
expect "no folder for it" says 1 'summary: .*No such file' env TMPDIR="$dir/none" covey run --summary true

# ---- the file ----

# A program's own is written while it runs, as it comes; a command compresses it at the end.
begins() { [ "$(head -c 4 "$1" | od -An -tx1)" = "$2" ]; }
expect "a command's is compressed" begins "$dir/kept" ' 28 b5 2f fd'
expect "a program's is not" says 0 'traced: 1' env COVEY_TRACE="$dir/plain" "$traced" words
expect "and is read alike" says 0 'events of 1 task' covey trace "$dir/plain"
expect "it is text at first" begins "$dir/plain" ' 63 6f 76 65'
{ head -c $(($(wc -c <"$dir/kept") / 2)) "$dir/kept" && printf 'covey' && tail -c $(($(wc -c <"$dir/kept") / 2 - 5)) "$dir/kept"; } >"$dir/damaged"
expect "a damaged one is told" says 1 'damaged' covey trace "$dir/damaged"
ln -s kept "$dir/link"
summed --trace "$dir/link" -n 2 "$traced" words
expect "a link stays one" test -L "$dir/link"
expect "to a file that is compressed" begins "$dir/kept" ' 28 b5 2f fd'
expect "nothing is left beside it" [ -z "$(ls "$dir" | grep '^kept\.')" ]

# ---- a trace of all, of a virtual machine that runs ----

mkfifo "$dir/fifo"
covey run "$traced" wait <"$dir/fifo" &
waiter=$!
exec 5<>"$dir/fifo"
runs() { covey ps | grep -q 'traced wait'; }
within 30 runs || bad "a task runs"
expect "it begins" says 0 'is traced into' covey trace start "$file"
expect "there is one at a time" says 1 'is traced already, by t' covey run --trace "$dir/other" "$traced" words
covey run -n 2 "$traced" words >"$dir/out"
expect "it ends" covey trace stop
expect "what ran meanwhile is there" has ',mark,' 2
expect "nobody traces any more" says 1 'nobody traces this virtual machine' covey trace stop
exec 5>&-
wait $waiter

# ---- causes ----

covey run --trace "$file" -n 4 "$traced" slow
expect "who computes longer than others" says 0 '^1\. .*(on h[01] kept the others waiting: it computed [0-9.]+ times|h[01] is slow)' covey trace --why "$file"
expect "what others waited for" grep -q 'waited .* in recv_array for t' "$dir/out"
expect "the critical path" grep -q 'The critical path' "$dir/out"
covey run --trace "$file" -n 4 "$traced" lock
expect "a lock that is held" says 0 "^1\. .*the lock 'gate' was waited for, most for t" covey trace --why "$file"

# ---- forms ----

covey trace --to perfetto --out "$dir/perfetto" "$file"
[ -s "$dir/perfetto" ] || bad "a file for Perfetto"
if command -v protoc >/dev/null; then
    protoc --decode_raw <"$dir/perfetto" >"$dir/decoded" || bad "it is protocol buffers"
    same_flows() { # each flow has two ends
        local begins ends
        begins=$(sed -n 's/^ *47: //p' "$dir/decoded" | /usr/bin/sort)
        ends=$(sed -n 's/^ *48: //p' "$dir/decoded" | /usr/bin/sort)
        [ -n "$begins" ] && [ "$begins" = "$ends" ]
    }
    expect "flows join what was sent and what was received" same_flows
fi
covey trace --to paje "$file" >"$dir/paje"
pushed() { [ "$(grep -c '^6 ' "$dir/paje")" -gt 0 ] && [ "$(grep -c '^6 ' "$dir/paje")" -eq "$(grep -c '^7 ' "$dir/paje")" ]; }
expect "states of Paje end" pushed
in_order() { awk '/^[0-9]/ && $1 != 3 && $1 > 3 { if ($2 + 0 < at) exit 1; at = $2 + 0 }' "$dir/paje"; }
expect "in the order of time" in_order
if command -v vite >/dev/null; then
    cp "$dir/paje" "$dir/paje.trace" # ViTE tells the form by the name
    expect "ViTE reads it" says 0 '0 errors and 0 warnings' env QT_QPA_PLATFORM=offscreen vite -e "$dir/paje.svg" "$dir/paje.trace"
else
    skip "ViTE reads it" "vite is not installed"
fi

# ---- the page ----

# As a browser has it in the end.
page() {
    local root=()
    [ "$(id -u)" != 0 ] || root=(--no-sandbox)
    covey trace --to html --out "$dir/page.html" "$1" &&
        timeout 120 chromium --headless=new "${root[@]}" --disable-gpu --user-data-dir="$dir/browser" --dump-dom "file://$dir/page.html" >"$dir/dom" 2>"$dir/err"
}
shows() { grep -qE -- "$1" "$dir/dom" || { tail -n 5 "$dir/err" && false; }; }
hostile='</script><script>document.documentElement.dataset.owned=1</script><img src=x onerror=document.documentElement.dataset.owned=2>' # a name
COVEY_TRACE=$dir/hostile covey run -n 2 "$traced" words "$hostile" >"$dir/out"
covey trace --to html --out "$dir/page.html" "$dir/hostile"
covey run --trace "$dir/bag" -n 3 "$traced" bag '</script><img src=x onerror=document.body.dataset.owned=3>' <"$dir/fifo" &
waiter=$!
exec 5<>"$dir/fifo"
bag_is_done() { covey bags --json | grep -q '"done": 40'; }
within 30 bag_is_done || bad "a bag"
sees() { covey trace --to html "$dir/bag" | grep -qF "$1"; }
within 30 sees '40,40,0,0,' || bad "a bag is seen while it is recorded"
exec 5>&-
wait $waiter
expect "hosts are seen, too" sees '"seen":{"hosts":[[0,'
expect "a page has the scripts that it was made with" [ "$(grep -c '<script' "$dir/page.html")" = "$(grep -c '<script' tools/trace/page/page.html)" ]
expect "and loads nothing" [ "$(grep -cE '(src|href)="|https?://' "$dir/page.html")" = 0 ]
if command -v chromium >/dev/null; then
    expect "a browser draws it" page "$dir/kept" && expect "to the end" shows 'data-drawn="[0-9]+"'
    expect "with a row for each task" [ "$(sed -n 's/.*<table id="tasks">//p' "$dir/dom" | grep -o '<td class="text">t[0-9a-f]*</td>' | wc -l)" = 2 ]
    expect "and the program's numbers" shows '<p class="faint">[a-z]+, 2 tasks</p>'
    expect "what a program calls its numbers" page "$dir/hostile"
    expect "is shown" shows '&lt;/script&gt;&lt;script&gt;document.*onerror=.*, 2 tasks'
    expect "and not run" [ "$(grep -c 'data-owned' "$dir/dom")" = 0 ]
    expect "what was predicted beside what it took" shows '<td class="text">part</td>.*<td>0\.125</td>'
    expect "hosts and what they logged" shows '<section id="hostsection">'
    expect "a bag, whatever its name" page "$dir/bag"
    expect "is shown, too" shows '&lt;/script&gt;&lt;img src=x onerror=.*&gt;: [0-9]+ of [0-9]+ items done'
    expect "and not run, either" [ "$(grep -c 'data-owned' "$dir/dom")" = 0 ]
else
    skip "the page in a browser" "chromium is not installed"
fi

# ---- files that are no traces, or not whole ----

head -c $(($(stat -c %s "$dir/plain") / 2)) "$dir/plain" >"$dir/half"
expect "half a trace" says 0 'ends in the middle' covey trace "$dir/half"
expect "no trace" says 1 'this is no trace of Covey' covey trace tests/tool/trace_test.sh
expect "no file" says 1 'No such file' covey trace "$dir/none"
expect "no form" says 2 '--to gif: must be' covey trace --to gif "$file"
expect "nothing to read" says 2 'is missing' covey trace
expect "a file that cannot be written" says 1 'no/file: No such file' covey run --trace "$dir/no/file" true
finish
