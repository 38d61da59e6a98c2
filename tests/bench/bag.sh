#!/bin/bash
# bag.sh - empty items through a bag of work, beside GNU parallel and an MPI master that gives items to
# workers one at a time, where these are installed: 8 workers, Covey's on two virtual hosts here.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
dir=$(mktemp -d "${TMPDIR:-/tmp}/covey-bag-bench.XXXXXX")
export COVEY_VM=bag-bench-$$ XDG_RUNTIME_DIR=$dir PATH=$build:$PATH
unset COVEY_SOCKET
trap 'covey halt >/dev/null 2>&1; rm -rf "$dir"' EXIT
workers=${WORKERS:-8}

covey start --local 2 >/dev/null || exit 1
covey bench bag --tasks "$workers" --rounds "${ROUNDS:-7}" || exit 1
covey halt

seconds_of() { # command...
    local begin end
    begin=$(date +%s%N)
    "$@" >/dev/null 2>&1 || return 1
    end=$(date +%s%N)
    echo $(((end - begin) / 1000000))
}

if command -v parallel >/dev/null; then
    ms=$(seconds_of parallel -j "$workers" true ::: $(seq 500)) && # shellcheck disable=SC2046
        echo "GNU parallel, 500 times true: $((500 * 1000 / (ms + 1))) items a second"
else
    echo "GNU parallel is not installed"
fi
if command -v mpicc >/dev/null && mpicc -O2 -o "$dir/bag_mpi" tests/bench/bag_mpi.c 2>"$dir/said"; then
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 100 \
        mpirun --oversubscribe -n $((workers + 1)) "$dir/bag_mpi" ${ITEMS:-20000} 2>/dev/null ||
        timeout 100 mpirun -n $((workers + 1)) "$dir/bag_mpi" ${ITEMS:-20000} || echo "the MPI program failed"
else
    echo "MPI is not installed"
fi
