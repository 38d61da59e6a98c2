/*
 * world.c - the team of all tasks of a run.
 *
 * A run is one call of covey_spawn(), for which `covey run` is one, too: its tasks know each other
 * by covey_siblings(), in the order of that call, and their ranks are the places there. A task that
 * somebody started by hand belongs to no run; nor does the one that called covey_spawn().
 */
#include "lib/msg/error.h"

int covey_team_world(covey_t *vm, covey_team_t **team)
{
    covey_tid_t *tids = NULL;
    if (vm == NULL || team == NULL)
        return error_set(COVEY_EINVAL, "team of the run: NULL");
    if (covey_parent(vm) == COVEY_NO_PARENT)
        return error_set(COVEY_ENOGROUP, "team of the run: nobody spawned this task, as covey run "
                                         "or covey_spawn() do, so it belongs to no run");
    int count = covey_siblings(vm, &tids);
    if (count < 0)
        return count;
    int error = covey_team_create(vm, tids, count, COVEY_FOREVER, team);
    covey_free(tids);
    return error;
}
