/*
 * mcast.h - one message for several tasks of another host.
 */
#ifndef COVEY_LIB_CALLS_MCAST_H
#define COVEY_LIB_CALLS_MCAST_H

#include "lib/covey.h"
#include <stdbool.h>
#include <stddef.h>

struct covey;
struct covey_req;

/* Sends to those of the n tasks that are together on another host, or, `here`, on this one; their
 * requests are then under way or done. */
void mcast_by_host(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n,
                   bool here);

#endif
