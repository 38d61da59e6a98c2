/*
 * ahead.h - a task of a bag whose results go to the coordinator as messages. While it works, what
 * the next item needs comes, and the results before leave.
 *
 *   items:  taken, begun -> worked on, the result sent -> taken over by the coordinator: done
 */
#ifndef APPS_AHEAD_H
#define APPS_AHEAD_H

#include "apps/worker.h"
#include "covey.h"

#define AHEAD_TAKEN_MAX 2 /* the item at hand and the next */
#define AHEAD_SENT_MAX 6  /* the coordinator may be busy with those of others */
#define AHEAD_ITEMS_MAX (AHEAD_TAKEN_MAX + AHEAD_SENT_MAX)

/* What a program does with an item, which has a place of its own in 0 .. AHEAD_ITEMS_MAX - 1 from
 * the one to the other. Both return 0 or an error of the library. */
struct ahead_program {
    int sent_max;        /* results that are not taken over yet, up to AHEAD_SENT_MAX */
    int taken_over;      /* tag by which the coordinator says that it has the first of them */
    const char *waiting; /* for error messages: what the task is at until it does */
    /* Asks for what the item needs. */
    int (*begin)(void *state, int place, const struct covey_bag_item *item);
    /* Does the work and starts to send the result, which stays as it is until it is taken over. */
    int (*work)(void *state, int place, covey_req_t **sending);
};

/* Takes and does items until none are left, and detaches. Returns 0 or an error of the library. */
int ahead_run(const struct ahead_program *program, struct worker *worker, void *state);

#endif
