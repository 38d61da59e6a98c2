#!/bin/bash
# strangers_test.sh - whoever connects and says nothing keeps nobody else out: of a task that takes
# links, of the offer of a place in the VM, of the metrics, of a daemon's socket. idle.c is who
# stays. Those on sockets of this user's own need to be his.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

idle() { # COUNT WHERE, until released
    mkfifo "$dir/idle.in"
    "$BUILD/tests/attack/idle" "$1" "$2" <"$dir/idle.in" >"$dir/idle.out" &
    idler=$!
    exec 7>"$dir/idle.in"
    rm "$dir/idle.in"
    within 60 grep -q . "$dir/idle.out" && echo "# $(cat "$dir/idle.out") of $1 connections to $2"
}
release() {
    exec 7>&-
    wait "$idler"
}
port_of() { ss -Htlnp | sed -n "s/.*:\([0-9]*\) .*[(,]pid=$1,.*/\1/p" | head -n 1; } # pid: where it listens

serve() { # sets tid and pid of a task on h0 that sends back what it gets
    COVEY_SOCKET=$(socket_of h0) "$BUILD/tests/attack/echo" serve >"$dir/serve" 7>&- &
    pid=$!
    within 20 grep -q '^t' "$dir/serve"
    tid=$(cat "$dir/serve")
}
ask() { COVEY_SOCKET=$(socket_of h1) "$BUILD/tests/attack/echo" ask "$tid" tcp 4; }

links_are_taken() {
    serve
    [ "$(ask)" = tcp ] || return 1 # it listens from now on
    idle 200 "$(port_of "$pid")"
    [ "$(ask)" = tcp ] && [ "$(ask)" = tcp ]
    local result=$?
    release
    COVEY_SOCKET=$(socket_of h1) "$BUILD/tests/attack/echo" stop "$tid" && wait "$pid" && return "$result"
}

# The program that starts a host brings the strangers along before the host is there.
an_offer_is_taken() {
    cat >"$dir/start" <<END
#!/bin/bash
cd '$PWD' && port=\$(ss -Htlnp | sed -n "s/.*:\([0-9]*\) .*[(,]pid=\$PPID,.*/\1/p" | head -n 1)
'$BUILD/tests/attack/idle' 100 "\$port" <'$dir/offer.in' >'$dir/offer.out' 2>&1 &
until [ -s '$dir/offer.out' ]; do sleep 0.05; done
eval "\$3"
END
    chmod +x "$dir/start"
    mkfifo "$dir/offer.in"
    exec 8<>"$dir/offer.in" # they stay until the host is there
    covey add --launcher exec --template "exec '$BUILD/coveyd' --offer '$dir/start' {host} run {command} --local" h7 &&
        [ "$(cat "$dir/offer.out")" = 100 ]
    local result=$?
    exec 8>&-
    return "$result"
}

scrape() { # port
    local fd
    exec {fd}<>"/dev/tcp/127.0.0.1/$1" || return 1
    printf 'GET /metrics HTTP/1.0\r\n\r\n' >&$fd
    timeout 20 cat <&$fd
    exec {fd}>&-
}

# The daemon has sixteen, and ends them after some seconds: it answers while they are there.
metrics_are_told() {
    local port there
    port=$(sed -n 's/.*metrics: port \([0-9]*\) of .*/\1/p' "$dir/run/covey/$COVEY_VM/h0.log")
    idle 40 "$port"
    scrape "$port" | grep -q covey_daemon
    local result=$?
    there=$(ss -Htn state established "dport = :$port" | wc -l)
    release
    echo "# $there of them are there"
    [ "$result" = 0 ] && [ "$there" = 15 ]
}

tasks_enrol() {
    idle 3000 "$(socket_of h0)"
    COVEY_SOCKET=$(socket_of h0) timeout 60 covey ps >"$dir/ps" && COVEY_SOCKET=$(socket_of h0) timeout 60 covey hosts >"$dir/hosts"
    local result=$?
    [ "$(kill -0 "$idler" && echo there)" = there ] && release
    return "$result"
}

printf '[monitor]\nmetrics = 9400-9499\n' >"$dir/config/covey/covey.conf"
covey start --local 2 >/dev/null || exit 1
expect "silent connections to a task keep no link out" links_are_taken
expect "silent connections to an offer keep no host out" an_offer_is_taken
expect "silent connections to the metrics keep no scraper out" within 60 metrics_are_told
expect "silent connections to a daemon keep no task out" tasks_enrol
finish
