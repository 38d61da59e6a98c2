/*
 * poisson_petsc.c - Poisson's equation on a cube with PETSc: conjugate gradients with geometric
 * multigrid on a DMDA, after PETSc's own example ex45. Its points are corners of cells, as its
 * multigrid wants them: n + 1 along each axis, of which those at borders have u = 0.
 *
 *   mpirun -n TASKS poisson_petsc -n N -runs RUNS [options of PETSc]
 *
 * prints N, tasks, iterations, |b - A x| / |b| and the least seconds of a solution; what is planned
 * once does not count.
 */
#include <petscdm.h>
#include <petscdmda.h>
#include <petscksp.h>

static PetscErrorCode right_side(KSP ksp, Vec b, void *context)
{
    DM dm;
    PetscInt n[3], low[3], size[3];
    PetscScalar ***array;
    (void)context;
    PetscFunctionBeginUser;
    PetscCall(KSPGetDM(ksp, &dm));
    PetscCall(DMDAGetInfo(dm, 0, &n[0], &n[1], &n[2], 0, 0, 0, 0, 0, 0, 0, 0, 0));
    PetscCall(DMDAGetCorners(dm, &low[0], &low[1], &low[2], &size[0], &size[1], &size[2]));
    PetscCall(DMDAVecGetArray(dm, b, &array));
    for (PetscInt k = low[2]; k < low[2] + size[2]; k++)
        for (PetscInt j = low[1]; j < low[1] + size[1]; j++)
            for (PetscInt i = low[0]; i < low[0] + size[0]; i++) {
                int is_border =
                    i == 0 || j == 0 || k == 0 || i == n[0] - 1 || j == n[1] - 1 || k == n[2] - 1;
                uint64_t s = (uint64_t)((k * n[1] + j) * n[0] + i + 1) * 0x9e3779b97f4a7c15u;
                s = (s ^ s >> 30) * 0xbf58476d1ce4e5b9u;
                s ^= s >> 27;
                array[k][j][i] = is_border ? 0 : (double)(s >> 11) * 0x1p-53 / (double)(n[0] - 1);
            }
    PetscCall(DMDAVecRestoreArray(dm, b, &array));
    PetscFunctionReturn(0);
}

/* The rows of a level, times h: borders are not eliminated, as in ex45. */
static PetscErrorCode matrix(KSP ksp, Mat jacobian, Mat a, void *context)
{
    DM dm;
    PetscInt n[3], low[3], size[3];
    (void)jacobian, (void)context;
    PetscFunctionBeginUser;
    PetscCall(KSPGetDM(ksp, &dm));
    PetscCall(DMDAGetInfo(dm, 0, &n[0], &n[1], &n[2], 0, 0, 0, 0, 0, 0, 0, 0, 0));
    PetscCall(DMDAGetCorners(dm, &low[0], &low[1], &low[2], &size[0], &size[1], &size[2]));
    const PetscScalar h = 1.0 / (double)(n[0] - 1);
    for (PetscInt k = low[2]; k < low[2] + size[2]; k++)
        for (PetscInt j = low[1]; j < low[1] + size[1]; j++)
            for (PetscInt i = low[0]; i < low[0] + size[0]; i++) {
                MatStencil row = {.i = i, .j = j, .k = k}, columns[7];
                PetscScalar values[7];
                PetscInt at[3] = {i, j, k}, count = 1, is_border = 0;
                for (int d = 0; d < 3; d++)
                    is_border |= at[d] == 0 || at[d] == n[d] - 1;
                columns[0] = row;
                values[0] = 6 * h;
                for (int side = 0; side < 6; side++) {
                    PetscInt next[3] = {i, j, k};
                    next[side / 2] += side % 2 ? 1 : -1;
                    if (is_border || next[side / 2] == 0 || next[side / 2] == n[side / 2] - 1)
                        continue;
                    columns[count] = (MatStencil){.i = next[0], .j = next[1], .k = next[2]};
                    values[count++] = -h;
                }
                PetscCall(MatSetValuesStencil(a, 1, &row, count, columns, values, INSERT_VALUES));
            }
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode make(PetscInt n, KSP *ksp)
{
    DM dm;
    PetscFunctionBeginUser;
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                           DMDA_STENCIL_STAR, n + 1, n + 1, n + 1, PETSC_DECIDE, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, 0, 0, 0, &dm));
    PetscCall(DMSetFromOptions(dm));
    PetscCall(DMSetUp(dm));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
    PetscCall(KSPSetDM(*ksp, dm));
    PetscCall(DMDestroy(&dm));
    PetscCall(KSPSetComputeRHS(*ksp, right_side, NULL));
    PetscCall(KSPSetComputeOperators(*ksp, matrix, NULL));
    PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetFromOptions(*ksp));
    PetscCall(KSPSetUp(*ksp));
    PetscFunctionReturn(0);
}

static PetscErrorCode measure(KSP ksp, PetscInt n, PetscInt runs)
{
    PetscReal norm = 0, right = 0, least = 0;
    PetscInt iterations;
    PetscMPIInt size;
    Vec x, b, r;
    PetscFunctionBeginUser;
    for (PetscInt i = 0; i < runs; i++) {
        PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
        double begin = MPI_Wtime(), mine, all;
        PetscCall(KSPSolve(ksp, NULL, NULL));
        mine = MPI_Wtime() - begin;
        PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
        least = i == 0 || all < least ? all : least;
    }
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetSolution(ksp, &x));
    PetscCall(KSPGetRhs(ksp, &b));
    PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
    PetscCall(VecNorm(r, NORM_2, &norm));
    PetscCall(VecNorm(b, NORM_2, &right));
    PetscCall(VecDestroy(&r));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%4d %2d petsc %5d %9.2e %9.4f\n", (int)n, size,
                          (int)iterations, norm / right, least));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    KSP ksp;
    PetscInt n = 64, runs = 2;
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-runs", &runs, NULL));
    PetscCall(make(n, &ksp));
    PetscCall(measure(ksp, n, runs));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(PetscFinalize());
    return 0;
}
