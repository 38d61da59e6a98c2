/* links: libcovey-domain */
/*
 * fourier_covey.c - how long a distributed Fourier transform takes, beside FFTW's on one task.
 *
 *   covey run -n P fourier_covey [-r RUNS] NxNxN OPTIONS...   such as 128x128x128 local
 * slab,slices=4
 *
 * Of each option text one line: the median of the runs of the slowest member, the least, and the
 * algorithm; then the table of the last plan. Arrays are complex, transforms forward. With -r FFTW
 * on one task is left out, and of less than
 * ten runs one goes before, not two.
 */
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"
#include "tests/bench/seconds.h"

enum { RUNS_MAX = 1000 };

static int runs = 15;

static void print_times(const char *what, const char *algorithm, double *seconds)
{
    double middle = median(seconds, runs);
    printf("%-32s %9.3f ms, least %9.3f  %s\n", what, middle * 1e3, seconds[0] * 1e3, algorithm);
}

/* FFTW on the whole array, planned as it is by default here. */
static void measure_alone(int dims, const int64_t *n)
{
    int sizes[COVEY_FFT_DIMS_MAX];
    double seconds[RUNS_MAX];
    size_t elements = 1;
    for (int i = 0; i < dims; i++)
        elements *= (size_t)(sizes[i] = (int)n[i]);
    fftw_complex *in = fftw_malloc(elements * sizeof *in);
    fftw_complex *out = fftw_malloc(elements * sizeof *out);
    fftw_plan plan = fftw_plan_dft(dims, sizes, in, out, FFTW_FORWARD, FFTW_MEASURE);
    for (size_t i = 0; i < elements; i++)
        in[i][0] = in[i][1] = 1;
    for (int r = -1; r < runs; r++) {
        double begin = domain_now_s();
        fftw_execute(plan);
        if (r >= 0)
            seconds[r] = domain_now_s() - begin;
    }
    print_times("FFTW on one task", "", seconds);
    fftw_destroy_plan(plan);
    fftw_free(in);
    fftw_free(out);
}

static int measure(covey_team_t *team, int dims, const int64_t *n, const char *options, char *table,
                   size_t size)
{
    struct covey_fft_part in, out;
    double mine, seconds[RUNS_MAX];
    covey_fft_t *plan;
    int error = covey_fft_plan(team, dims, n, COVEY_FFT_FORWARD, options, &plan);
    if (error < 0)
        return error;
    covey_fft_local(plan, COVEY_FFT_IN, &in);
    covey_fft_local(plan, COVEY_FFT_OUT, &out);
    double *x = calloc(in.count + 1, 2 * sizeof *x), *y = calloc(out.count + 1, 2 * sizeof *y);
    for (size_t i = 0; i < 2 * in.count; i++)
        x[i] = 1;
    for (int r = runs < 10 ? -1 : -2; r < runs && error == 0; r++) {
        covey_barrier(team);
        double begin = domain_now_s();
        error = covey_fft_execute(plan, x, y);
        mine = domain_now_s() - begin;
        if (error == 0)
            error = covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, &mine,
                                    &seconds[r < 0 ? 0 : r], 1);
    }
    if (error == 0 && covey_team_rank(team) == 0)
        print_times(options, covey_fft_algorithm(plan), seconds);
    covey_fft_explain(plan, table, size);
    covey_fft_free(&plan);
    free(x);
    free(y);
    return error;
}

int main(int argc, char **argv)
{
    int64_t n[COVEY_FFT_DIMS_MAX];
    char table[600] = "";
    covey_team_t *team = NULL;
    covey_t *vm = NULL;
    long long a = 0, b = 0, c = 0;
    int is_short = argc > 3 && strcmp(argv[1], "-r") == 0;
    if (is_short) {
        runs = atoi(argv[2]);
        argc -= 2;
        argv += 2;
    }
    int dims = argc > 1 ? sscanf(argv[1], "%lldx%lldx%lld", &a, &b, &c) : 0;
    int error = dims > 0 && runs >= 1 && runs <= RUNS_MAX ? covey_join(&vm, NULL) : COVEY_EINVAL;
    n[0] = a;
    n[1] = b;
    n[2] = c;
    if (error == 0)
        error = covey_team_world(vm, &team);
    if (error == 0 && covey_team_rank(team) == 0 && !is_short)
        measure_alone(dims, n);
    for (int i = 2; i < argc && error == 0; i++)
        error = measure(team, dims, n, argv[i], table, sizeof table);
    if (error < 0)
        fprintf(stderr, "fourier_covey: %s %s\n", covey_strerror(error), covey_domain_error_text());
    else if (covey_team_rank(team) == 0)
        fputs(table, stdout);
    covey_team_free(&team);
    covey_leave(&vm);
    return error < 0;
}
