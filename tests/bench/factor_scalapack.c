/*
 * factor_scalapack.c - how long ScaLAPACK's Cholesky and QR take, beside dense_factor_times.
 *
 *   mpirun -n P factor_scalapack N RUNS
 *
 * Of each block of 32 to 128, and each grid of P processes whose rows are at most its columns, a
 * line for each factorization: its name, the block and the grid, and the least milliseconds of the
 * runs of the slowest process. The N x N matrices are made in place, as dense_factor_times makes
 * them.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void Cblacs_gridinfo(int context, int *rows, int *columns, int *row, int *column);
void Cblacs_gridexit(int context);
int numroc_(const int *n, const int *block, const int *at, const int *first, const int *of);
void descinit_(int *d, const int *m, const int *n, const int *mb, const int *nb, const int *row,
               const int *column, const int *context, const int *ld, int *info);
void pdpotrf_(const char *half, const int *n, double *a, const int *i, const int *j, const int *d,
              int *info);
void pdgeqrf_(const int *m, const int *n, double *a, const int *i, const int *j, const int *d,
              double *tau, double *work, const int *work_size, int *info);

struct piece {
    int n, block, context, rows, columns, row, column;
    int m_here, n_here, ld;
    int description[9];
    double *a, *tau, *work;
    int work_size;
};

static int from_first(int local, int block, int at, int of)
{
    return (local / block * of + at) * block + local % block;
}

static void fill(const struct piece *p, int is_definite)
{
    uint64_t seed = 1 + (uint64_t)(p->row * 1000 + p->column);
    for (int j = 0; j < p->n_here; j++)
        for (int i = 0; i < p->m_here; i++) {
            int is_diagonal = from_first(i, p->block, p->row, p->rows) ==
                              from_first(j, p->block, p->column, p->columns);
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            p->a[(size_t)i + (size_t)j * (size_t)p->ld] =
                (double)(int64_t)seed / 9.3e18 + (is_definite && is_diagonal ? p->n : 0);
        }
}

static int piece_create(struct piece *p)
{
    static const int zero = 0, one = 1, ask = -1;
    double needed = 0;
    int info = 0;
    Cblacs_get(-1, 0, &p->context);
    Cblacs_gridinit(&p->context, "Row", p->rows, p->columns);
    Cblacs_gridinfo(p->context, &p->rows, &p->columns, &p->row, &p->column);
    p->m_here = numroc_(&p->n, &p->block, &p->row, &zero, &p->rows);
    p->n_here = numroc_(&p->n, &p->block, &p->column, &zero, &p->columns);
    p->ld = p->m_here > 0 ? p->m_here : 1;
    descinit_(p->description, &p->n, &p->n, &p->block, &p->block, &zero, &zero, &p->context, &p->ld,
              &info);
    if (info == 0)
        pdgeqrf_(&p->n, &p->n, NULL, &one, &one, p->description, NULL, &needed, &ask, &info);
    p->work_size = (int)needed;
    p->a = malloc(((size_t)p->ld * (size_t)p->n_here + 1) * sizeof *p->a);
    p->tau = malloc(((size_t)p->n_here + 1) * sizeof *p->tau);
    p->work = malloc(((size_t)p->work_size + 1) * sizeof *p->work);
    return info == 0 && p->a != NULL && p->tau != NULL && p->work != NULL ? 0 : -1;
}

/* The least seconds of the runs, or below 0. */
static double measure(const struct piece *p, int is_cholesky, int runs)
{
    static const int one = 1;
    double least = -1;
    for (int r = 0; r < runs; r++) {
        double most;
        int info;
        fill(p, is_cholesky);
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        if (is_cholesky)
            pdpotrf_("L", &p->n, p->a, &one, &one, p->description, &info);
        else
            pdgeqrf_(&p->n, &p->n, p->a, &one, &one, p->description, p->tau, p->work, &p->work_size,
                     &info);
        double mine = info == 0 ? MPI_Wtime() - begin : 1e9;
        MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        least = least < 0 || most < least ? most : least;
    }
    return least < 1e9 ? least : -1;
}

int main(int argc, char **argv)
{
    static const int blocks[] = {32, 64, 96, 128};
    static const char *const names[] = {"qr", "cholesky"};
    int n = argc > 2 ? atoi(argv[1]) : 0, runs = argc > 2 ? atoi(argv[2]) : 0, size, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int rows = 1; rows * rows <= size; rows++)
        for (unsigned b = 0; size % rows == 0 && b < sizeof blocks / sizeof *blocks; b++) {
            struct piece p = {.n = n, .block = blocks[b], .rows = rows, .columns = size / rows};
            if (n < 1 || runs < 1 || piece_create(&p) < 0) {
                fprintf(stderr, "factor_scalapack: N RUNS, or no memory\n");
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
            for (int is_cholesky = 0; is_cholesky < 2; is_cholesky++) {
                double seconds = measure(&p, is_cholesky, runs);
                if (rank == 0)
                    printf("%s %dx%d,block=%d %.3f\n", names[is_cholesky], rows, size / rows,
                           blocks[b], seconds * 1e3);
            }
            fflush(stdout);
            free(p.a);
            free(p.tau);
            free(p.work);
            Cblacs_gridexit(p.context);
        }
    MPI_Finalize();
    return 0;
}
