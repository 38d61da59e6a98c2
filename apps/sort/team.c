/*
 * team.c - sort by the library. That the keys go out and come back is timed, as it is in the tree;
 * that a team and a handle are made, which measures the network, is not.
 */
#include "apps/sort/team.h"

#include "apps/figures.h"
#include "apps/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIMEOUT_US 60000000 /* until all tasks are a team */

/* An error of the library of solvers has its own text. */
static int told(struct worker *worker, int error)
{
    if (error < 0)
        worker->cause = covey_domain_error_text();
    return error;
}

int team_sort_prepare(struct team_sort *t, struct worker *worker, const char *algorithm,
                      size_t keys)
{
    const struct covey_sort_kind kind = {.type = COVEY_INT64};
    size_t size = (size_t)worker->count;
    char options[64] = "";
    worker->doing = "making a team";
    int error = covey_team_create(worker->vm, worker->tids, worker->count, TIMEOUT_US, &t->team);
    if (error < 0)
        return error;
    worker->doing = "planning";
    /* a task alone is compared with by what is best for one */
    if (!worker->sequential && strcmp(algorithm, TEAM_CHOSEN) != 0)
        snprintf(options, sizeof options, "sort=%s", algorithm);
    error = told(worker, covey_sort_create(t->team, &kind, options, NULL, &t->sort));
    if (error < 0)
        return error;
    t->counts = calloc(size, sizeof *t->counts);
    for (size_t i = 0; t->counts != NULL && i < size; i++)
        t->counts[i] = keys / size + (i < keys % size);
    if (t->counts != NULL && worker->rank > 0)
        t->part = memory_ready(t->counts[worker->rank] + 1, sizeof *t->part);
    return t->counts == NULL || (worker->rank > 0 && t->part == NULL) ? COVEY_ENOMEM : 0;
}

static double processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The pieces come as they lie, which have not the same lengths as the parts. */
static int take_back(struct team_sort *t, struct worker *worker, const int64_t *sorted,
                     uint64_t mine, int64_t *keys)
{
    uint64_t *counts = calloc((size_t)worker->count, sizeof *counts);
    if (counts == NULL)
        return COVEY_ENOMEM;
    int error = covey_allgather(t->team, COVEY_UINT64, &mine, counts, 1);
    for (int i = 0; i < worker->count; i++)
        t->counts[i] = (size_t)counts[i];
    free(counts);
    return error < 0 ? error
                     : covey_gatherv(t->team, 0, COVEY_INT64, sorted, (size_t)mine, keys, t->counts,
                                     NULL);
}

static int sort_all(struct team_sort *t, struct worker *worker, int64_t *keys)
{
    int rank = worker->rank;
    size_t mine = t->counts[rank], count = 0;
    void *sorted = NULL;
    if (worker->count == 1)
        return told(worker, covey_sort_run(t->sort, keys, mine));
    worker->doing = "handing out keys";
    /* those of task 0 are where they shall be */
    int error = covey_scatterv(t->team, 0, COVEY_INT64, keys, t->counts, NULL,
                               rank > 0 ? t->part : keys, mine);
    worker->doing = "sorting";
    if (error == 0)
        error = told(worker, covey_sort_run_uneven(t->sort, rank > 0 ? t->part : keys, mine,
                                                   &sorted, &count));
    if (error == 0)
        worker->doing = "taking the keys back";
    if (error == 0)
        error = take_back(t, worker, sorted, count, keys);
    covey_free(sorted);
    return error;
}

/* What this process's processors worked counts as computation, and what it waited does not. */
int team_sort_run(struct team_sort *t, struct worker *worker, int64_t *keys)
{
    double begin = figures_clock(), used = processor_s();
    int error = sort_all(t, worker, keys);
    worker->computation_s += fmin(processor_s() - used, figures_clock() - begin);
    return error;
}

int team_sort_send(struct team_sort *t, struct worker *worker, size_t keys)
{
    struct crew_solution *solution = &t->solution;
    snprintf(solution->algorithm, sizeof solution->algorithm, "%s", covey_sort_taken(t->sort));
    covey_sort_explain(t->sort, keys, solution->table, sizeof solution->table);
    return worker_send_solution(worker, solution);
}

void team_sort_finish(struct team_sort *t)
{
    covey_sort_free(&t->sort);
    covey_team_free(&t->team);
    free(t->counts);
    free(t->part);
}
