#!/bin/bash
# timeout: 180
# The MPI_Alltoall that `covey schedule --emit mpi` writes, preloaded into Open MPI and MPICH: the same
# bytes as the original's for any types, in place and in any communicator, and the original where the
# schedule is not for a communicator. Each of the two that is not installed is skipped. ROUNDS and
# SEED are of the random calls; SOAK=1: 20 times as many.
set -u
cd "$(dirname "$0")/../.."
. tests/report.sh
BUILD=$(realpath "${BUILD:-build}")
read -ra compiler <<<"${CC:-cc}"
rounds=${ROUNDS:-$((${SOAK:-0} ? 100 : 5))}
seed=${SEED:-$RANDOM}
work=$(mktemp -d)
export LAB=mpi-test-$$
trap 'rm -rf "$work"; [ ! -d "/run/covey-lab/$LAB" ] || tests/lab/lab down' EXIT

# ---- what is run ----

cat >"$work/mixed" <<'END' # the server sends several messages at a time
switch core east
link core east 2G
host server core 4G
host a core 1G
host b east 1G
host c east 1G
END

# The ranks of a machine say that they are the hosts of a list.
cat >"$work/as_host" <<'END'
#!/bin/bash
hosts=($HOSTS)
export COVEY_ALLTOALL_HOST=${hosts[${OMPI_COMM_WORLD_RANK:-$PMI_RANK}]}
exec "$@"
END
chmod +x "$work/as_host"

# Waits are sleeps: the ranks are more than the processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1
export UCX_TLS=tcp,self UCX_NET_DEVICES=lo UCX_LOG_LEVEL=error MPIR_CVAR_REQUEST_POLL_FREQ=1000000
preload=

run() { # MPI HOSTS COMMAND...
    local mpi=$1 hosts=$2
    shift 2
    HOSTS=$hosts LD_PRELOAD=$preload timeout 300 "mpirun.$mpi" -n "$(wc -w <<<"$hosts")" "$work/as_host" "$@" \
        >"$work/out" 2>&1 </dev/null
    grep -q '^same: ' "$work/out" # MPICH over UCX may not come back from MPI_Finalize
}
made() { # MPI NAME TOPOLOGY [ARG...]
    "$BUILD/covey" schedule --emit mpi "${@:3}" >"$work/$2.c" || return
    "mpicc.$1" -std=c99 -O1 -w -shared -fPIC "$work/$2.c" -o "$work/$2.$1.so"
}
# Schedules must have run and others must not, and every result must be the same.
same() { # MPI NAME HOSTS MORE-HOSTS
    preload=$work/patience.so:$work/$2.$1.so
    COVEY_ALLTOALL_MIN=0 run "$1" "$3 ${4:-}" "$work/same.$1" "$seed" "$rounds" "$(wc -w <<<"$3")" &&
        grep -E '^same: [1-9][0-9]* scheduled, [1-9][0-9]* fell through$' "$work/out" && return
    cat "$work/out"
    false
}

# ---- the tests of one MPI ----

names() { # TOPOLOGY -> the hosts' names
    awk '$1 == "host" { print $2 }' "$1" | tr '\n' ' '
}

try_topologies() { # MPI
    local mpi=$1
    expect "$mpi: the hosts of a figure, in another order and one more host" \
        same "$mpi" figure "n5 n3.example.org n1 n0 n4 n2" elsewhere
    expect "$mpi: one switch, exactly its hosts" same "$mpi" switch "$(names conf/topologies/switch-4)"
    expect "$mpi: two tasks on each host" same "$mpi" two "n1 n0 n0 n1" "n0"
    expect "$mpi: links of several rates" same "$mpi" mixed "b server a c" "n0"
}

differs() { ! "$@"; }
# Would it be seen if a block were wrong? A copy of the routine forgets the one that stays.
try_spoilt() { # MPI
    sed 's/TRY(copy_own(x, c))/(void)copy_own/' "$work/switch.c" >"$work/spoilt.c"
    expect "$1: a spoilt routine compiles" "mpicc.$1" -std=c99 -O1 -w -shared -fPIC "$work/spoilt.c" -o "$work/spoilt.$1.so"
    expect "$1: and is seen" differs same "$1" spoilt "$(names conf/topologies/switch-4)" >/dev/null
}

# By its hosts' names alone, as it will be used.
try_lab() { # MPI
    if [ "$(id -u)" != 0 ]; then
        skip "$1 in a lab" "needs root, for hosts in network namespaces"
        return
    fi
    COVEY_ALLTOALL_MIN=0 timeout 300 tests/bench/mpi.sh "$1" --preload "$work/patience.so" \
        --preload "$work/switch.$1.so" --hosts "n3 n1 n2 n0" "$work/same.$1" "$seed" 2 4 >"$work/out" 2>&1 </dev/null
    expect "$1: in a lab a rank's place is found by the name of its host" grep -E '^same: [1-9]' "$work/out"
}

try_mpi() { # MPI
    local mpi=$1
    if ! command -v mpicc."$mpi" mpirun."$mpi" >/dev/null; then
        skip "MPI_Alltoall under $mpi" "mpicc.$mpi or mpirun.$mpi is not installed (scripts/deps.sh install mpi)"
        return
    fi
    expect "$mpi: the routines compile" eval "made $mpi figure conf/topologies/faraj-figure-1 &&
        made $mpi switch conf/topologies/switch-4 && made $mpi two --tasks 2 conf/topologies/switch-2 &&
        made $mpi mixed $work/mixed"
    expect "$mpi: without warnings" "mpicc.$mpi" -std=c99 -Wall -Wextra -Wno-stringop-overflow -Werror -O2 -shared -fPIC \
        "$work/mixed.c" -o "$work/strict.so"
    "mpicc.$mpi" -D_GNU_SOURCE -O1 -rdynamic -o "$work/same.$mpi" tests/mpi/alltoall_same.c -ldl
    try_topologies "$mpi"
    try_spoilt "$mpi"
    try_lab "$mpi"
}

"${compiler[@]}" -D_GNU_SOURCE -O2 -shared -fPIC -o "$work/patience.so" tests/bench/patience.c -ldl
[ "$(id -u)" != 0 ] || tests/lab/lab up conf/topologies/switch-4 || bad "the lab comes up"
try_mpi openmpi
try_mpi mpich
echo "seed $seed"
finish
