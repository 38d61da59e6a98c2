#!/bin/bash
# python.sh - the package for Python beside covey.h in C and beside mpi4py on Open MPI, on this machine.
#
# In every round each system makes all calls, one system after the other, with 2 and with 8 tasks: an array to and fro
# between two of them, the same as an object, bcast, allreduce and alltoall; then empty futures through an executor,
# covey.Executor beside MPIPoolExecutor. What is printed are medians of the rounds, in microseconds: of Covey in C and in
# Python, what Python adds ("more"), their ratio, and the ratio of mpi4py's time and Python's: above 1 Covey is ahead.
# The figures go to OUT/figures.tsv: tasks, system, round, call, bytes, microseconds; of futures: rates.
#
# From the environment, by default:
#   ROUNDS=5 TASKS="2 8" WORKERS="2 8" SIZES="1 1K 64K 1M" COLLECTIVE_SIZES="8 1K 64K 1M"
#   SAMPLE_MS=100 LIMIT_S=60 SYSTEMS="covey python mpi4py" OUT=$BUILD/bench-python
#
# mpi4py is Debian's; Open MPI is told of as many slots as there are processors, and yields with more ranks than that.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
OUT=${OUT:-$BUILD/bench-python}
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-bench-python.XXXXXX")
export BUILD XDG_RUNTIME_DIR=$dir COVEY_VM=bench-python-$$ PATH=$BUILD:$PATH
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset COVEY_SOCKET COVEY_ROUTE COVEY_TRACE
trap 'covey halt >/dev/null 2>&1; rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
read -ra systems <<<"${SYSTEMS:-covey python mpi4py}"
limit=${LIMIT_S:-60}

fail() { echo "python.sh: $*" >&2 && exit 1; }

for python in python3 /usr/bin/python3 ''; do
    [ -n "$python" ] && "$python" -c 'import cffi, numpy' 2>/dev/null && break
done
[ -n "$python" ] || fail "no python3 has cffi and numpy"
[ -e "$BUILD/python/covey/_covey.abi3.so" ] || fail "Covey was built without its package for Python"
if ! "$python" -c 'import mpi4py' 2>/dev/null || ! command -v mpirun.openmpi >/dev/null; then
    echo "python.sh: mpi4py is not there (Debian's python3-mpi4py), and left out" >&2
    systems=("${systems[@]/mpi4py/}")
fi
mkdir -p "$OUT" && : >"$OUT/figures.tsv" || exit 1
covey start >/dev/null || exit 1

mpirun_of() { # ranks: sets `command`
    command=(mpirun.openmpi --host "localhost:$(nproc)" --bind-to none --oversubscribe -n "$1")
}

calls_of() { # tasks -> CALL:BYTES...
    local call size sizes collective_sizes
    read -ra sizes <<<"${SIZES:-1 1K 64K 1M}"
    read -ra collective_sizes <<<"${COLLECTIVE_SIZES:-8 1K 64K 1M}"
    for call in ping object; do
        for size in $(numfmt --from=iec "${sizes[@]}"); do echo "$call:$size"; done
    done
    for call in bcast allreduce alltoall; do
        for size in $(numfmt --from=iec "${collective_sizes[@]}"); do echo "$call:$size"; done
    done
}

measure() { # tasks, system, round
    local wanted command
    mapfile -t wanted < <(calls_of "$1")
    case $2 in
    covey) # C has no objects
        mapfile -t wanted < <(calls_of "$1" | grep -v '^object')
        command=(covey run --no-input -n "$1" "$BUILD/tests/bench/beside_covey") ;;
    python) command=(covey run --no-input -n "$1" "$python" tests/bench/python_load.py covey) ;;
    mpi4py) mpirun_of "$1" && command+=("$python" tests/bench/python_load.py mpi4py) ;;
    *) return 0 ;;
    esac
    timeout -k 10 $((limit + 60)) "${command[@]}" "${SAMPLE_MS:-100}" "$limit" "${wanted[@]}" </dev/null \
        >"$dir/out" 2>"$dir/errors"
    awk -v OFS='\t' -v tasks="$1" -v system_="$2" -v turn="$3" '
        /^[a-z_]+ [0-9]+ [0-9]+ [0-9.]+ [0-9.]+$/ { print tasks, system_, turn, $1, $2, $4 * 1e6 }' "$dir/out" >"$dir/lines"
    cat "$dir/lines" >>"$OUT/figures.tsv"
    [ "$(wc -l <"$dir/lines")" = ${#wanted[@]} ] || {
        echo "python.sh: $2 with $1 tasks gave not all figures:" >&2
        tail -n 5 "$dir/errors" >&2
    }
}

futures() { # workers, system, round
    local command
    case $2 in
    python) command=("$python" tests/bench/python_futures.py covey) ;;
    mpi4py) mpirun_of $(($1 + 1)) && command+=("$python" -m mpi4py.futures tests/bench/python_futures.py mpi4py) ;;
    *) return 0 ;;
    esac
    timeout -k 10 120 "${command[@]}" "$1" 0.5 </dev/null >"$dir/out" 2>"$dir/errors" || tail -n 5 "$dir/errors" >&2
    awk -v OFS='\t' -v workers="$1" -v system_="$2" -v turn="$3" '{ print workers, system_, turn, "futures." $1, 0, $2 }' \
        "$dir/out" >>"$OUT/figures.tsv"
}

for ((round = 1; round <= ${ROUNDS:-5}; round++)); do
    for tasks in ${TASKS-2 8}; do
        for system in "${systems[@]}"; do measure "$tasks" "$system" "$round"; done
    done
    for workers in ${WORKERS-2 8}; do
        for system in "${systems[@]}"; do futures "$workers" "$system" "$round"; done
    done
done
awk -f tests/bench/table.awk -f tests/bench/python.awk "$OUT/figures.tsv"
