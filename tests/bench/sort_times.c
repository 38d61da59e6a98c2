/* links: libcovey-domain */
/*
 * sort_times.c - what each algorithm of covey_sort(3) takes beside what was predicted, and what the
 * choice takes.
 *
 *   covey run -n 4 sort_times [TOTAL...]
 *
 * Random numbers of 64 bits, the same number at each member. Rank 0 prints for each total and
 * algorithm the predicted and the measured milliseconds, the least of some runs, of the slowest
 * member, and the algorithm that is chosen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/covey_domain.h"
#include "tests/bench/seconds.h"

#define RUNS 5

static const char *const algorithms[] = {"local", "tree", "sample", "histogram", "hypercube", NULL};

/* The seconds of one run, those of the slowest member; below 0 on an error. */
static double run_once(covey_team_t *team, covey_sort_t *sort, uint64_t *keys, size_t n, int round)
{
    uint64_t seed = (uint64_t)(covey_team_rank(team) + 1) * 1000003 + (uint64_t)round;
    double mine, most = -1;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        keys[i] = seed ^ seed >> 29;
    }
    if (covey_barrier(team) < 0)
        return -1;
    double begin = domain_now_s();
    if (covey_sort_run(sort, keys, n) < 0)
        return -1;
    mine = domain_now_s() - begin;
    return covey_allreduce(team, COVEY_OP_MAX, COVEY_DOUBLE, &mine, &most, 1) < 0 ? -1 : most;
}

/* The predicted milliseconds in the table of the handle. */
static double predicted_ms(const covey_sort_t *sort, const char *name, uint64_t total)
{
    char table[1000];
    covey_sort_explain(sort, total, table, sizeof table);
    const char *line = strstr(table, name);
    return line == NULL ? -1 : atof(line + strlen(name));
}

static int measure(covey_team_t *team, const char *options,
                   const struct covey_domain_network *network, size_t n)
{
    struct covey_sort_kind kind = {.type = COVEY_UINT64};
    uint64_t total = n * (uint64_t)covey_team_size(team);
    covey_sort_t *sort = NULL;
    double least = 0;
    uint64_t *keys = malloc(n * sizeof *keys + 1);
    int error = keys == NULL ? -1 : covey_sort_create(team, &kind, options, network, &sort);
    for (int i = 0; error == 0 && i <= RUNS; i++) { /* the first one is not counted */
        double seconds = run_once(team, sort, keys, n, i);
        error = seconds < 0 ? -1 : 0;
        least = i <= 1 || seconds < least ? seconds : least;
    }
    if (error < 0)
        fprintf(stderr, "%s\n", covey_domain_error_text());
    else if (covey_team_rank(team) == 0)
        printf("%10" PRIu64 " %-10s %10.3f %10.3f %s\n", total,
               options == NULL ? "(chosen)" : options,
               predicted_ms(sort, covey_sort_taken(sort), total), least * 1e3,
               options == NULL ? covey_sort_taken(sort) : "");
    covey_sort_free(&sort);
    free(keys);
    return error;
}

static int measure_all(covey_team_t *team, size_t n)
{
    struct covey_domain_network network;
    int error = covey_domain_network(team, &network);
    if (error == 0 && covey_team_rank(team) == 0)
        printf("# %d members on %d hosts, alpha %.1f us, beta %.3f ns\n# %8s %-10s %10s %10s\n",
               (int)network.members, (int)network.hosts, network.alpha_s * 1e6,
               network.beta_s * 1e9, "elements", "algorithm", "predicted", "measured");
    for (int i = 0; error == 0 && algorithms[i] != NULL; i++)
        error = measure(team, algorithms[i], &network, n);
    return error == 0 ? measure(team, NULL, &network, n) : error;
}

int main(int argc, char **argv)
{
    static char *usual[] = {"", "1000", "100000", "4000000"};
    covey_team_t *team = NULL;
    covey_t *vm = NULL;
    int error = covey_join(&vm, NULL), count = argc > 1 ? argc : 4;
    char **totals = argc > 1 ? argv : usual;
    if (error == 0)
        error = covey_team_world(vm, &team);
    if (error < 0)
        fprintf(stderr, "%s\n", covey_error_text());
    size_t size = error == 0 ? (size_t)covey_team_size(team) : 1;
    for (int i = 1; error == 0 && i < count; i++)
        error = measure_all(team, (size_t)strtoull(totals[i], NULL, 10) / size);
    covey_team_free(&team);
    covey_leave(&vm);
    return error < 0;
}
