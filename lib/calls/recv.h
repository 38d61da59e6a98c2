/*
 * recv.h - receives of the program and of the library.
 */
#ifndef COVEY_LIB_CALLS_RECV_H
#define COVEY_LIB_CALLS_RECV_H

#include "lib/covey.h"
#include <stddef.h>

struct covey;
struct covey_req;

/* Makes the request a receive of one array. */
int receive_init_array(struct covey_req *req, struct covey *vm, covey_tid_t tid, int type,
                       void *base, size_t capacity);
/* Starts a receive; one that names a sender learns of its end. */
void receive_start(struct covey *vm, struct covey_req *req);

#endif
