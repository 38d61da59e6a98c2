/*
 * nested.h - messages in messages.
 */
#ifndef COVEY_PVM3_NESTED_H
#define COVEY_PVM3_NESTED_H

#include "lib/pvm3/message/buffer.h"

/* Packs what is known of a message and its bytes. Returns 0 or an error. */
int nested_pack(struct buffer *to, const struct buffer *from);

/* The next of a buffer as a new one, *nested. Returns 0 or an error; then there is none. */
int nested_unpack(struct buffer *from, struct buffer **nested);

#endif
