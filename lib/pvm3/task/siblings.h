/*
 * siblings.h - the tasks that were spawned together with this one.
 */
#ifndef COVEY_PVM3_SIBLINGS_H
#define COVEY_PVM3_SIBLINGS_H

#include "lib/pvm3/message/buffer.h"

/* Tells tasks that were spawned together of each other. */
void siblings_tell(int *tids, int count);

/* Whether the message is such news; it was taken then. */
bool siblings_take(struct buffer *b);

void siblings_clear(void);

#endif
