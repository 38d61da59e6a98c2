#!/bin/bash
# ether.sh - raw Ethernet beside tcp and udp between two hosts of a lab: half round trips and, from them,
# alpha and beta as Schmidt & Sunderam read their Table 1 (section 2.3).
#
#   tests/bench/ether.sh
#   tests/bench/ether.sh services    what tasks agree on, over raw frames and over UDP
#   tests/bench/ether.sh ways        the ways that Linux has for raw frames, without Covey (packet_ways.c)
#
# Needs root (tests/lab); status 77 without. From the environment, by default:
#   HOSTS="2 8" (over one pair of links, and on a switch with as many)  MTUS="1500 9000"
#   RUNS=5  ROUNDS=15  RATE= (of the hosts' links; as fast as the machine)  SIZES=1,1K,64K,1M
#   (three sizes at least, for alpha and beta)
#
# Every run is a lab and a VM of its own (vm.sh), in which each host keeps to a processor and computes
# its checksums itself; printed are the medians of the runs, and their ratios to those of tcp and udp.
# What is named first after another route is measured a little slower, so each run begins with another
# route. Frames go straight from task to task, then through the daemons, as they do without
# `direct = yes`; and at last receivers sleep: 1 ms before each message.
#
# Services: three tasks on three of four hosts, of which the first leads (services_load.c). Labs over
# raw frames and over UDP alternate.
#
# Ways: two hosts of one lab, a row for a way out and a way in; each run takes all ways in turn. SHAPERS=no takes
# the shapers of its links away and leaves the hosts' offloads on.
set -u
[ $# = 0 ] || [ "$*" = services ] || [ "$*" = ways ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2; }

here=$(cd "$(dirname "$0")" && pwd)
lab=$here/../lab/lab
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-ether-bench.XXXXXX") || exit 1
finish() {
    [ ! -e "$work/lab" ] || "$lab" down
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
printf '[ether]\nenabled = yes\ndirect = yes\n' >"$work/direct"
printf '[ether]\nenabled = yes\n' >"$work/daemons"
printf '[ether]\nenabled = yes\nservices = no\n' >"$work/udp"
runs=${RUNS:-5}
orders=("ether,tcp,udp" "tcp,udp,ether" "udp,ether,tcp")

pingpong() { # CONF HOSTS MTU ROUTES OPTION...
    "$here/../lab/vm.sh" --hosts "$2" --mtu "$3" ${RATE:+--rate "$RATE"} --no-offload --pin --conf "$work/$1" -- \
        covey bench pingpong --route "$4" --host h1,h2 --rounds "${ROUNDS:-15}" "${@:5}" 2>"$work/errors" && return
    local status=$?
    cat "$work/errors" >&2
    return $status
}

# Medians of what runs of `covey bench pingpong` printed, a row a route or raw program.
rows() { # SIZES
    awk -v sizes="$1" '
        function figure(us) { return sprintf(us < 100 ? "%.3g" : "%.0f", us) }
        function median(list,    a, n, i, j, t) {
            n = split(list, a, " ")
            for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
            return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
        }
        /^pingpong on/ { first = $0; sub(/.*, route /, "", first); sub(/[ ,].*/, "", first) }
        $1 == "BYTES" { split("", column); for (i = 9; i < NF; i += 2) column[i] = $i; column[2] = "covey-" first }
        $1 ~ /^[0-9]+$/ { for (i in column) if ($i != "-") { there[column[i]]; us[column[i], $1] = us[column[i], $1] " " $i } }
        $2 == "alpha" { sub(/:$/, "", $1); alpha[$1] = alpha[$1] " " $3; beta[$1] = beta[$1] " " $6 }
        END {
            n = split(sizes, size, " ")
            m = split("covey-ether covey-tcp covey-udp ether-spin ether tcp-spin tcp udp-spin udp", name, " ")
            for (r = 1; r <= m; r++) {
                if (!(name[r] in there)) continue
                line = "| " name[r]
                for (i = 1; i <= n; i++) line = line " | " ((name[r], size[i]) in us ? figure(median(us[name[r], size[i]])) : "")
                fit = name[r] in alpha ? sprintf("%.2f | %.3f", median(alpha[name[r]]), median(beta[name[r]])) : " | "
                print line " | " fit " |"
            }
            if ("covey-ether" in there) print ""
            for (r = 2; r <= 3; r++) {
                if (!(name[1] in there && name[r] in there)) continue
                line = name[1] " over " name[r] ": "
                if (name[1] in alpha && name[r] in alpha) line = line sprintf("alpha %.2f, ", median(alpha[name[1]]) / median(alpha[name[r]]))
                for (i = 1; i <= n; i++) line = line sprintf("%s%s B %.2f", i > 1 ? ", " : "", size[i], median(us[name[1], size[i]]) / median(us[name[r], size[i]]))
                print line
            }
        }'
}

table() { # TITLE CONF HOSTS MTU OPTION...
    local i sizes
    for ((i = 0; i < runs; i++)); do
        pingpong "$2" "$3" "$4" "${orders[i % 3]}" "${@:5}" || return
    done >"$work/printed" || return 1
    sizes=$(awk '$1 ~ /^[0-9]+$/ { print $1 }' "$work/printed" | sort -nu | paste -sd' ')
    printf '\n%s, %s hosts, MTU %s%s\n\n' "$1" "$3" "$4" "${RATE:+, links of ${RATE}bit/s}"
    echo "| microseconds for bytes: | ${sizes// / | } | alpha, us | beta, ns/byte |"
    echo "|---|$(for _ in $sizes; do printf -- '---:|'; done)---:|---:|"
    rows "$sizes" <"$work/printed"
}

services() { # CONF MTU
    local load
    load=$(realpath "${BUILD:-$here/../../build}")/tests/bench/services_load
    "$here/../lab/vm.sh" --hosts 4 --mtu "$2" ${RATE:+--rate "$RATE"} --no-offload --conf "$work/$1" -- \
        covey run -n 3 --host h2,h3,h4 "$load" "${ROUNDS:-200}" 2>"$work/errors" && return
    local status=$?
    cat "$work/errors" >&2
    return $status
}
services_table() { # MTU
    local i way
    for ((i = 0; i < runs; i++)); do
        for way in daemons udp; do
            services $way "$1" >"$work/said" || return
            sed "s/^/$way /" "$work/said"
        done
    done >"$work/printed" || return 1
    printf '\nServices, 4 hosts, MTU %s%s\n\n' "$1" "${RATE:+, links of ${RATE}bit/s}"
    sort -k1,2 -k3,3n "$work/printed" | awk '
        function median(list,    a, n) {
            n = split(list, a, " ")
            return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
        }
        function range(list,    a, n) { n = split(list, a, " "); return sprintf("%.0f to %.0f", a[1], a[n]) }
        { us[$1, $2] = us[$1, $2] " " $3 }
        END {
            print "| microseconds | raw frames | UDP | raw / UDP | raw frames, all runs | UDP, all runs |"
            print "|---|---:|---:|---:|---:|---:|"
            n = split("lock+unlock owner token barrier election propose", name, " ")
            for (i = 1; i <= n; i++) {
                raw = median(us["daemons", name[i]]); udp = median(us["udp", name[i]])
                printf "| %s | %.0f | %.0f | %.2f | %s | %s |\n", name[i], raw, udp, raw / udp,
                    range(us["daemons", name[i]]), range(us["udp", name[i]])
            }
        }'
}
if [ "$*" = services ]; then
    for mtu in ${MTUS:-1500}; do
        services_table "$mtu" || exit
    done
    exit
fi

unshape() {
    local host
    for host in h1 h2; do "$lab" exec $host tc qdisc del dev eth0 root || return; done
    for host in p1 p2; do nsenter --net="/run/netns/covey-lab.$LAB" tc qdisc del dev $host root || return; done
}
way() { # OUT IN: a line that packet_ways prints
    local program taker
    program=$(realpath "${BUILD:-$here/../../build}")/tests/bench/packet_ways
    "$lab" exec h2 "$program" take "$2" >"$work/taker" &
    taker=$!
    [[ $1 != tcp ]] || sleep 0.5 # the others say hello until they are answered
    "$lab" exec h1 "$program" send "$1" "$("$lab" addr h2 4)" >"$work/sender"
    kill $taker 2>/dev/null # it ends by itself unless the sender was refused
    wait $taker 2>/dev/null
    if grep -q refused "$work/taker"; then cat "$work/taker"; else cat "$work/sender"; fi
}
ways_table() { # MTU
    local i pair offload=--no-offload
    [ "${SHAPERS:-yes}" = yes ] || offload=
    export LAB=ways-$$
    touch "$work/lab"
    "$lab" up --hosts 2 --mtu "$1" --pin $offload || return
    [ -n "$offload" ] || unshape || return
    for ((i = 0; i < runs; i++)); do
        for pair in packet:packet packet-bypass:packet xdp:packet packet:fanout packet:xdp packet:xdp-generic \
            super:packet super-csum:packet tcp:tcp tcp:tcp-xdp tcp:tcp-xdp-generic; do
            echo "${pair/:/ } $(way "${pair%:*}" "${pair#*:}")"
        done
    done >"$work/printed"
    "$lab" down && rm "$work/lab" || return
    printf '\nWays for raw frames, two hosts, MTU %s%s\n\n' "$1" "${offload:+, links with shapers}"
    awk '
        function median(list,    a, n, i, j, t) {
            n = split(list, a, " ")
            for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
            return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
        }
        !(($1, $2) in seen) { seen[$1, $2]; out[++n] = $1; in_[n] = $2 }
        $3 == "refused:" { why = $0; sub(/^[^:]*: /, "", why); refusal[$1, $2] = why; next }
        { small[$1, $2] = small[$1, $2] " " $3; large[$1, $2] = large[$1, $2] " " $4; frames[$1, $2] = $5; lost[$1, $2] += $6 }
        END {
            print "| out | in | 1 B and an answer, us | 1 MiB and an answer, us | us a frame | bursts lost |"
            print "|---|---|---:|---:|---:|---:|"
            for (i = 1; i <= n; i++) {
                k = out[i] SUBSEP in_[i]
                if (k in refusal) { printf "| %s | %s | refused: %s | | | |\n", out[i], in_[i], refusal[k]; continue }
                m = median(large[k])
                printf "| %s | %s | %.1f | %.0f | %s | %d |\n", out[i], in_[i], median(small[k]), m, (frames[k] > 0 ? sprintf("%.2f", m / frames[k]) : ""), lost[k]
            }
        }' "$work/printed"
}
if [ "$*" = ways ]; then
    for mtu in ${MTUS:-1500 9000}; do
        ways_table "$mtu" || exit
    done
    exit
fi

sizes=(--sizes "${SIZES:-1,1K,64K,1M}")
for mtu in ${MTUS:-1500 9000}; do
    for hosts in ${HOSTS:-2 8}; do
        table "Straight between two tasks" direct "$hosts" "$mtu" "${sizes[@]}" || exit
        table "Through the daemons" daemons "$hosts" "$mtu" "${sizes[@]}" || exit
    done
    table "Receivers sleep" direct 2 "$mtu" --sizes 1,256,1K,4K --pause 1000 || exit
done
