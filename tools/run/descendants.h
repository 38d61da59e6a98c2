/*
 * descendants.h - tasks that a console has not started itself but whose output it receives: what
 * its tasks have started, and what these have.
 */
#ifndef COVEY_TOOLS_DESCENDANTS_H
#define COVEY_TOOLS_DESCENDANTS_H

#include <stdbool.h>

#include "covey.h"

/* Sets *list (free with covey_free()) to all tasks there are whose output the caller receives, its
 * own children included, and returns their number. Waits for a host that is silent until it
 * answers or is given up. Errors: as covey_tasks(). */
int descendants_find(covey_t *vm, covey_tid_t **list);

/* Ends them, those on silent hosts excepted: SIGKILL if `hard`, otherwise as covey_kill(). */
void descendants_end(covey_t *vm, bool hard);

#endif
