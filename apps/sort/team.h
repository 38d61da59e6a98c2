/*
 * team.h - sort by the library: all tasks are a team, which hands the keys of task 0 out in equal
 * parts, sorts them by an algorithm of covey_sort(3), and takes them back.
 */
#ifndef SORT_TEAM_H
#define SORT_TEAM_H

#include "apps/worker.h"
#include "lib/domain/covey_domain.h"

#include <stdint.h>

struct team_sort {
    covey_team_t *team;
    covey_sort_t *sort;
    size_t *counts; /* of keys, by rank: as they are handed out, and then as they come back */
    int64_t *part;  /* of this task */
    struct crew_solution solution;
};

/* Makes the team and the handle. `algorithm` is one of covey_sort(3), or TEAM_CHOSEN. All calls
 * return 0 or an error. */
#define TEAM_CHOSEN "auto"
int team_sort_prepare(struct team_sort *t, struct worker *worker, const char *algorithm,
                      size_t keys);

/* `keys`: all of them, at task 0. */
int team_sort_run(struct team_sort *t, struct worker *worker, int64_t *keys);

/* For the coordinator: what was taken, out of what. */
int team_sort_send(struct team_sort *t, struct worker *worker, size_t keys);

void team_sort_finish(struct team_sort *t);

#endif
