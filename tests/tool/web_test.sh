#!/bin/bash
# covey web: who gets an answer, how many, how much, and what a browser shows of it.
# timeout: 180
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
made_up=$BUILD/tests/tool/web_serve
browse=$BUILD/tests/tool/browse

says() { # status, pattern of a line that is said, command...
    local status
    timeout 60 "${@:3}" >"$dir/out" 2>"$dir/err" </dev/null
    status=$?
    [ $status -eq "$1" ] && cat "$dir/out" "$dir/err" | grep -qE -- "$2" && return
    echo "${*:3}: status $status, said:" && tail -n 5 "$dir/out" "$dir/err" && false
}

# What is answered to a request of raw bytes; the connection is kept in $wire if `keep` is the third word.
ask() { # port, request, [keep]
    exec {wire}<>"/dev/tcp/127.0.0.1/$1" && printf '%b' "$2" >&$wire && IFS= read -r -t 20 -u $wire answer
    answer=${answer%$'\r'}
    [ "${3:-}" = keep ] || exec {wire}>&-
}
gets() { # answer, target, [method, host]
    answer=
    ask "$port" "${3:-GET} $2 HTTP/1.1\r\nHost: ${4:-127.0.0.1}\r\n\r\n"
    [[ $answer = "HTTP/1.1 $1"* ]] || { echo "${3:-GET} $2: '$answer', not $1" && false; }
}
is_open() { [ -s "$dir/url" ]; }
opened() { # sets url, port and token of what prints its address into $dir/url
    within 30 is_open || { bad "a page is served"; finish; }
    url=$(cat "$dir/url")
    port=${url#http://127.0.0.1:} port=${port%%/*} token=${url#*token=}
}

# ---- a virtual machine ----

expect "no VM" says 1 'no VM named .* runs here' covey web
covey start --local 3 >"$dir/started" || bad "a virtual machine starts"
expect "an address that is none" says 2 'must be ADDRESS:PORT' covey web --listen 127.0.0.1:99999
expect "an address that is not here" says 1 'cannot listen on port 1 of 203.0.113.1' covey web --listen 203.0.113.1:1
expect "a name" says 1 'localhost is no address' covey web --listen localhost
expect "a time that is none" says 2 'must be seconds' covey web --for -1
expect "it ends after a while" says 0 '^http://127.0.0.1:[0-9]+/[?]token=[0-9a-f]{32}$' covey web --for 0.2
expect "a port that all can reach is warned of" says 0 'can be read by all' covey web --listen 0.0.0.0 --for 0.2
covey web >"$dir/url" 2>"$dir/said" &
web=$!
opened

expect "the page" gets 200 "/?token=$token"
expect "no token" gets 403 /
expect "no token for events" gets 403 /events
expect "a wrong token" gets 403 "/events?token=${token%?}"
expect "another wrong token" gets 403 "/?token=0$token"
expect "a name as host" gets 403 "/?token=$token" GET evil.example
expect "localhost" gets 200 "/?token=$token" GET localhost:8000
expect "another page" gets 404 "/etc/passwd?token=$token"
expect "another method" gets 405 "/?token=$token" POST
expect "and another" gets 405 "/?token=$token" HEAD
ask "$port" "$(printf 'x%.0s' {1..5000})"
expect "a request that does not end" [ "$answer" = "HTTP/1.1 400 Bad Request" ]
ask "$port" "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" keep
{ cat <&$wire >"$dir/forbidden"; exec {wire}>&-; } 2>/dev/null
bare() { sed '1,/^\r$/d' "$dir/forbidden" | grep -q . && return 1; grep -qiE '^(cache-control: no-store|referrer-policy: no-referrer)' "$dir/forbidden"; }
expect "a refusal has no content" bare

# Connections that say nothing take no place from those that ask; viewers are as many as are allowed.
silent=() viewers=()
for _ in {1..40}; do exec {wire}<>"/dev/tcp/127.0.0.1/$port" && silent+=("$wire"); done
expect "beside connections that say nothing" gets 200 "/?token=$token"
for wire in "${silent[@]}"; do exec {wire}>&-; done
for _ in {1..16}; do ask "$port" "GET /events?token=$token HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" keep && viewers+=("$wire"); done
expect "16 viewers" [ "${#viewers[@]} $answer" = "16 HTTP/1.1 200 OK" ]
expect "and no more" gets 503 "/events?token=$token"
expect "the page is there for more" gets 200 "/?token=$token"
for wire in "${viewers[@]}"; do exec {wire}>&-; done
again() { gets 200 "/events?token=$token"; }
expect "one goes, another comes" within 10 again

# What it tells: hosts, a task that begins and ends, and the state of what does not answer.
ask "$port" "GET /events?token=$token HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" keep
cat <&$wire >"$dir/events" &
reader=$!
told() { grep -qE -- "$1" "$dir/events"; }
expect "hosts" within 20 told '"name":"h2"'
expect "samples" within 20 told '"first":[0-9]+,"n":1,"hosts":3,'
covey run -n 1 sleep 1000 >"$dir/out" &
runner=$!
expect "a task" within 20 told '"command":"sleep 1000","first":[0-9]+,"ended":false'
kill $runner
expect "its end" within 20 told '"command":"sleep 1000","first":[0-9]+,"ended":true'
expect "logs" within 20 told '^data: \{"leftOut":0,"rows":\[\["h[0-2]",'
covey remove h2 >"$dir/out"
expect "a host that is gone" within 20 told '\["h2","the host is down"\]'
covey halt >"$dir/out"
expect "the VM is gone" within 30 told '"trouble":"the VM does not answer: '
covey start --local 1 >"$dir/started"
expect "a new one" within 30 told '"hosts":1,"tasks":0,"hostsLeftOut":0,"tasksLeftOut":0,"trouble":""'
kill -INT $web
kill -0 $web 2>/dev/null && kill $web # a shell has INT ignored by what runs in the background
wait $web
expect "it ends when it is told to" [ $? = 0 ]
wait $reader
exec {wire}>&-

# ---- one that is made up, in a browser ----

serve() { # arguments of web_serve
    rm -f "$dir/url"
    mkfifo "$dir/rein" 2>/dev/null
    "$made_up" "$@" <"$dir/rein" >"$dir/url" &
    web=$!
    exec {rein}>"$dir/rein"
    opened
}
end() { exec {rein}>&- && wait $web; }
# What is read is of one moment: of what had come it is drawn before.
seen() { BROWSE_S=120 "$browse" "$dir/browser" "$url" 1300 1900 "until=document.documentElement.dataset.drawn > 0" "$@" >"$dir/out" 2>"$dir/err" || { cat "$dir/err" && false; }; }
line() { sed -n "$1p" "$dir/out"; }

hostile='</script><img src=x onerror=owned=1>'
serve 100 40 20 100 101 10000000
ask "$port" "GET /events?token=$token HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" keep
slow=$wire # it reads no more
if command -v chromium >/dev/null; then
    expect "a browser draws a hundred hosts" seen "until=newest >= 400 && totals !== null && totals.tasks === 4000 && bags.length > 0 && net !== null && (draw(), true)" 'eval=document.getElementById("missing").textContent' \
        'eval=document.getElementById("timeline").height > 1000' 'eval=document.querySelectorAll("#hosts tbody tr").length' \
        'eval=document.querySelector("#bags progress").value > 0' 'eval=document.getElementById("network").textContent.includes("node99")' \
        'eval=(document.getElementById("open").click(), draw(), drawnRows.length)' 'eval=document.getElementById("view").textContent'
    expect "and says what it leaves out" [ "$(line 1)" = "512 of 4000 tasks shown; all: covey ps." ]
    expect "with a picture" [ "$(line 2)" = true ]
    expect "a row for each host" [ "$(line 3)" = 100 ]
    expect "the progress of a bag" [ "$(line 4)" = true ]
    expect "the network" [ "$(line 5)" = true ]
    expect "and so many tasks as fit" [ "$(line 6)" = 160 ]
    expect "of which it says so" grep -q '^rows 1 to 160 of 6' "$dir/out"
    expect "who waits" seen 'until=waits !== null && totals !== null && (draw(), true)' 'eval=document.getElementById("waitsnote").textContent' 'eval=document.querySelectorAll("#waits tbody tr").length' \
        'eval=document.querySelector("#waits tbody tr").textContent' 'eval=document.getElementById("waitsfirst").textContent'
    expect "how many, and of whom that is not known" grep -qE '^[0-9]{4} tasks wait now; the 20 longest waits are shown, all: covey ps --sort wait. Of [0-9]{3} tasks it is not known' "$dir/out"
    expect "with the longest" [ "$(line 2)" = 20 ]
    expect "of which it says who, where, what for and how long" grep -qE '^t[0-9a-f]+node[0-9]+simulate --part [0-9]+(lock result|bag_get frames|recv from t40001 tag 11)17 min$' "$dir/out"
    expect "and for whom most wait" grep -qE '^Most wait for t40001: 1[0-9]{3} tasks' "$dir/out"
    expect "messages" seen 'until=flights !== null && newest >= 300 && (draw(), ring.size > 0)' 'eval=document.getElementById("flightsnote").textContent' \
        'eval=document.querySelectorAll("#pairs tbody tr").length' 'eval=ring.size' 'eval=dots.length <= DOTS_ALL'
    expect "how many, and what is left out" grep -qE '^In the last 2 s [0-9]+ messages of [0-9]{4} pairs of tasks, .* The 64 pairs with most are shown[.] .*Not all tasks were asked[.] 96 of 512 tasks are in the ring[.]' "$dir/out"
    expect "a table of those with most" [ "$(line 2)" = 12 ]
    expect "a ring of so many tasks as have room" [ "$(line 3)" = 96 ]
    expect "and no more dots than are meant" [ "$(tail -n 1 "$dir/out")" = true ]
    expect "bytes between hosts" seen 'until=matrix !== null && matrix.cells.length > 0 && net !== null && newest >= 300 && (draw(), true)' 'eval=document.getElementById("matrixnote").textContent' \
        'eval=document.querySelectorAll("#cells tbody tr").length' 'eval=(() => { const c = document.getElementById("matrix"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i + 2] > d[i + 1] + 30; return n > 500; })()' \
        'eval=/^ *s[1-4] .* down .* up .*[1-9]/m.test(document.getElementById("network").textContent)' 'eval=cellText(matrix.cells[0])'
    expect "are told of, with what is left out" grep -qE '^Rows send, columns receive: .* The darkest is [0-9.]+ [kMG]?B, in steps .* Not all tasks were asked[.]' "$dir/out"
    expect "in a table of the pairs with most" [ "$(line 2)" = 12 ]
    expect "in a picture" [ "$(line 3)" = true ]
    expect "and on the links of switches" [ "$(line 4)" = true ]
    expect "each in words" grep -qE '^node[0-9]+ to node[0-9]+: [0-9.]+ [kMG]?B/s now, [0-9.]+ [kMG]?B since covey web began$' "$dir/out"
    # samples of the past come last, and rows go to other tasks: the words are of one that has all that is told
    expect "what tasks do" seen 'until=first <= newest - S + 1 && (document.getElementById("open").click(), draw(), told = drawnRows.findIndex(r => r.task !== undefined && shares[taskBytes[place(newest) * TASKS + r.task]] && taskFigures[r.task * FIGURES + 2] !== UNKNOWN)) >= 0 && (told = describe(0, TOP + H * (1 + told) - 1), true)' 'eval=told' \
        'eval=(() => { const c = document.getElementById("timeline"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, has = n => { for (let i = 0; i < d.length; i += 4) if (d[i] === ink[n][0] && d[i + 1] === ink[n][1] && d[i + 2] === ink[n][2]) return true; return false; }; return ["compute", "call", "wait"].map(has).join(); })()'
    expect "is told in words" [ "$(grep -cE '^(computes [0-9]+ %, in calls [0-9]+ %, waits [0-9]+ %, seen for|now: CPU [0-9]+ %, memory [0-9.]+ MB|out [0-9.]+/s messages, .*/s; in [0-9.]+/s, )' "$dir/out")" = 3 ]
    expect "and in colours" grep -qx 'true,true,true' "$dir/out"
    end
    serve 2 6 1 100 1000000 10000000 "$hostile" # its looks go on: dots fly after each
    expect "hostile names" seen 'until=totals !== null && waits !== null && flights !== null && document.getElementById("log").childElementCount > 3 && (draw(), ring.size > 0)' 'eval=document.body.innerText' 'eval=document.title' \
        'eval=typeof owned' 'eval=document.images.length + document.scripts.length'
    expect "of the VM are shown" grep -qF "Virtual machine $hostile" "$dir/out"
    shown() {
        grep -qF "node01$hostile" "$dir/out" && grep -F "$hostile" "$dir/out" | grep -q 'look [0-9]*: <' && grep -qF "began: $hostile" "$dir/out"
    }
    expect "and those of hosts, tasks and what is logged" shown
    waited_for() { grep -qF "lock $hostile" "$dir/out" && grep -qF "bag_get $hostile" "$dir/out"; }
    expect "those of a lock and a bag that tasks wait for" waited_for
    expect "and not run" [ "$(tail -n 2 "$dir/out" | tr '\n' ' ')" = "undefined 1 " ]
    expect "messages fly between them" seen 'until=flights !== null && flights.rows.every(f => ring.has(f[0]) && ring.has(f[1]))' \
        'until=(() => { const c = document.getElementById("flights"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255 && d[i] === ink.fly[0] && d[i + 1] === ink.fly[1] && d[i + 2] === ink.fly[2]) return dots.length > 0; return false; })()'
else
    skip "the page in a browser" "chromium is not installed"
fi
end
exec {slow}>&-
finish
