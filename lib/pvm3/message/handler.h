/*
 * handler.h - functions of the program that take messages as they come.
 */
#ifndef COVEY_PVM3_HANDLER_H
#define COVEY_PVM3_HANDLER_H

#include "lib/pvm3/message/buffer.h"

/* Whether a handler took the message. It was freed then, unless the handler kept it. */
bool handler_take(struct buffer *b);

#endif
