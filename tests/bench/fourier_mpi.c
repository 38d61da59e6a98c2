/*
 * fourier_mpi.c - how long FFTW's own transform over MPI takes, beside fourier_covey.
 *
 *   mpirun -n P fourier_mpi RUNS NxNxN [measure|estimate]
 *
 * A line each for the natural and the transposed order of the spectrum: its name, the median and
 * the least of the runs of the slowest rank, in milliseconds, and on standard error the plan.
 * Arrays are complex, transforms forward and in place, which FFTW advises over MPI. Plans are those
 * of FFTW_MEASURE, which takes dozens of transforms, or of FFTW_ESTIMATE, which takes none.
 */
#include <fftw3-mpi.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned rigor = FFTW_MEASURE;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static fftw_plan plan_of(int dims, const ptrdiff_t *n, fftw_complex *data, unsigned order)
{
    return fftw_mpi_plan_dft(dims, n, data, data, MPI_COMM_WORLD, FFTW_FORWARD, rigor | order);
}

/* Sets the seconds of each run, of the slowest rank. */
static int measure(int dims, const ptrdiff_t *n, unsigned order, int runs, double *seconds)
{
    ptrdiff_t size, begin;
    ptrdiff_t count = fftw_mpi_local_size(dims, n, MPI_COMM_WORLD, &size, &begin);
    fftw_complex *data = fftw_alloc_complex((size_t)count + 1);
    fftw_plan plan = data != NULL ? plan_of(dims, n, data, order) : NULL;
    if (plan == NULL)
        return -1;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        fftw_fprint_plan(plan, stderr);
        fputc('\n', stderr);
    }
    for (int r = runs < 10 ? -1 : -2; r < runs; r++) {
        for (ptrdiff_t i = 0; i < count; i++) /* it grows with each run */
            data[i][0] = data[i][1] = 1;
        MPI_Barrier(MPI_COMM_WORLD);
        double before = MPI_Wtime();
        fftw_execute(plan);
        double mine = MPI_Wtime() - before;
        MPI_Allreduce(&mine, &seconds[r < 0 ? 0 : r], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    fftw_destroy_plan(plan);
    fftw_free(data);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        unsigned flag;
    } orders[] = {{"natural", 0}, {"transposed", FFTW_MPI_TRANSPOSED_OUT}};
    long a = 0, b = 0, c = 0;
    int runs = argc > 2 ? atoi(argv[1]) : 0, rank, status = 0;
    int dims = argc > 2 ? sscanf(argv[2], "%ldx%ldx%ld", &a, &b, &c) : 0;
    const ptrdiff_t n[] = {a, b, c};
    rigor = argc > 3 && strcmp(argv[3], "estimate") == 0 ? FFTW_ESTIMATE : FFTW_MEASURE;
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *seconds = calloc((size_t)(runs > 0 ? runs : 1), sizeof *seconds);
    for (int i = 0; i < 2 && status == 0; i++) {
        if (runs < 1 || dims < 2 || seconds == NULL ||
            measure(dims, n, orders[i].flag, runs, seconds) < 0) {
            fprintf(stderr, "fourier_mpi: RUNS NxNxN, or no memory\n");
            status = 1;
        } else if (rank == 0) {
            qsort(seconds, (size_t)runs, sizeof *seconds, compare);
            printf("%s %.3f %.3f\n", orders[i].name, seconds[runs / 2] * 1e3, seconds[0] * 1e3);
        }
    }
    free(seconds);
    if (status != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
