#!/bin/bash
# speedup.sh - the demos on 1, 2, 4 and 8 hosts of a lab, as tables like Figures 6 to 12 of
# Schmidt & Sunderam, and as speed-up curves like Figure 14.
#
#   tests/lab/speedup.sh [--hosts "1 2 4 8"] [--routes "udp tcp ether"] [--demos "mandel matmul sort"]
#                        [--rate 100M] [--cpu 0.2] [--mtu 1500] [--ipv6-only] [--size DEMO=N]
#                        [--runs 1] [--out DIR] [--blas LIBRARY]
#
# Over ether tasks send frames straight to each other (direct = yes), where the paper has its
# datagram protocol, its stream protocol and DCL. The figures of several runs are medians; with each
# run another route comes first.
# --out: the figures and a picture, speedup.png, stay there. Those of other demos and other numbers
# of hosts from an earlier call are part of the tables and the picture.
# Every number of hosts is a lab and a VM of its own (vm.sh): one switch, links of --rate, hosts of
# --cpu of a core. A demo's first run also takes its sequential time, on such a host, which all
# later runs of the demo are held against. Every result is checked: matmul's by Freivalds'
# method, sort's by its own check, mandel's picture against that of its first run.
# matmul computes with OpenBLAS unless --blas names another library, or textbook: that of textbook.c. With
# its widest vectors a fifth of a core still multiplies as fast as a whole workstation does everything
# else, and the network is all that matmul shows: OPENBLAS_CORETYPE=PRESCOTT has its oldest ones.
# The tables, in Markdown, go to standard output, what happens meanwhile to standard error. The
# status is 0 when every run ended well with a right result. Without root: status 77.
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lab/demos.sh
. "$here/demos.sh"
hosts="1 2 4 8"
routes="udp tcp ether"
demos="mandel matmul sort"
rate=100M
cpu=0.2
mtu=1500
family=()
blas=
runs=1
out=
declare -A size=([mandel]=1600x1200 [matmul]=3072 [sort]=4M)

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# ---- one run, on the first host of a VM -------------------------------------------------------

# The arguments of a demo: what is computed, and how the result is checked. $1: demo, $2: picture.
arguments_of() {
    case $1 in
    mandel) echo "--size ${size[mandel]} --output $2" ;;
    matmul) echo "--size ${size[matmul]} --check --freivalds" ;;
    sort) echo "--keys ${size[sort]} --check" ;;
    esac
}

result_is_right() { # DEMO PICTURE
    [ "$1" = mandel ] || return 0 # the demo's status says so
    [ -f "$work/mandel.png" ] || cp "$2" "$work/mandel.png"
    cmp "$2" "$work/mandel.png" >&2
}

# Ticks that the machine was idle, and all ticks.
machine_ticks() { awk '$1 == "cpu" { print $5 + $6, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }' /proc/stat; }

# Hosts get their shares only while the machine has something left to give.
warn_when_busy() { # DEMO ROUTE HOSTS, idle and all ticks before
    local idle all
    read -r idle all < <(machine_ticks)
    idle=$((100 * (idle - $4) / (all - $5 + 1)))
    [ $idle -ge 4 ] || echo "speedup.sh: the machine was busy ($idle % idle) during $1 over $2 on $3 hosts: too slow" >&2
}

# A line: demo, route, hosts, tasks, total, computation, communication and idle seconds, speed-up.
run_demo() { # DEMO ROUTE HOSTS
    local before
    before=$(machine_ticks)
    local json=$work/$1.$2.$3.json picture=$work/$1.$2.$3.png baseline=()
    [ -f "$work/$1.sequential" ] && baseline=(--baseline "$(cat "$work/$1.sequential")")
    # shellcheck disable=SC2046 # one word an argument
    "$1" --route "$2" --json "${baseline[@]}" $(arguments_of "$1" "$picture") >"$json" &&
        result_is_right "$1" "$picture" || { echo "speedup.sh: $1 over $2 on $3 hosts failed" >&2 && return 1; }
    # shellcheck disable=SC2086 # two words
    warn_when_busy "$@" $before
    figure sequential_s "$json" >"$work/$1.sequential"
    echo "$1 $2 $3 $(figure tasks "$json") $(figure total_s "$json") $(figure computation_s "$json")" \
        "$(figure communication_s "$json") $(figure idle_s "$json") $(figure speedup "$json")" |
        tee -a "$work/figures" >&2
}

run_all() { # HOSTS
    local demo route run order status=0
    read -ra order <<<"$routes"
    for ((run = 0; run < runs; run++)); do
        for demo in $demos; do
            for route in "${order[@]}"; do
                run_demo "$demo" "$route" "$1" || status=1
            done
        done
        order=("${order[@]:1}" "${order[0]}")
    done
    return $status
}

# ---- the tables -------------------------------------------------------------------------------

# Medians of the runs, a line for each number of hosts: hosts, tasks, total, the least and the most
# of it, computation, communication, idle, speed-up.
medians() { # DEMO ROUTE
    awk -v demo="$1" -v route="$2" '
        function sorted(list, a,    n, i, j, t) {
            n = split(list, a, " ")
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
            return n
        }
        function median(list,    a, n) {
            n = sorted(list, a)
            return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
        }
        $1 == demo && $2 == route {
            if (!($3 in tasks)) order[++n] = $3
            tasks[$3] = $4
            for (i = 5; i <= 9; i++) all[$3, i] = all[$3, i] " " $i
        }
        END {
            for (k = 1; k <= n; k++) {
                h = order[k]
                m = sorted(all[h, 5], total)
                print h, tasks[h], median(all[h, 5]), total[1], total[m], median(all[h, 6]), median(all[h, 7]), median(all[h, 8]), median(all[h, 9])
            }
        }' "$work/figures" | sort -n
}

print_table() { # DEMO ROUTE
    echo
    printf '**%s** (%s) over %s, hosts of %s core, links of %sbit/s, MTU %s, runs: %d; one task alone: %.2f s\n' \
        "$1" "${size[$1]}" "$2" "$cpu" "$rate" "$mtu" "$runs" "$(cat "$work/$1.sequential")"
    echo
    echo "| hosts | tasks | total s | of the runs | computation s | communication s | idle s | speed-up |"
    echo "|---:|---:|---:|---:|---:|---:|---:|---:|"
    medians "$1" "$2" | awk '{ printf "| %d | %d | %.2f | %.2f to %.2f | %.2f | %.2f | %.2f | %.2f |\n", $1, $2, $3, $4, $5, $6, $7, $8, $9 }'
}

print_tables() {
    local demo route
    for demo in $demos; do
        for route in $routes; do
            print_table "$demo" "$route"
        done
    done
}

# What an earlier call with the same --out left of what is measured now.
forget() {
    local demo n
    [ -f "$work/figures" ] || return 0
    for demo in $demos; do
        for n in $hosts; do
            sed -i "/^$demo [a-z]* $n /d" "$work/figures"
            [ "$n" != 1 ] || rm -f "$work/$demo.sequential" "$work/$demo.png"
        done
    done
}

draw() {
    local demo route
    command -v gnuplot >/dev/null || { echo "speedup.sh: no picture without gnuplot" >&2 && return; }
    cut -d' ' -f1,2 "$work/figures" | sort -u | while read -r demo route; do
        medians "$demo" "$route" >"$work/$demo.$route.dat"
    done
    (cd "$work" && gnuplot -e "hosts='$(cut -d' ' -f3 figures | sort -nu | tr '\n' ' ')'" "$here/speedup.gp") && echo "drawn: $work/speedup.png" >&2
}

# ---- the whole --------------------------------------------------------------------------------

while [ $# -gt 0 ]; do
    case $1 in
    --hosts) hosts=${2:?} && shift ;;
    --routes) routes=${2:?} && shift ;;
    --demos) demos=${2:?} && shift ;;
    --rate) rate=${2:?} && shift ;;
    --cpu) cpu=${2:?} && shift ;;
    --mtu) mtu=${2:?} && shift ;;
    --size) size_take size "${2:?}" || usage; shift ;;
    --runs) runs=${2:?} && shift ;;
    --out) out=${2:?} && shift ;;
    --blas) blas=${2?} && shift ;;
    --ipv4-only | --ipv6-only) family=("$1") ;;
    --run) work=${2:?} && run_all "${3:?}" && exit 0 || exit 1 ;; # inside a VM, see below
    *) usage ;;
    esac
    shift
done

export OPENBLAS_NUM_THREADS=1
[ "$runs" -ge 1 ] 2>/dev/null || usage
scratch=$(mktemp -d "${TMPDIR:-/tmp}/covey-speedup.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
work=$scratch
if [ -n "$out" ]; then
    mkdir -p "$out" && work=$(cd "$out" && pwd) || exit 1
    forget
fi
printf '[ether]\nenabled = yes\ndirect = yes\n' >"$scratch/conf"
trap 'exit 130' INT
trap 'exit 143' TERM HUP

preload=$(blas_preload "$blas" "$scratch") || exit 1
sizes=()
for demo in "${!size[@]}"; do
    sizes+=(--size "$demo=${size[$demo]}")
done
status=0
for n in $hosts; do
    LD_PRELOAD=$preload "$here/vm.sh" --hosts "$n" --rate "$rate" --cpu "$cpu" --mtu "$mtu" --conf "$scratch/conf" "${family[@]}" -- \
        "$here/speedup.sh" --routes "$routes" --demos "$demos" --runs "$runs" "${sizes[@]}" --run "$work" "$n"
    ended=$?
    [ $ended != 77 ] || exit 77
    [ $ended = 0 ] || status=1
done
[ ! -f "$work/figures" ] || print_tables
[ -z "$out" ] || [ ! -f "$work/figures" ] || draw
exit $status
