/*
 * cast.h - one message for tasks of several hosts.
 */
#ifndef COVEY_LIB_CALLS_CAST_H
#define COVEY_LIB_CALLS_CAST_H

#include "lib/covey.h"
#include <stdbool.h>
#include <stddef.h>

struct covey;
struct covey_req;

/* Queues a cast to the n tasks, at most CONTROL_RECEIVERS_MAX; the requests of those that cannot
 * get it are done, with the error. */
void caster_to_all(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n);
/* Queues a cast to those of the n tasks that one frame on the wire reaches; their requests are then
 * under way or done. */
void caster_by_way(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n);
/* The same where waiting for an answer about the way is not possible, by one that is known from
 * lately; requests stand `stride` bytes apart. */
void caster_by_known_way(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs,
                         size_t stride, size_t n);
/* Whether one frame reaches those of the tasks that are on other hosts. Waits for an answer. */
bool caster_way(struct covey *vm, const covey_tid_t *tids, size_t n);
/* The cast goes on with a copy of what its sender lent; false: no memory for one. */
bool caster_detach(struct covey_req *req);

#endif
