/*
 * recv.h - receives of the program and of the library.
 */
#ifndef COVEY_LIB_CALLS_RECV_H
#define COVEY_LIB_CALLS_RECV_H

struct covey;
struct covey_req;

/* Starts a receive; one that names a sender learns of its end. */
void receive_start(struct covey *vm, struct covey_req *req);

#endif
