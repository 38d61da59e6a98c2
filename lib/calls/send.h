/*
 * send.h - sends of the program and of the library.
 */
#ifndef COVEY_LIB_CALLS_SEND_H
#define COVEY_LIB_CALLS_SEND_H

#include "lib/covey.h"
#include <stddef.h>
#include <stdint.h>

struct covey;
struct covey_req;

/* Whether such a message can be sent to such a task at all. */
int send_check(covey_tid_t tid, int tag, uint64_t size, uint64_t memory_bytes);
/* Makes the array the request's message, in place. */
int send_array_init(struct covey_req *req, int type, const void *base, size_t count);
/* Starts req->msg on its way; an error is the call's and leaves the request unused. */
int send_start(struct covey *vm, struct covey_req *req, covey_tid_t tid);

#endif
