/*
 * announce.h - one message for several tasks of this host.
 */
#ifndef COVEY_LIB_DRIVE_ANNOUNCE_H
#define COVEY_LIB_DRIVE_ANNOUNCE_H

#include "lib/covey.h"

#include <stdbool.h>
#include <stddef.h>

struct covey;
struct covey_req;

/* Those that get a message know of it before any of them has it: it goes to all of them by rings,
 * or by the daemon, which the result says. */
bool order_announce(struct covey *vm, const covey_tid_t *tids, struct covey_req *reqs, size_t n);

#endif
