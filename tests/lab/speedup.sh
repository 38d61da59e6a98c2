#!/bin/bash
# speedup.sh - the demos on 1, 2, 4 and 8 hosts of a lab, as tables like Figures 6 to 12 of
# Schmidt & Sunderam.
#
#   tests/lab/speedup.sh [--hosts "1 2 4 8"] [--routes "udp tcp"] [--demos "mandel matmul sort"]
#                        [--rate 100M] [--cpu 0.2] [--mtu 1500] [--ipv6-only] [--size DEMO=N]
#                        [--blas LIBRARY]
#
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
routes="udp tcp"
demos="mandel matmul sort"
rate=100M
cpu=0.2
mtu=1500
family=()
blas=
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
    local demo route status=0
    for demo in $demos; do
        for route in $routes; do
            run_demo "$demo" "$route" "$1" || status=1
        done
    done
    return $status
}

# ---- the tables -------------------------------------------------------------------------------

print_table() { # DEMO ROUTE
    echo
    printf '**%s** (%s) over %s, hosts of %s core, links of %sbit/s, MTU %s; one task alone: %.1f s\n' \
        "$1" "${size[$1]}" "$2" "$cpu" "$rate" "$mtu" "$(cat "$work/$1.sequential")"
    echo
    echo "| hosts | tasks | total s | computation s | communication s | idle s | speed-up |"
    echo "|---:|---:|---:|---:|---:|---:|---:|"
    awk -v demo="$1" -v route="$2" '$1 == demo && $2 == route {
        printf "| %d | %d | %.2f | %.2f | %.2f | %.2f | %.2f |\n", $3, $4, $5, $6, $7, $8, $9 }' "$work/figures"
}

print_tables() {
    local demo route
    for demo in $demos; do
        for route in $routes; do
            print_table "$demo" "$route"
        done
    done
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
    --blas) blas=${2?} && shift ;;
    --ipv4-only | --ipv6-only) family=("$1") ;;
    --run) work=${2:?} && run_all "${3:?}" && exit 0 || exit 1 ;; # inside a VM, see below
    *) usage ;;
    esac
    shift
done

export OPENBLAS_NUM_THREADS=1
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-speedup.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

preload=$(blas_preload "$blas" "$work") || exit 1
sizes=()
for demo in "${!size[@]}"; do
    sizes+=(--size "$demo=${size[$demo]}")
done
status=0
for n in $hosts; do
    LD_PRELOAD=$preload "$here/vm.sh" --hosts "$n" --rate "$rate" --cpu "$cpu" --mtu "$mtu" "${family[@]}" -- \
        "$here/speedup.sh" --routes "$routes" --demos "$demos" "${sizes[@]}" --run "$work" "$n"
    ended=$?
    [ $ended != 77 ] || exit 77
    [ $ended = 0 ] || status=1
done
[ ! -f "$work/figures" ] || print_tables
exit $status
