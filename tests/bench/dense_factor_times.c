/* links: libcovey-domain */
/*
 * dense_factor_times.c - what the algorithms of Cholesky and QR take beside what was predicted.
 *
 *   covey run -n P dense_factor_times cholesky|qr MxN [OPTIONS...]
 *
 * Of each text of options, or of each algorithm and of what is chosen, a line: the predicted and
 * the measured milliseconds, the least of some runs, of the slowest member; the rate; the setting.
 * Doubles, spread over the members; of Cholesky the lower half.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"
#include "tests/bench/seconds.h"

#define RUNS 3

static const char *const cholesky_usual[] = {"local", "right", "left", "tiles", "", NULL};
static const char *const qr_usual[] = {"local", "block", "tsqr", "", NULL};

/* Numbers between -1 and 1, and a diagonal that makes them definite. */
static void fill(const struct covey_dense_part *part, int is_definite, double *a)
{
    uint64_t seed = 1 + (uint64_t)(part->row * 1000 + part->column);
    for (int64_t j = 0; j < part->local_n; j++)
        for (int64_t i = 0; i < part->local_m; i++) {
            int64_t row =
                (i / part->block * part->rows + part->row) * part->block + i % part->block;
            int64_t column =
                (j / part->block * part->columns + part->column) * part->block + j % part->block;
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            a[i + j * part->ld] = (double)(int64_t)seed / 9.3e18;
            if (is_definite && row == column)
                a[i + j * part->ld] += (double)part->n;
        }
}

static double run_once(covey_team_t *team, covey_dense_t *plan, int op, double *a)
{
    struct covey_dense_part part;
    double most = -1;
    covey_dense_local(plan, COVEY_DENSE_A, &part);
    fill(&part, op == COVEY_DENSE_CHOLESKY, a);
    if (covey_barrier(team) < 0)
        return -1;
    double begin = domain_now_s();
    int error = op == COVEY_DENSE_CHOLESKY
                    ? covey_dense_cholesky(plan, COVEY_DENSE_LOWER, a, part.ld)
                    : covey_dense_qr(plan, a, part.ld);
    double mine = domain_now_s() - begin;
    if (error != 0 || covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, &mine, &most, 1) < 0)
        return -1;
    return most;
}

static double operations(const struct covey_dense_problem *p)
{
    double m = (double)p->m, n = (double)p->n;
    return p->op == COVEY_DENSE_CHOLESKY ? n * n * n / 3 : 2 * n * n * (m - n / 3);
}

static void print_line(const covey_dense_t *plan, const struct covey_dense_problem *problem,
                       const char *options, double seconds)
{
    char table[2000], row[40];
    covey_dense_explain(plan, table, sizeof table);
    snprintf(row, sizeof row, "%s ", covey_dense_algorithm(plan));
    const char *line = strstr(table, row), *setting = strstr(table, "grid=");
    printf("%-30s %-6s %10.1f %10.1f ms %7.2f GFlop/s  %.50s", options[0] != '\0' ? options : "-",
           covey_dense_algorithm(plan), line == NULL ? -1 : atof(line + strlen(row)), seconds * 1e3,
           operations(problem) / seconds * 1e-9, setting != NULL ? setting : "\n");
    if (setting != NULL && strlen(setting) > 50)
        printf("\n");
    fflush(stdout);
}

static int measure(covey_team_t *team, const struct covey_dense_problem *problem,
                   const struct covey_domain_network *network, const char *options)
{
    covey_dense_t *plan = NULL;
    struct covey_dense_part part;
    double least = 0;
    if (covey_dense_plan(team, problem, options, network, &plan) < 0) {
        if (covey_team_rank(team) == 0)
            printf("%-30s %s\n", options, covey_domain_error_text());
        return 0;
    }
    covey_dense_local(plan, COVEY_DENSE_A, &part);
    double *a = malloc((part.count + 1) * sizeof *a);
    int error = a == NULL ? -1 : 0;
    for (int i = 0; error == 0 && i < RUNS; i++) {
        double seconds = run_once(team, plan, problem->op, a);
        error = seconds < 0 ? -1 : 0;
        least = i == 0 || seconds < least ? seconds : least;
    }
    if (error < 0)
        fprintf(stderr, "%s\n", covey_domain_error_text());
    else if (covey_team_rank(team) == 0)
        print_line(plan, problem, options, least);
    covey_dense_free(&plan);
    free(a);
    return error;
}

static int measure_all(covey_team_t *team, int argc, char **argv)
{
    struct covey_dense_problem p = {.type = COVEY_DOUBLE, .op = COVEY_DENSE_CHOLESKY};
    struct covey_domain_network network;
    const char *const *usual = cholesky_usual;
    if (argc < 3 || sscanf(argv[2], "%" SCNd64 "x%" SCNd64, &p.m, &p.n) != 2) {
        fprintf(stderr, "usage: dense_factor_times cholesky|qr MxN [OPTIONS...]\n");
        return -1;
    }
    if (strcmp(argv[1], "qr") == 0) {
        p.op = COVEY_DENSE_QR;
        usual = qr_usual;
    }
    int error = covey_domain_network(team, &network);
    if (error == 0 && covey_team_rank(team) == 0)
        printf("# %s of %s, %d members on %d hosts, alpha %.1f us, beta %.3f ns\n", argv[1],
               argv[2], (int)network.members, (int)network.hosts, network.alpha_s * 1e6,
               network.beta_s * 1e9);
    for (int i = 3; error == 0 && i < argc; i++)
        error = measure(team, &p, &network, argv[i]);
    for (int i = 0; error == 0 && argc == 3 && usual[i] != NULL; i++)
        error = measure(team, &p, &network, usual[i]);
    return error;
}

int main(int argc, char **argv)
{
    covey_team_t *team = NULL;
    covey_t *vm = NULL;
    int error = covey_join(&vm, NULL);
    if (error == 0)
        error = covey_team_world(vm, &team);
    if (error < 0)
        fprintf(stderr, "%s\n", covey_error_text());
    if (error == 0)
        error = measure_all(team, argc, argv);
    covey_team_free(&team);
    covey_leave(&vm);
    return error < 0;
}
