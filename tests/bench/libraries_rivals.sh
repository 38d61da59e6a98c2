#!/bin/bash
# libraries_rivals.sh - the solvers of libcovey_domain beside those that others have.
#
#   tests/bench/libraries_rivals.sh [--report FOLDER]
#
# Measures PARTS, and prints one table: a line for each problem, place and number of tasks, with the least time of
# each system and their ratio, which is above 1 where Covey is ahead. Covey chooses by itself; of a rival the best
# counts of all settings that are tried, which the line names. What is not installed is left out, with a line that
# says so. Figures are kept in OUT, a file for each part; --report prints the table of all that are there.
#
#   linpack      a random system of equations by the program linpack, beside HPL: 6 broadcasts x 2 depths x 3 swaps on
#                each grid that has at most as many rows as columns; and of both what part of the peak they reach, which
#                is that of products by as many processes as there are processors, measured before each of the two.
#                The row `linpack` is LU in double precision; `equations` is what covey_dense_solve() chooses, which may
#                be factors in single precision whose solution is refined until its residual is that of double precision
#   factor       Cholesky and QR beside ScaLAPACK with Open MPI and MPICH, on each such grid, blocks of 32 to 128
#   fourier      complex transforms beside FFTW-MPI, in the natural and the transposed order of the spectrum
#                (FFTW plans by transforming, or in the lab with FFTW_PLANS=estimate without; Covey plans anew some times, and learns from what it did before)
#   poisson      Poisson's equation beside PETSc, by tests/bench/poisson.sh
#   lab-linpack, lab-fourier   the same on 8 hosts of a lab with links of RATE (tests/lab; needs root), one task each:
#                linpack on one switch, Fourier transforms behind a chain of four. The ranks of the MPI wait by
#                patience.c in the place of polling, for this machine's processors do the work of 8 hosts; all take TCP
#
# HPL is the program xhpl, built with Open MPI, if there is one in PATH; otherwise that in Debian's hpcc, which makes
# all its other tests before, of some minutes each time.
#
# From the environment, by default:
#   PARTS="linpack factor fourier poisson lab-linpack lab-fourier"  TASKS="2 4"  ROUNDS=2  OUT=$BUILD/rivals
#   LINPACK_N=4000  LINPACK_NB=128  FACTOR_N=4000  FOURIER_SIZES=128x128x128
#   RATE=100M  LAB_LINPACK_N=2000  LAB_FOURIER_SIZES="128x128x128 256x256x256"  LAB_FOURIER_RUNS=3
#   FFTW_PLANS=measure
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../build}
build=$(cd "$build" && pwd) || exit 1
export BUILD=$build
export TASKS=${TASKS:-2 4} ROUNDS=${ROUNDS:-2} RATE=${RATE:-100M}
export LINPACK_NB=${LINPACK_NB:-128} LAB_LINPACK_N=${LAB_LINPACK_N:-2000}
export LAB_FOURIER_SIZES=${LAB_FOURIER_SIZES:-128x128x128 256x256x256} LAB_FOURIER_RUNS=${LAB_FOURIER_RUNS:-3} FFTW_PLANS=${FFTW_PLANS:-measure}
export OUT=${OUT:-$build/rivals}
case $OUT in /*) ;; *) OUT=$PWD/$OUT ;; esac
LIMIT_S=400 # of one run: FFTW-MPI plans by transforming, HPL has many variants
AUTOGROUP=/proc/sys/kernel/sched_autogroup_enabled
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

note() { echo "libraries_rivals.sh: $*" >&2; }

# Runs a command and adds to the figures of the part what a reader makes of its output: lines "WHAT HOW MS".
run_once() { # READER PLACE TASKS SYSTEM COMMAND...
    timeout -k 5 $LIMIT_S "${@:5}" >"$work/out" 2>"$work/errors" </dev/null
    "$1" <"$work/out" | awk -v place="$2 $3 $4" '{ print $1, place, $2, $3 }' >"$work/lines"
    cat "$work/lines" >>"$OUT/$part"
    [ -s "$work/lines" ] && return
    note "$4 gave no figure on $3 tasks ($2, $part):"
    tail -n 5 "$work/errors" >&2
    touch "$work/failed"
}

# Words in front of a number of tasks and a program, which then runs on this machine. Ranks may be more than processors.
on_tasks=("$build/covey" run --no-input --tasks)
by_openmpi=(mpirun.openmpi --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n)
by_mpich=(mpirun.mpich -bind-to none -n)

in_rounds() { # FUNCTION: with each number of tasks, on this machine
    local round tasks
    for round in $(seq "$ROUNDS"); do
        for tasks in $TASKS; do "$1" "$tasks" "$round"; done
    done
}

# ---- Systems of equations ------------------------------------------------------------------------

# The same operations as HPL counts, from which its time follows better than it prints it.
read_hpl() {
    awk '$1 ~ /^W[RC][0-9][0-9]/ && NF == 7 && $7 > 0 {
        how = $1 ",swap=" ENVIRON["SWAP"] "," $4 "x" $5
        ms = (2 / 3 * $2 ^ 3 + 3 / 2 * $2 ^ 2) / $7 * 1e-6
        print "linpack:n=" $2, how, ms
        print "equations:n=" $2, how, ms
    }'
}

read_linpack() {
    sed -nE 's/.*[^0-9]([0-9]+) equations by ([a-z]+) \(grid ([0-9x]+), block ([0-9]+)\): ([0-9.]+) s, .*/\1 \2 \3 \4 \5/p' |
        awk '{ print "linpack:n=" $1, $2 "," $3 ",block=" $4, $5 * 1e3 }'
}

read_equations() { # what dense_covey prints
    sed -nE 's/.* ([0-9.]+) s +[0-9.]+ GFlop.* ([a-z]+),grid=([0-9x]+),block=([0-9]+),.*/\1 \2 \3 \4/p' |
        awk -v n="$n" '{ print "equations:n=" n, $2 "," $3 ",block=" $4, $1 * 1e3 }'
}

grids() { # TASKS: lines "ROWS COLUMNS"
    local rows
    for ((rows = 1; rows * rows <= $1; rows++)); do
        [ $(($1 % rows)) != 0 ] || echo "$rows $(($1 / rows))"
    done
}

# All broadcasts and depths are runs of one input, swaps are one each; a grid of one row swaps without messages.
hpl_input() { # N ROWS COLUMNS SWAP
    cat <<INPUT
HPLinpack benchmark input file
of libraries_rivals.sh
HPL.out      output file name (if any)
6            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
$1           Ns
1            # of NBs
$LINPACK_NB  NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
$2           Ps
$3           Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
6            # of broadcast
0 1 2 3 4 5  BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
2            # of lookahead depth
0 1          DEPTHs (>=0)
$4           SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
INPUT
}

# Runs it where its input is, and prints what it found.
hpl_run() { # COMMAND... that starts a program on all ranks
    cd "$work/hpl" || return
    if command -v xhpl >/dev/null; then
        "$@" "$(command -v xhpl)"
    else
        "$@" "$(command -v hpcc)"
        cat hpccoutf.txt
    fi
}

hpl() { # N PLACE TASKS COMMAND... that starts a program on all ranks
    local rows columns SWAP
    export work SWAP
    export -f hpl_run
    while read -r rows columns; do
        for SWAP in 2 0 1; do
            [ "$rows" -gt 1 ] || [ "$SWAP" = 2 ] || continue
            rm -rf "$work/hpl" && mkdir "$work/hpl" || return
            hpl_input "$1" "$rows" "$columns" "$SWAP" | tee "$work/hpl/HPL.dat" >"$work/hpl/hpccinf.txt"
            run_once read_hpl "$2" "$3" HPL bash -c 'hpl_run "$@"' hpl "${@:4}"
        done
    done < <(grids "$3")
}

has_hpl() {
    command -v mpirun.openmpi >/dev/null && { command -v xhpl || command -v hpcc; } >/dev/null && return
    note "no HPL: hpcc or Open MPI is missing"
    return 1
}

read_peak() { # the time in which that speed does what HPL counts
    awk -v n="${LINPACK_N:-4000}" '{ print "linpack:n=" n, "dgemm", (2 / 3 * n ^ 3 + 3 / 2 * n ^ 2) / $1 * 1e-6 }'
}

linpack_peak() { # TASKS
    local processors
    processors=$(nproc)
    run_once read_peak one-machine "$1" peak "$build/tests/bench/dgemm_peak" $(($1 < processors ? $1 : processors))
}

linpack_here() { # TASKS ROUND
    local _ n=${LINPACK_N:-4000}
    linpack_peak "$1"
    for _ in 1 2 3; do
        run_once read_linpack one-machine "$1" Covey "$build/apps/linpack" --check --baseline 0 -N "$n" -n "$1"
    done
    run_once read_equations one-machine "$1" Covey "${on_tasks[@]}" "$1" "$build/tests/bench/dense_covey" "$n" ""
    linpack_peak "$1"
    has_hpl && hpl "$n" one-machine "$1" "${by_openmpi[@]}" "$1"
}

linpack_inside() {
    local _ n=$LAB_LINPACK_N
    for _ in 1 2 3; do
        run_once read_linpack "switch-$RATE" 8 Covey linpack --check --baseline 0 --route tcp -N "$n" -n 8
    done
    run_once read_equations "switch-$RATE" 8 Covey covey run --no-input --route tcp --tasks 8 "$build/tests/bench/dense_covey" "$n" ""
    has_hpl && hpl "$n" "switch-$RATE" 8 "$here/mpi.sh" openmpi --preload "$build/tests/bench/patience.so"
}

# ---- Cholesky and QR -----------------------------------------------------------------------------

read_factor() { # what dense_factor_times prints
    awk '/^# / { split($4, n, "x"); what = $2 ":n=" n[1] } / GFlop\/s / { sub(",bcast.*", "", $8); print what, $2 "," $8, $4 }'
}

read_scalapack() { awk -v n="${FACTOR_N:-4000}" -v by="$by" '$3 > 0 { print $1 ":n=" n, by "," $2, $3 }'; }

factor_here() { # TASKS ROUND
    local what n=${FACTOR_N:-4000} by
    for what in cholesky qr; do
        run_once read_factor one-machine "$1" Covey "${on_tasks[@]}" "$1" "$build/tests/bench/dense_factor_times" $what "${n}x$n" "" "" ""
    done
    by=openmpi
    [ ! -x "$build/tests/bench/factor.openmpi" ] ||
        run_once read_scalapack one-machine "$1" ScaLAPACK "${by_openmpi[@]}" "$1" "$build/tests/bench/factor.openmpi" "$n" 2
    by=mpich
    [ ! -x "$build/tests/bench/factor.mpich" ] ||
        run_once read_scalapack one-machine "$1" ScaLAPACK "${by_mpich[@]}" "$1" "$build/tests/bench/factor.mpich" "$n" 2
}

# ---- Fourier transforms --------------------------------------------------------------------------

read_covey_fft() {
    sed -nE 's/^order=([a-z]+) +[0-9.]+ ms, least +([0-9.]+) *(.*)$/\1 \2 \3/p' |
        awk -v size="$size" '{ print "fft:" size "," $1, $3, $2 }'
}

read_fftw() { awk -v size="$size" '$1 ~ /^(natural|transposed)$/ { print "fft:" size "," $1, "slab", $3 }'; }

has_fftw() {
    [ -x "$build/tests/bench/fourier.openmpi" ] && command -v mpirun.openmpi >/dev/null && return
    note "no FFTW-MPI: libfftw3-mpi-dev or Open MPI is missing"
    return 1
}

fourier_here() { # TASKS ROUND
    local size
    for size in ${FOURIER_SIZES:-128x128x128}; do
        run_once read_covey_fft one-machine "$1" Covey "${on_tasks[@]}" "$1" "$build/tests/bench/fourier_covey" -r 15 "$size" \
            order=natural order=natural order=natural order=transposed order=transposed
        has_fftw && run_once read_fftw one-machine "$1" FFTW-MPI "${by_openmpi[@]}" "$1" "$build/tests/bench/fourier.openmpi" 15 "$size"
    done
}

fourier_inside() {
    local size
    covey topology --use "$work/chain" >/dev/null || return
    for size in $LAB_FOURIER_SIZES; do
        run_once read_covey_fft "chain-$RATE" 8 Covey covey run --no-input --route tcp --tasks 8 --host "$(tr ' ' ',' <<<"${LAB_HOSTS% }")" \
            "$build/tests/bench/fourier_covey" -r "$LAB_FOURIER_RUNS" "$size" order=natural order=transposed
        has_fftw && run_once read_fftw "chain-$RATE" 8 FFTW-MPI "$here/mpi.sh" openmpi --preload "$build/tests/bench/patience.so" \
            "$build/tests/bench/fourier.openmpi" "$LAB_FOURIER_RUNS" "$size" "$FFTW_PLANS"
    done
}

# ---- Poisson's equation --------------------------------------------------------------------------

read_poisson() {
    sed -nE 's/^([0-9]+)\^3, ([0-9]+) tasks: (covey|petsc) ([^ ]+) +[0-9]+ iterations +([0-9.]+) s$/\1 \3 \4 \5/p' |
        awk '$2 == ENVIRON["SYSTEM"] && ($2 == "petsc" || $3 ~ /^chosen/) { print "poisson:" $1 "^3", $3, $4 * 1e3 }'
}

poisson_here() {
    local tasks SYSTEM
    export SYSTEM
    for tasks in $TASKS; do
        TASKS=$tasks "$here/poisson.sh" >"$work/poisson"
        SYSTEM=covey run_once read_poisson one-machine "$tasks" Covey cat "$work/poisson"
        SYSTEM=petsc run_once read_poisson one-machine "$tasks" PETSc cat "$work/poisson"
    done
}

# ---- Labs ----------------------------------------------------------------------------------------

# Hosts of a lab share a scheduler, which hosts do not: see beside.sh.
lab() { # OPTION...: a lab in which this script goes on
    local status
    [ "$(id -u)" = 0 ] || { note "no lab: it needs root, for network namespaces" && return; }
    [ -w $AUTOGROUP ] && grouped=$(cat $AUTOGROUP) && echo 0 >$AUTOGROUP
    "$here/../lab/vm.sh" "$@" --rate "$RATE" --ipv4-only -- "$0" --inside "$part" "$work" 2> >(grep -v ' joined (' >&2)
    status=$?
    group_again
    return $status
}

group_again() {
    [ -z "$grouped" ] || echo "$grouped" >$AUTOGROUP
    grouped=''
}

make_chain() {
    awk -v rate="$RATE" 'BEGIN {
        print "switch s0 s1 s2 s3"
        for (i = 0; i < 8; i++) print "host n" i, "s" int(i / 2), rate
        for (i = 0; i < 3; i++) print "link s" i, "s" i + 1, rate
    }' >"$work/chain"
}

# ---- All -----------------------------------------------------------------------------------------

report() { # FOLDER
    cat "$1"/* 2>/dev/null | awk '
        function ms(of, who) { return (of, who) in least ? sprintf("%.2f", least[of, who]) : "-" }
        function share(of, who) {
            return (of, "peak") in least && (of, who) in least ? sprintf("%.0f%%", 100 * least[of, "peak"] / least[of, who]) : "-"
        }
        BEGIN {
            format = "%-32s %-12s %5s %10s %-26s %-9s %10s %-30s %6s %12s\n"
            printf format, "what", "where", "tasks", "Covey, ms", "by", "rival", "ms", "by", "ratio", "of the peak"
        }
        NF == 6 && $6 > 0 {
            key = $1 " " $2 " " $3
            who = $4 == "Covey" || $4 == "peak" ? $4 : "rival"
            if (!seen[key]++) order[++keys] = key
            if ((key, who) in least && least[key, who] <= $6 + 0) next
            least[key, who] = $6 + 0
            how[key, who] = $5
            system_of[key] = who == "rival" ? $4 : system_of[key]
        }
        END {
            for (i = 1; i <= keys; i++) {
                key = order[i]
                split(key, parts, " ")
                ratio = "-"
                if ((key, "Covey") in least && (key, "rival") in least)
                    ratio = sprintf("%.2f", least[key, "rival"] / least[key, "Covey"])
                printf format, parts[1], parts[2], parts[3], ms(key, "Covey"), how[key, "Covey"], system_of[key],
                    ms(key, "rival"), how[key, "rival"], ratio,
                    share(key, "Covey") " " share(key, "rival")
            }
        }'
}

finish() {
    local status=$?
    trap '' INT TERM HUP
    group_again
    [ -z "${COVEY_VM:-}" ] || "$build/covey" halt >/dev/null 2>&1
    rm -rf "$work"
    exit "$status"
}

here_parts() { # those on this machine, in one virtual machine
    export COVEY_VM=rivals-$$ XDG_RUNTIME_DIR=$work
    unset COVEY_SOCKET
    "$build/covey" start >/dev/null || return
    in_rounds "${part}_here"
    "$build/covey" halt >/dev/null
    unset COVEY_VM
}

case ${1:-} in
'') ;;
--report) [ $# = 2 ] || usage; report "$2"; exit ;;
--inside) # PART WORK, on the first host of a lab
    part=$2 work=$3
    "${part#lab-}_inside"
    exit ;;
*) usage ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/covey-rivals.XXXXXX") && mkdir -p "$OUT" || exit 1
export COVEY_SOLVERS=$work/solvers # what was measured and learned before does not count
grouped='' # what autogrouping was before a lab
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
for part in ${PARTS:-linpack factor fourier poisson lab-linpack lab-fourier}; do
    rm -f "$OUT/$part"
    case $part in
    linpack | factor | fourier) here_parts ;;
    poisson) poisson_here ;;
    lab-linpack) lab --hosts 8 ;;
    lab-fourier) make_chain && lab --topology "$work/chain" ;;
    *) note "there is no part $part" && usage ;;
    esac || touch "$work/failed"
done
report "$OUT"
[ ! -e "$work/failed" ]
