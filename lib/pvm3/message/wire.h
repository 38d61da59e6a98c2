/*
 * wire.h - a buffer as a message of Covey.
 *
 *   message = header *segment
 *   header  = int32 array: version, context, tag, wait, encoding, checksum, byte order
 *   segment = bytes
 */
#ifndef COVEY_PVM3_WIRE_H
#define COVEY_PVM3_WIRE_H

#include "lib/pvm3/message/buffer.h"

#define WIRE_TAG 0x3f70766d /* of all of PVM's messages */

/* A message for the buffer in its context and with its tag; it refers to the buffer's bytes. NULL:
 * memory is exhausted. */
covey_msg_t *wire_message(const struct buffer *b);

/* The other way; takes the message. NULL: memory is exhausted or it is none of PVM's. */
struct buffer *wire_buffer(covey_msg_t **msg);

/* A copy of a buffer for the task itself; NULL: memory is exhausted. */
struct buffer *wire_copy(const struct buffer *b);

#endif
