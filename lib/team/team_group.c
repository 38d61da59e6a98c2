/*
 * team_group.c - teams out of what there is: a group, or another team.
 */
#include "lib/agree/group.h"
#include "lib/collective/collective.h"
#include "lib/msg/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- of a group ------------------------------------------------------------------------------ */

static int by_instance(const void *a, const void *b)
{
    const struct covey_party *x = a, *y = b;
    int32_t i, j;
    memcpy(&i, x->value, sizeof i);
    memcpy(&j, y->value, sizeof j);
    return (i > j) - (i < j);
}

static int meet(covey_group_t *group, int size, int64_t timeout_us, covey_tid_t *tids)
{
    char name[64];
    struct covey_party *parties = calloc((size_t)size, sizeof *parties);
    if (parties == NULL)
        return error_code(COVEY_ENOMEM);
    int32_t instance = covey_group_instance(group);
    /* The name under which the members meet. */
    size_t bytes = sizeof name;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (const char *at = group_name(group); *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
    snprintf(name, bytes, "covey.team.%d.%016" PRIx64, size, hash);
    int result = covey_rendezvous(group_vm(group), name, size, &instance, sizeof instance,
                                  timeout_us, parties);
    qsort(parties, (size_t)size, sizeof *parties, by_instance);
    for (int i = 0; i < size; i++)
        tids[i] = parties[i].tid;
    free(parties);
    return result < 0 ? result : COVEY_OK;
}

int covey_team_of_group(covey_group_t *group, int size, int64_t timeout_us, covey_team_t **team)
{
    if (group == NULL || team == NULL || size < 1 || size > COVEY_RENDEZVOUS_MAX)
        return error_set(COVEY_EINVAL, "team of a group: NULL, or not 1 .. %d members",
                         COVEY_RENDEZVOUS_MAX);
    covey_tid_t *tids = calloc((size_t)size, sizeof *tids);
    if (tids == NULL)
        return error_code(COVEY_ENOMEM);
    int error = meet(group, size, timeout_us, tids);
    if (error == COVEY_OK)
        error = covey_team_create(group_vm(group), tids, size, timeout_us, team);
    free(tids);
    return error;
}

/* ---- of a team ------------------------------------------------------------------------------- */

struct choice {
    int64_t colour, key, rank;
};

static int by_key(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

static int part_create(covey_team_t *team, struct choice *choices, int64_t colour,
                       covey_team_t **part)
{
    int count = 0; /* of those of the own colour, who go to the front in their order */
    for (int i = 0; i < team->size; i++) {
        if (choices[i].colour == colour)
            choices[count++] = choices[i];
    }
    qsort(choices, (size_t)count, sizeof *choices, by_key);
    covey_tid_t *tids = calloc((size_t)count, sizeof *tids);
    if (tids == NULL)
        return error_code(COVEY_ENOMEM);
    for (int i = 0; i < count; i++)
        tids[i] = team->tids[choices[i].rank];
    int error = covey_team_create(team->vm, tids, count, team->timeout_us, part);
    free(tids);
    return error;
}

int covey_team_split(covey_team_t *team, int colour, int key, covey_team_t **part)
{
    if (team == NULL || part == NULL)
        return error_set(COVEY_EINVAL, "team split: NULL");
    const struct choice own = {colour, key, team->rank};
    struct choice *choices = calloc((size_t)team->size, sizeof *choices);
    if (choices == NULL)
        return error_code(COVEY_ENOMEM);
    int error = covey_allgather(team, COVEY_INT64, &own, choices, 3);
    if (error == COVEY_OK && colour < 0)
        *part = NULL;
    else if (error == COVEY_OK)
        error = part_create(team, choices, colour, part);
    free(choices);
    return error;
}
