/*
 * ended.h - the ends of tasks that this one spawned.
 */
#ifndef COVEY_LIB_MEMBER_ENDED_H
#define COVEY_LIB_MEMBER_ENDED_H

#include <stdint.h>
#include <sys/queue.h>

struct covey;
struct control_gone;

#define ENDED_BUCKETS 1024

/* How tasks ended that nobody has asked for; see ended.c. */
struct ended_list {
    TAILQ_HEAD(, ended) all;
    LIST_HEAD(ended_bucket, ended) buckets[ENDED_BUCKETS];
    uint32_t count;
};

void ended_init(struct covey *vm);
/* The end of a task that is no peer. */
void ended_keep(struct covey *vm, const struct control_gone *gone);
/* Puts what was kept in the place of an end that is not known; it is kept no longer. */
void ended_recall(struct covey *vm, struct control_gone *gone);
void ended_free_all(struct covey *vm);

#endif
