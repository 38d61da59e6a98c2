/* links: libcovey-domain -lm */
/*
 * dense_covey.c - how long a system of equations takes on a team, beside what was predicted; the
 * problem, the count of operations and the residual are those of HPL.
 *
 *   covey run -n P dense_covey N OPTIONS...     such as 4000 local column,block=96 lookahead=1
 *
 * Of each option text one line: the least seconds of the slowest member of some runs, GFlop/s, the
 * predicted seconds, HPL's residual, which must be below 16, the algorithm and its setting.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"
#include "tests/bench/seconds.h"

enum { RUNS = 3 };

/* Between -0.5 and 0.5; column n is the right-hand side. */
static double element(int64_t n, int64_t i, int64_t j)
{
    uint64_t x = ((uint64_t)j * (uint64_t)n + (uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return (double)(int64_t)(x ^ x >> 31) / 18446744073709551616.0;
}

static void fill(const struct covey_dense_part *p, int64_t n, int64_t first, double *at)
{
    for (int64_t j = 0; j < p->local_n; j++)
        for (int64_t i = 0; i < p->local_m; i++)
            at[i + j * p->ld] =
                element(n, (i / p->block * p->rows + p->row) * p->block + i % p->block,
                        first + (j / p->block * p->columns + p->column) * p->block + j % p->block);
}

/* |A x - b| / (eps (|A| |x| + |b|) n), all of them the largest */
static double residual(int64_t n, const double *x)
{
    double *rest = calloc((size_t)n, sizeof *rest), *sums = calloc((size_t)n, sizeof *sums);
    double most[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < n; i++)
        rest[i] = -element(n, i, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            double a = element(n, i, j);
            rest[i] += a * x[j];
            sums[i] += fabs(a);
        }
    for (int64_t i = 0; i < n; i++) {
        const double values[] = {fabs(rest[i]), sums[i], fabs(x[i]), fabs(element(n, i, n))};
        for (int k = 0; k < 4; k++)
            most[k] = !(values[k] <= most[k]) ? values[k] : most[k];
    }
    free(rest);
    free(sums);
    return most[0] / (DBL_EPSILON / 2 * (most[1] * most[2] + most[3]) * (double)n);
}

/* One solution; the seconds of the slowest member, or below 0. */
static double run_once(covey_team_t *team, covey_dense_t *plan, int64_t n, double *x)
{
    struct covey_dense_part pa, pb;
    double mine = 0, most = -1;
    covey_dense_local(plan, COVEY_DENSE_A, &pa);
    covey_dense_local(plan, COVEY_DENSE_B, &pb);
    double *a = malloc((pa.count + 1) * sizeof *a), *b = malloc((pb.count + 1) * sizeof *b);
    int error = a == NULL || b == NULL ? -1 : 0;
    if (error == 0) {
        fill(&pa, n, 0, a);
        fill(&pb, n, n, b);
        error = covey_barrier(team);
        double begin = domain_now_s();
        if (error == 0)
            error = covey_dense_solve(plan, a, pa.ld, b, pb.ld);
        mine = domain_now_s() - begin;
    }
    if (error == 0)
        error = covey_dense_gather(plan, COVEY_DENSE_B, b, pb.ld, x, n);
    if (error == 0)
        error = covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, &mine, &most, 1);
    free(a);
    free(b);
    return error == 0 ? most : -1;
}

static double predicted_s(const covey_dense_t *plan, char *setting, size_t size)
{
    char table[1000];
    covey_dense_explain(plan, table, sizeof table);
    const char *name = covey_dense_algorithm(plan), *line = table, *grid = strstr(table, "grid=");
    while (line != NULL && strncmp(line, name, strlen(name)) != 0)
        line = strchr(line, '\n') == NULL ? NULL : strchr(line, '\n') + 1;
    snprintf(setting, size, "%.*s", grid == NULL ? 0 : (int)strcspn(grid, "\n"), grid);
    return line == NULL ? -1 : atof(line + strlen(name)) * 1e-3;
}

static int measure(covey_team_t *team, int64_t n, const char *options)
{
    struct covey_dense_problem problem = {
        .op = COVEY_DENSE_SOLVE, .type = COVEY_DOUBLE, .n = n, .r = 1};
    covey_dense_t *plan = NULL;
    double least = 0, size = (double)n, *x = calloc((size_t)n + 1, sizeof *x);
    char setting[200];
    int error = x == NULL ? -1 : covey_dense_plan(team, &problem, options, NULL, &plan);
    for (int i = 0; error == 0 && i < RUNS; i++) {
        double seconds = run_once(team, plan, n, x);
        error = seconds < 0 ? -1 : 0;
        least = i == 0 || seconds < least ? seconds : least;
    }
    if (error < 0)
        fprintf(stderr, "%s: %s\n", options, covey_domain_error_text());
    else if (covey_team_rank(team) == 0) {
        double predicted = predicted_s(plan, setting, sizeof setting);
        printf("%-34s %8.4f s %7.2f GFlop/s, predicted %8.4f s, residual %.4f  %s,%s\n", options,
               least, (size * size * size * 2 / 3 + size * size * 3 / 2) / least * 1e-9, predicted,
               residual(n, x), covey_dense_algorithm(plan), setting);
        fflush(stdout);
    }
    covey_dense_free(&plan);
    free(x);
    return error;
}

int main(int argc, char **argv)
{
    covey_team_t *team = NULL;
    covey_t *vm = NULL;
    int64_t n = argc > 1 ? strtoll(argv[1], NULL, 10) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: dense_covey N OPTIONS...\n");
        return 2;
    }
    int error = covey_join(&vm, NULL);
    if (error == 0)
        error = covey_team_world(vm, &team);
    if (error < 0)
        fprintf(stderr, "%s\n", covey_error_text());
    for (int i = 2; error == 0 && i < argc; i++)
        error = measure(team, n, argv[i]);
    if (error == 0 && argc == 2)
        error = measure(team, n, "");
    covey_team_free(&team);
    covey_leave(&vm);
    return error < 0;
}
