/*
 * covey/team.h - teams: tasks in a fixed order, the ground of collective calls.
 */
#ifndef COVEY_TEAM_H
#define COVEY_TEAM_H

#include "group.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct covey_team covey_team_t; /* tasks in a fixed order, for collective calls */

/* A team is a number of tasks in a fixed order: each has a rank, 0 .. size-1. Collective calls run
 * on teams. Making one is itself a call that all members make, in the same order at all that are
 * members of several; its messages are taken for no others, neither the program's nor another
 * team's. A handle is used by one thread at a time.
 *
 * Members stay members. When one ends, or gives up (its time ran out), and another needs it, the
 * team is broken: running and later collective calls on it end at all members with the cause. */

/* Makes a team of the tasks in that order; the caller is one of them, and all give the same list.
 * Sets *team, which covey_team_free() ends. Errors: EINVAL (a tid twice, the caller not in it, the
 * others gave another list), ENOTASK, EHOSTFAIL, ETIMEOUT, ENOMEM, EDAEMON. */
int covey_team_create(covey_t *vm, const covey_tid_t *tids, int size, int64_t timeout_us,
                      covey_team_t **team);

/* Waits until `size` members of the group called it, and makes a team of these, in the order of
 * their instances. At most COVEY_RENDEZVOUS_MAX. Errors: as covey_team_create() and
 * covey_rendezvous(). */
int covey_team_of_group(covey_group_t *group, int size, int64_t timeout_us, covey_team_t **team);

/* Divides a team: members that give the same colour form a new one, ordered by key and then by
 * rank. colour < 0: none, and *part is set to NULL. A collective call of the whole team. */
int covey_team_split(covey_team_t *team, int colour, int key, covey_team_t **part);

int covey_team_rank(const covey_team_t *team); /* the caller's own */
int covey_team_size(const covey_team_t *team);
covey_tid_t covey_team_tid(const covey_team_t *team, int rank);    /* or EINVAL */
int covey_team_rank_of(const covey_team_t *team, covey_tid_t tid); /* or ENOTASK */

/* How long each blocking collective call may take from now on; COVEY_FOREVER at first. One whose
 * time runs out gives up for all members: the team is broken. */
int covey_team_set_timeout(covey_team_t *team, int64_t timeout_us);

/* Frees the team and sets *team to NULL; not collective. What is under way is given up. NULL is
 * fine. */
void covey_team_free(covey_team_t **team);

#ifdef __cplusplus
}
#endif
#endif
