/*
 * worker.h - a task that talks to all others in every way there is, and checks what it gets.
 *
 * Messages of workers carry their number and a pattern: each pair's arrive whole, once and in
 * order, whatever routes they took and whoever is killed meanwhile. What should not be is a line
 * on standard error that begins with WORKER_BAD; the overseer gets it as output.
 */
#ifndef COVEY_TESTS_CHAOS_WORKER_H
#define COVEY_TESTS_CHAOS_WORKER_H

#include <covey.h>

#define WORKER_BAD "BAD: "

enum worker_tag {
    WORKER_ROSTER = 1, /* int32: the tids of all workers */
    WORKER_PING = 2,   /* int64: a number; answered by WORKER_PONG */
    WORKER_PONG = 3,   /* int64: that number, and how many messages were checked so far */
    WORKER_DATA = 4    /* int64: number in the pair; uint8: the pattern */
};

/* Works until the parent ends. */
int worker_main(covey_t *vm, const char *program, uint64_t seed);

#endif
