/*
 * crew.h - the tasks that a demo spawns, as its coordinator sees them.
 *
 * The process that the user starts is the coordinator: it computes nothing itself but spawns the
 * tasks of a run (one or more a host), leads them through the phases below, and learns at once
 * when one of them ends before it was released: then the run is given up with one clear line. Only
 * where the work lies in a bag (agenda.h) the others do it, and the run goes on with those.
 *
 *   coordinator                     task
 *   CREW_JOB     ->                             rank, tids of all, the program's parameters
 *                     <-  CREW_READY            its data are in place
 *   CREW_GO      ->                             the clock starts
 *                     <-  CREW_PROGRESS         fraction done, now and then (only if wanted)
 *                     <-  CREW_DONE             its figures; after the last one the clock stops
 *   CREW_COLLECT ->   <-  CREW_RESULT ...       its part of the result, if it is wanted
 *   CREW_STOP    ->                             released: it ends
 */
#ifndef APPS_CREW_H
#define APPS_CREW_H

#include "apps/progress.h"
#include "covey.h"

#include <stdbool.h>

enum crew_tag {
    CREW_JOB = 1,
    CREW_READY,
    CREW_GO,
    CREW_PROGRESS,
    CREW_DONE,
    CREW_COLLECT,
    CREW_RESULT,
    CREW_STOP,
    CREW_EXIT,         /* notice of a task's end */
    CREW_PROGRAM = 100 /* a program's own tags start here */
};

/* Exit status of a task that gave up because another task or the VM went away: the other one's
 * end is the news, not this one's. */
#define CREW_STATUS_BEREFT 3

struct crew;

/* Treats a message of the program's own whenever it comes, such as a request: sets *taken when it
 * was one. Returns 0, or -1 after saying what is wrong. */
typedef int (*crew_server)(struct crew *crew, covey_msg_t *msg, const struct covey_info *info,
                           bool *taken);

struct crew {
    covey_t *vm;
    int count;
    covey_tid_t *tids;        /* by rank */
    const char *const *hosts; /* name of the host of each rank; the caller's */
    bool *ended;              /* by rank */
    covey_msg_t **early;      /* by rank, of crew_keep() */
    int ended_count;
    bool released;
    bool sequential; /* one task that does all the work without messages */
    bool tolerant;   /* it goes on without tasks that ended, as long as one is left */
    crew_server serve;
    void *server; /* of `serve` */
    struct progress progress;
};

/* What to spawn: one task of this same program on each of `count` hosts, named by rank. */
struct crew_plan {
    const char *const *hosts;
    int count;
    int route;
    bool sequential;
    bool tolerant;
    const char *title; /* for the progress line */
};

/* Packs the program's own parameters into a job; returns a covey error. */
typedef int (*crew_pack)(covey_msg_t *msg, const void *context);

/* Treats one task's message; returns 0, or -1 after saying what is wrong. */
typedef int (*crew_handler)(void *context, int rank, covey_msg_t *msg);

/* All of these return 0, or -1 after printing one line that says why. */

/* Spawns the tasks. On failure too, crew_dismiss() is what ends those that were started. */
int crew_spawn(struct crew *crew, covey_t *vm, const struct crew_plan *plan);

/* Sends each task its rank, the tids of all and the program's parameters. */
int crew_send_job(struct crew *crew, crew_pack pack, const void *context);

/* Sends an empty message to all tasks that have not ended, or to the one with that rank. */
int crew_tell(struct crew *crew, int tag);
int crew_ask(struct crew *crew, int rank, int tag);

/* The next message of any task. The caller frees it. Progress messages are shown, not returned;
 * a task's end before its release is a failure, unless the crew is tolerant. */
int crew_next(struct crew *crew, covey_msg_t **msg, struct covey_info *info);

/* One step of that: 1: a message; 0: none came in time, or one that is treated already. */
int crew_step(struct crew *crew, int64_t timeout_us, covey_msg_t **msg, struct covey_info *info);

/* Takes over a CREW_DONE that came before crew_gather() asked for it, for a task may know that all
 * work is done before the last of its fruits are here; false: it is another message. */
bool crew_keep(struct crew *crew, covey_msg_t *msg, const struct covey_info *info);

/* Receives one message with `tag` from every task, less those that ended. handler may be NULL. */
int crew_gather(struct crew *crew, int tag, crew_handler handler, void *context);

/* Receives an array of exactly `count` elements from the task with that rank. */
int crew_receive_array(struct crew *crew, int rank, int type, void *base, size_t count);

/* The result of what a library of solvers solves: all of it that is wanted. */
#define CREW_FIGURES 12
struct crew_solution {
    double figures[CREW_FIGURES]; /* numbered by the program */
    char algorithm[64];           /* that was taken */
    char table[2000];             /* of what all algorithms were expected to take */
};

/* Asks all tasks for their results, of which that with rank 0 sends the solution. */
int crew_collect_solution(struct crew *crew, struct crew_solution *solution);

/* The rank of a tid, or -1. */
int crew_rank(const struct crew *crew, covey_tid_t tid);

/* Lets all tasks go and waits until they have ended. */
int crew_release(struct crew *crew);

/* Ends what is left of the tasks and frees. Fine on a crew that is all zero. */
void crew_dismiss(struct crew *crew);

/* Reports a failed call that had to do with one of the tasks: if that task has ended, how it ended
 * is the reason. Returns -1. */
int crew_fail(struct crew *crew, const char *doing, int error);

/* Prints why a call of the library failed; returns -1. */
int crew_error(const char *doing, int error);

#endif
