#!/bin/bash
# predict.sh - the demos on 1, 2, 4 and 8 hosts of a lab, predicted and measured, as Figures 6 to 12
# of Schmidt & Sunderam.
#
#   tests/lab/predict.sh [--hosts "1 2 4 8"] [--routes "tcp"] [--demos "mandel matmul sort"]
#                        [--rate 100M] [--cpu 0.2] [--mtu 1500] [--size DEMO=N] [--blas LIBRARY]
#                        [--runs N] [--auto] [--calibration FILE] [--keep DIR]
#
# One lab (vm.sh) with as many hosts as the largest number says, links of --rate and hosts of --cpu of
# a core: covey calibrate measures it, or FILE from an earlier run is taken (and, where it is not
# there, written). Each demo then runs on its first hosts, --runs times. matmul computes with textbook.c
# unless --blas names another library, or none (--blas '').
# --auto: each demo runs as often with -n auto, too, and a last table has what it chose beside those numbers (section 4.1).
# --keep: what the demos printed, and a picture of each demo and route, are left in DIR.
# The table, in Markdown, goes to standard output, what happens meanwhile to standard error. The
# status is 0 when every run ended well and every prediction is within 15 % of the mean time (matmul,
# mandel) or 25 % (sort), and none that chose by itself took 25 % longer than the best number of hosts. Without root: status 77.
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
blas=textbook
declare -A size=([mandel]=1600x1200 [matmul]=1728 [sort]=1M)

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
    esac
}

first_hosts() { # N
    # shellcheck disable=SC2086 # one word a host
    printf '%s\n' $LAB_HOSTS | head -n "$1" | paste -sd,
}

run_demo() { # DEMO ROUTE HOSTS
    # shellcheck disable=SC2046 # one word an argument
    "$1" --route "$2" --hosts "$(first_hosts "$3")" --baseline 0 --json $(arguments_of "$1") >"$work/run" ||
        { echo "predict.sh: $1 over $2 on $3 hosts failed" >&2 && return 1; }
    is_predicted "$work/run" || return
    cat "$work/run" >>"$work/$1.$2.json"
}

print_table() { # DEMO ROUTE; fails when a prediction is too far off
    local bound=15
    [ "$1" = sort ] && bound=25
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
    "$1" -n auto --explain --route "$2" --baseline 0 --json $(arguments_of "$1") >"$work/run" ||
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
    covey predict "$1" --route "$2" --size "${size[$1]}" --procs "1-$(wc -w <<<"$LAB_HOSTS")" --measured "$work/$1.$2.json" \
        --plot "$work/$1.$2.png" >/dev/null
}

run_all() {
    local demo route n turn status=0 one=()
    [[ $routes == *" "* ]] || one=(--route "$routes")
    [ -f "$COVEY_CALIBRATION" ] || covey calibrate "${one[@]}" >&2 || return 1
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
    --keep) keep=${2:?} && shift ;;
    --inside) inside=1 && work=${2:?} && shift ;; # a VM, see below
    *) usage ;;
    esac
    shift
done

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
