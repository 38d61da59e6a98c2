#!/bin/bash
# poisson.sh - Poisson's equation on a cube beside PETSc: Covey's choice and its conjugate gradients with
# multigrid, and PETSc's conjugate gradients with multigrid in several settings, of which the fastest counts.
#
#   tests/bench/poisson.sh
#
# On this host, u = 0 at all borders, random f, to a residual of 1e-8; plans do not count. Each system solves
# RUNS times in each of ROUNDS rounds, one after the other; the least time is printed. The last line of each
# number of tasks has the ratio of PETSc's time and Covey's: above 1 Covey is ahead. Without PETSc Covey is
# measured alone. From the environment, by default: N=128 TASKS="1 2 4" ROUNDS=2 RUNS=2
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/local_vm.sh
N=${N:-128} TASKS=${TASKS:-1 2 4} ROUNDS=${ROUNDS:-2} RUNS=${RUNS:-2}
petsc=$BUILD/tests/bench/poisson_petsc
levels=1
for ((cells = N; cells > 4 && cells % 2 == 0; cells /= 2)); do levels=$((levels + 1)); done
settings=(
    "" # Chebyshev of degree 2 with SOR
    "-mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type sor"
    "-mg_levels_ksp_max_it 2 -mg_levels_pc_type jacobi"
)

solve_covey() { # TASKS: lines "covey METHOD ITERATIONS SECONDS"
    timeout 200 covey run -n "$1" "$BUILD/tests/bench/poisson_covey" "$N" "$RUNS" poisson=mg-cg poisson=mg |
        awk 'NF == 9 { sub("poisson=", "", $3); print "covey", $3, $4, $6 }'
    timeout 200 covey run -n "$1" "$BUILD/tests/bench/poisson_covey" "$N" "$RUNS" |
        awk 'NF == 9 { print "covey", "chosen:" $3, $4, $6 }'
}

solve_petsc() { # TASKS: lines "petsc SETTING ITERATIONS SECONDS"
    local i
    for i in "${!settings[@]}"; do
        # shellcheck disable=SC2086
        timeout 200 mpirun.openmpi --allow-run-as-root --oversubscribe -n "$1" "$petsc" -n "$N" -runs "$RUNS" \
            -ksp_type cg -pc_type mg -pc_mg_levels "$levels" ${settings[i]} |
            awk -v i="$i" '$3 == "petsc" { print "petsc", i, $4, $6 }'
    done
}

[ -x "$petsc" ] || echo "PETSc is not installed (petsc-dev): Covey is measured alone"
covey start --local 1 >/dev/null || exit 1
for tasks in $TASKS; do
    for ((round = 0; round < ROUNDS; round++)); do
        solve_covey "$tasks"
        [ ! -x "$petsc" ] || solve_petsc "$tasks"
    done | awk -v n="$N" -v tasks="$tasks" '
        { key = $1 " " $2; its[key] = $3 }
        !(key in least) || $4 < least[key] { least[key] = $4 }
        $1 == "petsc" && (petsc == 0 || $4 < petsc) { petsc = $4 }
        $2 == "mg-cg" && (covey == 0 || $4 < covey) { covey = $4 }
        $2 ~ /^chosen/ && (chosen == 0 || $4 < chosen) { chosen = $4 }
        END {
            for (key in least)
                printf "%d^3, %d tasks: %-24s %4d iterations %9.4f s\n", n, tasks, key, its[key], least[key]
            if (petsc > 0 && covey > 0 && chosen > 0)
                printf "%d^3, %d tasks: PETSc / Covey: mg-cg %.2f, chosen %.2f\n", n, tasks, petsc / covey, petsc / chosen
        }'
done
