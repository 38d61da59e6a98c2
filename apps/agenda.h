/*
 * agenda.h - a demo by agenda parallelism: its coordinator puts items of work into a bag, and its
 * tasks take them as they become free (Schmidt & Sunderam, section 4.1).
 *
 * The bag is held where the coordinator runs and has no copies: the run ends with the coordinator
 * anyway, and large items cross the network once.
 *
 * Tasks may die: what they had is given to others, and the run ends only with the last one. The
 * program sets coordinator_program.tolerant.
 */
#ifndef APPS_AGENDA_H
#define APPS_AGENDA_H

#include "apps/crew.h"
#include "apps/worker.h"
#include "covey.h"

/* ---- the coordinator's side; 0, or -1 after saying what is wrong ---- */

/* Makes the bag of this run. covey_bag_free() ends it. Call it before the tasks get their jobs. */
int agenda_create(struct crew *crew, covey_bag_t **bag);
int agenda_put(struct crew *crew, covey_bag_t *bag, int priority, const void *bytes, size_t size);
int agenda_close(struct crew *crew, covey_bag_t *bag);

/* Waits for the next result. Tasks that end are not missed, as long as one is left. */
int agenda_result(struct crew *crew, covey_bag_t *bag, struct covey_bag_result *result);

/* Where results come as messages, which crew->serve takes: waits until that has counted all of them
 * in *done. Of the bag only the items that were set aside are news. */
int agenda_conduct(struct crew *crew, covey_bag_t *bag, const int64_t *done, int64_t all);

/* ---- a task's side ---- */

/* Does an item: sets what goes back, which stays the callee's until the next call. Returns 0 or an
 * error of the library. */
typedef int (*agenda_work)(void *context, const struct covey_bag_item *item, const void **result,
                           size_t *size);

/* Attaches to the bag, which takes a while: before the clock starts. Returns 0 or an error of the
 * library. */
int agenda_attach(struct worker *worker);

/* Takes and does items until none are left, and detaches. Returns 0 or an error of the library. */
int agenda_run(struct worker *worker, agenda_work work, void *context);

#endif
