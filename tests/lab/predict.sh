#!/bin/bash
# predict.sh - the demos on 1, 2, 4 and 8 hosts of a lab, predicted and measured, as Figures 6 to 12
# of Schmidt & Sunderam.
#
#   tests/lab/predict.sh [--hosts "1 2 4 8"] [--routes "tcp"] [--demos "mandel matmul sort"] (or sort-bag: out of a bag)
#                        [--rate 100M] [--cpu 0.2] [--mtu 1500] [--size DEMO=N] [--blas LIBRARY]
#                        [--runs N] [--auto | --foreign] [--calibration FILE] [--keep DIR]
#
# One lab (vm.sh) with as many hosts as the largest number says, links of --rate and hosts of --cpu of
# a core: covey calibrate measures it, or FILE from an earlier run is taken (and, where it is not
# there, written). Each demo then runs on its first hosts, --runs times. matmul computes with textbook.c
# unless --blas names another library, or none (--blas '').
# --auto: each demo runs as often with -n auto, too, and a last table has what it chose beside those numbers (section 4.1).
# --foreign: beside load from outside, as section 2.3 has it: none; traffic of 18 % of the rate on every
# link, each way; something that computes on every second host; both. covey predict --now looks at the
# hosts before each run, which is compared with that and with what is predicted of hosts at rest. The status
# is 0 when the predictions with --now are within 10 % (the median of all runs) and 20 % (each).
# --keep: what the demos printed, and a picture of each demo and route, are left in DIR.
# The table, in Markdown, goes to standard output, what happens meanwhile to standard error. The
# status is 0 when every run ended well and every prediction is within 15 % of the mean time (matmul,
# mandel) or 25 % (sort, sort-bag), and none that chose by itself took 25 % longer than the best number of hosts. Without root: status 77.
set -u

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lab/demos.sh
. "$here/demos.sh"
hosts="1 2 4 8"
routes="tcp"
demos="mandel matmul sort"
rate=100M
cpu=0.2
mtu=1500
runs=1
auto=0
calibration=
keep=
foreign=0
blas=textbook
declare -A size=([mandel]=1600x1200 [matmul]=1728 [sort]=1M [sort-bag]=1M)

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# ---- inside the VM, on its first host ---------------------------------------------------------

arguments_of() {
    case $1 in
    mandel) echo "--size ${size[mandel]}" ;;
    matmul) echo "--size ${size[matmul]}" ;;
    sort) echo "--keys ${size[sort]}" ;;
    sort-bag) echo "--bag --keys ${size[sort-bag]}" ;;
    esac
}

# What covey predict calls it.
what_of() { # DEMO
    case $1 in *-bag) echo "${1%-bag} --form bag" ;; *) echo "$1" ;; esac
}

first_hosts() { # N
    # shellcheck disable=SC2086 # one word a host
    printf '%s\n' $LAB_HOSTS | head -n "$1" | paste -sd,
}

run_demo() { # DEMO ROUTE HOSTS
    # shellcheck disable=SC2046 # one word an argument
    "${1%-bag}" --route "$2" --hosts "$(first_hosts "$3")" --baseline 0 --json $(arguments_of "$1") >"$work/run" ||
        { echo "predict.sh: $1 over $2 on $3 hosts failed" >&2 && return 1; }
    is_predicted "$work/run" || return
    cat "$work/run" >>"$work/$1.$2.json"
}

print_table() { # DEMO ROUTE; fails when a prediction is too far off
    local bound=15
    [ "${1%-bag}" = sort ] && bound=25
    echo
    echo "**$1** (${size[$1]}) over $2, hosts of $cpu core, links of ${rate}bit/s, MTU $mtu, $runs run(s)"
    echo
    echo "| hosts | measured s | predicted s | off by | computation | communication | idle |"
    echo "|---:|---:|---:|---:|---:|---:|---:|"
    figures_of "$work/$1.$2.json" | awk -v bound="$bound" '{
        off = 100 * ($6 / $2 - 1)
        if (off > bound || off < -bound) worse = 1
        printf "| %d | %.2f | %.2f | %+.0f %% | %.2f, %.2f | %.2f, %.2f | %.2f, %.2f |\n", $1, $2, $6, off, $3, $7, $4, $8, $5, $9
    } END { exit worse }'
}

run_auto() { # DEMO ROUTE
    # shellcheck disable=SC2046 # one word an argument
    "${1%-bag}" -n auto --explain --route "$2" --baseline 0 --json $(arguments_of "$1") >"$work/run" ||
        { echo "predict.sh: $1 -n auto over $2 failed" >&2 && return 1; }
    cat "$work/run" >>"$work/$1.$2.auto"
}

# A row for each demo: seconds by number of hosts, then what -n auto chose, and its seconds.
print_auto() { # fails when the best number was much better
    local demo route n status=0
    echo
    echo "**As many hosts as are worth it**: hosts of $cpu core, links of ${rate}bit/s, MTU $mtu, $runs run(s), seconds"
    echo
    # shellcheck disable=SC2086 # one word a number
    echo "| |$(printf ' %s host(s) |' $hosts) chosen | measured | predicted |"
    # shellcheck disable=SC2086
    echo "|---|$(printf -- '---:|%.0s' $hosts)---:|---:|---:|"
    for demo in $demos; do
        for route in $routes; do
            { figures_of "$work/$demo.$route.json" && echo "auto $(figures_of "$work/$demo.$route.auto") $(figure tasks "$work/$demo.$route.auto" | head -n 1)"; } |
                awk -v name="$demo ${size[$demo]}, $route" '
                    $1 != "auto" { row = row sprintf(" %.2f |", $2); if (!best || $2 < best) best = $2; next }
                    {
                        printf "| %s |%s %d host(s), %d task(s) | %.2f | %.2f |\n", name, row, $2, $NF, $3, $7
                        exit $3 > 1.25 * best
                    }' || status=1
        done
    done
    return $status
}

draw() { # DEMO ROUTE
    # shellcheck disable=SC2046 # one word an argument
    covey predict $(what_of "$1") --route "$2" --size "${size[$1]}" --procs "1-$(wc -w <<<"$LAB_HOSTS")" --measured "$work/$1.$2.json" \
        --plot "$work/$1.$2.png" >/dev/null
}

# ---- load from outside ------------------------------------------------------------------------

lab() { "$here/lab" "$@"; } # of $LAB

# Begins it on the first N hosts, in pairs that send to each other.
load_begin() { # none|traffic|hogs|both HOSTS
    local one two
    # shellcheck disable=SC2086 # one word a host
    printf '%s\n' $LAB_HOSTS | head -n "$2" | paste -d' ' - - | while read -r one two; do
        case $1 in traffic | both)
            lab traffic "$one" "${two:-$one}" "$foreign_rate" && lab traffic "${two:-$one}" "$one" "$foreign_rate" ;;
        esac
        case $1 in hogs | both) lab hog "${two:-$one}" ;; esac
    done
}

# The time that is predicted for N hosts, with or without --now.
predicted_s() { # DEMO ROUTE HOSTS [--now]
    # shellcheck disable=SC2046 # one word an argument
    covey predict $(what_of "$1") --route "$2" --size "${size[$1]}" --procs "$3" "${@:4}" --json >"$work/predicted" || return
    sed -n 's/^ *"total_s": \([0-9.eE+-]*\),*$/\1/p' "$work/predicted"
}

run_foreign() { # DEMO ROUTE HOSTS LOAD
    local rest now
    load_begin "$4" "$3"
    sleep 1 # until it is under way
    rest=$(predicted_s "$1" "$2" "$3") && now=$(predicted_s "$1" "$2" "$3" --now) && run_demo "$1" "$2" "$3"
    local status=$?
    lab calm
    [ $status = 0 ] || return
    echo "$1 $4 $3 $(figure total_s "$work/run") $now $rest" >>"$work/foreign"
}

# A line a row; fails when predictions are too far off.
print_foreign() {
    echo "| program | load from outside | hosts | measured s | predicted with --now | off by | predicted at rest | off by |"
    echo "|---|---|---:|---:|---:|---:|---:|---:|"
    awk '{
        off = 100 * ($5 / $4 - 1); size = off < 0 ? -off : off; all[NR] = size
        if (size > 20) worse = 1
        printf "| %s | %s | %d | %.2f | %.2f | %+.0f %% | %.2f | %+.0f %% |\n", $1, $2, $3, $4, $5, off, $6, 100 * ($6 / $4 - 1)
    } END {
        for (i = 1; i <= NR; i++) for (k = i + 1; k <= NR; k++) if (all[k] < all[i]) { t = all[i]; all[i] = all[k]; all[k] = t }
        median = NR % 2 ? all[(NR + 1) / 2] : (all[NR / 2] + all[NR / 2 + 1]) / 2
        printf "\nOff by %.1f %% in the median, %.1f %% at most.\n", median, all[NR]
        exit worse || median > 10
    }' "$work/foreign"
}

run_all_foreign() {
    local demo route n load turn status=0
    for route in $routes; do
        : >"$work/foreign"
        for demo in $demos; do
            for load in none traffic hogs both; do
                for n in $hosts; do
                    for ((turn = 0; turn < runs; turn++)); do
                        run_foreign "$demo" "$route" "$n" "$load" || status=1
                    done
                done
            done
        done
        echo "over $route, hosts of $cpu core, links of ${rate}bit/s, traffic of ${foreign_rate}bit/s"
        echo
        print_foreign || status=1
    done
    return $status
}

run_all() {
    local demo route n turn status=0 one=()
    [[ $routes == *" "* ]] || one=(--route "$routes")
    [ -f "$COVEY_CALIBRATION" ] || covey calibrate "${one[@]}" >&2 || return 1
    if [ $foreign = 1 ]; then
        run_all_foreign
        return
    fi
    for demo in $demos; do
        for route in $routes; do
            for n in $hosts; do
                for ((turn = 0; turn < runs; turn++)); do
                    run_demo "$demo" "$route" "$n" || status=1
                done
            done
            for ((turn = 0; turn < auto * runs; turn++)); do
                run_auto "$demo" "$route" || status=1
            done
            print_table "$demo" "$route" || status=1
            [ -z "$keep" ] || draw "$demo" "$route"
        done
    done
    [ $auto = 0 ] || print_auto || status=1
    return $status
}

# ---- the whole --------------------------------------------------------------------------------

arguments=("$@")
inside=0
while [ $# -gt 0 ]; do
    case $1 in
    --hosts) hosts=${2:?} && shift ;;
    --routes) routes=${2:?} && shift ;;
    --demos) demos=${2:?} && shift ;;
    --rate) rate=${2:?} && shift ;;
    --cpu) cpu=${2:?} && shift ;;
    --mtu) mtu=${2:?} && shift ;;
    --runs) runs=${2:?} && shift ;;
    --size) size_take size "${2:?}" || usage; shift ;;
    --blas) blas=${2?} && shift ;;
    --auto) auto=1 ;;
    --calibration) calibration=${2:?} && shift ;;
    --foreign) foreign=1 ;;
    --keep) keep=${2:?} && shift ;;
    --inside) inside=1 && work=${2:?} && shift ;; # a VM, see below
    *) usage ;;
    esac
    shift
done

# 18 % of the rate, in its unit
foreign_rate=$(awk -v rate="$rate" 'BEGIN { unit = rate; gsub(/[0-9.]/, "", unit); print 0.18 * rate unit }')

if [ $inside = 1 ]; then
    export COVEY_CALIBRATION=${calibration:-$work/calibration}
    run_all
    exit
fi

export OPENBLAS_NUM_THREADS=1
work=${keep:-$(mktemp -d "${TMPDIR:-/tmp}/covey-predict.XXXXXX")}
mkdir -p "$work" || exit 1
[ -n "$keep" ] || trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
most=$(tr ' ' '\n' <<<"$hosts" | sort -n | tail -n 1)
preload=$(blas_preload "$blas" "$work") || exit 1
LD_PRELOAD=$preload "$here/vm.sh" --hosts "$most" --rate "$rate" --cpu "$cpu" --mtu "$mtu" -- \
    "$here/predict.sh" "${arguments[@]}" --inside "$work"
