/*
 * descendants.c - all tasks whose output this console receives: those that it started, those that
 * these have started, and so on. They are found by asking all daemons, so that they can be awaited
 * or ended with the run.
 */
#include "tools/run/descendants.h"

#include <signal.h>
#include <stdlib.h>

#define PATIENCE_US 1000000 /* someone waits for the answer to a signal */

int descendants_find(covey_t *vm, covey_tid_t **list)
{
    struct covey_task *tasks = NULL;
    int count = covey_tasks(vm, 0, &tasks);
    if (count < 0)
        return count;
    covey_tid_t *found = calloc((size_t)count + 1, sizeof *found);
    int kept = found ? 0 : COVEY_ENOMEM;
    for (int i = 0; found && i < count; i++) {
        if (tasks[i].output == covey_mytid(vm))
            found[kept++] = tasks[i].tid;
    }
    covey_free(tasks);
    if (found)
        *list = found;
    return kept;
}

void descendants_end(covey_t *vm, bool hard)
{
    struct covey_host *hosts = NULL;
    struct covey_task *tasks = NULL;
    int count = 0;
    if (covey_survey(vm, PATIENCE_US, &hosts, &tasks, &count) < 0)
        return;
    for (int i = 0; i < count; i++) {
        if (tasks[i].output != covey_mytid(vm))
            continue;
        if (hard)
            covey_signal(vm, tasks[i].tid, SIGKILL);
        else
            covey_kill(vm, tasks[i].tid);
    }
    covey_free(hosts);
    covey_free(tasks);
}
