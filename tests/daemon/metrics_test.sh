#!/bin/bash
# metrics_test.sh - the figures of a daemon for Prometheus: what is served, to whom, and what clients
# that mean harm can do.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh

conf() { printf '[monitor]\n%b' "$1" >"$dir/config/covey/covey.conf"; }
log_of() { cat "$dir/run/covey/$COVEY_VM/$1.log"; } # host
port_of() { log_of "$1" | sed -n 's/.*metrics: port \([0-9]*\) of .*/\1/p'; }
ask() { # port, text: what a server of this machine answers
    exec 5<>"/dev/tcp/127.0.0.1/$1" || return 1
    printf '%b' "$2" >&5
    cat <&5
    exec 5>&-
}
scrape() { ask "$1" 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n' >"$dir/said"; } # port

off() { # unless it is asked for
    covey start --local 1 >/dev/null || return 1
    ! log_of h0 | grep -q 'metrics: ' && [ "$(ls "$dir/run/covey/$COVEY_VM")" = "$(printf 'h0.log\nh0.sock')" ] && covey halt
}

# Each line is a comment or NAME{vm="...",host="..."} NUMBER, and each name has its type before it.
is_exposition() { # file without the head of HTTP
    awk -v vm="$COVEY_VM" '
        /^# HELP covey_[a-z0-9_]+ .+/ { next }
        /^# TYPE covey_[a-z0-9_]+ (gauge|untyped)$/ { if (typed[$3]++) bad = "twice: " $0; next }
        { name = $1; sub(/\{.*/, "", name)
          if (!typed[name]) bad = "no type: " $0
          if ($0 !~ "^covey_[a-z0-9_]+\\{vm=\"" vm "\",host=\"h[0-9]\"\\} [0-9.e+-]+$") bad = $0
          lines++ }
        END { if (bad != "") print bad; exit bad != "" || lines < 60 }' "$1"
}
serves() {
    scrape "$(port_of "$1")" && head -n 1 "$dir/said" | grep -q '^HTTP/1.1 200 OK' || return 1
    tr -d '\r' <"$dir/said" | sed '1,/^$/d' >"$dir/text"
    [ "$(tr -d '\r' <"$dir/said" | sed -n 's/^Content-Length: //p')" = "$(wc -c <"$dir/text")" ] &&
        is_exposition "$dir/text" && grep -q "^covey_host_load1{vm=\"$COVEY_VM\",host=\"$1\"} " "$dir/text" &&
        grep -q '^covey_host_memory_free_bytes{.*} [1-9]' "$dir/text" &&
        grep -q '^covey_daemon_udp_datagrams_sent{.*} [1-9]' "$dir/text"
}
curl_reads_it() {
    curl -sf "http://127.0.0.1:$(port_of h0)/metrics" >"$dir/text" && is_exposition "$dir/text"
}
answers() { # status, request
    ask "$(port_of h0)" "$2" | head -n 1 | grep -q "^HTTP/1.1 $1" # head may leave the rest unread
}
two_ports() { [ "$(port_of h0)" != "$(port_of h1)" ] && serves h0 && serves h1; }
loopback() { # on no other address
    local port
    port=$(printf '%04X' "$(port_of h0)")
    [ "$(awk -v port="$port" '$4 == "0A" && $2 ~ ":" port "$" { print $2 }' /proc/net/tcp)" = "0100007F:$port" ] &&
        ! awk '{ print $2 }' /proc/net/tcp6 2>/dev/null | grep -q ":$port\$"
}

descriptors() { find "/proc/$(daemon_pid h0)/fd" -mindepth 1 | wc -l; }
at_rest() { for _ in {1..5}; do descriptors && sleep 0.2; done | sort -n | head -n 1; } # without callers that are just leaving
silent_clients() { # many, who say nothing or half a request: bounded, and ended
    local port before fd i fds=()
    port=$(port_of h0)
    before=$(at_rest)
    for i in $(seq 1 30); do
        exec {fd}<>"/dev/tcp/127.0.0.1/$port" || return 1
        fds+=("$fd")
        [ $((i % 2)) = 0 ] && printf 'GET /met' >&"$fd"
    done
    within 5 eval '[ $(descriptors) -ge $((before + 16)) ]' || return 1
    [ "$(descriptors)" -le $((before + 16)) ] || { echo "$(descriptors) descriptors, $before before" && return 1; }
    covey hosts >/dev/null || return 1 # the daemon does its work
    for fd in "${fds[@]}"; do exec {fd}>&-; done
    within 20 serves h0 && within 10 eval '[ $(descriptors) -le $before ]'
}
slow_reader() { # asks, and takes nothing: gone after some seconds, and meanwhile others are served
    local port fd before
    port=$(port_of h0)
    before=$(descriptors)
    exec {fd}<>"/dev/tcp/127.0.0.1/$port"
    printf 'GET /metrics HTTP/1.1\r\n' >&"$fd"
    serves h0 && within 10 eval '[ $(descriptors) -le $before ]'
    exec {fd}>&-
}
too_long() { # the daemon closes while more comes: an answer, or none
    local fd
    exec {fd}<>"/dev/tcp/127.0.0.1/$(port_of h0)"
    (head -c 100000 /dev/zero | tr '\0' x >&"$fd") 2>/dev/null
    exec {fd}>&-
    serves h0
}
busy_port() { # of one port only one daemon can be had
    conf 'metrics = 9530\n'
    ! covey start --local 2 >"$dir/out" 2>&1 && grep -q 'metrics: cannot listen on port 9530' "$dir/out" || { cat "$dir/out" && false; }
}

local_socket() {
    conf 'metrics = socket\n[daemon]\nfail_timeout = 1\n'
    covey start --local 2 >/dev/null || return 1
    local at=$dir/run/covey/$COVEY_VM/h1.metrics
    [ -S "$at" ] && [ "$(stat -c %a "$at")" = 600 ] || return 1
    if command -v curl >/dev/null; then
        curl -sf --unix-socket "$at" http://x/metrics >"$dir/text" && is_exposition "$dir/text" || return 1
    fi
    kill -KILL "$(daemon_pid h1)" # what it leaves is removed by the last one
    covey halt && within 5 eval '! [ -e "$dir/run/covey/$COVEY_VM" ]'
}
bad_setting() { # line of the file, what is said
    conf "$1"
    covey start --local 1 >"$dir/out" 2>&1 && return 1
    grep -q "$2" "$dir/out" || { cat "$dir/out" && return 1; }
}

expect "nothing listens unless asked for" off
conf 'metrics = 9500-9529\n'
covey start --local 2 >/dev/null || bad "two virtual hosts start"
expect "the figures as Prometheus reads them" serves h0
if command -v curl >/dev/null; then expect "curl reads them" curl_reads_it; else skip "curl" "it is not installed"; fi
expect "each daemon has a port of its own" two_ports
expect "on the loopback alone" loopback
expect "another path is not found" answers 404 'GET / HTTP/1.1\r\n\r\n'
expect "another method is refused" answers 405 'DELETE /metrics HTTP/1.1\r\n\r\n'
expect "what is no request is refused" answers 400 'hello\r\n\r\n'
expect "silent clients are bounded and ended" silent_clients
expect "half a request holds nobody up" slow_reader
expect "an endless request does no harm" too_long
covey halt
expect "a port that is taken is an error" busy_port
covey halt 2>/dev/null
expect "a local socket" local_socket
expect "a metrics that is none is named" bad_setting 'metrics = 0\n' 'metrics must be off, socket, a port or FIRST-LAST'
expect "a metrics_bind that is none is named" bad_setting 'metrics_bind = localhost\n' 'metrics_bind must be an IP address'
finish
