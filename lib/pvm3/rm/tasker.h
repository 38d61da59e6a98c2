/*
 * tasker.h - the tasker: a task that starts the others of its host.
 */
#ifndef COVEY_PVM3_TASKER_H
#define COVEY_PVM3_TASKER_H

#include "lib/pvm3/message/buffer.h"

#define TASKER_TAG 0x3f70766f   /* of Covey's orders */
#define TASKER_FLAGS "PVMFLAGS" /* in the environment of a task: the flags of pvm_spawn() */

/* An order came. */
void tasker_on_order(covey_msg_t *msg);

/* Whether a message of this task to a daemon is one that a tasker may send; what came of it. */
bool tasker_serves(int tag);
int tasker_serve(struct buffer *b);

#endif
