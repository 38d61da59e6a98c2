/*
 * total.h - one message for several tasks, in total order.
 */
#ifndef COVEY_LIB_CALLS_TOTAL_H
#define COVEY_LIB_CALLS_TOTAL_H

#include "lib/covey.h"
#include <stddef.h>

struct covey;

/* Sends a message to the n tasks, this one perhaps among them, in total order. */
int total_send(struct covey *vm, const covey_tid_t *tids, size_t n, int tag,
               const covey_msg_t *msg);

#endif
