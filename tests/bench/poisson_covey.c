/* links: libcovey-domain */
/*
 * poisson_covey.c - Poisson's equation on a cube with u = 0 at all borders, by each method that is
 * named, or by the one that is chosen: its time beside the one that was predicted, and for two
 * exchanges of a halo.
 *
 *   covey run -n TASKS poisson_covey N RUNS [OPTIONS ...]
 *
 * prints a line for each: N, tasks, the method with its options, iterations, the residual, the
 * least seconds of a solution, those in exchanges and in sums, and the predicted ones.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"

#define TOLERANCE 1e-8

static int fail(const char *what)
{
    fprintf(stderr, "poisson_covey: %s: %s\n", what, covey_domain_error_text());
    return 1;
}

/* f as random numbers of a fixed seed: what all frequencies are in. */
static void fill(const struct covey_grid_part *p, double *f)
{
    for (int64_t i = 0; i < p->size[0]; i++)
        for (int64_t j = 0; j < p->size[1]; j++)
            for (int64_t k = 0; k < p->size[2]; k++) {
                uint64_t s =
                    (uint64_t)(((i + p->offset[0]) * p->n[1] + j + p->offset[1]) * p->n[2] + k +
                               p->offset[2] + 1) *
                    0x9e3779b97f4a7c15u;
                s = (s ^ s >> 30) * 0xbf58476d1ce4e5b9u;
                s ^= s >> 27;
                f[p->start + i * p->stride[0] + j * p->stride[1] + k] = (double)(s >> 11) * 0x1p-53;
            }
}

/* What was predicted for the method that was taken. */
static double predicted(const covey_poisson_t *plan)
{
    char text[2000], name[40];
    double ms = 0;
    covey_poisson_explain(plan, text, sizeof text);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        double read;
        if (sscanf(line, "%39s %lf", name, &read) == 2 &&
            strcmp(name, covey_poisson_algorithm(plan)) == 0)
            ms = read;
    }
    return ms / 1e3;
}

static int measure(covey_team_t *team, int n, int runs, const char *options)
{
    struct covey_poisson_problem problem = {.dims = 3, .c = 0};
    struct covey_poisson_report report, best = {.seconds = INFINITY};
    struct covey_grid_part part;
    covey_poisson_t *plan;
    for (int d = 0; d < 3; d++) {
        problem.n[d] = n;
        problem.h[d] = 1.0 / n;
        problem.low[d] = problem.high[d] = COVEY_BORDER_VALUE;
    }
    if (covey_poisson_plan(team, &problem, options, NULL, &plan) < 0)
        return fail(options);
    covey_poisson_local(plan, &part);
    double *f = covey_grid_field(covey_poisson_grid(plan));
    double *u = covey_grid_field(covey_poisson_grid(plan));
    fill(&part, f);
    for (int i = 0; i < runs; i++) {
        memset(u, 0, part.count * sizeof *u);
        covey_barrier(team);
        if (covey_poisson_solve(plan, f, u, TOLERANCE, &report) < 0)
            return fail(options);
        double slowest = report.seconds;
        covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, &report.seconds, &slowest, 1);
        report.seconds = slowest;
        if (slowest < best.seconds)
            best = report;
    }
    if (covey_team_rank(team) == 0)
        printf("%4d %2d %-36s %5d %9.2e %9.4f %9.4f %9.4f %9.4f\n", n, covey_team_size(team),
               options[0] == '\0' ? covey_poisson_algorithm(plan) : options, best.iterations,
               best.residual, best.seconds, best.exchange_s, best.reduce_s, predicted(plan));
    if (covey_team_rank(team) == 0 && options[0] == '\0') {
        char text[2000];
        covey_poisson_explain(plan, text, sizeof text);
        fputs(text, stdout);
    }
    free(f);
    free(u);
    covey_poisson_free(&plan);
    return 0;
}

int main(int argc, char **argv)
{
    covey_t *vm = NULL;
    covey_team_t *team = NULL;
    int n = argc > 2 ? atoi(argv[1]) : 0, runs = argc > 2 ? atoi(argv[2]) : 0, status = 0;
    if (n < 1 || runs < 1) {
        fprintf(stderr, "usage: poisson_covey N RUNS [OPTIONS ...]\n");
        return 2;
    }
    if (covey_join(&vm, NULL) < 0 || covey_team_world(vm, &team) < 0) {
        fprintf(stderr, "poisson_covey: %s\n", covey_error_text());
        return 1;
    }
    if (argc == 3)
        status = measure(team, n, runs, "");
    for (int i = 3; status == 0 && i < argc; i++)
        status = measure(team, n, runs, argv[i]);
    covey_team_free(&team);
    covey_leave(&vm);
    return status;
}
