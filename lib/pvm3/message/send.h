/*
 * send.h - messages between libraries, which programs do not see.
 */
#ifndef COVEY_PVM3_SEND_H
#define COVEY_PVM3_SEND_H

#include <stdbool.h>

#include "lib/pvm3/message/buffer.h"

/* PvmResvTids: whether the program may use tags that are the library's; not so at first. */
void send_allow_reserved(bool allowed);

/* Sends to other tasks in the context SYSCTX_TC. Returns 0 or an error. */
int send_system(struct buffer *b, const int *tids, int count, int tag);

/* Sends to a task, which may be this one, in that context. Returns 0 or an error. */
int send_in(struct buffer *b, int tid, int context, int tag);

#endif
